/*
  symmetry.c - options that promise symmetric values count only where PETSc knows the matrix to be symmetric. A promise
  that is not kept gives the products of another matrix; `exact` reads nearly as little and never does. aijauto expects
  symmetric values nowhere else.
*/
#include "seqaijfmt.h"

static const char key_of_symmetry[] = "symmetry", promise[] = "declared", lossless[] = "exact", unpaired[] = "none";

/* Whether options promise symmetric values */
static PetscBool Promises(const SpmvOptions *options)
{
  const SpmvOptionDesc *desc = options->format->options;
  PetscBool             same = PETSC_FALSE;

  for (int i = 0; desc && desc[i].key; i++) {
    if (desc[i].kind != SPMV_OPTION_ENUM || strcmp(desc[i].key, key_of_symmetry)) continue;
    same = strcmp(desc[i].choices[(int)options->value[i]], promise) ? PETSC_FALSE : PETSC_TRUE;
  }
  return same;
}

/* Whether the user, or an operation of PETSc, has said so; nothing is computed */
static PetscErrorCode IsKnownSymmetric(Mat A, PetscBool *known)
{
  PetscBool set, flag;

  PetscFunctionBegin;
  PetscCall(MatIsSymmetricKnown(A, &set, &flag));
  *known = set && flag ? PETSC_TRUE : PETSC_FALSE;
  if (*known) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatIsSPDKnown(A, &set, &flag));
  *known = set && flag ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The options that the plan of a matrix is made with; symmetry_reason says where they are not those of the user */
PetscErrorCode AIJFmtTrustedOptions(Mat A, Mat_AIJFmt *s, SpmvOptions *options)
{
  char      message[SPMV_MESSAGE_MAX] = "";
  PetscBool known;

  PetscFunctionBegin;
  *options              = *AIJFmtPlanOptions(s);
  s->symmetry_reason[0] = 0;
  if (!Promises(options)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(IsKnownSymmetric(A, &known));
  if (known) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!spmv_options_set_text(options, key_of_symmetry, lossless, message), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s",
             message);
  PetscCall(PetscSNPrintf(s->symmetry_reason, sizeof s->symmetry_reason,
                          "symmetry %s is taken as %s: PETSc does not know that the matrix is symmetric, see "
                          "MAT_SYMMETRIC and MAT_SYMMETRY_ETERNAL of MatSetOption()",
                          promise, lossless));
  PetscCall(PetscInfo(A, "%s: %s\n", ((PetscObject)A)->type_name, s->symmetry_reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The options that aijauto gives to a format: the defaults. Predictions of pairs expect values that are nearly
   symmetric, so there are none where nothing is known of the values and no product will be measured. */
PetscErrorCode AIJFmtDefaultOptions(Mat A, const SpmvFormat *format, PetscBool is_measured, SpmvOptions *options)
{
  char      message[SPMV_MESSAGE_MAX];
  PetscBool known;

  PetscFunctionBegin;
  spmv_options_init(options, format);
  PetscCall(IsKnownSymmetric(A, &known));
  /* Formats without the option refuse it, and stay as they are */
  if (!known && !is_measured) (void)spmv_options_set_text(options, key_of_symmetry, unpaired, message);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a plan was made with other options than it would be made with now, since PETSc has learnt of the symmetry of
   the matrix, or has forgotten it */
PetscErrorCode AIJFmtTrustHasChanged(Mat A, Mat_AIJFmt *s, PetscBool *changed)
{
  SpmvOptions options;

  PetscFunctionBegin;
  *changed = PETSC_FALSE;
  if (!Promises(AIJFmtPlanOptions(s))) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtTrustedOptions(A, s, &options));
  *changed = Promises(&options) != Promises(&s->plan->options) ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lets the diagonal block of a parallel matrix know what the matrix is known to be */
PetscErrorCode AIJFmtTellSymmetry(Mat A, Mat diagonal)
{
  PetscBool known;

  PetscFunctionBegin;
  PetscCall(IsKnownSymmetric(A, &known));
  if (known) PetscCall(MatSetOption(diagonal, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
