/*
  ghost_rows.c - the rows of a parallel matrix B that other processes own and the off-diagonal block of A needs: B_g of
  matmat_parallel.c, where B_l has the rows of this process.

  MatCreateSubMatrices() would bring all values of B to the host for this. Here the owner packs the wanted ones where B_l
  has its values, on the GPU if they are there, and only these pass through the host.
*/
#include "matmat.h"
#include "parallel/processes.h"
#include <petscsf.h>

/* One direction: neighbour n has rows first_row[n] .. first_row[n+1]-1, and their entries first[n] .. first[n+1]-1 */
typedef struct {
  AIJFmtRanks  neighbours;
  PetscMPIInt *rank;
  PetscInt    *first_row, *first; /* [neighbours+1] */
} Side;

struct AIJFmtGhostRowsStruct {
  Mat          matrix; /* B_g, with all columns of B */
  MPI_Comm     comm;
  PetscMPIInt  tag;
  Side         out, in;
  PetscInt    *row;   /* [rows of out]: rows of B_l to send */
  int32_t     *place; /* [entries of out]: where their values are among those of B_l, fewer than 2^31 */
  PetscInt    *from;  /* [entries of in]: nonzero k of B_g is received entry from[k] */
  MPI_Request *request;
};

Mat AIJFmtGhostRowsMatrix(AIJFmtGhostRows g) { return g ? g->matrix : NULL; }

static PetscInt Entries(const Side *s) { return s->first[s->neighbours]; }
static PetscInt Rows(const Side *s) { return s->first_row[s->neighbours]; }

static PetscErrorCode SideMake(AIJFmtRanks neighbours, const PetscMPIInt rank[], const PetscInt first_row[], Side *s)
{
  PetscFunctionBegin;
  s->neighbours = neighbours;
  PetscCall(PetscMalloc3((size_t)neighbours, &s->rank, (size_t)neighbours + 1, &s->first_row, (size_t)neighbours + 1,
                         &s->first));
  s->first_row[0] = s->first[0] = 0;
  for (AIJFmtRanks n = 0; n < neighbours; n++) {
    s->rank[n]          = rank[n];
    s->first_row[n + 1] = first_row[n + 1];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds out who sends which rows. The columns of the off-diagonal block ascend, and so do their owners. */
static PetscErrorCode Ask(Mat A, Mat B, AIJFmtGhostRows g)
{
  PetscSF            sf;
  AIJFmtRanks        neighbours;
  const PetscMPIInt *rank;
  const PetscInt    *first, *mine, *theirs, *ghost;
  Mat                others;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &others, &ghost));
  PetscCall(PetscSFCreate(g->comm, &sf));
  PetscCall(PetscSFSetGraphLayout(sf, B->rmap, others->cmap->n, NULL, PETSC_COPY_VALUES, ghost));
  PetscCall(PetscSFSetUp(sf));
  PetscCall(PetscSFGetRootRanks(sf, &neighbours, &rank, &first, &mine, &theirs));
  PetscCall(SideMake(neighbours, rank, first, &g->in));
  PetscCall(PetscSFGetLeafRanks(sf, &neighbours, &rank, &first, &mine));
  PetscCall(SideMake(neighbours, rank, first, &g->out));
  PetscCall(PetscMalloc1((size_t)Rows(&g->out), &g->row));
  PetscCall(PetscArraycpy(g->row, mine, Rows(&g->out)));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(PetscMalloc1((size_t)g->in.neighbours + (size_t)g->out.neighbours, &g->request));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exchanges one item for each row, or for each entry of the rows */
static PetscErrorCode Exchange(AIJFmtGhostRows g, PetscBool entries, MPI_Datatype type, size_t bytes, const void *from,
                               void *to)
{
  const Side             *o = &g->out, *i = &g->in;
  const PetscPackMessages out = {(PetscMPIInt)o->neighbours, o->rank, entries ? o->first : o->first_row};
  const PetscPackMessages in  = {(PetscMPIInt)i->neighbours, i->rank, entries ? i->first : i->first_row};

  PetscFunctionBegin;
  PetscCall(PetscPackExchange(g->comm, g->tag, type, bytes, out, from, in, to, g->request));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the entries of each neighbour begin, from the lengths of its rows */
static void CountEntries(Side *s, const PetscInt length[])
{
  for (AIJFmtRanks n = 0; n < s->neighbours; n++) {
    s->first[n + 1] = s->first[n];
    for (PetscInt r = s->first_row[n]; r < s->first_row[n + 1]; r++) s->first[n + 1] += length[r];
  }
}

/* Exchanges the lengths of the rows; row_ptr [rows of in + 1] are those of B_g */
static PetscErrorCode LengthsFetch(AIJFmtGhostRows g, const SpmvPattern *local, PetscInt row_ptr[])
{
  const PetscInt *own = (const PetscInt *)local->row_ptr;
  PetscInt       *length, *theirs = row_ptr + 1;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)Rows(&g->out), &length));
  for (PetscInt r = 0; r < Rows(&g->out); r++) length[r] = own[g->row[r] + 1] - own[g->row[r]];
  PetscCall(Exchange(g, PETSC_FALSE, MPIU_INT, sizeof *length, length, theirs));
  CountEntries(&g->out, length);
  CountEntries(&g->in, theirs);
  PetscCall(PetscFree(length));
  row_ptr[0] = 0;
  for (PetscInt r = 0; r < Rows(&g->in); r++) row_ptr[r + 1] += row_ptr[r];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exchanges the columns, numbered in the whole matrix by `number`, and records the places of the entries to send */
