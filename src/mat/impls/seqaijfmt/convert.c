/* The converters that MatConvert() finds, and that -mat_seqaij_type calls. They are idempotent, and those in place work
   on unassembled matrices too, because creators use them. */
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

/* The converters below read the parent's arrays on the host, where they may be out of date */
static PetscErrorCode UpdateHostValues(Mat A, PetscBool parallel)
{
  Mat blocks[2] = {A, NULL};

  PetscFunctionBegin;
  if (parallel) PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < 2; b++) {
    const PetscScalar *values;

    if (!blocks[b] || blocks[b]->structure_only) continue;
    PetscCall(MatSeqAIJGetArrayRead(blocks[b], &values));
    PetscCall(MatSeqAIJRestoreArrayRead(blocks[b], &values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ours -> a type that the parent converts to, such as MATSEQDENSE, by the parent's own converter, which A has from its
   creation */
PetscErrorCode MatConvert_AIJFmt_Other(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  static const char *const prefixes[]                      = {"", "seq", "mpi"};
  PetscErrorCode (*convert)(Mat, MatType, MatReuse, Mat *) = NULL;
  PetscBool parallel;
  char      name[256];

  PetscFunctionBegin;
  PetscCall(IsParallel(A, &parallel));
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(prefixes) && !convert; p++) {
    PetscCall(
        PetscSNPrintf(name, sizeof name, "MatConvert_%s_%s%s_C", parallel ? MATMPIAIJ : MATSEQAIJ, prefixes[p], type));
    PetscCall(PetscObjectQueryFunction((PetscObject)A, name, &convert));
  }
  PetscCheck(convert, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "type %s cannot be converted to %s",
             ((PetscObject)A)->type_name, type);
  PetscCall(UpdateHostValues(A, parallel));
  PetscCall(convert(A, type, reuse, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another type that converts to the parent, such as MATSEQDENSE -> ours, by way of the parent */
PetscErrorCode MatConvert_Other_AIJFmt(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  PetscBool parallel;
  MatType   parent;

  PetscFunctionBegin;
  PetscCall(IsParallel(A, &parallel));
  parent = parallel ? MATMPIAIJ : MATSEQAIJ;
  if (reuse == MAT_REUSE_MATRIX) {
    Mat plain;
    PetscCall(MatConvert(A, parent, MAT_INITIAL_MATRIX, &plain));
    PetscCall(MatCopy(plain, *B, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatDestroy(&plain));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatConvert(A, parent, reuse, B));
  PetscCall(MatConvert_AIJ_AIJFmt(*B, type, MAT_INPLACE_MATRIX, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}
