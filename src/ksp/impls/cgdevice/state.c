/* state.c - the state of a solver, and what all parts of a solve do with a refusal of the kernel library. */
#include "cgdevice.h"
#include "sys/compose.h"

PetscLogEvent KSP_CGDeviceSetUp, KSP_CGDeviceLoop;

const char CGDevContainerName[] = "KSPCGDevice";

/* The state, or NULL where the solver is of another type */
PetscErrorCode CGDevStateGet(KSP ksp, KSP_CGDevice **state)
{
  PetscFunctionBegin;
  PetscCall(PetscPackStateQuery((PetscObject)ksp, CGDevContainerName, (void **)state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The state for a getter, which has no answer for another type */
PetscErrorCode CGDevRequire(KSP ksp, KSP_CGDevice **s)
{
  PetscFunctionBegin;
  PetscCall(KSPDevRequire(ksp, CGDevContainerName, KSPCGDEVICE, (void **)s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
