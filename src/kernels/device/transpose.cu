/* transpose.cu - see transpose.cuh. */
#include "transpose.cuh"
#include <cub/device/device_radix_sort.cuh>

namespace
{
enum { THREADS = 256 };

/* row_ptr[c] = the first of the sorted columns that is not below c */
__global__ void spmv_column_starts(const int32_t *sorted, int64_t nnz, int64_t cols, int64_t *row_ptr)
{
  const int64_t c   = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  int64_t       low = 0, high = nnz;

  if (c > cols) return;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (sorted[middle] < c) low = middle + 1;
    else high = middle;
  }
  row_ptr[c] = low;
}

__global__ void spmv_number(int64_t *order, int64_t n)
{
  const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (i < n) order[i] = i;
}

template <typename S>
__global__ void spmv_reorder(const int64_t *order, const int32_t *row, const S *values, int64_t n, int64_t *to_col,
                             S *to_values)
{
  const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (i >= n) return;
  to_col[i]    = row[order[i]];
  to_values[i] = values[order[i]];
}
} // namespace

SpmvStatus spmv_coordinates_alloc(SpmvCoordinates *c, int64_t nnz, SpmvScalar scalar, SpmvArena *arena, SpmvExec *exec)
{
  SPMV_TRY(spmv_arena_array(arena, nnz, "rows", &c->row, exec));
  SPMV_TRY(spmv_arena_array(arena, nnz, "columns", &c->col, exec));
  return spmv_arena_alloc(arena, nnz * spmv_scalar_bytes(scalar), "values", &c->values, exec);
}

SpmvStatus spmv_transpose_coordinates(const SpmvPlan *base, const SpmvCoordinates *list, SpmvArena *arena,
                                      SpmvExec *exec, SpmvCsr *transposed)
{
  const int64_t n = base->nnz, cols = base->cols, blocks = spmv_blocks(n, THREADS);
  int32_t      *sorted;
  int64_t      *order, *sorted_order, *row_ptr, *col;
  void         *values;

  SPMV_TRY(spmv_arena_array(arena, n, "sorted columns", &sorted, exec));
  SPMV_TRY(spmv_arena_array(arena, n, "order", &order, exec));
  SPMV_TRY(spmv_arena_array(arena, n, "sorted order", &sorted_order, exec));
  SPMV_LAUNCH(exec, spmv_number, blocks, THREADS, 0, order, n);
  if (n > 0)
    SPMV_CUB(exec, arena,
             cub::DeviceRadixSort::SortPairs(scratch, bytes, list->col, sorted, order, sorted_order, n, 0, 32,
                                             (cudaStream_t)exec->stream));
  SPMV_TRY(spmv_arena_array(arena, cols + 1, "transposed row_ptr", &row_ptr, exec));
  SPMV_TRY(spmv_arena_array(arena, n, "transposed col", &col, exec));
  SPMV_TRY(spmv_arena_alloc(arena, n * spmv_scalar_bytes(base->scalar_type), "transposed values", &values, exec));
  SPMV_LAUNCH(exec, spmv_column_starts, spmv_blocks(cols + 1, THREADS), THREADS, 0, sorted, n, cols, row_ptr);
  if (base->scalar_type == SPMV_F32)
    SPMV_LAUNCH(exec, spmv_reorder<float>, blocks, THREADS, 0, sorted_order, list->row, (const float *)list->values, n,
                col, (float *)values);
  else
    SPMV_LAUNCH(exec, spmv_reorder<double>, blocks, THREADS, 0, sorted_order, list->row, (const double *)list->values,
                n, col, (double *)values);
  *transposed = {
      {cols, base->rows, n, SPMV_I64, SPMV_DEVICE, row_ptr, col, NULL, NULL}, base->scalar_type, SPMV_DEVICE, values};
  return SPMV_SUCCESS;
}

SpmvStatus spmv_transposed_build(SpmvPlan *base, const SpmvCsr *csr, const SpmvOptions *options, SpmvExec *exec,
                                 SpmvTransposed *t)
{
  SpmvAnalysis analysis;

  SPMV_TRY(spmv_analyze(base->format, &csr->pattern, csr->scalar_type, options, exec, &analysis));
  SpmvStatus status = spmv_build(csr, &analysis, exec, &t->plan);
  spmv_analysis_clear(&analysis, exec);
  if (!status) status = spmv_alloc(exec, SPMV_DEVICE, t->plan->memory.work_bytes, "work of A^T", &t->work);
  if (!status) status = spmv_stream_wait(exec); /* the CSR may be freed now */
  if (status) {
    if (t->plan) base->format->destroy(&t->plan);
    spmv_exec_free(exec, SPMV_DEVICE, t->work);
    *t = {};
    return status;
  }
  spmv_memory_add(&base->memory, "transpose", SPMV_ARRAY_VALUES,
                  t->plan->memory.total_bytes + t->plan->memory.work_bytes);
  return SPMV_SUCCESS;
}

void spmv_transposed_free(SpmvPlan *base, SpmvTransposed *t)
{
  const SpmvAllocator host = base->host, device = base->device;

  if (!t->plan) return;
  base->memory.total_bytes -= base->memory.array[--base->memory.count].bytes; /* the last that was added */
  base->format->destroy(&t->plan);
  spmv_free(&host, &device, SPMV_DEVICE, t->work);
  *t = {};
}

SpmvStatus spmv_transposed_mult(const SpmvTransposed *t, const void *alpha, const void *x, const void *beta, void *y,
                                SpmvExec *exec)
{
  if (!t->plan)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "transposed product before prepare_transpose, or after new values");
  return t->plan->format->mult(t->plan, alpha, x, beta, y, t->work, exec);
}
