/*
  single.c - solves whose preconditioner is a cycle of multigrid in single precision, while all else is in double.

  The cycle is then a linear operator but for rounding, and CG takes as many iterations as with one in double precision. Where
  rounding is not harmless, numbers overflow, (r, M r) loses its sign, or the norm hardly falls. Then the solve goes on in
  double precision from the solution so far, and so do later ones with that nonzero pattern.
*/
#include "cgdevice.h"

/* After iteration 0: how often the norm is looked at */
PetscErrorCode CGDevSingleWatch(KSP ksp, KSP_CGDevice *s, CGDevRun *run)
{
  PetscBool on;

  PetscFunctionBegin;
  PetscCall(KSPDevPCIsSingle(KSPDEV(s), &on));
  if (on && ksp->normtype != KSP_NORM_NONE) run->watch.step = PetscMin(run->watch.step, MGDEV_LOOK);
  MGDevNormsBegin(&run->norms, 0, ksp->rnorm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The hierarchy in double precision, unless the residual in ksp->work[0] is not finite: that is no fault of the cycle.
   s->reason tells if there is no such hierarchy. */
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

/* Where the norm of iteration 0 is no number, before anything was computed. left: the solve is to begin anew, with an engine
   that has a cycle in double precision. */
PetscErrorCode CGDevSingleFirst(KSP ksp, KSP_CGDevice *s, PetscBool *left)
{
  PetscFunctionBegin;
  PetscCall(KSPDevPCIsSingle(KSPDEV(s), left));
  if (*left) PetscCall(Leave(ksp, s, "the first norm was no number", left));
  if (*left && !s->reason[0]) PetscCall(CGDevEngineGet(ksp, s));
  PetscCall(KSPDevAgree(ksp, KSPDEV(s)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why the cycle is not good enough, or NULL */
static const char *Fault(KSP ksp, CGDevRun *run)
{
  const SpmvCgResult *result = &run->result;

  if (result->reason == SPMV_DIVERGED_NOT_A_NUMBER) return "the solve met what is no number";
  if (result->reason == SPMV_INDEFINITE_PC) return "the cycle was not positive definite";
  if (result->reason == SPMV_INDEFINITE_MATRIX) return "the directions of the solve broke down";
  if (result->reason != SPMV_ITERATING || ksp->normtype == KSP_NORM_NONE) return NULL;
  return MGDevNormsTell(&run->norms, (PetscInt)result->completed, (PetscReal)result->norm);
}

/* The residual of the solution, which is in ksp->vec_sol, in ksp->work[0] */
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

/* After a call of the engine. left: the solve goes on with a cycle in double precision. */
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
