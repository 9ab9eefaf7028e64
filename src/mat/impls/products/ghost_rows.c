/*
  ghost_rows.c - rows of a matrix B in device memory that other processes own: B_g of matmat_parallel.c, and the rows of
  a tentative prolongator.

  The owner packs the rows by a product on the device, S B, where S has a 1 in each row for the wanted row. Only these
  rows pass through the host.
*/
#include "matmat.h"
#include "parallel/neighbours.h"
#include "parallel/processes.h"

struct AIJFmtGhostRowsStruct {
  PetscPackNeighbours rows, entries;
  SpmvSpgemm         *packing; /* S B; NULL: no process wants a row */
  void               *ones;    /* device memory of S: its values, ... */
  void               *selection;
  void               *packed;  /* values of S B, on the device, ... */
  PetscScalar        *here[2]; /* ... on the host, and the received ones */
  void               *block;   /* device memory of csr */
  SpmvCsr             csr;     /* the rows, with the columns of the whole matrix */
};

static int64_t GhostSent(AIJFmtGhostRows g) { return PetscPackItems(&g->entries->out); }
static int64_t GhostReceived(AIJFmtGhostRows g) { return PetscPackItems(&g->entries->in); }

const SpmvCsr *AIJFmtGhostRowsCsr(AIJFmtGhostRows g) { return &g->csr; }

/* Makes S, for the local rows row [n], and the pattern of S B */
static PetscErrorCode PackingMake(AIJFmtGhostRows g, PetscInt n, const PetscInt row[], const SpmvPattern *B,
                                  SpmvExec *exec, SpmvStatus *status)
{
  const int64_t bytes[] = {(n + 1) * (int64_t)sizeof(PetscInt), n * (int64_t)sizeof(PetscInt),
                           n * (int64_t)sizeof(PetscScalar)};
  void         *row_ptr, *col;
  void **const  array[] = {&row_ptr, &col, &g->ones};
  PetscInt     *numbers;
  PetscScalar  *ones;
  SpmvCsr       S;

  PetscFunctionBegin;
  *status = SPMV_SUCCESS;
  if (n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  *status = spmv_alloc_arrays(exec, SPMV_DEVICE, 3, bytes, "selected rows", array, &g->selection);
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2((size_t)n + 1, &numbers, (size_t)n, &ones));
  for (PetscInt k = 0; k <= n; k++) numbers[k] = k;
  for (PetscInt k = 0; k < n; k++) ones[k] = 1;
  *status = spmv_copy(row_ptr, SPMV_DEVICE, numbers, SPMV_HOST, bytes[0], exec);
  if (!*status) *status = spmv_copy(col, SPMV_DEVICE, row, SPMV_HOST, bytes[1], exec);
  if (!*status) *status = spmv_copy(g->ones, SPMV_DEVICE, ones, SPMV_HOST, bytes[2], exec);
  if (!*status) *status = spmv_stream_wait(exec);
  PetscCall(PetscFree2(numbers, ones));
  S = AIJFmtCsrOnDevice(n, B->rows, n, row_ptr, col, g->ones);
  if (!*status) *status = spmv_spgemm_symbolic(SPMV_SPGEMM_AB, &S.pattern, B, AIJFMT_SCALAR, exec, &g->packing);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the pattern of S B to the host, with the columns of the whole matrix: `number` of those of B */
static PetscErrorCode PackedFetch(AIJFmtGhostRows g, PetscInt n, const PetscInt number[], SpmvExec *exec,
                                  PetscInt **lengths, PetscInt **col, SpmvStatus *status)
{
  SpmvPattern packed = {.nnz = 0};

  PetscFunctionBegin;
  if (g->packing) spmv_spgemm_pattern(g->packing, &packed);
  PetscCall(PetscMalloc2((size_t)n + 1, lengths, (size_t)packed.nnz, col));
  (*lengths)[0] = 0;
  if (!g->packing) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtFetch(exec, packed.row_ptr, SPMV_DEVICE, (n + 1) * (int64_t)sizeof **lengths, *lengths, status));
  if (!*status) PetscCall(AIJFmtFetch(exec, packed.col, SPMV_DEVICE, packed.nnz * (int64_t)sizeof **col, *col, status));
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt r = 0; r < n; r++) (*lengths)[r] = (*lengths)[r + 1] - (*lengths)[r];
  for (int64_t k = 0; k < packed.nnz; k++) (*col)[k] = number[(*col)[k]];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exchanges lengths and columns of the rows. row_ptr [rows + 1]; the caller frees *col. */
