/*
  auto.c - MATAIJAUTO: which format serves a pattern. The formats analyze it, which tells their bytes; the model of
  spmv_predict.h turns them into times; the candidate with the least time for the conversion and all products that are
  expected is chosen. A format that would not be even with the fewest bytes possible is spared the analysis. Where that
  is the parent type, the matrix declines. sync.c builds what is chosen.

  A matrix of another type has a choice as well when -mat_aijfmt_decline is measured: between its format and the parent
  type, by a trial.
*/
#include "seqaijfmt.h"

PetscBool AIJFmtIsAuto(const Mat_AIJFmt *s)
{
  return s->format_options.format == &AIJFmtAutoTable ? PETSC_TRUE : PETSC_FALSE;
}

/* The format of a plan of this matrix, with its options; of aijauto that of the choice */
const SpmvOptions *AIJFmtPlanOptions(const Mat_AIJFmt *s)
{
  return AIJFmtIsAuto(s) && s->choice && s->choice->options.format ? &s->choice->options : &s->format_options;
}

/* Whether the matrix has made a choice that holds */
PetscBool AIJFmtHasChoice(const Mat_AIJFmt *s)
{
  return s->choice && s->choice->valid && (AIJFmtIsAuto(s) || AIJFmtIsMeasured(s)) ? PETSC_TRUE : PETSC_FALSE;
}

static const char *Name(const AIJFmtCandidate *c) { return c->format ? c->format->name : "the parent type"; }

