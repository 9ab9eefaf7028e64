/*
  spmv_cycle.h - a multigrid cycle on one GPU: x = cycle(b), from a zero guess.

  The caller makes the hierarchy: for each level the plans of its matrix A, of the interpolation P from the next coarser
  level and of the restriction R, and two smoothers that are polynomials in M A, where M is diagonal, block diagonal or a function.
  spmv_cycle_apply() only enqueues, so that CG can put it into its chunks and graphs.

    spmv_cycle_options_init(&options);  options.levels = ...;
    spmv_cycle_create(&options, &exec, &cycle);
    spmv_cycle_renew(cycle, &exec);                       after each change of steps or of values
    spmv_cycle_apply(cycle, b, x, &exec);                 as often as needed
    spmv_cycle_destroy(&cycle);

  Only one thread at a time may use an object, with the device that was current when it was made and with an exec of the
  same allocation hooks. src/kernels/cycle/README.md says what each kernel reads and writes.
*/
#ifndef SPMV_CYCLE_H
#define SPMV_CYCLE_H

#include "spmv_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A smoother. Each step computes an iterate from the previous two:

     x_(k+1) = current x_k + before x_(k-1) + correction M (b - A x_k)

   Richardson's iteration has the factors (1, 0, scale); Chebyshev's iterations of the first and of the fourth kind have
   this form, too. The first step does not use `before`. From a zero guess it does not use `current` either, and does
   not multiply by A. values and step belong to the caller. Their contents may change before spmv_cycle_renew(), the
   address of values must not. */
typedef struct {
  int                steps; /* 0: no smoothing */
  const SpmvFactors *step;  /* [steps] */
  SpmvPreconditioner kind;
  int                block_size;
  const void        *values; /* of M, on the device */
  /* SPMV_PC_FUNCTION: M r, for r and z that do not overlap. It may only enqueue. Not with matrix_scale. */
  SpmvApply apply;
  void     *ctx;
  double    flops; /* of a call */
} SpmvCycleSmoother;

/* One level. Of level 0, the coarsest, only rows is read. */
typedef struct {
  int64_t           rows; /* of this process */
  SpmvOperator      matrix;
  SpmvOperator      interpolation; /* of shape [rows of this level][rows of the next coarser one] */
  SpmvOperator      restriction;   /* of shape [rows of the next coarser level][rows of this level] */
  SpmvCycleSmoother down, up;      /* before and after the coarse correction */
  int               visits;        /* to the next coarser level: 1 is a V cycle, 2 a W cycle */
} SpmvCycleLevel;

typedef struct {
  int                   levels;      /* at least 1, at most SPMV_CYCLE_LEVELS */
  const SpmvCycleLevel *level;       /* [levels], from the coarsest, 0, to the finest; copied */
  SpmvScalar            scalar_type; /* of vectors, M, inverse and plans; steps are double */
  int                   cycles;      /* per call, at least 1; each continues from the result of the previous one */
  /* The coarsest level: x = inverse b with a dense matrix of shape [rows][rows], stored by rows, on the device. It
     belongs to the caller, and its contents may change before spmv_cycle_renew(). If inverse is NULL, the
     function `coarse` computes x from b. On several processes the matrix is the inverse of the diagonal block of this
     process; the function may be collective. */
  const void *inverse;
  SpmvApply   coarse;
  void       *coarse_ctx;
  /* With an inverse: the coarsest levels, as long as they have at most this many rows, few nonzeros
     in total, and operators without `processes`, become one dense matrix, which spmv_cycle_renew() computes. One
     product then replaces many small kernels. Negative, the default: 2,048 rows; 0: no such matrix. If the cycle visits
     these levels with a nonzero guess (W cycles, several cycles), current + before must be 1 in each step, so that the
     exact solution is a fixed point: spmv_cycle_renew() refuses other factors. */
  int64_t dense_rows;
  /* Vectors of the finest level that are projected out of the result, for example the null space of a singular matrix:
     shape [null_vectors][rows], on the device, orthonormal over all processes. They belong to the caller;
     their contents may change between calls. At most SPMV_SUMS_MAX. matrix.processes of the finest level adds the sums
     of the processes. */
  const void *null_space;
  int         null_vectors;
  /* Not NULL: a cycle in single precision (scalar_type is SPMV_F32) between vectors in double precision: b, x, the null
     space and the vectors of the function `coarse`. The plans of matrices must then hold the matrices times
     *matrix_scale; M (except for SPMV_PC_IDENTITY) and inverse must be divided by *matrix_scale; interpolations and
     restrictions are unscaled. *matrix_scale is a power of two; it belongs to the caller and may change before
     spmv_cycle_renew(). */
  const double *matrix_scale;
} SpmvCycleOptions;
enum { SPMV_CYCLE_LEVELS = 16 };

/* Zeros, except for one cycle per call and dense_rows = -1 */
SPMV_API void spmv_cycle_options_init(SpmvCycleOptions *);

typedef struct SpmvCycle SpmvCycle;

/* Makes a cycle for plans of these patterns; plans and exec are of the device. *cycle is NULL after a failure.
   SPMV_ERR_UNSUPPORTED: no device. It may wait. spmv_cycle_renew() must follow. */
SPMV_API SpmvStatus spmv_cycle_create(const SpmvCycleOptions *, SpmvExec *, SpmvCycle **cycle);

/* Takes over changes by the caller: the factors of the steps, whose number must stay, and the values of plans. M and
   inverse are read where they lie. Graphs that contain the cycle stay valid, since no address changes. It may wait. */
SPMV_API SpmvStatus spmv_cycle_renew(SpmvCycle *, SpmvExec *);

/* x = cycle(b) for b and x of shape [rows] of the finest level, on the device; they must not overlap. It only
   enqueues, unless `coarse` or a function of SpmvProcesses waits. One call at a time. */
SPMV_API SpmvStatus spmv_cycle_apply(SpmvCycle *, const void *b, void *x, SpmvExec *);
/* The same as an SpmvApply, whose context is the cycle */
SPMV_API SpmvStatus spmv_cycle_function(void *cycle, const void *b, void *x, SpmvExec *);

typedef struct {
  int64_t bytes; /* device memory of the object */
  int     dense; /* levels, the coarsest included, that the dense matrix of dense_rows replaces; 0: there is none */
  int     waits; /* 1: spmv_cycle_apply() waits for the host, so it cannot be part of a graph */
  double  flops; /* additions and multiplications of one spmv_cycle_apply(), without those of `coarse` */
} SpmvCycleInfo;
SPMV_API void spmv_cycle_info(const SpmvCycle *, SpmvCycleInfo *);

/* The caller must have waited for the stream. Frees the object and sets the pointer to NULL; NULL and a pointer to NULL
   are accepted. */
SPMV_API void spmv_cycle_destroy(SpmvCycle **);

#ifdef __cplusplus
}
#endif
#endif
