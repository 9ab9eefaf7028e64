/*
  gmres_decide.h - the scalars of a solve and the decisions that follow from each sum. They run in
  the thread block that adds the partial sums, and in tests on the host.

  The tests have the order of KSPSolve_GMRES() and KSPConvergedDefault() in PETSc 3.26. Vector j of the basis is stored
  as the orthogonalization left it; scale[j] times the vector has norm 1.
*/
#pragma once

#include "engine/solve.h"
#include <spmv_gmres.h>

typedef struct {
  SpmvRecord record; /* iterations and completed are the same number */
  /* Whether the current iteration goes on; if not, its remaining kernels return at once. Set by the scalar products,
     and cleared by the norm of the new vector, unless that is to be orthogonalized a second time. */
  int32_t     active;
  int32_t     begins;   /* x has changed: the residual must be computed, and a cycle begins */
  int32_t     columns;  /* iterations of this cycle that are not in x yet */
  int32_t     combine;  /* the number of entries of y that spmv_gmres_combine() adds to x */
  unsigned    arrived;  /* thread blocks that have written their partial sums */
  int64_t     stop_at;  /* spmv_gmres_run() returns after this number of completed iterations */
  int64_t     chunks;   /* chunks of this call that have written their record */
  double      at_begin; /* the norm at the beginning of the cycle */
  double      happy, breakdown;
  int32_t     restart;
  SpmvTest    test;
  const void *m; /* the caller's; read from here, so that one graph serves any M */
  double     *history;
  int64_t     kept;
  /* Arrays beside the state */
  double *scale;         /* [restart + 1] */
  double *sums;          /* [restart + 1] sums that pass from kernel to kernel */
  double *h;             /* [restart + 1] the new column of the Hessenberg matrix */
  double *take;          /* [restart + 1] the multiples of the stored vectors that are subtracted from the new one */
  double *r;             /* [restart][restart + 1] the columns of the Hessenberg matrix, rotated to a triangle */
  double *hessenberg;    /* the same before the rotations, with options.hessenberg, or NULL */
  double *cosine, *sine; /* [restart] */
  double *g;             /* [restart + 1] the rotated right-hand side */
  double *y;             /* [restart] the multiples of the stored vectors that x gets */
} SpmvGmresState;

/* Whether no iteration begins: there is a reason to end, or this call has done its iterations */
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

