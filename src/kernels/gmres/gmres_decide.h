/*
  gmres_decide.h - the scalars of a solve, and what follows from each sum: one set of functions for the host and for the
  thread block that adds the last partial sums.

  The order of the tests is that of KSPSolve_GMRES() and KSPConvergedDefault() of PETSc 3.26. Vector j of the basis is
  stored as it came from the orthogonalization; scale[j] makes it one of norm 1.
*/
#pragma once

#include "engine/solve.h"
#include <spmv_gmres.h>

typedef struct {
  SpmvRecord record; /* iterations and completed are the same number */
  /* Whether the iteration that the stream is at goes on: kernels behind the last one do nothing. An iteration that
     begins sets it, and the norm of its new vector ends it: where that is to be orthogonalized a second time, it stays. */
  int32_t     active;
  int32_t     begins;   /* x has changed: the residual is computed, and a cycle begins */
  int32_t     columns;  /* iterations of this cycle, which x does not have yet */
  int32_t     combine;  /* so many of y are to be added to x */
  unsigned    arrived;  /* thread blocks that have written their partial sums */
  int64_t     stop_at;  /* completed iterations after which the call of spmv_gmres_run() ends */
  int64_t     chunks;   /* of this call that have given the host their record */
  double      first;    /* the norm of iteration 0 */
  double      at_begin; /* the norm at the beginning of the cycle */
  double      happy, breakdown;
  int32_t     restart;
  SpmvTest    test;
  const void *m; /* of the caller, so that a graph serves any of them */
  double     *history;
  int64_t     kept;
  /* Arrays beside the state */
  double *scale;         /* [restart + 1] */
  double *sums;          /* [restart + 1] where they lie between kernels */
  double *h;             /* [restart + 1] the new column of the Hessenberg matrix */
  double *take;          /* [restart + 1] what is taken out of the new vector, as a multiple of each stored one */
  double *r;             /* [restart][restart + 1] its columns, rotated to an upper triangle */
  double *cosine, *sine; /* [restart] */
  double *g;             /* [restart + 1] the rotated right-hand side */
  double *y;             /* [restart] multiples of the stored vectors in x */
} SpmvGmresState;

/* Whether no iteration begins now: there is a reason, or the call has done what it was asked for */
SPMV_BOTH int spmv_gmres_stopped(const SpmvGmresState *s)
{
  return s->record.reason != SPMV_ITERATING || s->record.completed >= s->stop_at;
}

SPMV_BOTH double *spmv_gmres_column(const SpmvGmresState *s, int k) { return s->r + (int64_t)k * (s->restart + 1); }

SPMV_BOTH void spmv_gmres_keep_norm(SpmvGmresState *s, double norm)
{
  const int64_t n = s->record.completed;

  s->record.norm       = norm;
  s->record.iterations = n;
  if (s->history && n > 0) s->history[(n - 1) % s->kept] = norm;
}

/* After the sum of squares of the residual at the beginning of a cycle */
SPMV_BOTH void spmv_gmres_take_residual(SpmvGmresState *s, double squares)
{
  const double  norm = sqrt(squares), before = s->record.norm;
  const int64_t n = s->record.completed;

  s->begins = 0;
  if (n == 0) s->first = norm;
  if (!spmv_finite(norm)) {
    s->record.norm   = norm;
    s->record.reason = SPMV_DIVERGED_NOT_A_NUMBER;
  } else if (n > 0 && before > 0 && fabs(norm - before) > s->breakdown * s->at_begin)
    s->record.reason = SPMV_DIVERGED_BREAKDOWN;
  else {
    spmv_gmres_keep_norm(s, norm);
    s->at_begin = s->g[0] = norm;
    s->scale[0]           = norm > 0 ? 1 / norm : 0;
    s->record.reason      = norm == 0 ? SPMV_ATOL : n > 0 ? spmv_test(&s->test, n, norm) : SPMV_ITERATING;
  }
}

/* After the scalar product of the new vector with vector j; whether it is a number */
SPMV_BOTH int spmv_gmres_take_dot(SpmvGmresState *s, int j, double sum, int second)
{
  const double h = s->scale[j] * sum;

  s->take[j] = s->scale[j] * h;
  s->h[j]    = second ? s->h[j] + h : h;
  return spmv_finite(h);
}

/* After all of them. The solution has the columns before this one where one is not a number. */
SPMV_BOTH void spmv_gmres_take_dots(SpmvGmresState *s, int numbers)
{
  s->active = numbers;
  if (numbers) return;
  s->record.norm   = NAN;
  s->record.reason = SPMV_DIVERGED_NOT_A_NUMBER;
}