static PetscErrorCode PatternExchange(AIJFmtGhostRows g, PetscInt rows, const PetscInt lengths[], const PetscInt sent[],
                                      PetscInt row_ptr[], PetscInt **col)
{
  PetscFunctionBegin;
  PetscCall(PetscPackExchange(g->rows, MPIU_INT, lengths, row_ptr + 1));
  PetscCall(PetscPackNeighboursOfParts(g->rows, lengths, row_ptr + 1, &g->entries));
  PetscCall(PetscMalloc2((size_t)GhostSent(g), &g->here[0], (size_t)GhostReceived(g), &g->here[1]));
  PetscCall(PetscMalloc1((size_t)GhostReceived(g), col));
  PetscCall(PetscPackExchange(g->entries, MPIU_INT, sent, *col));
  row_ptr[0] = 0;
  for (PetscInt r = 0; r < rows; r++) row_ptr[r + 1] += row_ptr[r];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates device memory of csr, and of the packed values, and uploads the pattern */
static SpmvStatus PatternUpload(AIJFmtGhostRows g, PetscInt rows, PetscInt cols, const PetscInt row_ptr[],
                                const PetscInt col[], SpmvExec *exec)
{
  const int64_t nnz     = GhostReceived(g);
  const int64_t bytes[] = {(rows + 1) * (int64_t)sizeof *row_ptr, nnz * (int64_t)sizeof *col,
                           nnz * (int64_t)sizeof(PetscScalar), GhostSent(g) * (int64_t)sizeof(PetscScalar)};
  void         *array[3];
  void **const  arrays[] = {&array[0], &array[1], &array[2], &g->packed};
  SpmvStatus    status   = spmv_alloc_arrays(exec, SPMV_DEVICE, 4, bytes, "ghost rows", arrays, &g->block);

  if (status) return status;
  g->csr = AIJFmtCsrOnDevice(rows, cols, nnz, array[0], array[1], array[2]);
  status = spmv_copy(array[0], SPMV_DEVICE, row_ptr, SPMV_HOST, bytes[0], exec);
  if (!status && nnz > 0) status = spmv_copy(array[1], SPMV_DEVICE, col, SPMV_HOST, bytes[1], exec);
  return status ? status : spmv_stream_wait(exec);
}

/* Gets the pattern of the rows `needed` [n], ascending numbers of the layout, of a matrix whose local rows are B, with
   `cols` columns, on all processes; number: those of the columns of B, which ascend. Collective, with one status on all processes. */
PetscErrorCode AIJFmtGhostRowsMake(PetscLayout layout, PetscInt n, const PetscInt needed[], const SpmvPattern *B,
                                   const PetscInt number[], PetscInt cols, SpmvExec *exec, AIJFmtGhostRows *ghost,
                                   SpmvStatus *status)
{
  PetscInt       *row = NULL, *lengths, *sent, *row_ptr, *col; /* gcc does not see that row is set */
  AIJFmtGhostRows g;

  PetscFunctionBegin;
  PetscCall(PetscNew(&g));
  *ghost = g;
  PetscCall(PetscPackNeighboursFromOwners(layout, n, needed, &g->rows, &row));
  PetscCall(PackingMake(g, (PetscInt)PetscPackItems(&g->rows->out), row, B, exec, status));
  PetscCall(PetscFree(row));
  PetscCall(PackedFetch(g, (PetscInt)PetscPackItems(&g->rows->out), number, exec, &lengths, &sent, status));
  *status = PetscPackAgreeStatus(layout->comm, exec, *status);
  if (!*status) {
    PetscCall(PetscMalloc1((size_t)n + 1, &row_ptr));
    PetscCall(PatternExchange(g, n, lengths, sent, row_ptr, &col));
    *status = PetscPackAgreeStatus(layout->comm, exec, PatternUpload(g, n, cols, row_ptr, col, exec));
    PetscCall(PetscFree(col));
    PetscCall(PetscFree(row_ptr));
  }
  PetscCall(PetscFree2(lengths, sent));
  if (*status) PetscCall(AIJFmtGhostRowsDestroy(ghost, exec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the values of the rows; values: of B, on the device. Collective, with one status on all processes. */
PetscErrorCode AIJFmtGhostRowsFill(AIJFmtGhostRows g, const void *values, SpmvExec *exec, SpmvStatus *status)
{
  const int64_t sent     = GhostSent(g) * (int64_t)sizeof **g->here,
                received = GhostReceived(g) * (int64_t)sizeof **g->here;

  PetscFunctionBegin;
  *status = SPMV_SUCCESS;
  if (g->packing) *status = spmv_spgemm_numeric(g->packing, g->ones, values, g->packed, exec);
  if (g->packing && !*status) PetscCall(AIJFmtFetch(exec, g->packed, SPMV_DEVICE, sent, g->here[0], status));
  *status = PetscPackAgreeStatus(g->rows->comm, exec, *status);
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscPackExchange(g->entries, MPIU_SCALAR, g->here[0], g->here[1]));
  if (received > 0)
    AIJFmtCallSpmv(exec, spmv_copy((void *)g->csr.values, SPMV_DEVICE, g->here[1], SPMV_HOST, received, exec));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)received));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtGhostRowsDestroy(AIJFmtGhostRows *ghost, SpmvExec *exec)
{
  AIJFmtGhostRows g = *ghost;

  PetscFunctionBegin;
  *ghost = NULL;
  if (!g) PetscFunctionReturn(PETSC_SUCCESS);
  spmv_spgemm_destroy(&g->packing);
  spmv_exec_free(exec, SPMV_DEVICE, g->selection);
  spmv_exec_free(exec, SPMV_DEVICE, g->block);
  PetscCall(PetscPackNeighboursDestroy(&g->rows));
  PetscCall(PetscPackNeighboursDestroy(&g->entries));
  PetscCall(PetscFree2(g->here[0], g->here[1]));
  PetscCall(PetscFree(g));
  PetscFunctionReturn(PETSC_SUCCESS);
}
