/*
  dispatch.c - operations that PETSc finds by the names of types.

  MatConvert() and the products of matrices look for functions composed under names such as MatConvert_seqaij_seqdense_C
  or MatProductSetFromOptions_seqaij_seqmaij_C. A list of such names would miss those that another package or the next
  PETSc brings. So our matrices give the three general functions that PETSc falls back to, and each of them asks again
  with the name of the parent type in place of ours: what AIJ can do is found, whoever brought it.

    MatConvert() from ours      the operation convert
    MatConvert() to ours        the operation convertfrom
    products                    the composed function MatProductSetFromOptions_anytype_C
*/
#include "seqaijfmt.h"

typedef PetscErrorCode SetProduct(Mat);

static const char anytype[] = "MatProductSetFromOptions_anytype_C";

enum { MAX_NAME = 256 };

/* The type that PETSc shall read for a factor of a product: that of the host parent for ours */
static PetscErrorCode NameForProducts(Mat A, const char **name, PetscBool *ours)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  *name = s ? AIJFmtHostType(s) : ((PetscObject)A)->type_name;
  if (s) *ours = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first of the factors that has a function of that name, as MatProductSetFromOptions() searches; `except` does not
   count */
static PetscErrorCode QueryFactors(Mat factor[3], const char name[], SetProduct *except, SetProduct **found)
{
  PetscFunctionBegin;
  *found = NULL;
  for (int f = 0; f < 3 && factor[f] && !*found; f++) {
    PetscCall(PetscObjectQueryFunction((PetscObject)factor[f], name, found));
    if (*found == except) *found = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductSetFromOptions_AIJFmt(Mat product)
{
  Mat         factor[3] = {product->product->A, product->product->B, product->product->C};
  char        name[MAX_NAME];
  PetscBool   ours = PETSC_FALSE;
  SetProduct *set;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(name, "MatProductSetFromOptions", sizeof name));
  for (int f = 0; f < 3 && factor[f]; f++) {
    const char *type = NULL; /* gcc does not see that it is set whenever the call succeeds */

    PetscCall(NameForProducts(factor[f], &type, &ours));
    PetscCall(PetscStrlcat(name, "_", sizeof name));
    PetscCall(PetscStrlcat(name, type, sizeof name));
  }
  PetscCall(PetscStrlcat(name, "_C", sizeof name));
  if (ours) {
    PetscCall(QueryFactors(factor, name, NULL, &set));
    if (set) PetscCall(set(product));
  }
  if (product->ops->productsymbolic) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(QueryFactors(factor, anytype, MatProductSetFromOptions_AIJFmt, &set));
  if (set) PetscCall(set(product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a type is one that `base` (seqaij, mpiaij or aij) names, or a subclass of it */
static PetscErrorCode IsKindOf(MatType type, const char base[], PetscBool *is)
{
  PetscBool seq = PETSC_FALSE, mpi = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscStrbeginswith(type, base, is));
  if (*is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrcmp(base, MATAIJ, is));
  if (!*is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrbeginswith(type, MATSEQAIJ, &seq));
  PetscCall(PetscStrbeginswith(type, MATMPIAIJ, &mpi));
  *is = seq || mpi ? PETSC_TRUE : PETSC_FALSE;
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

/* Any type -> ours, by way of the parent type unless it is an AIJ type already */
static PetscErrorCode MatConvertFrom_AIJFmt(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  const AIJFmtRow *row;
  const char      *parent = MATAIJ;
  PetscBool        aij;

  PetscFunctionBegin;
  PetscCall(AIJFmtRowFind(type, &row));
  PetscCheck(row, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_UNKNOWN_TYPE, "%s is not a type of petscpack", type);
  PetscCall(ParentName(type, row, &parent));
  PetscCall(IsKindOf(((PetscObject)A)->type_name, parent, &aij));
  if (aij) PetscCall(MatConvert_AIJ_AIJFmt(A, type, reuse, B));
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

  PetscFunctionBegin;
  PetscCall(AIJFmtAliasBegin(A, &alias));
  A->ops->convert = NULL;
  error           = MatConvert(A, type, reuse, B);
  if (((PetscObject)A)->id == id) A->ops->convert = convert;
  PetscCall(AIJFmtAliasEnd(A, &alias));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatConvert_AIJFmt_Any(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  Mat_AIJFmt *s;
  PetscBool   aij;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  PetscCall(IsKindOf(type, MATAIJ, &aij));
  if (s && aij) PetscCall(MatConvert_AIJFmt_AIJ(A, type, reuse, B));
  else PetscCall(ConvertAsParent(A, type, reuse, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtDispatchInstall(Mat A)
{
  PetscFunctionBegin;
  A->ops->convert     = MatConvert_AIJFmt_Any;
  A->ops->convertfrom = MatConvertFrom_AIJFmt;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, anytype, MatProductSetFromOptions_AIJFmt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtDispatchRemove(Mat A)
{
  PetscFunctionBegin;
  A->ops->convert     = NULL;
  A->ops->convertfrom = NULL;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, anytype, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
