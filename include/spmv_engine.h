/*
  spmv_engine.h - what the solvers of libspmvpack share: the preconditioner of a point or a block of points, the product
  by a plan, how several processes work together, and when iterations end. spmv_cg.h, spmv_gmres.h and spmv_cycle.h
  include it.
*/
#ifndef SPMV_ENGINE_H
#define SPMV_ENGINE_H

#include "spmv_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A preconditioner M: the identity; a diagonal of shape [rows]; dense blocks of shape
   [rows/block_size][block_size][block_size] along the diagonal, each stored by columns as PETSc's PCPBJACOBI does; or a
   function of the caller, where a solver takes one. Values are those of M, which approximates the inverse of A. */
typedef enum { SPMV_PC_IDENTITY, SPMV_PC_DIAGONAL, SPMV_PC_BLOCKS, SPMV_PC_FUNCTION } SpmvPreconditioner;
enum { SPMV_PC_BLOCK_MAX = 8 }; /* rows of a block, at least 2 */

/* Enqueues z = M r on exec->stream, for r and z in the space of exec, which do not overlap */
typedef SpmvStatus (*SpmvApply)(void *ctx, const void *r, void *z, SpmvExec *exec);

/* ---- when iterations end ---- */

/* Why iterations ended: positive numbers mean that x is the solution. Each solver says which of them it gives. */
typedef enum {
  SPMV_ITERATING             = 0,  /* they did not: the call was for fewer */
  SPMV_RTOL                  = 1,  /* norm <= tolerance */
  SPMV_ATOL                  = 2,  /* norm <= tolerance and norm < absolute, or the norm of iteration 0 is 0 */
  SPMV_ITERATIONS            = 3,  /* max_iterations are done, and the test counts that as success */
  SPMV_BREAKDOWN             = 4,  /* there is no further direction, and no norm was tested */
  SPMV_DIVERGED_ITERATIONS   = -1, /* max_iterations are done */
  SPMV_DIVERGED_TOLERANCE    = -2, /* norm >= divergence */
  SPMV_DIVERGED_NOT_A_NUMBER = -3, /* a sum or a norm is NaN or infinite */
  SPMV_INDEFINITE_PC         = -4,
  SPMV_INDEFINITE_MATRIX     = -5,
  SPMV_DIVERGED_BREAKDOWN    = -6 /* there is no further direction, and the test is not met */
} SpmvReason;

/* PETSc's KSPConvergedDefault(). Iteration 0, which computes r, its norm and the first test, belongs to the caller. */
typedef struct {
  int     untested;                       /* KSP_NORM_NONE: max_iterations alone end the solve */
  double  tolerance;                      /* ttol: max(rtol ||.||, abstol); negative: never */
  double  absolute;                       /* abstol, which only tells ATOL from RTOL */
  double  divergence;                     /* divtol times the norm at the beginning; infinite: never */
  int64_t min_iterations, max_iterations; /* the latter at least 1 */
  int64_t check_after;                    /* check_norm_iteration: up to here no test; -1: from the first */
  int     max_is_success;                 /* max_iterations end with SPMV_ITERATIONS, before any other test */
} SpmvTest;

/* ---- several processes ---- */

/* How processes that have rows of one system each work together. Every process calls each function equally often and in
   the same order. */
typedef struct SpmvProcesses {
  void *ctx;
  /* All functions only enqueue, and may be captured in a graph; otherwise they wait for the host (MPI) */
  int enqueues;
  /* Of the process that has most: all enqueue equally many iterations at a time. 0: the caller says how many. */
  int64_t most_rows;
  /* Begins to fill ghosts, an array in the space of exec, with those entries of the vectors x of other processes that
     halo, which the caller made for one matrix, names. Up to end() x may be read, ghosts not be touched. */
  SpmvStatus (*begin)(void *ctx, void *halo, const void *x, void *ghosts, SpmvExec *exec);
  /* What is enqueued from here on finds ghosts filled */
  SpmvStatus (*end)(void *ctx, void *halo, void *ghosts, SpmvExec *exec);
  /* Replaces n sums in the space of exec, at most SPMV_SUMS_MAX, by their sums over all processes, in stream order.
     Values of sums that no longer matter pass through it, too, and may be anything. */
  SpmvStatus (*add)(void *ctx, double *sums, int n, SpmvExec *exec);
  /* *end becomes the largest *end of all processes, which is 1 where one of them has come to an end. The host waits. May
     be NULL where sums have the same bits in all processes: then they end together. */
  SpmvStatus (*agree)(void *ctx, int *end, SpmvExec *exec);
  /* Called by a host that has waited so many seconds for what was enqueued. An error where another process has died; then
     nothing of that is waited for any longer. May be NULL where the functions wait themselves. */
  SpmvStatus (*alive)(void *ctx, double waited, SpmvExec *exec);
} SpmvProcesses;
enum { SPMV_SUMS_MAX = 64 };

/* ---- a product ---- */

/* y = alpha A x + beta y by one plan, or by two where the rows of A are distributed over processes. What the pointers
   address belongs to the caller; work has plan->memory.work_bytes bytes. */
typedef struct {
  const SpmvPlan *plan; /* of the columns that this process owns */
  void           *work;
  int             transposed; /* the product is with the transpose of plan, which spmv_prepare_transpose() has seen */
  /* NULL, or the values of the plan rounded to single precision by spmv_round_values() */
  const void *rounded;
  /* On several processes: the plan of the columns that other processes own (NULL where there are none), their entries
     of x, and the halo that fetches these. Every process takes part in the exchange, even if it needs no entry. */
  const SpmvPlan      *ghost_plan;
  void                *ghost_work, *ghosts, *halo;
  const SpmvProcesses *processes; /* NULL: one process */
} SpmvOperator;

SPMV_API SpmvStatus spmv_operator_mult(const SpmvOperator *, double alpha, const void *x, double beta, void *y,
                                       SpmvExec *);
/* Whether a product waits for the host, and so cannot be part of a graph: by messages of processes that wait, or by a plan
   on the device that is partly in host memory */
SPMV_API int spmv_operator_waits(const SpmvOperator *);
/* w = A p; a pointer to an SpmvOperator is the context. It serves as SpmvApply. */
SPMV_API SpmvStatus spmv_operator_product(void *product, const void *p, void *w, SpmvExec *);
/* to[i] = from[index[i]], all on the device: packs the entries that other processes want. Only enqueues. */
SPMV_API SpmvStatus spmv_gather(int64_t n, const int32_t *index, SpmvScalar, const void *from, void *to, SpmvExec *);

/* ---- numbers in another precision, all on the device ---- */

/* to[i] = factor from[i], computed in double precision and rounded once; from and to may be one array of one type. Only
   enqueues. */
SPMV_API SpmvStatus spmv_convert(int64_t n, double factor, SpmvScalar from_type, const void *from, SpmvScalar to_type,
                                 void *to, SpmvExec *);
/* The largest |values[i]|, on the host; not a number where one of them is none. Allocates 8 bytes, and waits. */
SPMV_API SpmvStatus spmv_largest(int64_t n, SpmvScalar, const void *values, double *largest, SpmvExec *);

#ifdef __cplusplus
}
#endif
#endif
