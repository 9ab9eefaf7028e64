/* factor_analysis.c - from the pattern of a matrix to the rows of the factor and its triangles: levels, orders, and the
   map from entries of the factor to entries of triangles. On the host, for both spaces. */
#include "core/csr.h"
#include "factor.h"
#include <string.h>

/* The rows of a triangle in natural order: row i has the entries begin[i] + skip to end[i] - 1 of col */
typedef struct {
  const int32_t *begin, *end, *col;
  int32_t        skip;
  const int32_t *from; /* the entry of the factor, by entry; NULL: the same */
} Natural;

/* A CSR of its own */
typedef struct {
  int32_t *row_ptr, *col, *from;
} Copy;

typedef struct {
  const SpmvFactorSlots *slots;

  const int32_t *row_ptr, *col; /* of the matrix */
  int32_t        rows, nnz;
  int32_t       *diagonal;         /* [rows] */
  int32_t       *node;             /* [rows]: the first row of the node of a row */
  int32_t       *level, *count;    /* [rows], [rows+2] */
  int32_t       *row, *place;      /* [rows]: the order, and where a row is in it */
  Copy           one;              /* a triangle in its order */
  Copy           copy, transposed; /* only if triangles are transposed; the second begins as the factor of ICC */
} Work;

/* ---- sizes ---- */

static SpmvStatus check_pattern(const SpmvPattern *p, SpmvExec *exec)
{
  if (p->index_type != SPMV_I32)
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "a factorization needs indices of 32 bits");
  SPMV_TRY(spmv_pattern_check(p, exec));
  if (p->rows != p->cols || p->nnz == INT32_MAX)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a factorization of a matrix of %lld x %lld with %lld nonzeros",
                     (long long)p->rows, (long long)p->cols, (long long)p->nnz);
  return SPMV_SUCCESS;
}

/* The diagonal entry of a row, or -1 */
static int32_t diagonal_of(const int32_t *row_ptr, const int32_t *col, int32_t row)
{
  int32_t low = row_ptr[row], high = row_ptr[row + 1];

  SPMV_BISECT(low, high, middle, col[middle] < row);
  return low < row_ptr[row + 1] && col[low] == row ? low : -1;
}

/* Sets rows, and the numbers of entries in info and gathered */
SpmvStatus spmv_factor_count(SpmvFactorization *f, const SpmvPattern *p, SpmvExec *exec)
{
  const int32_t *row_ptr = p->row_ptr;
  int64_t        upper   = 0;

  SPMV_TRY(check_pattern(p, exec));
  for (int32_t i = 0; i < (int32_t)p->rows; i++) {
    const int32_t at = diagonal_of(row_ptr, p->col, i);
    if (at < 0)
      return spmv_fail(exec, SPMV_ERR_MATRIX, "row %d has no diagonal entry: store it, even if it is zero", i);
    upper += row_ptr[i + 1] - at - 1;
  }
  f->rows                 = (int32_t)p->rows;
  f->info.rows            = p->rows;
  f->info.nonzeros        = p->nnz;
  f->info.factor_nonzeros = f->options.kind == SPMV_FACTOR_ICC ? p->rows + upper : p->nnz;
  f->gathered = f->options.kind == SPMV_FACTOR_ICC ? 2 * upper : (f->options.transposes ? 2 : 1) * (p->nnz - p->rows);
  return SPMV_SUCCESS;
}

/* ---- triangles in natural order ---- */

static int32_t from_of(const Natural *t, int32_t entry) { return t->from ? t->from[entry] : entry; }

static Natural transpose(Work *w, const Natural *t)
{
  int32_t n = 0;

  for (int32_t i = 0; i < w->rows; i++) {
    w->copy.row_ptr[i] = n;
    for (int32_t k = t->begin[i] + t->skip; k < t->end[i]; k++, n++) {
      w->copy.col[n]  = t->col[k];
      w->copy.from[n] = from_of(t, k);
    }
  }
  w->copy.row_ptr[w->rows] = n;
  const SpmvPattern p      = {.rows       = w->rows,
                              .cols       = w->rows,
                              .nnz        = n,
                              .index_type = SPMV_I32,
                              .row_ptr    = w->copy.row_ptr,
                              .col        = w->copy.col};

  spmv_transpose_on_host(&p, w->transposed.row_ptr, w->transposed.col, SPMV_F64, NULL, w->transposed.from);
  for (int32_t k = 0; k < n; k++) w->transposed.from[k] = w->copy.from[w->transposed.from[k]];
  return (Natural){.begin = w->transposed.row_ptr,
                   .end   = w->transposed.row_ptr + 1,
                   .col   = w->transposed.col,
                   .from  = w->transposed.from};
}

/* ---- levels and order ---- */

/* Nodes are consecutive rows with equal columns, as the unknowns of a mesh node have. Their rows are solved one after the
   other by one thread block, so that a node costs one level. most: rows of a node */
