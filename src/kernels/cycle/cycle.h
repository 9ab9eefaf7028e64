/*
  cycle.h - the struct of a cycle, and the functions that are called where there is CUDA.

  A cycle is a list of operations, made once (program.c) and run by apply.c. The coarsest levels may have
  become one dense matrix: then the finest of them is the coarsest level of the list.
*/
#pragma once

#include "device/object.h"
#include "engine/project.h"
#include "outer.h"
#include <spmv_cycle.h>

SPMV_C_BEGIN

/* The vectors of a level. Iterates alternate between X0 and X1, so that no step overwrites the vector that it
   multiplies. On the finest level X0 and B are the caller's x and b. */
typedef enum {
  SPMV_CYCLE_X0,
  SPMV_CYCLE_X1,
  SPMV_CYCLE_B,
  SPMV_CYCLE_W, /* products with A, residuals */
  SPMV_CYCLE_Z, /* M r, of levels whose M is a function */
  SPMV_CYCLE_VECTORS,
  SPMV_CYCLE_NONE = -1
} SpmvCycleVector;

typedef enum {
  SPMV_CYCLE_STEP,        /* out = current x + before out + correction M (b - A x) */
  SPMV_CYCLE_POINT,       /* out = current x + before out + correction M b; M is the identity if it is a function */
  SPMV_CYCLE_RESIDUAL,    /* out = b - A x */
  SPMV_CYCLE_APPLY,       /* out = M b, by the function of the smoother */
  SPMV_CYCLE_RESTRICT,    /* out = R x, with out on the next coarser level */
  SPMV_CYCLE_INTERPOLATE, /* out = P x, or with adds out += P x, with x on the next coarser level */
  SPMV_CYCLE_COARSEST     /* out = inverse b, or with adds out += inverse b, by the inverse or the dense matrix */
} SpmvCycleKind;

typedef struct {
  int32_t kind, level;
  int32_t x, b, out; /* SpmvCycleVector; x is SPMV_CYCLE_NONE if a step has a zero guess */
  int32_t adds;      /* out is read, too: as x_(k-1) of a step, or for out += */
  int32_t up;        /* the smoother: 0 before the coarse correction, 1 after it */
  int32_t step;      /* index in SpmvCycle.steps */
} SpmvCycleOp;

/* The operations of one or several cycles from a zero guess on levels bottom to finest. The bottom level is solved by
   an inverse, a function or a dense matrix. */
typedef struct {
  SpmvCycleOp *op; /* [ops] on the host */
  int          ops;
} SpmvCycleProgram;

typedef struct {
  SpmvCycleLevel def;
  int            first_step[2];              /* index in SpmvCycle.steps, of the smoothers down and up */
  void          *vector[SPMV_CYCLE_VECTORS]; /* NULL: not needed, or the caller's */
} SpmvCycleGrid;

struct SpmvCycle {
  SpmvObject                   object;
  const struct SpmvCycleSlots *slots; /* NULL without CUDA: then no cycle can be created */
  SpmvCycleOptions             options;
  SpmvCycleGrid                grid[SPMV_CYCLE_LEVELS];
  SpmvCycleProgram             program;
  int                          bottom; /* the coarsest level of the program: 0, or that of the dense matrix */
  SpmvFactors                 *steps;  /* [count] on the device: the steps of all smoothers */
  int                          count;
  SpmvProjection               null_space;
  SpmvOuter                    outer; /* in use if options.matrix_scale is not NULL */
  int                          renewed;
  struct SpmvCycleDense       *dense; /* the coarsest levels as one matrix, or NULL */
  SpmvCycleInfo                info;
};

/* The functions that the device implements */
typedef struct SpmvCycleSlots {
  /* out = current x + before out + correction M (b - w). x and w may be NULL for zero; out is read only if op->adds. */
  SpmvStatus (*point)(const SpmvCycle *, const SpmvCycleGrid *, const SpmvCycleOp *, const void *x, const void *b,
                      const void *w, void *out, SpmvExec *);
  /* x = inverse b on the coarsest level of the program, or x += inverse b */
  SpmvStatus (*coarsest)(const SpmvCycle *, const void *b, void *x, int adds, SpmvExec *);
  /* Makes cycle->dense and sets cycle->bottom, unless no levels become one matrix. */
  SpmvStatus (*dense_create)(SpmvCycle *, SpmvExec *);
  /* Computes the dense matrix again, for new values of plans, M or steps */
  SpmvStatus (*dense_renew)(SpmvCycle *, SpmvExec *);
  /* This and the next two are for a cycle in single precision between vectors in double precision. With several
     processes, outer.sums[0] becomes the 1-norm of this process's part of b; with one outer_enter() computes it. */
  SpmvStatus (*outer_sum)(const SpmvCycle *, const double *b, SpmvExec *);
  /* Computes the factors from the sum, and the right-hand side of the finest level from b */
  SpmvStatus (*outer_enter)(const SpmvCycle *, const double *b, SpmvExec *);
  SpmvStatus (*outer_convert)(const SpmvCycle *, SpmvOuterWay, int64_t n, const void *from, void *to, SpmvExec *);
} SpmvCycleSlots;

extern const SpmvCycleSlots spmv_cycle_device_slots;

/* Makes a program, as a block of the cycle; program.c */
SpmvStatus spmv_cycle_program(SpmvCycle *, int bottom, int finest, int cycles, SpmvCycleProgram *, SpmvExec *);

/* outer.c */
SpmvStatus spmv_outer_enter(const SpmvCycle *, const void *b, SpmvExec *);
SpmvStatus spmv_outer_leave(const SpmvCycle *, void *x, SpmvExec *);
SpmvStatus spmv_outer_coarse(const SpmvCycle *, const void *b, void *x, SpmvExec *);

/* The address of an operation's vector; on the finest level the caller's, unless the cycle has its own there */
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

/* Whether M of a smoother of a level is a function */
static inline int spmv_cycle_has_function(const SpmvCycleLevel *level)
{
  return level->down.kind == SPMV_PC_FUNCTION || level->up.kind == SPMV_PC_FUNCTION;
}

SPMV_C_END
