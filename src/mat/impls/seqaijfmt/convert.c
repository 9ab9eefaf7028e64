/* The converters between AIJ types, which dispatch.c and -mat_seqaij_type call. They are idempotent, and those in place
   work on unassembled matrices too, because creators use them. */
#include "seqaijfmt.h"

static PetscErrorCode IsParallel(Mat A, PetscBool *parallel)
{
  PetscFunctionBegin;
  PetscCall(PetscStrbeginswith(((PetscObject)A)->type_name, "mpi", parallel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MATSEQAIJ, MATMPIAIJ, or a type of ours of another format -> ours */
PetscErrorCode MatConvert_AIJ_AIJFmt(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  const AIJFmtRow *row;
  PetscBool        parallel;

  PetscFunctionBegin;
  PetscCall(AIJFmtRowFind(type, &row));
  PetscCheck(row, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_UNKNOWN_TYPE, "%s is not a type of petscpack", type);
  PetscCall(IsParallel(A, &parallel));
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatCopy(A, *B, SAME_NONZERO_PATTERN));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
  PetscCall(AIJFmtInstall(*B, row, parallel, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ours -> the parent as it is beneath, of whichever type */
static PetscErrorCode ToParent(Mat A, MatReuse reuse, Mat *B)
{
  PetscFunctionBegin;
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
  PetscCall(AIJFmtStrip(*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ours -> MATSEQAIJ or MATMPIAIJ, or another subclass of them such as MATSEQAIJPERM */
PetscErrorCode MatConvert_AIJFmt_AIJ(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  PetscFunctionBegin;
  if (reuse == MAT_REUSE_MATRIX) PetscCall(MatCopy(A, *B, SAME_NONZERO_PATTERN));
  else {
    PetscCall(ToParent(A, reuse, B));
    PetscCall(MatConvert(*B, type, MAT_INPLACE_MATRIX, B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
