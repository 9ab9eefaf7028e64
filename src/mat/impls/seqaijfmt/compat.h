/* Differences between PETSc 3.18 and 3.26: one name for both, so that no other file tests the version of PETSc. The
   minor version that brought a change stands beside it. */
#pragma once

#include <petscsys.h>

#if PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS 0
#endif

#if PETSC_VERSION_LT(3, 20, 0)
  #define PetscAssertPointer(pointer, argument) PetscValidPointer(pointer, argument)
#endif

/* 3.23: the items of an options block became a pointer type of their own */
#if PETSC_VERSION_LT(3, 23, 0)
typedef PetscOptionItems *AIJFmtOptionItems;
#else
typedef PetscOptionItems AIJFmtOptionItems;
#endif

/* 3.23: the destructor of a container takes the address of the pointer; 3.25: as a void *. AIJFMT_CONTAINER_DESTRUCTOR(
   name, free) defines the right one around PetscErrorCode free(void *). */
#if PETSC_VERSION_LT(3, 23, 0)
  #define AIJFMT_CONTAINER_DESTRUCTOR(name, free)                                                                      \
    static PetscErrorCode name(void *ctx) { return free(ctx); }
  #define AIJFmtContainerSetDestroy(container, destroy) PetscContainerSetUserDestroy(container, destroy)
#else
  #if PETSC_VERSION_LT(3, 25, 0)
typedef void           **AIJFmtContext;
  #else
typedef void *AIJFmtContext;
  #endif
  #define AIJFMT_CONTAINER_DESTRUCTOR(name, free)                                                                      \
    static PetscErrorCode name(AIJFmtContext ctx) { return free(*(void **)ctx); }
  #define AIJFmtContainerSetDestroy(container, destroy) PetscContainerSetCtxDestroy(container, destroy)
#endif

/* The destructor of the data of a product of matrices: as that of a container */
#if PETSC_VERSION_LT(3, 24, 0)
  #define AIJFMT_PRODUCT_DESTRUCTOR(name, free)                                                                        \
    static PetscErrorCode name(void *ctx) { return free(ctx); }
#else
  #define AIJFMT_PRODUCT_DESTRUCTOR(name, free) AIJFMT_CONTAINER_DESTRUCTOR(name, free)
#endif

/* A composed function of unknown arguments, as it is stored and looked up */
typedef void (*AIJFmtFunction)(void);

/* 3.19: MatSetUp() without preallocation inserts into a hash table, with a whole table of operations of its own */
#if PETSC_VERSION_LT(3, 19, 0)
  #define AIJFmtHashActive(A) PETSC_FALSE
#else
  #define AIJFmtHashActive(A) ((A)->hash_active)
#endif

/* A matrix has the field boundtocpu only in a PETSc with devices */
#if defined(PETSC_HAVE_DEVICE)
  #define AIJFmtBoundToCPU(A) ((A)->boundtocpu)
#else
  #define AIJFmtBoundToCPU(A) PETSC_FALSE
#endif

/* Flops on a device are counted only in a PETSc with devices */
#if defined(PETSC_HAVE_DEVICE)
  #define AIJFmtLogGpuFlops(flops) PetscLogGpuFlops(flops)
#else
  #define AIJFmtLogGpuFlops(flops) PetscLogFlops(flops)
#endif

/* 3.19: an option of a solver that makes negative curvature a success; 3.20: a least number of iterations */
#if PETSC_VERSION_LT(3, 19, 0)
  #define AIJFmtKSPIndefinite(ksp) KSP_DIVERGED_INDEFINITE_MAT
#else
  #define AIJFmtKSPIndefinite(ksp) ((ksp)->converged_neg_curve ? KSP_CONVERGED_NEG_CURVE : KSP_DIVERGED_INDEFINITE_MAT)
#endif
#if PETSC_VERSION_LT(3, 20, 0)
  #define AIJFmtKSPMinimum(ksp) 0
#else
  #define AIJFmtKSPMinimum(ksp) ((ksp)->min_it)
#endif
