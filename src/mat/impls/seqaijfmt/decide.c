/*
  decide.c - whether an operation on a matrix runs on the GPU, and what happens where it does not.
*/
#include "seqaijfmt.h"
#include "sys/private.h"

enum { SPARE_BYTES = 64 << 20 /* of device memory that a CSR must leave free */ };

/* ---- to the CSR on the device ---- */

/* Whether A is a product that PETSc computes on the host, which does not mark the device's values as stale */
static PetscBool IsHostMatMat(Mat A)
{
  return A->product && A->ops->productnumeric && A->ops->productnumeric != aijfmt_process.numeric_gpu ? PETSC_TRUE
                                                                                                      : PETSC_FALSE;
}

/* Whether a CSR of A fits into the free device memory; if not, values_reason says so */
static PetscErrorCode HasMemory(Mat A, Mat_AIJFmt *s, const char operation[], PetscBool *has)
{
  SpmvPattern pattern;
  int64_t     free_bytes, total, bytes;

  PetscFunctionBegin;
  *has = PETSC_TRUE;
  if (s->device_csr_used) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtHostPatternGet(A, &pattern));
  bytes = spmv_csr_bytes(&pattern, AIJFMT_SCALAR);
  PetscCall(AIJFmtHostPatternRestore(A, &pattern));
  AIJFmtCallSpmv(&s->exec, spmv_device_memory(&free_bytes, &total, &s->exec));
  if (bytes + SPARE_BYTES <= free_bytes) PetscFunctionReturn(PETSC_SUCCESS);
  *has = PETSC_FALSE;
  PetscCall(PetscSNPrintf(s->values_reason, sizeof s->values_reason,
                          "%s: a CSR of %lld bytes does not fit into the %lld that are free on the GPU", operation,
                          (long long)bytes, (long long)free_bytes));
  PetscCall(PetscInfo(A, "values stay on the host: %s\n", s->values_reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether there is a plan on the GPU with the current values, from which the CSR on the device can be filled */
static PetscBool PlanHasValues(Mat A, const Mat_AIJFmt *s)
{
  const SpmvPlan *plan = AIJFmtPlanOnGpu(s);

  return plan && !plan->format->borrows && plan->nnz > 0 ? AIJFmtTruthGet(A, s).plan : PETSC_FALSE;
}

/* Whether transition 10 is possible. It is not if the parent has made a CSR that this class has not seen: its pattern
   may be an old one. */
static PetscBool IsFillable(Mat A, const Mat_AIJFmt *s)
{
  return AIJFmtParentHasCsr(A, s) || !PetscPackCusparseCsrExists(A) ? PlanHasValues(A, s) : PETSC_FALSE;
}

/* Transition 10. The values do not change, so the state is kept and the plan stays current. *filled is false if memory
   is short; the parent then uploads. */
static PetscErrorCode Fill(Mat A, Mat_AIJFmt *s, PetscBool *filled)
{
  const PetscObjectState state = ((PetscObject)A)->state;
  AIJFmtArrays           to    = {.stays = PETSC_TRUE};
  SpmvStatus             status, unused;

  PetscFunctionBegin;
  PetscCall(AIJFmtCudaStream(&s->exec));
  PetscCall(AIJFmtArraysGet(A, AIJFMT_VALUES, AIJFMT_WRITE, &s->exec, &to, &unused));
  status = spmv_extract_values(s->cache.plan, to.values, SPMV_DEVICE, &s->exec);
  PetscCall(AIJFmtArraysRestore(A, &s->exec, &to, &status));
  PetscCall(PetscObjectStateSet((PetscObject)A, state));
  AIJFmtOffloadSet(A, status ? PETSC_OFFLOAD_CPU : PETSC_OFFLOAD_BOTH);
  if (status != SPMV_ERR_MEMORY) AIJFmtCallSpmv(&s->exec, status);
  *filled = status ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether an operation runs on the device CSR although that is stale and must be updated first */
static PetscBool GoesToDevice(Mat A, const Mat_AIJFmt *s, AIJFmtWish wish)
{
  if (wish == AIJFMT_WANTS) return PETSC_TRUE;
  if (!AIJFmtPlanOnGpu(s)) return PETSC_FALSE;
  if (wish == AIJFMT_WANTS_WITH_PLAN) return PETSC_TRUE;
  return IsFillable(A, s) || s->joint_changes > 0 ? PlanHasValues(A, s) : PETSC_FALSE;
}

/* Updates a stale device CSR for an operation: from the plan, or else the parent uploads the values on first use */
static PetscErrorCode BringValues(Mat A, Mat_AIJFmt *s, const char operation[])
{
  PetscBool filled = PETSC_FALSE;

  PetscFunctionBegin;
  if (IsFillable(A, s)) PetscCall(Fill(A, s, &filled));
  PetscCall(PetscInfo(A, "values go to the CSR on the GPU for %s, from %s\n", operation,
                      filled ? "the packed arrays there" : "the host"));
  if (!filled) AIJFmtParentCsrStale(A);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before transition 2: decides whether an operation runs on the device CSR. If it does, a stale device CSR is filled
   from the plan, or else by the parent when the operation asks for the arrays. */
PetscErrorCode AIJFmtDeviceCsrDecide(Mat A, Mat_AIJFmt *s, const char operation[], AIJFmtWish wish, PetscBool *device)
{
  PetscBool has;

  PetscFunctionBegin;
  *device = PETSC_FALSE;
  if (!AIJFmtIsOverCuda(s)) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->class_options.value[AIJFMT_DEVICE] == AIJFMT_ON_HOST || s->keeps_host || AIJFmtBoundToCPU(A) ||
      A->structure_only || A->factortype || AIJFmtHashActive(A) || !A->assembled || IsHostMatMat(A))
    PetscFunctionReturn(PETSC_SUCCESS);
  if (!AIJFmtTruthGet(A, s).device_csr) {
    if (!GoesToDevice(A, s, wish)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HasMemory(A, s, operation, &has));
    if (!has) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(BringValues(A, s, operation));
  } else AIJFmtParentCsrSeen(A, s);
  PetscCall(PetscSNPrintf(s->values_reason, sizeof s->values_reason, "since %s", operation));
  s->device_csr_used = PETSC_TRUE;
  *device            = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
