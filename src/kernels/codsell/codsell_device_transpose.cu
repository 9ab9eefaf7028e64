/* codsell_device_transpose.cu - the transposed product on the device: by an explicit plan of A^T, so that it is as fast
   and as repeatable as the product. A plan lists its nonzeros in CSR order; a stable sort by column makes them the CSR
   of A^T. */
#include "codsell_device.cuh"
#include <cub/device/device_radix_sort.cuh>

namespace
{
/* row_ptr[c] = the first of the sorted columns that is not below c */
__global__ void codsell_column_starts(const int32_t *sorted, int64_t nnz, int64_t cols, int64_t *row_ptr)
{
  const int64_t c   = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  int64_t       low = 0, high = nnz;

  if (c > cols) return;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (sorted[middle] < c) low = middle + 1;
    else high = middle;
  }
  row_ptr[c] = low;
}

__global__ void codsell_number(int64_t *order, int64_t n)
{
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) order[i] = i;
}

template <typename S>
__global__ void codsell_gather(const int64_t *order, const int32_t *row, const S *values, int64_t n, int64_t *to_col,
                               S *to_values)
{
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i >= n) return;
  to_col[i]    = row[order[i]];
  to_values[i] = values[order[i]];
}

/* The CSR of A^T, with 64-bit indices */
struct TransposedCsr {
  int64_t *row_ptr, *col;
  void    *values;
};

SpmvStatus sort_by_column(const CodsellDevicePlan *plan, TransposedCsr *t, SpmvScopedArena *scratch_arena,
                          SpmvExec *exec)
{
  const SpmvPlan    *base = &plan->plan.base;
  const int64_t      n = base->nnz, cols = base->cols, scalar_bytes = spmv_scalar_bytes(base->scalar_type);
  CodsellCoordinates list;
  int32_t           *sorted;
  int64_t           *order, *sorted_order;

  SPMV_TRY(scratch_arena->array(n, "rows", &list.row));
  SPMV_TRY(scratch_arena->array(n, "columns", &list.col));
  SPMV_TRY(scratch_arena->array(n * scalar_bytes, "values", (char **)&list.values));
  SPMV_TRY(codsell_device_list(&plan->plan, &list, exec));
  SPMV_TRY(scratch_arena->array(n, "sorted columns", &sorted));
  SPMV_TRY(scratch_arena->array(n, "order", &order));
  SPMV_TRY(scratch_arena->array(n, "order", &sorted_order));
  SPMV_LAUNCH(exec, codsell_number, spmv_blocks(n, 256), 256, 0, order, n);
  if (n > 0)
    SPMV_CUB(exec, &scratch_arena->arena,
             cub::DeviceRadixSort::SortPairs(scratch, bytes, list.col, sorted, order, sorted_order, n, 0, 32,
                                             (cudaStream_t)exec->stream));
  SPMV_TRY(scratch_arena->array(cols + 1, "transposed row_ptr", &t->row_ptr));
  SPMV_TRY(scratch_arena->array(n, "transposed col", &t->col));
  SPMV_TRY(scratch_arena->array(n * scalar_bytes, "transposed values", (char **)&t->values));
  SPMV_LAUNCH(exec, codsell_column_starts, spmv_blocks(cols + 1, 256), 256, 0, sorted, n, cols, t->row_ptr);
  if (base->scalar_type == SPMV_F32)
    SPMV_LAUNCH(exec, codsell_gather<float>, spmv_blocks(n, 256), 256, 0, sorted_order, list.row,
                (const float *)list.values, n, t->col, (float *)t->values);
  else
    SPMV_LAUNCH(exec, codsell_gather<double>, spmv_blocks(n, 256), 256, 0, sorted_order, list.row,
                (const double *)list.values, n, t->col, (double *)t->values);
  return SPMV_SUCCESS;
}

/* Analysis and build as for any matrix, and the work space of the product kept behind the plan */
SpmvStatus make_transposed(CodsellDevicePlan *plan, SpmvExec *exec)
{
  const SpmvPlan *base = &plan->plan.base;
  SpmvScopedArena scratch(exec);
  TransposedCsr   t;
  SpmvOptions     options;
  SpmvAnalysis    analysis;

  SPMV_TRY(sort_by_column(plan, &t, &scratch, exec));
  const SpmvCsr csr = {{base->cols, base->rows, base->nnz, SPMV_I64, SPMV_DEVICE, t.row_ptr, t.col, NULL, NULL},
                       base->scalar_type,
                       SPMV_DEVICE,
                       t.values};
  spmv_options_init(&options, base->format);
  SPMV_TRY(spmv_analyze(base->format, &csr.pattern, csr.scalar_type, &options, exec, &analysis));
  SpmvPlan  *transposed = NULL;
  void      *work       = NULL;
  SpmvStatus status     = spmv_build(&csr, &analysis, exec, &transposed);
  spmv_analysis_clear(&analysis, exec);
  if (!status) status = spmv_alloc(exec, SPMV_DEVICE, transposed->memory.work_bytes, "work of A^T", &work);
  if (!status) status = spmv_stream_wait(exec); /* scratch leaves scope */
  if (status) {
    codsell_device_destroy(&transposed);
    spmv_exec_free(exec, SPMV_DEVICE, work);
    return status;
  }
  plan->transposed      = transposed;
  plan->transposed_work = work;
  return SPMV_SUCCESS;
}
} // namespace

SpmvStatus codsell_device_prepare_transpose(SpmvPlan *base, SpmvExec *exec)
{
  CodsellDevicePlan *plan = (CodsellDevicePlan *)base;

  if (plan->transposed) return SPMV_SUCCESS;
  SPMV_TRY(make_transposed(plan, exec));
  spmv_memory_add(&base->memory, "transpose", SPMV_ARRAY_VALUES,
                  plan->transposed->memory.total_bytes + plan->transposed->memory.work_bytes);
  return SPMV_SUCCESS;
}

void codsell_device_transposed_free(CodsellDevicePlan *plan)
{
  SpmvPlan           *base = &plan->plan.base;
  const SpmvAllocator host = base->host, device = base->device;

  if (plan->transposed) /* the last array of the report is the one that prepare added */
    base->memory.total_bytes -= base->memory.array[--base->memory.count].bytes;
  codsell_device_destroy(&plan->transposed);
  spmv_free(&host, &device, SPMV_DEVICE, plan->transposed_work);
  plan->transposed_work = NULL;
}
