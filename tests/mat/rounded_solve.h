/* rounded_solve.h - solutions that are compared exactly although PETSc adds up in another order if it knows inodes. */
#pragma once

#include <petscksp.h>
#include "petsc_test.h"

/* *x: the solution for a right-hand side of ones by this preconditioner alone, in whole millionths. Destroy it. */
static inline PetscErrorCode RoundedSolve(Mat A, PCType type, Vec *x)
{
  Vec          b;
  KSP          ksp;
  PC           pc;
  PetscInt     rows;
  PetscScalar *entry;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, type));
  PetscCall(KSPSolve(ksp, b, *x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecScale(*x, 1e6));
  PetscCall(VecGetLocalSize(*x, &rows));
  PetscCall(VecGetArray(*x, &entry));
  for (PetscInt row = 0; row < rows; row++) entry[row] = PetscFloorReal(PetscRealPart(entry[row]));
  PetscCall(VecRestoreArray(*x, &entry));
  PetscFunctionReturn(PETSC_SUCCESS);
}
