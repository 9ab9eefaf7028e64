/* watch.c - which callbacks need the host between iterations, and what they are told. */
#include "device.h"

/* Which monitors and tests need the host between iterations, and how often */
PetscErrorCode KSPDevWatchBegin(KSP ksp, KSPDevWatch *watch)
{
  PetscFunctionBegin;
  watch->user_test =
      ksp->converged != KSPConvergedDefault && ksp->converged != KSPConvergedSkip ? PETSC_TRUE : PETSC_FALSE;
  watch->sees_x = watch->user_test;
  for (PetscInt i = 0; i < ksp->numbermonitors; i++) {
    const AIJFmtFunction monitor = (AIJFmtFunction)ksp->monitor[i];
    /* These two use the iteration and its norm alone */
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
