/* replace.h - type names of PETSc that mean types of petscpack. */
#pragma once

#include <petscsys.h>

PETSC_INTERN PetscErrorCode PetscPackReplaceFromOptions(void);
