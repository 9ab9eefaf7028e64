/* cycle_device.cuh - what the files of a cycle on the device share: the levels that one kernel does together. */
#pragma once

#include "cycle.h"

/* cycle_device_together.cu; see SpmvCycleSlots */
SpmvStatus spmv_cycle_together_create(SpmvCycle *, SpmvExec *);
SpmvStatus spmv_cycle_together_renew(SpmvCycle *, SpmvExec *);
SpmvStatus spmv_cycle_together_apply(const SpmvCycle *, int begin, int end, const void *b, void *x, SpmvExec *);
void       spmv_cycle_together_destroy(SpmvCycle *);
