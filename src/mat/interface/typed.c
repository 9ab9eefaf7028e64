/* What the setters and getters of single types share: the type is required, and values travel as text. */
#include "typed.h"

static PetscErrorCode Require(Mat A, MatType root, const char *function, Mat_AIJFmt **s)
{
  PetscBool same;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(AIJFmtStateRequire(A, function, s));
  PetscCall(PetscStrcmp((*s)->row->root, root, &same));
  PetscCheck(same, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG, "%s needs a matrix of type %s; this one is %s",
             function, root, ((PetscObject)A)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Get(Mat A, MatType root, const char *function, const char key[], const SpmvOptionDesc **desc,
                          double *value)
{
  Mat_AIJFmt  *s;
  SpmvOptions *options;
  int          position;

  PetscFunctionBegin;
  PetscCall(Require(A, root, function, &s));
  PetscCall(AIJFmtOptionFind(s, key, &options, desc, &position));
  *value = options->value[position];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtTypedSetChoice(Mat A, MatType root, const char *function, const char key[], const char choice[])
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(Require(A, root, function, &s));
  PetscCall(AIJFmtOptionsSet(A, s, 1, &key, &choice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtTypedSetNumbers(Mat A, MatType root, const char *function, int count, const char *const keys[],
                                     const double numbers[])
{
  Mat_AIJFmt *s;
  char        text[TYPED_MAX][32];
  const char *values[TYPED_MAX];

  PetscFunctionBegin;
  PetscCall(Require(A, root, function, &s));
  for (int i = 0; i < count; i++) {
    PetscCall(PetscSNPrintf(text[i], sizeof text[i], "%.17g", numbers[i]));
    values[i] = text[i];
  }
  PetscCall(AIJFmtOptionsSet(A, s, count, keys, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtTypedGetChoice(Mat A, MatType root, const char *function, const char key[], const char **choice)
{
  const SpmvOptionDesc *desc;
  double                value = 0; /* gcc does not see that Get() sets it whenever it succeeds */

  PetscFunctionBegin;
  PetscCall(Get(A, root, function, key, &desc, &value));
  *choice = desc->choices[(int)value];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtTypedGetNumber(Mat A, MatType root, const char *function, const char key[], double *number)
{
  const SpmvOptionDesc *desc;

  PetscFunctionBegin;
  PetscCall(Get(A, root, function, key, &desc, number));
  PetscFunctionReturn(PETSC_SUCCESS);
}
