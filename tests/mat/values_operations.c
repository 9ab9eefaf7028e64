/* values_operations.c - changes of the values of a matrix, for mat_values.c. */
#include "mat_values.h"

/* ---- operations: each is applied to A and to its twin; other is a matrix of the same type ---- */

PetscErrorCode ValuesScale(Mat A, Mat other)
{
  PetscFunctionBeginUser;
  (void)other;
  PetscCall(MatScale(A, 1.0 / 3));
  PetscCall(MatScale(A, 7));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiagonalScale(Mat A, Mat other)
{
  Vec      l, r;
  PetscInt rows;

  PetscFunctionBeginUser;
  (void)other;
  PetscCall(MatGetSize(A, &rows, NULL));
  PetscCall(ValuesVector(rows, 3, A, &l));
  PetscCall(ValuesVector(rows, 5, A, &r));
  PetscCall(MatDiagonalScale(A, l, NULL));
  PetscCall(MatDiagonalScale(A, l, r));
  PetscCall(MatDiagonalScale(A, NULL, r));
  PetscCall(VecDestroy(&l));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Host vectors, even if the matrix makes CUDA vectors */
static PetscErrorCode DiagonalScaleByHostVectors(Mat A, Mat other)
{
  Vec      l;
  PetscInt rows;

  PetscFunctionBeginUser;
  (void)other;
  PetscCall(MatGetLocalSize(A, &rows, NULL));
  PetscCall(VecCreate(values_test.comm, &l));
  PetscCall(VecSetSizes(l, rows, PETSC_DETERMINE));
  PetscCall(VecSetType(l, VECSTANDARD));
  PetscCall(VecSet(l, 3));
  PetscCall(MatDiagonalScale(A, l, l));
  PetscCall(VecDestroy(&l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Shift(Mat A, Mat other)
{
  PetscFunctionBeginUser;
  (void)other;
  PetscCall(MatShift(A, 1.0 / 7));
  PetscCall(MatScale(A, 3));
  PetscCall(MatShift(A, -2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NotFinite(Mat A, Mat other)
{
  const volatile PetscReal big = PETSC_MAX_REAL; /* volatile, so that no compiler evaluates an infinity and warns */

  PetscFunctionBeginUser;
  (void)other;
  PetscCall(MatSetValue(A, 1, 1, big * big, INSERT_VALUES));
  PetscCall(MatSetValue(A, 2, 2, big * big - big * big, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatScale(A, 2));
  PetscCall(MatShift(A, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddSame(Mat A, Mat other) { return MatAXPY(A, 2, other, SAME_NONZERO_PATTERN); }

/* other has fewer nonzeros if its diagonal is not full */
static PetscErrorCode AddSubset(Mat A, Mat other)
{
  PetscFunctionBeginUser;
  PetscCall(MatAXPY(A, 2, other, SUBSET_NONZERO_PATTERN));
  PetscCall(MatAYPX(A, 0.5, other, SUBSET_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddDifferent(Mat A, Mat other) { return MatAXPY(A, 2, other, DIFFERENT_NONZERO_PATTERN); }

static PetscErrorCode Copy(Mat A, Mat other)
{
  PetscFunctionBeginUser;
  PetscCall(MatScale(other, 5));
  PetscCall(MatCopy(other, A, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Zero(Mat A, Mat other)
{
  PetscFunctionBeginUser;
  PetscCall(MatScale(A, 5));
  PetscCall(MatZeroEntries(A));
  PetscCall(MatShift(A, 2));
  PetscCall(MatAXPY(A, 1, other, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each process adds to entries in rows of the next process, some of them in off-diagonal blocks there */
static PetscErrorCode AddToOthers(Mat A, Mat other)
{
  const PetscInt layer = values_test.side * values_test.side, rows = layer * values_test.side;
  PetscInt       end;

  PetscFunctionBeginUser;
  (void)other;
  PetscCall(MatScale(A, 3));
  PetscCall(MatGetOwnershipRange(A, NULL, &end));
  for (PetscInt k = 0; k < layer; k++) {
    const PetscInt    i        = (end + k) % rows;
    const PetscInt    col[]    = {i, i < layer ? i + layer : i - layer};
    const PetscScalar value[2] = {1 + (PetscReal)k / 7, -2};

    PetscCall(MatSetValues(A, 1, &i, 2, col, value, ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatScale(A, 0.5));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Several operations in a row, with a read on the host in between, of each block of a parallel matrix */
static PetscErrorCode Mixed(Mat A, Mat other)
{
  Mat                blocks[2] = {A, NULL};
  const PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(MatScale(A, 3));
  if (values_test.size > 1) PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], NULL));
  for (int b = 0; b < 2 && blocks[b]; b++) {
    PetscCall(MatSeqAIJGetArrayRead(blocks[b], &values));
    PetscCall(MatSeqAIJRestoreArrayRead(blocks[b], &values));
  }
  PetscCall(MatScale(A, 0.5));
  PetscCall(MatAXPY(A, 4, other, SAME_NONZERO_PATTERN));
  PetscCall(MatSetValue(A, 1, 1, 5, ADD_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatShift(A, 3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const ValuesOperation values_operations[] = {
    {"scale", ValuesScale, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
    {"diagonal_scale", DiagonalScale, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
    {"diagonal_scale_host_vectors", DiagonalScaleByHostVectors, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
    {"shift", Shift, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
    {"shift_missing_diagonal", Shift, PETSC_FALSE, PETSC_TRUE, PETSC_TRUE},
    {"scale_missing_diagonal", ValuesScale, PETSC_FALSE, PETSC_TRUE, PETSC_TRUE},
    {"not_finite", NotFinite, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE},
    {"add_same", AddSame, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE},
    {"add_subset", AddSubset, PETSC_TRUE, PETSC_FALSE, PETSC_FALSE},
    {"add_different", AddDifferent, PETSC_FALSE, PETSC_TRUE, PETSC_FALSE},
    {"add_different_same", AddDifferent, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE},
    {"copy", Copy, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
    {"zero", Zero, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE},
    {"add_to_others", AddToOthers, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE},
    {"mixed", Mixed, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE},
    {NULL, NULL, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
};
