/*
  single.c - solves preconditioned by a multigrid cycle in single precision, with everything else in double.

  Up to rounding the cycle is a linear operator, and CG takes as many iterations as with a cycle in double precision. If
  rounding does harm, numbers overflow, (r, M r) loses its sign, or the norm hardly falls. Then the solve goes on in
  double precision from the current solution, and later solves with that nonzero pattern use double precision.
*/
#include "cgdevice.h"

/* After iteration 0: sets how often the norm is checked */
PetscErrorCode CGDevSingleWatch(KSP ksp, KSP_CGDevice *s, CGDevRun *run)
{
  PetscBool on;

  PetscFunctionBegin;
  PetscCall(KSPDevPCIsSingle(KSPDEV(s), &on));
  if (on && ksp->normtype != KSP_NORM_NONE) run->watch.step = PetscMin(run->watch.step, MGDEV_LOOK);
  MGDevNormsBegin(&run->norms, 0, ksp->rnorm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes to the hierarchy in double precision, unless the residual in ksp->work[0] is not finite, for which the cycle
   is not to blame. s->reason tells if that hierarchy cannot be made. */
static PetscErrorCode Leave(KSP ksp, KSP_CGDevice *s, const char why[], PetscBool *left)
{
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(VecNorm(ksp->work[0], NORM_INFINITY, &norm));
  *left = PetscIsInfOrNanReal(norm) ? PETSC_FALSE : PETSC_TRUE;
  if (!*left) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MGDevHierarchyDecline(s->multigrid, ksp->pc, why));
  PetscCall(MGDevHierarchyUpdate(s->multigrid, ksp->pc, s->reason));
  PetscCall(KSPDevAgree(ksp, KSPDEV(s)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Handles a norm of iteration 0 that is not a number, before anything was computed. left: the solve must start over,
   with an engine whose cycle is in double precision. */
PetscErrorCode CGDevSingleFirst(KSP ksp, KSP_CGDevice *s, PetscBool *left)
{
  PetscFunctionBegin;
  PetscCall(KSPDevPCIsSingle(KSPDEV(s), left));
  if (*left) PetscCall(Leave(ksp, s, "the first norm was not a number", left));
  if (*left && !s->reason[0]) PetscCall(CGDevEngineGet(ksp, s));
  PetscCall(KSPDevAgree(ksp, KSPDEV(s)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why the cycle is not good enough, or NULL */
static const char *Fault(KSP ksp, CGDevRun *run)
{
  const SpmvCgResult *result = &run->result;

  if (result->reason == SPMV_DIVERGED_NOT_A_NUMBER) return "the solve met NaN or infinity";
  if (result->reason == SPMV_INDEFINITE_PC) return "the cycle was not positive definite";
  if (result->reason == SPMV_INDEFINITE_MATRIX) return "the directions of the solve broke down";
  if (result->reason != SPMV_ITERATING || ksp->normtype == KSP_NORM_NONE) return NULL;
  return MGDevNormsTell(&run->norms, (PetscInt)result->completed, (PetscReal)result->norm);
}

/* Computes the residual of the solution in ksp->vec_sol into ksp->work[0] */
static PetscErrorCode Residual(KSP ksp, KSP_CGDevice *s)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(KSP_MatMult(ksp, A, ksp->vec_sol, ksp->work[0]));
  PetscCall(VecAYPX(ksp->work[0], -1, ksp->vec_rhs));
  s->residual_away = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the cycle after a call of the engine. left: the solve goes on with a cycle in double precision. */
PetscErrorCode CGDevSingleCheck(KSP ksp, KSP_CGDevice *s, CGDevRun *run, PetscBool *left)
{
  const char *why = NULL;
  PetscBool   on;

  PetscFunctionBegin;
  *left = PETSC_FALSE;
  PetscCall(KSPDevPCIsSingle(KSPDEV(s), &on));
  if (on) why = Fault(ksp, run);
  if (!why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtVectorFetch(&s->exec, &s->x));
  PetscCall(Residual(ksp, s));
  PetscCall(Leave(ksp, s, why, left));
  if (*left) PetscCall(CGDevGoOn(ksp, s, run));
  PetscFunctionReturn(PETSC_SUCCESS);
}
