/* The two sequential blocks of a parallel matrix, and their options. */
#include "seqaijfmt.h"

/* The diagonal and the off-diagonal block; NULL before preallocation */
PetscErrorCode AIJFmtBlocksGet(Mat A, Mat blocks[2])
{
  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives the diagonal block the block sizes of the matrix, by which preconditioners invert its point blocks: the
   preallocation of MATMPIAIJCUSPARSE (3.26) leaves them 1 */
PetscErrorCode AIJFmtBlocksSetSizes(Mat A)
{
  PetscInt rows, cols, rows_there, cols_there;
  Mat      blocks[2];

  PetscFunctionBegin;
  PetscCall(AIJFmtBlocksGet(A, blocks));
  PetscCall(MatGetBlockSizes(A, &rows, &cols));
  PetscCall(MatGetBlockSizes(blocks[0], &rows_there, &cols_there));
  if (rows != rows_there || cols != cols_there) PetscCall(MatSetBlockSizes(blocks[0], rows, cols));
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
