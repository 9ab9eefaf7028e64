/* format.h - macros for all of the library, in C and in CUDA. What formats may call is in plan/plan.h. */
#pragma once

#include <spmv_kernels.h>

/* The slots of a format for the device, or NULL in a library without GPU code; the only place where a format depends on
   that */
#if defined(SPMV_HAVE_CUDA)
  #define SPMV_DEVICE_SLOTS(table) (&(table))
#else
  #define SPMV_DEVICE_SLOTS(table) NULL
#endif

/* Begins a function for host and device */
#if defined(__CUDACC__)
  #define SPMV_BOTH static inline __host__ __device__
#else
  #define SPMV_BOTH static inline
#endif

/* Enclose C declarations that CUDA files include too */
#ifdef __cplusplus
  #define SPMV_C_BEGIN extern "C" {
  #define SPMV_C_END   }
#else
  #define SPMV_C_BEGIN
  #define SPMV_C_END
#endif

/* Returns the status from the enclosing function if a call fails */
#define SPMV_TRY(call)                                                                                                 \
  do {                                                                                                                 \
    const SpmvStatus status_ = (call);                                                                                 \
    if (status_) return status_;                                                                                       \
  } while (0)

/* A bijective 64-bit hash with strong diffusion (multiply and xor-shift) */
SPMV_BOTH uint64_t spmv_mix(uint64_t z)
{
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}
