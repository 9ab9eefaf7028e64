/* The message of both refusals of another PETSc: in guard.c, when the library is loaded, and in register.c. */
#pragma once

/* Arguments: major and minor of the PETSc of this library, then those of the program's */
#define OTHER_PETSC                                                                                                    \
  "this libpetscpack was built for PETSc %d.%d and the program runs PETSc %d.%d: "                                     \
  "build libpetscpack against the PETSc of the program"