static void find_nodes(Work *w, int32_t most)
{
  for (int32_t i = 0; i < w->rows; i++) {
    const int32_t *here = w->col + w->row_ptr[i], count = w->row_ptr[i + 1] - w->row_ptr[i];
    const int      joins = i > 0 && i - w->node[i - 1] < most && w->row_ptr[i] - w->row_ptr[i - 1] == count &&
                      memcmp(here, here - count, (size_t)count * sizeof *here) == 0;
    w->node[i] = joins ? w->node[i - 1] : i;
  }
}

/* The rows of a node have the same level */
static void find_levels(Work *w, const Natural *t, int is_upper, int64_t *levels, int64_t *widest)
{
  int32_t first, last;

  *levels = *widest = 0;
  memset(w->count, 0, ((size_t)w->rows + 2) * sizeof *w->count);
  for (int32_t n = 0; n < w->rows; n += last - first + 1) {
    int32_t level = 0;

    first = last = is_upper ? w->rows - 1 - n : n;
    if (is_upper) first = w->node[last];
    else
      while (last + 1 < w->rows && w->node[last + 1] == first) last++;
    for (int32_t i = first; i <= last; i++)
      for (int32_t k = t->begin[i] + t->skip; k < t->end[i]; k++)
        if (w->node[t->col[k]] != first && w->level[t->col[k]] >= level) level = w->level[t->col[k]] + 1;
    for (int32_t i = first; i <= last; i++) w->level[i] = level;
    if (level >= *levels) *levels = level + 1;
    w->count[level] += last - first + 1;
    if (w->count[level] > *widest) *widest = w->count[level];
  }
}

/* Sets w->row and w->place, after find_levels(): level by level on the device, in the order of the rows on the host. Within
   a level rows stay in their order. */
static void order_rows(Work *w, int is_upper, int by_level)
{
  int32_t before = 0;

  for (int32_t l = 0; l < w->rows; l++) {
    const int32_t here = w->count[l];
    w->count[l]        = before;
    before += here;
  }
  for (int32_t n = 0; n < w->rows; n++) {
    const int32_t i = is_upper ? w->rows - 1 - n : n, place = by_level ? w->count[w->level[i]]++ : n;

    w->row[place] = i;
    w->place[i]   = place;
  }
}

static SpmvStatus put(const SpmvFactorization *f, int32_t *to, const int32_t *from, int64_t count, SpmvExec *exec)
{
  return count > 0 ? spmv_copy(to, f->object.space, from, SPMV_HOST, count * 4, exec) : SPMV_SUCCESS;
}

static int64_t entries_of(const Work *w, const Natural *t)
{
  int64_t entries = 0;

  for (int32_t i = 0; i < w->rows; i++) entries += t->end[i] - t->begin[i] - t->skip;
  return entries;
}

/* Stores the entries of a triangle in the order of w->row */
static SpmvStatus put_entries(SpmvFactorization *f, Work *w, int is_upper, const Natural *t, SpmvTriangle *to,
                              SpmvExec *exec)
{
  int32_t at = 0;

  for (int32_t n = 0; n < w->rows; n++) {
    const int32_t i = w->row[n], begin = t->begin[i] + t->skip, end = t->end[i];

    w->one.row_ptr[n] = at;
    for (int32_t k = 0; k < end - begin; k++, at++) {
      const int32_t entry = is_upper ? end - 1 - k : begin + k;
      w->one.col[at]      = w->place[t->col[entry]];
      w->one.from[at]     = from_of(t, entry);
    }
  }
  w->one.row_ptr[w->rows] = at;
  SPMV_TRY(put(f, to->row_ptr, w->one.row_ptr, (int64_t)w->rows + 1, exec));
  SPMV_TRY(put(f, to->col, w->one.col, at, exec));
  return put(f, to->from, w->one.from, at, exec);
}

/* Stores a triangle in the order in which it is solved; the device does most of it for triangles of the factor itself */
static SpmvStatus put_triangle(SpmvFactorization *f, Work *w, int which, const Natural *t, SpmvExec *exec)
{
  SpmvTriangle *to       = &f->triangle[which];
  const int     is_upper = which == SPMV_UPPER || which == SPMV_LOWER_T;
  int64_t       levels, widest;

  find_levels(w, t, is_upper, &levels, &widest);
  order_rows(w, is_upper, f->object.space == SPMV_DEVICE);
  if (which == SPMV_UPPER || to == spmv_factor_needs(f)) { /* not those of transposes */
    f->info.levels[is_upper] = levels;
    f->info.widest[is_upper] = widest;
  }
  to->col    = f->col + f->placed;
  to->from   = f->from + f->placed;
  to->values = (char *)f->values + f->placed * spmv_scalar_bytes(f->scalar);
  f->placed += entries_of(w, t);
  SPMV_TRY(put(f, to->row, w->row, w->rows, exec));
  return w->slots->arrange && !t->from ? w->slots->arrange(f, to, is_upper, w->place, exec)
                                       : put_entries(f, w, is_upper, t, to, exec);
}

/* ---- the factor by rows ---- */

static SpmvStatus put_factor(SpmvFactorization *f, const Work *w, SpmvExec *exec)
{
  const SpmvFactorRows *to = &f->factor;

  SPMV_TRY(put(f, to->row_ptr, w->row_ptr, (int64_t)w->rows + 1, exec));
  SPMV_TRY(put(f, to->col, w->col, w->nnz, exec));
  return put(f, to->diagonal, w->diagonal, w->rows, exec);
}

