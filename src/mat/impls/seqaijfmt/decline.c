/*
  decline.c - -mat_aijfmt_decline: when a matrix whose type names a format leaves its products to the parent type,
  beyond the bytes that the format's own analysis looks at.

    predicted   the model of spmv_predict.h expects the format to be slower by more than the error of its predictions.
                Nothing is measured for that: a verdict depends on the pattern, the maker of the processor and given
                numbers alone, so that results are the same in every run.
    measured    the first products are done by the parent type and by the format in turn, as in a trial of aijauto
*/
#include "seqaijfmt.h"
#include "cuda.h"

/* Whether the first products decide, so that the matrix has a choice as one of type aijauto has */
PetscBool AIJFmtIsMeasured(const Mat_AIJFmt *s)
{
  return !AIJFmtIsAuto(s) && s->class_options.value[AIJFMT_DECLINE] == AIJFMT_BY_MEASUREMENT ? PETSC_TRUE : PETSC_FALSE;
}

/* Beside plans on the GPU, products by the parent type are an alternative where they are on the GPU too */
PetscErrorCode AIJFmtParentCompetes(const Mat_AIJFmt *s, PetscBool *competes)
{
  PetscFunctionBegin;
  PetscCall(AIJFmtIsCudaParent(s, competes));
  if (s->exec.space == SPMV_HOST) *competes = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the parent type takes for a pattern that lies on the host. Without a limit where no prediction lets this matrix
   decline: -mat_aijfmt_decline says so, or the parent type does not compete, or the model has no constants of its own
   for the processor or the format. */
PetscErrorCode AIJFmtTimeLimitGet(const Mat_AIJFmt *s, const SpmvPattern *pattern, AIJFmtTimeLimit *limit)
{
  const double   margin = s->exec.space == SPMV_DEVICE ? SPMV_DECLINE_GPU : SPMV_DECLINE_HOST;
  SpmvWorkload   work;
  SpmvPrediction parents;
  PetscBool      competes;

  PetscFunctionBegin;
  *limit = (AIJFmtTimeLimit){.product = PETSC_MAX_REAL};
  if (AIJFmtIsAuto(s) || s->class_options.value[AIJFMT_DECLINE] != AIJFMT_BY_PREDICTION)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtParentCompetes(s, &competes));
  if (!competes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtMachineReference(s->exec.space, &limit->machine));
  if (s->exec.space == SPMV_HOST && limit->machine.processor == SPMV_PROCESSOR_OTHER)
    PetscFunctionReturn(PETSC_SUCCESS);
  if (s->exec.space == SPMV_HOST) spmv_pattern_facts(pattern, &limit->facts);
  spmv_workload_csr(pattern, AIJFMT_SCALAR, s->exec.space, &limit->facts, &work);
  if (!spmv_predict(&work, &limit->machine, &parents)) PetscFunctionReturn(PETSC_SUCCESS);
  limit->parent  = parents.product;
  limit->product = margin * parents.product;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets reason where a format that has accepted the pattern promises a product beyond the limit, or, without an
   analysis, where it would even with the least arrays possible */
PetscErrorCode AIJFmtTimeLimitCheck(const Mat_AIJFmt *s, const AIJFmtTimeLimit *limit, const SpmvPattern *pattern,
                                    const SpmvAnalysis *analysis, char reason[SPMV_MESSAGE_MAX])
{
  SpmvWorkload   work;
  SpmvPrediction predicted;
  int            known;

  PetscFunctionBegin;
  if (limit->product == PETSC_MAX_REAL) PetscFunctionReturn(PETSC_SUCCESS);
  if (analysis) {
    spmv_workload(analysis, &limit->facts, &work);
    known = spmv_predict(&work, &limit->machine, &predicted);
  } else
    known = spmv_predict_least(&s->format_options, pattern, AIJFMT_SCALAR, s->exec.space, &limit->facts,
                               &limit->machine, &predicted);
  if (!known || predicted.product <= limit->product) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(reason, SPMV_MESSAGE_MAX,
                          "format %s: a product in %.2e s%s predicted, %.2e s by the parent type; "
                          "-mat_aijfmt_decline measured tries both, bytes packs, -mat_type aijauto chooses",
                          s->format_options.format->name, predicted.product, analysis ? "" : " or more",
                          limit->parent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why the parent type does the products of a matrix with a choice */
PetscErrorCode AIJFmtParentReason(const Mat_AIJFmt *s, char reason[SPMV_MESSAGE_MAX])
{
  const AIJFmtChoice    *choice = s->choice;
  const AIJFmtCandidate *parent = &choice->candidate[0], *other = &choice->candidate[1];

  PetscFunctionBegin;
  if (choice->trials > 0) PetscCall(PetscStrncpy(reason, "it has its turn in a trial", SPMV_MESSAGE_MAX));
  else if (AIJFmtIsAuto(s))
    PetscCall(PetscStrncpy(reason,
                           parent->possible ? "no format is expected to be faster" : "no format takes this pattern",
                           SPMV_MESSAGE_MAX));
  else if (!other->possible) PetscCall(PetscStrncpy(reason, other->reason, SPMV_MESSAGE_MAX));
  else if (parent->measured > 0 && other->measured > 0)
    PetscCall(PetscSNPrintf(reason, SPMV_MESSAGE_MAX,
                            "format %s: a product in %.2e s measured, %.2e s by the parent type; "
                            "-mat_aijfmt_decline bytes packs",
                            other->format->name, other->measured, parent->measured));
  else
    PetscCall(PetscSNPrintf(reason, SPMV_MESSAGE_MAX,
                            "format %s: predicted to be slower, in a trial that ended before both were measured",
                            other->format->name));
  PetscFunctionReturn(PETSC_SUCCESS);
}
