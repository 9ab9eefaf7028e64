/*
  cg.h - the struct of an engine, and the steps that the host and the device do in their own way. cg.c checks arguments
  and has what is the same for both.
*/
#pragma once

#include "cg_decide.h"

SPMV_C_BEGIN

struct SpmvCg {
  const struct SpmvCgSteps *steps;
  SpmvCgOptions             options;
  SpmvCsr                   matrix; /* of the persistent kernel; options.matrix points to it */
  SpmvSpace                 space;
  SpmvAllocator             host, device; /* hooks that made its memory, and will free it */
  void                     *block;        /* one block of memory in its space, with the arrays that follow */
  void                     *p, *w;        /* [rows] */
  SpmvCgState              *state;        /* one */
  double                   *partial;      /* [4][SPMV_CG_GRID_MAX]: partial sums of (p, w), then of the two others */
  double                   *history;      /* [options.history] */
  SpmvCgResult              last;         /* of the last run */
  int64_t                   most;         /* iterations of this solve */
  int64_t                   bytes;
  int                       started;
  struct SpmvCgQueue       *queue; /* of the device: what the host needs to follow it */
  SpmvCgInfo                info;
};

/* Thread blocks of a kernel, each with its partial sums: eight for each multiprocessor of an H100 or H200, and no more
   on a larger GPU, so that the order of additions is the same on all */
enum { SPMV_CG_GRID_MAX = 1056 };

/* What is done on the host or on the device */
typedef struct SpmvCgSteps {
  /* May be NULL. After the arrays were allocated; what it makes is freed by clear, also when it failed. */
  SpmvStatus (*prepare)(SpmvCg *, SpmvExec *);
  /* The state to begin with is given; it sets the one in cg->state, p and beta */
  SpmvStatus (*start)(SpmvCg *, const SpmvCgState *, SpmvExec *);
  /* The residual of the caller is another one */
  SpmvStatus (*correct)(SpmvCg *, const SpmvCgTest *, int restart, SpmvExec *);
  /* Up to so many iterations, at least one; the reason of the last run was SPMV_CG_ITERATING */
  SpmvStatus (*run)(SpmvCg *, int64_t iterations, SpmvCgRecord *, SpmvExec *);
  /* May be NULL */
  void (*clear)(SpmvCg *);
} SpmvCgSteps;

extern const SpmvCgSteps spmv_cg_host_steps, spmv_cg_device_steps;

/* Rows of a block of the preconditioner: 0 for the identity, 1 for a diagonal */
static inline int spmv_cg_block_size(const SpmvCgOptions *o)
{
  return o->preconditioner == SPMV_PC_BLOCKS ? o->block_size : o->preconditioner == SPMV_PC_DIAGONAL;
}

SPMV_C_END
