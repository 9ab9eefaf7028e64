/* csr.cu - CSR matrices in device memory: finds, reads and shifts the diagonal, puts two matrices side by side, takes rows,
   lists the columns that occur, and converts a plan back to CSR. */
#include "plan.h"
#include "device/arena.cuh"
#include "device/csr.cuh"
#include "device/search.cuh"
#include "device/staging.h"

namespace
{
enum { THREADS = 256 };

/* Position of the diagonal entry of row i, or -1. Columns of a row ascend. */
template <typename I>
__device__ inline int64_t diagonal_of(const I *row_ptr, const I *col, int64_t i)
{
  const int64_t begin = row_ptr[i], n = (int64_t)row_ptr[i + 1] - begin;
  const int64_t k = spmv_first_not_below(n, i, [&](int64_t j) { return (int64_t)col[begin + j]; });

  return k < n && (int64_t)col[begin + k] == i ? begin + k : -1;
}

template <typename I, typename S>
__global__ void spmv_read_diagonal(const I *row_ptr, const I *col, const S *values, int64_t rows, S *diagonal)
{
  const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (i >= rows) return;
  const int64_t k = diagonal_of(row_ptr, col, i);
  diagonal[i]     = k < 0 ? S(0) : values[k];
}

template <typename I>
__global__ void spmv_mark_diagonal(const I *row_ptr, const I *col, int64_t rows, I *position)
{
  const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (i >= rows) return;
  const int64_t k = diagonal_of(row_ptr, col, i);
  position[i]     = k < 0 ? row_ptr[i + 1] : (I)k;
}

/* What a diagonal entry gets: the number of its row, or without an array the same one in each row; added to what is
   there, or in its place */
template <typename S>
struct DiagonalChange {
  const S *array;
  S        number;
  bool     inserts;
};

template <typename I, typename S>
__global__ void spmv_change_diagonal(const I *row_ptr, const I *col, int64_t rows, DiagonalChange<S> change, S *values)
{
  const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (i >= rows) return;
  const int64_t k = diagonal_of(row_ptr, col, i);
  if (k < 0) return;
  const S d = change.array ? change.array[i] : change.number;
  values[k] = change.inserts ? d : values[k] + d;
}

template <typename I, typename S>
SpmvStatus read_diagonal(const SpmvCsr *csr, void *diagonal, SpmvExec *exec)
{
  const SpmvPattern *p = &csr->pattern;

  SPMV_LAUNCH(exec, (spmv_read_diagonal<I, S>), spmv_blocks(p->rows, THREADS), THREADS, 0, (const I *)p->row_ptr,
              (const I *)p->col, (const S *)csr->values, p->rows, (S *)diagonal);
  return SPMV_SUCCESS;
}

template <typename I, typename S>
SpmvStatus change_diagonal(const SpmvPattern *p, DiagonalChange<S> change, void *values, SpmvExec *exec)
{
  SPMV_LAUNCH(exec, (spmv_change_diagonal<I, S>), spmv_blocks(p->rows, THREADS), THREADS, 0, (const I *)p->row_ptr,
              (const I *)p->col, p->rows, change, (S *)values);
  return SPMV_SUCCESS;
}

template <typename I, typename S>
SpmvStatus shift_diagonal(const SpmvPattern *p, const void *shift, void *values, SpmvExec *exec)
{
  return change_diagonal<I, S>(p, {nullptr, *(const S *)shift, false}, values, exec);
}

template <typename I, typename S>
SpmvStatus set_diagonal(const SpmvPattern *p, const void *diagonal, bool inserts, void *values, SpmvExec *exec)
{
  return change_diagonal<I, S>(p, {(const S *)diagonal, S(0), inserts}, values, exec);
}

/* Lanes that copy a row; rows of prolongators are short */
enum { BESIDE = 8 };

template <typename I, typename S>
struct Side {
  const I *row_ptr, *col;
  const S *values;
};

/* Copies entries begin to end of a matrix to those from `to_begin` on, without to.col the values only. Column c becomes
   number[c], or first + c without `number`. */
template <typename I, typename S>
__device__ inline void copy_entries(const Side<I, S> &from, I begin, I end, const Side<I, S> &to, I to_begin, I first,
                                    const I *number = nullptr)
{
  for (I k = threadIdx.x % BESIDE; k < end - begin; k += BESIDE) {
    if (to.col) ((I *)to.col)[to_begin + k] = number ? number[from.col[begin + k]] : first + from.col[begin + k];
    if (to.values) ((S *)to.values)[to_begin + k] = from.values[begin + k];
  }
}

template <typename I, typename S>
__global__ void spmv_put_beside(Side<I, S> left, Side<I, S> right, int64_t rows, I left_cols, I before, Side<I, S> to)
{
  const int64_t i = (blockIdx.x * (int64_t)THREADS + threadIdx.x) / BESIDE;

  if (i <= rows && threadIdx.x % BESIDE == 0 && to.row_ptr) ((I *)to.row_ptr)[i] = left.row_ptr[i] + right.row_ptr[i];
  if (i >= rows) return;
  const I begin = right.row_ptr[i], end = right.row_ptr[i + 1], mine = left.row_ptr[i], mine_end = left.row_ptr[i + 1];
  const I middle = begin + (I)spmv_first_not_below(end - begin, before, [&](I j) { return right.col[begin + j]; });
  copy_entries(right, begin, middle, to, mine + begin, I(0));
  copy_entries(left, mine, mine_end, to, mine + middle, before);
  copy_entries(right, middle, end, to, mine_end + middle, left_cols);
}

template <typename I, typename S>
Side<I, S> side_of(const SpmvCsr *m)
{
  return {(const I *)m->pattern.row_ptr, (const I *)m->pattern.col, (const S *)m->values};
}

template <typename I, typename S>
SpmvStatus put_beside(const SpmvCsr *left, const SpmvCsr *right, int64_t before, const SpmvCsr *to, SpmvExec *exec)
{
  const int64_t rows = left->pattern.rows;

  SPMV_LAUNCH(exec, (spmv_put_beside<I, S>), spmv_blocks((rows + 1) * BESIDE, THREADS), THREADS, 0,
              (side_of<I, S>(left)), (side_of<I, S>(right)), rows, (I)left->pattern.cols, (I)before,
              (side_of<I, S>(to)));
  return SPMV_SUCCESS;
}

template <typename I>
struct LengthOfRow {
  const I     *row_ptr, *row;
  __device__ I operator()(int64_t r) const { return row_ptr[row[r] + 1] - row_ptr[row[r]]; }
};

template <typename I, typename S>
__global__ void spmv_take_rows(Side<I, S> from, const I *row, const I *number, I first, int64_t rows, Side<I, S> to)
{
  const int64_t r = (blockIdx.x * (int64_t)THREADS + threadIdx.x) / BESIDE;

  if (r >= rows) return;
  copy_entries(from, from.row_ptr[row[r]], from.row_ptr[row[r] + 1], to, to.row_ptr[r], first, number);
}

template <typename I, typename S>
SpmvStatus take_rows(const SpmvCsr *from, const void *row, const void *number, int64_t first, const SpmvCsr *to,
                     SpmvExec *exec)
{
  const int64_t rows = to->pattern.rows;

  SPMV_LAUNCH(exec, (spmv_take_rows<I, S>), spmv_blocks(rows * BESIDE, THREADS), THREADS, 0, (side_of<I, S>(from)),
              (const I *)row, (const I *)number, (I)first, rows, (side_of<I, S>(to)));
  return SPMV_SUCCESS;
}

template <typename I>
__global__ void spmv_mark_columns(const I *col, int64_t nnz, I *marks)
{
  const int64_t k = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (k < nnz) marks[col[k]] = 1;
}

/* before[c]: how many of the columns that occur come before c */
template <typename I>
__global__ void spmv_list_columns(const I *before, int64_t cols, I *used)
{
  const int64_t c = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (c < cols && before[c] != before[c + 1]) used[before[c]] = (I)c;
}

template <typename I>
SpmvStatus used_columns(const SpmvPattern *p, I *numbers, I *used, int64_t *count, SpmvExec *exec)
{
  const I        *col = (const I *)p->col;
  SpmvScopedArena scratch(exec);
  I              *before = nullptr, all = 0;

  SPMV_TRY(scratch.array(p->cols + 1, "the columns that occur", &before));
  SPMV_CUDA(exec, cudaMemsetAsync(before, 0, (size_t)(p->cols + 1) * sizeof *before, (cudaStream_t)exec->stream));
  SPMV_LAUNCH(exec, spmv_mark_columns<I>, spmv_blocks(p->nnz, THREADS), THREADS, 0, col, p->nnz, before);
  SPMV_TRY(spmv_sum_before(before, before, p->cols + 1, &scratch.arena, exec));
  SPMV_LAUNCH(exec, spmv_list_columns<I>, spmv_blocks(p->cols, THREADS), THREADS, 0, before, p->cols, used);
  SPMV_TRY(spmv_take(col, before, p->nnz, numbers, exec));
  SPMV_TRY(spmv_fetch(&all, before + p->cols, sizeof all, exec));
  *count = (int64_t)all;
  return SPMV_SUCCESS;
}

SpmvStatus check_on_device(const SpmvPattern *p, SpmvSpace values_space, SpmvExec *exec)
{
  if (p->space == SPMV_DEVICE && values_space == SPMV_DEVICE) return SPMV_SUCCESS;
  return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "%s of the CSR lie on the host, but must lie on the device",
                   p->space == SPMV_DEVICE ? "the values" : "row_ptr and col");
}

