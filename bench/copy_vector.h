/* copy_vector.h - copies a Vec between types, for petsc_bench and solve_bench */
#pragma once

#include <petscvec.h>

/* to = from, for vectors in any memory */
static inline PetscErrorCode CopyThroughHost(Vec from, Vec to)
{
  const PetscScalar *source;
  PetscScalar       *target;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(from, &n));
  PetscCall(VecGetArrayRead(from, &source));
  PetscCall(VecGetArrayWrite(to, &target));
  PetscCall(PetscArraycpy(target, source, n));
  PetscCall(VecRestoreArrayWrite(to, &target));
  PetscCall(VecRestoreArrayRead(from, &source));
  PetscFunctionReturn(0);
}
