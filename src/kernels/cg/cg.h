/*
  cg.h - the struct of a solver, and the functions that cg.c calls where there is CUDA.
*/
#pragma once

#include "cg_decide.h"
#include "engine/point.h"

SPMV_C_BEGIN

struct SpmvCg {
  SpmvObject          object;
  SpmvCgOptions       options;
  SpmvCsr             matrix; /* of the persistent kernel; options.matrix points to it */
  void               *p, *w;  /* [rows] */
  void               *z;  /* [rows]: M r of SPMV_PC_FUNCTION or a single reduction; else NULL, and NULL without rows */
  void               *az; /* [rows]: A z of a single reduction; else NULL */
  SpmvCgState        *state;
  double             *partial; /* [4][SPMV_SUM_GRID_MAX]: partial sums */
  double             *history; /* [options.history] */
  SpmvRecord         *kept;    /* with options.lanczos: [2], of which one is written, then the coefficients */
  SpmvCgResult        last;    /* the result of the last run */
  SpmvCgNorm          norm;    /* the norm that this solve tests */
  void               *r;       /* the residual of this solve */
  int                 started;
  struct SpmvCgQueue *queue; /* how the host follows the solve; NULL with options.lanczos */
  SpmvCgInfo          info;
};

/* The slots that the device fills */
typedef struct SpmvCgSlots {
  /* Called after the arrays are allocated. clear() frees what it made, also after a failure. */
  SpmvStatus (*prepare)(SpmvCg *, SpmvExec *);
  /* Copies the given state to cg->state, and computes p and beta of iteration 0 */
  SpmvStatus (*start)(SpmvCg *, const SpmvCgState *, SpmvExec *);
  /* Goes on with the new residual that the caller has put into r */
  SpmvStatus (*correct)(SpmvCg *, int restart, SpmvExec *);
  /* Runs up to `iterations` iterations, or none; called only if the last reason is SPMV_ITERATING */
  SpmvStatus (*run)(SpmvCg *, int64_t iterations, const SpmvTest *, SpmvRecord *, SpmvExec *);
  /* Runs options.lanczos iterations, and copies that many bytes of cg->kept to the host */
  SpmvStatus (*lanczos)(SpmvCg *, const SpmvTest *, void *to, int64_t bytes, SpmvExec *);
  void (*clear)(SpmvCg *);
} SpmvCgSlots;

extern const SpmvCgSlots spmv_cg_device_slots;

static inline int spmv_cg_block_size(const SpmvCgOptions *o)
{
  return spmv_point_block(o->preconditioner, o->block_size);
}

/* Also on a process without rows, where z is NULL: the function is collective */
static inline int spmv_cg_has_function(const SpmvCg *cg) { return cg->options.preconditioner == SPMV_PC_FUNCTION; }

/* z = M r for SPMV_PC_FUNCTION; a no-op for the other preconditioners, which the kernels apply themselves */
static inline SpmvStatus spmv_cg_apply(SpmvCg *cg, const void *r, SpmvExec *exec)
{
  return spmv_cg_has_function(cg) ? cg->options.apply(cg->options.apply_ctx, r, cg->z, exec) : SPMV_SUCCESS;
}

/* Whether the test comes before the preconditioner's function, so that the last iteration need not call it */
static inline int spmv_cg_tests_early(const SpmvCg *cg)
{
  return spmv_cg_has_function(cg) && !cg->options.single_reduction && spmv_cg_norm_is_of_r(cg->norm);
}

/* Replaces sums by their sums over all processes */
static inline SpmvStatus spmv_cg_add(const SpmvCg *cg, double *sums, int n, SpmvExec *exec)
{
  return spmv_add_sums(cg->options.processes, sums, n, exec);
}

SPMV_C_END
