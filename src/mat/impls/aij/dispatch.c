/*
  dispatch.c - products of matrices, which PETSc finds by type names.

  MatProductSetFromOptions() looks for functions composed under names such as MatProductSetFromOptions_seqaij_seqmaij_C.
  A fixed list of these names would miss those of other packages and of the next PETSc. So our matrices compose the
  general function that PETSc falls back to, MatProductSetFromOptions_anytype_C; it searches again with the name of the
  parent type in place of ours and finds every product that AIJ has. create.c does the same for MatConvert().
*/
#include "aijfmt.h"

typedef PetscErrorCode SetProduct(Mat);

enum { MAX_NAME = 256 };

/* The type name to search with for a factor of a product: for our types, that of the host parent */
static PetscErrorCode NameForProducts(Mat A, const char **name, PetscBool *ours)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  *name = s ? AIJFmtHostType(s) : ((PetscObject)A)->type_name;
  if (s) *ours = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The function of that name in the first factor that has one, in the order of MatProductSetFromOptions(); `except` is
   skipped */
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

/* The host parent's function, if all factors are of its kind. PETSc searches by name only if the operations of the
   factors differ, which they do between our types and MATSEQAIJ or MATMPIAIJ when there is a GPU. */
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

/* Calls a function for these factors. That of MATHYPRE gives the product the type MATAIJ, which -mat_seqaij_type may make
   ours, and the numeric phase then takes no other type than the parent's. */
static PetscErrorCode CallWithParentResult(Mat product, SetProduct *set)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(set(product));
  PetscCall(AIJFmtStateGet(product, &s));
  if (s && !product->preallocated) PetscCall(AIJFmtStrip(product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatProductSetFromOptions_AIJFmt(Mat product)
{
  /* while PETSc makes a product of three matrices from two products of two, C is there and not a factor */
  Mat         factor[3] = {product->product->A, product->product->B,
                   product->product->type == MATPRODUCT_ABC ? product->product->C : NULL};
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
    if (set) PetscCall(CallWithParentResult(product, set));
  }
  if (product->ops->productsymbolic) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(QueryFactors(factor, "MatProductSetFromOptions_anytype_C", MatProductSetFromOptions_AIJFmt, &set));
  if (set) PetscCall(set(product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Builds a name from the words of the parent's name; where `choice` has a bit, the type name of A replaces the
   parent's */
static PetscErrorCode NameSubstitute(Mat A, const Mat_AIJFmt *s, int words, char **word, int choice, char name[])
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

/* Triple products whose first factor has a general function of its own, such as MATTRANSPOSEVIRTUAL: PETSc calls that
   function before ours. So each name that the parent composed for them is composed again with our type name in every
   combination for the other two factors. A has its type name already. */
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
    if (!triple) continue; /* most names end here; a multigrid set-up calls this for many matrices */
    PetscCall(PetscStrToArray(names[i], '_', &words, &word));
    if (words == WORDS) {
      PetscCall(PetscObjectQueryFunction((PetscObject)A, names[i], &set));
      for (int choice = 1; choice <= CHOICES; choice++) {
        PetscCall(NameSubstitute(A, s, words, word, choice, name));
        PetscCall(PetscObjectComposeFunction((PetscObject)A, name, remove ? NULL : set));
      }
    }
    PetscCall(PetscStrToArrayDestroy(words, word));
  }
  PetscCall(PetscFree(names));
  PetscFunctionReturn(PETSC_SUCCESS);
}
