/* key.c - whether data taken from a PC is still current. */
#include "mgdevice.h"

PetscErrorCode MGDevKeyGet(PC pc, MGDevKey *key)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(key, sizeof *key));
  key->id = ((PetscObject)pc)->id;
  if (pc->pmat) key->matrix = ((PetscObject)pc->pmat)->id;
  PetscCall(PetscStrncpy(key->type, ((PetscObject)pc)->type_name, sizeof key->type));
  PetscCall(PetscMemcpy(key->matrix_state, &pc->matstate, sizeof key->matrix_state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MGDevKeySame(const MGDevKey *a, const MGDevKey *b, PetscBool *same)
{
  PetscBool type, state;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(a->type, b->type, &type));
  PetscCall(PetscMemcmp(a->matrix_state, b->matrix_state, sizeof a->matrix_state, &state));
  *same = a->id == b->id && a->matrix == b->matrix && type && state ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
