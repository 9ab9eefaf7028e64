/* pcfactor.h - factors of the package cudss in PCLU and PCCHOLESKY, by PETSc's own choice of a package. */
#pragma once

#include <petsc/private/pcimpl.h>
#include <spmv_direct.h>
#include "sys/compat.h"

/* The type stays PETSc's: only PCs made afterwards choose the package of petscpack. type: PCLU or PCCHOLESKY */
PETSC_INTERN PetscErrorCode PCFactorReplace(PCType type, PetscBool replace);
/* *direct: the factorization on the device that PCApply() solves with, or NULL. *is: the PC is PCLU or PCCHOLESKY with a
   factor that may be there; then reason tells why it is not. */
PETSC_INTERN PetscErrorCode PCFactorOnDevice(PC, PetscBool *is, SpmvDirect **direct, char reason[SPMV_MESSAGE_MAX]);
