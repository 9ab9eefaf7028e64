/*
  convert.c - conversions to and from our types: the operations convertfrom and convert, which MatConvert() falls back
  to (dispatch.c says why these), and the converter for -mat_seqaij_type. Converters between AIJ types are idempotent,
  and those in place work on unassembled matrices too, because creators use them.
*/
#include "seqaijfmt.h"
#include "cuda.h"

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
static PetscErrorCode MatConvert_AIJFmt_AIJ(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  PetscFunctionBegin;
  if (reuse == MAT_REUSE_MATRIX) PetscCall(MatCopy(A, *B, SAME_NONZERO_PATTERN));
  else {
    PetscCall(ToParent(A, reuse, B));
    PetscCall(MatConvert(*B, type, MAT_INPLACE_MATRIX, B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent type with the same prefix as a type of ours: aijrbp gives aij, seqaijrbp gives seqaij */
static PetscErrorCode ParentName(MatType type, const AIJFmtRow *row, const char **parent)
{
  PetscBool seq, mpi;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(type, row->seq, &seq));
  PetscCall(PetscStrcmp(type, row->mpi, &mpi));
  *parent = seq ? MATSEQAIJ : mpi ? MATMPIAIJ : MATAIJ;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether A is of a parent type, or of ours, and of the kind that `parent` (seqaij, mpiaij or aij) names. Another
   subclass is not: its own converter undoes what it did. */
static PetscErrorCode IsOurKind(Mat A, const char parent[], PetscBool *is)
{
  const AIJFmtParent *found;
  Mat_AIJFmt         *s;
  PetscBool           any;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  PetscCall(AIJFmtParentFind(((PetscObject)A)->type_name, &found));
  PetscCall(PetscStrcmp(parent, MATAIJ, &any));
  PetscCall(PetscStrbeginswith(((PetscObject)A)->type_name, parent, is));
  *is = (s || found) && (*is || any) ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Any type -> ours, by way of the parent type unless it is that already */
PetscErrorCode MatConvertFrom_AIJFmt(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  const AIJFmtRow *row;
  const char      *parent = MATAIJ;
  PetscBool        direct = PETSC_FALSE; /* gcc does not see that it is set whenever the call succeeds */

  PetscFunctionBegin;
  PetscCall(AIJFmtRowFind(type, &row));
  PetscCheck(row, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_UNKNOWN_TYPE, "%s is not a type of petscpack", type);
  PetscCall(ParentName(type, row, &parent));
  PetscCall(IsOurKind(A, parent, &direct));
  if (direct) PetscCall(MatConvert_AIJ_AIJFmt(A, type, reuse, B));
  else if (reuse == MAT_REUSE_MATRIX) {
    Mat plain;

    PetscCall(MatConvert(A, parent, MAT_INITIAL_MATRIX, &plain));
    PetscCall(MatCopy(plain, *B, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatDestroy(&plain));
  } else {
    PetscCall(MatConvert(A, parent, reuse, B));
    PetscCall(MatConvert_AIJ_AIJFmt(*B, type, MAT_INPLACE_MATRIX, B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ours -> a type that is no AIJ type. MatConvert() once more, which takes A for its parent this time. */
static PetscErrorCode ConvertAsParent(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  PetscErrorCode (*const convert)(Mat, MatType, MatReuse, Mat *) = A->ops->convert;
  const PetscObjectId id                                         = ((PetscObject)A)->id;
  AIJFmtAlias         alias;
  PetscErrorCode      error;
  Mat_AIJFmt         *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s && !s->parallel) PetscCall(AIJFmtCudaFetch(A)); /* some converters read the host's values as they are */
  PetscCall(AIJFmtAliasBegin(A, &alias));
  A->ops->convert = NULL;
  error           = MatConvert(A, type, reuse, B);
  if (((PetscObject)A)->id == id) A->ops->convert = convert;
  PetscCall(AIJFmtAliasEnd(A, &alias));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatConvert_AIJFmt_Any(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  Mat_AIJFmt *s;
  PetscBool   root, seq, mpi;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  PetscCall(PetscStrbeginswith(type, MATAIJ, &root));
  PetscCall(PetscStrbeginswith(type, MATSEQAIJ, &seq));
  PetscCall(PetscStrbeginswith(type, MATMPIAIJ, &mpi));
  if (s && (root || seq || mpi)) PetscCall(MatConvert_AIJFmt_AIJ(A, type, reuse, B));
  else PetscCall(ConvertAsParent(A, type, reuse, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}
