/*
  spmv_cycle.h - a cycle of multigrid, on the host or on one GPU: x = cycle(b), from a zero guess.

  The hierarchy comes from the caller: for each level the plan of its matrix A, of the interpolation P from the next
  coarser level and of the restriction R, and two smoothers that are polynomials in M A, where M is a diagonal or blocks
  along it. On the device spmv_cycle_apply() only enqueues, so that CG takes it into its chunks and graphs.

    spmv_cycle_options_init(&options);  options.levels = ...;
    spmv_cycle_create(&options, &exec, &cycle);
    spmv_cycle_renew(cycle, &exec);                       steps, and values of the plans, are those of now
    spmv_cycle_apply(cycle, b, x, &exec);                 again and again
    spmv_cycle_destroy(&cycle);

  All calls for one object come from one thread at a time, with the same current device, and with execs of the space and
  the allocation hooks that it was made with. src/kernels/cycle/README.md says what each kernel reads and writes.
*/
#ifndef SPMV_CYCLE_H
#define SPMV_CYCLE_H

#include "spmv_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A smoother. Each step makes one of its iterates from the two before:

     x_(k+1) = current x_k + before x_(k-1) + correction M (b - A x_k)

   Richardson's iteration has the factors (1, 0, scale); Chebyshev's iterations of the first and the fourth kind have this
   form, too. The first step does not use `before`. From a zero guess it does not use `current` either, and does not
   multiply by A. values and step belong to the caller. The address of values stays; its contents and the steps may
   change before spmv_cycle_renew(). */
typedef struct {
  int                steps; /* 0: none */
  const SpmvFactors *step;  /* [steps] */
  SpmvPreconditioner kind;  /* SPMV_PC_IDENTITY, SPMV_PC_DIAGONAL or SPMV_PC_BLOCKS */
  int                block_size;
  const void        *values; /* of M, in the space of the cycle */
} SpmvCycleSmoother;

/* One level. On level 0, the coarsest, only rows is read. */
typedef struct {
  int64_t           rows; /* of this process */
  SpmvOperator      matrix;
  SpmvOperator      interpolation; /* of shape [rows of this level][rows of the next coarser one] */
  SpmvOperator      restriction;   /* the other way round */
  SpmvCycleSmoother down, up;      /* before and after the correction by the coarser level */
  int               visits;        /* of the next coarser level: 1 is a V cycle, 2 a W cycle */
} SpmvCycleLevel;

typedef struct {
  int                   levels;      /* at least 1, at most SPMV_CYCLE_LEVELS */
  const SpmvCycleLevel *level;       /* [levels], from the coarsest, 0, to the finest; copied */
  SpmvScalar            scalar_type; /* of all vectors, M, inverse and plans; steps are double */
  int                   cycles;      /* for each call; the second begins with the result of the first. At least 1. */
  /* The coarsest level: x = inverse b with a dense matrix of shape [rows][rows], stored by rows, in the space of the
     cycle; it belongs to the caller, and its contents may change before spmv_cycle_renew(). Where it is NULL, x is what a
     function makes of b. On several processes the matrix is the inverse of the diagonal block of this process; the
     function may be collective. */
  const void *inverse;
  SpmvApply   coarse;
  void       *coarse_ctx;
  /* On the device and with an inverse: all levels of at most this many rows whose operators have no `processes`, with all
     coarser ones, become one dense matrix, which spmv_cycle_renew() computes. One product then replaces many small kernels. Negative, the default: 2,048
     rows; 0: no such matrix. Where the cycle visits these levels with a nonzero guess (W cycles, several
     cycles), current + before must be 1 in each step, so that the exact solution is a fixed point: spmv_cycle_renew()
     refuses other factors. */
  int64_t dense_rows;
  /* Vectors of the finest level that are taken out of the result, as for a singular matrix those of its null space:
     shape [null_vectors][rows], in the space of the cycle, orthonormal over all processes. They belong to the caller;
     their contents may change between calls. At most SPMV_SUMS_MAX. matrix.processes of the finest level adds. */
  const void *null_space;
  int         null_vectors;
  /* Not NULL: a cycle in single precision (scalar_type is SPMV_F32) between vectors in double precision: b, x, those of
     the null space and those of the function `coarse`. Plans of matrices are then of *matrix_scale times the matrices, M and
     the inverse of theirs / *matrix_scale, but for SPMV_PC_IDENTITY; interpolations and restrictions are as they are. It is
     a power of two that belongs to the caller, which may change it before spmv_cycle_renew(). */
  const double *matrix_scale;
} SpmvCycleOptions;
enum { SPMV_CYCLE_LEVELS = 16 };

/* Zeros, with one cycle for each call, and dense_rows of -1 */
SPMV_API void spmv_cycle_options_init(SpmvCycleOptions *);

typedef struct SpmvCycle SpmvCycle;

/* Makes a cycle for plans of these patterns. *cycle is NULL after a failure. It may wait. spmv_cycle_renew() must follow. */
SPMV_API SpmvStatus spmv_cycle_create(const SpmvCycleOptions *, SpmvExec *, SpmvCycle **cycle);

/* Takes over what the caller has changed: the steps of smoothers, whose number stays, and the values of plans. Those of
   M and of the inverse are read where they lie. Addresses that a graph holds stay as they are. It may wait. */
SPMV_API SpmvStatus spmv_cycle_renew(SpmvCycle *, SpmvExec *);

/* x = cycle(b) for b and x of shape [rows] of the finest level, in the space of the cycle, which do not overlap. On the
   device it only enqueues, unless the function of the coarsest level or that of several processes waits. One call at a
   time. */
SPMV_API SpmvStatus spmv_cycle_apply(SpmvCycle *, const void *b, void *x, SpmvExec *);
/* The same as SpmvApply: the context is the cycle */
SPMV_API SpmvStatus spmv_cycle_function(void *cycle, const void *b, void *x, SpmvExec *);

typedef struct {
  int64_t bytes; /* that the object holds in its space */
  int     dense; /* levels that are one dense matrix, the coarsest included; 0: none but that of the coarsest */
  int     waits; /* 1: a call waits for the host, so that it cannot be part of a graph */
  double  flops; /* additions and multiplications of one call, without those of options.coarse */
} SpmvCycleInfo;
SPMV_API void spmv_cycle_info(const SpmvCycle *, SpmvCycleInfo *);

/* The caller has waited for what is in the stream. Frees the object and sets the pointer to NULL; NULL and a pointer to
   NULL are accepted. */
SPMV_API void spmv_cycle_destroy(SpmvCycle **);

#ifdef __cplusplus
}
#endif
#endif
