/*
  choose.c - MATAIJAUTO: chooses the format for a pattern. The analysis of a format tells its bytes; the cost model of
  spmv_predict.h turns bytes into seconds. The candidate with the lowest total cost, conversion plus all expected
  products, wins. If the parent type wins, the matrix declines. A format that cannot win even at its lower bound is not
  analyzed. sync.c builds the chosen plan from the analysis made here.
*/
#include "aijfmt.h"
#include <petsctime.h>

/* Whether the conversion to a candidate may pay, and the seconds for the conversion and all products to come */
typedef PetscBool Worth(const AIJFmtChoice *, int candidate, double *cost);

static const char *CandidateName(const AIJFmtCandidate *c) { return c->format ? c->format->name : "the parent type"; }

/* One line about a candidate, for views and -info */
PetscErrorCode AIJFmtCandidateText(const AIJFmtChoice *choice, int i, char text[], size_t size)
{
  const AIJFmtCandidate *c            = &choice->candidate[i];
  const char            *note         = i == choice->chosen ? "; chosen" : "";
  char                   measured[64] = "";

  PetscFunctionBegin;
  if (c->measured > 0) PetscCall(PetscSNPrintf(measured, sizeof measured, ", %.2e s measured", c->measured));
  if (c->state == AIJFMT_IMPOSSIBLE)
    PetscCall(PetscSNPrintf(text, size, "candidate %s: no, %s", CandidateName(c), c->reason));
  else if (!c->known)
    PetscCall(PetscSNPrintf(text, size, "candidate %s: the model has no coefficients for it%s%s", CandidateName(c),
                            measured, note));
  else
    PetscCall(PetscSNPrintf(text, size, "candidate %s: a product in %.2e s %s%s, conversion %.2e s%s", CandidateName(c),
                            c->predicted.product, c->state == AIJFMT_BOUND ? "at best, not analyzed" : "predicted",
                            measured, c->predicted.convert, note));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ChoiceInfo(Mat A, const AIJFmtChoice *choice)
{
  char text[2 * SPMV_MESSAGE_MAX];

  PetscFunctionBegin;
  for (int i = 0; i < choice->count; i++) {
    PetscCall(AIJFmtCandidateText(choice, i, text, sizeof text));
    PetscCall(PetscInfo(A, "%s\n", text));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent type competes with a plan on the GPU only if its own products run on the GPU too */
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

/* Lists all candidates, the parent type first, with the lower bound of each format */
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

/* Copies the pattern to the GPU once for all analyses. If memory does not suffice, each analysis makes its own copy. */
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

/* Replaces the lower bound of a candidate by the prediction from its analysis, or notes why the candidate is
   impossible. The choice keeps the analysis of the cheapest candidate only. */
static PetscErrorCode CandidateAnalyze(Mat_AIJFmt *s, const SpmvPattern *pattern, int i)
{
  AIJFmtChoice    *choice = s->choice;
  AIJFmtCandidate *c      = &choice->candidate[i];
  SpmvAnalysis     analysis, discarded; /* the one that is not kept */
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
  work      = spmv_workload(&analysis, &choice->facts);
  discarded = analysis;
  (void)spmv_predict(&work, &c->predicted);
  c->state = AIJFMT_ANALYZED;
  if (!choice->analyzed || c->predicted.product < choice->candidate[choice->analyzed].predicted.product) {
    discarded        = choice->analysis;
    choice->analysis = analysis;
    choice->analyzed = i;
  }
  spmv_analysis_clear(&discarded, &s->exec);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the candidate with the lowest cost that is worth its conversion. Analyzes a format only if its lower bound is
   below all known costs. *best is 0 if no format is worth it. */
static PetscErrorCode CandidateSearch(Mat_AIJFmt *s, const SpmvPattern *pattern, Worth *worth, int *best)
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
    PetscCall(CandidateAnalyze(s, pattern, *best));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By prediction: whether a format, conversion included, is faster than the parent type by SPMV_PREDICT_MARGIN */
static PetscBool WorthByPrediction(const AIJFmtChoice *choice, int i, double *cost)
{
  const AIJFmtCandidate *c = &choice->candidate[i], *parent = &choice->candidate[0];

  *cost = c->predicted.convert + choice->expected * c->predicted.product * SPMV_PREDICT_MARGIN;
  if (!c->known) return PETSC_FALSE;
  if (parent->state == AIJFMT_IMPOSSIBLE) return PETSC_TRUE;
  return *cost < parent->predicted.convert + choice->expected * parent->predicted.product ? PETSC_TRUE : PETSC_FALSE;
}

/* Makes candidate i the one whose plan will be built */
static void ChooseCandidate(AIJFmtChoice *choice, int i)
{
  choice->chosen         = i;
  choice->options.format = NULL;
  if (choice->candidate[i].format) spmv_options_init(&choice->options, choice->candidate[i].format);
}

/* Begins a trial if the user wants one. parent_first: the parent type does the first products */
static void TrialStart(Mat_AIJFmt *s, PetscBool *parent_first)
{
  AIJFmtChoice *c = s->choice;

  c->trial = s->format_options.value[AIJAUTO_TRIAL] > 0 ? PETSC_TRUE : PETSC_FALSE;
  c->runs = c->done = 0;
  *parent_first     = c->trial && c->candidate[0].state != AIJFMT_IMPOSSIBLE ? PETSC_TRUE : PETSC_FALSE;
  c->conversions    = *parent_first ? 0 : 1;
}

/* Makes the choice for a new pattern. Expected products: the user's number, else the count that the previous pattern
   reached. */
static PetscErrorCode ChoiceMake(Mat A, Mat_AIJFmt *s, const AIJFmtKey *key)
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
  TrialStart(s, &parent_first);
  if (!parent_first) PetscCall(CandidateSearch(s, &key->pattern, WorthByPrediction, &best));
  ChooseCandidate(choice, best);
  choice->valid = PETSC_TRUE;
  PetscCall(ChoiceInfo(A, choice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Chooses for a new pattern of a matrix of type aijauto, in s->exec.space; keeps an existing choice for this pattern.
   Sets reason if the parent type is chosen. */
PetscErrorCode AIJFmtChoose(Mat A, Mat_AIJFmt *s, const AIJFmtKey *key, char reason[SPMV_MESSAGE_MAX])
{
  const char *why;

  PetscFunctionBegin;
  if (!AIJFmtIsAuto(s)) PetscFunctionReturn(PETSC_SUCCESS);
  if (!s->choice) PetscCall(PetscNew(&s->choice));
  if (!s->choice->valid || s->choice->space != s->exec.space || !AIJFmtSameStructure(&s->choice->key, key)) {
    PetscCall(AIJFmtChoiceForget(s));
    PetscCall(ChoiceMake(A, s, key));
  }
  if (s->choice->options.format) PetscFunctionReturn(PETSC_SUCCESS);
  why = s->choice->trial                                     ? "it is measured in a trial"
        : s->choice->candidate[0].state == AIJFMT_IMPOSSIBLE ? "no format takes this pattern"
                                                             : "no format is expected to be faster";
  PetscCall(PetscStrncpy(reason, why, SPMV_MESSAGE_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  ---- a trial: -mat_aijauto_trial n ----

  The first products of a matrix are timed: n by the parent type, then n by each of at most two formats; the fastest
  stays. The trial adds no products: it times those that the program asks for. A format is tried only if its conversion
  can pay within the expected products. The plan of the first format is kept while the second one is tried, so that the
  winner is never converted twice.
*/

enum { MOST_CONVERSIONS = 2 };

/* A format is tried if its predicted gain over the remaining products is GAIN times its conversion. Because the model
   may be wrong by a quarter, a format is also tried if its conversion takes less than CHEAP of the remaining time and
   it would win with OPTIMISM times its predicted product. */
static const double GAIN[] = {[SPMV_HOST] = 2, [SPMV_DEVICE] = 1.25}, CHEAP = 0.015, OPTIMISM = 0.75;

/* Timer noise on the GPU between products: candidates that lie closer together count as equal */
static const double DEVICE_CLOCK = 2e-6;

static PetscBool HasTrial(const Mat_AIJFmt *s)
{
  return AIJFmtIsAuto(s) && s->choice && s->choice->valid && s->choice->trial &&
                 AIJFmtSameStructure(&s->choice->key, &s->cache.key)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* The fastest candidate so far: the predicted winner, unless another one is measurably faster. A format that was
   measured slower than the parent type, by however little, never wins. */
static int CandidateFastest(const AIJFmtChoice *c)
{
  const double clock = c->space == SPMV_DEVICE ? DEVICE_CLOCK : 0;
  int          best  = -1;

  for (int i = 0; i < c->count; i++)
    if (c->candidate[i].measured > 0 &&
        (best < 0 || c->candidate[i].predicted.product < c->candidate[best].predicted.product))
      best = i;
  for (int i = 0; i < c->count; i++)
    if (c->candidate[i].measured > 0 &&
        c->candidate[i].measured + (i == 0 || best == 0 ? 0 : clock) < c->candidate[best].measured)
      best = i;
  return best;
}

/* By measurement: whether the conversion of a candidate can pay within the remaining products */
static PetscBool WorthByTrial(const AIJFmtChoice *c, int i, double *cost)
{
  const AIJFmtCandidate *one = &c->candidate[i], *best = &c->candidate[CandidateFastest(c)];
  const double           scale   = best->measured / best->predicted.product; /* time on this machine over the model's */
  const double           left    = PetscMax(c->expected - c->done, 0);
  const double           convert = scale * one->predicted.convert, product = scale * one->predicted.product;

  *cost = convert + left * product;
  if (one->measured > 0) return PETSC_FALSE;
  if (GAIN[c->space] * convert < left * (best->measured - product)) return PETSC_TRUE;
  return convert < CHEAP * left * best->measured && OPTIMISM * product < best->measured ? PETSC_TRUE : PETSC_FALSE;
}

static void PutAside(Mat_AIJFmt *s)
{
  s->choice->aside = (AIJFmtAside){s->choice->chosen, s->cache};
  s->cache         = (AIJFmtPlanCache){.plan = NULL};
}

/* Swaps the plan of A for the one put aside. New values reach it as they reach any plan. */
static PetscErrorCode TakeBack(Mat_AIJFmt *s)
{
  PetscFunctionBegin;
  PetscCall(AIJFmtStateForget(s));
  s->cache               = s->choice->aside.cache;
  s->choice->aside.cache = (AIJFmtPlanCache){.plan = NULL};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes candidate i multiply from the next product on */
static PetscErrorCode CandidateChange(Mat A, Mat_AIJFmt *s, Vec x, int i)
{
  AIJFmtChoice *c = s->choice;

  PetscFunctionBegin;
  if (i == c->chosen) PetscFunctionReturn(PETSC_SUCCESS);
  if (c->trial && s->cache.plan) PutAside(s);
  ChooseCandidate(c, i);
  if (c->aside.cache.plan && c->aside.candidate == i) PetscCall(TakeBack(s));
  else PetscCall(AIJFmtStateForget(s));
  PetscCall(AIJFmtSync(A, s, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SearchAgain(Mat A, Mat_AIJFmt *s, Worth *worth, int *best)
{
  SpmvPattern pattern;

  PetscFunctionBegin;
  PetscCall(AIJFmtHostPatternGet(A, &pattern));
  PetscCall(CandidateSearch(s, &pattern, worth, best));
  PetscCall(AIJFmtHostPatternRestore(A, &pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends the trial: the fastest candidate stays. A trial that ends before any format was tried takes the best by
   prediction. */
PetscErrorCode AIJFmtTrialConclude(Mat A, Mat_AIJFmt *s, Vec x)
{
  AIJFmtChoice *c = s->choice;
  int           best, untried = 0;

  PetscFunctionBegin;
  if (!HasTrial(s)) PetscFunctionReturn(PETSC_SUCCESS);
  best = CandidateFastest(c);
  if (c->conversions == 0) PetscCall(SearchAgain(A, s, best < 0 ? WorthByPrediction : WorthByTrial, &untried));
  if (untried || best < 0) best = untried ? untried : c->chosen;
  c->trial = PETSC_FALSE;
  PetscCall(CandidateChange(A, s, x, best));
  PetscCall(PetscInfo(A, "trial: %s stays\n", best ? c->candidate[best].format->name : "the parent type"));
  PetscCall(ChoiceInfo(A, c));
  (void)AIJFmtTrialAsideFree(s);
  PetscCall(AIJFmtChoiceAnalysisClear(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives the next format its turn; if no format is worth it, ends the trial */
static PetscErrorCode TrialNext(Mat A, Mat_AIJFmt *s, Vec x)
{
  AIJFmtChoice *c    = s->choice;
  int           next = 0;

  PetscFunctionBegin;
  if (c->conversions < MOST_CONVERSIONS) PetscCall(SearchAgain(A, s, WorthByTrial, &next));
  if (next) {
    c->runs = 0;
    c->conversions++;
    PetscCall(CandidateChange(A, s, x, next));
    if (s->cache.plan) PetscFunctionReturn(PETSC_SUCCESS);
    c->candidate[next].state = AIJFMT_IMPOSSIBLE;
    PetscCall(PetscStrncpy(c->candidate[next].reason, s->why[AIJFMT_WHY_PARENT], SPMV_MESSAGE_MAX));
  }
  PetscCall(AIJFmtTrialConclude(A, s, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TrialWait(Mat_AIJFmt *s)
{
  PetscFunctionBegin;
  if (s->exec.space != SPMV_DEVICE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtCudaStream(&s->exec));
  AIJFmtCallSpmv(&s->exec, spmv_stream_wait(&s->exec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before a product: makes the next candidate ready if this one has had its turn, and reads the clock */
PetscErrorCode AIJFmtTrialBegin(Mat A, Mat_AIJFmt *s, Vec x)
{
  PetscFunctionBegin;
  if (!HasTrial(s)) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->choice->runs >= s->format_options.value[AIJAUTO_TRIAL]) PetscCall(TrialNext(A, s, x));
  PetscCall(TrialWait(s));
  PetscCall(PetscTime(&s->choice->start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtTrialEnd(Mat_AIJFmt *s)
{
  AIJFmtChoice    *c = s->choice;
  AIJFmtCandidate *now;
  PetscLogDouble   end;

  PetscFunctionBegin;
  if (!HasTrial(s)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TrialWait(s));
  PetscCall(PetscTime(&end));
  now           = &c->candidate[c->chosen];
  now->measured = now->measured > 0 ? PetscMin(now->measured, end - c->start) : end - c->start;
  c->runs++;
  c->done++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the type ---- */

/*@C
  MatAIJAutoGetFormat - Gets the format that was chosen for a matrix of type `MATAIJAUTO`

  Not Collective

  Input Parameter:
. A - the matrix; for a parallel matrix, the diagonal block of this process is asked

  Output Parameter:
. format - its name, such as "rbp"; "" if the parent type was chosen, `NULL` before the first product

  Level: advanced

  Note:
  During a trial, `format` is the one that does the next product.

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
   MATAIJAUTO = "aijauto" - A sparse matrix that takes the fastest format of petscpack for each sequential block, or
   none: then it works as `MATAIJ`.

   Options Database Keys:
+  -mat_type aijauto            - sets the type during a call to `MatSetFromOptions()`
.  -mat_aijauto_expected <n>    - number of products within which a conversion must pay
-  -mat_aijauto_trial <n>       - measures n products of the parent type and of each format tried, at most two

   Level: beginner

   Notes:
   At the first product, the formats that could be the fastest analyze the pattern, and a cost model predicts the time
   of a product from the bytes of the packed arrays and from the pattern. The choice depends only on the pattern, the
   options, and whether products run on the host or on the GPU: it is the same in every run and on every machine.
   `-mat_view ::ascii_info` and `-info` list all candidates with their times.

   With `-mat_aijauto_trial` the parent type does the first products, and then each of at most two formats whose
   conversion can pay; the fastest stays. Since the choice then depends on measured times, results may differ in the
   last bits from one run to the next.

   The choice holds until the pattern changes; new values do not change it. The formats have their default options; to
   set their options, name the type of the format instead. See docs/choosing.md and docs/options/aijauto.md.

.seealso: `MatAIJFmtSetOption()`, `MatAIJAutoGetFormat()`, `MATAIJRBP`, `MATAIJ`
M*/
