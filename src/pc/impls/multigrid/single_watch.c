/*
  single_watch.c - solves with a cycle in single precision: whether the cycle may be the cause of a bad solve, and the
  repetition of the solve in double precision.

  KSPCGDEVICE and KSPGMRESDEVICE call the functions of the first two parts. Other solvers do not know about the cycle.
  For those that test a norm in each iteration, PCPreSolve() replaces the solve operation for one call: the replacement
  wraps the convergence test, and checks the reason at the end. The host has these norms anyway, so nothing waits for
  them.
*/
#include "pctypes.h"

/* ---- the norms ---- */

enum {
  STAGNANT = 50
}; /* iterations without a decrease, or without convergence, after which the cycle is not good enough */

static const PetscReal fall = (PetscReal)0.9; /* norms above this part of the best are no decrease */

void MGDevNormsBegin(MGDevNorms *n, PetscInt iteration, PetscReal norm)
{
  *n = (MGDevNorms){.best = norm, .began_at = iteration, .best_at = iteration};
}

/* Records the norm of an iteration. Returns why the cycle is not good enough, or NULL. */
const char *MGDevNormsTell(MGDevNorms *n, PetscInt iteration, PetscReal norm)
{
  if (norm <= fall * n->best) {
    n->best    = norm;
    n->best_at = iteration;
  }
  return iteration - n->best_at >= STAGNANT ? "the norm hardly fell in 50 iterations" : NULL;
}

/* The same at the end of a solve. A few iterations without convergence may be what the user wanted. */
const char *MGDevNormsEnd(const MGDevNorms *n, KSP ksp)
{
  switch (ksp->reason) {
  case KSP_DIVERGED_NANORINF:
  case KSP_DIVERGED_PC_FAILED:
    return "the solve met NaN or infinity";
  case KSP_DIVERGED_DTOL:
    return "the norm grew";
  case KSP_DIVERGED_INDEFINITE_PC:
    return "the cycle was not positive definite";
  case KSP_DIVERGED_BREAKDOWN:
  case KSP_DIVERGED_BREAKDOWN_BICG:
  case KSP_DIVERGED_INDEFINITE_MAT:
  case KSP_DIVERGED_NONSYMMETRIC:
    return "the directions of the solve broke down";
  case KSP_DIVERGED_ITS:
    if (n->best_at == n->began_at) return "the norm hardly fell";
    return ksp->its >= STAGNANT ? "the solve did not converge" : NULL;
  default:
    return NULL;
  }
}

/* ---- a solve that may be repeated ---- */

