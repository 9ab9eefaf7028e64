/*
  smoother.c - a smoother: the preconditioner M of its steps, and their coefficients. Their addresses are unchanged
  when their values change.
*/
#include "hierarchy.h"

/* Gets the numbers from which the steps of a smoother are computed */
PetscErrorCode MGDevRecurrenceGet(KSP ksp, MGDevRecurrence *r, char why[SPMV_MESSAGE_MAX])
{
  PetscPackChebyshev c;
  PetscBool          richardson, itself = PETSC_FALSE, known;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(r, sizeof *r));
  r->id    = ((PetscObject)ksp)->id;
  r->steps = ksp->max_it;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPRICHARDSON, &richardson));
  if (richardson) PetscCall(PetscPackRichardsonGet(ksp, &r->scale, &itself, &known)); /* kind is MGDEV_RICHARDSON */
  else PetscCall(PetscPackChebyshevGet(ksp, &c, &known));
  if (!known) PetscCall(PetscStrncpy(why, "the smoothers of this PETSc are not known", SPMV_MESSAGE_MAX));
  else if (itself) PetscCall(PetscStrncpy(why, "the smoother scales itself", SPMV_MESSAGE_MAX));
  if (why[0] || richardson) PetscFunctionReturn(PETSC_SUCCESS);
  r->kind = c.kind == PETSCPACK_FIRST ? MGDEV_FIRST : c.kind == PETSCPACK_FOURTH ? MGDEV_FOURTH : MGDEV_OPT_FOURTH;
  r->emin = c.emin;
  r->emax = c.emax;
  if (r->kind == MGDEV_OPT_FOURTH && c.beta && c.betas >= r->steps) PetscCall(PetscArraycpy(r->beta, c.beta, r->steps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the coefficients of the steps; computes them again if one of their inputs has changed */
static PetscErrorCode GetSteps(MGDevHierarchy h, MGDevSmoother *s)
{
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(PetscMemcmp(&s->wanted, &s->recurrence, sizeof s->wanted, &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  s->recurrence.id = 0;
  if (!MGDevSteps(&s->wanted, s->step))
    PetscCall(PetscStrncpy(h->reason, "the bounds of a smoother make no polynomial", sizeof h->reason));
  if (h->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  s->recurrence = s->wanted;
  h->renew      = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called after MGDevAccept(); a solver that must be set up again differs, too */
PetscErrorCode MGDevSmootherHolds(KSP ksp, const MGDevSmoother *s, PetscBool *holds)
{
  PetscBool steps, point = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PetscMemcmp(&s->wanted, &s->recurrence, sizeof s->wanted, &steps));
  if (s->wanted.steps > 0) PetscCall(MGDevPointSame(&s->point, &s->wanted_point, &point));
  if (steps && point && s->function) PetscCall(PCFunctionHolds(s->function, ksp->pc, s->coarser, &point));
  if (!steps || !point || ksp->setupstage != KSP_SETUP_NEWRHS || !ksp->pc->setupcalled) *holds = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After PCSetUp(). Collective on several processes. */
static PetscErrorCode TakeFunction(MGDevHierarchy h, PC pc, MGDevSmoother *s, SpmvCycleSmoother *now)
{
  PetscFunctionBegin;
  MGDevPointFree(&s->point, h->exec);
  PetscCall(PCFunctionGet(pc, s->coarser, h->exec, &s->function, h->reason));
  if (!s->function && !h->reason[0])
    PetscCall(PetscSNPrintf(h->reason, sizeof h->reason, "the preconditioner %s of the smoother is PETSc's own",
                            ((PetscObject)pc)->type_name));
  if (s->function && PCFunctionGetInfo(s->function).direct)
    PetscCall(PetscStrncpy(h->reason, "the preconditioner of the smoother is a factorization", sizeof h->reason));
  PetscCall(MGDevAgree(h));
  if (h->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  s->point   = s->wanted_point;
  now->apply = PCFunctionApply;
  now->ctx   = s->function;
  now->flops = (double)PCFunctionGetInfo(s->function).flops;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MGDevSmootherGet(MGDevHierarchy h, KSP ksp, MGDevSmoother *s, SpmvCycleSmoother *now)
{
  const PetscBool function = s->wanted.steps > 0 && s->wanted_point.kind == SPMV_PC_FUNCTION ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(GetSteps(h, s));
  if (!function) PetscCall(PCFunctionDestroy(&s->function, h->exec));
  if (!h->reason[0] && function) PetscCall(TakeFunction(h, ksp->pc, s, now));
  else if (!h->reason[0] && s->recurrence.steps > 0)
    PetscCall(MGDevPointGet(&s->point, &s->wanted_point, ksp->pc, h->exec, &h->renew, h->reason));
  if (h->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  now->steps      = (int)s->recurrence.steps;
  now->step       = s->step;
  now->kind       = s->point.kind;
  now->block_size = (int)PetscMax(s->point.block, 1);
  now->values     = s->point.values;
  if (!h->single.on) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MGDevSinglePoint(h, s, now));
  PetscCall(MGDevAgree(h));
  PetscFunctionReturn(PETSC_SUCCESS);
}
