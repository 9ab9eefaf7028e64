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
/* incomplete.c. The same of PCILU, PCICC, PCSOR, and PCBJACOBI with one of these for the only block of this process: a->of is
   NULL, or PCApply() is *a on the device. small: sweeps also with small matrices. PCIncompleteIs(): the type alone */
PETSC_INTERN PetscErrorCode PCIncompleteIs(PC, PetscBool *is);
PETSC_INTERN PetscErrorCode PCIncompleteOnDevice(PC, PetscBool small, PetscBool *is, MatIncompleteApply *a,
                                                 char reason[SPMV_MESSAGE_MAX]);
