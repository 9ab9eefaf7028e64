/*
  trial.c - -mat_aijauto_trial n: the first products of a matrix are measured. The parent type does n of them, then each
  of at most two formats, and the fastest stays. No product is done twice: each is one that the program has asked for.

  A format is tried only if its conversion can pay within the products expected. The plan of the first format is kept
  while the second one is tried, so that the winner is never converted twice.
*/
#include "seqaijfmt.h"
#include <petsctime.h>

enum { MOST_CONVERSIONS = 2 };

/* A conversion is worth its cost if the predicted gain is so many times as much; or if it is so small a part of all
   products that the model may be wrong: then a format is tried that is faster if its prediction is a quarter too high. */
static const double GAIN[] = {[SPMV_HOST] = 2, [SPMV_DEVICE] = 1.25}, CHEAP = 0.015, OPTIMISM = 0.75;

/* Waits for the GPU differ by so much between products: candidates that lie closer together are not told apart */
static const double DEVICE_CLOCK = 2e-6;

static PetscBool HasTrial(const Mat_AIJFmt *s)
{
  return AIJFmtIsAuto(s) && s->choice && s->choice->valid && s->choice->trial &&
                 AIJFmtSameStructure(&s->choice->key, &s->cache.key)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Begins a trial if the user wants one. parent_first: the parent type is to do the first products */
void AIJFmtTrialStart(Mat_AIJFmt *s, PetscBool *parent_first)
{
  AIJFmtChoice *c = s->choice;

  c->trial = s->format_options.value[AIJAUTO_TRIAL] > 0 ? PETSC_TRUE : PETSC_FALSE;
  c->runs = c->done = 0;
  *parent_first     = c->trial && c->candidate[0].state != AIJFMT_IMPOSSIBLE ? PETSC_TRUE : PETSC_FALSE;
  c->conversions    = *parent_first ? 0 : 1;
}

/* The candidate that is fastest so far: the one that is predicted to be, unless another one is measurably faster. No
   format that has been slower than the parent type, by however little. */
static int Fastest(const AIJFmtChoice *c)
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

/* By what has been measured: whether the conversion of a candidate can pay in the products that are left */
static PetscBool WorthByTrial(const AIJFmtChoice *c, int i, double *cost)
{
  const AIJFmtCandidate *one = &c->candidate[i], *best = &c->candidate[Fastest(c)];
  const double           scale   = best->measured / best->predicted.product; /* this machine against the model's */
  const double           left    = PetscMax(c->expected - c->done, 0);
  const double           convert = scale * one->predicted.convert, product = scale * one->predicted.product;

  *cost = convert + left * product;
  if (one->measured > 0) return PETSC_FALSE;
  if (GAIN[c->space] * convert < left * (best->measured - product)) return PETSC_TRUE;
  return convert < CHEAP * left * best->measured && OPTIMISM * product < best->measured ? PETSC_TRUE : PETSC_FALSE;
}

/* Frees the plan that was put aside; whether there was one */
PetscBool AIJFmtTrialAsideFree(Mat_AIJFmt *s)
{
  const PetscBool had = s->choice->aside.cache.plan ? PETSC_TRUE : PETSC_FALSE;

  AIJFmtPlanDrop(&s->choice->aside.cache, &s->exec);
  return had;
}

static void PutAside(Mat_AIJFmt *s)
{
  s->choice->aside = (AIJFmtAside){s->choice->chosen, s->cache};
  s->cache         = (AIJFmtPlanCache){.plan = NULL};
}

/* Puts the plan that was aside in the place of the one that A has. New values reach it as they do any plan. */
static PetscErrorCode TakeBack(Mat_AIJFmt *s)
{
  PetscFunctionBegin;
  PetscCall(AIJFmtStateForget(s));
  s->cache               = s->choice->aside.cache;
  s->choice->aside.cache = (AIJFmtPlanCache){.plan = NULL};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes candidate i the one that multiplies from now on */
static PetscErrorCode Change(Mat A, Mat_AIJFmt *s, Vec x, int i)
{
  AIJFmtChoice *c = s->choice;

  PetscFunctionBegin;
  if (i == c->chosen) PetscFunctionReturn(PETSC_SUCCESS);
  if (c->trial && s->cache.plan) PutAside(s);
  AIJFmtChooseCandidate(c, i);
  if (c->aside.cache.plan && c->aside.candidate == i) PetscCall(TakeBack(s));
  else PetscCall(AIJFmtStateForget(s));
  PetscCall(AIJFmtSync(A, s, x, ((PetscObject)A)->state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Search(Mat A, Mat_AIJFmt *s, AIJFmtWorth worth, int *best)
{
  SpmvPattern pattern;

  PetscFunctionBegin;
  PetscCall(AIJFmtHostPatternGet(A, &pattern));
  PetscCall(AIJFmtChoiceSearch(s, &pattern, worth, best));
  PetscCall(AIJFmtHostPatternRestore(A, &pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends the trial: the fastest candidate stays. One that ends before a format was tried takes the best by what is known. */
PetscErrorCode AIJFmtTrialSettle(Mat A, Mat_AIJFmt *s, Vec x)
{
  AIJFmtChoice *c = s->choice;
  int           best, untried = 0;

  PetscFunctionBegin;
  if (!HasTrial(s)) PetscFunctionReturn(PETSC_SUCCESS);
  best = Fastest(c);
  if (c->conversions == 0) PetscCall(Search(A, s, best < 0 ? AIJFmtWorthByPrediction : WorthByTrial, &untried));
  if (untried || best < 0) best = untried ? untried : c->chosen;
  c->trial = PETSC_FALSE;
  PetscCall(Change(A, s, x, best));
  PetscCall(PetscInfo(A, "trial: %s stays\n", best ? c->candidate[best].format->name : "the parent type"));
  PetscCall(AIJFmtChoiceInfo(A, c));
  (void)AIJFmtTrialAsideFree(s);
  PetscCall(AIJFmtChoiceAnalysisClear(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next format has its turn; without one that is worth it, the trial ends */
static PetscErrorCode Next(Mat A, Mat_AIJFmt *s, Vec x)
{
  AIJFmtChoice *c    = s->choice;
  int           next = 0;

  PetscFunctionBegin;
  if (c->conversions < MOST_CONVERSIONS) PetscCall(Search(A, s, WorthByTrial, &next));
  if (next) {
    c->runs = 0;
    c->conversions++;
    PetscCall(Change(A, s, x, next));
    if (s->cache.plan) PetscFunctionReturn(PETSC_SUCCESS);
    c->candidate[next].state = AIJFMT_IMPOSSIBLE;
    PetscCall(PetscStrncpy(c->candidate[next].reason, s->reason, SPMV_MESSAGE_MAX));
  }
  PetscCall(AIJFmtTrialSettle(A, s, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Wait(Mat_AIJFmt *s)
{
  PetscFunctionBegin;
  if (s->exec.space != SPMV_DEVICE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtCudaStream(&s->exec));
  AIJFmtCallSpmv(&s->exec, spmv_stream_wait(&s->exec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before a product: makes the next candidate ready when this one has had its turn, and reads the clock */
PetscErrorCode AIJFmtTrialBegin(Mat A, Mat_AIJFmt *s, Vec x)
{
  PetscFunctionBegin;
  if (!HasTrial(s)) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->choice->runs >= s->format_options.value[AIJAUTO_TRIAL]) PetscCall(Next(A, s, x));
  PetscCall(Wait(s));
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
  PetscCall(Wait(s));
  PetscCall(PetscTime(&end));
  now           = &c->candidate[c->chosen];
  now->measured = now->measured > 0 ? PetscMin(now->measured, end - c->start) : end - c->start;
  c->runs++;
  c->done++;
  PetscFunctionReturn(PETSC_SUCCESS);
}
