/*
  outer.h - the scaling around a cycle in single precision between vectors in double precision.

  The cycle works on `in` times b and on x / `out`: with plans of scale A, in b = (scale A) (x / out) for
  out = scale / in. All three factors are powers of two, so that scaling is exact. See README.md.
*/
#pragma once

#include "core/format.h"
#include <math.h>

SPMV_C_BEGIN

/* Threads of a block, and the most thread blocks that add |b| */
enum { SPMV_OUTER_THREADS = 256, SPMV_OUTER_PARTS = 256 };

typedef struct {
  double scale, in, out;
} SpmvOuterFactors;

/* On the device */
typedef struct {
  double           *sums; /* [1 + SPMV_OUTER_PARTS]: the sum of |b|, then its partial sums */
  SpmvOuterFactors *factors;
  void             *coarse_b; /* [rows of the coarsest level] in double precision, as coarse_x: the vectors of ... */
  void             *coarse_x; /* ... the function on that level; NULL without a function */
} SpmvOuter;

typedef enum {
  SPMV_OUTER_LEAVE,  /* to double precision, times out: the cycle's x becomes the caller's */
  SPMV_OUTER_WIDEN,  /* to double precision, divided by in: a right-hand side for the function */
  SPMV_OUTER_NARROW, /* to single precision, divided by out: the solution of the function */
} SpmvOuterWay;

/* A power of two that brings the sum of |b| near 1; 1 if the sum is 0, infinite or NaN */
SPMV_BOTH double spmv_outer_in(double sum)
{
  enum { MOST = 1000 }; /* so that 1 / result is finite and not 0 */
  if (!(sum > 0) || sum - sum != 0) return 1;
  const int e = ilogb(sum);
  return scalbn(1.0, e > MOST ? -MOST : e < -MOST ? MOST : -e);
}

SPMV_BOTH double spmv_outer_factor(const SpmvOuterFactors *f, SpmvOuterWay way)
{
  if (way == SPMV_OUTER_LEAVE) return f->out;
  return 1 / (way == SPMV_OUTER_WIDEN ? f->in : f->out);
}

SPMV_C_END
