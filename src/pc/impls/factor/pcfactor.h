/*
  pcfactor.h - factors of the package cudss in PCLU and PCCHOLESKY, and of the package petscpack in PCILU and PCICC, by
  PETSc's own choice of a package.
*/
#pragma once

#include <petsc/private/pcimpl.h>
#include <spmv_direct.h>
#include "mat/impls/incomplete/incomplete.h"
#include "sys/compat.h"

/* The type stays PETSc's: only PCs made afterwards choose the package of petscpack. type: PCLU, PCCHOLESKY,
   PCILU or PCICC */
PETSC_INTERN PetscErrorCode PCFactorReplace(PCType type, PetscBool replace);
/* *direct: the factorization on the device that PCApply() solves with, or NULL. *is: the PC is PCLU or PCCHOLESKY with a
   factor that may be there; then reason tells why it is not. */
PETSC_INTERN PetscErrorCode PCFactorOnDevice(PC, PetscBool *is, SpmvDirect **direct, char reason[SPMV_MESSAGE_MAX]);
/* incomplete.c. PCIncompleteIs(): PCILU, PCICC, PCSOR, and PCBJACOBI and PCASM, whatever is in their blocks.
   PCOfBlock(): the PC itself, or that of the only block of this process, set up, if it does the same; else NULL with a reason.
   PCIncompleteOnDevice() is PCFactorOnDevice() of PCILU, PCICC and PCSOR: a->of is NULL, or PCApply() is *a on the device.
   small: sweeps also with small matrices */
PETSC_INTERN PetscErrorCode PCIncompleteIs(PC, PetscBool *is);
PETSC_INTERN PetscErrorCode PCOfBlock(PC, PC *inner, char reason[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode PCIncompleteOnDevice(PC, PetscBool small, PetscBool *is, MatIncompleteApply *a,
                                                 char reason[SPMV_MESSAGE_MAX]);
