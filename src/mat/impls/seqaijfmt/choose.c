/*
  choose.c - MATAIJAUTO: which format serves a pattern. A format analyzes the pattern, which tells its bytes; the cost
  model of spmv_predict.h turns them into seconds; the candidate with the lowest cost, of its conversion and of all
  products expected, is chosen. If that is the parent type, the matrix declines. A format that cannot win even at its
  lower bound is not analyzed. plan.c builds what is chosen, from the analysis that was made for the choice.
*/
#include "seqaijfmt.h"

PetscBool AIJFmtIsAuto(const Mat_AIJFmt *s)
{
  return s->format_options.format == &AIJFmtAutoTable ? PETSC_TRUE : PETSC_FALSE;
}

/* Whether there are kernels for the GPU: of its format, or of one of those that aijauto chooses from */
PetscBool AIJFmtHasKernels(const Mat_AIJFmt *s)
{
  return s->format_options.format->device || AIJFmtIsAuto(s) ? PETSC_TRUE : PETSC_FALSE;
}

/* The format of a plan of this matrix, with its options; of aijauto that of the choice */
const SpmvOptions *AIJFmtPlanOptions(const Mat_AIJFmt *s)
{
  return AIJFmtIsAuto(s) && s->choice && s->choice->options.format ? &s->choice->options : &s->format_options;
}

static const char *Name(const AIJFmtCandidate *c) { return c->format ? c->format->name : "the parent type"; }

