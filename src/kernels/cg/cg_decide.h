/*
  cg_decide.h - the scalars of a solve and the decisions that follow from each sum. The same functions run in
  the thread block that adds the partial sums, in all threads of the persistent kernel, and in tests on the host.

  The tests have the order of KSPSolve_CG() and KSPConvergedDefault() in PETSc 3.26.
*/
#pragma once

#include "engine/solve.h"
#include <spmv_cg.h>

typedef struct {
  SpmvRecord record;
  /* Whether the current iteration goes on; if not, its remaining kernels return at once. Set when an iteration
     begins. */
  int32_t     active;
  int32_t     moves;   /* whether it has a step: x += alpha p, taken even if the test of its residual ends the solve */
  unsigned    arrived; /* thread blocks that have written their partial sums */
  int64_t     stop_at; /* spmv_cg_run() returns after this number of completed iterations */
  int64_t     chunks;  /* chunks of this call that have written their record */
  double      beta, beta_before; /* (r, z) */
  double      curvature;         /* (p, w) */
  double      alpha, scale;      /* x += alpha p, p = z + scale p */
  double      step;              /* 0; Richardson's iteration: always alpha, and scale is 0 */
  double      sums[3];           /* sums that pass from kernel to kernel: (p, w); or (r, z), the norm's and (z, A z) */
  void       *x, *r;             /* the caller's; read from here, so that one graph serves any vectors */
  const void *m;
  double     *history; /* a ring of `kept` norms: that of iteration i is at (i - 1) mod kept */
  int64_t     kept;
  SpmvCgNorm  norm; /* the kind that is tested */
  SpmvTest    test;
  int32_t     restart; /* the argument of spmv_cg_correct() */
  /* [options.lanczos], or NULL */
  SpmvCgCoefficients *lanczos;
} SpmvCgState;

SPMV_BOTH int spmv_cg_sign(double v) { return v > 0 ? 1 : v < 0 ? -1 : 0; }

/* Whether no iteration begins: there is a reason to end, or this call has done its iterations */
SPMV_BOTH int spmv_cg_stopped(const SpmvCgState *s)
{
  return s->record.reason != SPMV_ITERATING || s->record.completed >= s->stop_at;
}

/* The tests of (r, z) before it is used for a direction */
SPMV_BOTH void spmv_cg_check_beta(SpmvCgState *s)
{
  if (s->step != 0) return;
  if (s->beta == 0) s->record.reason = SPMV_BREAKDOWN;
  else if (s->record.completed > 0 && s->beta * s->beta_before < 0) s->record.reason = SPMV_INDEFINITE_PC;
  if (s->record.reason != SPMV_ITERATING) s->record.iterations = s->record.completed + 1;
}

/* The norm, from the sums (r, z) and the sum of squares */
SPMV_BOTH double spmv_cg_norm_of(SpmvCgNorm kind, double beta, double squares)
{
  if (kind == SPMV_CG_NATURAL) return sqrt(fabs(beta));
  return kind == SPMV_CG_NORM_NONE ? 0 : sqrt(squares);
}

/* Decides after the first (r, z) and sum of squares */
SPMV_BOTH void spmv_cg_take_first(SpmvCgState *s, double beta, double squares)
{
  s->beta         = beta;
  s->record.first = s->record.norm = spmv_cg_norm_of(s->norm, beta, squares);
  if (spmv_finite(beta) && spmv_finite(s->record.first)) spmv_cg_check_beta(s);
  else s->record.reason = SPMV_DIVERGED_NOT_A_NUMBER;
}

/* The caller has replaced the residual */
SPMV_BOTH void spmv_cg_begin_correction(SpmvCgState *s, int restart)
{
  s->restart       = restart;
  s->moves         = 0; /* its step is taken */
  s->record.reason = SPMV_ITERATING;
}

/* Decides after (r, z) of the new residual, before the direction is made of it */
SPMV_BOTH void spmv_cg_take_corrected(SpmvCgState *s, double beta)
{
  s->beta  = beta;
  s->scale = s->restart ? 0 : beta / s->beta_before;
  if (spmv_finite(beta)) spmv_cg_check_beta(s);
  else s->record.reason = SPMV_DIVERGED_NOT_A_NUMBER;
  s->active = s->record.reason == SPMV_ITERATING;
}

