/*
  aggdevice_smooth.c - smooths the tentative prolongator, P = P0 - 1.4 / lambda D^-1 A P0, without a matrix for P0 or A
  P0: both stay on the device, and only P becomes a matrix of PETSc.
*/
#include "aggdevice.h"

/* A prolongator on the device: P0, or the result of the last smoothing step */
typedef struct {
  SpmvCsr     csr;
  SpmvSpgemm *product; /* gave the pattern of csr, or NULL */
  void       *values;  /* of the product */
} Smoothed;

static void SmoothedFree(Smoothed *p, SpmvExec *exec)
{
  spmv_spgemm_destroy(&p->product);
  spmv_scratch_free(exec, SPMV_DEVICE, p->values);
  p->values = NULL;
}

/* p becomes p - omega D^-1 A p; stays unchanged on failure */
static SpmvStatus Step(double omega, const void *diagonal, const SpmvCsr *A, Smoothed *p, SpmvExec *exec)
{
  Smoothed   next = {.csr = p->csr};
  SpmvStatus status;

  status = spmv_spgemm_symbolic(SPMV_SPGEMM_AB, &A->pattern, &p->csr.pattern, AIJFMT_SCALAR, exec, &next.product);
  if (status) return status;
  spmv_spgemm_pattern(next.product, &next.csr.pattern);
  status = spmv_alloc(exec, SPMV_DEVICE, next.csr.pattern.nnz * (int64_t)sizeof(PetscScalar), "values of a prolongator",
                      &next.values);
  if (!status) status = spmv_spgemm_numeric(next.product, A->values, p->csr.values, next.values, exec);
  if (!status) status = spmv_prolongator_smooth(omega, diagonal, &p->csr, &next.csr.pattern, next.values, exec);
  if (!status) {
    next.csr.values = next.values;
    SmoothedFree(p, exec);
    *p = next;
  } else SmoothedFree(&next, exec);
  return status;
}

static PetscErrorCode LogFlops(const Smoothed *p)
{
  int64_t bytes, scratch;
  double  flops;

  PetscFunctionBegin;
  spmv_spgemm_info(p->product, &bytes, &scratch, &flops);
  PetscCall(AIJFmtLogGpuFlops(flops + 2 * (double)p->csr.pattern.nnz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All smoothing steps, with products in scratch memory. diagonal: of A, on the device; status: why the device could not do
   them */
static PetscErrorCode Steps(PC_AggDevice *a, Mat A, const void *diagonal, PetscReal largest, Smoothed *p,
                            SpmvExec *scratch, SpmvStatus *status)
{
  AIJFmtArrays of_A = {.parts = 0};

  PetscFunctionBegin;
  PetscCall(AIJFmtArraysGet(A, AIJFMT_PATTERN | AIJFMT_VALUES, AIJFMT_READ, &a->exec, &of_A, status));
  for (PetscInt i = 0; i < a->options.smooths && !*status; i++) {
    *status = Step(1.4 / (double)largest, diagonal, &of_A.csr, p, scratch);
    if (!*status) PetscCall(LogFlops(p));
  }
  PetscCall(AIJFmtArraysRestore(A, &a->exec, &of_A, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Smooth(PC pc, PC_AggDevice *a, Mat A, Mat P, char reason[SPMV_MESSAGE_MAX])
{
  Smoothed     p       = {.csr = a->p0};
  SpmvExec     scratch = spmv_scratch_exec(&a->exec);
  AIJFmtVector staged  = {.vec = NULL};
  PetscReal    largest;
  Vec          diagonal;
  SpmvStatus   vector, status;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &diagonal, NULL));
  PetscCall(MatGetDiagonal(A, diagonal));
  PetscCall(AIJFmtVectorTry(&scratch, &staged, diagonal, AIJFMT_READ, &vector));
  PetscCall(AggDevLargestGet(pc, a, A, diagonal, vector ? NULL : staged.data, &largest));
  status = vector;
  if (!vector) {
    PetscCall(Steps(a, A, staged.data, largest, &p, &scratch, &status));
    PetscCall(AIJFmtVectorGive(&scratch, &staged, &status));
  }
  AIJFmtVectorFree(&scratch, &staged);
  PetscCall(VecDestroy(&diagonal));
  if (scratch.message[0]) PetscCall(PetscMemcpy(a->exec.message, scratch.message, sizeof scratch.message));
  PetscCall(AIJFmtRefuse(&a->exec, status, reason));
  if (!reason[0]) PetscCall(AIJFmtFromDevice(P, &p.csr, &a->exec));
  SmoothedFree(&p, &a->exec);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P0 is on the device; P becomes a matrix, equal to P0 if there is a reason */
static PetscErrorCode SmoothThere(PC pc, PC_AggDevice *a, Mat A, Mat P, char reason[SPMV_MESSAGE_MAX])
{
  PetscFunctionBegin;
  PetscCall(MatSetType(P, ((PetscObject)A)->type_name));
  PetscCall(MatBindToCPU(P, AIJFmtBoundToCPU(A)));
  PetscCall(Smooth(pc, a, A, P, reason));
  if (reason[0]) PetscCall(AIJFmtFromDevice(P, &a->p0, &a->exec));
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
  return "several processes smooth on the GPU if there is one step, and P0 has no row of another process";
}

/* If P0 is on the device, *P has only its sizes; otherwise *P is P0 */
PetscErrorCode AggDevOptProlongator(PC pc, Mat A, Mat *P)
{
  char          reason[SPMV_MESSAGE_MAX] = "";
  PetscBool     blocks                   = PETSC_FALSE;
  PC_AggDevice *a;

  PetscFunctionBegin;
  PetscCall(AggDevGet(pc, &a));
  if (!a->p0_block) PetscCall(AggDevSmoothsBlocks(pc, a, *P, &blocks));
  if (!a->p0_block && !blocks) {
    PetscCall(SmoothByAgg(pc, a, A, P, WhyMatrix(pc, a)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogEventBegin(AggDev_Smooth, pc, A, 0, 0));
  if (blocks) PetscCall(AggDevSmoothBlocks(pc, a, A, P, reason));
  else PetscCall(SmoothThere(pc, a, A, *P, reason));
  PetscCall(PetscLogEventEnd(AggDev_Smooth, pc, A, 0, 0));
  if (reason[0]) {
    PetscCall(SmoothByAgg(pc, a, A, P, reason));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!blocks) a->info.prolongators_device++;
  PetscCall(MatViewFromOptions(*P, NULL, "-pc_gamg_agg_view_prolongation"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
