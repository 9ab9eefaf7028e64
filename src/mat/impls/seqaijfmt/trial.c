/*
  trial.c - -mat_aijauto_trial and -mat_aijfmt_decline measured: the first products of a matrix are measured, by one
  candidate after the other. No product is done twice: each is one that the program has asked for. The fastest candidate
  stays; it is the one that was tried last more often than not, so that it need not be converted again.
*/
#include "seqaijfmt.h"
#include "cuda.h"
#include <petsctime.h>

/* Whether candidate i is to be tried before j: the dearer first */
static PetscBool IsDearer(const AIJFmtChoice *choice, int i, int j)
{
  return choice->candidate[i].cost > choice->candidate[j].cost ? PETSC_TRUE : PETSC_FALSE;
}

/* Makes the best candidates by prediction take turns of so many products; 0: no trial */
PetscErrorCode AIJFmtTrialStart(Mat_AIJFmt *s, int products)
{
  AIJFmtChoice *c = s->choice;
  int           t;

  PetscFunctionBegin;
  c->trials = c->current = c->runs = 0;
  c->wanted                        = products;
  if (products == 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < c->count; i++) {
    if (!c->candidate[i].possible) continue;
    if (c->trials == AIJFMT_TRIALS_MAX) { /* the dearest of those before makes room, or i stays out */
      if (IsDearer(c, i, c->trial[0])) continue;
      for (t = 1; t < c->trials; t++) c->trial[t - 1] = c->trial[t];
      c->trials--;
    }
    for (t = c->trials++; t > 0 && IsDearer(c, i, c->trial[t - 1]); t--) c->trial[t] = c->trial[t - 1];
    c->trial[t] = i;
  }
  if (c->trials < 2) c->trials = 0;
  else PetscCall(AIJFmtChooseCandidate(c, c->trial[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The waits around a product on a GPU differ by so much from one to the next: candidates that lie closer together are
   not told apart by the clock */
static const double clock_of_device = 2e-6;

/* The candidate that is fastest so far, beginning with the best one by prediction; one that was not measured counts as
   predicted */
static int Fastest(const AIJFmtChoice *c, SpmvSpace space)
{
  const double clock = space == SPMV_DEVICE ? clock_of_device : 0;
  int          best  = c->trial[c->trials - 1];

  for (int t = 0; t < c->trials; t++) {
    const AIJFmtCandidate *one = &c->candidate[c->trial[t]], *other = &c->candidate[best];

    if (one->measured > 0 && one->measured + clock < (other->measured > 0 ? other->measured : other->predicted.product))
      best = c->trial[t];
  }
  return best;
}

/* Ends the trial, and converts once more if the winner is not the one that ran last */
PetscErrorCode AIJFmtTrialSettle(Mat A, Mat_AIJFmt *s, Vec x)
{
  AIJFmtChoice *c = s->choice;
  int           best;

  PetscFunctionBegin;
  if (!AIJFmtHasChoice(s) || c->trials == 0) PetscFunctionReturn(PETSC_SUCCESS);
  best      = Fastest(c, s->exec.space);
  c->trials = 0;
  PetscCall(PetscInfo(A, "trial: %s stays\n", best ? c->candidate[best].format->name : "the parent type"));
  if (best == c->chosen) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtChooseCandidate(c, best));
  PetscCall(AIJFmtReconvert(A, s, x));
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

/* Before a product: makes the next candidate ready when this one has had its turn, and looks at the clock */
PetscErrorCode AIJFmtTrialBegin(Mat A, Mat_AIJFmt *s, Vec x)
{
  AIJFmtChoice *c = s->choice;

  PetscFunctionBegin;
  if (!AIJFmtHasChoice(s) || c->trials == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (c->runs >= c->wanted) {
    c->runs = 0;
    if (++c->current == c->trials) {
      PetscCall(AIJFmtTrialSettle(A, s, x));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(AIJFmtChooseCandidate(c, c->trial[c->current]));
    PetscCall(AIJFmtReconvert(A, s, x));
  }
  PetscCall(Wait(s));
  PetscCall(PetscTime(&c->start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtTrialEnd(Mat_AIJFmt *s)
{
  AIJFmtChoice    *c = s->choice;
  AIJFmtCandidate *now;
  PetscLogDouble   end;

  PetscFunctionBegin;
  if (!AIJFmtHasChoice(s) || c->trials == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Wait(s));
  PetscCall(PetscTime(&end));
  now           = &c->candidate[c->chosen];
  now->measured = now->measured > 0 ? PetscMin(now->measured, end - c->start) : end - c->start;
  c->runs++;
  PetscFunctionReturn(PETSC_SUCCESS);
}
