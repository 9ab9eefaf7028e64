/* The options that all formats share, with a function each. */
#include "seqaijfmt.h"

static PetscErrorCode SetFlag(Mat A, const char *function, const char key[], PetscBool flag)
{
  const double number = flag;

  PetscFunctionBegin;
  PetscCall(AIJFmtOptionSet(A, function, key, NULL, &number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetFlag(Mat A, const char *function, const char key[], PetscBool *flag)
{
  const SpmvOptionDesc *desc;
  double                value;

  PetscFunctionBegin;
  PetscAssertPointer(flag, 2);
  PetscCall(AIJFmtOptionGet(A, function, key, &desc, &value));
  *flag = value != 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJFmtSetCheck - Sets whether every product of a matrix of a packed type is compared with that of its parent type

  Logically Collective

  Input Parameters:
+ A     - the matrix, of type `MATAIJRBP`, `MATAIJCRSV`, or another type of petscpack
- check - `PETSC_TRUE` to compare; the default is `PETSC_FALSE`

  Options Database Key:
. -mat_aijfmt_check <bool> - compare every product

  Level: intermediate

  Note:
  A difference beyond the bound of rounding, 2 (k + 2) eps (|A| |x| + |z|) for a row of k nonzeros, is an error that
  names the row, both values and the bound. Each product then costs several of the parent's.

.seealso: `MatAIJFmtGetCheck()`, `MatAIJFmtSetOption()`
@*/
PetscErrorCode MatAIJFmtSetCheck(Mat A, PetscBool check) { return SetFlag(A, PETSC_FUNCTION_NAME, "check", check); }

/*@
  MatAIJFmtGetCheck - Gets whether every product is compared with that of the parent type

  Not Collective

  Input Parameter:
. A - the matrix, of type `MATAIJRBP`, `MATAIJCRSV`, or another type of petscpack

  Output Parameter:
. check - `PETSC_TRUE` if so

  Level: intermediate

.seealso: `MatAIJFmtSetCheck()`
@*/
PetscErrorCode MatAIJFmtGetCheck(Mat A, PetscBool *check) { return GetFlag(A, PETSC_FUNCTION_NAME, "check", check); }

/*@
  MatAIJFmtSetEager - Sets whether a matrix of a packed type is converted at assembly

  Logically Collective

  Input Parameters:
+ A     - the matrix, of type `MATAIJRBP`, `MATAIJCRSV`, or another type of petscpack
- eager - `PETSC_TRUE` to convert in `MatAssemblyEnd()`; the default, `PETSC_FALSE`, waits for the first product

  Options Database Key:
. -mat_aijfmt_eager <bool> - convert at assembly

  Level: intermediate

.seealso: `MatAIJFmtGetEager()`, `MatAIJFmtSetOption()`
@*/
PetscErrorCode MatAIJFmtSetEager(Mat A, PetscBool eager) { return SetFlag(A, PETSC_FUNCTION_NAME, "eager", eager); }

/*@
  MatAIJFmtGetEager - Gets whether a matrix of a packed type is converted at assembly

  Not Collective

  Input Parameter:
. A - the matrix, of type `MATAIJRBP`, `MATAIJCRSV`, or another type of petscpack

  Output Parameter:
. eager - `PETSC_TRUE` if so

  Level: intermediate

.seealso: `MatAIJFmtSetEager()`
@*/
PetscErrorCode MatAIJFmtGetEager(Mat A, PetscBool *eager) { return GetFlag(A, PETSC_FUNCTION_NAME, "eager", eager); }

/*@
  MatAIJFmtSetDecline - Sets whether a packed format may leave the products to the parent type

  Logically Collective

  Input Parameters:
+ A       - the matrix, of type `MATAIJRBP`, `MATAIJCRSV`, or another type of petscpack
- decline - `PETSC_FALSE` to insist on the format; `PETSC_TRUE` for the default, `predicted`

  Options Database Key:
. -mat_aijfmt_decline <false|bytes|predicted|measured> - when; true is the default

  Level: intermediate

  Notes:
  With `bytes` the analysis of a pattern declines when plain CSR needs no more memory. With `predicted` the format
  declines besides where a model expects a product to take more than 1.1 times that of the parent type, on a GPU 1.2
  times. The verdict depends on the pattern, the maker of the processor and numbers given to `PetscPackSetMachine()`,
  not on a clock. With `measured` the first products, four of each, are done by both in turn and the faster stays:
  results may then differ in the last bits from one run to the next. `MatAIJFmtSetOption()` sets these.

  When the format insists, a pattern that is too large is an error. Columns out of order, which `MATAIJ` allows, are
  left to the parent type in any case.

.seealso: `MatAIJFmtGetDecline()`, `MatAIJFmtSetOption()`, `MatAIJFmtGetInfo()`
@*/
PetscErrorCode MatAIJFmtSetDecline(Mat A, PetscBool decline)
{
  return SetFlag(A, PETSC_FUNCTION_NAME, "decline", decline);
}

/*@
  MatAIJFmtGetDecline - Gets whether a packed format may leave the products to the parent type

  Not Collective

  Input Parameter:
. A - the matrix, of type `MATAIJRBP`, `MATAIJCRSV`, or another type of petscpack

  Output Parameter:
. decline - `PETSC_TRUE` if so

  Level: intermediate

.seealso: `MatAIJFmtSetDecline()`
@*/
PetscErrorCode MatAIJFmtGetDecline(Mat A, PetscBool *decline)
{
  return GetFlag(A, PETSC_FUNCTION_NAME, "decline", decline);
}

/*@
  MatAIJFmtSetDevice - Sets where the packed arrays of a matrix lie

  Logically Collective

  Input Parameters:
+ A      - the matrix, of type `MATAIJRBP`, `MATAIJCRSV`, or another type of petscpack
- device - `MATAIJFMT_DEVICE_AUTO` for the GPU where there is one, `MATAIJFMT_DEVICE_HOST`, or `MATAIJFMT_DEVICE_GPU`

  Options Database Key:
. -mat_aijfmt_device <auto|host|gpu> - where the packed arrays lie

  Level: intermediate

  Note:
  `MATAIJFMT_DEVICE_GPU` without a usable GPU is no error: the matrix stays on the host, and `MatView()` tells why.

.seealso: `MatAIJFmtGetDevice()`, `MatAIJFmtSetOption()`
@*/
PetscErrorCode MatAIJFmtSetDevice(Mat A, MatAIJFmtDevice device)
{
  PetscFunctionBegin;
  PetscAssertPointer(device, 2);
  PetscCall(AIJFmtOptionSet(A, PETSC_FUNCTION_NAME, "device", device, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJFmtGetDevice - Gets where the packed arrays of a matrix may lie

  Not Collective

  Input Parameter:
. A - the matrix, of type `MATAIJRBP`, `MATAIJCRSV`, or another type of petscpack

  Output Parameter:
. device - what `MatAIJFmtSetDevice()` or `-mat_aijfmt_device` set

  Level: intermediate

.seealso: `MatAIJFmtSetDevice()`, `MatAIJFmtGetInfo()`
@*/
PetscErrorCode MatAIJFmtGetDevice(Mat A, MatAIJFmtDevice *device)
{
  const SpmvOptionDesc *desc;
  double                value;

  PetscFunctionBegin;
  PetscAssertPointer(device, 2);
  PetscCall(AIJFmtOptionGet(A, PETSC_FUNCTION_NAME, "device", &desc, &value));
  *device = desc->choices[(int)value];
  PetscFunctionReturn(PETSC_SUCCESS);
}
