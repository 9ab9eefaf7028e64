/* Setters and getters with a type, for the options of MATAIJRBP. */
#include "typed.h"

/*@
  MatAIJRBPSetFormat - Sets the layout of the arrays of a `MATAIJRBP`

  Logically Collective

  Input Parameters:
+ A      - the matrix, of type `MATAIJRBP`
- format - `MATAIJRBP_PACKED`, `MATAIJRBP_CSR`, `MATAIJRBP_ELL` or `MATAIJRBP_ELLR`

  Options Database Key:
. -mat_aijrbp_format <packed|csr|ell|ellr> - the layout

  Level: intermediate

.seealso: `MatAIJRBPGetFormat()`, `MatAIJRBPSetMinRun()`, `MatAIJFmtSetOption()`
@*/
PetscErrorCode MatAIJRBPSetFormat(Mat A, MatAIJRBPFormat format)
{
  PetscFunctionBegin;
  PetscAssertPointer(format, 2);
  PetscCall(AIJFmtTypedSetChoice(A, MATAIJRBP, PETSC_FUNCTION_NAME, "format", format));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJRBPGetFormat - Gets the layout of the arrays of a `MATAIJRBP`

  Not Collective

  Input Parameter:
. A - the matrix, of type `MATAIJRBP`

  Output Parameter:
. format - the layout

  Level: intermediate

.seealso: `MatAIJRBPSetFormat()`
@*/
PetscErrorCode MatAIJRBPGetFormat(Mat A, MatAIJRBPFormat *format)
{
  PetscFunctionBegin;
  PetscAssertPointer(format, 2);
  PetscCall(AIJFmtTypedGetChoice(A, MATAIJRBP, PETSC_FUNCTION_NAME, "format", format));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJRBPSetMinRun - Sets the length of the shortest run that a `MATAIJRBP` packs

  Logically Collective

  Input Parameters:
+ A       - the matrix, of type `MATAIJRBP`
- min_run - the number of adjacent nonzeros, at least 2; shorter runs stay in a plain remainder

  Options Database Key:
. -mat_aijrbp_min_run <n> - the shortest run

  Level: intermediate

.seealso: `MatAIJRBPGetMinRun()`, `MatAIJRBPSetFormat()`, `MatAIJFmtSetOption()`
@*/
PetscErrorCode MatAIJRBPSetMinRun(Mat A, PetscInt min_run)
{
  const char *const key   = "min_run";
  const double      value = (double)min_run;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidLogicalCollectiveInt(A, min_run, 2);
  PetscCall(AIJFmtTypedSetNumbers(A, MATAIJRBP, PETSC_FUNCTION_NAME, 1, &key, &value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJRBPGetMinRun - Gets the length of the shortest run that a `MATAIJRBP` packs

  Not Collective

  Input Parameter:
. A - the matrix, of type `MATAIJRBP`

  Output Parameter:
. min_run - the number of adjacent nonzeros

  Level: intermediate

.seealso: `MatAIJRBPSetMinRun()`
@*/
PetscErrorCode MatAIJRBPGetMinRun(Mat A, PetscInt *min_run)
{
  double value;

  PetscFunctionBegin;
  PetscAssertPointer(min_run, 2);
  PetscCall(AIJFmtTypedGetNumber(A, MATAIJRBP, PETSC_FUNCTION_NAME, "min_run", &value));
  *min_run = (PetscInt)value;
  PetscFunctionReturn(PETSC_SUCCESS);
}
