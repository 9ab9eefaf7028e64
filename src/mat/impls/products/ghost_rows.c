/*
  ghost_rows.c - rows of a matrix B in device memory that other processes own: B_g of matmat_parallel.c, and the rows of
  a tentative prolongator.

  The owner packs the rows on the device, with the columns of the whole matrix. They travel through page-locked memory of
  the host, the columns only once.
*/
#include "matmat.h"
#include "parallel/neighbours.h"
#include "parallel/processes.h"

struct AIJFmtGhostRowsStruct {
  PetscPackNeighbours rows, entries;
  void        *wanted; /* device memory: the numbers of the rows that other processes want, and row_ptr of packed */
  void        *row;
  PetscScalar *here[2]; /* one page-locked block: the entries of packed and of csr, as they lie on the device */
  void        *block;   /* device memory of the entries, and of row_ptr of csr */
  SpmvCsr      packed;  /* the wanted rows, and those of other processes: with the columns of the whole matrix */
  SpmvCsr      csr;
};

const SpmvCsr *AIJFmtGhostRowsCsr(AIJFmtGhostRows g) { return &g->csr; }

/* Entries lie in one block, so that one copy serves: values, then columns, from an even place on, where any type may lie */
static PetscInt *GhostColumns(PetscScalar *values, int64_t n) { return (PetscInt *)(values + n + n % 2); }
static int64_t   GhostBytes(int64_t n, PetscBool columns)
{
  return (n + n % 2) * (int64_t)(sizeof(PetscScalar) + (columns ? sizeof(PetscInt) : 0));
}

