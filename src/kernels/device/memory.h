/* memory.h - the default allocator of device memory, its scratch memory, and y = beta y. The other device calls that
   need no plan are public (spmv_kernels.h). */
#pragma once

#include "core/format.h"

SPMV_C_BEGIN

/* Like cudaMalloc() and cudaFree(); pool.cu. Without CUDA the first returns NULL, and the second does nothing. */
void *spmv_device_alloc_default(int64_t bytes);
void  spmv_device_free_default(void *block);
/* The number of the current device, or -1 without a device */
int spmv_device_number(void);

/* Frees kept scratch blocks that are not in use. Returns whether it freed one. scratch.c */
int spmv_scratch_drop(void);

/* y = beta y for n numbers in device memory; vector.cu */
SpmvStatus spmv_device_scale(int64_t n, SpmvScalar, const void *beta, void *y, SpmvExec *);

SPMV_C_END
