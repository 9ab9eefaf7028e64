/*
  factor_parallel.c - the factor of a matrix that is distributed over processes: the first process has all rows and the
  factorization, the others send their rows and right-hand sides and get their parts of solutions. The answer does not
  depend on the number of processes.
*/
#include "factor.h"

PetscErrorCode MatCuDSSForgetWhole(Mat_CuDSS *s)
{
  PetscFunctionBegin;
  if (s->whole) PetscCall(MatDestroySubMatrices(s->wholes, &s->whole));
  PetscCall(VecScatterDestroy(&s->gather));
  PetscCall(VecDestroy(&s->all_b));
  PetscCall(VecDestroy(&s->all_x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCuDSSWhole(Mat A, MatReuse reuse, Mat_CuDSS *s, Mat *whole)
{
  PetscMPIInt rank;
  IS          rows;

  PetscFunctionBegin;
  *whole = A;
  if (!s->several) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatCuDSSForgetWhole(s));
  s->wholes = rank == 0 ? 1 : 0;
  PetscCall(ISCreateStride(PETSC_COMM_SELF, s->wholes * A->rmap->N, 0, 1, &rows));
  PetscCall(MatCreateSubMatrices(A, s->wholes, &rows, &rows, reuse, &s->whole));
  PetscCall(ISDestroy(&rows));
  *whole = s->wholes ? s->whole[0] : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCuDSSAgree(Mat F, Mat_CuDSS *s)
{
  PetscFunctionBegin;
  if (s->several) PetscCallMPI(MPI_Bcast(s->why, sizeof s->why, MPI_CHAR, 0, PetscObjectComm((PetscObject)F)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveHere(Mat_CuDSS *s, PetscBool transposed, Vec b, Vec x)
{
  SpmvStatus status;

  PetscFunctionBegin;
  PetscCall(MatCuDSSSolve(s, transposed, b, x, &status));
  PetscCall(AIJFmtRefuse(&s->exec, status, s->why));
  if (!status) s->solves++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCuDSSSolveAll(Mat F, Mat_CuDSS *s, PetscBool transposed, Vec b, Vec x)
{
  PetscFunctionBegin;
  if (!s->several) {
    PetscCall(SolveHere(s, transposed, b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!s->gather) {
    PetscCall(VecScatterCreateToZero(b, &s->gather, &s->all_b));
    PetscCall(VecDuplicate(s->all_b, &s->all_x));
  }
  PetscCall(VecScatterBegin(s->gather, b, s->all_b, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(s->gather, b, s->all_b, INSERT_VALUES, SCATTER_FORWARD));
  if (s->wholes) PetscCall(SolveHere(s, transposed, s->all_b, s->all_x));
  PetscCall(MatCuDSSAgree(F, s));
  if (s->why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecScatterBegin(s->gather, s->all_x, x, INSERT_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(s->gather, s->all_x, x, INSERT_VALUES, SCATTER_REVERSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
