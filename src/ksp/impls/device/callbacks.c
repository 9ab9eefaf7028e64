/* callbacks.c - which callbacks need the host between iterations, the reports to them, and the end. */
#include "kspdevice.h"
#include <math.h>

/* Which monitors and tests need the host between iterations, and how often. With a nonzero initial guess
   KSPConvergedDefault() makes the tolerance of the norm of the right-hand side, after the engine's first norm. */
PetscErrorCode KSPDevWatchBegin(KSP ksp, const KSPDevice *s, KSPDevWatch *watch)
{
  const PetscBool standard = ksp->converged == KSPConvergedDefault ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  watch->user_test = !standard && ksp->converged != KSPConvergedSkip ? PETSC_TRUE : PETSC_FALSE;
  watch->sees_x    = watch->user_test;
  for (PetscInt i = 0; i < ksp->numbermonitors; i++) {
    const AIJFmtFunction monitor = (AIJFmtFunction)ksp->monitor[i];
    /* these two use the iteration number and its norm only */
    if (monitor != (AIJFmtFunction)KSPMonitorResidual && monitor != (AIJFmtFunction)KSPMonitorResidualDrawLG)
      watch->sees_x = PETSC_TRUE;
  }
  watch->want_norms = ksp->numbermonitors || ksp->res_hist || watch->user_test ? PETSC_TRUE : PETSC_FALSE;
  if (watch->sees_x) watch->step = 1;
  else if (ksp->numbermonitors) watch->step = KSPDEV_MONITOR_STEP;
  else watch->step = watch->want_norms ? KSPDEV_HISTORY : INT64_MAX;
  if (s->single && ksp->normtype != KSP_NORM_NONE) watch->step = PetscMin(watch->step, MGDEV_LOOK);
  watch->relative = standard && (ksp->guess_zero || ((const KSPConvergedDefaultCtx *)ksp->cnvP)->initialrtol)
                        ? PETSC_TRUE
                        : PETSC_FALSE;
  watch->first    = watch->sees_x || (standard && !watch->relative) ? 0 : watch->step;
  watch->begun    = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives PETSc the norm of iteration 0 */
PetscErrorCode KSPDevTestFirst(KSP ksp, KSPDevice *s, KSPDevWatch *watch, PetscReal norm)
{
  PetscFunctionBegin;
  watch->begun = PETSC_TRUE;
  MGDevNormsBegin(&s->norms, 0, norm);
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, 0, norm));
  ksp->rnorm = norm;
  PetscCall((*ksp->converged)(ksp, 0, norm, &ksp->reason, ksp->cnvP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDevTellNorm(KSP ksp, PetscInt iteration, PetscReal norm)
{
  PetscFunctionBegin;
  ksp->its   = iteration;
  ksp->rnorm = norm;
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, iteration, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The test of the engine. With a user's test or KSPConvergedSkip(), the engine tests no norm. */
SpmvTest KSPDevTest(KSP ksp, const KSPDevWatch *watch)
{
  const PetscBool engine = ksp->converged == KSPConvergedDefault ? PETSC_TRUE : PETSC_FALSE;
  const PetscReal scale  = watch->relative ? 1 : ksp->rnorm0;

  return (SpmvTest){.untested       = ksp->normtype == KSP_NORM_NONE,
                    .relative       = watch->relative,
                    .tolerance      = !engine ? -1 : (double)(watch->relative ? ksp->rtol : ksp->ttol),
                    .absolute       = (double)ksp->abstol,
                    .divergence     = engine ? (double)(ksp->divtol * scale) : INFINITY,
                    .min_iterations = AIJFmtKSPMinimum(ksp),
                    .max_iterations = ksp->max_it,
                    .check_after    = ksp->chknorm,
                    .max_is_success = ksp->converged == KSPConvergedSkip};
}

/* Translates the engine's reason, except for a norm that is not a number. breakdown: PETSc's reason for a breakdown,
   which depends on the method */
void KSPDevSetReason(KSP ksp, SpmvReason reason, KSPConvergedReason breakdown)
{
  const struct {
    SpmvReason         of_engine;
    KSPConvergedReason of_ksp;
  } words[] = {{SPMV_RTOL, KSP_CONVERGED_RTOL},
               {SPMV_ATOL, KSP_CONVERGED_ATOL},
               {SPMV_ITERATIONS, KSP_CONVERGED_ITS},
               {SPMV_BREAKDOWN, breakdown},
               {SPMV_DIVERGED_ITERATIONS, KSP_DIVERGED_ITS},
               {SPMV_DIVERGED_TOLERANCE, KSP_DIVERGED_DTOL},
               {SPMV_DIVERGED_BREAKDOWN, KSP_DIVERGED_BREAKDOWN},
               {SPMV_INDEFINITE_PC, KSP_DIVERGED_INDEFINITE_PC},
               {SPMV_INDEFINITE_MATRIX, AIJFmtKSPIndefinite(ksp)}};

  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (words[i].of_engine == reason) ksp->reason = words[i].of_ksp;
}
