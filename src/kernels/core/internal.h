/* What the files of core/ and device/ share and no format needs. */
#ifndef SPMV_CORE_INTERNAL_H
#define SPMV_CORE_INTERNAL_H

#include <spmv_kernels.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Like cudaMalloc and cudaFree, of device/pool.cu; NULL and nothing without CUDA */
void *spmv_device_alloc_default(int64_t bytes);
void  spmv_device_free_default(void *block);

#ifdef __cplusplus
}
#endif
#endif
