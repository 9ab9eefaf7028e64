/* fold_device.h - format fold in device memory: the slots that fold.c calls for plans of space SPMV_DEVICE. */
#ifndef SPMV_FOLD_DEVICE_H
#define SPMV_FOLD_DEVICE_H

#include "fold.h"

#ifdef __cplusplus
extern "C" {
#endif

SpmvStatus fold_device_analyze(const SpmvPattern *, SpmvScalar, const SpmvOptions *, SpmvExec *, SpmvAnalysis *);
SpmvStatus fold_device_build(const SpmvCsr *, const SpmvAnalysis *, SpmvExec *, SpmvPlan **);
SpmvStatus fold_device_update_values(SpmvPlan *, const void *values, SpmvSpace values_space, SpmvExec *);
SpmvStatus fold_device_mult(const SpmvPlan *, const void *alpha, const void *x, const void *beta, void *y, void *work,
                            SpmvExec *);
SpmvStatus fold_device_prepare_transpose(SpmvPlan *, SpmvExec *);
SpmvStatus fold_device_multtranspose(const SpmvPlan *, const void *alpha, const void *x, const void *beta, void *y,
                                     void *work, SpmvExec *);
SpmvStatus fold_device_view(const SpmvPlan *, SpmvPrint, void *ctx);
void       fold_device_destroy(SpmvPlan **);

/* The table of a plan on the device: its arrays are in device memory. For tests. */
const FoldTable *fold_device_table(const SpmvPlan *);

#ifdef __cplusplus
}
#endif
#endif
