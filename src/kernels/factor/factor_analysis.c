/* factor_analysis.c - from the pattern of a matrix to the rows of the factor and its triangles, on the host, where the
   order is that of the rows. Levels are only reported. factor_device_analysis.cu does the same on the device. */
#include "factor.h"
#include <string.h>

/* What the analysis needs for a while */
typedef struct {
  int32_t *node;                 /* [rows]: the first row of the node of a row */
  int32_t *level, *count;        /* [rows] each: the level of a row, the rows of a level */
  int32_t *row_ptr, *col, *from; /* [rows+1], [entries]: the transpose of the factor, ... */
  int32_t *diagonal;             /* ... and [rows] */
} Work;

/* ---- checks ---- */

/* The diagonal entry of a row, or -1 */
static int32_t diagonal_of(const int32_t *row_ptr, const int32_t *col, int32_t row)
{
  int32_t low = row_ptr[row], high = row_ptr[row + 1];

  SPMV_BISECT(low, high, middle, col[middle] < row);
  return low < row_ptr[row + 1] && col[low] == row ? low : -1;
}

SpmvStatus spmv_factor_check(const SpmvPattern *p, const SpmvDivision *d, SpmvFactorSize *size, SpmvExec *exec)
{
  *size = (SpmvFactorSize){0, 0};
  if (p->index_type != SPMV_I32)
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "a factorization needs indices of 32 bits");
  SPMV_TRY(spmv_pattern_check(p, exec));
  if (p->rows != p->cols || p->nnz == INT32_MAX)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a factorization of a matrix of %lld x %lld with %lld nonzeros",
                     (long long)p->rows, (long long)p->cols, (long long)p->nnz);
  for (int32_t i = 0; i < (int32_t)p->rows; i++) {
    const int32_t at = diagonal_of(p->row_ptr, p->col, i);
    if (at < 0)
      return spmv_fail(exec, SPMV_ERR_MATRIX, "row %d has no diagonal entry: store it, even if it is zero", i);
    const SpmvRange kept = spmv_kept_of(d, p->row_ptr, p->col, i);
    size->kept += kept.end - kept.first;
    size->upper += kept.end - at - 1;
  }
  return SPMV_SUCCESS;
}

/* ---- levels ---- */

/* most: rows of a node, which lie in one block */
static void find_nodes(const SpmvPattern *p, const SpmvDivision *d, int32_t most, int32_t *node)
{
  const int32_t *row_ptr = p->row_ptr;

  for (int32_t i = 0; i < (int32_t)p->rows; i++) {
    const int32_t *here = (const int32_t *)p->col + row_ptr[i], count = row_ptr[i + 1] - row_ptr[i];
    const int joins = i > spmv_block_of(d, i).first && i - node[i - 1] < most && row_ptr[i] - row_ptr[i - 1] == count &&
                      memcmp(here, here - count, (size_t)count * sizeof *here) == 0;
    node[i] = joins ? node[i - 1] : i;
  }
}

/* The rows of a node have the same level */
static void find_levels(const Work *w, const SpmvPart *t, int64_t *levels, int64_t *widest)
{
  int32_t rows;

  *levels = *widest = 0;
  memset(w->count, 0, (size_t)t->rows * sizeof *w->count);
  for (int32_t n = 0; n < t->rows; n += rows) {
    const int32_t first = w->node[spmv_part_row(t, n)];
    int32_t       level = 0;

    for (rows = 1; n + rows < t->rows && w->node[spmv_part_row(t, n + rows)] == first; rows++) continue;
    for (int32_t i = first; i < first + rows; i++)
      for (int32_t k = 0; k < spmv_part_length(t, i); k++) {
        const int32_t before = t->col[spmv_part_entry(t, i, k)];
        if (w->node[before] != first && w->level[before] >= level) level = w->level[before] + 1;
      }
    for (int32_t i = first; i < first + rows; i++) w->level[i] = level;
    if (level >= *levels) *levels = level + 1;
    w->count[level] += rows;
    if (w->count[level] > *widest) *widest = w->count[level];
  }
}

/* ---- the factor and its triangles ---- */

static void put_triangle(SpmvFactorization *f, const Work *w, int which, const SpmvPart *t)
{
  SpmvTriangle *to = spmv_factor_give(f, which, 0);
  int64_t       levels, widest;
  int32_t       at = 0;

  find_levels(w, t, &levels, &widest);
  if (which == SPMV_UPPER || to == spmv_factor_needs(f)) { /* not those of transposes */
    f->info.levels[t->is_upper] = levels;
    f->info.widest[t->is_upper] = widest;
  }
  for (int32_t n = 0; n < t->rows; n++) {
    const int32_t i = spmv_part_row(t, n);

    to->row[n]     = i;
    to->row_ptr[n] = at;
    for (int32_t k = 0; k < spmv_part_length(t, i); k++, at++) {
      const int32_t entry = spmv_part_entry(t, i, k);
      to->col[at]         = spmv_part_row(t, t->col[entry]);
      to->from[at]        = t->from ? t->from[entry] : entry;
    }
  }
  to->row_ptr[t->rows] = at;
  f->placed += at;
}