/* Decides after (p, w) of an iteration */
SPMV_BOTH void spmv_cg_take_curvature(SpmvCgState *s, double curvature)
{
  const double before = s->curvature;

  s->record.iterations = s->record.completed + 1;
  s->curvature         = curvature;
  s->beta_before       = s->beta;
  if (!spmv_finite(curvature)) s->record.reason = SPMV_DIVERGED_NOT_A_NUMBER;
  else if (s->step != 0) s->alpha = s->step;
  else if (curvature == 0 || (s->record.completed > 0 && spmv_cg_sign(curvature) * spmv_cg_sign(before) < 0))
    s->record.reason = SPMV_INDEFINITE_MATRIX;
  else s->alpha = s->beta / curvature;
  s->active = s->moves = s->record.reason == SPMV_ITERATING;
  if (s->lanczos && s->active) s->lanczos[s->record.completed] = (SpmvCgCoefficients){s->alpha, s->beta};
}

/* Whether the norm is that of r, or none: KSPSolve_CG() then tests before it computes M r, and so do we */
SPMV_BOTH int spmv_cg_norm_is_of_r(SpmvCgNorm kind)
{
  return kind == SPMV_CG_UNPRECONDITIONED || kind == SPMV_CG_NORM_NONE;
}

/* Decides after the norm of an iteration. Like PETSc, the norm is 0 before check_after, except the natural norm. */
SPMV_BOTH void spmv_cg_take_norm(SpmvCgState *s, double beta, double squares)
{
  const int64_t    n    = s->record.completed + 1;
  const SpmvCgNorm kind = s->norm;

  s->record.norm = kind != SPMV_CG_NATURAL && n < s->test.check_after ? 0 : spmv_cg_norm_of(kind, beta, squares);
  if (!spmv_finite(s->record.norm)) s->record.reason = SPMV_DIVERGED_NOT_A_NUMBER;
  else {
    s->record.completed = n;
    if (s->history) s->history[(n - 1) % s->kept] = s->record.norm;
    s->record.reason = spmv_test(&s->test, n, s->record.norm);
  }
}

/* Ends the solve after max_iterations */
SPMV_BOTH void spmv_cg_check_count(SpmvCgState *s)
{
  if (s->record.reason == SPMV_ITERATING && s->record.completed >= s->test.max_iterations)
    s->record.reason = SPMV_DIVERGED_ITERATIONS;
  s->active = s->record.reason == SPMV_ITERATING;
}

/* Decides after (r, z) of an iteration whose norm gave no reason to end */
SPMV_BOTH void spmv_cg_take_beta(SpmvCgState *s, double beta)
{
  s->beta  = beta;
  s->scale = s->step != 0 ? 0 : beta / s->beta_before;
  if (!spmv_finite(beta)) s->record.reason = SPMV_DIVERGED_NOT_A_NUMBER;
  else {
    spmv_cg_check_count(s);
    if (s->active) spmv_cg_check_beta(s);
  }
  s->active = s->record.reason == SPMV_ITERATING;
}

/* Decides after (r, z) and the sum of squares of an iteration */
SPMV_BOTH void spmv_cg_take_residual(SpmvCgState *s, double beta, double squares)
{
  spmv_cg_take_norm(s, beta, squares);
  if (s->record.reason == SPMV_ITERATING) spmv_cg_take_beta(s, beta);
  else s->beta = beta;
  s->active = s->record.reason == SPMV_ITERATING;
}

/* Decides after the sums of a single reduction: those of iteration 0 or of an iteration, and (z, A z), from which
   (p, w) of the next iteration follows, because p and z are conjugate to the directions before them. A reason found
   there counts as that iteration, which has not begun. */
SPMV_BOTH void spmv_cg_take_single(SpmvCgState *s, int first)
{
  if (first) spmv_cg_take_first(s, s->sums[0], s->sums[1]);
  else {
    s->record.iterations = s->record.completed + 1;
    spmv_cg_take_residual(s, s->sums[0], s->sums[1]);
  }
  if (s->record.reason == SPMV_ITERATING) spmv_cg_take_curvature(s, s->sums[2] - s->scale * s->scale * s->curvature);
  if (s->record.reason == SPMV_ITERATING) s->record.iterations = s->record.completed;
}

/* Decides after the sum of squares of an iteration whose (r, z) is computed later */
SPMV_BOTH void spmv_cg_take_squares(SpmvCgState *s, double squares)
{
  spmv_cg_take_norm(s, 0, squares);
  spmv_cg_check_count(s);
}
