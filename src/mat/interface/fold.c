/* Setters and getters with a type, for the options of MATAIJFOLD. */
#include "typed.h"

static const char *const width_keys[] = {"q", "r"};
static const char *const memory_key   = "device_memory";

/*@
  MatAIJFoldSetWidth - Sets which rows of a `MATAIJFOLD` are folded

  Logically Collective

  Input Parameters:
+ A - the matrix, of type `MATAIJFOLD`
. q - factor of the mean row length, not negative
- r - factor of the standard deviation of the row lengths, not negative

  Options Database Keys:
+ -mat_aijfold_q <q> - factor of the mean
- -mat_aijfold_r <r> - factor of the standard deviation

  Level: intermediate

  Notes:
  Rows longer than q times the mean plus r times the standard deviation are cut into pieces of at most that length. With
  q = r = 0, the default, the width is the one of least predicted cost; the authors of the method use q = 1.5.

  When one of the two is refused, neither changes.

.seealso: `MATAIJFOLD`, `MatAIJFoldGetWidth()`, `MatAIJFoldSetLayout()`, `MatAIJFmtSetOption()`
@*/
PetscErrorCode MatAIJFoldSetWidth(Mat A, PetscReal q, PetscReal r)
{
  const double values[] = {(double)q, (double)r};

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidLogicalCollectiveReal(A, q, 2);
  PetscValidLogicalCollectiveReal(A, r, 3);
  PetscCall(AIJFmtTypedSetNumbers(A, MATAIJFOLD, PETSC_FUNCTION_NAME, 2, width_keys, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJFoldGetWidth - Gets which rows of a `MATAIJFOLD` are folded

  Not Collective

  Input Parameter:
. A - the matrix, of type `MATAIJFOLD`

  Output Parameters:
+ q - factor of the mean row length, or `NULL`
- r - factor of the standard deviation of the row lengths, or `NULL`

  Level: intermediate

  Note:
  These are the factors that were set. `MatView()` with `PETSC_VIEWER_ASCII_INFO` shows the width that came of them.

.seealso: `MATAIJFOLD`, `MatAIJFoldSetWidth()`
@*/
PetscErrorCode MatAIJFoldGetWidth(Mat A, PetscReal *q, PetscReal *r)
{
  double mean, deviation;

  PetscFunctionBegin;
  PetscCall(AIJFmtTypedGetNumber(A, MATAIJFOLD, PETSC_FUNCTION_NAME, width_keys[0], &mean));
  PetscCall(AIJFmtTypedGetNumber(A, MATAIJFOLD, PETSC_FUNCTION_NAME, width_keys[1], &deviation));
  if (q) *q = (PetscReal)mean;
  if (r) *r = (PetscReal)deviation;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJFoldSetLayout - Sets the layout of the table of a `MATAIJFOLD`

  Logically Collective

  Input Parameters:
+ A      - the matrix, of type `MATAIJFOLD`
- layout - `MATAIJFOLD_LAYOUT_SLICED`: every 32 rows of the table have their own width; or `MATAIJFOLD_LAYOUT_UNIFORM`:
           all have one, as published

  Options Database Key:
. -mat_aijfold_layout <sliced|uniform> - the layout

  Level: intermediate

.seealso: `MATAIJFOLD`, `MatAIJFoldGetLayout()`, `MatAIJFoldSetWidth()`, `MatAIJFmtSetOption()`
@*/
PetscErrorCode MatAIJFoldSetLayout(Mat A, MatAIJFoldLayout layout)
{
  PetscFunctionBegin;
  PetscAssertPointer(layout, 2);
  PetscCall(AIJFmtTypedSetChoice(A, MATAIJFOLD, PETSC_FUNCTION_NAME, "layout", layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJFoldGetLayout - Gets the layout of the table of a `MATAIJFOLD`

  Not Collective

  Input Parameter:
. A - the matrix, of type `MATAIJFOLD`

  Output Parameter:
. layout - the layout

  Level: intermediate

.seealso: `MATAIJFOLD`, `MatAIJFoldSetLayout()`
@*/
PetscErrorCode MatAIJFoldGetLayout(Mat A, MatAIJFoldLayout *layout)
{
  PetscFunctionBegin;
  PetscAssertPointer(layout, 2);
  PetscCall(AIJFmtTypedGetChoice(A, MATAIJFOLD, PETSC_FUNCTION_NAME, "layout", layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJFoldSetGather - Sets how a product of a `MATAIJFOLD` on a GPU reads the vector

  Logically Collective

  Input Parameters:
+ A      - the matrix, of type `MATAIJFOLD`
- gather - `MATAIJFOLD_GATHER_CACHE`: through the caches of the GPU; `MATAIJFOLD_GATHER_DEVICE`: from a copy in the
           order of the table, which the GPU makes first; `MATAIJFOLD_GATHER_HOST`: from such a copy that the host
           makes and sends in pieces

  Options Database Key:
. -mat_aijfold_gather <cache|device|host> - how the vector is read

  Level: intermediate

  Note:
  A product on the host is the same with all three.

.seealso: `MATAIJFOLD`, `MatAIJFoldGetGather()`, `MatAIJFoldSetDeviceMemory()`, `MatAIJFmtSetOption()`
@*/
PetscErrorCode MatAIJFoldSetGather(Mat A, MatAIJFoldGather gather)
{
  PetscFunctionBegin;
  PetscAssertPointer(gather, 2);
  PetscCall(AIJFmtTypedSetChoice(A, MATAIJFOLD, PETSC_FUNCTION_NAME, "gather", gather));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJFoldGetGather - Gets how a product of a `MATAIJFOLD` on a GPU reads the vector

  Not Collective

  Input Parameter:
. A - the matrix, of type `MATAIJFOLD`

  Output Parameter:
. gather - how the vector is read

  Level: intermediate

.seealso: `MATAIJFOLD`, `MatAIJFoldSetGather()`
@*/
PetscErrorCode MatAIJFoldGetGather(Mat A, MatAIJFoldGather *gather)
{
  PetscFunctionBegin;
  PetscAssertPointer(gather, 2);
  PetscCall(AIJFmtTypedGetChoice(A, MATAIJFOLD, PETSC_FUNCTION_NAME, "gather", gather));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJFoldSetDeviceMemory - Sets how much memory of a GPU a `MATAIJFOLD` may take

  Logically Collective

  Input Parameters:
+ A     - the matrix, of type `MATAIJFOLD`
- bytes - the most bytes, at most 10^15; 0, the default, sets no limit

  Options Database Key:
. -mat_aijfold_device_memory <bytes> - the most bytes

  Level: intermediate

  Notes:
  What does not fit lies in the memory of the host and is sent in pieces during each product. In a parallel matrix the
  diagonal and the off-diagonal block of a process may each take so much. A matrix on the host is not limited.

  Bytes are a `PetscInt64`: a GPU has more of them than a `PetscInt` of 32 bits can count, and a fraction of one
  makes no sense.

.seealso: `MATAIJFOLD`, `MatAIJFoldGetDeviceMemory()`, `MatAIJFoldSetGather()`, `MatAIJFmtSetDevice()`,
          `MatAIJFmtSetOption()`
@*/
PetscErrorCode MatAIJFoldSetDeviceMemory(Mat A, PetscInt64 bytes)
{
  const PetscInt64 part  = 1000000000; /* PETSc compares values of PetscInt, which may be too short for bytes */
  const double     value = (double)bytes;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidLogicalCollectiveInt(A, (PetscInt)(bytes / part), 2);
  PetscValidLogicalCollectiveInt(A, (PetscInt)(bytes % part), 2);
  PetscCall(AIJFmtTypedSetNumbers(A, MATAIJFOLD, PETSC_FUNCTION_NAME, 1, &memory_key, &value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJFoldGetDeviceMemory - Gets how much memory of a GPU a `MATAIJFOLD` may take

  Not Collective

  Input Parameter:
. A - the matrix, of type `MATAIJFOLD`

  Output Parameter:
. bytes - the most bytes, or 0 for no limit

  Level: intermediate

.seealso: `MATAIJFOLD`, `MatAIJFoldSetDeviceMemory()`
@*/
PetscErrorCode MatAIJFoldGetDeviceMemory(Mat A, PetscInt64 *bytes)
{
  double value;

  PetscFunctionBegin;
  PetscAssertPointer(bytes, 2);
  PetscCall(AIJFmtTypedGetNumber(A, MATAIJFOLD, PETSC_FUNCTION_NAME, memory_key, &value));
  *bytes = (PetscInt64)value;
  PetscFunctionReturn(PETSC_SUCCESS);
}