/* The matrix itself; or what is in blocks, of ICC the diagonal and the upper triangle, and where it is in A */
static void put_factor(const SpmvFactorization *f, const SpmvPattern *p)
{
  const SpmvFactorRows *to      = &f->factor;
  const int             is_icc  = f->options.kind == SPMV_FACTOR_ICC;
  const int             is_part = spmv_factor_is_part(f);
  const int32_t        *col     = p->col;
  int32_t               n       = 0;

  for (int32_t i = 0; i < f->rows; i++) {
    const int32_t   diagonal = diagonal_of(p->row_ptr, col, i);
    const SpmvRange kept     = spmv_kept_of(&f->division, p->row_ptr, col, i);
    const int32_t   first    = is_icc ? diagonal : kept.first;

    to->row_ptr[i]  = n;
    to->diagonal[i] = n + diagonal - first;
    if (is_part) {
      to->a_first[i] = kept.first;
      to->a_end[i]   = kept.end;
    }
    for (int32_t k = first; k < kept.end; k++, n++) {
      to->col[n] = col[k];
      if (is_part) to->source[n] = k;
    }
  }
  to->row_ptr[f->rows] = n;
}

static void put_transposes(SpmvFactorization *f, const Work *w)
{
  const SpmvPattern p = {.rows       = f->rows,
                         .cols       = f->rows,
                         .nnz        = f->info.factor_nonzeros,
                         .index_type = SPMV_I32,
                         .row_ptr    = f->factor.row_ptr,
                         .col        = f->factor.col};
  SpmvPart          t = {w->row_ptr, w->col, w->diagonal, w->from, f->rows, 1};

  spmv_transpose_on_host(&p, w->row_ptr, w->col, SPMV_F64, NULL, w->from);
  for (int32_t i = 0; i < f->rows; i++) w->diagonal[i] = diagonal_of(w->row_ptr, w->col, i);
  if (f->triangle[SPMV_LOWER_T].row_ptr) put_triangle(f, w, SPMV_LOWER_T, &t);
  t.is_upper = 0;
  put_triangle(f, w, SPMV_UPPER_T, &t);
}

static void fill(SpmvFactorization *f, const Work *w, const SpmvPattern *p)
{
  SpmvPart t = {f->factor.row_ptr, f->factor.col, f->factor.diagonal, NULL, f->rows, 1};

  find_nodes(p, &f->division, spmv_factor_node_rows(f), w->node);
  if (f->factor.nodes.first) memcpy(f->factor.nodes.first, w->node, (size_t)f->rows * sizeof *w->node);
  put_factor(f, p);
  put_triangle(f, w, SPMV_UPPER, &t);
  t.is_upper = 0;
  if (f->triangle[SPMV_LOWER].row_ptr) put_triangle(f, w, SPMV_LOWER, &t);
  if (f->triangle[SPMV_UPPER_T].row_ptr) put_transposes(f, w);
}

SpmvStatus spmv_factor_analyse_on_host(SpmvFactorization *f, const SpmvPattern *p, SpmvExec *exec)
{
  SpmvFactorSize size;
  void          *block;
  Work           w;

  SPMV_TRY(spmv_factor_check(p, &f->division, &size, exec));
  SPMV_TRY(spmv_factor_hold(f, p, &size, exec));
  const int     transposes = f->options.kind == SPMV_FACTOR_ICC || f->options.transposes;
  const int64_t rows = 4 * (p->rows + 1), twice = transposes ? rows : 0;
  const int64_t entries = transposes ? 4 * f->info.factor_nonzeros : 0;
  const int64_t bytes[] = {rows, rows, rows, twice, twice, entries, entries};
  void **const  array[] = {(void **)&w.node,     (void **)&w.level, (void **)&w.count, (void **)&w.row_ptr,
                           (void **)&w.diagonal, (void **)&w.col,   (void **)&w.from};
  SPMV_TRY(spmv_alloc_arrays(exec, SPMV_HOST, 7, bytes, "analysis of a factorization", array, &block));
  fill(f, &w, p);
  spmv_exec_free(exec, SPMV_HOST, block);
  return SPMV_SUCCESS;
}
