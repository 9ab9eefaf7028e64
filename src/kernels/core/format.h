/* format.h - what all formats share, in C and in CUDA, and what they may ask of plan/. */
#pragma once

#include <spmv_kernels.h>

/* Tells a format at compile time whether the library has GPU code; nothing else does */
#if defined(SPMV_HAVE_CUDA)
  #define SPMV_DEVICE_SLOTS(table) (&(table))
#else
  #define SPMV_DEVICE_SLOTS(table) NULL
#endif

/* Begins a function that host and device have in common */
#if defined(__CUDACC__)
  #define SPMV_BOTH static inline __host__ __device__
#else
  #define SPMV_BOTH static inline
#endif

/* Around declarations of C that CUDA reads too */
#ifdef __cplusplus
  #define SPMV_C_BEGIN extern "C" {
  #define SPMV_C_END   }
#else
  #define SPMV_C_BEGIN
  #define SPMV_C_END
#endif

/* Returns from the calling function when a call fails */
#define SPMV_TRY(call)                                                                                                 \
  do {                                                                                                                 \
    const SpmvStatus status_ = (call);                                                                                 \
    if (status_) return status_;                                                                                       \
  } while (0)

/* A bijective mixing of 64 bits with strong diffusion (multiply and xor-shift) */
SPMV_BOTH uint64_t spmv_mix(uint64_t z)
{
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

SPMV_C_BEGIN

/* An array of a plan and its size. The same list of these is reported, allocated and freed. Empty arrays are NULL. */
typedef struct {
  const char   *name;
  SpmvArrayKind kind;
  int64_t       bytes;
  void        **array; /* of the plan */
} SpmvPlanArray;

/* Adds all of a list to a report */
void spmv_arrays_report(const SpmvPlanArray *, int count, SpmvMemory *);
/* Allocates all in the space of a plan, on a device in one block. After a failure they are left to be freed. */
SpmvStatus spmv_arrays_alloc(SpmvPlan *, const SpmvPlanArray *, int count, SpmvExec *);
void       spmv_arrays_free(const SpmvPlan *, const SpmvPlanArray *, int count);

/* Rounds n values of a matrix, in device memory; device/vector.cu */
SpmvStatus spmv_device_round(const double *, float *rounded, int64_t n, SpmvExec *);

/* Builds the plan of A^T from its CSR by the format of A, and adds it to the memory of A. The CSR may be freed then. */
SpmvStatus spmv_build_transposed(SpmvPlan *, const SpmvCsr *transposed, const SpmvOptions *, SpmvExec *);
/* Builds the plan of A^T from the list of nonzeros; plan/transpose.cu */
SpmvStatus spmv_transpose_listed(SpmvPlan *, const SpmvOptions *, SpmvExec *);

SPMV_C_END
