/*
  cg_iterate.c - a solve by the engine. Iteration 0 consists of PETSc's own calls in the order of KSPSolve_CG(), so that
  initial guesses, relative tolerances of every kind, and the test of the first norm are PETSc's. Only a multigrid cycle
  is applied by the engine in iteration 0, too. Then the engine runs until a monitor or a convergence test needs the
  host, and PETSc receives the norms in order.
*/
#include "cgdevice.h"
#include <math.h>

/* The norm of the residual in s->r.vec. If the norm, or the scalar product that it is computed from, is not a number, the
   macros set a reason and return. */
PetscErrorCode CGDevNorm(KSP ksp, KSP_CGDevice *s, PetscReal *norm)
{
  const Vec   R = s->r.vec;
  Vec         Z = NULL; /* gcc does not see that it is set */
  PetscScalar beta;

  PetscFunctionBegin;
  *norm = 0;
  if (ksp->normtype == KSP_NORM_PRECONDITIONED || ksp->normtype == KSP_NORM_NATURAL)
    PetscCall(KSPDevWork(ksp, KSPDEV(s), 1, &Z));
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

/* The residual before the first iteration, in s->r.vec */
static PetscErrorCode FirstResidual(KSP ksp, KSP_CGDevice *s)
{
  const Vec R = s->r.vec;
  Mat       A;

  PetscFunctionBegin;
  ksp->its = 0;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  if (!ksp->guess_zero) {
    PetscCall(KSP_MatMult(ksp, A, ksp->vec_sol, R));
    PetscCall(VecAYPX(R, -1, ksp->vec_rhs));
  } else if (R != ksp->vec_rhs) PetscCall(VecCopy(ksp->vec_rhs, R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The convergence test for the iterations of this engine */
static SpmvTest TestOfEngine(KSP ksp, const KSP_CGDevice *s, const CGDevRun *run)
{
  SpmvTest test = KSPDevTest(ksp, &run->watch);

  if (s->mixed.on && test.tolerance >= 0) test.tolerance = (double)CGDevMixedTolerance(ksp, run);
  test.min_iterations -= run->offset;
  test.max_iterations = PetscMin(test.max_iterations - run->offset, run->limit);
  test.check_after -= run->offset;
  return test;
}

/* Sets PETSc's own message and reason for a sum or norm that is not a number */
static PetscErrorCode NormNotANumber_CGDevice(KSP ksp, double norm)
{
  PetscFunctionBegin;
  if (!isfinite(norm) && ksp->normtype != KSP_NORM_NATURAL) KSPCheckNorm(ksp, (PetscReal)norm);
  KSPCheckDot(ksp, (PetscScalar)NAN);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Translates the engine's reason, unless PETSc's test of the last norm has given one; the solve may also go on */
static PetscErrorCode ReasonSet_CGDevice(KSP ksp, const CGDevRun *run)
{
  const SpmvCgResult *result = &run->result;

  PetscFunctionBegin;
  ksp->its = (PetscInt)(run->offset + result->iterations);
  if (result->reason == SPMV_DIVERGED_NOT_A_NUMBER) PetscCall(NormNotANumber_CGDevice(ksp, result->norm));
  else KSPDevSetReason(ksp, result->reason, KSP_CONVERGED_ATOL);
  if (ksp->reason)
    PetscCall(PetscInfo(ksp, "the device ends: %s after %" PetscInt_FMT " iterations\n",
                        KSPConvergedReasons[ksp->reason], ksp->its));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Calls PETSc's test for the last iteration. The engine's test has the same result, but PETSc's prints more with -info,
   and may count the maximum number of iterations as success. */
static PetscErrorCode TestLast(KSP ksp, const CGDevRun *run)
{
  const SpmvCgResult *result = &run->result;

  PetscFunctionBegin;
  ksp->its = (PetscInt)(run->offset + result->completed);
  if (isfinite(result->norm)) ksp->rnorm = (PetscReal)result->norm;
  if (run->watch.user_test || (result->reason != SPMV_ITERATING && result->iterations == result->completed))
    PetscCall((*ksp->converged)(ksp, ksp->its, ksp->rnorm, &ksp->reason, ksp->cnvP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FirstConclude_CGDevice(KSP ksp, KSP_CGDevice *s, CGDevRun *run)
{
  const double norm = run->result.first;

  PetscFunctionBegin;
  if (!isfinite(norm)) PetscCall(NormNotANumber_CGDevice(ksp, norm));
  else PetscCall(KSPDevTestFirst(ksp, KSPDEV(s), &run->watch, (PetscReal)norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Handles the result of a call of the engine. before: iterations completed before the call */
static PetscErrorCode RunConclude_CGDevice(KSP ksp, KSP_CGDevice *s, CGDevRun *run, int64_t before)
{
  const SpmvCgResult *result = &run->result;
  const PetscBool     check  = s->mixed.on && result->reason != SPMV_ITERATING ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  if (!run->watch.begun) PetscCall(FirstConclude_CGDevice(ksp, s, run));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  if (run->watch.want_norms)
    PetscCall(KSPDevTellNorms(ksp, KSPDEV(s), run->offset, before + 1, result->completed - (check ? 1 : 0)));
  if (check) PetscCall(CGDevMixedCheck(ksp, s, run, before));
  else if (result->completed > before) PetscCall(TestLast(ksp, run));
  if (!ksp->reason && !s->reason[0]) PetscCall(ReasonSet_CGDevice(ksp, run));
  KSPDevSingleCheck(ksp, KSPDEV(s), result->completed, result->norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Number of cycles in a call of the engine: one per iteration, but none for an iteration that ended the solve by a test
   of r */
static int64_t CyclesOf(KSP ksp, const SpmvCgOptions *o, const SpmvCgResult *result, int64_t before)
{
  const PetscBool of_r  = ksp->normtype == KSP_NORM_NONE || ksp->normtype == KSP_NORM_UNPRECONDITIONED;
  const PetscBool early = of_r && !o->single_reduction;
  const PetscBool ended = result->reason != SPMV_ITERATING && result->iterations == result->completed;

  return result->completed - before - (early && ended && result->completed > before ? 1 : 0);
}

/* One call of the engine; run->result tells the outcome */
static PetscErrorCode RunOnce_CGDevice(KSP ksp, KSP_CGDevice *s, CGDevRun *run)
{
  const int64_t   before       = run->result.completed;
  const SpmvTest  test         = TestOfEngine(ksp, s, run);
  const PetscBool waits_inside = s->several || s->engine_options.apply_waits ? PETSC_TRUE : PETSC_FALSE;
  SpmvStatus      status;
  SpmvCgInfo      info;

  PetscFunctionBegin;
  PetscCall(AIJFmtVectorBegin(&s->x));
  PetscCall(AIJFmtVectorBegin(&s->r));
  /* MatMult() of several processes and PETSc's coarsest solver have timers of their own, and timers do not nest */
  if (!waits_inside) PetscCall(PetscLogGpuTimeBegin());
  status = spmv_cg_run(s->engine, run->watch.begun ? run->watch.step : run->watch.first, &test, &run->result, &s->exec);
  if (!waits_inside) PetscCall(PetscLogGpuTimeEnd());
  PetscCall(AIJFmtVectorEnd(&s->r));
  PetscCall(AIJFmtVectorEnd(&s->x));
  if (status) run->result.completed = before;
  spmv_cg_info(s->engine, &info);
  KSPDevTryAll(ksp, s, status);
  PetscCall(AIJFmtLogGpuFlops((double)(run->result.completed - before) * (2.0 * s->matrix.nonzeros + info.flops)));
  if (s->pc.kind == SPMV_PC_FUNCTION)
    PetscCall(KSPDevCountApplies(KSPDEV(s), CyclesOf(ksp, &s->engine_options, &run->result, before)));
  s->residual_away = s->r.staged;
  if (run->watch.sees_x && run->result.completed > before) PetscCall(AIJFmtVectorFetch(&s->exec, &s->x));
  PetscCall(RunConclude_CGDevice(ksp, s, run, before));
  if (!run->watch.sees_x && ksp->reason) PetscCall(AIJFmtVectorFetch(&s->exec, &s->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings the residual of the engine to the host, never into the right-hand side */
PetscErrorCode CGDevResidualFetch(KSP ksp, KSP_CGDevice *s)
{
  PetscFunctionBegin;
  PetscCall(KSPDevWork(ksp, KSPDEV(s), 0, &s->r.vec));
  PetscCall(AIJFmtVectorFetch(&s->exec, &s->r));
  s->residual_away = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Starts the engine from the solution in ksp->vec_sol and the residual in s->r.vec */
PetscErrorCode CGDevStart(KSP ksp, KSP_CGDevice *s)
{
  static const SpmvCgNorm norms[] = {[KSP_NORM_NONE]             = SPMV_CG_NORM_NONE,
                                     [KSP_NORM_PRECONDITIONED]   = SPMV_CG_PRECONDITIONED,
                                     [KSP_NORM_UNPRECONDITIONED] = SPMV_CG_UNPRECONDITIONED,
                                     [KSP_NORM_NATURAL]          = SPMV_CG_NATURAL};
  SpmvStatus              status;

  PetscFunctionBegin;
  PetscCall(AIJFmtVectorSend(&s->exec, &s->x));
  PetscCall(AIJFmtVectorSend(&s->exec, &s->r));
  PetscCall(AIJFmtVectorBegin(&s->x));
  PetscCall(AIJFmtVectorBegin(&s->r));
  status = spmv_cg_start(s->engine, s->x.data, s->r.data, s->pc.values, norms[ksp->normtype], &s->exec);
  PetscCall(AIJFmtVectorEnd(&s->r));
  PetscCall(AIJFmtVectorEnd(&s->x));
  KSPDevTryAll(ksp, s, status);
  s->residual_away = s->r.staged;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iteration 0 if the preconditioner is a cycle on the device: the engine gives the first norm */
static PetscErrorCode StartByCycle(KSP ksp, KSP_CGDevice *s)
{
  PetscFunctionBegin;
  PetscCall(CGDevStart(ksp, s));
  if (!s->reason[0]) PetscCall(KSPDevCountApplies(KSPDEV(s), 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StartByPetsc(KSP ksp, KSP_CGDevice *s, CGDevRun *run)
{
  PetscReal norm;

  PetscFunctionBegin;
  run->watch.relative = PETSC_FALSE;
  PetscCall(CGDevNorm(ksp, s, &norm));
  if (!ksp->reason) PetscCall(KSPDevTestFirst(ksp, KSPDEV(s), &run->watch, norm));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  CGDevMixedInit(ksp, run);
  PetscCall(CGDevStart(ksp, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If the engine refuses, leaves a reason in s->reason, and the solution and the residual history unchanged */
PetscErrorCode CGDevIterate(KSP ksp, KSPDevice *device)
{
  const size_t  history_begin = (size_t)ksp->res_hist_len;
  KSP_CGDevice *s             = (KSP_CGDevice *)device;
  CGDevRun      run           = {.limit = INT64_MAX};

  PetscFunctionBegin;
  s->residual_away = PETSC_FALSE;
  s->value_unknown = PETSC_TRUE;
  PetscCall(KSPDevWatchBegin(ksp, device, &run.watch));
  KSPDevEngineBegin(KSPDEV(s));
  PetscCall(FirstResidual(ksp, s));
  if (s->pc.kind == SPMV_PC_FUNCTION) PetscCall(StartByCycle(ksp, s));
  else PetscCall(StartByPetsc(ksp, s, &run));
  while (!ksp->reason && !s->reason[0]) PetscCall(RunOnce_CGDevice(ksp, s, &run));
  PetscCall(KSPDevEngineEnd(ksp, KSPDEV(s), history_begin));
  PetscFunctionReturn(PETSC_SUCCESS);
}
