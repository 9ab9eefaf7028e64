/* replace.h - makes type names of PETSc mean types of petscpack. */
#pragma once

#include <petscsys.h>

PETSC_INTERN PetscErrorCode PetscPackReplaceFromOptions(void);
