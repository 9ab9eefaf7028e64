/* factor_fill.c - factors with fill, and in another order: from their entries to the nonzeros of A, and from their rows to
   those of A. Their pattern is analysed as that of a matrix. */
#include "factor.h"

/* On the host, for a while */
typedef struct {
  int32_t *entry;       /* [entries of the pattern]: the nonzero of A, or -1: fill */
  int32_t *first, *end; /* [rows]: where the nonzeros of A in the row and its block begin and end */
  int32_t *place;       /* [rows]: when a row of A is eliminated */
  int32_t *at;          /* [rows]: the nonzero of a row of A in each column, or -1 */
} Lookup;

static SpmvStatus find_places(const SpmvFactorFill *fill, int32_t rows, const Lookup *l, SpmvExec *exec)
{
  for (int32_t i = 0; i < rows; i++) l->place[i] = l->at[i] = -1;
  for (int32_t i = 0; i < rows; i++) {
    const int32_t row = fill->order ? fill->order[i] : i;
    if (row < 0 || row >= rows || l->place[row] >= 0)
      return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a factorization: order[%d] is %d, so that it is no permutation", i,
                       row);
    l->place[row] = i;
  }
  return SPMV_SUCCESS;
}

/* The entries of row i of the factor; ICC reads its upper triangle. Columns of the pattern have been checked. */
static SpmvStatus find_row(const SpmvFactorization *f, const SpmvPattern *a, const SpmvDivision *d, int32_t i,
                           const Lookup *l, SpmvExec *exec)
{
  const SpmvFactorFill *fill = f->options.fill;
  const int32_t        *col = a->col, row = fill->order ? fill->order[i] : i;
  const SpmvRange       kept  = spmv_kept_of(d, a->row_ptr, col, row);
  const int32_t         least = f->options.kind == SPMV_FACTOR_ICC ? i : 0;
  int32_t               lacks = 0;

  l->first[i] = kept.first;
  l->end[i]   = kept.end;
  for (int32_t k = kept.first; k < kept.end; k++)
    if (l->place[col[k]] >= least) {
      l->at[l->place[col[k]]] = k;
      lacks++;
    }
  for (int32_t q = fill->row_ptr[i]; q < fill->row_ptr[i + 1]; q++) {
    l->entry[q] = l->at[fill->col[q]];
    lacks -= l->entry[q] >= 0;
  }
  for (int32_t k = kept.first; k < kept.end; k++) l->at[l->place[col[k]]] = -1;
  if (lacks == 0) return SPMV_SUCCESS;
  return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a factorization: the pattern lacks %d nonzeros of row %d of the matrix",
                   lacks, row);
}

/* numbers[k] = table[numbers[k]], with the table in host memory */
static SpmvStatus relabel(const SpmvFactorSlots *slots, int64_t count, const int32_t *table, int64_t entries,
                          int32_t *numbers, SpmvExec *exec)
{
  const int64_t bytes = 4 * entries;
  int32_t      *here;
  void         *block;

  SPMV_TRY(
      spmv_alloc_arrays(exec, exec->space, 1, &bytes, "numbers of entries", (void **const[]){(void **)&here}, &block));
  SpmvStatus status = spmv_copy(here, exec->space, table, SPMV_HOST, bytes, exec);
  if (!status) status = slots->relabel(count, here, numbers, exec);
  if (!status) status = spmv_stream_wait(exec);
  spmv_exec_free(exec, exec->space, block);
  return status;
}

static SpmvStatus attach(SpmvFactorization *f, const SpmvFactorSlots *slots, const Lookup *l, SpmvExec *exec)
{
  const SpmvFactorFill *fill  = f->options.fill;
  const int64_t         bytes = 4 * (int64_t)f->rows;
  SpmvFactorRows       *r     = &f->factor;

  SPMV_TRY(relabel(slots, f->info.factor_nonzeros, l->entry, fill->row_ptr[f->rows], r->source, exec));
  SPMV_TRY(spmv_copy(r->a_first, exec->space, l->first, SPMV_HOST, bytes, exec));
  SPMV_TRY(spmv_copy(r->a_end, exec->space, l->end, SPMV_HOST, bytes, exec));
  if (!fill->order) return spmv_stream_wait(exec);
  SPMV_TRY(spmv_copy(r->order, exec->space, fill->order, SPMV_HOST, bytes, exec));
  SPMV_TRY(spmv_copy(r->row_at, exec->space, spmv_factor_needs(f)->row, exec->space, bytes, exec));
  for (int i = 0; i < SPMV_TRIANGLES; i++)
    if (f->triangle[i].row) SPMV_TRY(slots->relabel(f->rows, r->order, f->triangle[i].row, exec));
  return spmv_stream_wait(exec);
}

static SpmvStatus find_and_attach(SpmvFactorization *f, const SpmvPattern *a, const SpmvDivision *d,
                                  const SpmvFactorSlots *slots, const Lookup *l, SpmvExec *exec)
{
  SPMV_TRY(find_places(f->options.fill, f->rows, l, exec));
  for (int32_t i = 0; i < f->rows; i++) SPMV_TRY(find_row(f, a, d, i, l, exec));
  return attach(f, slots, l, exec);
}

SpmvStatus spmv_factor_analyse_filled(SpmvFactorization *f, const SpmvPattern *a, const SpmvFactorSlots *slots,
                                      SpmvExec *exec)
{
  const SpmvFactorFill *fill     = f->options.fill;
  const SpmvDivision    division = f->division;
  SpmvPattern           filled   = *a;
  SpmvFactorSize        size;
  Lookup                l;
  void                 *block;

  SPMV_TRY(spmv_factor_check(a, &division, &size, exec));
  filled.nnz     = fill->row_ptr[f->rows];
  filled.row_ptr = fill->row_ptr;
  filled.col     = fill->col;
  f->division    = (SpmvDivision){f->rows, 1, 1}; /* entries between blocks are not in the pattern */
  SPMV_TRY(slots->analyse(f, &filled, exec));
  f->info.nonzeros   = a->nnz;
  const int64_t rows = 4 * a->rows, bytes[] = {4 * filled.nnz, rows, rows, rows, rows};
  void **const  array[] = {(void **)&l.entry, (void **)&l.first, (void **)&l.end, (void **)&l.place, (void **)&l.at};
  SPMV_TRY(spmv_alloc_arrays(exec, SPMV_HOST, 5, bytes, "fill of a factorization", array, &block));
  const SpmvStatus status = find_and_attach(f, a, &division, slots, &l, exec);
  spmv_exec_free(exec, SPMV_HOST, block);
  return status;
}
