/* callbacks.c - which callbacks need the host between iterations, the reports to them, and the end. */
#include "kspdevice.h"
#include <math.h>

/* Which monitors and tests need the host between iterations, and how often */
PetscErrorCode KSPDevWatchBegin(KSP ksp, KSPDevWatch *watch)
{
  PetscFunctionBegin;
  watch->user_test =
      ksp->converged != KSPConvergedDefault && ksp->converged != KSPConvergedSkip ? PETSC_TRUE : PETSC_FALSE;
  watch->sees_x = watch->user_test;
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
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDevTestFirst(KSP ksp, PetscReal norm)
{
  PetscFunctionBegin;
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
SpmvTest KSPDevTest(KSP ksp, PetscReal tolerance)
{
  const PetscBool engine = ksp->converged == KSPConvergedDefault ? PETSC_TRUE : PETSC_FALSE;

  return (SpmvTest){.untested       = ksp->normtype == KSP_NORM_NONE,
                    .tolerance      = engine ? (double)tolerance : -1,
                    .absolute       = (double)ksp->abstol,
                    .divergence     = engine ? (double)(ksp->divtol * ksp->rnorm0) : INFINITY,
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
