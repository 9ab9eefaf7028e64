/* status.h - what a status of the kernel library means to PETSc: an error, or a reason to take another way. */
#pragma once

#include <petscsys.h>
#include <spmv_kernels.h>
#include "compat.h"

/* The scalar and index types of this PETSc, as types of the kernel library. With any other scalar type, creating a
   matrix is an error. */
#if defined(PETSC_USE_REAL_SINGLE)
  #define AIJFMT_SCALAR SPMV_F32
#else
  #define AIJFMT_SCALAR SPMV_F64
#endif
#if defined(PETSC_USE_64BIT_INDICES)
  #define AIJFMT_INDEX SPMV_I64
#else
  #define AIJFMT_INDEX SPMV_I32
#endif

/* Whether the kernel library could not do something for lack of memory or because of the arguments, so that another way
   may serve; other failures are errors */
static inline PetscBool AIJFmtIsRefusal(SpmvStatus status)
{
  return status == SPMV_ERR_MEMORY || status == SPMV_ERR_UNSUPPORTED || status == SPMV_ERR_OVERFLOW ||
                 status == SPMV_ERR_MATRIX
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Turns a failure of the kernel library into a PETSc error with its message */
#define AIJFmtCallSpmv(exec_pointer, call)                                                                             \
  do {                                                                                                                 \
    const SpmvStatus aijfmt_status_ = (call);                                                                          \
    PetscCheck(!aijfmt_status_, PETSC_COMM_SELF, AIJFmtErrorCode(aijfmt_status_), "%s: %s",                            \
               spmv_status_text(aijfmt_status_), (exec_pointer)->message);                                             \
  } while (0)

PETSC_INTERN PetscErrorCode AIJFmtErrorCode(SpmvStatus);
/* Turns a refusal of the kernel library, such as too little device memory, into a reason to fall back to another way;
   other failures are errors. If there are several processes, a failed device is a reason, too: this process goes on
   until PetscPackAgree() raises the error on all, which wait for it there. */
PETSC_INTERN PetscErrorCode AIJFmtRefuse(const SpmvExec *, SpmvStatus, char reason[SPMV_MESSAGE_MAX]);
/* Whether AIJFmtRefuse() has met a failed device since the last call */
PETSC_INTERN PetscBool PetscPackDeviceFailed(void);
