/* compose.c - the state of a PETSc object, in a container composed on it. */
#include "compose.h"

PetscErrorCode PetscPackStateCompose(PetscObject object, const char key[], void *state, AIJFmtDestructor *destroy)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, state));
  PetscCall(AIJFmtContainerSetDestroy(container, destroy));
  PetscCall(PetscObjectCompose(object, key, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackStateQuery(PetscObject object, const char key[], void **state)
{
  PetscContainer container;

  PetscFunctionBegin;
  *state = NULL;
  PetscCall(PetscObjectQuery(object, key, (PetscObject *)&container));
  if (container) PetscCall(PetscContainerGetPointer(container, state));
  PetscFunctionReturn(PETSC_SUCCESS);
}