/* Decides after the sum of squares of the residual at the beginning of a cycle */
SPMV_BOTH void spmv_gmres_take_residual(SpmvGmresState *s, double squares)
{
  const double  norm = sqrt(squares), before = s->record.norm;
  const int64_t n = s->record.completed;

  s->begins = 0;
  if (n == 0) s->record.first = norm;
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

/* Takes the scalar product of the new vector with vector j. Returns whether it is finite. */
SPMV_BOTH int spmv_gmres_take_dot(SpmvGmresState *s, int j, double sum, int second)
{
  const double h = s->scale[j] * sum;

  s->take[j] = s->scale[j] * h;
  s->h[j]    = second ? s->h[j] + h : h;
  return spmv_finite(h);
}

/* Decides after all scalar products. If one of them is not finite, the solution uses the columns before this one. */
SPMV_BOTH void spmv_gmres_take_dots(SpmvGmresState *s, int numbers)
{
  s->active = numbers;
  if (numbers) return;
  s->record.norm   = NAN;
  s->record.reason = SPMV_DIVERGED_NOT_A_NUMBER;
}

/* Applies the rotations so far to the new column */
SPMV_BOTH void spmv_gmres_rotate(SpmvGmresState *s, int k)
{
  double *r = spmv_gmres_column(s, k), low = s->h[0];

  if (s->hessenberg)
    for (int j = 0; j <= k; j++) s->hessenberg[(int64_t)k * (s->restart + 1) + j] = s->h[j];

  for (int j = 0; j < k; j++) {
    r[j] = s->cosine[j] * low + s->sine[j] * s->h[j + 1];
    low  = s->cosine[j] * s->h[j + 1] - s->sine[j] * low;
  }
  r[k] = low;
}

/* The rotation that eliminates `norm` from the new column. Returns the norm of the residual. */
SPMV_BOTH double spmv_gmres_rotate_last(SpmvGmresState *s, int k, double norm)
{
  double      *r      = spmv_gmres_column(s, k);
  const double length = sqrt(r[k] * r[k] + norm * norm);

  if (length == 0) { /* a zero column: PETSc's DIVERGED_NULL, which it reports as a breakdown */
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

/* Whether the norm of the new vector is a happy breakdown */
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

/* Decides after the norm of the new vector; spmv_gmres_rotate() must have been called */
SPMV_BOTH void spmv_gmres_take_norm(SpmvGmresState *s, int k, double norm)
{
  s->active = 0;
  if (!spmv_finite(norm)) { /* as in PETSc, x stays as it was at the beginning of the cycle */
    s->columns       = 0;
    s->record.norm   = norm;
    s->record.reason = SPMV_DIVERGED_NOT_A_NUMBER;
    return;
  }
  const int    happy    = spmv_gmres_is_happy(s, k, norm);
  const double residual = happy ? 0 : spmv_gmres_rotate_last(s, k, norm);

  if (s->hessenberg) s->hessenberg[(int64_t)k * (s->restart + 1) + k + 1] = norm;
  s->scale[k + 1] = norm > 0 ? 1 / norm : 0;
  s->columns      = k + 1;
  s->record.completed++;
  spmv_gmres_keep_norm(s, residual);
  s->record.reason = spmv_gmres_reason(s, happy);
  if (spmv_gmres_column(s, k)[k] == 0) { /* the triangle is singular: x stays, as above */
    s->columns       = 0;
    s->record.reason = SPMV_DIVERGED_BREAKDOWN;
  }
}

/* Decides after the sum of squares of the new vector; if may_refine, first whether to orthogonalize it a second time */
SPMV_BOTH void spmv_gmres_take_squares(SpmvGmresState *s, int k, double squares, int may_refine)
{
  const double norm = sqrt(squares);
  double       sum  = 0;

  for (int j = 0; may_refine && j <= k; j++) sum += s->h[j] * s->h[j];
  if (may_refine && !spmv_finite(norm)) spmv_gmres_take_dots(s, 0);
  else if (!may_refine || !(norm < sqrt(sum))) spmv_gmres_take_norm(s, k, norm);
}

/* The number of columns to add to x: all if the cycle or the solve has ended, or if the caller looks at the solution */
SPMV_BOTH int spmv_gmres_due(const SpmvGmresState *s, int look)
{
  return look || s->record.reason != SPMV_ITERATING || s->columns == s->restart ? s->columns : 0;
}

/* One step of the triangular solve: subtracts the contribution of unknown i from the rows above, lane `lane` of
   `lanes` */
SPMV_BOTH void spmv_gmres_eliminate(SpmvGmresState *s, int i, int lane, int lanes)
{
  const double *r = spmv_gmres_column(s, i), y = s->y[i] / r[i];

  for (int j = lane; j < i; j += lanes) s->y[j] -= r[j] * y;
}

/* After all steps: y[i] as a multiple of the stored vector i */
SPMV_BOTH void spmv_gmres_unscale(SpmvGmresState *s, int i)
{
  s->y[i] = s->y[i] / spmv_gmres_column(s, i)[i] * s->scale[i];
}

/* The columns are added to the solution; unless the caller only looks at it, x has them, and the next cycle begins if
   there is no reason to end */
SPMV_BOTH void spmv_gmres_close_cycle(SpmvGmresState *s, int columns, int look)
{
  s->combine = columns;
  if (look || columns == 0) return;
  s->columns = 0;
  s->begins  = s->record.reason == SPMV_ITERATING;
}
