/*
  launch.cuh - checked CUDA calls and launches, shared by all formats.

  Every launch goes through SPMV_LAUNCH, or that of overlap.cuh: an empty grid is skipped, a failed launch names its
  kernel. Nothing here synchronizes.
*/
#pragma once

#include "core/format.h"
#include <cuda_runtime.h>

static inline SpmvStatus spmv_cuda_status(SpmvExec *exec, cudaError_t error, const char *what)
{
  if (error == cudaSuccess) return SPMV_SUCCESS;
  (void)cudaGetLastError(); /* a non-sticky error must not surface at the next launch */
  return spmv_fail(exec, error == cudaErrorMemoryAllocation ? SPMV_ERR_MEMORY : SPMV_ERR_DEVICE, "%s: %s (%s)", what,
                   cudaGetErrorString(error), cudaGetErrorName(error));
}

/* Returns from the calling function when a CUDA call fails */
#define SPMV_CUDA(exec, call)                                                                                          \
  do {                                                                                                                 \
    SpmvStatus status_ = spmv_cuda_status((exec), (call), #call);                                                      \
    if (status_) return status_;                                                                                       \
  } while (0)

/* tests/emulator, which stands in for the CUDA runtime where there is no GPU, has a call of its own */
#ifndef SPMV_KERNEL_CALL
  #define SPMV_KERNEL_CALL(kernel, blocks, threads, shared, stream, ...)                                               \
    kernel<<<(blocks), (threads), (shared), (stream)>>>(__VA_ARGS__)

/* The same with so many attributes, 0 or 1; cudaGetLastError() tells an error */
template <typename... Parameters, typename... Arguments>
static inline void spmv_launch_with(cudaLaunchAttribute attribute, int attributes, void (*kernel)(Parameters...),
                                    unsigned blocks, unsigned threads, size_t shared, cudaStream_t stream,
                                    const Arguments &...arguments)
{
  cudaLaunchConfig_t config = {};
  config.gridDim            = dim3(blocks);
  config.blockDim           = dim3(threads);
  config.dynamicSmemBytes   = shared;
  config.stream             = stream;
  config.attrs              = &attribute;
  config.numAttrs           = (unsigned)attributes;
  (void)cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}
#endif

/* Shared memory whose size a launch gives, as an array of bytes of that name */
#ifndef SPMV_DYNAMIC_SHARED
  #define SPMV_DYNAMIC_SHARED(name) extern __shared__ __align__(16) unsigned char name[]
#endif

/* Launches kernel<<<blocks, threads, shared, exec->stream>>>(...); blocks is an int64_t and at most 2^31-1 */
#define SPMV_LAUNCH(exec, kernel, blocks, threads, shared, ...)                                                        \
  SPMV_LAUNCH_BY(SPMV_KERNEL_CALL, exec, kernel, blocks, threads, shared, __VA_ARGS__)

#define SPMV_LAUNCH_BY(CALL, exec, kernel, blocks, threads, shared, ...)                                               \
  do {                                                                                                                 \
    const int64_t blocks_ = (blocks);                                                                                  \
    if (blocks_ > 0x7fffffffLL)                                                                                        \
      return spmv_fail((exec), SPMV_ERR_OVERFLOW, "kernel %s: %lld blocks", #kernel, (long long)blocks_);              \
    if (blocks_ > 0) {                                                                                                 \
      CALL(kernel, (unsigned)blocks_, (threads), (shared), (cudaStream_t)(exec)->stream, __VA_ARGS__);                 \
      SPMV_TRY(spmv_cuda_status((exec), cudaGetLastError(), "kernel " #kernel));                                       \
    }                                                                                                                  \
  } while (0)

/* f<I, S>(...) by the types of a plan or CSR */
#define SPMV_BY_TYPES(f, index_type, scalar_type, ...)                                                                 \
  ((scalar_type) == SPMV_F32                                                                                           \
       ? ((index_type) == SPMV_I64 ? f<int64_t, float>(__VA_ARGS__) : f<int32_t, float>(__VA_ARGS__))                  \
       : ((index_type) == SPMV_I64 ? f<int64_t, double>(__VA_ARGS__) : f<int32_t, double>(__VA_ARGS__)))

/* The most threads that a multiprocessor of the compiled architecture holds at a time */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
enum { SPMV_RESIDENT_THREADS = 1024 };
#elif defined(__CUDA_ARCH__) &&                                                                                        \
    (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1100)
enum { SPMV_RESIDENT_THREADS = 1536 };
#else
enum { SPMV_RESIDENT_THREADS = 2048 };
#endif

/* Thread blocks per multiprocessor for a launch bound: `wanted`, or fewer where a multiprocessor holds fewer threads */
__host__ __device__ constexpr int spmv_resident_blocks(int threads, int wanted)
{
  return wanted * threads > SPMV_RESIDENT_THREADS ? SPMV_RESIDENT_THREADS / threads : wanted;
}

enum { SPMV_DEVICES = 64 /* that tables have entries for */ };

/* The current device as an index of such a table, or -1 */
static inline int spmv_current_device()
{
  int device = 0;

  return cudaGetDevice(&device) == cudaSuccess && device >= 0 && device < SPMV_DEVICES ? device : -1;
}

static inline int64_t spmv_blocks(int64_t items, int64_t per_block) { return (items + per_block - 1) / per_block; }
