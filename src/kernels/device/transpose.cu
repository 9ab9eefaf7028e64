/*
  transpose.cu - a plan of A^T on the device, for all formats: transposed products are then as fast and as repeatable as
  products. A format lists its nonzeros in CSR order; a stable sort by column makes them the CSR of A^T.
*/
#include "arena.cuh"
#include <climits>
#include <cub/device/device_radix_sort.cuh>

namespace
{
enum { THREADS = 256 };

/* row_ptr[c] = the first of the sorted columns that is not below c */
template <typename I>
__global__ void spmv_column_starts(const int32_t *sorted, int64_t nnz, int64_t cols, I *row_ptr)
{
  const int64_t c   = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  int64_t       low = 0, high = nnz;

  if (c > cols) return;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (sorted[middle] < c) low = middle + 1;
    else high = middle;
  }
  row_ptr[c] = (I)low;
}

__global__ void spmv_number(int64_t *order, int64_t n)
{
  const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (i < n) order[i] = i;
}

template <typename I, typename S>
__global__ void spmv_reorder(const int64_t *order, const int32_t *row, const S *values, int64_t n, I *to_col,
                             S *to_values)
{
  const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (i >= n) return;
  to_col[i]    = (I)row[order[i]];
  to_values[i] = values[order[i]];
}

SpmvStatus alloc_list(const SpmvPlan *plan, SpmvArena *arena, SpmvNonzeros *list, SpmvExec *exec)
{
  SPMV_TRY(spmv_arena_array(arena, plan->nnz, "rows", &list->row, exec));
  SPMV_TRY(spmv_arena_array(arena, plan->nnz, "columns", &list->col, exec));
  return spmv_arena_alloc(arena, plan->nnz * spmv_scalar_bytes(plan->scalar_type), "values", &list->values, exec);
}

/* Sorts the list into the CSR of A^T, whose arrays are allocated */
template <typename I>
SpmvStatus sort_list(const SpmvPlan *plan, const SpmvNonzeros *list, SpmvArena *arena, I *row_ptr, I *col, void *values,
                     SpmvExec *exec)
{
  const int64_t n = plan->nnz, cols = plan->cols, blocks = spmv_blocks(n, THREADS);
  int32_t      *sorted;
  int64_t      *order, *sorted_order;

  SPMV_TRY(spmv_arena_array(arena, n, "sorted columns", &sorted, exec));
  SPMV_TRY(spmv_arena_array(arena, n, "order", &order, exec));
  SPMV_TRY(spmv_arena_array(arena, n, "sorted order", &sorted_order, exec));
  SPMV_LAUNCH(exec, spmv_number, blocks, THREADS, 0, order, n);
  if (n > 0)
    SPMV_CUB(exec, arena,
             cub::DeviceRadixSort::SortPairs(scratch, bytes, list->col, sorted, order, sorted_order, n, 0, 32,
                                             (cudaStream_t)exec->stream));
  SPMV_LAUNCH(exec, spmv_column_starts<I>, spmv_blocks(cols + 1, THREADS), THREADS, 0, sorted, n, cols, row_ptr);
  if (plan->scalar_type == SPMV_F32)
    SPMV_LAUNCH(exec, (spmv_reorder<I, float>), blocks, THREADS, 0, sorted_order, list->row,
                (const float *)list->values, n, col, (float *)values);
  else
    SPMV_LAUNCH(exec, (spmv_reorder<I, double>), blocks, THREADS, 0, sorted_order, list->row,
                (const double *)list->values, n, col, (double *)values);
  return SPMV_SUCCESS;
}

/* The CSR of A^T, with the types of A, and the block that holds its arrays, also after a failure */
SpmvStatus transpose(const SpmvPlan *plan, SpmvExec *exec, SpmvCsr *csr, void **block)
{
  const int64_t   I = spmv_index_bytes(plan->index_type), S = spmv_scalar_bytes(plan->scalar_type);
  const int64_t   bytes[] = {(plan->cols + 1) * I, plan->nnz * I, plan->nnz * S};
  void           *row_ptr, *col, *values;
  void **const    array[] = {&row_ptr, &col, &values};
  SpmvScopedArena scratch(exec);
  SpmvNonzeros    list;

  SPMV_TRY(spmv_alloc_arrays(exec, 3, bytes, "CSR of A^T", array, block));
  SPMV_TRY(alloc_list(plan, &scratch.arena, &list, exec));
  SPMV_TRY(plan->slots->list_nonzeros(plan, &list, exec));
  if (plan->index_type == SPMV_I64)
    SPMV_TRY(sort_list(plan, &list, &scratch.arena, (int64_t *)row_ptr, (int64_t *)col, values, exec));
  else SPMV_TRY(sort_list(plan, &list, &scratch.arena, (int32_t *)row_ptr, (int32_t *)col, values, exec));
  *csr = {{plan->cols, plan->rows, plan->nnz, plan->index_type, SPMV_DEVICE, row_ptr, col, nullptr, nullptr},
          plan->scalar_type,
          SPMV_DEVICE,
          values};
  return SPMV_SUCCESS;
}
} // namespace

extern "C" SpmvStatus spmv_transpose_listed(SpmvPlan *plan, const SpmvOptions *options, SpmvExec *exec)
{
  void   *block = nullptr;
  SpmvCsr csr;

  if (plan->rows >= INT_MAX || plan->cols >= INT_MAX)
    return spmv_fail(exec, SPMV_ERR_OVERFLOW,
                     "%s transposes at most %d rows and columns on the device, not %lld x %lld", plan->format->name,
                     INT_MAX - 1, (long long)plan->rows, (long long)plan->cols);
  SpmvStatus status = transpose(plan, exec, &csr, &block);
  if (!status) status = spmv_build_transposed(plan, &csr, options, exec);
  if (!status && (plan->format->caps & SPMV_CAP_BORROWS)) plan->transposed_csr = block;
  else spmv_exec_free(exec, SPMV_DEVICE, block);
  return status;
}
