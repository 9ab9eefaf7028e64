/*
  fold_device_transpose.cu - the transposed product on the device: by an explicit plan of A^T, so that it is as fast and
  as repeatable as the product. A table gives its nonzeros in CSR order; a stable sort by column makes them the CSR of
  A^T.
*/
#include "fold_device.cuh"
#include <cub/device/device_radix_sort.cuh>

namespace
{
/* row_ptr[c] = the first of the sorted columns that is not below c */
__global__ void fold_column_starts(const int32_t *sorted, int64_t nnz, int64_t cols, int64_t *row_ptr)
{
  const int64_t c   = blockIdx.x * (int64_t)FOLD_THREADS + threadIdx.x;
  int64_t       low = 0, high = nnz;

  if (c > cols) return;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (sorted[middle] < c) low = middle + 1;
    else high = middle;
  }
  row_ptr[c] = low;
}

__global__ void fold_number(int64_t *order, int64_t n)
{
  const int64_t i = blockIdx.x * (int64_t)FOLD_THREADS + threadIdx.x;
  if (i < n) order[i] = i;
}

template <typename S>
__global__ void fold_reorder(const int64_t *order, const int32_t *row, const S *values, int64_t n, int64_t *to_col,
                             S *to_values)
{
  const int64_t i = blockIdx.x * (int64_t)FOLD_THREADS + threadIdx.x;
  if (i >= n) return;
  to_col[i]    = row[order[i]];
  to_values[i] = values[order[i]];
}

/* The CSR of A^T, with 64-bit indices, in arrays of the arena */
SpmvStatus transpose_csr(const FoldDevicePlan *plan, SpmvScopedArena *arena, SpmvExec *exec, SpmvCsr *csr)
{
  const SpmvPlan *b = &plan->base;
  const int64_t   n = b->nnz, scalar_bytes = spmv_scalar_bytes(b->scalar_type), blocks = spmv_blocks(n, FOLD_THREADS);
  int32_t        *row, *col, *sorted;
  int64_t        *row_ptr, *order, *sorted_order, *t_row_ptr, *t_col;
  char           *values, *t_values;

  SPMV_TRY(arena->array(b->rows + 1, "row_ptr", &row_ptr));
  SPMV_TRY(fold_device_recover_row_ptr(&plan->table, &arena->arena, exec, row_ptr));
  SPMV_TRY(arena->array(n, "rows", &row));
  SPMV_TRY(arena->array(n, "columns", &col));
  SPMV_TRY(arena->array(n * scalar_bytes, "values", &values));
  SPMV_TRY(fold_device_coordinates(&plan->table, b->scalar_type, row_ptr, row, col, values, exec));
  SPMV_TRY(arena->array(n, "sorted columns", &sorted));
  SPMV_TRY(arena->array(n, "order", &order));
  SPMV_TRY(arena->array(n, "sorted order", &sorted_order));
  SPMV_LAUNCH(exec, fold_number, blocks, FOLD_THREADS, 0, order, n);
  if (n > 0)
    SPMV_CUB(exec, &arena->arena,
             cub::DeviceRadixSort::SortPairs(scratch, bytes, col, sorted, order, sorted_order, n, 0, 32,
                                             (cudaStream_t)exec->stream));
  SPMV_TRY(arena->array(b->cols + 1, "transposed row_ptr", &t_row_ptr));
  SPMV_TRY(arena->array(n, "transposed col", &t_col));
  SPMV_TRY(arena->array(n * scalar_bytes, "transposed values", &t_values));
  SPMV_LAUNCH(exec, fold_column_starts, spmv_blocks(b->cols + 1, FOLD_THREADS), FOLD_THREADS, 0, sorted, n, b->cols,
              t_row_ptr);
  if (b->scalar_type == SPMV_F32)
    SPMV_LAUNCH(exec, fold_reorder<float>, blocks, FOLD_THREADS, 0, sorted_order, row, (const float *)values, n, t_col,
                (float *)t_values);
  else
    SPMV_LAUNCH(exec, fold_reorder<double>, blocks, FOLD_THREADS, 0, sorted_order, row, (const double *)values, n,
                t_col, (double *)t_values);
  *csr = {{b->cols, b->rows, n, SPMV_I64, SPMV_DEVICE, t_row_ptr, t_col, NULL, NULL},
          b->scalar_type,
          SPMV_DEVICE,
          t_values};
  return SPMV_SUCCESS;
}

/* Analysis and build as for any matrix, and the work space of the product kept behind the plan */
SpmvStatus build_transposed(FoldDevicePlan *plan, const SpmvCsr *csr, SpmvExec *exec)
{
  SpmvAnalysis analysis;

  SPMV_TRY(spmv_analyze(plan->base.format, &csr->pattern, csr->scalar_type, &plan->options, exec, &analysis));
  SpmvPlan  *transposed = NULL;
  void      *work       = NULL;
  SpmvStatus status     = spmv_build(csr, &analysis, exec, &transposed);
  spmv_analysis_clear(&analysis, exec);
  if (!status) status = spmv_alloc(exec, SPMV_DEVICE, transposed->memory.work_bytes, "work of A^T", &work);
  if (!status) status = spmv_stream_wait(exec); /* the CSR may be freed now */
  if (status) {
    fold_device_destroy(&transposed);
    spmv_exec_free(exec, SPMV_DEVICE, work);
    return status;
  }
  plan->transposed      = transposed;
  plan->transposed_work = work;
  return SPMV_SUCCESS;
}

SpmvStatus make_transposed(FoldDevicePlan *plan, SpmvExec *exec)
{
  SpmvScopedArena arena(exec);
  SpmvCsr         csr;

  if (!plan->stream) {
    SPMV_TRY(transpose_csr(plan, &arena, exec, &csr));
    return build_transposed(plan, &csr, exec);
  }
  void      *block[FOLD_TRANSPOSE_BLOCKS] = {NULL};
  SpmvStatus status                       = fold_stream_transpose(plan, exec, &csr, block);
  if (!status) status = build_transposed(plan, &csr, exec);
  for (void *b : block) spmv_exec_free(exec, SPMV_HOST, b);
  return status;
}
} // namespace

SpmvStatus fold_device_prepare_transpose(SpmvPlan *base, SpmvExec *exec)
{
  FoldDevicePlan *plan = (FoldDevicePlan *)base;

  if (plan->transposed) return SPMV_SUCCESS;
  SPMV_TRY(make_transposed(plan, exec));
  spmv_memory_add(&base->memory, "transpose", SPMV_ARRAY_VALUES,
                  plan->transposed->memory.total_bytes + plan->transposed->memory.work_bytes);
  base->memory.host_bytes += plan->transposed->memory.host_bytes;
  return SPMV_SUCCESS;
}

void fold_device_transposed_free(FoldDevicePlan *plan)
{
  const SpmvAllocator host = plan->base.host, device = plan->base.device;

  if (plan->transposed) { /* the last array of the report is the one that prepare added */
    SpmvMemory *memory = &plan->base.memory;
    memory->total_bytes -= memory->array[--memory->count].bytes;
    memory->host_bytes -= plan->transposed->memory.host_bytes;
  }
  fold_device_destroy(&plan->transposed);
  spmv_free(&host, &device, SPMV_DEVICE, plan->transposed_work);
  plan->transposed_work = NULL;
}
