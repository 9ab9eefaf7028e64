/* null_vectors.c - the null space of a matrix as orthonormal vectors on the device. */
#include "point.h"
#include <petsc/private/matimpl.h>

/* NULL has no vectors */
PetscInt MGDevNullVectorsCount(MatNullSpace space) { return space ? space->n + (space->has_cnst ? 1 : 0) : 0; }

/* Why the device cannot project a null space out of a vector; *why is left as it is if it can */
void MGDevNullVectorsWhyNot(MatNullSpace space, const char **why)
{
  if (space && space->remove) *why = "the null space is a function of the user";
  else if (MGDevNullVectorsCount(space) > SPMV_SUMS_MAX) *why = "the null space has more than 64 vectors";
}

/* Copies the vectors of the null space of A to device memory `to`, of shape [count][rows]; the constant vector comes last */
PetscErrorCode MGDevNullVectorsCopy(MatNullSpace space, Mat A, void *to, SpmvExec *exec, SpmvStatus *status)
{
  const int64_t bytes = A->rmap->n * (int64_t)sizeof(PetscScalar);
  char         *next  = (char *)to;
  PetscScalar  *constant;

  PetscFunctionBegin;
  *status = SPMV_SUCCESS;
  for (PetscInt j = 0; j < space->n && !*status; j++, next += bytes)
    PetscCall(AIJFmtVectorCopy(exec, space->vecs[j], next, status));
  if (*status || !space->has_cnst) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(A->rmap->n, &constant));
  for (PetscInt i = 0; i < A->rmap->n; i++) constant[i] = 1 / PetscSqrtReal((PetscReal)A->rmap->N);
  *status = spmv_copy(next, SPMV_DEVICE, constant, SPMV_HOST, bytes, exec);
  PetscCall(PetscFree(constant));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}
