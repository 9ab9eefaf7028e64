/*
  cuda_maij.c - a MATSEQMAIJ reads the host's values of the matrix that it was made from, in every product and without
  asking. They must stay current, so MatCreateMAIJ() must be noticed: PETSc's creator of the type runs inside of ours.
  The new matrix does not know yet what it is made from. But that has a reference more by then, and sizes that match.
*/
#include "cuda.h"

#if defined(AIJFMT_HAVE_CUDA_PARENT)

static Mat_AIJFmt *listed; /* the states of all sequential matrices whose values may lie on the GPU alone */

static PetscErrorCode (*create_maij)(Mat); /* PETSc's own */

void AIJFmtCudaList(Mat A, Mat_AIJFmt *s)
{
  s->self = A;
  if (s->listed || s->parallel) return;
  s->listed = PETSC_TRUE;
  s->before = NULL;
  s->after  = listed;
  if (listed) listed->before = s;
  listed = s;
}

void AIJFmtCudaUnlist(Mat_AIJFmt *s)
{
  if (!s->listed) return;
  if (s->after) s->after->before = s->before;
  if (s->before) s->before->after = s->after;
  else listed = s->after;
  s->listed = PETSC_FALSE;
}

/* A header is freed; a state that has moved to another one will learn of it when it is used next */
void AIJFmtCudaHeaderFreed(PetscObject header)
{
  for (Mat_AIJFmt *s = listed; s; s = s->after)
    if ((PetscObject)s->self == header) s->self = NULL;
}

static PetscErrorCode MatCreate_SeqMAIJ(Mat B)
{
  PetscInt dof;

  PetscFunctionBegin;
  PetscCall(create_maij(B));
  PetscCall(PetscLayoutGetBlockSize(B->rmap, &dof));
  for (Mat_AIJFmt *s = listed; s; s = s->after) {
    const Mat A = s->self;

    if (A && ((PetscObject)A)->refct > 1 && dof * A->rmap->n == B->rmap->n && dof * A->cmap->n == B->cmap->n)
      PetscCall(AIJFmtKeepHost(A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The blocks of a parallel MATMAIJ are of this type too */
PetscErrorCode AIJFmtCudaMAIJRegister(void)
{
  PetscErrorCode (*create)(Mat);

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(MatList, MATSEQMAIJ, &create));
  if (!create || create == MatCreate_SeqMAIJ) PetscFunctionReturn(PETSC_SUCCESS);
  create_maij = create;
  PetscCall(MatRegister(MATSEQMAIJ, MatCreate_SeqMAIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
