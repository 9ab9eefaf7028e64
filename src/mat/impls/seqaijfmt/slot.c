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
#include "sys/private.h"

/* Returns the device array for the values of A, which must have a pattern and no CSR on the device yet.
   AIJFmtDeviceValuesRestore() marks the written values as current. */
PetscErrorCode AIJFmtDeviceValuesFirst(Mat A, PetscScalar **values)
{
  PetscScalar   *here = NULL, *values_here, **slot;
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetArrayWrite(A, &here));
  values_here = here;
  slot        = PetscPackSeqAIJValues(A, here);
  PetscCall(MatSeqAIJRestoreArrayWrite(A, &here));
  if (slot) *slot = NULL;
  error = AIJFmtDeviceValuesGet(A, values);
  if (slot) *slot = values_here;
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}
