/*
  dispatch.c - products of matrices and conversions, which PETSc finds by the names of types.

  MatProductSetFromOptions() and MatConvert() look for functions composed under names such as
  MatProductSetFromOptions_seqaij_seqmaij_C or MatConvert_seqaij_seqdense_C. A list of such names would miss those that
  another package or the next PETSc brings. So our matrices compose the general functions that PETSc falls back to, and
  each of them searches again with the name of the parent type in place of ours. That finds all that AIJ can do. The one
  for products is the composed function MatProductSetFromOptions_anytype_C; those for MatConvert() are the operations
  convertfrom and convert.
*/
#include "seqaijfmt.h"

typedef PetscErrorCode SetProduct(Mat);

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

/* The host parent's function where all factors are of its kind: PETSc asks for a name only where the operations of the
   factors differ, as they do between one of ours and a MATSEQAIJ or MATMPIAIJ when there is a GPU */
static PetscErrorCode HostProduct(Mat factor[3], SetProduct **set)
{
  const AIJFmtParent *host;
  PetscBool           sequential = PETSC_TRUE, parallel = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &host));
  for (int f = 0; f < 3 && factor[f]; f++) {
    const char *type = NULL;
    PetscBool   ours;

    PetscCall(NameForProducts(factor[f], &type, &ours));
    if (sequential) PetscCall(PetscStrbeginswith(type, MATSEQAIJ, &sequential));
    if (parallel) PetscCall(PetscStrbeginswith(type, MATMPIAIJ, &parallel));
  }
  if (sequential) *set = host->seq.productsetfromoptions;
  if (parallel) *set = host->mpi.productsetfromoptions;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatProductSetFromOptions_AIJFmt(Mat product)
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
    if (!set) PetscCall(HostProduct(factor, &set));
    PetscCall(AIJFmtHostKeepFactors(product));
    if (set) PetscCall(set(product));
  }
  if (product->ops->productsymbolic) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(QueryFactors(factor, "MatProductSetFromOptions_anytype_C", MatProductSetFromOptions_AIJFmt, &set));
  if (set) PetscCall(set(product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A name with the type name of A in place of those words of the parent's name that `choice` has a bit for */
static PetscErrorCode Substitute(Mat A, const Mat_AIJFmt *s, int words, char **word, int choice, char name[])
{
  PetscFunctionBegin;
  name[0] = 0;
  for (int w = 0, bit = 1; w < words; w++) {
    PetscBool parent;

    PetscCall(PetscStrcmp(word[w], AIJFmtHostType(s), &parent));
    if (w) PetscCall(PetscStrlcat(name, "_", MAX_NAME));
    PetscCall(PetscStrlcat(name, parent && (choice & bit) ? ((PetscObject)A)->type_name : word[w], MAX_NAME));
    if (parent) bit *= 2;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products of three whose first factor has a general function of its own, such as MATTRANSPOSEVIRTUAL: PETSc calls that
   one before ours, so the names that the parent composed for them are composed again, for any of the others ours. A has
   its type name already. */
PetscErrorCode AIJFmtTripleProductsCompose(Mat A, const Mat_AIJFmt *s, PetscBool remove)
{
  enum { WORDS = 5 /* MatProductSetFromOptions, three types, C */, CHOICES = 3 /* one, the other, or both are ours */ };
  const char **names = NULL;
  char         parents[MAX_NAME];
  int          count = 0;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(parents, sizeof parents, "_%s_%s_C", AIJFmtHostType(s), AIJFmtHostType(s)));
  PetscCall(PetscFunctionListGet(((PetscObject)A)->qlist, &names, &count));
  for (int i = 0; i < count && names[i]; i++) { /* PETSc 3.18 counts the NULL at the end, too */
    SetProduct *set;
    char      **word, name[MAX_NAME];
    int         words;
    PetscBool   triple;

    PetscCall(PetscStrbeginswith(names[i], "MatProductSetFromOptions_", &triple));
    if (triple) PetscCall(PetscStrendswith(names[i], parents, &triple));
    if (!triple) continue; /* most names: each of the many matrices of a multigrid set-up comes through here */
    PetscCall(PetscStrToArray(names[i], '_', &words, &word));
    if (words == WORDS) {
      PetscCall(PetscObjectQueryFunction((PetscObject)A, names[i], &set));
      for (int choice = 1; choice <= CHOICES; choice++) {
        PetscCall(Substitute(A, s, words, word, choice, name));
        PetscCall(PetscObjectComposeFunction((PetscObject)A, name, remove ? NULL : set));
      }
    }
    PetscCall(PetscStrToArrayDestroy(words, word));
  }
  PetscCall(PetscFree(names));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- conversions; converters between AIJ types are idempotent, and those in place work on unassembled matrices too,
   because creators use them ---- */

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
  AIJFmtNameGuard     guard;
  PetscErrorCode      error;
  Mat_AIJFmt         *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s && !s->parallel) PetscCall(AIJFmtHostFetch(A)); /* some converters read the host's values as they are */
  PetscCall(AIJFmtNameGuardBegin(A, AIJFMT_PARENT_HOST, &guard));
  A->ops->convert = NULL;
  error           = MatConvert(A, type, reuse, B);
  if (((PetscObject)A)->id == id) A->ops->convert = convert;
  PetscCall(AIJFmtNameGuardEnd(A, &guard));
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
