/*
  single.c - solves preconditioned by a multigrid cycle in single precision. If that may be the cause of a failure, the
  solve starts over in double precision, because the basis belongs to one preconditioner.
*/
#include "gmresdevice.h"
#include <math.h>

/* After the first norm: sets how often norms are checked */
void GMRESDevSingleWatch(KSP ksp, KSP_GMRESDevice *s, KSPDevWatch *watch)
{
  if (!s->single || ksp->normtype == KSP_NORM_NONE) return;
  watch->step = PetscMin(watch->step, MGDEV_LOOK);
  MGDevNormsBegin(&s->norms, 0, ksp->rnorm);
}

/* Checks the cycle after a call of the engine */
void GMRESDevSingleCheck(KSP ksp, KSP_GMRESDevice *s, const SpmvGmresResult *result)
{
  const char *why;

  if (!s->single || ksp->normtype == KSP_NORM_NONE || !isfinite(result->norm)) return;
  why = MGDevNormsTell(&s->norms, (PetscInt)result->iterations, (PetscReal)result->norm);
  if (!why || ksp->reason) return;
  s->fault    = why;
  ksp->reason = KSP_DIVERGED_BREAKDOWN;
}

/* Iterates after s was prepared; repeats the solve in double precision if single precision is not good enough */
PetscErrorCode GMRESDevSolve(KSP ksp, KSP_GMRESDevice *s)
{
  PetscErrorCode error;
  MGDevTrial     trial;
  PetscBool      again;

  PetscFunctionBegin;
  PetscCall(KSPDevPCIsSingle(KSPDEV(s), &s->single));
  if (!s->single) {
    PetscCall(GMRESDevIterate(ksp, s));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  s->fault = NULL;
  PetscCall(MGDevTrialBegin(ksp, &trial));
  error = GMRESDevIterate(ksp, s);
  if (!s->fault && !s->reason[0]) s->fault = MGDevNormsEnd(&s->norms, ksp);
  PetscCall(MGDevTrialEnd(ksp, &trial, error ? NULL : s->fault, s->multigrid, &again));
  PetscCall(error);
  if (!again) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MGDevHierarchyUpdate(s->multigrid, ksp->pc, s->reason));
  PetscCall(MGDevTrialAgain(ksp, &trial));
  if (!s->reason[0]) PetscCall(GMRESDevPrepare(ksp, s));
  s->single = PETSC_FALSE;
  if (!s->reason[0]) PetscCall(GMRESDevIterate(ksp, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
