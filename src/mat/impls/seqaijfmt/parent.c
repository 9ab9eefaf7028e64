/*
  parent.c - the operations of the parent types, which a matrix of ours calls for all that it does not do itself.

  The functions behind them are hidden inside libpetsc. Template matrices of the parent types give the pointers; a
  matrix at hand does not, because it may already be of our type, or hold the operations of MatSetUp()'s hash table.
*/
#include "seqaijfmt.h"

static AIJFmtParent parents[AIJFMT_PARENT_COUNT] = {
    [AIJFMT_PARENT_HOST] = {.kind = AIJFMT_PARENT_HOST, .seq_type = MATSEQAIJ, .mpi_type = MATMPIAIJ},
    [AIJFMT_PARENT_CUDA] = {.kind = AIJFMT_PARENT_CUDA, .seq_type = MATSEQAIJCUSPARSE, .mpi_type = MATMPIAIJCUSPARSE},
};
static PetscBool have_operations[AIJFMT_PARENT_COUNT];

/* Creates a matrix of exactly that type. Its options database is empty, so that -mat_seqaij_type does not change its
   type and -help does not print its options. */
static PetscErrorCode CreateTemplate(MatType type, PetscOptions none, Mat *template)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, template));
  PetscCall(PetscObjectSetOptions((PetscObject) * template, none));
  PetscCall(MatSetSizes(*template, 0, 0, 0, 0));
  PetscCall(MatSetType(*template, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TakeOperations(AIJFmtParent *parent)
{
  PetscOptions none;
  Mat          seq, mpi;

  PetscFunctionBegin;
  PetscCall(PetscOptionsCreate(&none));
  PetscCall(CreateTemplate(parent->seq_type, none, &seq));
  PetscCall(CreateTemplate(parent->mpi_type, none, &mpi));
  parent->seq = *seq->ops;
  parent->mpi = *mpi->ops;
  PetscCall(PetscObjectQueryFunction((PetscObject)seq, "MatRetrieveValues_C", &parent->retrieve_values));
  PetscCall(PetscObjectQueryFunction((PetscObject)seq, "MatSeqAIJKron_C", &parent->kron));
  PetscCall(MatDestroy(&seq));
  PetscCall(MatDestroy(&mpi));
  PetscCall(PetscOptionsDestroy(&none));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtParentGet(AIJFmtParentKind kind, const AIJFmtParent **parent)
{
  PetscFunctionBegin;
  if (!have_operations[kind]) PetscCall(TakeOperations(&parents[kind]));
  have_operations[kind] = PETSC_TRUE;
  *parent               = &parents[kind];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent of that very type name, or NULL */
PetscErrorCode AIJFmtParentFind(MatType type, const AIJFmtParent **parent)
{
  PetscFunctionBegin;
  *parent = NULL;
  for (int kind = 0; kind < AIJFMT_PARENT_COUNT; kind++) {
    PetscBool seq, mpi;

    PetscCall(PetscStrcmp(type, parents[kind].seq_type, &seq));
    PetscCall(PetscStrcmp(type, parents[kind].mpi_type, &mpi));
    if (seq || mpi) PetscCall(AIJFmtParentGet((AIJFmtParentKind)kind, parent));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent of a matrix of ours. A matrix may have operations of ours without a state: during MatHeaderMerge(), and in
   a subclass that PETSc made of a matrix of ours, as it does with -mat_seqaij_type. Then it is the host parent. */
PetscErrorCode AIJFmtParentOf(Mat A, const AIJFmtParent **parent)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s) *parent = s->parent;
  else PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, parent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtParentsReset(void)
{
  PetscFunctionBegin;
  for (int kind = 0; kind < AIJFMT_PARENT_COUNT; kind++) have_operations[kind] = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
