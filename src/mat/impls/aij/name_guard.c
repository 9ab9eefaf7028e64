/* name_guard.c - gives a matrix the name of a parent while a function of PETSc runs. */
#include "aijfmt.h"

/* Until AIJFmtNameGuardEnd(), a matrix of ours has the type name of a parent. With the host parent's name, the current
   values are on the host, because the parent's functions read them without a check. The CUDA parent's name is given
   only to a matrix over that parent. No other matrix changes, nor one that an enclosing guard has given the same name.
   A may be NULL. */
PetscErrorCode AIJFmtNameGuardBegin(Mat A, AIJFmtParentKind kind, AIJFmtNameGuard *guard)
{
  const AIJFmtParent *parent;
  Mat_AIJFmt         *s = NULL;
  MatType             type;
  Mat                 blocks[2] = {A, NULL};
  char               *name;

  PetscFunctionBegin;
  guard->state = NULL;
  if (A) PetscCall(AIJFmtStateGet(A, &s));
  if (!s || (kind == AIJFMT_PARENT_CUDA && !AIJFmtIsOverCuda(s))) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtParentGet(kind, &parent));
  type = s->parallel ? parent->mpi_type : parent->seq_type;
  if (s->alias == type) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->parallel) PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; kind == AIJFMT_PARENT_HOST && b < 2; b++)
    if (blocks[b]) PetscCall(AIJFmtHostFetch(blocks[b]));
  PetscCall(PetscStrallocpy(type, &name));
  *guard                      = (AIJFmtNameGuard){s, ((PetscObject)A)->id, ((PetscObject)A)->type_name, s->alias};
  ((PetscObject)A)->type_name = name;
  s->alias                    = type;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An in-place conversion may have changed the type of A; then the new name stays */
PetscErrorCode AIJFmtNameGuardEnd(Mat A, AIJFmtNameGuard *guard)
{
  PetscFunctionBegin;
  if (!guard->state) PetscFunctionReturn(PETSC_SUCCESS);
  if (((PetscObject)A)->id != guard->id) PetscCall(PetscFree(guard->name));
  else {
    PetscCall(PetscFree(((PetscObject)A)->type_name));
    ((PetscObject)A)->type_name = guard->name;
    guard->state->alias         = guard->alias;
  }
  guard->state = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
