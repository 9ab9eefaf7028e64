/* cycle_device.cuh - what the files of a cycle on the device share. */
#pragma once

#include "cycle.h"

/* cycle_device_dense.cu; see SpmvCycleSlots */
SpmvStatus spmv_cycle_dense_create(SpmvCycle *, SpmvExec *);
SpmvStatus spmv_cycle_dense_renew(SpmvCycle *, SpmvExec *);
void       spmv_cycle_dense_destroy(SpmvCycle *);
/* The matrix of shape [rows of the bottom level][the same], by rows */
const void *spmv_cycle_dense_matrix(const SpmvCycle *);

/* cycle_device_outer.cu; see SpmvCycleSlots */
SpmvStatus spmv_outer_device_sum(const SpmvCycle *, const double *b, SpmvExec *);
SpmvStatus spmv_outer_device_enter(const SpmvCycle *, const double *b, SpmvExec *);
SpmvStatus spmv_outer_device_convert(const SpmvCycle *, SpmvOuterWay, int64_t n, const void *from, void *to,
                                     SpmvExec *);
