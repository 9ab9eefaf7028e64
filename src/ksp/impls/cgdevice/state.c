/* state.c - the state of a solver. */
#include "cgdevice.h"
#include "sys/compose.h"

PetscLogEvent KSP_CGDeviceSetUp, KSP_CGDeviceLoop;

const char CGDevContainerName[] = "KSPCGDevice";

/* The state, or NULL if the solver is of another type */
PetscErrorCode CGDevStateGet(KSP ksp, KSP_CGDevice **state)
{
  PetscFunctionBegin;
  PetscCall(PetscPackStateQuery((PetscObject)ksp, CGDevContainerName, (void **)state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The state for a getter, or an error if the solver is of another type */
PetscErrorCode CGDevRequire(KSP ksp, KSP_CGDevice **s)
{
  PetscFunctionBegin;
  PetscCall(KSPDevRequire(ksp, CGDevContainerName, KSPCGDEVICE, (void **)s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
