/* compose.h - the state of an object of PETSc whose data belongs to PETSc's own type: in a container composed on the object,
   and freed with it. */
#pragma once

#include "compat.h"

/* destroy: a function that AIJFMT_CONTAINER_DESTRUCTOR() defines */
PETSC_INTERN PetscErrorCode PetscPackStateCompose(PetscObject, const char key[], void *state,
                                                  AIJFmtDestructor *destroy);
/* *state is NULL where the object has none by that key */
PETSC_INTERN PetscErrorCode PetscPackStateQuery(PetscObject, const char key[], void **state);
