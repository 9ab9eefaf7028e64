/*
  aggdevice_smooth.c - smooths the tentative prolongator, P = P0 - 1.4 / lambda D^-1 A P0, without a matrix for P0 or A
  P0: both stay on the device, and only P becomes a matrix of PETSc. aggdevice_smooth_parallel.c has the columns of
  other processes.
*/
#include "aggdevice.h"
#include "mat/impls/aij/aijfmt.h"
#include "parallel/processes.h"

void AggDevSmoothedFree(AggDevSmoothed *p, SpmvExec *exec)
{
  spmv_spgemm_destroy(&p->product);
  spmv_scratch_free(exec, SPMV_DEVICE, p->values);
  p->values = NULL;
}

/* to = p0 - omega D^-1 A from, which the caller frees. known: blocks of A and from */
SpmvStatus AggDevSmoothStep(double omega, const void *diagonal, const SpmvCsr *A, const SpmvCsr *from,
                            const SpmvCsr *p0, const SpmvBlocks *known, AggDevSmoothed *to, SpmvExec *exec)
{
  SpmvStatus status;

  *to    = (AggDevSmoothed){.csr = *from};
  status = spmv_spgemm_symbolic_blocks(SPMV_SPGEMM_AB, &A->pattern, &from->pattern, known, AIJFMT_SCALAR, exec,
                                       &to->product);
  if (status) return status;
  spmv_spgemm_pattern(to->product, &to->csr.pattern);
  status = spmv_alloc(exec, SPMV_DEVICE, to->csr.pattern.nnz * (int64_t)sizeof(PetscScalar), "values of a prolongator",
                      &to->values);
  if (!status) status = spmv_spgemm_numeric(to->product, A->values, from->values, to->values, exec);
  if (!status) status = spmv_prolongator_smooth(omega, diagonal, p0, &to->csr.pattern, to->values, exec);
  to->csr.values = to->values;
  if (status) AggDevSmoothedFree(to, exec);
  return status;
}

