/*
  cg.h - the struct of an engine, and the steps that the host and the device do in their own way. cg.c checks arguments
  and has what is the same for both.
*/
#pragma once

#include "cg_decide.h"
#include "engine/point.h"

SPMV_C_BEGIN

struct SpmvCg {
  const struct SpmvCgSteps *steps;
  SpmvCgOptions             options;
  SpmvCsr                   matrix; /* of the persistent kernel; options.matrix points to it */
  SpmvSpace                 space;
  SpmvAllocator             host, device; /* hooks that made its memory, and will free it */
  void                     *block;        /* one block of memory in its space, with the arrays that follow */
  void                     *p, *w;        /* [rows] */
  void                     *z;            /* [rows]: M r of SPMV_PC_FUNCTION; else NULL, and without rows */
  SpmvCgState              *state;        /* one */
  double                   *partial;      /* [4][SPMV_SUM_GRID_MAX]: partial sums of (p, w), then of the two others */
  double                   *history;      /* [options.history] */
  SpmvCgResult              last;         /* of the last run */
  int64_t                   most;         /* iterations of this solve */
  SpmvCgNorm                norm;         /* of its tests */
  void                     *r;            /* of this solve, for a function of the preconditioner on the device */
  int64_t                   bytes;
  int                       started;
  struct SpmvCgQueue       *queue; /* of the device: what the host needs to follow it */
  SpmvCgInfo                info;
};

/* What is done on the host or on the device */
typedef struct SpmvCgSteps {
  /* May be NULL. After the arrays were allocated; what it makes is freed by clear, also when it failed. */
  SpmvStatus (*prepare)(SpmvCg *, SpmvExec *);
  /* The state to begin with is given; it sets the one in cg->state, p and beta */
  SpmvStatus (*start)(SpmvCg *, const SpmvCgState *, SpmvExec *);
  /* Another test, and the norm of iteration 0 */
  SpmvStatus (*set_test)(SpmvCg *, const SpmvCgTest *, SpmvExec *);
  SpmvStatus (*first_norm)(SpmvCg *, double *norm, SpmvExec *);
  /* The residual of the caller is another one */
  SpmvStatus (*correct)(SpmvCg *, const SpmvCgTest *, int restart, SpmvExec *);
  /* Up to so many iterations, at least one; the reason of the last run was SPMV_ITERATING */
  SpmvStatus (*run)(SpmvCg *, int64_t iterations, SpmvRecord *, SpmvExec *);
  /* May be NULL */
  void (*clear)(SpmvCg *);
} SpmvCgSteps;

extern const SpmvCgSteps spmv_cg_host_steps, spmv_cg_device_steps;

static inline int spmv_cg_block_size(const SpmvCgOptions *o)
{
  return spmv_point_block(o->preconditioner, o->block_size);
}

/* Also on a process without rows, where z is NULL: the function is collective */
static inline int spmv_cg_has_function(const SpmvCg *cg) { return cg->options.preconditioner == SPMV_PC_FUNCTION; }

/* z = M r of SPMV_PC_FUNCTION; nothing for the others, whose kernels have M */
static inline SpmvStatus spmv_cg_apply(SpmvCg *cg, const void *r, SpmvExec *exec)
{
  return spmv_cg_has_function(cg) ? cg->options.apply(cg->options.apply_ctx, r, cg->z, exec) : SPMV_SUCCESS;
}

/* Whether an iteration is tested before the function of the preconditioner is called, which may then be spared */
static inline int spmv_cg_tests_early(const SpmvCg *cg)
{
  return spmv_cg_has_function(cg) && spmv_cg_norm_is_of_r(cg->norm);
}

/* Replaces sums by those over all processes */
static inline SpmvStatus spmv_cg_add(const SpmvCg *cg, double *sums, int n, SpmvExec *exec)
{
  return spmv_add_sums(cg->options.processes, sums, n, exec);
}

SPMV_C_END
