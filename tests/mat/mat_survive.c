/*
  mat_survive.c - options of a matrix in operations that replace its contents, refused options, rows that no format can
  hold, and subclasses that PETSc makes of our matrices without telling us
*/
#include "mat_options.h"

/* Checks an option that the prefix of the matrix has, in the matrix and in its blocks, which pack by it */
static PetscErrorCode ExpectOptions(Mat A, const char *type, const char *what)
{
  char      text[CONF_TYPE_MAX];
  Mat       blocks[2] = {A, NULL};
  PetscBool parallel;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], NULL));
  for (int b = 0; b < 2 && blocks[b]; b++) {
    PetscCall(MatAIJFmtGetOption(blocks[b], "decline", text, sizeof(text)));
    PetscCall(Expect(!strcmp(text, "false"), type, what));
  }
  PetscCall(ConfMultiply(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatHeaderMerge() and MatHeaderReplace() */
PetscErrorCode OptionsSurvive(const char *type)
{
  const MatType other[] = {type, MATAIJ};
  Mat           A, B, X;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-mine_mat_aijfmt_decline", "false"));
  PetscCall(CreateBanded(type, "mine_", &A));
  PetscCall(ConfMultiply(A));
  PetscCall(MatTranspose(A, MAT_INPLACE_MATRIX, &A));
  PetscCall(ExpectOptions(A, type, "MatTranspose() in place forgets options"));
  for (int k = 0; k < 2; k++) {
    PetscCall(CreateBanded(other[k], NULL, &X));
    PetscCall(MatAXPY(A, 2, X, DIFFERENT_NONZERO_PATTERN));
    PetscCall(ExpectOptions(A, type, "MatAXPY() with another pattern forgets options"));
    PetscCall(MatAYPX(A, 2, X, DIFFERENT_NONZERO_PATTERN));
    PetscCall(ExpectOptions(A, type, "MatAYPX() with another pattern forgets options"));
    PetscCall(MatDestroy(&X));
  }
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatHeaderReplace(A, &B));
  PetscCall(ExpectOptions(A, type, "MatHeaderReplace() forgets options"));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscOptionsClearValue(NULL, "-mine_mat_aijfmt_decline"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The second MatSetType() on the same matrix must not accept what the first one refused */
PetscErrorCode RefusedOptionIsRefusedAgain(const char *type)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-mat_aijfmt_check", "perhaps"));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, 4, 4, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  for (int k = 0; k < 2; k++)
    PetscCall(Expect(MatSetType(A, type) == PETSC_ERR_ARG_OUTOFRANGE, type, "a wrong option was taken"));
  PetscCall(PetscPopErrorHandler());
  PetscCall(PetscOptionsClearValue(NULL, "-mat_aijfmt_check"));
  PetscCall(MatSetType(A, type));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In a program started with -mat_seqaij_type, MATAIJPERM is made from a matrix of ours */
PetscErrorCode SubclassOfOurs(const char *type)
{
  char      seq[CONF_TYPE_MAX];
  Mat       A, B;
  Vec       x, y;
  PetscReal norm[2];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(seq, sizeof(seq), "seq%s", type));
  PetscCall(CreateBanded(MATAIJ, NULL, &B));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_seqaij_type", seq));
  PetscCall(CreateBanded(MATAIJPERM, NULL, &A));
  PetscCall(PetscOptionsClearValue(NULL, "-mat_seqaij_type"));
  PetscCall(ConfCreateVecs(A, 1, &x, &y));
  PetscCall(MatMultTranspose(A, y, x));
  PetscCall(VecNorm(x, NORM_2, &norm[0]));
  PetscCall(MatMultTranspose(B, y, x));
  PetscCall(VecNorm(x, NORM_2, &norm[1]));
  PetscCall(Expect(norm[0] == norm[1], type, "MatMultTranspose() of MATAIJPERM made of it"));
  PetscCall(TestDestroyVecs(&x, &y));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(ConfMultiply(B));
  PetscCall(TestDestroyMats(&A, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MATAIJ accepts rows with unsorted columns, and PETSc makes such matrices: they are left to the parent type, with a
   reason, even if the user insists on the format */
PetscErrorCode RowsOutOfOrder(const char *type)
{
  PetscInt       row_ptr[] = {0, 2, 3}, col[] = {1, 0, 1};
  PetscScalar    value[] = {2, 3, 4};
  const PetscInt rows[]  = {0, 1};
  PetscScalar    sum[2];
  MatAIJFmtInfo  info;
  Mat            A;
  Vec            x, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, 2, 2, row_ptr, col, value, &A));
  PetscCall(MatConvert(A, type, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatAIJFmtSetOption(A, "decline", "false"));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSetValue(x, 0, 1, INSERT_VALUES));
  PetscCall(VecSetValue(x, 1, 10, INSERT_VALUES));
  PetscCall(TestAssembleVec(x));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecGetValues(y, 2, rows, sum));
  PetscCall(MatAIJFmtGetInfo(A, &info));
  PetscCall(Expect(sum[0] == (PetscScalar)23 && sum[1] == (PetscScalar)40, type, "rows out of order"));
  PetscCall(Expect(info.fallbacks == 1, type, "rows out of order are not left to the parent"));
  PetscCall(TestDestroyVecs(&x, &y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
