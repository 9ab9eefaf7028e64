/*
  pcfactor.h - factors of the package cudss in PCLU and PCCHOLESKY, and of the package petscpack in PCILU and PCICC, by
  PETSc's own choice of a package.
*/
#pragma once

#include <petsc/private/pcimpl.h>
#include <petscksp.h>
#include <spmv_direct.h>
#include "mat/impls/incomplete/incomplete.h"
#include "sys/compat.h"

/* The type stays PETSc's: only PCs made afterwards choose the package of petscpack. type: PCLU, PCCHOLESKY,
   PCILU or PCICC */
PETSC_INTERN PetscErrorCode PCFactorReplace(PCType type, PetscBool replace);
/* *direct: the factorization on the device that PCApply() solves with, or NULL. *is: the PC is PCLU or PCCHOLESKY with a
   factor that may be there; then reason tells why it is not. */
PETSC_INTERN PetscErrorCode PCFactorOnDevice(PC, PetscBool *is, SpmvDirect **direct, char reason[SPMV_MESSAGE_MAX]);
/* incomplete.c. The same of PCILU, PCICC and PCSOR: a->of is NULL, or PCApply() is *a on the device. small: sweeps also with
   small matrices */
PETSC_INTERN PetscErrorCode PCIncompleteOnDevice(PC, PetscBool small, PetscBool *is, MatIncompleteApply *a,
                                                 char reason[SPMV_MESSAGE_MAX]);

/* function.c: PCApply() as a function on the device. It solves with factors, or sweeps: those of the PC, or of the blocks of
   this process, one after the other, if it is PCBJACOBI or PCASM. While its serial number is unchanged, so are all addresses
   in it; CUDA graphs rely on it. */
typedef struct PCFunctionStruct *PCFunction;
typedef struct {
  PetscInt64     serial;
  PetscBool      waits;          /* it cannot be part of a graph */
  PetscBool      direct, sweeps; /* a block has such a function */
  int64_t        levels[2];      /* of lower and upper triangles: how often rows wait for each other */
  PetscLogDouble flops;          /* of a call */
} PCFunctionInfo;

/* Blocks: *sub are the solvers of the n blocks of this process of a PCBJACOBI or PCASM, set up, with a reason if they do more
   than to apply their preconditioners; else n is 0. Is: PCILU, PCICC, PCSOR, and PCBJACOBI and PCASM, whatever is in their
   blocks. Get: makes *f, or brings it up to date; it is NULL afterwards if a PC of this process, or PCASM, has a reason, or none
   of the types above. It is collective for PCASM. Holds: *f is up to date; not collective. Count: calls of the function by an
   engine. */
PETSC_INTERN PetscErrorCode PCFunctionBlocks(PC, PetscInt *n, KSP *sub[], char reason[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode PCFunctionIs(PC, PetscBool *is);
PETSC_INTERN PetscErrorCode PCFunctionGet(PC, PetscBool small, SpmvExec *, PCFunction *f,
                                          char reason[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode PCFunctionHolds(const PCFunction, PC, PetscBool small, PetscBool *holds);
PETSC_INTERN PetscErrorCode PCFunctionDestroy(PCFunction *, SpmvExec *);
PETSC_INTERN PCFunctionInfo PCFunctionGetInfo(const PCFunction);
PETSC_INTERN void           PCFunctionCount(PCFunction, PetscInt64 calls);
PETSC_INTERN SpmvStatus     PCFunctionApply(void *function, const void *r, void *z, SpmvExec *);