/* One line on a candidate, for views and -info */
PetscErrorCode AIJFmtCandidateText(const AIJFmtChoice *choice, int i, char text[], size_t size)
{
  const AIJFmtCandidate *c            = &choice->candidate[i];
  char                   measured[64] = "";

  PetscFunctionBegin;
  if (!c->possible) {
    PetscCall(PetscSNPrintf(text, size, "candidate %s: no, %s", Name(c), c->reason));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (c->measured > 0) PetscCall(PetscSNPrintf(measured, sizeof measured, ", %.2e s measured", c->measured));
  PetscCall(PetscSNPrintf(text, size, "candidate %s: a product in %.2e s predicted%s%s, conversion %.2e s%s", Name(c),
                          c->predicted.product, c->known ? "" : " from bytes alone", measured, c->predicted.convert,
                          i == choice->chosen ? "; chosen" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products that the plan will do: what the user says, or as many as the pattern before had */
static PetscErrorCode Expect(const Mat_AIJFmt *s, AIJFmtChoice *choice)
{
  const PetscLogDouble all = s->info.products + s->info.fallbacks, last = all - choice->products_before;
  const PetscLogDouble wanted = AIJFmtIsAuto(s) ? s->format_options.value[AIJAUTO_EXPECTED] : 0;

  PetscFunctionBegin;
  choice->expected        = wanted > 0 ? wanted : last > 0 ? last : AIJFMT_EXPECTED_AT_FIRST;
  choice->products_before = all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products by the parent type need no conversion */
static PetscErrorCode PredictParent(const Mat_AIJFmt *s, const SpmvPattern *pattern, const SpmvPatternFacts *facts,
                                    const SpmvMachine *machine, AIJFmtCandidate *c)
{
  PetscBool    competes;
  SpmvWorkload work;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentCompetes(s, &competes));
  if (!AIJFmtClassFlag(s, AIJFMT_DECLINE))
    PetscCall(PetscStrncpy(c->reason, "-mat_aijfmt_decline false", sizeof c->reason));
  else if (!competes) PetscCall(PetscStrncpy(c->reason, "its products are on the host", sizeof c->reason));
  else {
    spmv_workload_csr(pattern, AIJFMT_SCALAR, s->exec.space, facts, &work);
    c->known    = spmv_predict(&work, machine, &c->predicted) ? PETSC_TRUE : PETSC_FALSE;
    c->possible = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PredictFormat(Mat_AIJFmt *s, const SpmvPattern *pattern, const SpmvPatternFacts *facts,
                                    const SpmvMachine *machine, AIJFmtCandidate *c)
{
  SpmvAnalysis analysis;
  SpmvWorkload work;

  PetscFunctionBegin;
  if (spmv_analyze(c->format, pattern, AIJFMT_SCALAR, &c->options, &s->exec, &analysis)) {
    PetscCall(PetscStrncpy(c->reason, s->exec.message, sizeof c->reason));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!analysis.accepted && AIJFmtClassFlag(s, AIJFMT_DECLINE))
    PetscCall(PetscStrncpy(c->reason, analysis.reason, sizeof c->reason));
  else {
    spmv_workload(&analysis, facts, &work);
    c->known    = spmv_predict(&work, machine, &c->predicted) ? PETSC_TRUE : PETSC_FALSE;
    c->possible = PETSC_TRUE;
  }
  spmv_analysis_clear(&analysis, &s->exec);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Predicts the most that a format can promise before it has analyzed the pattern */
static PetscErrorCode PredictBestCase(const Mat_AIJFmt *s, const SpmvPattern *pattern, const SpmvPatternFacts *facts,
                                      const SpmvMachine *machine, AIJFmtCandidate *c)
{
  PetscFunctionBegin;
  c->known = spmv_predict_least(&c->options, pattern, AIJFMT_SCALAR, s->exec.space, facts, machine, &c->predicted)
                 ? PETSC_TRUE
                 : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the user has named the format, the cost tells who is tried last, and a conversion has to be paid in any case */
static void SetCost(const Mat_AIJFmt *s, AIJFmtCandidate *c)
{
  if (!AIJFmtIsAuto(s)) c->cost = c->predicted.product;
  else
    c->cost = c->predicted.convert + s->choice->expected * c->predicted.product * (c->format ? SPMV_PREDICT_MARGIN : 1);
}

/* Whether the analysis of a format cannot change the choice, for lack of constants or because even the best case costs
   more than what is known of another candidate. In a trial anything may turn out to be the fastest. */
static PetscErrorCode SkipsAnalysis(const Mat_AIJFmt *s, double least, AIJFmtCandidate *c, PetscBool *skips)
{
  PetscFunctionBegin;
  *skips = AIJFmtIsAuto(s) && s->format_options.value[AIJAUTO_TRIAL] == 0 && !(c->known && c->cost < least)
               ? PETSC_TRUE
               : PETSC_FALSE;
  if (!*skips) PetscFunctionReturn(PETSC_SUCCESS);
  if (c->known)
    PetscCall(PetscSNPrintf(c->reason, sizeof c->reason, "not analyzed: a product in %.2e s at best, conversion %.2e s",
                            c->predicted.product, c->predicted.convert));
  else PetscCall(PetscStrncpy(c->reason, "not analyzed: the model has no constants for it", sizeof c->reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Analyzes the pattern for the formats, beginning with the cheapest in the best case */
static PetscErrorCode PredictFormats(Mat_AIJFmt *s, const SpmvPattern *pattern, const SpmvPatternFacts *facts,
                                     const SpmvMachine *machine, AIJFmtChoice *choice)
{
  const AIJFmtCandidate *parent = &choice->candidate[0];
  double                 least  = parent->possible && parent->known ? parent->cost : PETSC_MAX_REAL;
  PetscBool              done[AIJFMT_CANDIDATES_MAX] = {PETSC_TRUE}, skips;

  PetscFunctionBegin;
  for (int i = 1; i < choice->count; i++) {
    PetscCall(PredictBestCase(s, pattern, facts, machine, &choice->candidate[i]));
    SetCost(s, &choice->candidate[i]);
  }
  for (int turn = 1; turn < choice->count; turn++) {
    AIJFmtCandidate *c = NULL;

    for (int i = 1; i < choice->count; i++)
      if (!done[i] && (!c || choice->candidate[i].cost < c->cost)) c = &choice->candidate[i];
    done[c - choice->candidate] = PETSC_TRUE;
    PetscCall(SkipsAnalysis(s, least, c, &skips));
    if (skips) continue;
    PetscCall(PredictFormat(s, pattern, facts, machine, c));
    SetCost(s, c);
    if (c->possible && c->known) least = PetscMin(least, c->cost);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Predicts all candidates. The first is the parent type. */
static PetscErrorCode PredictAll(Mat A, Mat_AIJFmt *s, const SpmvPattern *pattern, AIJFmtChoice *choice)
{
  const PetscBool  tries = AIJFmtIsAuto(s) && s->format_options.value[AIJAUTO_TRIAL] > 0 ? PETSC_TRUE : PETSC_FALSE;
  SpmvPatternFacts facts = {.repeated = 0};
  SpmvMachine      machine;

  PetscFunctionBegin;
  if (AIJFmtIsAuto(s)) PetscCall(AIJFmtMachineGet(A, &s->exec, &machine));
  else PetscCall(AIJFmtMachineReference(s->exec.space, &machine)); /* for the order in which they take turns */
  if (s->exec.space == SPMV_HOST) spmv_pattern_facts(pattern, &facts);
  choice->count = AIJFmtIsAuto(s) ? PetscMin(spmv_format_count() + 1, AIJFMT_CANDIDATES_MAX) : 2;
  for (int i = 0; i < choice->count; i++) {
    AIJFmtCandidate *c = &choice->candidate[i];

    PetscCall(PetscMemzero(c, sizeof *c));
    if (i > 0 && AIJFmtIsAuto(s)) PetscCall(AIJFmtDefaultOptions(A, spmv_format_get(i - 1), tries, &c->options));
    else if (i > 0) c->options = s->format_options;
    c->format = c->options.format;
  }
  PetscCall(PredictParent(s, pattern, &facts, &machine, &choice->candidate[0]));
  SetCost(s, &choice->candidate[0]);
  PetscCall(PredictFormats(s, pattern, &facts, &machine, choice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes candidate i the one whose plan is built next */
PetscErrorCode AIJFmtChooseCandidate(AIJFmtChoice *choice, int i)
{
  PetscFunctionBegin;
  choice->chosen  = i;
  choice->options = choice->candidate[i].options;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The candidate with the least cost. A format that the user has named is left by a trial alone. */
static int Best(const Mat_AIJFmt *s)
{
  const AIJFmtCandidate *candidate = s->choice->candidate;
  int                    best      = 0;

  if (!AIJFmtIsAuto(s)) return candidate[1].possible ? 1 : 0;
  for (int i = 1; i < s->choice->count; i++) {
    const AIJFmtCandidate *c = &candidate[i], *b = &candidate[best];

    if (c->possible && c->known && (!(b->possible && b->known) || c->cost < b->cost)) best = i;
  }
  return best;
}

static PetscErrorCode Choose(Mat A, Mat_AIJFmt *s, const AIJFmtKey *key)
{
  AIJFmtChoice *choice = s->choice;

  PetscFunctionBegin;
  choice->key   = *key;
  choice->space = s->exec.space;
  PetscCall(Expect(s, choice));
  PetscCall(PredictAll(A, s, &key->pattern, choice));
  PetscCall(AIJFmtChooseCandidate(choice, Best(s)));
  PetscCall(AIJFmtTrialStart(s, AIJFmtIsAuto(s) ? (int)s->format_options.value[AIJAUTO_TRIAL] : AIJFMT_MEASURED_RUNS));
  choice->valid = PETSC_TRUE;
  for (int i = 0; i < choice->count; i++) {
    char text[2 * SPMV_MESSAGE_MAX];

    PetscCall(AIJFmtCandidateText(choice, i, text, sizeof text));
    PetscCall(PetscInfo(A, "%s\n", text));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Chooses for a new pattern, in s->exec.space, where the matrix has a choice; one for this pattern stays. reason is set
   when the parent type is chosen. */
PetscErrorCode AIJFmtChoose(Mat A, Mat_AIJFmt *s, const AIJFmtKey *key, char reason[SPMV_MESSAGE_MAX])
{
  PetscFunctionBegin;
  if (!AIJFmtIsAuto(s) && !AIJFmtIsMeasured(s)) PetscFunctionReturn(PETSC_SUCCESS);
  if (!s->choice) PetscCall(PetscNew(&s->choice));
  if (!s->choice->valid || s->choice->space != s->exec.space || !AIJFmtSameStructure(&s->choice->key, key))
    PetscCall(Choose(A, s, key));
  if (!s->choice->candidate[s->choice->chosen].format) PetscCall(AIJFmtParentReason(s, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatAIJAutoGetFormat - Gets the format that was chosen for a matrix of type `MATAIJAUTO`

  Not Collective

  Input Parameter:
. A - the matrix; of a parallel one the diagonal block of this process counts

  Output Parameter:
. format - its name, such as "rbp"; "" where the parent type was chosen, `NULL` before the first product

  Level: advanced

  Note:
  During a trial it is the format that does the next product.

.seealso: `MATAIJAUTO`, `MatAIJFmtGetInfo()`
@*/
PetscErrorCode MatAIJAutoGetFormat(Mat A, const char *format[])
{
  const AIJFmtChoice *choice;
  Mat_AIJFmt         *s;
  Mat                 blocks[2] = {A, NULL};

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscAssertPointer(format, 2);
  PetscCall(AIJFmtStateRequire(A, "MatAIJAutoGetFormat()", &s));
  PetscCheck(AIJFmtIsAuto(s), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "MatAIJAutoGetFormat() needs a matrix of type %s; this one is of type %s", MATAIJAUTO,
             ((PetscObject)A)->type_name);
  if (s->parallel) PetscCall(AIJFmtBlocksGet(A, blocks));
  if (blocks[0]) PetscCall(AIJFmtStateGet(blocks[0], &s));
  choice  = blocks[0] && s ? s->choice : NULL;
  *format = !choice || !choice->valid ? NULL : choice->options.format ? choice->options.format->name : "";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   MATAIJAUTO = "aijauto" - A sparse matrix that takes, for each sequential block, the format of petscpack whose
products are expected to take the least time, or none: then it works as `MATAIJ`.

   Options Database Keys:
+  -mat_type aijauto     - sets the type during a call to `MatSetFromOptions()`
.  -mat_aijauto_expected - products for which a conversion must pay
-  -mat_aijauto_trial    - measured products of each of the three best candidates, in place of a prediction

   Level: beginner

   Notes:
   At the first product every format that could be the fastest analyzes the pattern, and a model predicts the time of a
   product from the bytes that a plan would take and a few numbers of the machine. These are measured once, in a
fraction of a second, and kept in the folder petscpack of `XDG_CACHE_HOME` or ~/.cache; `-petscpack_host_bandwidth`,
`-petscpack_host_rate`,
   `-petscpack_gpu_bandwidth` and `-petscpack_gpu_launch` give them. `-mat_view ::ascii_info` and `-info` list all
   candidates with their times.

   With `-mat_aijauto_trial` the first products of the matrix are done by one candidate after the other, and the fastest
   one stays. Results of such a run may differ in the last bits from one run to the next, because the choice depends on
   measured times.

   The choice holds until the pattern changes; new values change nothing. The formats have their default options; name
   the type to set others. `MATAIJCLUSTER` takes symmetric pairs of entries only where PETSc knows the matrix to be
   symmetric, see `MatSetOption()` with `MAT_SYMMETRIC` or `MAT_SPD`. The pages docs/choosing.md and
docs/options/aijauto.md say more.

.seealso: `MatAIJFmtSetOption()`, `MatAIJAutoGetFormat()`, `PetscPackSetMachine()`, `MATAIJRBP`, `MATAIJ`
M*/
