/*
  ghost_rows.c - the rows of a parallel matrix B that other processes own and the off-diagonal block of A needs: B_g of
  matmat_parallel.c, where B_l has the rows of this process.

  MatCreateSubMatrices() would bring all values of B to the host for this. Here the owner packs the wanted ones where B_l
  has its values, on the GPU if they are there, and only these pass through the host.
*/
#include "matmat.h"
#include "parallel/neighbours.h"

struct AIJFmtGhostRowsStruct {
  Mat                 matrix; /* B_g, with all columns of B */
  PetscPackNeighbours rows, entries;
  PetscInt           *row;   /* [rows to send]: of B_l */
  int32_t            *place; /* [entries to send]: where their values are among those of B_l, fewer than 2^31 */
  PetscInt           *from;  /* [entries of B_g]: nonzero k is received entry from[k] */
};

Mat AIJFmtGhostRowsMatrix(AIJFmtGhostRows g) { return g ? g->matrix : NULL; }

static int64_t GhostSent(AIJFmtGhostRows g) { return PetscPackItems(&g->entries->out); }
static int64_t GhostReceived(AIJFmtGhostRows g) { return PetscPackItems(&g->entries->in); }

/* Exchanges the lengths of the rows; row_ptr [rows of B_g + 1] */
static PetscErrorCode LengthsFetch(AIJFmtGhostRows g, const SpmvPattern *local, PetscInt rows, PetscInt row_ptr[])
{
  const int64_t   sent = PetscPackItems(&g->rows->out);
  const PetscInt *own  = (const PetscInt *)local->row_ptr;
  PetscInt       *length;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)sent, &length));
  for (int64_t r = 0; r < sent; r++) length[r] = own[g->row[r] + 1] - own[g->row[r]];
  PetscCall(PetscPackExchange(g->rows, MPIU_INT, length, row_ptr + 1));
  PetscCall(PetscPackNeighboursOfParts(g->rows, length, row_ptr + 1, &g->entries));
  PetscCall(PetscFree(length));
  row_ptr[0] = 0;
  for (PetscInt r = 0; r < rows; r++) row_ptr[r + 1] += row_ptr[r];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exchanges the columns, numbered in the whole matrix by `number`, and records the places of the entries to send */
static PetscErrorCode ColumnsFetch(AIJFmtGhostRows g, const SpmvPattern *local, const PetscInt number[], PetscInt col[])
{
  const PetscInt *row_ptr = (const PetscInt *)local->row_ptr, *own = (const PetscInt *)local->col;
  PetscInt       *numbered;
  PetscInt        at = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)GhostSent(g), &numbered));
  PetscCall(PetscMalloc1((size_t)GhostSent(g), &g->place));
  for (int64_t r = 0; r < PetscPackItems(&g->rows->out); r++)
    for (PetscInt k = row_ptr[g->row[r]]; k < row_ptr[g->row[r] + 1]; k++, at++) {
      g->place[at] = (int32_t)k;
      numbered[at] = number[own[k]];
    }
  PetscCall(PetscPackExchange(g->entries, MPIU_INT, numbered, col));
  PetscCall(PetscFree(numbered));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The owner has the columns of its own process first; here the columns of each row ascend */
