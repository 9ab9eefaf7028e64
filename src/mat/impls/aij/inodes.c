/*
  inodes.c - inodes of a matrix that the GPU has made and the parent has not assembled (shared.c). PETSc looks for them when
  it assembles a matrix; here it does so for the first operation that gains by them or has other results with them.
*/
#include "aijfmt.h"

/* The parent assembles A if it has not done so. operation: the one that needs inodes, for views */
PetscErrorCode AIJFmtInodesFind(Mat A, const char operation[])
{
  PetscBool   lacked = PETSC_FALSE;
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateOfAnyType(A, &s));
  if (s && !s->parallel && A->assembled) PetscCall(AIJFmtSharedTakeInodes(A, &lacked));
  if (!lacked) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtExplain(A, s, AIJFMT_WHY_INODES, operation));
  PetscCall(s->parent->seq.assemblyend(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc relaxes the rows of an inode together, with values that it reads on the host */
PetscErrorCode AIJFmtParentSOR(Mat A, Vec b, PetscReal omega, MatSORType flag, PetscReal shift, PetscInt its,
                               PetscInt lits, Vec x)
{
  PetscFunctionBegin;
  PetscCall(AIJFmtInodesFind(A, "MatSOR()"));
  PetscCall(AIJFmtHostFetch(A));
  AIJFmtSuper(seq, sor, A, b, omega, flag, shift, its, lits, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtSweepRan(Mat A, const char reason[])
{
  PetscFunctionBegin;
  PetscCall(AIJFmtRan(A, AIJFMT_WHY_SWEEP, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef PetscErrorCode InodeSizes(Mat, PetscInt *, PetscInt *[], PetscInt *);

PetscErrorCode MatInodeGetInodeSizes_SeqAIJFmt(Mat A, PetscInt *count, PetscInt *sizes[], PetscInt *limit)
{
  const AIJFmtParent *parent;

  PetscFunctionBegin;
  PetscCall(AIJFmtInodesFind(A, "MatInodeGetInodeSizes()"));
  PetscCall(AIJFmtParentOf(A, &parent));
  PetscCall(((InodeSizes *)parent->composed[AIJFMT_INODE_SIZES][0])(A, count, sizes, limit));
  PetscFunctionReturn(PETSC_SUCCESS);
}
