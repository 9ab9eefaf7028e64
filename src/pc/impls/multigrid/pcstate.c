/*
  pcstate.c - the state of a preconditioner of type mgdevice or gamgdevice, and the operations that it replaces in a PC of
  PETSc's type.
*/
#include "pctypes.h"
#include "sys/compose.h"

static const char key[] = "petscpack_mgdevice";

/* All but applyrichardson, which each set-up installs */
#define EACH_OPERATION(DO)                                                                                             \
  DO(setup) DO(setfromoptions) DO(presolve) DO(apply) DO(applytranspose) DO(matapply) DO(view) DO(reset) DO(destroy)

static PetscErrorCode GiveBack(PC pc, const PC_MGDevice *s)
{
  struct _PCOps *ops = pc->ops;

  PetscFunctionBegin;
#define DO(operation)                                                                                                  \
  if (ops->operation == s->ours->operation) ops->operation = s->parent.operation;
  EACH_OPERATION(DO)
#undef DO
  if (ops->applyrichardson == s->ours->applyrichardson) ops->applyrichardson = s->parent.applyrichardson;
  PetscCall(PetscObjectCompose((PetscObject)pc, key, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MGDevStateGet(PC pc, PC_MGDevice **s, const struct _PCOps **petsc)
{
  PetscFunctionBegin;
  if (petsc) *petsc = pc->ops; /* gcc does not see that callers stop at an error */
  PetscCall(PetscPackStateQuery((PetscObject)pc, key, (void **)s));
  if (*s && pc->ops->setup != (*s)->ours->setup) {
    PetscCall(GiveBack(pc, *s));
    *s = NULL;
  }
  if (petsc && *s) *petsc = &(*s)->parent;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the data on the device; keeps counters. Collective. */
PetscErrorCode MGDevStateForget(PC_MGDevice *s)
{
  PetscFunctionBegin;
  s->serves = PETSC_FALSE;
  AIJFmtVectorFree(s->hierarchy->exec, &s->b);
  AIJFmtVectorFree(s->hierarchy->exec, &s->x);
  PetscCall(VecDestroy(&s->correction));
  PetscCall(MGDevHierarchyForget(s->hierarchy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StateFree_MGDevice(void *context)
{
  PC_MGDevice *s = (PC_MGDevice *)context;

  PetscFunctionBegin;
  PetscCall(MGDevStateForget(s));
  PetscCall(MGDevHierarchyDestroy(&s->hierarchy));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
AIJFMT_CONTAINER_DESTRUCTOR(StateDestroy_MGDevice, StateFree_MGDevice)

PetscErrorCode MGDevStateCreate(PC pc, const struct _PCOps *ours)
{
  struct _PCOps *ops = pc->ops;
  PC_MGDevice   *s;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  PetscCall(MGDevHierarchyCreate(NULL, &s->hierarchy));
  s->compare = PETSC_TRUE;
  s->ours    = ours;
  s->parent  = *ops;
  PetscCall(PetscPackStateCompose((PetscObject)pc, key, s, StateDestroy_MGDevice));
#define DO(operation) ops->operation = ours->operation;
  EACH_OPERATION(DO)
#undef DO
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MGDevStateFree(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectCompose((PetscObject)pc, key, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
