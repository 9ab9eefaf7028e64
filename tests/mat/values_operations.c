/* values_operations.c - changes of the values of a matrix, for mat_values.c. */
#include "mat_values.h"

PetscErrorCode ValuesVector(PetscInt n, PetscInt seed, Mat A, Vec *v)
{
  PetscScalar *a;
  Vec          left;
  PetscInt     cols;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, NULL, &cols));
  PetscCall(MatCreateVecs(A, v, &left));
  if (n != cols) {
    PetscCall(VecDestroy(v));
    *v   = left;
    left = NULL;
  }
  PetscCall(VecDestroy(&left));
  PetscCall(VecGetArrayWrite(*v, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = 0.5 + 0.25 * (PetscReal)((i * 7 + seed) % 9);
  PetscCall(VecRestoreArrayWrite(*v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- operations: each is done to A and to its twin; other is a matrix of the same type as the first ---- */

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
  Vec l, r;

  PetscFunctionBeginUser;
  (void)other;
  PetscCall(ValuesVector(values_side * values_side * values_side, 3, A, &l));
  PetscCall(ValuesVector(values_side * values_side * values_side, 5, A, &r));
  PetscCall(MatDiagonalScale(A, l, NULL));
  PetscCall(MatDiagonalScale(A, l, r));
  PetscCall(MatDiagonalScale(A, NULL, r));
  PetscCall(VecDestroy(&l));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vectors are not those of the matrix: on the host where it makes CUDA vectors */
static PetscErrorCode DiagonalScaleByHostVectors(Mat A, Mat other)
{
  Vec l;

  PetscFunctionBeginUser;
  (void)other;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, values_side * values_side * values_side, &l));
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
  const volatile PetscReal big = PETSC_MAX_REAL; /* so that no compiler computes an infinity and warns */

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

static PetscErrorCode AddSame(Mat A, Mat other)
{
  PetscFunctionBeginUser;
  PetscCall(MatAXPY(A, 2, other, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The other has fewer nonzeros where its diagonal is not full */
static PetscErrorCode AddSubset(Mat A, Mat other)
{
  PetscFunctionBeginUser;
  PetscCall(MatAXPY(A, 2, other, SUBSET_NONZERO_PATTERN));
  PetscCall(MatAYPX(A, 0.5, other, SUBSET_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddDifferent(Mat A, Mat other)
{
  PetscFunctionBeginUser;
  PetscCall(MatAXPY(A, 2, other, DIFFERENT_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

/* What one does after another: a read on the host in between */
static PetscErrorCode Mixed(Mat A, Mat other)
{
  const PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(MatScale(A, 3));
  PetscCall(MatSeqAIJGetArrayRead(A, &values));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &values));
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
    {"mixed", Mixed, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE},
    {NULL, NULL, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
};
