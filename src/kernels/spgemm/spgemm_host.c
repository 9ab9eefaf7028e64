/* spgemm_host.c - products of sparse matrices on the host by Gustavson's algorithm, entry by entry: the reference for
   the device. */
#include "core/csr.h"
#include "spgemm.h"
#include <stdlib.h>
#include <string.h>

static int64_t index_of(const void *array, SpmvIndex type, int64_t i)
{
  return type == SPMV_I64 ? ((const int64_t *)array)[i] : ((const int32_t *)array)[i];
}

static SpmvStatus copy_one(SpmvSpgemm *p, const SpmvPattern *from, SpmvSpgemmPattern *to, SpmvExec *exec)
{
  *to = (SpmvSpgemmPattern){.rows = from->rows, .cols = from->cols, .nnz = from->nnz, .block_rows = 1, .block_cols = 1};
  SPMV_TRY(spmv_spgemm_hold_pattern(p, to, "copy of a pattern", exec));
  for (int64_t i = 0; i <= to->rows; i++) to->row_ptr[i] = (int32_t)index_of(from->row_ptr, from->index_type, i);
  for (int64_t k = 0; k < to->nnz; k++) to->col[k] = (int32_t)index_of(from->col, from->index_type, k);
  return SPMV_SUCCESS;
}

static SpmvStatus copy(SpmvSpgemm *p, const SpmvPattern *a, const SpmvPattern *b, SpmvExec *exec)
{
  SPMV_TRY(copy_one(p, a, &p->a, exec));
  return copy_one(p, b, &p->b, exec);
}

static SpmvStatus transpose(SpmvSpgemm *p, const SpmvSpgemmPattern *from, SpmvSpgemmPattern *to, SpmvExec *exec)
{
  *to = (SpmvSpgemmPattern){.rows = from->cols, .cols = from->rows, .nnz = from->nnz, .block_rows = 1, .block_cols = 1};
  to->origin_ptr      = from->row_ptr;
  const int64_t bytes = to->nnz * 4;
  void        **array = (void **)&to->order;
  SPMV_TRY(spmv_spgemm_hold_pattern(p, to, "transposed pattern", exec));
  SPMV_TRY(spmv_spgemm_hold(p, exec, 1, &bytes, "order of the transposed values", &array));
  const SpmvPattern pattern = {from->rows, from->cols, from->nnz, SPMV_I32, SPMV_HOST, from->row_ptr, from->col};
  spmv_transpose_on_host(&pattern, to->row_ptr, to->col, p->scalar_type, NULL, to->order);
  return SPMV_SUCCESS;
}

static int compare_columns(const void *x, const void *y)
{
  const int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
  return (a > b) - (a < b);
}

/* Returns the number of columns of row i of left * right, and writes them to col, in ascending order, unless col is
   NULL. seen[j] == i marks column j as found; seen must have no i before. */
static int64_t multiply_row(const SpmvSpgemmPattern *left, const SpmvSpgemmPattern *right, int32_t i, int32_t *seen,
                            int32_t *col)
{
  int64_t n = 0;

  for (int32_t k = left->row_ptr[i]; k < left->row_ptr[i + 1]; k++)
    for (int32_t j = right->row_ptr[left->col[k]]; j < right->row_ptr[left->col[k] + 1]; j++) {
      if (seen[right->col[j]] == i) continue;
      seen[right->col[j]] = i;
      if (col) col[n] = right->col[j];
      n++;
    }
  if (col) qsort(col, (size_t)n, sizeof *col, compare_columns);
  return n;
}

