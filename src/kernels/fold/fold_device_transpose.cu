/*
  fold_device_transpose.cu - transposed products of fold on the device: a table of A^T with the same options. A streamed
  plan is transposed by the host, which has its lengths and most of its entries.
*/
#include "fold_device.cuh"

namespace
{
SpmvStatus transpose_on_device(FoldDevicePlan *plan, SpmvExec *exec)
{
  SpmvScopedArena scratch(exec);
  SpmvPlan       *base = &plan->base;
  SpmvCoordinates list;
  SpmvCsr         csr;
  int64_t        *row_ptr;

  SPMV_TRY(scratch.array(base->rows + 1, "row_ptr", &row_ptr));
  SPMV_TRY(fold_device_recover_row_ptr(&plan->table, &scratch.arena, exec, row_ptr));
  SPMV_TRY(spmv_coordinates_alloc(&list, base->nnz, base->scalar_type, &scratch.arena, exec));
  SPMV_TRY(fold_device_coordinates(&plan->table, base->scalar_type, row_ptr, &list, exec));
  SPMV_TRY(spmv_transpose_coordinates(base, &list, &scratch.arena, exec, &csr));
  return spmv_transposed_build(base, &csr, &plan->options, exec, &plan->transposed);
}

SpmvStatus transpose_on_host(FoldDevicePlan *plan, SpmvExec *exec)
{
  void      *block[FOLD_TRANSPOSE_BLOCKS] = {NULL};
  SpmvCsr    csr;
  SpmvStatus status = fold_stream_transpose(plan, exec, &csr, block);

  if (!status) status = spmv_transposed_build(&plan->base, &csr, &plan->options, exec, &plan->transposed);
  for (void *b : block) spmv_exec_free(exec, SPMV_HOST, b);
  return status;
}
} // namespace

SpmvStatus fold_device_prepare_transpose(SpmvPlan *base, SpmvExec *exec)
{
  FoldDevicePlan *plan = (FoldDevicePlan *)base;

  if (plan->transposed.plan) return SPMV_SUCCESS;
  return plan->stream ? transpose_on_host(plan, exec) : transpose_on_device(plan, exec);
}