/* ICC: the diagonal and the upper triangle, and where they are in A */
static SpmvStatus put_upper_factor(SpmvFactorization *f, const Work *w, SpmvExec *exec)
{
  const SpmvFactorRows *to = &f->factor;
  const Copy            t  = w->transposed;
  int32_t               n  = 0;

  for (int32_t i = 0; i < w->rows; i++) {
    t.row_ptr[i] = n;
    for (int32_t k = w->diagonal[i]; k < w->row_ptr[i + 1]; k++, n++) {
      t.col[n]  = w->col[k];
      t.from[n] = k;
    }
  }
  t.row_ptr[w->rows] = n;
  SPMV_TRY(put(f, to->row_ptr, t.row_ptr, (int64_t)w->rows + 1, exec));
  SPMV_TRY(put(f, to->diagonal, t.row_ptr, w->rows, exec));
  SPMV_TRY(put(f, to->a_row_ptr, w->row_ptr, (int64_t)w->rows + 1, exec));
  SPMV_TRY(put(f, to->col, t.col, n, exec));
  return put(f, to->source, t.from, n, exec);
}

static SpmvStatus fill(SpmvFactorization *f, Work *w, SpmvExec *exec)
{
  const int is_icc = f->options.kind == SPMV_FACTOR_ICC;

  for (int32_t i = 0; i < w->rows; i++) w->diagonal[i] = diagonal_of(w->row_ptr, w->col, i);
  find_nodes(w, f->factor.nodes.most ? f->factor.nodes.most : SPMV_NODE_ROWS);
  if (f->factor.nodes.most) SPMV_TRY(put(f, f->factor.nodes.first, w->node, w->rows, exec));
  SPMV_TRY(is_icc ? put_upper_factor(f, w, exec) : put_factor(f, w, exec));
  const Natural lower = {.begin = w->row_ptr, .end = w->diagonal, .col = w->col};
  Natural       upper = {.begin = w->diagonal, .end = w->row_ptr + 1, .col = w->col, .skip = 1};
  if (is_icc) upper.begin = w->transposed.row_ptr, upper.end = w->transposed.row_ptr + 1, upper.col = w->transposed.col;
  SPMV_TRY(put_triangle(f, w, SPMV_UPPER, &upper, exec));
  if (!is_icc) SPMV_TRY(put_triangle(f, w, SPMV_LOWER, &lower, exec));
  if (!is_icc && !f->options.transposes) return SPMV_SUCCESS;
  if (!is_icc) {
    const Natural of_lower = transpose(w, &lower);
    SPMV_TRY(put_triangle(f, w, SPMV_LOWER_T, &of_lower, exec));
  }
  const Natural of_upper = transpose(w, &upper);
  return put_triangle(f, w, SPMV_UPPER_T, &of_upper, exec);
}

SpmvStatus spmv_factor_analyse(SpmvFactorization *f, const SpmvPattern *p, const SpmvFactorSlots *slots, SpmvExec *exec)
{
  const int is_icc = f->options.kind == SPMV_FACTOR_ICC, transposes = is_icc || f->options.transposes;

  const int64_t rows = 4 * (p->rows + 2), most = 4 * (p->nnz + 1);
  const int64_t twice = transposes ? rows : 0, entries = transposes ? most : 0;
  const int64_t once = transposes || !slots->arrange ? most : 0; /* else no triangle is arranged on the host */
  Work          w    = {.slots = slots, .row_ptr = p->row_ptr, .col = p->col, .rows = f->rows, .nnz = (int32_t)p->nnz};
  const struct {
    void   *array; /* the address of a pointer */
    int64_t bytes;
  } wanted[] = {{&w.diagonal, rows},
                {&w.node, rows},
                {&w.place, rows},
                {&w.level, rows},
                {&w.count, rows},
                {&w.row, rows},
                {&w.one.row_ptr, rows},
                {&w.one.col, once},
                {&w.one.from, once},
                {&w.copy.row_ptr, twice},
                {&w.copy.col, entries},
                {&w.copy.from, entries},
                {&w.transposed.row_ptr, twice},
                {&w.transposed.col, entries},
                {&w.transposed.from, entries}};
  enum { ARRAYS = sizeof wanted / sizeof *wanted };
  int64_t bytes[ARRAYS];
  void  **array[ARRAYS];
  void   *block;

  for (int i = 0; i < ARRAYS; i++) {
    bytes[i] = wanted[i].bytes;
    array[i] = (void **)wanted[i].array;
  }
  SPMV_TRY(
      spmv_alloc_arrays(exec, SPMV_HOST, ARRAYS, bytes, "analysis of a factorization", (void **const *)array, &block));
  SpmvStatus status = fill(f, &w, exec);
  if (f->object.space == SPMV_DEVICE && !status)
    status = spmv_stream_wait(exec); /* the copies may be from pinned memory */
  spmv_exec_free(exec, SPMV_HOST, block);
  return status;
}
