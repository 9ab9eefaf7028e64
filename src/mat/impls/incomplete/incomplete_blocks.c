/*
  incomplete_blocks.c - factors in blocks of rows that do not see each other: their number, and the matrix without its
  entries between blocks, which PETSc's package factors where the device does not. The blocks are those of PCBJACOBI.
*/
#include "incomplete.h"
#include "sys/compat.h"

PetscErrorCode MatIncompleteBlocksRead(Mat F, Mat A, Mat_Incomplete *s)
{
  PetscInt unit;

  PetscFunctionBegin;
  PetscOptionsBegin(PetscObjectComm((PetscObject)F), ((PetscObject)F)->prefix, "Incomplete factors of petscpack",
                    "Mat");
  PetscCall(PetscOptionsRangeInt("-mat_incomplete_blocks", "Blocks of rows, as of bjacobi, in one factor",
                                 "MatIncompleteSetBlocks", s->blocks, &s->blocks, NULL, 1, PETSC_MPI_INT_MAX));
  PetscOptionsEnd();
  PetscCall(MatGetBlockSize(A, &unit));
  s->options.blocks    = (int)s->blocks;
  s->options.unit_rows = s->blocks > 1 ? (int)unit : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For each row of a block the entries within the block: counts them, or sets them in B */
static PetscErrorCode RowsCut(Mat A, PetscInt first, PetscInt end, PetscInt counts[], Mat B)
{
  PetscFunctionBegin;
  for (PetscInt row = first; row < end; row++) {
    const PetscInt    *cols;
    const PetscScalar *values;
    PetscInt           n, low = 0, high;

    PetscCall(MatGetRow(A, row, &n, &cols, &values));
    while (low < n && cols[low] < first) low++;
    for (high = low; high < n && cols[high] < end;) high++;
    if (counts) counts[row] = high - low;
    else PetscCall(MatSetValues(B, 1, &row, high - low, cols + low, values + low, INSERT_VALUES));
    PetscCall(MatRestoreRow(A, row, &n, &cols, &values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BlocksCut(Mat A, const Mat_Incomplete *s, PetscInt counts[], Mat B)
{
  const PetscInt unit = s->options.unit_rows, units = A->rmap->n / unit;
  PetscInt       first = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < s->blocks; i++) {
    const PetscInt end = first + unit * (units / s->blocks + (units % s->blocks > i));

    PetscCall(RowsCut(A, first, end, counts, B));
    first = end;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatIncompleteCut(Mat A, Mat_Incomplete *s, Mat *cut)
{
  PetscInt *counts;

  PetscFunctionBegin;
  *cut = A;
  if (s->blocks == 1) PetscFunctionReturn(PETSC_SUCCESS);
  if (!s->cut) {
    PetscCall(PetscMalloc1(A->rmap->n, &counts));
    PetscCall(BlocksCut(A, s, counts, NULL));
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, A->rmap->n, A->rmap->n, 0, counts, &s->cut));
    PetscCall(PetscFree(counts));
  }
  PetscCall(BlocksCut(A, s, NULL, s->cut));
  PetscCall(MatAssemblyBegin(s->cut, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(s->cut, MAT_FINAL_ASSEMBLY));
  *cut = s->cut;
  PetscFunctionReturn(PETSC_SUCCESS);
}
