/* format.h - macros and functions for all formats, in C and in CUDA, and the functions of plan/ that formats may
   call. */
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

/* Bytes of an array of n elements in a block that holds several: a multiple of 256 and never 0, so that no block is
   NULL */
static inline int64_t spmv_padded_bytes(int64_t n, int64_t element_bytes)
{
  return (n * element_bytes + 256) / 256 * 256;
}

/* A bijective 64-bit hash with strong diffusion (multiply and xor-shift) */
SPMV_BOTH uint64_t spmv_mix(uint64_t z)
{
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

SPMV_C_BEGIN

/* An array of a plan and its size. One list of these serves to report, allocate and free the arrays. Empty arrays are
   NULL. */
typedef struct {
  const char   *name;
  SpmvArrayKind kind;
  int64_t       bytes;
  void        **array; /* the plan's pointer */
} SpmvPlanArray;

/* Adds all arrays of a list to a memory report */
void spmv_arrays_report(const SpmvPlanArray *, int count, SpmvMemory *);
/* Allocates all arrays of a list in the space of the plan, on the device in one block. After a failure the caller must
   call spmv_arrays_free(). */
SpmvStatus spmv_arrays_alloc(SpmvPlan *, const SpmvPlanArray *, int count, SpmvExec *);
void       spmv_arrays_free(const SpmvPlan *, const SpmvPlanArray *, int count);

/* Rounds n values of a matrix to single precision, in device memory; device/vector.cu */
SpmvStatus spmv_device_round(const double *, float *rounded, int64_t n, SpmvExec *);

/* Builds the plan of A^T from its CSR, in the format of A, and adds its bytes to the memory report of A. It waits, so
   the caller may then free a CSR that the format does not borrow. */
SpmvStatus spmv_build_transposed(SpmvPlan *, const SpmvCsr *transposed, const SpmvOptions *, SpmvExec *);
/* Builds the plan of A^T from the list of nonzeros; plan/transpose.cu */
SpmvStatus spmv_transpose_listed(SpmvPlan *, const SpmvOptions *, SpmvExec *);

SPMV_C_END
