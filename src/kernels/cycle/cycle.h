/*
  cycle.h - the struct of a cycle, and how the host and the device enqueue its parts. cycle.c has the order of the parts,
  which is the same for both.
*/
#pragma once

#include "core/format.h"
#include <spmv_cycle.h>

SPMV_C_BEGIN

/* Vectors of a level in the space of the cycle. Iterates take turns in two of them, so that no step writes over what it
   multiplies; on the finest level one of the two is the caller's x, and b is the caller's. */
typedef struct {
  SpmvCycleLevel       def;
  const SpmvCycleStep *down, *up; /* the steps in the space of the cycle */
  void                *iterate[2];
  void                *b; /* [rows], not on the finest level */
  void                *w; /* [rows]: a product with A, then the residual; not on the coarsest level */
  int                  now;       /* iterate[now] is the level's x, while a call is enqueued */
  int                  zero;      /* ... but it is zero, and was not written */
} SpmvCycleGrid;

struct SpmvCycle {
  const struct SpmvCycleSlots *slots;
  SpmvCycleOptions             options;
  SpmvCycleGrid                grid[SPMV_CYCLE_LEVELS];
  SpmvSpace                    space;
  SpmvAllocator                host, device; /* hooks that made its memory, and will free it */
  void                        *block;        /* one block of memory in its space, with all arrays */
  SpmvCycleStep               *steps;        /* in it: those of all smoothers */
  int                          count;        /* of them */
  int                          renewed;
  struct SpmvCycleTogether    *small;        /* of the device: the levels that one kernel does, or NULL */
  SpmvCycleInfo                info;
};

/* What is done on the host or on the device, for one scalar type each. s is the smoother, whose M is in s->values. */
typedef struct SpmvCycleSlots {
  /* out = correction M b */
  SpmvStatus (*first)(const SpmvCycle *, int64_t rows, const SpmvCycleSmoother *s, const SpmvCycleStep *, const void *b,
                      void *out, SpmvExec *);
  /* out = current x + before out + correction M (b - w), where w = A x; before out is left out in the first step */
  SpmvStatus (*step)(const SpmvCycle *, int64_t rows, const SpmvCycleSmoother *s, const SpmvCycleStep *, int first,
                     const void *x, const void *b, const void *w, void *out, SpmvExec *);
  /* x = inverse b on the coarsest level */
  SpmvStatus (*coarsest)(const SpmvCycle *, const void *b, void *x, SpmvExec *);
  /* May be NULL: makes what does the coarsest levels together, in cycle->small, which is NULL where that is not
     possible; takes over new values; enqueues x = cycle(b) from level info.together - 1 on down, x and b being those of
     that level, from a zero guess or, with restart 0, from x; frees it. */
  SpmvStatus (*together_create)(SpmvCycle *, SpmvExec *);
  SpmvStatus (*together_renew)(SpmvCycle *, SpmvExec *);
  SpmvStatus (*together_apply)(SpmvCycle *, const void *b, void *x, int zero, SpmvExec *);
  void (*together_destroy)(SpmvCycle *);
} SpmvCycleSlots;

extern const SpmvCycleSlots spmv_cycle_host_slots, spmv_cycle_device_slots;

SPMV_C_END
