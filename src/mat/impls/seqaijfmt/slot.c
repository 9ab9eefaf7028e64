/*
  slot.c - a CSR on the device for a matrix whose values do not exist yet, as that of a product before its numeric phase,
  or come from a plan that is on the device already.

  The CUDA parent makes that CSR from the arrays of the host, and uploads values with it: these are two thirds of all
  bytes, and those of a product mean nothing and come from memory that was never touched. Where the field for the host's values is
  NULL, it leaves them out (3.20 to 3.26). PETSc has no function for that, so the field is NULL for the time of the call.
  It is found by its contents, and is left alone where it is not found for certain.
*/
#include "seqaijfmt.h"

enum { SLOT_WORDS = 32 /* of the private struct of MATSEQAIJ: the field is number 20 to 26 of more than 40 */ };

/* The field in which A keeps the address `values`, or NULL where that is not one for certain */
static PetscScalar **FindSlot(Mat A, const PetscScalar *values)
{
  PetscScalar **word = (PetscScalar **)A->data, **found = NULL;

  for (int w = 0; w < SLOT_WORDS && values; w++) {
    if (word[w] != values) continue;
    if (found) return NULL;
    found = &word[w];
  }
  return found;
}

/* Whether the CUDA parent has made a CSR of A on the device, be it of this pattern or of one before: from 3.18 to 3.26
   the first word of what it keeps for A is the address of that CSR */
PetscBool AIJFmtDeviceCsrExists(Mat A) { return A->spptr && *(void **)A->spptr ? PETSC_TRUE : PETSC_FALSE; }

/* The device's array for the values of A, which has a pattern and no CSR there. AIJFmtDeviceValuesRestore() marks what was
   written as current. */
PetscErrorCode AIJFmtDeviceValuesFirst(Mat A, PetscScalar **values)
{
  PetscScalar   *here = NULL, *values_here, **slot;
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetArrayWrite(A, &here));
  values_here = here;
  slot        = FindSlot(A, here);
  PetscCall(MatSeqAIJRestoreArrayWrite(A, &here));
  if (slot) *slot = NULL;
  error = AIJFmtDeviceValuesGet(A, values);
  if (slot) *slot = values_here;
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}
