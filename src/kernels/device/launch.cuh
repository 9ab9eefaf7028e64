/*
  launch.cuh - checked CUDA calls and launches, shared by all formats.

  Every launch goes through SPMV_LAUNCH or its variants in overlap.cuh and cooperative.cuh: they skip an empty grid, and
  the error of a failed launch names the kernel. Nothing here synchronizes.
*/
#pragma once

#include "core/format.h"
#include <cstring>
#include <cuda_runtime.h>

static inline SpmvStatus spmv_cuda_status(SpmvExec *exec, cudaError_t error, const char *what)
{
  if (error == cudaSuccess) return SPMV_SUCCESS;
  (void)cudaGetLastError(); /* else the next launch would report this error as its own */
  /* a launch may lack memory, too: for the code of its kernel, or for the stacks of its threads */
  const bool       lacks  = error == cudaErrorMemoryAllocation || error == cudaErrorLaunchOutOfResources;
  const SpmvStatus status = spmv_fail(exec, lacks ? SPMV_ERR_MEMORY : SPMV_ERR_DEVICE, "%s: %s (%s)", what,
                                      cudaGetErrorString(error), cudaGetErrorName(error));
  if (!exec || !exec->failure) return status;
  if (!exec->failure->status) {
    exec->failure->status = status;
    memcpy(exec->failure->message, exec->message, sizeof exec->message);
  }
  return SPMV_SUCCESS;
}

/* Returns from the calling function when a CUDA call fails */
#define SPMV_CUDA(exec, call)                                                                                          \
  do {                                                                                                                 \
    SpmvStatus status_ = spmv_cuda_status((exec), (call), #call);                                                      \
    if (status_) return status_;                                                                                       \
  } while (0)

/* tests/emulator, which replaces the CUDA runtime in builds without a GPU, defines its own call */
#ifndef SPMV_KERNEL_CALL
  #define SPMV_KERNEL_CALL(kernel, blocks, threads, shared, stream, ...)                                               \
    kernel<<<(blocks), (threads), (shared), (stream)>>>(__VA_ARGS__)

/* A launch with `attributes` attributes, 0 or 1; errors are left for cudaGetLastError() */
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

/* Dynamic shared memory, whose size the launch gives, as an array of bytes with this name */
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

/* Calls f<I, S>(...) for the index type and the scalar type of a plan or CSR */
#define SPMV_BY_TYPES(f, index_type, scalar_type, ...)                                                                 \
  ((scalar_type) == SPMV_F32                                                                                           \
       ? ((index_type) == SPMV_I64 ? f<int64_t, float>(__VA_ARGS__) : f<int32_t, float>(__VA_ARGS__))                  \
       : ((index_type) == SPMV_I64 ? f<int64_t, double>(__VA_ARGS__) : f<int32_t, double>(__VA_ARGS__)))

/* Call call(I()) or call(S()) for the C type of an index or a scalar type */
template <typename Call>
static inline SpmvStatus spmv_with_index(SpmvIndex type, const Call &call)
{
  return type == SPMV_I64 ? call(int64_t()) : call(int32_t());
}
template <typename Call>
static inline SpmvStatus spmv_with_scalar(SpmvScalar type, const Call &call)
{
  return type == SPMV_F32 ? call(float()) : call(double());
}

/* The most resident threads of a multiprocessor of the architecture that is compiled for */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
enum { SPMV_RESIDENT_THREADS = 1024 };
#elif defined(__CUDA_ARCH__) &&                                                                                        \
    (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1100)
enum { SPMV_RESIDENT_THREADS = 1536 };
#else
enum { SPMV_RESIDENT_THREADS = 2048 };
#endif

/* Thread blocks per multiprocessor for __launch_bounds__: `wanted`, or as many as fit into a multiprocessor */
__host__ __device__ constexpr int spmv_resident_blocks(int threads, int wanted)
{
  return wanted * threads > SPMV_RESIDENT_THREADS ? SPMV_RESIDENT_THREADS / threads : wanted;
}

enum { SPMV_DEVICES = 64 /* length of the tables that have one entry per device */ };

/* The current device as an index into such a table, or -1 */
static inline int spmv_current_device()
{
  int device = 0;

  return cudaGetDevice(&device) == cudaSuccess && device >= 0 && device < SPMV_DEVICES ? device : -1;
}

static inline int64_t spmv_blocks(int64_t items, int64_t per_block) { return (items + per_block - 1) / per_block; }
