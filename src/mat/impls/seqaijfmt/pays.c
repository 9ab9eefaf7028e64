/*
  pays.c - after how many products the conversion of a type has paid, for views. Of all formats cluster alone takes long
  to convert: it is compared with rbp, which serves the same matrices and is soon there.

  Both are predicted, by the model of spmv_predict.h and the machine that types which name a format decline by, so a
  view is the same in every run. The plan of cluster is there, with its values; rbp is not analyzed for a view: it is
  taken to read nothing but values, which no plan of it can beat, so the number of products is an upper bound.
*/
#include "seqaijfmt.h"

static const char dear[] = "cluster", cheap[] = "rbp";

/* What both take in the space of the plan; known: the model has constants for this machine and both formats */
static PetscErrorCode PredictBoth(Mat A, const Mat_AIJFmt *s, SpmvPrediction *ours, SpmvPrediction *others,
                                  PetscBool *known)
{
  const SpmvSpace  space = s->plan->space;
  SpmvPatternFacts facts = {.repeated = 0};
  SpmvPattern      pattern;
  SpmvMachine      machine;
  SpmvWorkload     work;
  SpmvOptions      options;

  PetscFunctionBegin;
  PetscCall(AIJFmtMachineReference(space, &machine));
  *known = space == SPMV_DEVICE || machine.processor != SPMV_PROCESSOR_OTHER ? PETSC_TRUE : PETSC_FALSE;
  if (!*known) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtHostPatternGet(A, &pattern));
  if (space == SPMV_HOST) spmv_pattern_facts(&pattern, &facts);
  spmv_workload_plan(s->plan, &facts, &work);
  spmv_options_init(&options, spmv_format_find(cheap));
  *known = spmv_predict(&work, &machine, ours) &&
                   spmv_predict_least(&options, &pattern, AIJFMT_SCALAR, space, &facts, &machine, others)
               ? PETSC_TRUE
               : PETSC_FALSE;
  PetscCall(AIJFmtHostPatternRestore(A, &pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One line for the view of a matrix with a plan, or "" */
PetscErrorCode AIJFmtPaysText(Mat A, const Mat_AIJFmt *s, char text[], size_t size)
{
  SpmvPrediction ours, others;
  PetscBool      same, known = PETSC_FALSE; /* gcc does not see that it is set whenever the call succeeds */

  PetscFunctionBegin;
  text[0] = 0;
  PetscCall(PetscStrcmp(s->row->format, dear, &same));
  if (!same || s->plan->nnz == 0 || s->key.nonzero_state != A->nonzerostate) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PredictBoth(A, s, &ours, &others, &known));
  if (!known) PetscFunctionReturn(PETSC_SUCCESS);
  if (ours.product < others.product)
    PetscCall(PetscSNPrintf(text, size, "pays against aij%s after at most %.0f products (predicted)", cheap,
                            PetscMax(1, ceil((ours.convert - others.convert) / (others.product - ours.product)))));
  else PetscCall(PetscSNPrintf(text, size, "does not pay against aij%s at its best (predicted)", cheap));
  PetscFunctionReturn(PETSC_SUCCESS);
}
