/*
  cg_decide.h - the scalars of a solve, and what follows from each sum: one set of functions for the host, for the
  thread block that adds the last partial sums, and for all threads of the persistent kernel.

  The order of the tests is that of KSPSolve_CG() and KSPConvergedDefault() of PETSc 3.26.
*/
#pragma once

#include "engine/solve.h"
#include <spmv_cg.h>

typedef struct {
  SpmvRecord record;
  /* Whether the iteration that the stream is at goes on: kernels behind the last one do nothing. An iteration that
     begins sets it. */
  int32_t     active;
  unsigned    arrived;           /* thread blocks that have written their partial sums */
  int64_t     stop_at;           /* completed iterations after which the call of spmv_cg_run() ends */
  int64_t     chunks;            /* of this call that have given the host their record */
  double      beta, beta_before; /* (r, z) */
  double      first_norm;        /* of iteration 0 */
  double      curvature;         /* (p, w) */
  double      alpha, scale;      /* of p in x; of the old p in the new one */
  double      sums[2];           /* where they lie between kernels: (p, w), or (r, z) and the norm's */
  void       *x, *r;             /* of the caller, so that a graph serves any of them */
  const void *m;
  double     *history; /* a ring of `kept` norms: iteration i is at (i - 1) mod kept */
  int64_t     kept;
  SpmvCgTest  test;
  int32_t     restart; /* of spmv_cg_correct() */
} SpmvCgState;

SPMV_BOTH int spmv_cg_sign(double v) { return v > 0 ? 1 : v < 0 ? -1 : 0; }

/* Whether no iteration begins now: there is a reason, or the call has done what it was asked for */
SPMV_BOTH int spmv_cg_stopped(const SpmvCgState *s)
{
  return s->record.reason != SPMV_ITERATING || s->record.completed >= s->stop_at;
}

/* The tests of (r, z) before a direction is made of it */
SPMV_BOTH void spmv_cg_check_beta(SpmvCgState *s)
{
  if (s->beta == 0) s->record.reason = SPMV_BREAKDOWN;
  else if (s->record.completed > 0 && s->beta * s->beta_before < 0) s->record.reason = SPMV_INDEFINITE_PC;
  if (s->record.reason != SPMV_ITERATING) s->record.iterations = s->record.completed + 1;
}

/* The norm that belongs to these sums */
SPMV_BOTH double spmv_cg_norm_of(SpmvCgNorm kind, double beta, double squares)
{
  if (kind == SPMV_CG_NATURAL) return sqrt(fabs(beta));
  return kind == SPMV_CG_NORM_NONE ? 0 : sqrt(squares);
}

/* After the first (r, z) and the sum of squares of the norm */
SPMV_BOTH void spmv_cg_take_first(SpmvCgState *s, double beta, double squares)
{
  s->beta       = beta;
  s->first_norm = spmv_cg_norm_of(s->test.norm, beta, squares);
  if (spmv_finite(beta)) spmv_cg_check_beta(s);
  else s->record.reason = SPMV_DIVERGED_NOT_A_NUMBER;
}

/* The residual is another one: the solve goes on by another test */
SPMV_BOTH void spmv_cg_begin_correction(SpmvCgState *s, const SpmvCgTest *test, int restart)
{
  s->test          = *test;
  s->restart       = restart;
  s->record.reason = SPMV_ITERATING;
}

/* After its (r, z), before the direction that is made of it */
SPMV_BOTH void spmv_cg_take_corrected(SpmvCgState *s, double beta)
{
  s->scale = s->restart ? 0 : beta / s->beta_before;
  spmv_cg_take_first(s, beta, 0);
  s->active = s->record.reason == SPMV_ITERATING;
}

/* After (p, w) of an iteration */
SPMV_BOTH void spmv_cg_take_curvature(SpmvCgState *s, double curvature)
{
  const double before = s->curvature;

  s->record.iterations = s->record.completed + 1;
  s->curvature         = curvature;
  s->beta_before       = s->beta;
  if (!spmv_finite(curvature)) s->record.reason = SPMV_DIVERGED_NOT_A_NUMBER;
  else if (curvature == 0 || (s->record.completed > 0 && spmv_cg_sign(curvature) * spmv_cg_sign(before) < 0))
    s->record.reason = SPMV_INDEFINITE_MATRIX;
  else s->alpha = s->beta / curvature;
  s->active = s->record.reason == SPMV_ITERATING;
}

/* Whether the norm is that of r, or none: then KSPSolve_CG() tests it before it computes M r, and so do we */
SPMV_BOTH int spmv_cg_norm_is_of_r(SpmvCgNorm kind)
{
  return kind == SPMV_CG_UNPRECONDITIONED || kind == SPMV_CG_NORM_NONE;
}

/* After the norm of an iteration: PETSc computes none before check_after, but for the natural one */
SPMV_BOTH void spmv_cg_take_norm(SpmvCgState *s, double beta, double squares)
{
  const int64_t    n    = s->record.completed + 1;
  const SpmvCgNorm kind = s->test.norm;

  s->record.norm = kind != SPMV_CG_NATURAL && n < s->test.by.check_after ? 0 : spmv_cg_norm_of(kind, beta, squares);
  if (!spmv_finite(s->record.norm)) s->record.reason = SPMV_DIVERGED_NOT_A_NUMBER;
  else {
    s->record.completed = n;
    if (s->history) s->history[(n - 1) % s->kept] = s->record.norm;
    s->record.reason = spmv_test(&s->test.by, n, s->record.norm);
  }
}

/* Whether there is an iteration after this one, as far as their number says */
SPMV_BOTH void spmv_cg_check_count(SpmvCgState *s)
{
  if (s->record.reason == SPMV_ITERATING && s->record.completed >= s->test.by.max_iterations)
    s->record.reason = SPMV_DIVERGED_ITERATIONS;
  s->active = s->record.reason == SPMV_ITERATING;
}

/* After (r, z) of an iteration whose norm gave no reason */
SPMV_BOTH void spmv_cg_take_beta(SpmvCgState *s, double beta)
{
  s->beta  = beta;
  s->scale = beta / s->beta_before;
  if (!spmv_finite(beta)) s->record.reason = SPMV_DIVERGED_NOT_A_NUMBER;
  else {
    spmv_cg_check_count(s);
    if (s->active) spmv_cg_check_beta(s);
  }
  s->active = s->record.reason == SPMV_ITERATING;
}

/* After (r, z) and the sum of squares of an iteration */
SPMV_BOTH void spmv_cg_take_residual(SpmvCgState *s, double beta, double squares)
{
  spmv_cg_take_norm(s, beta, squares);
  if (s->record.reason == SPMV_ITERATING) spmv_cg_take_beta(s, beta);
  else s->beta = beta;
  s->active = s->record.reason == SPMV_ITERATING;
}

/* After the sum of squares of an iteration whose (r, z) comes later */
SPMV_BOTH void spmv_cg_take_squares(SpmvCgState *s, double squares)
{
  spmv_cg_take_norm(s, 0, squares);
  spmv_cg_check_count(s);
}