__global__ void spmv_widen(const int32_t *from, int64_t n, int64_t *to)
{
  const int64_t k = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (k < n) to[k] = from[k];
}

SpmvStatus check_target(const SpmvPlan *plan, const SpmvCsr *to, SpmvExec *exec)
{
  const SpmvPattern *p = &to->pattern;

  SPMV_TRY(spmv_check_listable(plan, exec));
  SPMV_TRY(check_on_device(p, to->values_space, exec));
  if (p->rows != plan->rows || p->cols != plan->cols || p->nnz != plan->nnz || to->scalar_type != plan->scalar_type)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "a CSR of %lld x %lld with %lld nonzeros cannot take a plan of %lld x %lld with %lld, or has "
                     "another scalar type",
                     (long long)p->rows, (long long)p->cols, (long long)p->nnz, (long long)plan->rows,
                     (long long)plan->cols, (long long)plan->nnz);
  if (p->index_type == SPMV_I32 && p->nnz > INT32_MAX)
    return spmv_fail(exec, SPMV_ERR_OVERFLOW, "%lld nonzeros need a CSR with 64-bit indices", (long long)p->nnz);
  return SPMV_SUCCESS;
}

/* Lists the nonzeros of a plan into a CSR: directly with 32-bit indices, through scratch memory with 64-bit indices */
SpmvStatus write_csr(const SpmvPlan *plan, const SpmvCsr *to, SpmvArena *arena, SpmvExec *exec)
{
  const SpmvPattern *p    = &to->pattern;
  const bool         wide = p->index_type == SPMV_I64;
  SpmvNonzeros       list = {nullptr, (int32_t *)p->col, (void *)to->values, nullptr};

  arena->chunk_bytes = p->nnz * (wide ? 8 : 4) + 2 * SPMV_ARENA_ALIGN;
  SPMV_TRY(spmv_arena_array(arena, p->nnz, "rows", &list.row, exec));
  if (wide) SPMV_TRY(spmv_arena_array(arena, p->nnz, "columns", &list.col, exec));
  if (p->nnz > 0) SPMV_TRY(plan->slots->list_nonzeros(plan, &list, exec));
  if (!wide) return spmv_row_starts(list.row, p->nnz, p->rows, (int32_t *)p->row_ptr, exec);
  SPMV_LAUNCH(exec, spmv_widen, spmv_blocks(p->nnz, THREADS), THREADS, 0, list.col, p->nnz, (int64_t *)p->col);
  return spmv_row_starts(list.row, p->nnz, p->rows, (int64_t *)p->row_ptr, exec);
}
} // namespace