static PetscErrorCode ColumnsSort(AIJFmtGhostRows g, PetscInt rows, const PetscInt row_ptr[], PetscInt col[])
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)GhostReceived(g), &g->from));
  for (PetscInt k = 0; k < row_ptr[rows]; k++) g->from[k] = k;
  for (PetscInt r = 0; r < rows; r++)
    PetscCall(PetscSortIntWithArray(row_ptr[r + 1] - row_ptr[r], col + row_ptr[r], g->from + row_ptr[r]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes B_g with its pattern; number: of the columns of B_l in the whole matrix. Collective. */
static PetscErrorCode GhostPatternMake(AIJFmtGhostRows g, PetscInt rows, PetscInt all_columns, const AIJFmtRow *row,
                                       const SpmvPattern *local, const PetscInt number[])
{
  PetscInt *row_ptr, *col;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)rows + 1, &row_ptr));
  PetscCall(LengthsFetch(g, local, rows, row_ptr));
  PetscCall(PetscMalloc1((size_t)GhostReceived(g), &col));
  PetscCall(ColumnsFetch(g, local, number, col));
  PetscCall(ColumnsSort(g, rows, row_ptr, col));
  PetscCall(MatCreate(PETSC_COMM_SELF, &g->matrix));
  PetscCall(MatSetSizes(g->matrix, rows, all_columns, rows, all_columns));
  PetscCall(MatSetType(g->matrix, MATSEQAIJ));
  PetscCall(MatSeqAIJSetPreallocationCSR(g->matrix, row_ptr, col, NULL));
  PetscCall(AIJFmtInstall(g->matrix, row, PETSC_FALSE, NULL));
  PetscCall(PetscFree(col));
  PetscCall(PetscFree(row_ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes B_g without values, with the rows of the columns of A's off-diagonal block. columns: the numbers of the columns
   of B_l in the whole matrix. Collective. */
PetscErrorCode AIJFmtGhostRowsMake(Mat A, Mat B, Mat B_l, IS columns, const AIJFmtRow *row, AIJFmtGhostRows *ghost)
{
  const PetscInt *number, *needed;
  SpmvPattern     local;
  AIJFmtGhostRows g;
  Mat             off_diagonal;

  PetscFunctionBegin;
  PetscCall(PetscNew(&g));
  *ghost = g;
  PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &off_diagonal, &needed));
  PetscCall(PetscPackNeighboursFromOwners(B->rmap, off_diagonal->cmap->n, needed, &g->rows, &g->row));
  PetscCall(AIJFmtHostPatternGet(B_l, &local));
  PetscCall(ISGetIndices(columns, &number));
  PetscCall(GhostPatternMake(g, off_diagonal->cmap->n, B->cmap->N, row, &local, number));
  PetscCall(ISRestoreIndices(columns, &number));
  PetscCall(AIJFmtHostPatternRestore(B_l, &local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- values ---- */

/* Packs the values on the GPU */
static SpmvStatus PackThere(AIJFmtGhostRows g, const void *values, SpmvExec *exec, PetscScalar packed[])
{
  const int64_t n = GhostSent(g), place_bytes = n * (int64_t)sizeof *g->place;
  const int64_t packed_bytes = n * (int64_t)sizeof *packed;
  void         *place, *there = NULL;
  SpmvStatus    status = spmv_scratch_alloc(exec, SPMV_DEVICE, place_bytes, "places of ghost rows", &place);

  if (!status) status = spmv_scratch_alloc(exec, SPMV_DEVICE, packed_bytes, "values of ghost rows", &there);
  if (!status) status = spmv_copy(place, SPMV_DEVICE, g->place, SPMV_HOST, place_bytes, exec);
  if (!status) status = spmv_gather(n, (const int32_t *)place, AIJFMT_SCALAR, values, there, exec);
  if (!status) status = spmv_copy(packed, SPMV_HOST, there, SPMV_DEVICE, packed_bytes, exec);
  if (!status) status = spmv_stream_wait(exec);
  spmv_scratch_free(exec, SPMV_DEVICE, there);
  spmv_scratch_free(exec, SPMV_DEVICE, place);
  return status;
}

/* Packs the values where they are; from the host if the GPU has no memory for it */
static PetscErrorCode GhostPack(AIJFmtGhostRows g, Mat B_l, SpmvExec *exec, PetscScalar packed[])
{
  SpmvStatus   status = SPMV_ERR_MEMORY;
  AIJFmtArrays a      = {.parts = 0};
  SpmvExec     host;
  Mat_AIJFmt  *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateRequire(B_l, "MatProduct", &s));
  if (GhostSent(g) == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (AIJFmtPlacesGet(B_l, s).device_csr) {
    PetscCall(AIJFmtArraysGet(B_l, AIJFMT_VALUES, AIJFMT_READ, exec, &a, &status));
    if (!status) status = PackThere(g, a.csr.values, exec, packed);
    PetscCall(AIJFmtArraysRestore(B_l, exec, &a, NULL));
  }
  if (status != SPMV_ERR_MEMORY) AIJFmtCallSpmv(exec, status);
  if (!status) PetscFunctionReturn(PETSC_SUCCESS);
  spmv_exec_init(&host, SPMV_HOST);
  PetscCall(AIJFmtArraysGet(B_l, AIJFMT_VALUES, AIJFMT_READ, &host, &a, &status));
  for (int64_t k = 0; k < GhostSent(g); k++) packed[k] = ((const PetscScalar *)a.csr.values)[g->place[k]];
  PetscCall(AIJFmtArraysRestore(B_l, &host, &a, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fetches the values of B_g. Collective. */
PetscErrorCode AIJFmtGhostRowsFill(AIJFmtGhostRows g, Mat B_l, SpmvExec *exec)
{
  PetscScalar *packed, *received, *values;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2((size_t)GhostSent(g), &packed, (size_t)GhostReceived(g), &received));
  PetscCall(GhostPack(g, B_l, exec, packed));
  PetscCall(PetscPackExchange(g->entries, MPIU_SCALAR, packed, received));
  PetscCall(MatSeqAIJGetArrayWrite(g->matrix, &values));
  for (int64_t k = 0; k < GhostReceived(g); k++) values[k] = received[g->from[k]];
  PetscCall(MatSeqAIJRestoreArrayWrite(g->matrix, &values));
  PetscCall(PetscObjectStateIncrease((PetscObject)g->matrix));
  PetscCall(PetscFree2(packed, received));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtGhostRowsDestroy(AIJFmtGhostRows *ghost)
{
  AIJFmtGhostRows g = *ghost;

  PetscFunctionBegin;
  *ghost = NULL;
  if (!g) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDestroy(&g->matrix));
  PetscCall(PetscPackNeighboursDestroy(&g->rows));
  PetscCall(PetscPackNeighboursDestroy(&g->entries));
  PetscCall(PetscFree(g->row));
  PetscCall(PetscFree(g->place));
  PetscCall(PetscFree(g->from));
  PetscCall(PetscFree(g));
  PetscFunctionReturn(PETSC_SUCCESS);
}
