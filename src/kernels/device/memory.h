/* memory.h - what device memory is by default, and y = beta y there: the other calls that need no plan are public. */
#pragma once

#include "core/format.h"

SPMV_C_BEGIN

/* Like cudaMalloc and cudaFree, of pool.cu; NULL and nothing without CUDA */
void *spmv_device_alloc_default(int64_t bytes);
void  spmv_device_free_default(void *block);
/* The number of the current device; -1: there is none */
int spmv_device_number(void);

/* Frees scratch memory that nobody uses; whether there was any. scratch.c */
int spmv_scratch_drop(void);

/* y = beta y for n numbers in device memory; vector.cu */
SpmvStatus spmv_device_scale(int64_t n, SpmvScalar, const void *beta, void *y, SpmvExec *);

SPMV_C_END