extern "C" SpmvStatus spmv_csr_diagonal(const SpmvCsr *csr, void *diagonal, SpmvExec *exec)
{
  SPMV_TRY(check_on_device(&csr->pattern, csr->values_space, exec));
  return SPMV_BY_TYPES(read_diagonal, csr->pattern.index_type, csr->scalar_type, csr, diagonal, exec);
}

extern "C" SpmvStatus spmv_csr_mark_diagonal(const SpmvPattern *p, void *positions, SpmvExec *exec)
{
  SPMV_TRY(check_on_device(p, SPMV_DEVICE, exec));
  return spmv_with_index(p->index_type, [&](auto index) -> SpmvStatus {
    typedef decltype(index) I;
    SPMV_LAUNCH(exec, spmv_mark_diagonal<I>, spmv_blocks(p->rows, THREADS), THREADS, 0, (const I *)p->row_ptr,
                (const I *)p->col, p->rows, (I *)positions);
    return SPMV_SUCCESS;
  });
}

extern "C" SpmvStatus spmv_csr_shift(const SpmvPattern *p, SpmvScalar scalar, const void *shift, void *values,
                                     SpmvExec *exec)
{
  SPMV_TRY(check_on_device(p, SPMV_DEVICE, exec));
  return SPMV_BY_TYPES(shift_diagonal, p->index_type, scalar, p, shift, values, exec);
}

