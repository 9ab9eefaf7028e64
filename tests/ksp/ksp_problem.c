/*
  ksp_problem.c - the problem of the solver tests
*/
#include "ksp_problem.h"

/* Coefficient of the edge between two nodes; symmetric in them */
static PetscReal Coefficient(PetscInt a, PetscInt b, PetscReal contrast)
{
  return 1 + contrast * (PetscReal)((a + b) % 7) / 7;
}

PetscErrorCode KspProblemFill(Mat A, PetscInt nx, PetscInt ny, PetscReal contrast)
{
  PetscInt low, high;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &low, &high));
  for (PetscInt node = low; node < high; node++) {
    const PetscInt i = node % nx, j = node / nx;
    const PetscInt neighbour[4] = {i > 0 ? node - 1 : -1, i < nx - 1 ? node + 1 : -1, j > 0 ? node - nx : -1,
                                   j < ny - 1 ? node + nx : -1};
    PetscScalar diagonal = 0.05;

    for (int k = 0; k < 4; k++) {
      const PetscScalar edge = Coefficient(node, neighbour[k] < 0 ? node : neighbour[k], contrast);

      diagonal += edge;
      if (neighbour[k] >= 0) PetscCall(MatSetValue(A, node, neighbour[k], -edge, INSERT_VALUES));
    }
    PetscCall(MatSetValue(A, node, node, diagonal, INSERT_VALUES));
  }
  PetscCall(TestAssemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspProblemCreate(MPI_Comm comm, MatType type, PetscInt nx, PetscInt ny, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(TestCreate(comm, type, PETSC_DECIDE, PETSC_DECIDE, nx * ny, nx * ny, 1, 5, A));
  PetscCall(KspProblemFill(*A, nx, ny, 3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspProblemVecs(Mat A, Vec *x, Vec *b)
{
  PetscInt     low, high;
  PetscScalar *value;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, x, b));
  PetscCall(VecSet(*x, 0));
  PetscCall(VecGetOwnershipRange(*b, &low, &high));
  PetscCall(VecGetArrayWrite(*b, &value));
  for (PetscInt i = low; i < high; i++) value[i - low] = PetscSinReal((PetscReal)i) + 1;
  PetscCall(VecRestoreArrayWrite(*b, &value));
  PetscFunctionReturn(PETSC_SUCCESS);
}
