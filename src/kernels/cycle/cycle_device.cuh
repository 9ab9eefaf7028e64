/* cycle_device.cuh - the functions that the device files of a cycle call across files. */
#pragma once

#include "cycle.h"

/* cycle_device_dense.cu; see SpmvCycleSlots */
SpmvStatus spmv_cycle_dense_create(SpmvCycle *, SpmvExec *);
SpmvStatus spmv_cycle_dense_renew(SpmvCycle *, SpmvExec *);
/* The dense matrix [rows of the bottom level][rows of the bottom level], stored by rows */
const void *spmv_cycle_dense_matrix(const SpmvCycle *);

/* cycle_device_outer.cu; see SpmvCycleSlots */
SpmvStatus spmv_outer_device_sum(const SpmvCycle *, const double *b, SpmvExec *);
SpmvStatus spmv_outer_device_enter(const SpmvCycle *, const double *b, SpmvExec *);
SpmvStatus spmv_outer_device_convert(const SpmvCycle *, SpmvOuterWay, int64_t n, const void *from, void *to,
                                     SpmvExec *);
