/*
  outer.h - a cycle in single precision between vectors in double precision: which numbers are multiplied by what.

  Inside, b is in times what it is outside, and x out times smaller: with plans of scale A, in b = (scale A) (x / out)
  for out = scale / in. All three are powers of two, so that they change no digit. README.md has the ranges.
*/
#pragma once

#include "core/format.h"
#include <math.h>

SPMV_C_BEGIN

/* Threads of a block on the device; and how many blocks at most have a part of the sum over b */
enum { SPMV_OUTER_THREADS = 256, SPMV_OUTER_PARTS = 256 };

typedef struct {
  double scale, in, out;
} SpmvOuterFactors;

/* In the space of the cycle */
typedef struct {
  double           *sums;     /* [1 + SPMV_OUTER_PARTS]: of |b|, and of its parts */
  SpmvOuterFactors *factors;  /* [1] */
  void             *coarse_b; /* [rows of the coarsest level], and so is the next: in double precision, ... */
  void             *coarse_x; /* ... for the function of that level; NULL where there is none */
} SpmvOuter;

typedef enum {
  SPMV_OUTER_LEAVE,  /* double: out times from */
  SPMV_OUTER_WIDEN,  /* double: from as it is outside, from / in */
  SPMV_OUTER_NARROW, /* single: a solution that is outside, from / out */
} SpmvOuterWay;

/* A power of two that brings a sum of sizes near 1. With what is no number, or infinite, all numbers follow. */
SPMV_BOTH double spmv_outer_in(double sum)
{
  enum { MOST = 1000 }; /* so that its inverse is finite, too */
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
