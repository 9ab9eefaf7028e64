/* rbp_device_transpose.cu - transposed products of rbp on the device: a packed plan of A^T, whatever the format of A.
 */
#include "rbp_device_analyze.cuh"
#include "rbp_device_published.cuh"

SpmvStatus rbp_device_prepare_transpose(SpmvPlan *base, SpmvExec *exec)
{
  RbpDevicePlan  *plan = (RbpDevicePlan *)base;
  SpmvScopedArena scratch(exec);
  SpmvCoordinates list;
  SpmvCsr         csr;
  SpmvOptions     options;

  if (plan->transposed.plan) return SPMV_SUCCESS;
  SPMV_TRY(spmv_coordinates_alloc(&list, base->nnz, base->scalar_type, &scratch.arena, exec));
  SPMV_TRY(plan->format == RBP_PACKED
               ? rbp_device_packed_coordinates((const RbpDevicePacked *)plan, &list, exec)
               : rbp_device_published_coordinates((const RbpDevicePublished *)plan, &list, exec));
  SPMV_TRY(spmv_transpose_coordinates(base, &list, &scratch.arena, exec, &csr));
  spmv_options_init(&options, base->format);
  return spmv_transposed_build(base, &csr, &options, exec, &plan->transposed);
}
