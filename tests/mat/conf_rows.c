/*
  conf_rows.c - rows: zeroing them, reading them, norms
*/
#include "conf.h"

/* Every third row of this process */
static PetscErrorCode SomeRows(Conf *c, PetscInt *count, PetscInt **rows)
{
  PetscFunctionBeginUser;
  *count = 0;
  PetscCall(PetscMalloc1(c->m, rows));
  for (PetscInt i = 0; i < c->m; i += 3) (*rows)[(*count)++] = c->row_start + i;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatZeroRows() requires existing diagonal entries if they get a value */
static PetscErrorCode ZeroRowsWith(Conf *c, PetscBool keep, PetscScalar diagonal,
                                   PetscErrorCode (*zero)(Mat, PetscInt, const PetscInt[], PetscScalar, Vec, Vec),
                                   const char *what)
{
  Mat      A;
  Vec      x, b;
  PetscInt count, *rows;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, keep));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  if (diagonal != 0.0) PetscCall(MatShift(A, 1));
  PetscCall(ConfSeeProducts(c, "before", A));
  PetscCall(ConfCreateVecs(A, 91, &x, &b));
  PetscCall(SomeRows(c, &count, &rows));
  PetscCall(zero(A, count, rows, diagonal, x, b));
  PetscCall(ConfSeeMat(c, what, A));
  PetscCall(ConfSeeVec(c, what, b));
  PetscCall(PetscFree(rows));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ZeroRows(Conf *c)
{
  PetscFunctionBeginUser;
  PetscCall(ZeroRowsWith(c, PETSC_TRUE, 2, MatZeroRows, "MatZeroRows, pattern kept"));
  PetscCall(ZeroRowsWith(c, PETSC_FALSE, 0, MatZeroRows, "MatZeroRows, pattern shrinks"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatZeroRowsColumns() requires existing diagonal entries */
static PetscErrorCode ZeroRowsColumns(Conf *c)
{
  Mat      A;
  Vec      x, b;
  PetscInt count, *rows;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatShift(A, 1));
  PetscCall(ConfSeeProducts(c, "shifted", A));
  PetscCall(ConfCreateVecs(A, 92, &x, &b));
  PetscCall(SomeRows(c, &count, &rows));
  PetscCall(MatZeroRowsColumns(A, count, rows, 3, x, b));
  PetscCall(ConfSeeMat(c, "MatZeroRowsColumns", A));
  PetscCall(ConfSeeVec(c, "MatZeroRowsColumns", b));
  PetscCall(PetscFree(rows));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Norms(Conf *c)
{
  Mat            A;
  Vec            y;
  PetscReal      value, *columns;
  const NormType which[] = {NORM_1, NORM_FROBENIUS, NORM_INFINITY};

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  for (int k = 0; k < 3; k++) {
    PetscCall(MatNorm(A, which[k], &value));
    PetscCall(ConfSeeReal(c, "MatNorm", value));
  }
  PetscCall(PetscMalloc1(c->N, &columns));
  PetscCall(MatGetColumnNorms(A, NORM_2, columns));
  for (PetscInt j = 0; j < c->N; j++) PetscCall(ConfSeeReal(c, "MatGetColumnNorms", columns[j]));
  PetscCall(PetscFree(columns));
  PetscCall(MatCreateVecs(A, NULL, &y));
  PetscCall(MatGetRowMaxAbs(A, y, NULL));
  PetscCall(ConfSeeVec(c, "MatGetRowMaxAbs", y));
  PetscCall(MatGetRowSum(A, y));
  PetscCall(ConfSeeVec(c, "MatGetRowSum", y));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InfoAndEqual(Conf *c)
{
  Mat       A, B;
  MatInfo   info;
  PetscBool equal;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  PetscCall(ConfSeeReal(c, "nz_used", (PetscReal)info.nz_used));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatEqual(A, B, &equal));
  PetscCall(ConfSeeReal(c, "MatEqual", equal ? 1 : 0));
  PetscCall(MatMultEqual(A, B, 3, &equal));
  PetscCall(ConfSeeReal(c, "MatMultEqual", equal ? 1 : 0));
  PetscCall(MatScale(B, 2));
  PetscCall(MatEqual(A, B, &equal));
  PetscCall(ConfSeeReal(c, "MatEqual after MatScale", equal ? 1 : 0));
  PetscCall(MatMultEqual(A, B, 3, &equal));
  PetscCall(ConfSeeReal(c, "MatMultEqual after MatScale", equal ? 1 : 0));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const ConfOperation conf_rows[] = {{"zero_rows", ZeroRows, CONF_SQUARE | CONF_NONEMPTY},
                                   {"zero_rows_columns", ZeroRowsColumns, CONF_SQUARE | CONF_NONEMPTY},
                                   {"norms", Norms, CONF_NONEMPTY},
                                   {"info_equal", InfoAndEqual, CONF_NONEMPTY},
                                   {NULL, NULL, 0}};
