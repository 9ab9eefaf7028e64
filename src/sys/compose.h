/* compose.h - the state that petscpack keeps for a PETSc object whose data belongs to PETSc's own type: in a container
   composed on the object, and freed with it. */
#pragma once

#include "compat.h"

/* destroy: defined by AIJFMT_CONTAINER_DESTRUCTOR() */
PETSC_INTERN PetscErrorCode PetscPackStateCompose(PetscObject, const char key[], void *state,
                                                  AIJFmtDestructor *destroy);
/* *state is NULL if the object has no container of that key */
PETSC_INTERN PetscErrorCode PetscPackStateQuery(PetscObject, const char key[], void **state);
