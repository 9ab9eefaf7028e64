/*
  ghost_rows.c - the rows of a parallel matrix B that other processes own and the off-diagonal block of A needs: B_g of
  matmat_parallel.c, where B_l has the rows of this process.

  The pattern is fetched once. Values are fetched from where the owner has those of B_l: from its GPU, too, so that B
  never comes to the host.
*/
#include "matmat.h"

/* Gives a matrix that PETSc has made our type, so that its values are found where they are */
PetscErrorCode AIJFmtMakeOurs(Mat A, const AIJFmtRow *row)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s) PetscCall(AIJFmtInstall(A, row, PETSC_FALSE, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where a row of B_l begins, and its length */
typedef struct {
  PetscInt begin, length;
} Row;

/* Asks the owners for the rows of B for the columns of the off-diagonal block of A. rows: which process has each;
   *wanted: as many entries as there are rows. The caller frees *wanted. Collective. */
static PetscErrorCode GhostRows(Mat A, Mat B, const SpmvPattern *local, PetscSF rows, PetscInt *count, Row **wanted)
{
  const PetscInt *ghost, *row_ptr = (const PetscInt *)local->row_ptr;
  Row            *own;
  Mat             others;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &others, &ghost));
  *count = others->cmap->n;
  PetscCall(PetscSFSetGraphLayout(rows, B->rmap, *count, NULL, PETSC_COPY_VALUES, ghost));
  PetscCall(PetscMalloc1((size_t)local->rows, &own));
  PetscCall(PetscMalloc1((size_t)*count, wanted));
  for (int64_t r = 0; r < local->rows; r++) own[r] = (Row){row_ptr[r], row_ptr[r + 1] - row_ptr[r]};
  PetscCall(PetscSFBcastBegin(rows, MPIU_2INT, own, *wanted, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(rows, MPIU_2INT, own, *wanted, MPI_REPLACE));
  PetscCall(PetscFree(own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the communication that fetches the entries of these rows; from: the place of each in the owner's B_l */
static PetscErrorCode FetchMake(PetscSF rows, int64_t nonzeros, PetscInt count, const PetscInt row_ptr[],
                                const PetscInt from[], PetscSF *fetch)
{
  const PetscSFNode *row;
  PetscSFNode       *entry;

  PetscFunctionBegin;
  PetscCall(PetscSFGetGraph(rows, NULL, NULL, NULL, &row));
  PetscCall(PetscMalloc1((size_t)row_ptr[count], &entry));
  for (PetscInt r = 0; r < count; r++)
    for (PetscInt k = row_ptr[r]; k < row_ptr[r + 1]; k++) entry[k] = (PetscSFNode){row[r].rank, from[k]};
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)rows), fetch));
  PetscCall(
      PetscSFSetGraph(*fetch, (PetscInt)nonzeros, row_ptr[count], NULL, PETSC_OWN_POINTER, entry, PETSC_OWN_POINTER));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fetches the columns, numbered in the whole matrix. Only the rows that other processes want are read. */
static PetscErrorCode ColumnsFetch(PetscSF rows, PetscSF fetch, const SpmvPattern *local, IS columns, PetscInt col[])
{
  const PetscInt *degree, *number, *row_ptr = (const PetscInt *)local->row_ptr, *own = (const PetscInt *)local->col;
  PetscInt       *numbered;

  PetscFunctionBegin;
  PetscCall(PetscSFComputeDegreeBegin(rows, &degree));
  PetscCall(PetscSFComputeDegreeEnd(rows, &degree));
  PetscCall(PetscMalloc1((size_t)local->nnz, &numbered));
  PetscCall(ISGetIndices(columns, &number));
  for (int64_t r = 0; r < local->rows; r++)
    for (PetscInt k = row_ptr[r]; degree[r] > 0 && k < row_ptr[r + 1]; k++) numbered[k] = number[own[k]];
  PetscCall(ISRestoreIndices(columns, &number));
  PetscCall(PetscSFBcastBegin(fetch, MPIU_INT, numbered, col, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(fetch, MPIU_INT, numbered, col, MPI_REPLACE));
  PetscCall(PetscFree(numbered));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The owners have the columns of their own process first; here the columns of each row ascend */
static PetscErrorCode ColumnsSort(PetscInt count, const PetscInt row_ptr[], PetscInt col[], PetscInt from[])
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < count; r++)
    PetscCall(PetscSortIntWithArray(row_ptr[r + 1] - row_ptr[r], col + row_ptr[r], from + row_ptr[r]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the pattern of B_g, and makes the communication for its values. The caller frees col. Collective. */
static PetscErrorCode GhostPattern(AIJFmtGhostRows *g, PetscSF rows, const SpmvPattern *local, IS columns,
                                   PetscInt count, const Row wanted[], PetscInt row_ptr[], PetscInt **col)
{
  PetscInt *from;
  PetscSF   unsorted;

  PetscFunctionBegin;
  row_ptr[0] = 0;
  for (PetscInt r = 0; r < count; r++) row_ptr[r + 1] = row_ptr[r] + wanted[r].length;
  PetscCall(PetscMalloc1((size_t)row_ptr[count], col));
  PetscCall(PetscMalloc1((size_t)row_ptr[count], &from));
  for (PetscInt r = 0; r < count; r++)
    for (PetscInt n = 0; n < wanted[r].length; n++) from[row_ptr[r] + n] = wanted[r].begin + n;
  PetscCall(FetchMake(rows, local->nnz, count, row_ptr, from, &unsorted));
  PetscCall(ColumnsFetch(rows, unsorted, local, columns, *col));
  PetscCall(PetscSFDestroy(&unsorted));
  PetscCall(ColumnsSort(count, row_ptr, *col, from));
  PetscCall(FetchMake(rows, local->nnz, count, row_ptr, from, &g->fetch));
  PetscCall(PetscFree(from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes B_g without values. columns: the numbers of the columns of B_l in the whole matrix. Collective. */
PetscErrorCode AIJFmtGhostRowsMake(Mat A, Mat B, Mat B_l, IS columns, AIJFmtGhostRows *g)
{
  SpmvPattern local;
  PetscInt    count, *row_ptr, *col;
  Row        *wanted;
  PetscSF     rows;

  PetscFunctionBegin;
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)A), &rows));
  PetscCall(AIJFmtHostPatternGet(B_l, &local));
  PetscCall(GhostRows(A, B, &local, rows, &count, &wanted));
  PetscCall(PetscMalloc1((size_t)count + 1, &row_ptr));
  PetscCall(GhostPattern(g, rows, &local, columns, count, wanted, row_ptr, &col));
  PetscCall(AIJFmtHostPatternRestore(B_l, &local));
  PetscCall(MatCreate(PETSC_COMM_SELF, &g->matrix));
  PetscCall(MatSetSizes(g->matrix, count, B->cmap->N, count, B->cmap->N));
  PetscCall(MatSetType(g->matrix, MATSEQAIJ));
  PetscCall(MatSeqAIJSetPreallocationCSR(g->matrix, row_ptr, col, NULL));
  PetscCall(PetscFree(col));
  PetscCall(PetscFree(row_ptr));
  PetscCall(PetscFree(wanted));
  PetscCall(PetscSFDestroy(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fetches the values of B_g, from where B_l has its own: the CSR on the device, or the host. Collective. */
PetscErrorCode AIJFmtGhostRowsFill(Mat B_l, const AIJFmtRow *row, AIJFmtGhostRows *g)
{
  PetscMemType       type = PETSC_MEMTYPE_HOST;
  const PetscScalar *own;
  PetscScalar       *values;
  Mat_AIJFmt        *s;
  SpmvCsr            csr;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateRequire(B_l, "MatProduct", &s));
  if (AIJFmtTruthGet(B_l, s).device_csr) {
    PetscCall(AIJFmtDeviceCsrGet(B_l, s, &csr));
    own  = (const PetscScalar *)csr.values;
    type = PETSC_MEMTYPE_CUDA;
  } else PetscCall(MatSeqAIJGetArrayRead(B_l, &own));
  PetscCall(MatSeqAIJGetArrayWrite(g->matrix, &values));
  PetscCall(PetscSFBcastWithMemTypeBegin(g->fetch, MPIU_SCALAR, type, own, PETSC_MEMTYPE_HOST, values, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(g->fetch, MPIU_SCALAR, own, values, MPI_REPLACE));
  PetscCall(MatSeqAIJRestoreArrayWrite(g->matrix, &values));
  if (type == PETSC_MEMTYPE_HOST) PetscCall(MatSeqAIJRestoreArrayRead(B_l, &own));
  PetscCall(PetscObjectStateIncrease((PetscObject)g->matrix));
  PetscCall(AIJFmtMakeOurs(g->matrix, row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtGhostRowsDestroy(AIJFmtGhostRows *g)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&g->matrix));
  PetscCall(PetscSFDestroy(&g->fetch));
  PetscFunctionReturn(PETSC_SUCCESS);
}
