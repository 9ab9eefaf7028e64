/*
  crsv_device.h - plans of format crsv in device memory: what crsv.c calls, and crsv_device*.cu share.

  A plan borrows the arrays of a CSR that lies on the device, and uploads those that do not. For nt = auto it adds a
  table of blocks: block b of the streaming kernel owns the rows i with row_ptr[i] + i in [b capacity, (b+1) capacity),
  so both its rows and its nonzeros are few. A row of more than `capacity` nonzeros is long: it is cut into pieces
  instead.
*/
#ifndef SPMV_CRSV_DEVICE_H
#define SPMV_CRSV_DEVICE_H

#include "crsv.h"

#ifdef __cplusplus
extern "C" {
#endif

SpmvStatus crsv_device_analyze(const SpmvPattern *, SpmvScalar, const SpmvOptions *, SpmvExec *, SpmvAnalysis *);
SpmvStatus crsv_device_build(const SpmvCsr *, const SpmvAnalysis *, SpmvExec *, SpmvPlan **);
SpmvStatus crsv_device_update_values(SpmvPlan *, const void *values, SpmvSpace values_space, SpmvExec *);
SpmvStatus crsv_device_mult(const SpmvPlan *, const void *alpha, const void *x, const void *beta, void *y, void *work,
                            SpmvExec *);
SpmvStatus crsv_device_prepare_transpose(SpmvPlan *, SpmvExec *);
SpmvStatus crsv_device_multtranspose(const SpmvPlan *, const void *alpha, const void *x, const void *beta, void *y,
                                     void *work, SpmvExec *);
SpmvStatus crsv_device_view(const SpmvPlan *, SpmvPrint, void *ctx);
void       crsv_device_destroy(SpmvPlan **);

#ifdef __cplusplus
}
#endif
#endif