/* The rotations so far, applied to the new column */
SPMV_BOTH void spmv_gmres_rotate(SpmvGmresState *s, int k)
{
  double *r = spmv_gmres_column(s, k), low = s->h[0];

  for (int j = 0; j < k; j++) {
    r[j] = s->cosine[j] * low + s->sine[j] * s->h[j + 1];
    low  = s->cosine[j] * s->h[j + 1] - s->sine[j] * low;
  }
  r[k] = low;
}

/* The rotation that takes `norm` out of the new column; the norm of the residual */
SPMV_BOTH double spmv_gmres_rotate_last(SpmvGmresState *s, int k, double norm)
{
  double      *r      = spmv_gmres_column(s, k);
  const double length = sqrt(r[k] * r[k] + norm * norm);

  if (length == 0) { /* the column adds nothing: PETSc's DIVERGED_NULL, which becomes a breakdown */
    r[k] = 0;
    return s->record.norm;
  }
  s->cosine[k] = r[k] / length;
  s->sine[k]   = norm / length;
  s->g[k + 1]  = -(s->sine[k] * s->g[k]);
  s->g[k]      = s->cosine[k] * s->g[k];
  r[k]         = s->cosine[k] * r[k] + s->sine[k] * norm;
  return fabs(s->g[k + 1]);
}

/* Whether the norm of the new vector ends the cycle */
SPMV_BOTH int spmv_gmres_is_happy(const SpmvGmresState *s, int k, double norm)
{
  const double relative = fabs(norm / s->g[k]);

  return norm < (relative > s->happy ? s->happy : relative);
}

SPMV_BOTH int32_t spmv_gmres_reason(const SpmvGmresState *s, int happy)
{
  int32_t reason = spmv_test(&s->test, s->record.completed, s->record.norm);

  if (happy && s->test.untested) return SPMV_BREAKDOWN;
  if (happy && reason == SPMV_ITERATING) return SPMV_DIVERGED_BREAKDOWN;
  if (reason == SPMV_ITERATING && s->record.completed >= s->test.max_iterations) return SPMV_DIVERGED_ITERATIONS;
  return reason;
}

/* After the norm of the new vector, and spmv_gmres_rotate() */
SPMV_BOTH void spmv_gmres_take_norm(SpmvGmresState *s, int k, double norm)
{
  s->active = 0;
  if (!spmv_finite(norm)) { /* PETSc leaves x as it was at the beginning of the cycle */
    s->columns       = 0;
    s->record.norm   = norm;
    s->record.reason = SPMV_DIVERGED_NOT_A_NUMBER;
    return;
  }
  const int    happy    = spmv_gmres_is_happy(s, k, norm);
  const double residual = happy ? 0 : spmv_gmres_rotate_last(s, k, norm);

  s->scale[k + 1] = norm > 0 ? 1 / norm : 0;
  s->columns      = k + 1;
  s->record.completed++;
  spmv_gmres_keep_norm(s, residual);
  s->record.reason = spmv_gmres_reason(s, happy);
  if (spmv_gmres_column(s, k)[k] == 0) { /* as above */
    s->columns       = 0;
    s->record.reason = SPMV_DIVERGED_BREAKDOWN;
  }
}

/* After the sum of squares of the new vector, where it decides whether that is orthogonalized a second time */
SPMV_BOTH void spmv_gmres_take_squares(SpmvGmresState *s, int k, double squares, int may_refine)
{
  const double norm = sqrt(squares);
  double       sum  = 0;

  for (int j = 0; may_refine && j <= k; j++) sum += s->h[j] * s->h[j];
  if (may_refine && !spmv_finite(norm)) spmv_gmres_take_dots(s, 0);
  else if (!may_refine || !(norm < sqrt(sum))) spmv_gmres_take_norm(s, k, norm);
}

/* How many columns are to be added: all where the cycle has ended, or where the caller wants to see the solution */
SPMV_BOTH int spmv_gmres_due(const SpmvGmresState *s, int look)
{
  return look || s->record.reason != SPMV_ITERATING || s->columns == s->restart ? s->columns : 0;
}

/* One step of the triangular solve: y[i], and what it takes from the rows above, of which this is one of several lanes */
SPMV_BOTH void spmv_gmres_eliminate(SpmvGmresState *s, int i, int lane, int lanes)
{
  const double *r = spmv_gmres_column(s, i), y = s->y[i] / r[i];

  for (int j = lane; j < i; j += lanes) s->y[j] -= r[j] * y;
}

/* Behind it: y as multiples of the stored vectors */
SPMV_BOTH void spmv_gmres_unscale(SpmvGmresState *s, int i)
{
  s->y[i] = s->y[i] / spmv_gmres_column(s, i)[i] * s->scale[i];
}

/* The solution has the columns now; without a reason to end, the next cycle begins */
SPMV_BOTH void spmv_gmres_close_cycle(SpmvGmresState *s, int columns, int look)
{
  s->combine = columns;
  if (look || columns == 0) return;
  s->columns = 0;
  s->begins  = s->record.reason == SPMV_ITERATING;
}
