/*
  cycle.h - the struct of a cycle, and the parts that the host and the device do in their own way.

  A cycle is a list of operations, made once (program.c): apply.c does them one after the other, each on its level. On
  the device the coarsest levels may have become one dense matrix: then the list ends with that on their finest level.
*/
#pragma once

#include "core/format.h"
#include "engine/project.h"
#include "outer.h"
#include <spmv_cycle.h>

SPMV_C_BEGIN

/* The vectors of a level. Iterates take turns in two of them, so that no step writes over what it multiplies. On the
   finest level one of the two, and the right-hand side, are the caller's. */
typedef enum {
  SPMV_CYCLE_X0,
  SPMV_CYCLE_X1,
  SPMV_CYCLE_B,
  SPMV_CYCLE_W, /* products with A, residuals */
  SPMV_CYCLE_VECTORS,
  SPMV_CYCLE_NONE = -1
} SpmvCycleVector;

typedef enum {
  SPMV_CYCLE_STEP,        /* out = current x + before out + correction M (b - A x) */
  SPMV_CYCLE_POINT,       /* out = current x + before out + correction M b */
  SPMV_CYCLE_RESIDUAL,    /* out = b - A x */
  SPMV_CYCLE_RESTRICT,    /* out = R x, with out on the next coarser level */
  SPMV_CYCLE_INTERPOLATE, /* out = P x, or with adds out += P x, with x on the next coarser level */
  SPMV_CYCLE_COARSEST     /* out = inverse b, or with adds out += inverse b; or the dense matrix in its place */
} SpmvCycleKind;

typedef struct {
  int32_t kind, level;
  int32_t x, b, out; /* SpmvCycleVector; x is SPMV_CYCLE_NONE where a step has no guess */
  int32_t adds;      /* out is read, too: before out, or out += */
  int32_t up;        /* the smoother: 0 is the one before the correction by the coarser level */
  int32_t step;      /* its step in SpmvCycle.steps */
} SpmvCycleOp;

/* The operations of one or several cycles from a zero guess on levels bottom to finest, on whose bottom level there is an
   inverse or a dense matrix */
typedef struct {
  SpmvCycleOp *op; /* [ops] on the host */
  int          ops;
} SpmvCycleProgram;

typedef struct {
  SpmvCycleLevel def;
  int            first_step[2];              /* of the smoothers down and up in SpmvCycle.steps */
  void          *vector[SPMV_CYCLE_VECTORS]; /* NULL: there is none, or it is the caller's */
} SpmvCycleGrid;

struct SpmvCycle {
  const struct SpmvCycleSlots *slots;
  SpmvCycleOptions             options;
  SpmvCycleGrid                grid[SPMV_CYCLE_LEVELS];
  SpmvCycleProgram             program;
  int                          bottom; /* its coarsest level: 0, or that of the dense matrix */
  SpmvSpace                    space;
  SpmvAllocator                host, device; /* hooks that made its memory, and will free it */
  void                        *block;        /* one block of memory in its space: vectors and steps */
  SpmvFactors                 *steps;        /* [count] in its space: of all smoothers */
  int                          count;
  SpmvProjection               null_space;
  SpmvOuter                    outer; /* where options.matrix_scale is there */
  int                          renewed;
  struct SpmvCycleDense       *dense; /* of the device: the coarsest levels as one matrix, or NULL */
  SpmvCycleInfo                info;
};

/* What is done on the host or on the device */
typedef struct SpmvCycleSlots {
  /* out = current x + before out + correction M (b - w). w may be NULL: then b alone; x may be NULL, and out is not read
     unless adds. */
  SpmvStatus (*point)(const SpmvCycle *, const SpmvCycleGrid *, const SpmvCycleOp *, const void *x, const void *b,
                      const void *w, void *out, SpmvExec *);
  /* x = inverse b on the coarsest level of the program, or x += inverse b */
  SpmvStatus (*coarsest)(const SpmvCycle *, const void *b, void *x, int adds, SpmvExec *);
  /* May be NULL, as those that follow. Makes cycle->dense and sets cycle->bottom, or leaves both as they are where no
     levels become one matrix. */
  SpmvStatus (*dense_create)(SpmvCycle *, SpmvExec *);
  /* New values of plans, M or steps */
  SpmvStatus (*dense_renew)(SpmvCycle *, SpmvExec *);
  void (*dense_destroy)(SpmvCycle *);
  /* Of a cycle in single precision between vectors in double precision, never NULL. outer.sums[0] becomes the sum of |b| of
     this process; on the device only where there are several. */
  SpmvStatus (*outer_sum)(const SpmvCycle *, const double *b, SpmvExec *);
  /* The factors follow from the sum; then the right-hand side of the finest level from b */
  SpmvStatus (*outer_enter)(const SpmvCycle *, const double *b, SpmvExec *);
  SpmvStatus (*outer_convert)(const SpmvCycle *, SpmvOuterWay, int64_t n, const void *from, void *to, SpmvExec *);
} SpmvCycleSlots;

extern const SpmvCycleSlots spmv_cycle_host_slots, spmv_cycle_device_slots;

/* Makes a program, whose op spmv_exec_free() frees; program.c */
SpmvStatus spmv_cycle_program(const SpmvCycle *, int bottom, int finest, int cycles, SpmvCycleProgram *, SpmvExec *);

/* outer.c */
SpmvStatus spmv_outer_enter(const SpmvCycle *, const void *b, SpmvExec *);
SpmvStatus spmv_outer_leave(const SpmvCycle *, void *x, SpmvExec *);
SpmvStatus spmv_outer_coarse(const SpmvCycle *, const void *b, void *x, SpmvExec *);
SpmvStatus spmv_outer_host_sum(const SpmvCycle *, const double *b, SpmvExec *);
SpmvStatus spmv_outer_host_enter(const SpmvCycle *, const double *b, SpmvExec *);
SpmvStatus spmv_outer_host_convert(const SpmvCycle *, SpmvOuterWay, int64_t n, const void *from, void *to, SpmvExec *);

/* The vector of an operation on a level; the caller's on the finest, unless the cycle has its own there */
static inline void *spmv_cycle_vector(const SpmvCycle *cycle, int level, int vector, const void *b, void *x)
{
  void *own = vector == SPMV_CYCLE_NONE ? NULL : cycle->grid[level].vector[vector];

  if (own || vector == SPMV_CYCLE_NONE || level < cycle->options.levels - 1) return own;
  return vector == SPMV_CYCLE_B ? (void *)b : x;
}

static inline const SpmvCycleSmoother *spmv_cycle_smoother(const SpmvCycleGrid *grid, int up)
{
  return up ? &grid->def.up : &grid->def.down;
}

SPMV_C_END
