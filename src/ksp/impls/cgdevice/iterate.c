/*
  iterate.c - a solve by the engine. Iteration 0 is done by PETSc's own calls, in the order of KSPSolve_CG(), so that
  initial guesses, tolerances relative to whatever norm, and tests of the first norm are PETSc's. Then the engine does
  as many iterations as nobody has to look at, and PETSc is told their norms in order.
*/
#include "cgdevice.h"
#include <math.h>

/* Who looks at iterations */
typedef struct {
  PetscBool own_test; /* a convergence test that the engine does not know: PETSc calls it after each iteration */
  PetscBool sees_x;   /* a monitor or test may look at the solution or the residual in each iteration */
  PetscBool norms;    /* somebody wants every norm */
  int64_t   step;     /* iterations that are done at a time */
} Watch;

static PetscErrorCode WatchGet(KSP ksp, Watch *watch)
{
  PetscFunctionBegin;
  watch->own_test =
      ksp->converged != KSPConvergedDefault && ksp->converged != KSPConvergedSkip ? PETSC_TRUE : PETSC_FALSE;
  watch->sees_x = watch->own_test;
  for (PetscInt i = 0; i < ksp->numbermonitors; i++) {
    const AIJFmtFunction monitor = (AIJFmtFunction)ksp->monitor[i];
    /* These two use the iteration and its norm alone */
    if (monitor != (AIJFmtFunction)KSPMonitorResidual && monitor != (AIJFmtFunction)KSPMonitorResidualDrawLG)
      watch->sees_x = PETSC_TRUE;
  }
  watch->norms = ksp->numbermonitors || ksp->res_hist || watch->own_test ? PETSC_TRUE : PETSC_FALSE;
  if (watch->sees_x) watch->step = 1;
  else if (ksp->numbermonitors) watch->step = CGDEV_MONITOR_STEP;
  else watch->step = watch->norms ? CGDEV_HISTORY : INT64_MAX;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first norm. Where it, or the scalar product that it is made of, is not a number, the macros set a reason and
   return. */
static PetscErrorCode FirstNorm(KSP ksp, Vec R, Vec Z, PetscReal *norm)
{
  PetscScalar beta;

  PetscFunctionBegin;
  *norm = 0;
  if (ksp->normtype == KSP_NORM_PRECONDITIONED) {
    PetscCall(KSP_PCApply(ksp, R, Z));
    PetscCall(VecNorm(Z, NORM_2, norm));
    KSPCheckNorm(ksp, *norm);
  } else if (ksp->normtype == KSP_NORM_UNPRECONDITIONED) {
    PetscCall(VecNorm(R, NORM_2, norm));
    KSPCheckNorm(ksp, *norm);
  } else if (ksp->normtype == KSP_NORM_NATURAL) {
    PetscCall(KSP_PCApply(ksp, R, Z));
    PetscCall(VecTDot(Z, R, &beta));
    KSPCheckDot(ksp, beta);
    *norm = PetscSqrtReal(PetscAbsScalar(beta));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FirstIteration(KSP ksp)
{
  Vec       R = ksp->work[0], Z = ksp->work[1];
  PetscReal norm;
  Mat       A;

  PetscFunctionBegin;
  ksp->its = 0;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  if (!ksp->guess_zero) {
    PetscCall(KSP_MatMult(ksp, A, ksp->vec_sol, R));
    PetscCall(VecAYPX(R, -1, ksp->vec_rhs));
  } else PetscCall(VecCopy(ksp->vec_rhs, R));
  PetscCall(FirstNorm(ksp, R, Z, &norm));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, 0, norm));
  ksp->rnorm = norm;
  PetscCall((*ksp->converged)(ksp, 0, norm, &ksp->reason, ksp->cnvP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A test of the caller, and KSPConvergedSkip(), never end the engine by a norm */
static SpmvCgTest TestOf(KSP ksp)
{
  static const SpmvCgNorm norms[] = {[KSP_NORM_NONE]             = SPMV_CG_NORM_NONE,
                                     [KSP_NORM_PRECONDITIONED]   = SPMV_CG_PRECONDITIONED,
                                     [KSP_NORM_UNPRECONDITIONED] = SPMV_CG_UNPRECONDITIONED,
                                     [KSP_NORM_NATURAL]          = SPMV_CG_NATURAL};
  const PetscBool         engine  = ksp->converged == KSPConvergedDefault ? PETSC_TRUE : PETSC_FALSE;

  return (SpmvCgTest){.norm           = norms[ksp->normtype],
                      .tolerance      = engine ? (double)ksp->ttol : -1,
                      .absolute       = (double)ksp->abstol,
                      .divergence     = engine ? (double)(ksp->divtol * ksp->rnorm0) : INFINITY,
                      .min_iterations = AIJFmtKSPMinimum(ksp),
                      .max_iterations = ksp->max_it,
                      .check_after    = ksp->chknorm,
                      .max_is_success = ksp->converged == KSPConvergedSkip};
}

/* PETSc's own words and reasons for a sum or norm that is not a number */
static PetscErrorCode NotANumber(KSP ksp, double norm)
{
  PetscFunctionBegin;
  if (!isfinite(norm) && ksp->normtype != KSP_NORM_NATURAL) KSPCheckNorm(ksp, (PetscReal)norm);
  KSPCheckDot(ksp, (PetscScalar)NAN);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The end of a solve for a reason that PETSc's test of the last norm has not given */
static PetscErrorCode End(KSP ksp, const SpmvCgResult *result)
{
  PetscFunctionBegin;
  ksp->its = (PetscInt)result->iterations;
  switch (result->reason) {
  case SPMV_CG_ITERATING:
    break;
  case SPMV_CG_RTOL:
    ksp->reason = KSP_CONVERGED_RTOL;
    break;
  case SPMV_CG_ATOL:
  case SPMV_CG_BREAKDOWN:
    ksp->reason = KSP_CONVERGED_ATOL;
    break;
  case SPMV_CG_ITERATIONS:
    ksp->reason = KSP_CONVERGED_ITS;
    break;
  case SPMV_CG_DIVERGED_ITERATIONS:
    ksp->reason = KSP_DIVERGED_ITS;
    break;
  case SPMV_CG_DIVERGED_TOLERANCE:
    ksp->reason = KSP_DIVERGED_DTOL;
    break;
  case SPMV_CG_INDEFINITE_PC:
    ksp->reason = KSP_DIVERGED_INDEFINITE_PC;
    break;
  case SPMV_CG_INDEFINITE_MATRIX:
    ksp->reason = AIJFmtKSPIndefinite(ksp);
    break;
  case SPMV_CG_DIVERGED_NOT_A_NUMBER:
    PetscCall(NotANumber(ksp, result->norm));
    break;
  }
  if (ksp->reason)
    PetscCall(PetscInfo(ksp, "the device ends: %s after %" PetscInt_FMT " iterations\n",
                        KSPConvergedReasons[ksp->reason], ksp->its));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells PETSc the norms of iterations first .. result->completed, and asks its test about the last: the engine's test
   is the same, but PETSc's says more in -info, and counts a maximum of iterations as success where it was told to */
static PetscErrorCode Tell(KSP ksp, KSP_CGDevice *s, const Watch *watch, int64_t first, const SpmvCgResult *result)
{
  const int64_t count = result->completed - first + 1;
  double        norms[CGDEV_MONITOR_STEP];

  PetscFunctionBegin;
  if (count < 1) PetscFunctionReturn(PETSC_SUCCESS);
  for (int64_t done = 0; watch->norms && done < count;) {
    const int64_t n = PetscMin(count - done, CGDEV_MONITOR_STEP);

    AIJFmtCallSpmv(&s->exec, spmv_cg_history(s->engine, first + done, n, norms, &s->exec));
    for (int64_t i = 0; i < n; i++) {
      ksp->its   = (PetscInt)(first + done + i);
      ksp->rnorm = (PetscReal)norms[i];
      PetscCall(KSPLogResidualHistory(ksp, ksp->rnorm));
      PetscCall(KSPMonitor(ksp, ksp->its, ksp->rnorm));
    }
    done += n;
  }
  ksp->its = (PetscInt)result->completed;
  if (isfinite(result->norm)) ksp->rnorm = (PetscReal)result->norm;
  if (watch->own_test || (result->reason != SPMV_CG_ITERATING && result->iterations == result->completed))
    PetscCall((*ksp->converged)(ksp, ksp->its, ksp->rnorm, &ksp->reason, ksp->cnvP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One call of the engine; what it did is in result */
static PetscErrorCode RunOnce(KSP ksp, KSP_CGDevice *s, const Watch *watch, SpmvCgResult *result)
{
  const int64_t before = result->completed;
  SpmvStatus    status;
  SpmvCgInfo    info;

  PetscFunctionBegin;
  PetscCall(CGDevVectorBegin(&s->x));
  PetscCall(CGDevVectorBegin(&s->r));
  PetscCall(PetscLogGpuTimeBegin());
  status = spmv_cg_run(s->engine, watch->step, result, &s->exec);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(CGDevVectorEnd(&s->r));
  PetscCall(CGDevVectorEnd(&s->x));
  if (status) result->completed = before;
  spmv_cg_info(s->engine, &info);
  /* A refusal before the first iteration leaves the solution as it was where that is on the host, or where the graph
     could not be made; then KSPCG can begin anew. */
  if (before == 0 && (s->x.staged || (s->used == KSP_CGDEVICE_GRAPH && info.graphs == 0))) CGDevTry(s, status);
  AIJFmtCallSpmv(&s->exec, status);
  PetscCall(AIJFmtLogGpuFlops((double)(result->completed - before) * (2.0 * s->product.nonzeros + info.flops)));
  s->residual_away = s->r.staged;
  if (watch->sees_x || result->reason != SPMV_CG_ITERATING) PetscCall(CGDevVectorFetch(s, &s->x));
  PetscCall(Tell(ksp, s, watch, before + 1, result));
  if (!ksp->reason) PetscCall(End(ksp, result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Start(KSP ksp, KSP_CGDevice *s)
{
  const SpmvCgTest test = TestOf(ksp);
  SpmvStatus       status;

  PetscFunctionBegin;
  PetscCall(CGDevVectorSend(s, &s->x));
  PetscCall(CGDevVectorSend(s, &s->r));
  PetscCall(CGDevVectorBegin(&s->x));
  PetscCall(CGDevVectorBegin(&s->r));
  status = spmv_cg_start(s->engine, s->x.data, s->r.data, s->pc.values, &test, &s->exec);
  PetscCall(CGDevVectorEnd(&s->r));
  PetscCall(CGDevVectorEnd(&s->x));
  CGDevTry(s, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Leaves a reason in s->reason, and the solution and the residual history as they were, where the engine refused */
PetscErrorCode CGDevIterate(KSP ksp, KSP_CGDevice *s)
{
  SpmvCgResult result        = {.completed = 0};
  const size_t history_begin = (size_t)ksp->res_hist_len;
  Watch        watch;

  PetscFunctionBegin;
  PetscCall(WatchGet(ksp, &watch));
  PetscCall(FirstIteration(ksp));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Start(ksp, s));
  PetscCall(PetscLogEventBegin(KSP_CGDeviceLoop, ksp, 0, 0, 0));
  while (!ksp->reason && !s->reason[0]) PetscCall(RunOnce(ksp, s, &watch, &result));
  PetscCall(PetscLogEventEnd(KSP_CGDeviceLoop, ksp, 0, 0, 0));
  if (s->reason[0]) ksp->res_hist_len = history_begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}
