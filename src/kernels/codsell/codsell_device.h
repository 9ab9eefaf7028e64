/*
  codsell_device.h - format codsell in device memory: the slots that codsell.c calls for plans of space SPMV_DEVICE. The
  layout is that of codsell.h, with long_columns in 32 bits and one more array:

    pieces  [pieces] CodsellPiece: long rows are cut into pieces of CODSELL_PIECE nonzeros, each summed up by one thread
            block into work; a second kernel adds the sums of a row in their order
*/
#ifndef SPMV_CODSELL_DEVICE_H
#define SPMV_CODSELL_DEVICE_H

#include "codsell.h"

#ifdef __cplusplus
extern "C" {
#endif

SpmvStatus codsell_device_analyze(const SpmvPattern *, SpmvScalar, const SpmvOptions *, SpmvExec *, SpmvAnalysis *);
SpmvStatus codsell_device_build(const SpmvCsr *, const SpmvAnalysis *, SpmvExec *, SpmvPlan **);
SpmvStatus codsell_device_update_values(SpmvPlan *, const void *values, SpmvSpace values_space, SpmvExec *);
SpmvStatus codsell_device_mult(const SpmvPlan *, const void *alpha, const void *x, const void *beta, void *y,
                               void *work, SpmvExec *);
SpmvStatus codsell_device_prepare_transpose(SpmvPlan *, SpmvExec *);
SpmvStatus codsell_device_multtranspose(const SpmvPlan *, const void *alpha, const void *x, const void *beta, void *y,
                                        void *work, SpmvExec *);
void       codsell_device_view(const SpmvPlan *, SpmvPrint print, void *ctx);
void       codsell_device_destroy(SpmvPlan **);

#ifdef __cplusplus
}
#endif
#endif
