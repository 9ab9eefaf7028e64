/* Setters and getters with a type, for the options of MATAIJRBP. */
#include "../impls/seqaijfmt/seqaijfmt.h"

static PetscErrorCode RequireRBP(Mat A, const char *function, Mat_AIJFmt **s)
{
  PetscBool same;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(AIJFmtStateRequire(A, function, s));
  PetscCall(PetscStrcmp((*s)->row->root, MATAIJRBP, &same));
  PetscCheck(same, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG, "%s needs a matrix of type %s; this one is %s",
             function, MATAIJRBP, ((PetscObject)A)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetOption(Mat A, const char *function, const char key[], const SpmvOptionDesc **desc,
                                double *value)
{
  Mat_AIJFmt  *s;
  SpmvOptions *options;
  int          position;

  PetscFunctionBegin;
  PetscCall(RequireRBP(A, function, &s));
  PetscCall(AIJFmtOptionFind(s, key, &options, desc, &position));
  *value = options->value[position];
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(RequireRBP(A, PETSC_FUNCTION_NAME, &s));
  PetscCall(MatAIJFmtSetOption(A, "format", format));
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
  const SpmvOptionDesc *desc;
  double                value = 0; /* gcc does not see that GetOption() sets it whenever it succeeds */

  PetscFunctionBegin;
  PetscCall(GetOption(A, PETSC_FUNCTION_NAME, "format", &desc, &value));
  PetscAssertPointer(format, 2);
  *format = desc->choices[(int)value];
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
  Mat_AIJFmt *s;
  char        text[32];

  PetscFunctionBegin;
  PetscCall(RequireRBP(A, PETSC_FUNCTION_NAME, &s));
  PetscValidLogicalCollectiveInt(A, min_run, 2);
  PetscCall(PetscSNPrintf(text, sizeof text, "%" PetscInt_FMT, min_run));
  PetscCall(MatAIJFmtSetOption(A, "min_run", text));
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
  const SpmvOptionDesc *desc;
  double                value = 0; /* gcc does not see that GetOption() sets it whenever it succeeds */

  PetscFunctionBegin;
  PetscCall(GetOption(A, PETSC_FUNCTION_NAME, "min_run", &desc, &value));
  PetscAssertPointer(min_run, 2);
  *min_run = (PetscInt)value;
  PetscFunctionReturn(PETSC_SUCCESS);
}
