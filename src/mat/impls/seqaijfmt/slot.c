/*
  slot.c - a CSR on the device without an upload of values: for a matrix that has no values yet, such as a product
  before its numeric phase, or whose values are already in a plan on the device.

  The CUDA parent makes that CSR from the host's arrays and uploads the values, too. They are two thirds of all bytes;
  for a product they are meaningless, in memory that was never touched. The parent skips them if the field for the
  host's values is NULL (3.20 to 3.26). PETSc has no function that sets this field, so it is set to NULL during the
  call. The field is found by its contents; if it cannot be identified with certainty, it stays as it is and the values
  are uploaded.
*/
#include "seqaijfmt.h"

enum { SLOT_WORDS = 32 /* words of MATSEQAIJ's private struct to search: the field is number 20 to 26 */ };

/* The only field of A that holds the address `values`, or NULL if there is none or more than one */
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

/* Whether the CUDA parent has made a CSR of A on the device, for this pattern or an earlier one. From 3.18 to 3.26 the
   first word of its private struct is the address of that CSR. */
PetscBool AIJFmtDeviceCsrExists(Mat A) { return A->spptr && *(void **)A->spptr ? PETSC_TRUE : PETSC_FALSE; }

/* Returns the device array for the values of A, which must have a pattern and no CSR on the device yet.
   AIJFmtDeviceValuesRestore() marks the written values as current. */
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
