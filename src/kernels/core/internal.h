/* Declarations that the files of core/ and device/ share and that no format needs. */
#ifndef SPMV_CORE_INTERNAL_H
#define SPMV_CORE_INTERNAL_H

#include "format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Like cudaMalloc and cudaFree, of device/pool.cu; NULL and nothing without CUDA */
void *spmv_device_alloc_default(int64_t bytes);
void  spmv_device_free_default(void *block);

/* y = beta y for n numbers in device memory; device/vector.cu */
SpmvStatus spmv_device_scale(int64_t n, SpmvScalar, const void *beta, void *y, SpmvExec *);

/* Frees the plan of A^T, and takes it out of the memory of A */
void spmv_drop_transposed(SpmvPlan *);
/* Gives the plan of A^T the values of A, by the order that is kept; device/transpose.cu */
SpmvStatus spmv_refresh_transposed(SpmvPlan *, SpmvExec *);

/* An error unless a plan has products with rounded values */
SpmvStatus spmv_check_rounded(const SpmvPlan *, SpmvExec *);

/* An error unless a plan lies on the device and lists its nonzeros, with rows and columns in 32 bits */
SpmvStatus spmv_check_listable(const SpmvPlan *, SpmvExec *);

#ifdef __cplusplus
}
#endif
#endif