extern "C" SpmvStatus spmv_csr_set_diagonal(const SpmvPattern *p, SpmvScalar scalar, const void *diagonal, int inserts,
                                            void *values, SpmvExec *exec)
{
  SPMV_TRY(check_on_device(p, SPMV_DEVICE, exec));
  return SPMV_BY_TYPES(set_diagonal, p->index_type, scalar, p, diagonal, inserts != 0, values, exec);
}

extern "C" SpmvStatus spmv_csr_of_plan(const SpmvPlan *plan, const SpmvCsr *to, SpmvExec *exec)
{
  SpmvScopedArena scratch(exec);

  SPMV_TRY(check_target(plan, to, exec));
  return write_csr(plan, to, &scratch.arena, exec);
}

extern "C" SpmvStatus spmv_csr_beside(const SpmvCsr *left, const SpmvCsr *right, int64_t before, const SpmvCsr *to,
                                      SpmvExec *exec)
{
  const SpmvCsr *const all[] = {left, right, to};

  for (const SpmvCsr *m : all) SPMV_TRY(check_on_device(&m->pattern, m->values ? m->values_space : SPMV_DEVICE, exec));
  if (left->pattern.rows != right->pattern.rows || left->pattern.index_type != right->pattern.index_type)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "%lld and %lld rows, or other index types, cannot lie side by side",
                     (long long)left->pattern.rows, (long long)right->pattern.rows);
  return SPMV_BY_TYPES(put_beside, left->pattern.index_type, to->scalar_type, left, right, before, to, exec);
}

extern "C" SpmvStatus spmv_csr_rows_begin(const SpmvPattern *p, int64_t rows, const void *row, void *row_ptr,
                                          SpmvExec *exec)
{
  SPMV_TRY(check_on_device(p, SPMV_DEVICE, exec));
  return spmv_with_index(p->index_type, [&](auto index) -> SpmvStatus {
    typedef decltype(index) I;
    SpmvScopedArena         scratch(exec);
    return spmv_sum_each_before(LengthOfRow<I>{(const I *)p->row_ptr, (const I *)row}, (I *)row_ptr, rows,
                                &scratch.arena, exec);
  });
}

extern "C" SpmvStatus spmv_csr_rows(const SpmvCsr *from, const void *row, const void *number, int64_t first,
                                    const SpmvCsr *to, SpmvExec *exec)
{
  const SpmvCsr *const both[] = {from, to};

  for (const SpmvCsr *m : both) SPMV_TRY(check_on_device(&m->pattern, m->values ? m->values_space : SPMV_DEVICE, exec));
  return SPMV_BY_TYPES(take_rows, from->pattern.index_type, to->scalar_type, from, row, number, first, to, exec);
}

extern "C" SpmvStatus spmv_csr_used_columns(const SpmvPattern *p, void *numbers, void *used, int64_t *count,
                                            SpmvExec *exec)
{
  SPMV_TRY(check_on_device(p, SPMV_DEVICE, exec));
  return spmv_with_index(p->index_type, [&](auto index) -> SpmvStatus {
    typedef decltype(index) I;
    return used_columns<I>(p, (I *)numbers, (I *)used, count, exec);
  });
}
