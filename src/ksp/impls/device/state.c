/* state.c - refusals of the kernel library, vectors, and agreement between processes, for all parts of a solve. */
#include "device.h"
#include "sys/compose.h"

/* The state for a getter, or an error if the solver is of another type */
PetscErrorCode KSPDevRequire(KSP ksp, const char container[], KSPType type, void **state)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCall(PetscPackStateQuery((PetscObject)ksp, container, state));
  PetscCheck(*state, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_WRONG, "The solver is not of type %s", type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Turns a refusal into the reason to solve on the host, and a failure into an error: see KSPDevTry() */
PetscErrorCode KSPDevRefuse(KSPDevice *s, SpmvStatus status)
{
  PetscFunctionBegin;
  PetscCall(AIJFmtRefuse(&s->exec, status, s->reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds out where the entries of a vector are. Leaves a reason if memory does not suffice for a copy. */
PetscErrorCode KSPDevVectorPlace(KSPDevice *s, AIJFmtVector *v, Vec vec)
{
  SpmvStatus status;

  PetscFunctionBegin;
  PetscCall(AIJFmtVectorPlace(&s->exec, v, vec, &status));
  KSPDevTry(s, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Afterwards either all processes go on, or all have a reason not to. Collective; called after s->several is set. */
PetscErrorCode KSPDevAgree(KSP ksp, KSPDevice *s)
{
  PetscFunctionBegin;
  if (s->several) PetscCall(PetscPackAgree(PetscObjectComm((PetscObject)ksp), s->reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts multigrid cycles */
PetscErrorCode KSPDevCountCycles(KSPDevice *s, int64_t cycles)
{
  PetscFunctionBegin;
  s->cycles += (PetscInt)cycles;
  PetscCall(MGDevLogCycles(s->multigrid, (PetscLogDouble)cycles));
  PetscFunctionReturn(PETSC_SUCCESS);
}
