/* cycle_device.cuh - what the files of a cycle on the device share: the coarsest levels as one dense matrix. */
#pragma once

#include "cycle.h"

/* cycle_device_dense.cu; see SpmvCycleSlots */
SpmvStatus spmv_cycle_dense_create(SpmvCycle *, SpmvExec *);
SpmvStatus spmv_cycle_dense_renew(SpmvCycle *, SpmvExec *);
void       spmv_cycle_dense_destroy(SpmvCycle *);
/* The matrix of shape [rows of the bottom level][the same], by rows */
const void *spmv_cycle_dense_matrix(const SpmvCycle *);
