/* plugin.h - declarations that the files of this folder share. */
#pragma once

#include <petscsys.h>

/* The message for a wrong version of PETSc, used by guard.c when the library is loaded, and by register.c.
   Arguments: major and minor of the PETSc that this library was built for, then those of the program's PETSc */
#define OTHER_PETSC                                                                                                    \
  "this libpetscpack was built for PETSc %d.%d and the program runs PETSc %d.%d: "                                     \
  "build libpetscpack against the PETSc of the program"

/* replace.c, mat_operations.c */
PETSC_INTERN PetscErrorCode PetscPackReplaceFromOptions(void);
PETSC_INTERN PetscErrorCode AIJFmtTypesRegister(void);
