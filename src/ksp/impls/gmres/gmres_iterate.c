/*
  gmres_iterate.c - a solve by the engine. It runs until a monitor or a convergence test needs the host; then PETSc
  receives the norms in order.
*/
#include "gmresdevice.h"
#include <math.h>

/* Sets PETSc's own message and reason for a norm that is not a number */
static PetscErrorCode NormNotANumber_GMRESDevice(KSP ksp, double norm)
{
  PetscFunctionBegin;
  KSPCheckNorm(ksp, (PetscReal)norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Translates the engine's reason, unless PETSc's test of the last norm has given one; the solve may also go on */
static PetscErrorCode ReasonSet_GMRESDevice(KSP ksp, const SpmvGmresResult *result)
{
  PetscFunctionBegin;
  if (result->reason == SPMV_DIVERGED_NOT_A_NUMBER) PetscCall(NormNotANumber_GMRESDevice(ksp, result->norm));
  else KSPDevSetReason(ksp, result->reason, KSP_CONVERGED_HAPPY_BREAKDOWN);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the solution after the last call of the engine to `to`. If the device cannot give it, `to` gets a solution of
   fewer iterations, and there is a reason to solve on the host. */
static PetscErrorCode SolutionLook_GMRESDevice(KSP ksp, KSP_GMRESDevice *s, Vec to)
{
  SpmvStatus status;

  PetscFunctionBegin;
  PetscCall(VecCopy(ksp->vec_sol, to));
  PetscCall(AIJFmtVectorPlace(&s->exec, &s->seen, to, &status));
  KSPDevTryAll(ksp, s, status);
  PetscCall(AIJFmtVectorBegin(&s->x));
  PetscCall(AIJFmtVectorBegin(&s->seen));
  status = spmv_gmres_solution(s->engine, s->seen.data, &s->exec);
  PetscCall(AIJFmtVectorEnd(&s->seen));
  PetscCall(AIJFmtVectorEnd(&s->x));
  KSPDevTryAll(ksp, s, status);
  PetscCall(AIJFmtVectorFetch(&s->exec, &s->seen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The test of the first norm, in the order of KSPGMRESCycle() */
static PetscErrorCode FirstConclude_GMRESDevice(KSP ksp, KSP_GMRESDevice *s, KSPDevWatch *watch, double norm)
{
  PetscFunctionBegin;
  if (!isfinite(norm)) PetscCall(NormNotANumber_GMRESDevice(ksp, norm));
  else PetscCall(KSPDevTestFirst(ksp, KSPDEV(s), watch, (PetscReal)norm));
  if (norm == 0) ksp->reason = KSP_CONVERGED_ATOL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Handles the result of a call of the engine. PETSc's test of the last norm is called too: it prints more with -info,
   and it decides, except that a breakdown stays a breakdown. */
static PetscErrorCode RunConclude_GMRESDevice(KSP ksp, KSP_GMRESDevice *s, KSPDevWatch *watch,
                                              const SpmvGmresResult *result, int64_t before)
{
  const PetscBool tested =
      watch->user_test || (result->reason != SPMV_ITERATING && result->reason != SPMV_BREAKDOWN &&
                           result->reason != SPMV_DIVERGED_BREAKDOWN && result->reason != SPMV_DIVERGED_NOT_A_NUMBER)
          ? PETSC_TRUE
          : PETSC_FALSE;
  Vec last;

  PetscFunctionBegin;
  if (!watch->begun) PetscCall(FirstConclude_GMRESDevice(ksp, s, watch, result->first));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  if (watch->want_norms) PetscCall(KSPDevTellNorms(ksp, KSPDEV(s), 0, before + 1, result->iterations));
  ksp->its = (PetscInt)result->iterations;
  if (isfinite(result->norm)) ksp->rnorm = (PetscReal)result->norm;
  if (tested && result->iterations > before)
    PetscCall((*ksp->converged)(ksp, ksp->its, ksp->rnorm, &ksp->reason, ksp->cnvP));
  if (!ksp->reason) PetscCall(ReasonSet_GMRESDevice(ksp, result));
  if (ksp->reason && s->running) { /* ended by the program's test: x does not contain all iterations yet */
    PetscCall(KSPDevWork(ksp, KSPDEV(s), 0, &last));
    PetscCall(SolutionLook_GMRESDevice(ksp, s, last));
    s->running = PETSC_FALSE;
    PetscCall(VecCopy(last, ksp->vec_sol));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Builds the solution of the last norm, for monitors and tests. The version of KSPGMRES adds its own basis to x, so it
   is called only in a solve by KSPGMRES. */
PetscErrorCode KSPBuildSolution_GMRESDevice(KSP ksp, Vec v, Vec *V)
{
  KSP_GMRESDevice *s;

  PetscFunctionBegin;
  PetscCall(KSPDevStateGet(ksp, &GMRESDevClass, &s));
  if (s->used == KSP_DEVICE_HOST) {
    PetscCall(s->parent.buildsolution(ksp, v, V));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (s->running && !v) PetscCall(KSPDevWork(ksp, KSPDEV(s), 1, &v));
  if (s->running) PetscCall(SolutionLook_GMRESDevice(ksp, s, v));
  else if (v) PetscCall(VecCopy(ksp->vec_sol, v));
  if (V) *V = v ? v : ksp->vec_sol;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One call of the engine */
static PetscErrorCode RunOnce_GMRESDevice(KSP ksp, KSP_GMRESDevice *s, KSPDevWatch *watch, SpmvGmresResult *result)
{
  const int64_t   before       = result->iterations;
  const SpmvTest  test         = KSPDevTest(ksp, watch);
  const PetscBool waits_inside = s->engine_options.apply_waits ? PETSC_TRUE : PETSC_FALSE;
  SpmvGmresInfo   info;
  SpmvStatus      status;

  PetscFunctionBegin;
  PetscCall(AIJFmtVectorBegin(&s->x));
  if (!waits_inside)
    PetscCall(PetscLogGpuTimeBegin()); /* PETSc's coarsest solver has a timer of its own, and timers do not nest */
  status = spmv_gmres_run(s->engine, watch->begun ? watch->step : watch->first, &test, result, &s->exec);
  if (!waits_inside) PetscCall(PetscLogGpuTimeEnd());
  PetscCall(AIJFmtVectorEnd(&s->x));
  KSPDevTryAll(ksp, s, status);
  spmv_gmres_info(s->engine, &info);
  PetscCall(AIJFmtLogGpuFlops((double)(result->iterations - before) * (2.0 * s->matrix.nonzeros + info.flops)));
  if (s->pc.kind == SPMV_PC_FUNCTION) PetscCall(KSPDevCountApplies(KSPDEV(s), result->iterations - before));
  s->running = result->reason == SPMV_ITERATING && result->iterations > 0 ? PETSC_TRUE : PETSC_FALSE;
  if (result->reason != SPMV_ITERATING) PetscCall(AIJFmtVectorFetch(&s->exec, &s->x));
  PetscCall(RunConclude_GMRESDevice(ksp, s, watch, result, before));
  KSPDevSingleCheck(ksp, KSPDEV(s), result->iterations, result->norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveStart_GMRESDevice(KSP ksp, KSP_GMRESDevice *s)
{
  SpmvStatus status;

  PetscFunctionBegin;
  ksp->its = 0;
  PetscCall(AIJFmtVectorSend(&s->exec, &s->x));
  PetscCall(AIJFmtVectorBegin(&s->x));
  status = spmv_gmres_start(s->engine, s->x.data, s->b.data, s->pc.values, ksp->guess_zero, &s->exec);
  PetscCall(AIJFmtVectorEnd(&s->x));
  KSPDevTryAll(ksp, s, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If the engine refuses, leaves a reason in s->reason, and the solution and the residual history unchanged */
PetscErrorCode GMRESDevIterate(KSP ksp, KSPDevice *device)
{
  const size_t     history_begin = (size_t)ksp->res_hist_len;
  KSP_GMRESDevice *s             = (KSP_GMRESDevice *)device;
  SpmvGmresResult  result        = {.iterations = 0};
  KSPDevWatch      watch;

  PetscFunctionBegin;
  PetscCall(KSPDevWatchBegin(ksp, device, &watch));
  PetscCall(AIJFmtVectorGet(&s->exec, &s->b, ksp->vec_rhs, AIJFMT_READ));
  s->running = PETSC_FALSE;
  KSPDevEngineBegin(KSPDEV(s));
  PetscCall(SolveStart_GMRESDevice(ksp, s));
  while (!ksp->reason && !s->reason[0]) PetscCall(RunOnce_GMRESDevice(ksp, s, &watch, &result));
  s->running = PETSC_FALSE;
  PetscCall(AIJFmtVectorRestore(&s->exec, &s->b));
  PetscCall(KSPDevEngineEnd(ksp, KSPDEV(s), history_begin));
  PetscFunctionReturn(PETSC_SUCCESS);
}
