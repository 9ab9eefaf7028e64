/* The sequential blocks of a matrix, with their patterns and the global numbers of their columns. */
#include "advise.h"

static PetscErrorCode AddBlock(AdviceMatrix *m, Mat block, const PetscInt *column_of)
{
  const int b = m->count;

  PetscFunctionBegin;
  PetscCall(AIJFmtHostPatternGet(block, &m->pattern[b]));
  m->block[b]     = block;
  m->column_of[b] = column_of;
  if (m->pattern[b].nnz > 0 || m->whole == block) m->count++;
  else PetscCall(AIJFmtHostPatternRestore(block, &m->pattern[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AdviceMatrixGet(Mat A, AdviceMatrix *m)
{
  PetscBool       sequential, parallel;
  Mat             diagonal, other;
  const PetscInt *column_of;

  PetscFunctionBegin;
  *m = (AdviceMatrix){.whole = A};
  PetscCall(PetscStrbeginswith(((PetscObject)A)->type_name, MATSEQAIJ, &sequential));
  PetscCall(PetscStrbeginswith(((PetscObject)A)->type_name, MATMPIAIJ, &parallel));
  PetscCheck(sequential || parallel, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
             "The advisor needs a matrix of an AIJ type, and this one is of type %s: call MatConvert() to %s first",
             ((PetscObject)A)->type_name, MATAIJ);
  m->local_rows = A->rmap->n;
  PetscCall(MatGetOwnershipRange(A, &m->first_row, NULL));
  PetscCall(MatGetOwnershipRangeColumn(A, &m->first_column, NULL));
  if (sequential) PetscCall(AddBlock(m, A, NULL));
  else {
    PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, &other, &column_of));
    PetscCall(AddBlock(m, diagonal, NULL));
    PetscCall(AddBlock(m, other, column_of));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AdviceMatrixRestore(AdviceMatrix *m)
{
  PetscFunctionBegin;
  for (int b = 0; b < m->count; b++) PetscCall(AIJFmtHostPatternRestore(m->block[b], &m->pattern[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
