/*
  mpi.c - a parallel matrix is a MATMPIAIJ whose diagonal and off-diagonal blocks are of our sequential type.

  The parent makes new blocks in many places (preallocation, hash insertion, new nonzeros after assembly, COO), so the
  blocks become ours at the one point that every path reaches: the end of a final assembly.
*/
#include "seqaijfmt.h"

/* The diagonal and the off-diagonal block; NULL before preallocation */
PetscErrorCode AIJFmtBlocksGet(Mat A, Mat blocks[2])
{
  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtBlocksInstall(Mat A, Mat_AIJFmt *outer)
{
  Mat blocks[2];

  PetscFunctionBegin;
  PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < 2; b++)
    if (blocks[b]) PetscCall(AIJFmtInstall(blocks[b], outer->row, PETSC_FALSE, outer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtBlocksStrip(Mat A)
{
  Mat blocks[2];

  PetscFunctionBegin;
  PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < 2; b++)
    if (blocks[b]) PetscCall(AIJFmtStrip(blocks[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Hands a change of options on to the blocks that are ours already; the others get them at assembly */
PetscErrorCode AIJFmtBlocksCopyOptions(Mat A, const Mat_AIJFmt *outer)
{
  Mat blocks[2];

  PetscFunctionBegin;
  PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < 2; b++) {
    Mat_AIJFmt *inner = NULL;

    if (blocks[b]) PetscCall(AIJFmtStateGet(blocks[b], &inner));
    if (inner && inner->row == outer->row) PetscCall(AIJFmtStateCopyOptions(outer, inner));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAssemblyEnd_MPIAIJFmt(Mat A, MatAssemblyType type)
{
  const AIJFmtParent *parent;
  Mat_AIJFmt         *s;
  Mat                 blocks[2];

  PetscFunctionBegin;
  PetscCall(AIJFmtParentOf(A, &parent));
  PetscCall(parent->mpi.assemblyend(A, type));
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s || type != MAT_FINAL_ASSEMBLY) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtBlocksInstall(A, s));
  if (!AIJFmtClassFlag(s, AIJFMT_EAGER)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < 2; b++) {
    Mat_AIJFmt *inner;
    PetscCall(AIJFmtStateRequire(blocks[b], "MatAssemblyEnd()", &inner));
    PetscCall(AIJFmtSync(blocks[b], inner, ((PetscObject)blocks[b])->state));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