/* Copies the numbers row [n] of the wanted rows to the device, and gets their lengths; 0 if that fails */
static PetscErrorCode LengthsGet(AIJFmtGhostRows g, PetscInt n, const PetscInt row[], const SpmvCsr *B, SpmvExec *exec,
                                 PetscInt lengths[], SpmvStatus *status)
{
  const int64_t bytes[] = {n * (int64_t)sizeof *row, (n + 1) * (int64_t)sizeof *lengths};
  void         *row_ptr = NULL;
  void **const  array[] = {&g->row, &row_ptr};

  PetscFunctionBegin;
  *status   = SPMV_SUCCESS;
  g->packed = AIJFmtCsrOnDevice(n, B->pattern.cols, 0, NULL, NULL, NULL);
  if (n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  *status = spmv_alloc_arrays(exec, SPMV_DEVICE, 2, bytes, "wanted rows", array, &g->wanted);
  if (!*status) *status = spmv_copy(g->row, SPMV_DEVICE, row, SPMV_HOST, bytes[0], exec);
  if (!*status) *status = spmv_csr_rows_begin(&B->pattern, n, g->row, row_ptr, exec);
  if (!*status) PetscCall(AIJFmtFetch(exec, row_ptr, SPMV_DEVICE, bytes[1], lengths, status));
  for (PetscInt r = 0; r < n; r++) lengths[r] = *status ? 0 : lengths[r + 1] - lengths[r];
  g->packed.pattern.row_ptr = row_ptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates memory for the entries. row_ptr [rows + 1]: of the rows that come */
static SpmvStatus EntriesAlloc(AIJFmtGhostRows g, PetscInt rows, PetscInt cols, const PetscInt row_ptr[],
                               SpmvExec *exec)
{
  const int64_t sent = PetscPackItems(&g->entries->out), received = PetscPackItems(&g->entries->in);
  const int64_t bytes[] = {(rows + 1) * (int64_t)sizeof *row_ptr, GhostBytes(sent, PETSC_TRUE),
                           GhostBytes(received, PETSC_TRUE)};
  void         *row_ptr_there, *packed, *came;
  void **const  array[] = {&row_ptr_there, &packed, &came};
  SpmvStatus    status  = spmv_alloc_arrays(exec, SPMV_DEVICE, 3, bytes, "ghost rows", array, &g->block);

  if (!status) status = spmv_pinned_alloc(exec, bytes[1] + bytes[2], (void **)&g->here[0]);
  if (status) return status;
  g->here[1]            = (PetscScalar *)((char *)g->here[0] + bytes[1]);
  g->packed.pattern.col = GhostColumns(packed, sent);
  g->packed.values      = packed;
  g->csr                = AIJFmtCsrOnDevice(rows, cols, received, row_ptr_there, GhostColumns(came, received), came);
  return spmv_copy(row_ptr_there, SPMV_DEVICE, row_ptr, SPMV_HOST, bytes[0], exec);
}

/* Packs and exchanges values and, with columns, the columns, whose numbers are given. *status: of this process; it becomes
   that of all processes, except that of the last copy, which only a failed device refuses. Collective. */
static PetscErrorCode EntriesExchange(AIJFmtGhostRows g, const SpmvCsr *B, PetscBool columns, SpmvCooNumbers number,
                                      SpmvExec *exec, SpmvStatus *status)
{
  const int64_t sent = PetscPackItems(&g->entries->out), received = PetscPackItems(&g->entries->in),
                bytes = GhostBytes(received, columns);
  SpmvCsr to          = g->packed;

  PetscFunctionBegin;
  if (!columns) to.pattern.col = NULL;
  if (!*status) *status = spmv_csr_rows(B, g->row, number.number, number.first, &to, exec);
  /* it also waits for the last copy from here[1] */
  if (!*status) PetscCall(AIJFmtFetch(exec, to.values, SPMV_DEVICE, GhostBytes(sent, columns), g->here[0], status));
  *status = PetscPackAgreeStatus(g->rows->comm, exec, *status);
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscPackExchange(g->entries, MPIU_SCALAR, g->here[0], g->here[1]));
  if (columns)
    PetscCall(
        PetscPackExchange(g->entries, MPIU_INT, GhostColumns(g->here[0], sent), GhostColumns(g->here[1], received)));
  *status = spmv_copy((void *)g->csr.values, SPMV_DEVICE, g->here[1], SPMV_HOST, bytes, exec);
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the rows `needed` [n], ascending numbers of the layout, of a matrix whose local rows are B, with `cols` columns on
   all processes; number: those of the columns of B, which ascend. Collective; of *status see EntriesExchange(). */
PetscErrorCode AIJFmtGhostRowsMake(PetscLayout layout, PetscInt n, const PetscInt needed[], const SpmvCsr *B,
                                   SpmvCooNumbers number, PetscInt cols, SpmvExec *exec, AIJFmtGhostRows *ghost,
                                   SpmvStatus *status)
{
  PetscInt       *row = NULL, *lengths, *row_ptr, wanted; /* gcc does not see that row is set */
  AIJFmtGhostRows g;

  PetscFunctionBegin;
  PetscCall(PetscNew(&g));
  *ghost = g;
  PetscCall(PetscPackNeighboursFromOwners(layout, n, needed, &g->rows, &row));
  wanted = (PetscInt)PetscPackItems(&g->rows->out);
  PetscCall(PetscMalloc2((size_t)wanted + 1, &lengths, (size_t)n + 1, &row_ptr));
  PetscCall(LengthsGet(g, wanted, row, B, exec, lengths, status));
  PetscCall(PetscFree(row));
  PetscCall(PetscPackExchange(g->rows, MPIU_INT, lengths, row_ptr + 1));
  PetscCall(PetscPackNeighboursOfParts(g->rows, lengths, row_ptr + 1, &g->entries));
  row_ptr[0] = 0;
  for (PetscInt r = 0; r < n; r++) row_ptr[r + 1] += row_ptr[r];
  if (!*status) *status = EntriesAlloc(g, n, cols, row_ptr, exec);
  PetscCall(PetscFree2(lengths, row_ptr));
  PetscCall(EntriesExchange(g, B, PETSC_TRUE, number, exec, status));
  if (*status) PetscCall(AIJFmtGhostRowsDestroy(ghost, exec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the values of the rows again. Collective; of *status see EntriesExchange(). */
PetscErrorCode AIJFmtGhostRowsFill(AIJFmtGhostRows g, const SpmvCsr *B, SpmvExec *exec, SpmvStatus *status)
{
  PetscFunctionBegin;
  *status = SPMV_SUCCESS;
  PetscCall(EntriesExchange(g, B, PETSC_FALSE, (SpmvCooNumbers){NULL, 0}, exec, status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtGhostRowsDestroy(AIJFmtGhostRows *ghost, SpmvExec *exec)
{
  AIJFmtGhostRows g = *ghost;

  PetscFunctionBegin;
  *ghost = NULL;
  if (!g) PetscFunctionReturn(PETSC_SUCCESS);
  spmv_pinned_free(g->here[0]);
  spmv_exec_free(exec, SPMV_DEVICE, g->wanted);
  spmv_exec_free(exec, SPMV_DEVICE, g->block);
  PetscCall(PetscPackNeighboursDestroy(&g->rows));
  PetscCall(PetscPackNeighboursDestroy(&g->entries));
  PetscCall(PetscFree(g));
  PetscFunctionReturn(PETSC_SUCCESS);
}
