/*
  mat_symmetry.c - symmetry that is declared by an option counts only where PETSc knows the matrix to be symmetric. The
  matrix has a pair that is not symmetric, so a product tells which of the two was taken for the other. With
  -malloc_dump, on one process and on two.
*/
#include "petscpack.h"
#include <petscmat.h>
#include <stdio.h>

enum { SIDE = 24 };

static int failures;

static void expect(PetscBool holds, const char *what)
{
  if (holds) return;
  failures++;
  fprintf(stderr, "FAILED: %s\n", what);
}

/* The 9-point stencil on a square, with 2 in the place (1,0) of each process' rows, and -1 opposite to it */
static PetscErrorCode Fill(Mat A)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt i = begin; i < end; i++)
    for (PetscInt dy = -1; dy <= 1; dy++)
      for (PetscInt dx = -1; dx <= 1; dx++) {
        const PetscInt x = i % SIDE + dx, y = i / SIDE + dy, j = y * SIDE + x;
        PetscScalar    v = i == j ? 8 : -1;

        if (x < 0 || x >= SIDE || y < 0 || y >= SIDE) continue;
        if (i == begin + 1 && j == begin) v = 2;
        PetscCall(MatSetValues(A, 1, &i, 1, &j, &v, INSERT_VALUES));
      }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(const char *type, PetscBool known, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, SIDE * SIDE, SIDE * SIDE));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  if (known) {
    PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(MatSetOption(*A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  }
  PetscCall(Fill(*A));
  PetscFunctionReturn(0);
}

/* y = A x with x = 1, 2, 3, ... in the rows of each process; *second is what the second row of this process has got */
static PetscErrorCode SecondRow(Mat A, PetscScalar *second)
{
  const PetscScalar *array;
  PetscInt           begin, end;
  Vec                x, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  for (PetscInt i = begin; i < end; i++) PetscCall(VecSetValue(x, i, (PetscScalar)(i - begin + 1), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecGetArrayRead(y, &array));
  *second = array[1];
  PetscCall(VecRestoreArrayRead(y, &array));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mat         plain, unknown, known;
  PetscScalar expected, got;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsSetValue(NULL, "-mat_aijcluster_symmetry", "declared"));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_aijfmt_decline", "0"));
  PetscCall(Create(MATAIJ, PETSC_FALSE, &plain));
  PetscCall(Create(MATAIJCLUSTER, PETSC_FALSE, &unknown));
  PetscCall(Create(MATAIJCLUSTER, PETSC_TRUE, &known));
  PetscCall(SecondRow(plain, &expected));
  PetscCall(SecondRow(unknown, &got));
  expect((PetscBool)(got == expected), "a matrix that is not known to be symmetric is taken as it is");
  PetscCall(SecondRow(known, &got));
  expect((PetscBool)(got == expected - 3), "a pair has one value where the matrix is known to be symmetric");

  /* Knowledge that comes later counts from the next values on; so does its end */
  PetscMPIInt size;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Fill(unknown));
  if (size == 1) {
    PetscCall(MatSetOption(unknown, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(SecondRow(unknown, &got));
    expect((PetscBool)(got == expected - 3), "symmetry that became known is used after a refresh");
    PetscCall(MatSetOption(unknown, MAT_SYMMETRIC, PETSC_FALSE));
    PetscCall(Fill(unknown));
  }
  PetscCall(SecondRow(unknown, &got));
  expect((PetscBool)(got == expected), "symmetry that is denied is not used after a refresh");
  PetscCall(MatDestroy(&plain));
  PetscCall(MatDestroy(&unknown));
  PetscCall(MatDestroy(&known));
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}
