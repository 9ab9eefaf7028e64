/* watch.h - the watch on the solves of the process, and the reasons that its table prints */
#pragma once

#include <petscksp.h>
#include <spmv_kernels.h>

enum { PETSCPACK_NAME = 128 }; /* bytes of a prefix, or of the types of a solver */

/* watch.c: from now on, until PETSc ends. lines: of the table at most */
PETSC_INTERN PetscErrorCode PetscPackWatchBegin(PetscInt lines);

/* reasons.c. call: what ran on the host in its last solve, or NULL if only solvers within it did not run on the GPU.
   hint: options that change that, or "" */
PETSC_INTERN PetscErrorCode PetscPackSolverReason(KSP, const char call[], char why[SPMV_MESSAGE_MAX],
                                                  char hint[SPMV_MESSAGE_MAX]);