static SpmvStatus multiply_marked(SpmvSpgemm *p, const SpmvSpgemmPattern *left, const SpmvSpgemmPattern *right,
                                  SpmvSpgemmPattern *c, int32_t *seen, SpmvExec *exec)
{
  for (int32_t i = 0; i < left->rows; i++) c->nnz += multiply_row(left, right, i, seen, NULL);
  SPMV_TRY(spmv_spgemm_check_count(c->nnz, "the number of nonzeros of a result", exec));
  SPMV_TRY(spmv_spgemm_hold_pattern(p, c, "pattern of a product", exec));
  memset(seen, 0xFF, (size_t)right->cols * sizeof *seen);
  c->row_ptr[0] = 0;
  for (int32_t i = 0; i < left->rows; i++)
    c->row_ptr[i + 1] = c->row_ptr[i] + (int32_t)multiply_row(left, right, i, seen, c->col + c->row_ptr[i]);
  for (int64_t k = 0; k < left->nnz; k++)
    p->multiplications += right->row_ptr[left->col[k] + 1] - right->row_ptr[left->col[k]];
  return SPMV_SUCCESS;
}

static SpmvStatus multiply(SpmvSpgemm *p, const SpmvSpgemmPattern *left, const SpmvSpgemmPattern *right,
                           SpmvSpgemmPattern *c, SpmvSpgemmTeams *teams, SpmvExec *exec)
{
  void *seen;

  (void)teams;
  *c = (SpmvSpgemmPattern){.rows = left->rows, .cols = right->cols, .block_rows = 1, .block_cols = 1};
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, (right->cols + 1) * 4, "columns seen", &seen)); /* + 1: never NULL */
  memset(seen, 0xFF, (size_t)right->cols * 4);
  const SpmvStatus status = multiply_marked(p, left, right, c, seen, exec);
  spmv_exec_free(exec, SPMV_HOST, seen);
  return status;
}

static SpmvStatus result(SpmvSpgemm *p, SpmvExec *exec)
{
  const SpmvSpgemmPattern *c       = &p->c;
  const int64_t            bytes[] = {(c->rows + 1) * 8, c->nnz * 8};
  int64_t                 *row_ptr, *col;
  void                   **array[] = {(void **)&row_ptr, (void **)&col};

  p->result = (SpmvPattern){c->rows, c->cols, c->nnz, p->index_type, SPMV_HOST, c->row_ptr, c->col};
  if (p->index_type == SPMV_I32) return SPMV_SUCCESS;
  SPMV_TRY(spmv_spgemm_hold(p, exec, 2, bytes, "pattern of a product", array));
  for (int64_t i = 0; i <= c->rows; i++) row_ptr[i] = c->row_ptr[i];
  for (int64_t k = 0; k < c->nnz; k++) col[k] = c->col[k];
  p->result.row_ptr = row_ptr;
  p->result.col     = col;
  return SPMV_SUCCESS;
}

#define S       float
#define NAME(x) x##_f32
#include "spgemm_host_values.inc"
#undef S
#undef NAME
#define S       double
#define NAME(x) x##_f64
#include "spgemm_host_values.inc"
#undef S
#undef NAME

static SpmvStatus reorder(const SpmvSpgemm *p, const SpmvSpgemmPattern *t, const void *values, void *to, SpmvExec *exec)
{
  (void)exec;
  if (p->scalar_type == SPMV_F32) reorder_f32(t, values, to);
  else reorder_f64(t, values, to);
  return SPMV_SUCCESS;
}

static SpmvStatus values(const SpmvSpgemm *p, const SpmvSpgemmPattern *left, const void *left_values,
                         const SpmvSpgemmPattern *right, const void *right_values, const SpmvSpgemmPattern *c,
                         const SpmvSpgemmTeams *teams, void *c_values, SpmvExec *exec)
{
  void *place;

  (void)teams;
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, right->cols * 4, "places of columns", &place));
  if (p->scalar_type == SPMV_F32) multiply_f32(left, left_values, right, right_values, c, place, c_values);
  else multiply_f64(left, left_values, right, right_values, c, place, c_values);
  spmv_exec_free(exec, SPMV_HOST, place);
  return SPMV_SUCCESS;
}

const SpmvSpgemmSlots spmv_spgemm_host_slots = {copy, transpose, multiply, result, reorder, values};
