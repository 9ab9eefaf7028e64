/*
  parent.c - the operations of the parent types, which a matrix of ours calls for all that it does not do itself.

  The functions behind them are hidden inside libpetsc. Template matrices of the parent types give the pointers; a
  matrix at hand does not, because it may already be of our type, or hold the operations of MatSetUp()'s hash table.
*/
#include "seqaijfmt.h"

static AIJFmtParent parents[AIJFMT_PARENT_COUNT] = {
    [AIJFMT_PARENT_HOST] = {.seq_type = MATSEQAIJ, .mpi_type = MATMPIAIJ},
    [AIJFMT_PARENT_CUDA] = {.seq_type = MATSEQAIJCUSPARSE, .mpi_type = MATMPIAIJCUSPARSE},
};
static PetscBool have_operations[AIJFMT_PARENT_COUNT];

/* The prefix keeps -mat_seqaij_type away from the template. retrieve_values becomes NULL where the type has none. */
static PetscErrorCode TakeOperations(MatType type, struct _MatOps *ops, PetscErrorCode (**retrieve_values)(Mat))
{
  Mat template;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, &template));
  PetscCall(MatSetOptionsPrefix(template, "petscpack_template_"));
  PetscCall(MatSetSizes(template, 0, 0, 0, 0));
  PetscCall(MatSetType(template, type));
  *ops = *template->ops;
  PetscCall(PetscObjectQueryFunction((PetscObject) template, "MatRetrieveValues_C", retrieve_values));
  PetscCall(MatDestroy(&template));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtParentGet(AIJFmtParentKind kind, const AIJFmtParent **parent)
{
  PetscErrorCode (*unused)(Mat);

  PetscFunctionBegin;
  if (!have_operations[kind]) {
    PetscCall(TakeOperations(parents[kind].mpi_type, &parents[kind].mpi, &unused));
    PetscCall(TakeOperations(parents[kind].seq_type, &parents[kind].seq, &parents[kind].retrieve_values));
    have_operations[kind] = PETSC_TRUE;
  }
  *parent = &parents[kind];
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

/* The parent of a matrix of ours. The state may be gone while the operations are still ours, between the two halves of
   MatHeaderMerge(): then the host parent serves. */
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
