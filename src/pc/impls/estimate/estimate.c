/*
  estimate.c - an estimate by src/kernels/extremes, with the plan that A has on the device, in place of a KSPSolve() of
  PETSc: the same iterations, from the same right-hand side.
*/
#include "estimate.h"

static PetscLogEvent estimate_event;

/* An option of solvers for estimates that the device does not have, with any prefix: PETSc finds options by several */
static PetscErrorCode OtherOption(PetscOptions options, char why[SPMV_MESSAGE_MAX])
{
  static const char *const ours[] = {"ksp_type ", "ksp_max_it ", "steps ", "noisy "}; /* the last two of KSPCHEBYSHEV */
  char                    *all, *at;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetAll(options, &all));
  PetscCall(PetscStrstr(all, "esteig_", &at));
  while (at && !why[0]) {
    PetscBool known = PETSC_FALSE;

    at += sizeof "esteig_" - 1;
    for (int i = 0; i < 4 && !known; i++) PetscCall(PetscStrbeginswith(at, ours[i], &known));
    if (!known) PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX, "an option, esteig_%.40s", at));
    PetscCall(PetscStrstr(at, "esteig_", &at));
  }
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* call: the product with A, or a reason */
static PetscErrorCode ProductGet(Mat A, Vec x, int steps, SpmvOperator *call, const char **why)
{
  AIJFmtPlanOnDevice found;
  MatNullSpace       null;
  PetscMPIInt        size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(MatGetNullSpace(A, &null));
  if (size > 1) *why = "several processes";
  else if (null) *why = "the matrix has a null space";
  else if (steps < 1 || steps > SPMV_EXTREMES_STEPS) *why = "the number of iterations is not 1 to 30";
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtDevicePlan(A, x, &found));
  *call = (SpmvOperator){.plan = found.plan, .work = found.work};
  if (found.why_host) *why = found.why_host;
  else if (!found.plan) *why = "the matrix has no plan on the device";
  else if (spmv_operator_waits(call)) *why = "the plan is partly on the host";
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackEstimateBegin(PetscObject about, Mat A, Vec x, SpmvExtremesOptions *o, SpmvOperator *call,
                                      char why[SPMV_MESSAGE_MAX])
{
  const char *reason = NULL;

  PetscFunctionBegin;
  PetscCall(OtherOption(about->options, why));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ProductGet(A, x, o->steps, call, &reason));
  if (reason) PetscCall(PetscStrncpy(why, reason, SPMV_MESSAGE_MAX));
  o->rows        = A->rmap->n;
  o->scalar_type = AIJFMT_SCALAR;
  o->product     = spmv_operator_product;
  o->product_ctx = call;
  o->tolerance   = PetscMax(o->tolerance, 10 * (double)PETSC_MACHINE_EPSILON);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackEstimate(PetscObject about, Mat A, const SpmvExtremesOptions *o, SpmvExec *exec,
                                 SpmvExtremes *found, char why[SPMV_MESSAGE_MAX])
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(estimate_event, about, A, 0, 0));
  PetscCall(AIJFmtRefuse(exec, spmv_extremes(o, exec, found), why));
  PetscCall(PetscLogEventEnd(estimate_event, about, A, 0, 0));
  if (!why[0])
    PetscCall(PetscInfo(about, "eigenvalues estimated on the device: %g to %g\n", found->least, found->largest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackEstimateRegister(void)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventRegister("PackEstimateEig", PC_CLASSID, &estimate_event));
  PetscFunctionReturn(PETSC_SUCCESS);
}