PetscErrorCode AggDevSmoothLog(const AggDevSmoothed *p)
{
  int64_t bytes, scratch;
  double  flops;

  PetscFunctionBegin;
  spmv_spgemm_info(p->product, &bytes, &scratch, &flops);
  PetscCall(AIJFmtLogGpuFlops(flops + 2 * (double)p->csr.pattern.nnz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All smoothing steps by the sequential matrix or diagonal block A, with products in scratch memory. diagonal: of A, on
   the device; status: why the device could not do them */
static PetscErrorCode Steps(PC_AggDevice *a, Mat A, const void *diagonal, double omega, AggDevSmoothed *p,
                            SpmvExec *scratch, SpmvStatus *status)
{
  AIJFmtArrays of_A = {.parts = 0};

  PetscFunctionBegin;
  PetscCall(AIJFmtArraysGet(A, AIJFMT_PATTERN | AIJFMT_VALUES, AIJFMT_READ, &a->exec, &of_A, status));
  if (*status) PetscCall(PetscStrncpy(scratch->message, a->exec.message, sizeof scratch->message));
  for (PetscInt i = 0; i < a->options.smooths && !*status; i++) {
    AggDevSmoothed next;
    SpmvBlocks     known[2];

    known[0] = of_A.blocks;
    known[1] = i > 0 ? spmv_spgemm_blocks(p->product) : a->p0_blocks;
    *status  = AggDevSmoothStep(omega, diagonal, &of_A.csr, &p->csr, &p->csr, known, &next, scratch);
    if (*status) break;
    AggDevSmoothedFree(p, scratch);
    *p = next;
    PetscCall(AggDevSmoothLog(p));
  }
  PetscCall(AIJFmtArraysRestore(A, &a->exec, &of_A, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes P from a CSR on the device, and on several processes from the columns of others, too */
PetscErrorCode AggDevToMatrix(Mat P, const SpmvCsr *mine, const SpmvCsr *others, SpmvExec *exec)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)P), &size));
  if (size == 1) PetscCall(AIJFmtFromDevice(P, mine, exec));
  else {
    const SpmvCsr block[] = {*mine, *others};

    PetscCall(AIJFmtParallelFromDevice(P, block, exec));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *mine and *others become the blocks of P; on failure all processes have a reason */
static PetscErrorCode SmoothBlocks(PC pc, PC_AggDevice *a, Mat A, Mat P, AggDevSmoothed *mine, AggDevSmoothed *others,
                                   SpmvExec *scratch, char reason[SPMV_MESSAGE_MAX])
{
  const MPI_Comm comm  = PetscObjectComm((PetscObject)A);
  Mat            block = A;
  PetscReal      largest;
  PetscMPIInt    size;
  void          *diagonal;
  SpmvStatus     status;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size > 1) PetscCall(MatMPIAIJGetSeqAIJ(A, &block, NULL, NULL));
  status = spmv_alloc(scratch, SPMV_DEVICE, A->rmap->n * (int64_t)sizeof(PetscScalar), "diagonal", &diagonal);
  if (!status) PetscCall(AIJFmtDiagonalCopy(scratch, block, diagonal, &status));
  PetscCall(AggDevLargestGet(pc, a, A, status ? NULL : diagonal, &largest));
  if (!status) PetscCall(Steps(a, block, diagonal, 1.4 / (double)largest, mine, scratch, &status));
  if (size > 1) {
    status = PetscPackAgreeStatus(comm, scratch, status);
    if (!status) PetscCall(AggDevOthersSmooth(a, A, P, 1.4 / (double)largest, diagonal, others, scratch, &status));
  }
  spmv_scratch_free(scratch, SPMV_DEVICE, diagonal);
  PetscCall(PetscPackRefuse(comm, scratch, &status, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P0 is on the device; P becomes a matrix, equal to P0 if there is a reason */
static PetscErrorCode SmoothThere(PC pc, PC_AggDevice *a, Mat A, Mat P, char reason[SPMV_MESSAGE_MAX])
{
  AggDevSmoothed mine = {.csr = a->p0}, others = {.product = NULL};
  SpmvExec       scratch = spmv_scratch_exec(&a->exec);

  PetscFunctionBegin;
  PetscCall(AggDevSetTypeLike(A, P));
  PetscCall(SmoothBlocks(pc, a, A, P, &mine, &others, &scratch, reason));
  if (!reason[0]) PetscCall(AggDevToMatrix(P, &mine.csr, &others.csr, &a->exec));
  else PetscCall(AggDevTentativeToMatrix(P, &a->p0, &a->exec));
  if (!reason[0]) PetscCall(AIJFmtBlocksSet(P, spmv_spgemm_blocks(mine.product))); /* nothing if P is parallel */
  AggDevSmoothedFree(&mine, &a->exec);
  AggDevSmoothedFree(&others, &a->exec);
  PetscCall(AggDevForgetTentative(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* agg smooths a prolongator; why: "" if the level is not on the GPU */
static PetscErrorCode SmoothByAgg(PC pc, PC_AggDevice *a, Mat A, Mat *P, const char why[])
{
  PetscFunctionBegin;
  if (a->options.smooths > 0) a->info.prolongators_agg++;
  if (a->options.smooths > 0 && why[0]) {
    PetscCall(PetscInfo(pc, "a prolongator smoothed by agg: %s\n", why));
    PetscCall(PetscStrncpy(a->reason, why, sizeof a->reason));
  }
  if (AIJFmtGamgFilters(PetscPackGamg(pc))) PetscCall(AggDevDataToHost(pc, a));
  PetscCall((*a->agg.ops.optprolongator)(pc, A, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *WhyMatrix(PC pc, const PC_AggDevice *a)
{
  if (!a->ours || a->exec.space == SPMV_HOST) return "";
  if (AIJFmtGamgFilters(PetscPackGamg(pc))) return "the filter of prolongators is agg's";
  if (a->options.smooths > 1) return "several processes smooth on the GPU if there is one step";
  return "a process cannot make a matrix of this type on the GPU";
}

/* If P0 is on the device, *P has only its sizes; otherwise *P is P0 */
PetscErrorCode AggDevOptProlongator(PC pc, Mat A, Mat *P)
{
  char          reason[SPMV_MESSAGE_MAX] = "";
  PC_AggDevice *a;

  PetscFunctionBegin;
  PetscCall(AggDevGet(pc, &a));
  if (!a->p0_there) {
    PetscCall(SmoothByAgg(pc, a, A, P, WhyMatrix(pc, a)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogEventBegin(AggDev_Smooth, pc, A, 0, 0));
  PetscCall(SmoothThere(pc, a, A, *P, reason));
  PetscCall(PetscLogEventEnd(AggDev_Smooth, pc, A, 0, 0));
  if (reason[0]) {
    PetscCall(SmoothByAgg(pc, a, A, P, reason));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  a->info.prolongators_device++;
  PetscCall(MatViewFromOptions(*P, NULL, "-pc_gamg_agg_view_prolongation"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