/* By the norm that solvers compute, which may itself overflow */
static PetscErrorCode IsFinite(Vec x, PetscBool *finite)
{
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(VecNorm(x, NORM_2, &norm));
  *finite = PetscIsInfOrNanReal(norm) ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Within KSPSolve(). Turns off the error for a failed solve until the first try has been judged. */
PetscErrorCode MGDevTrialBegin(KSP ksp, MGDevTrial *t)
{
  PetscFunctionBegin;
  *t                       = (MGDevTrial){.history = (size_t)ksp->res_hist_len, .error = ksp->errorifnotconverged};
  ksp->errorifnotconverged = PETSC_FALSE;
  if (ksp->guess_zero) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(ksp->vec_sol, &t->guess));
  PetscCall(VecCopy(ksp->vec_sol, t->guess));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* why: the cycle may be the cause. Then *again is set, and the hierarchy uses double precision from the next update on;
   but not if the right-hand side or the initial guess is not finite, which no precision can repair. */
PetscErrorCode MGDevTrialEnd(KSP ksp, MGDevTrial *t, const char why[], MGDevHierarchy h, PetscBool *again)
{
  PetscFunctionBegin;
  ksp->errorifnotconverged = t->error;
  *again                   = why ? PETSC_TRUE : PETSC_FALSE;
  if (*again) PetscCall(IsFinite(ksp->vec_rhs, again));
  if (*again && t->guess && !ksp->guess_knoll) PetscCall(IsFinite(t->guess, again));
  if (*again) PetscCall(MGDevHierarchyDecline(h, ksp->pc, why));
  else PetscCall(VecDestroy(&t->guess));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Restores the state before the first try. An initial guess that the preconditioner made is made again. */
PetscErrorCode MGDevTrialAgain(KSP ksp, MGDevTrial *t)
{
  PetscFunctionBegin;
  PetscCall(PCSetFailedReason(ksp->pc, PC_NOERROR));
  ksp->reason       = KSP_CONVERGED_ITERATING;
  ksp->res_hist_len = t->history;
  ksp->its          = 0;
  if (!t->guess) PetscCall(VecZeroEntries(ksp->vec_sol));
  else if (!ksp->guess_knoll) PetscCall(VecCopy(t->guess, ksp->vec_sol));
  else {
    PetscCall(PCApply(ksp->pc, ksp->vec_rhs, ksp->vec_sol));
    PetscCall(KSP_RemoveNullSpace(ksp, ksp->vec_sol));
  }
  PetscCall(VecDestroy(&t->guess));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- solvers that do not know about the cycle ---- */

/* Replaces the solver's convergence test during the solve */
typedef struct {
  PetscErrorCode (*test)(KSP, PetscInt, PetscReal, KSPConvergedReason *, void *);
  void       *context;
  MGDevNorms  norms;
  PetscBool   began;
  const char *why;
} Watch;

/* That of device solvers, which must not be watched, because their iterations would wait for the host */
static MGDevSolve watches_itself;

void MGDevWatchesItself(MGDevSolve solve) { watches_itself = solve; }

static PetscErrorCode WatchTest(KSP ksp, PetscInt iteration, PetscReal norm, KSPConvergedReason *reason, void *context)
{
  Watch *w = (Watch *)context;

  PetscFunctionBegin;
  PetscCall((*w->test)(ksp, iteration, norm, reason, w->context));
  if (*reason || PetscIsInfOrNanReal(norm)) PetscFunctionReturn(PETSC_SUCCESS);
  if (w->began && iteration > w->norms.began_at) w->why = MGDevNormsTell(&w->norms, iteration, norm);
  else MGDevNormsBegin(&w->norms, iteration, norm);
  w->began = PETSC_TRUE;
  if (w->why) *reason = KSP_DIVERGED_BREAKDOWN;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a solve has a cycle in single precision, and norms by which to watch it */
static PetscErrorCode CanWatch(KSP ksp, PC_MGDevice **s)
{
  PetscBool once;

  PetscFunctionBegin;
  PetscCall(MGDevStateGet(ksp->pc, s, NULL));
  if (!*s) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPPREONLY, &once));
  if (!(*s)->serves || !(*s)->hierarchy->info.single || once || ksp->transpose_solve ||
      ksp->normtype == KSP_NORM_NONE || !ksp->converged || ksp->converged == KSPConvergedSkip)
    *s = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Restores the solver's own test in any case, because w does not outlive this call */
static PetscErrorCode WithTest(KSP ksp, MGDevSolve solve, Watch *w)
{
  PetscErrorCode error;

  PetscFunctionBegin;
  w->test        = ksp->converged;
  w->context     = ksp->cnvP;
  ksp->converged = WatchTest;
  ksp->cnvP      = w;
  error          = (*solve)(ksp);
  ksp->converged = w->test;
  ksp->cnvP      = w->context;
  PetscCall(error);
  if (!w->why) w->why = MGDevNormsEnd(&w->norms, ksp);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solve by any solver. If a cycle in single precision may be the cause of its failure, it is repeated in double
   precision. */
PetscErrorCode MGDevSolveWatched(KSP ksp, MGDevSolve solve)
{
  Watch          w = {.why = NULL};
  PC_MGDevice   *s;
  MGDevTrial     trial;
  PetscErrorCode error;
  PetscBool      again;

  PetscFunctionBegin;
  PetscCall(CanWatch(ksp, &s));
  if (!s) {
    PetscCall((*solve)(ksp));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MGDevTrialBegin(ksp, &trial));
  error = WithTest(ksp, solve, &w);
  PetscCall(MGDevTrialEnd(ksp, &trial, error ? NULL : w.why, s->hierarchy, &again));
  PetscCall(error);
  if (!again) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MGDevStateUpdate(ksp->pc, s));
  PetscCall(MGDevTrialAgain(ksp, &trial));
  PetscCall((*solve)(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char key[] = "petscpack_solve";

static PetscErrorCode SolveNext(KSP ksp)
{
  MGDevSolve solve;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, key, &solve));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, key, NULL));
  ksp->ops->solve = solve;
  PetscCall(MGDevSolveWatched(ksp, solve));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Watches the KSPSolve() that has called PCPreSolve(), if possible */
PetscErrorCode MGDevWatchNext(KSP ksp)
{
  PC_MGDevice *s;

  PetscFunctionBegin;
  PetscCall(CanWatch(ksp, &s));
  if (!s || ksp->ops->solve == SolveNext) PetscFunctionReturn(PETSC_SUCCESS);
  if (ksp->ops->solve == watches_itself) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, key, ksp->ops->solve));
  ksp->ops->solve = SolveNext;
  PetscFunctionReturn(PETSC_SUCCESS);
}
