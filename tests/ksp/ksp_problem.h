/*
  ksp_problem.h - a symmetric positive definite problem for the solver tests: five-point diffusion with a coefficient
  that varies over the grid
*/
#pragma once

#include <petscksp.h>
#include <petscpack.h>
#include "petsc_test.h"

/* Sets all entries for the coefficient 1 + contrast (i j mod 7) at grid point (i, j), and assembles */
PetscErrorCode KspProblemFill(Mat A, PetscInt nx, PetscInt ny, PetscReal contrast);
/* A matrix of that type, filled with contrast 3 */
PetscErrorCode KspProblemCreate(MPI_Comm comm, MatType type, PetscInt nx, PetscInt ny, Mat *A);
/* x is zero, b has entries of a smooth function */
PetscErrorCode KspProblemVecs(Mat A, Vec *x, Vec *b);
