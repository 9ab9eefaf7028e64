/*
  conf_values.c - operations that change values or patterns of one matrix, and sums of matrices
*/
#include "conf.h"

static PetscErrorCode ScaleAndZero(Conf *c)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(MatScale(A, -3));
  PetscCall(ConfSeeMat(c, "MatScale", A));
  PetscCall(MatZeroEntries(A));
  PetscCall(ConfSeeMat(c, "MatZeroEntries", A));
  PetscCall(ConfSetValues(c, A, 71));
  PetscCall(ConfSeeMat(c, "filled again", A));
  PetscCall(MatScale(A, 0));
  PetscCall(ConfSeeMat(c, "MatScale by zero", A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Shift(Conf *c)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatShift(A, 4));
    PetscCall(ConfSeeMat(c, "MatShift", A));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiagonalOperations(Conf *c)
{
  Mat A;
  Vec left, right;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(ConfCreateVecs(A, 81, &right, &left));
  PetscCall(MatDiagonalScale(A, left, NULL));
  PetscCall(ConfSeeMat(c, "MatDiagonalScale left", A));
  PetscCall(MatDiagonalScale(A, NULL, right));
  PetscCall(ConfSeeMat(c, "MatDiagonalScale right", A));
  PetscCall(MatDiagonalScale(A, left, right));
  PetscCall(ConfSeeMat(c, "MatDiagonalScale both", A));
  PetscCall(VecDestroy(&left));
  PetscCall(VecDestroy(&right));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiagonalSet(Conf *c)
{
  Mat A;
  Vec d;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(ConfCreateVecs(A, 82, &d, NULL));
  PetscCall(MatDiagonalSet(A, d, ADD_VALUES));
  PetscCall(ConfSeeMat(c, "MatDiagonalSet add", A));
  PetscCall(MatDiagonalSet(A, d, INSERT_VALUES));
  PetscCall(ConfSeeMat(c, "MatDiagonalSet insert", A));
  PetscCall(MatGetDiagonal(A, d));
  PetscCall(ConfSeeVec(c, "MatGetDiagonal", d));
  PetscCall(VecDestroy(&d));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Y = a X + Y and Y = a Y + X for each pattern relation, with X of the type and plain */
static PetscErrorCode Axpy(Conf *c)
{
  Mat                A, X, plain;
  const MatStructure how[] = {SAME_NONZERO_PATTERN, SUBSET_NONZERO_PATTERN, DIFFERENT_NONZERO_PATTERN,
                              UNKNOWN_NONZERO_PATTERN};

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &X));
  PetscCall(ConfCreatePlain(c, &plain));
  for (int k = 0; k < 4; k++) {
    PetscCall(MatAXPY(A, 2, X, how[k]));
    PetscCall(ConfSeeMat(c, "MatAXPY", A));
  }
  PetscCall(MatAYPX(A, 2, X, SAME_NONZERO_PATTERN));
  PetscCall(ConfSeeMat(c, "MatAYPX", A));
  PetscCall(MatAXPY(A, 3, plain, SAME_NONZERO_PATTERN));
  PetscCall(ConfSeeMat(c, "MatAXPY with a plain matrix", A));
  PetscCall(MatAXPY(plain, 3, X, SAME_NONZERO_PATTERN));
  PetscCall(ConfSeeMat(c, "MatAXPY to a plain matrix", plain));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sum with the transpose has another pattern: PETSc moves a new matrix into the old header */
static PetscErrorCode AxpyNewPattern(Conf *c)
{
  Mat A, T;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &T));
  PetscCall(MatAXPY(A, 1, T, DIFFERENT_NONZERO_PATTERN));
  PetscCall(ConfSeeMat(c, "A + A^T", A));
  PetscCall(ConfSeeMat(c, "A^T", T));
  PetscCall(MatAXPY(T, 2, A, UNKNOWN_NONZERO_PATTERN));
  PetscCall(ConfSeeMat(c, "A^T + 2 (A + A^T)", T));
  PetscCall(MatAXPY(A, -1, A, SAME_NONZERO_PATTERN));
  PetscCall(ConfSeeMat(c, "A - A", A));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes values through the array of the sequential blocks, and by MatRetrieveValues() */
static PetscErrorCode ThroughArrays(Conf *c)
{
  Mat          A, block[2] = {NULL, NULL};
  PetscBool    parallel;
  PetscScalar *value;
  MatInfo      info;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
  PetscCall(MatStoreValues(A));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  else block[0] = A;
  for (int b = 0; b < 2 && block[b]; b++) {
    PetscCall(MatGetInfo(block[b], MAT_LOCAL, &info));
    PetscCall(MatSeqAIJGetArray(block[b], &value));
    for (PetscInt k = 0; k < (PetscInt)info.nz_used; k++) value[k] = k % 7;
    PetscCall(MatSeqAIJRestoreArray(block[b], &value));
  }
  PetscCall(ConfSeeMat(c, "MatSeqAIJGetArray", A));
  PetscCall(MatRetrieveValues(A));
  PetscCall(ConfSeeMat(c, "MatRetrieveValues", A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const ConfOperation conf_values[] = {{"scale_zero", ScaleAndZero, 0},
                                     {"shift", Shift, CONF_SQUARE | CONF_NONEMPTY},
                                     {"diagonal_scale", DiagonalOperations, 0},
                                     {"diagonal_set", DiagonalSet, CONF_SQUARE | CONF_NONEMPTY},
                                     {"axpy", Axpy, 0},
                                     {"axpy_pattern", AxpyNewPattern, CONF_SQUARE | CONF_NONEMPTY},
                                     {"arrays", ThroughArrays, CONF_NONEMPTY},
                                     {NULL, NULL, 0}};