static PetscErrorCode ColumnsFetch(AIJFmtGhostRows g, const SpmvPattern *local, const PetscInt number[], PetscInt col[])
{
  const PetscInt *row_ptr = (const PetscInt *)local->row_ptr, *own = (const PetscInt *)local->col;
  PetscInt       *numbered;
  PetscInt        at = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)Entries(&g->out), &numbered));
  PetscCall(PetscMalloc1((size_t)Entries(&g->out), &g->place));
  for (PetscInt r = 0; r < Rows(&g->out); r++)
    for (PetscInt k = row_ptr[g->row[r]]; k < row_ptr[g->row[r] + 1]; k++, at++) {
      g->place[at] = (int32_t)k;
      numbered[at] = number[own[k]];
    }
  PetscCall(Exchange(g, PETSC_TRUE, MPIU_INT, sizeof *col, numbered, col));
  PetscCall(PetscFree(numbered));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The owner has the columns of its own process first; here the columns of each row ascend */
static PetscErrorCode ColumnsSort(AIJFmtGhostRows g, const PetscInt row_ptr[], PetscInt col[])
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)Entries(&g->in), &g->from));
  for (PetscInt k = 0; k < Entries(&g->in); k++) g->from[k] = k;
  for (PetscInt r = 0; r < Rows(&g->in); r++)
    PetscCall(PetscSortIntWithArray(row_ptr[r + 1] - row_ptr[r], col + row_ptr[r], g->from + row_ptr[r]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes B_g with its pattern; number: of the columns of B_l in the whole matrix. Collective. */
static PetscErrorCode PatternMake(AIJFmtGhostRows g, PetscInt all_columns, const AIJFmtRow *row,
                                  const SpmvPattern *local, const PetscInt number[])
{
  const PetscInt rows = Rows(&g->in);
  PetscInt      *row_ptr, *col;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)rows + 1, &row_ptr));
  PetscCall(LengthsFetch(g, local, row_ptr));
  PetscCall(PetscMalloc1((size_t)Entries(&g->in), &col));
  PetscCall(ColumnsFetch(g, local, number, col));
  PetscCall(ColumnsSort(g, row_ptr, col));
  PetscCall(MatCreate(PETSC_COMM_SELF, &g->matrix));
  PetscCall(MatSetSizes(g->matrix, rows, all_columns, rows, all_columns));
  PetscCall(MatSetType(g->matrix, MATSEQAIJ));
  PetscCall(MatSeqAIJSetPreallocationCSR(g->matrix, row_ptr, col, NULL));
  PetscCall(AIJFmtInstall(g->matrix, row, PETSC_FALSE, NULL));
  PetscCall(PetscFree(col));
  PetscCall(PetscFree(row_ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes B_g without values. columns: the numbers of the columns of B_l in the whole matrix. Collective. */
PetscErrorCode AIJFmtGhostRowsMake(Mat A, Mat B, Mat B_l, IS columns, const AIJFmtRow *row, AIJFmtGhostRows *ghost)
{
  const PetscInt *number;
  SpmvPattern     local;
  AIJFmtGhostRows g;

  PetscFunctionBegin;
  PetscCall(PetscNew(&g));
  *ghost = g;
  PetscCall(PetscCommDuplicate(PetscObjectComm((PetscObject)A), &g->comm, &g->tag));
  PetscCall(Ask(A, B, g));
  PetscCall(AIJFmtHostPatternGet(B_l, &local));
  PetscCall(ISGetIndices(columns, &number));
  PetscCall(PatternMake(g, B->cmap->N, row, &local, number));
  PetscCall(ISRestoreIndices(columns, &number));
  PetscCall(AIJFmtHostPatternRestore(B_l, &local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- values ---- */

/* Packs the values on the GPU */
static SpmvStatus PackThere(AIJFmtGhostRows g, const void *values, SpmvExec *exec, PetscScalar packed[])
{
  const int64_t n = Entries(&g->out), place_bytes = n * (int64_t)sizeof *g->place;
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
static PetscErrorCode Pack(AIJFmtGhostRows g, Mat B_l, SpmvExec *exec, PetscScalar packed[])
{
  SpmvStatus   status = SPMV_ERR_MEMORY;
  AIJFmtArrays a      = {.parts = 0};
  SpmvExec     host;
  Mat_AIJFmt  *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateRequire(B_l, "MatProduct", &s));
  if (Entries(&g->out) == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (AIJFmtTruthGet(B_l, s).device_csr) {
    PetscCall(AIJFmtArraysGet(B_l, AIJFMT_VALUES, AIJFMT_READ, exec, &a, &status));
    if (!status) status = PackThere(g, a.csr.values, exec, packed);
    PetscCall(AIJFmtArraysRestore(B_l, exec, &a, NULL));
  }
  if (status != SPMV_ERR_MEMORY) AIJFmtCallSpmv(exec, status);
  if (!status) PetscFunctionReturn(PETSC_SUCCESS);
  spmv_exec_init(&host, SPMV_HOST);
  PetscCall(AIJFmtArraysGet(B_l, AIJFMT_VALUES, AIJFMT_READ, &host, &a, &status));
  for (PetscInt k = 0; k < Entries(&g->out); k++) packed[k] = ((const PetscScalar *)a.csr.values)[g->place[k]];
  PetscCall(AIJFmtArraysRestore(B_l, &host, &a, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fetches the values of B_g. Collective. */
PetscErrorCode AIJFmtGhostRowsFill(AIJFmtGhostRows g, Mat B_l, SpmvExec *exec)
{
  PetscScalar *packed, *received, *values;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2((size_t)Entries(&g->out), &packed, (size_t)Entries(&g->in), &received));
  PetscCall(Pack(g, B_l, exec, packed));
  PetscCall(Exchange(g, PETSC_TRUE, MPIU_SCALAR, sizeof *packed, packed, received));
  PetscCall(MatSeqAIJGetArrayWrite(g->matrix, &values));
  for (PetscInt k = 0; k < Entries(&g->in); k++) values[k] = received[g->from[k]];
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
  PetscCall(PetscFree3(g->out.rank, g->out.first_row, g->out.first));
  PetscCall(PetscFree3(g->in.rank, g->in.first_row, g->in.first));
  PetscCall(PetscFree(g->row));
  PetscCall(PetscFree(g->place));
  PetscCall(PetscFree(g->from));
  PetscCall(PetscFree(g->request));
  PetscCall(PetscCommDestroy(&g->comm));
  PetscCall(PetscFree(g));
  PetscFunctionReturn(PETSC_SUCCESS);
}
