/*
  aggdevice_smooth_parallel.c - the columns of a smoothed prolongator that other processes own: -1.4 / lambda D^-1 A_o P_g,
  where A_o is the off-diagonal block of A, and P_g has the rows of P0 that A_o needs. Aggregates do not reach across
  processes, so P0 has no such columns.
*/
#include "aggdevice.h"
#include "mat/impls/products/matmat.h"
#include "parallel/processes.h"

/* Gets P_g, with the columns of the whole matrix P */
static PetscErrorCode GhostsGet(const PC_AggDevice *a, Mat A, Mat P, AIJFmtGhostRows *ghost, SpmvExec *exec,
                                SpmvStatus *status)
{
  const SpmvCooNumbers columns = {NULL, P->cmap->rstart};
  const PetscInt      *needed;
  Mat                  block;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &block, &needed));
  PetscCall(AIJFmtGhostRowsMake(P->rmap, block->cmap->n, needed, &a->p0, columns, P->cmap->N, exec, ghost, status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A CSR of the device without nonzeros, which the caller frees as scratch memory */
static PetscErrorCode NothingMake(PetscInt rows, PetscInt cols, SpmvCsr *nothing, SpmvExec *exec, SpmvStatus *status)
{
  const int64_t bytes = (rows + 1) * (int64_t)sizeof(PetscInt);
  PetscInt     *zeros;
  void         *row_ptr;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(rows + 1, &zeros));
  *status = spmv_alloc(exec, SPMV_DEVICE, bytes, "row pointers", &row_ptr);
  if (!*status) *status = spmv_copy(row_ptr, SPMV_DEVICE, zeros, SPMV_HOST, bytes, exec);
  PetscCall(PetscFree(zeros));
  *nothing = AIJFmtCsrOnDevice(rows, cols, 0, row_ptr, NULL, NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *others becomes this block of P, whose sizes are set; diagonal: of A, on the device. Collective. */
PetscErrorCode AggDevOthersSmooth(const PC_AggDevice *a, Mat A, Mat P, double omega, const void *diagonal,
                                  AggDevSmoothed *others, SpmvExec *exec, SpmvStatus *status)
{
  AIJFmtArrays    of_A    = {.parts = 0};
  AIJFmtGhostRows ghost   = NULL; /* gcc does not see that it is set whenever the call succeeds */
  SpmvCsr         nothing = {.scalar_type = AIJFMT_SCALAR};
  Mat             block;

  PetscFunctionBegin;
  PetscCall(GhostsGet(a, A, P, &ghost, exec, status));
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &block, NULL));
  PetscCall(AIJFmtArraysGet(block, AIJFMT_PATTERN | AIJFMT_VALUES, AIJFMT_READ, exec, &of_A, status));
  if (!*status) PetscCall(NothingMake(A->rmap->n, P->cmap->N, &nothing, exec, status));
  if (!*status)
    *status = AggDevSmoothStep(omega, diagonal, &of_A.csr, AIJFmtGhostRowsCsr(ghost), &nothing, NULL, others, exec);
  if (!*status) PetscCall(AggDevSmoothLog(others));
  spmv_scratch_free(exec, SPMV_DEVICE, (void *)nothing.pattern.row_ptr);
  PetscCall(AIJFmtArraysRestore(block, exec, &of_A, NULL));
  PetscCall(AIJFmtGhostRowsDestroy(&ghost, exec));
  PetscFunctionReturn(PETSC_SUCCESS);
}