/* One line on a candidate, for views and -info */
PetscErrorCode AIJFmtCandidateText(const AIJFmtChoice *choice, int i, char text[], size_t size)
{
  const AIJFmtCandidate *c            = &choice->candidate[i];
  const char            *note         = i == choice->chosen ? "; chosen" : "";
  char                   measured[64] = "";

  PetscFunctionBegin;
  if (c->measured > 0) PetscCall(PetscSNPrintf(measured, sizeof measured, ", %.2e s measured", c->measured));
  if (c->state == AIJFMT_IMPOSSIBLE) PetscCall(PetscSNPrintf(text, size, "candidate %s: no, %s", Name(c), c->reason));
  else if (!c->known)
    PetscCall(
        PetscSNPrintf(text, size, "candidate %s: the model has no coefficients for it%s%s", Name(c), measured, note));
  else
    PetscCall(PetscSNPrintf(text, size, "candidate %s: a product in %.2e s %s%s, conversion %.2e s%s", Name(c),
                            c->predicted.product, c->state == AIJFMT_BOUND ? "at best, not analyzed" : "predicted",
                            measured, c->predicted.convert, note));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtChoiceInfo(Mat A, const AIJFmtChoice *choice)
{
  char text[2 * SPMV_MESSAGE_MAX];

  PetscFunctionBegin;
  for (int i = 0; i < choice->count; i++) {
    PetscCall(AIJFmtCandidateText(choice, i, text, sizeof text));
    PetscCall(PetscInfo(A, "%s\n", text));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products of the parent type are an alternative to a plan on the GPU only if they run there too */
static PetscErrorCode ParentReason(const Mat_AIJFmt *s, char reason[SPMV_MESSAGE_MAX])
{
  PetscFunctionBegin;
  reason[0] = 0;
  if (!AIJFmtClassFlag(s, AIJFMT_DECLINE))
    PetscCall(PetscStrncpy(reason, "-mat_aijfmt_decline false", SPMV_MESSAGE_MAX));
  else if (s->exec.space == SPMV_DEVICE && !AIJFmtIsOverCuda(s))
    PetscCall(PetscStrncpy(reason, "its products are on the host", SPMV_MESSAGE_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All candidates, the parent type first, and the lower bound of each format */
static PetscErrorCode ListCandidates(const Mat_AIJFmt *s, const SpmvPattern *pattern, AIJFmtChoice *choice)
{
  AIJFmtCandidate *parent = &choice->candidate[0];
  SpmvWorkload     work;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&choice->facts, sizeof choice->facts));
  if (choice->space == SPMV_HOST) spmv_pattern_facts(pattern, &choice->facts);
  PetscCall(PetscMemzero(choice->candidate, sizeof choice->candidate));
  choice->count = PetscMin(spmv_format_count() + 1, AIJFMT_CANDIDATES_MAX);
  PetscCall(ParentReason(s, parent->reason));
  parent->state = parent->reason[0] ? AIJFMT_IMPOSSIBLE : AIJFMT_ANALYZED;
  work          = spmv_workload_csr(pattern, AIJFMT_SCALAR, choice->space, &choice->facts);
  parent->known = spmv_predict(&work, &parent->predicted) ? PETSC_TRUE : PETSC_FALSE;
  for (int i = 1; i < choice->count; i++) {
    AIJFmtCandidate *c = &choice->candidate[i];

    c->format = spmv_format_get(i - 1);
    work      = spmv_workload_least(c->format, pattern, AIJFMT_SCALAR, choice->space, &choice->facts);
    c->known  = spmv_predict(&work, &c->predicted) ? PETSC_TRUE : PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Several analyses on the GPU read one copy of the pattern there. Without memory for it each makes its own. */
static PetscErrorCode PlacePattern(Mat_AIJFmt *s, const SpmvPattern *pattern)
{
  AIJFmtChoice *choice = s->choice;
  SpmvCsr       there;
  SpmvStatus    status;

  PetscFunctionBegin;
  choice->pattern = *pattern;
  if (choice->space != SPMV_DEVICE || pattern->nnz == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtUpload(&s->exec, pattern, NULL, AIJFMT_INDEX, &there, &choice->on_gpu, &status));
  if (status == SPMV_ERR_MEMORY) PetscFunctionReturn(PETSC_SUCCESS);
  AIJFmtCallSpmv(&s->exec, status);
  choice->pattern = there.pattern;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the lower bound of a candidate by what its analysis tells, or notes why it is impossible. The analysis stays
   in the choice unless that of a cheaper candidate is there. */
static PetscErrorCode Analyze(Mat_AIJFmt *s, const SpmvPattern *pattern, int i)
{
  AIJFmtChoice    *choice = s->choice;
  AIJFmtCandidate *c      = &choice->candidate[i];
  SpmvAnalysis     analysis, worse;
  SpmvOptions      options;
  SpmvWorkload     work;

  PetscFunctionBegin;
  c->state = AIJFMT_IMPOSSIBLE;
  if (!choice->pattern.row_ptr) PetscCall(PlacePattern(s, pattern));
  spmv_options_init(&options, c->format);
  if (spmv_analyze(c->format, &choice->pattern, AIJFMT_SCALAR, &options, &s->exec, &analysis)) {
    PetscCall(PetscStrncpy(c->reason, s->exec.message, sizeof c->reason));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!analysis.accepted && AIJFmtClassFlag(s, AIJFMT_DECLINE)) {
    PetscCall(PetscStrncpy(c->reason, analysis.reason, sizeof c->reason));
    spmv_analysis_clear(&analysis, &s->exec);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  work  = spmv_workload(&analysis, &choice->facts);
  worse = analysis;
  (void)spmv_predict(&work, &c->predicted);
  c->state = AIJFMT_ANALYZED;
  if (!choice->analyzed || c->predicted.product < choice->candidate[choice->analyzed].predicted.product) {
    worse            = choice->analysis;
    choice->analysis = analysis;
    choice->analyzed = i;
  }
  spmv_analysis_clear(&worse, &s->exec);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the candidate with the lowest cost, and whether it is worth its conversion. Analyzes a format only where its
   lower bound is below all costs that are known. *best: 0 where no format is worth it. */
PetscErrorCode AIJFmtChoiceSearch(Mat_AIJFmt *s, const SpmvPattern *pattern, AIJFmtWorth worth, int *best)
{
  AIJFmtChoice *choice = s->choice;

  PetscFunctionBegin;
  for (*best = 0;; *best = 0) {
    double lowest = PETSC_MAX_REAL, cost;

    for (int i = 1; i < choice->count; i++)
      if (choice->candidate[i].state != AIJFMT_IMPOSSIBLE && worth(choice, i, &cost) && cost < lowest) {
        *best  = i;
        lowest = cost;
      }
    if (*best == 0 || choice->candidate[*best].state == AIJFMT_ANALYZED) break;
    PetscCall(Analyze(s, pattern, *best));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By prediction: whether a format costs less than the parent type, of which it must be faster by the margin */
PetscBool AIJFmtWorthByPrediction(const AIJFmtChoice *choice, int i, double *cost)
{
  const AIJFmtCandidate *c = &choice->candidate[i], *parent = &choice->candidate[0];

  *cost = c->predicted.convert + choice->expected * c->predicted.product * SPMV_PREDICT_MARGIN;
  if (!c->known) return PETSC_FALSE;
  if (parent->state == AIJFMT_IMPOSSIBLE) return PETSC_TRUE;
  return *cost < parent->predicted.convert + choice->expected * parent->predicted.product ? PETSC_TRUE : PETSC_FALSE;
}

/* Makes candidate i the one whose plan is built next */
void AIJFmtChooseCandidate(AIJFmtChoice *choice, int i)
{
  choice->chosen         = i;
  choice->options.format = NULL;
  if (choice->candidate[i].format) spmv_options_init(&choice->options, choice->candidate[i].format);
}

/* The choice for a new pattern. Products expected: what the user says, or as many as the pattern before had. */
static PetscErrorCode Choose(Mat A, Mat_AIJFmt *s, const AIJFmtKey *key)
{
  const PetscLogDouble wanted = s->format_options.value[AIJAUTO_EXPECTED];
  const PetscLogDouble all    = s->info.products + s->info.fallbacks;
  AIJFmtChoice        *choice = s->choice;
  PetscBool            parent_first;
  int                  best = 0;

  PetscFunctionBegin;
  choice->expected        = wanted > 0                      ? wanted
                            : all > choice->products_before ? all - choice->products_before
                                                            : SPMV_PREDICT_PRODUCTS;
  choice->products_before = all;
  choice->key             = *key;
  choice->space           = s->exec.space;
  PetscCall(ListCandidates(s, &key->pattern, choice));
  AIJFmtTrialStart(s, &parent_first);
  if (!parent_first) PetscCall(AIJFmtChoiceSearch(s, &key->pattern, AIJFmtWorthByPrediction, &best));
  AIJFmtChooseCandidate(choice, best);
  choice->valid = PETSC_TRUE;
  PetscCall(AIJFmtChoiceInfo(A, choice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Chooses for a new pattern of a matrix of type aijauto, in s->exec.space; a choice for this pattern stays. reason is
   set when the parent type is chosen. */
PetscErrorCode AIJFmtChoose(Mat A, Mat_AIJFmt *s, const AIJFmtKey *key, char reason[SPMV_MESSAGE_MAX])
{
  const char *why;

  PetscFunctionBegin;
  if (!AIJFmtIsAuto(s)) PetscFunctionReturn(PETSC_SUCCESS);
  if (!s->choice) PetscCall(PetscNew(&s->choice));
  if (!s->choice->valid || s->choice->space != s->exec.space || !AIJFmtSameStructure(&s->choice->key, key)) {
    PetscCall(AIJFmtChoiceForget(s));
    PetscCall(Choose(A, s, key));
  }
  if (s->choice->options.format) PetscFunctionReturn(PETSC_SUCCESS);
  why = s->choice->trial                                     ? "it is measured in a trial"
        : s->choice->candidate[0].state == AIJFMT_IMPOSSIBLE ? "no format takes this pattern"
                                                             : "no format is expected to be faster";
  PetscCall(PetscStrncpy(reason, why, SPMV_MESSAGE_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees what a choice holds besides itself, and makes the next product choose anew */
PetscErrorCode AIJFmtChoiceForget(Mat_AIJFmt *s)
{
  PetscFunctionBegin;
  if (!s->choice) PetscFunctionReturn(PETSC_SUCCESS);
  s->choice->valid = s->choice->trial = PETSC_FALSE;
  PetscCall(AIJFmtChoiceAnalysisClear(s));
  (void)AIJFmtTrialAsideFree(s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the analysis, and the pattern on the GPU unless a trial goes on */
PetscErrorCode AIJFmtChoiceAnalysisClear(Mat_AIJFmt *s)
{
  PetscFunctionBegin;
  if (!s->choice) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->choice->analyzed) spmv_analysis_clear(&s->choice->analysis, &s->exec);
  s->choice->analyzed = 0;
  if (s->choice->trial) PetscFunctionReturn(PETSC_SUCCESS);
  spmv_exec_free(&s->exec, SPMV_DEVICE, s->choice->on_gpu);
  s->choice->on_gpu          = NULL;
  s->choice->pattern.row_ptr = NULL;
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
   MATAIJAUTO = "aijauto" - A sparse matrix that takes, for each sequential block, the fastest format of petscpack, or
   none: then it works as `MATAIJ`.

   Options Database Keys:
+  -mat_type aijauto            - sets the type during a call to `MatSetFromOptions()`
.  -mat_aijauto_expected <n>    - products for which a conversion must pay
-  -mat_aijauto_trial <n>       - measures n products of the parent type and of at most two formats, instead of predicting

   Level: beginner

   Notes:
   At the first product the formats that could be the fastest analyze the pattern, and a cost model predicts the time of
   a product from the bytes of the packed arrays and from the pattern. The choice depends on the pattern, the options,
   and on whether products run on the host or on the GPU: it is the same in every run and on every machine.
   `-mat_view ::ascii_info` and `-info` list all candidates with their times.

   With `-mat_aijauto_trial` the parent type does the first products, and then each of at most two formats that can pay
   for their conversion; the fastest stays. Since the choice then depends on measured times, results may differ in the
   last bits from one run to the next.

   The choice holds until the pattern changes; new values change nothing. The formats have their default options; name
   the type to set others. The pages docs/choosing.md and docs/options/aijauto.md say more.

.seealso: `MatAIJFmtSetOption()`, `MatAIJAutoGetFormat()`, `MATAIJRBP`, `MATAIJ`
M*/
