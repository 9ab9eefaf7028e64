/* state.c - what all parts of a solve do with a refusal of the kernel library, with vectors, and with other processes. */
#include "device.h"
#include "sys/compose.h"

/* The state for a getter, which has no answer for a solver of another type */
PetscErrorCode KSPDevRequire(KSP ksp, const char container[], KSPType type, void **state)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCall(PetscPackStateQuery((PetscObject)ksp, container, state));
  PetscCheck(*state, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_WRONG, "The solver is not of type %s", type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A refusal becomes the reason to solve on the host, a failure an error: see KSPDevTry() */
PetscErrorCode KSPDevRefuse(KSPDevice *s, SpmvStatus status)
{
  PetscFunctionBegin;
  PetscCall(AIJFmtRefuse(&s->exec, status, s->reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds out where the entries of a vector are. Leaves a reason where there is no memory for a copy. */
PetscErrorCode KSPDevVectorPlace(KSPDevice *s, AIJFmtVector *v, Vec vec)
{
  SpmvStatus status;

  PetscFunctionBegin;
  PetscCall(AIJFmtVectorPlace(&s->exec, v, vec, &status));
  KSPDevTry(s, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All processes go on, or all have a reason not to. Collective; after s->several is set */
PetscErrorCode KSPDevAgree(KSP ksp, KSPDevice *s)
{
  PetscFunctionBegin;
  if (s->several) PetscCall(PetscPackAgree(PetscObjectComm((PetscObject)ksp), s->reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes note of cycles of multigrid */
PetscErrorCode KSPDevCountCycles(KSPDevice *s, int64_t cycles)
{
  PetscFunctionBegin;
  s->cycles += (PetscInt)cycles;
  PetscCall(MGDevLogCycles(s->multigrid, (PetscLogDouble)cycles));
  PetscFunctionReturn(PETSC_SUCCESS);
}
