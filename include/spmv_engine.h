/*
  spmv_engine.h - declarations that the solvers of libspmvpack share: point and block preconditioners, products by
  plans, communication among processes, and convergence tests. spmv_cg.h, spmv_gmres.h and spmv_cycle.h include it.
*/
#ifndef SPMV_ENGINE_H
#define SPMV_ENGINE_H

#include "spmv_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A preconditioner M: the identity; a diagonal of shape [rows]; dense blocks of shape
   [rows/block_size][block_size][block_size] along the diagonal, each stored by columns as PETSc's PCPBJACOBI does; or a
   function of the caller, if the solver accepts one. The values are those of M, which approximates the inverse of A. */
typedef enum { SPMV_PC_IDENTITY, SPMV_PC_DIAGONAL, SPMV_PC_BLOCKS, SPMV_PC_FUNCTION } SpmvPreconditioner;
enum { SPMV_PC_BLOCK_MAX = 8 }; /* rows of a block, at least 2 */

/* Enqueues z = M r on exec->stream, for r and z in the space of exec; they do not overlap */
typedef SpmvStatus (*SpmvApply)(void *ctx, const void *r, void *z, SpmvExec *exec);

/* ---- when iterations end ---- */

/* Why iterations ended: positive numbers mean that x is the solution. Each solver's header says which of them it
   returns. */
typedef enum {
  SPMV_ITERATING             = 0,  /* they have not ended: the call asked for fewer */
  SPMV_RTOL                  = 1,  /* norm <= tolerance */
  SPMV_ATOL                  = 2,  /* norm <= tolerance and norm < absolute, or the norm of iteration 0 is 0 */
  SPMV_ITERATIONS            = 3,  /* max_iterations done, and max_is_success is set */
  SPMV_BREAKDOWN             = 4,  /* no further search direction, and no norm is tested */
  SPMV_DIVERGED_ITERATIONS   = -1, /* max_iterations done without convergence */
  SPMV_DIVERGED_TOLERANCE    = -2, /* norm >= divergence */
  SPMV_DIVERGED_NOT_A_NUMBER = -3, /* a sum or a norm is NaN or infinite */
  SPMV_INDEFINITE_PC         = -4,
  SPMV_INDEFINITE_MATRIX     = -5,
  SPMV_DIVERGED_BREAKDOWN    = -6 /* no further search direction, and the test is not met */
} SpmvReason;

/* The test of PETSc's KSPConvergedDefault(), which a run of a solver takes */
typedef struct {
  int untested; /* KSP_NORM_NONE: only max_iterations ends the solve */
  /* tolerance and divergence are multiples of the norm of iteration 0, and absolute is the least tolerance. Iteration 0
     is then tested, too. Otherwise the caller has tested it. */
  int     relative;
  double  tolerance;  /* rtol if relative, else ttol, max(rtol ||.||, abstol); negative: never met */
  double  absolute;   /* abstol, which also tells SPMV_ATOL from SPMV_RTOL */
  double  divergence; /* divtol if relative, else divtol ||.||; infinite: never reached */
  int64_t min_iterations, max_iterations; /* the latter at least 1 */
  int64_t check_after;                    /* check_norm_iteration: no test up to this iteration; -1: tests from the
                                             first iteration on */
  int     max_is_success;                 /* reaching max_iterations gives SPMV_ITERATIONS, before any other test */
} SpmvTest;

/* ---- several processes ---- */

/* Communication among processes that own different rows of one system. All processes must call the functions in the
   same order and equally often. */
typedef struct SpmvProcesses {
  void *ctx;
  /* Nonzero: all functions only enqueue and may be captured in a graph. 0: they wait on the host (MPI). */
  int enqueues;
  /* The largest number of rows of any process. It sets the number of iterations enqueued at a time, which must be the
     same on all processes. 0: the caller sets that number. */
  int64_t most_rows;
  /* Begins to fill ghosts, an array in the space of exec, with entries of x of other processes. halo, made by the
     caller for one matrix, says which. Until end(), x may be read only and ghosts must not be touched. */
  SpmvStatus (*begin)(void *ctx, void *halo, const void *x, void *ghosts, SpmvExec *exec);
  /* Ends the exchange: work enqueued after this call finds ghosts filled */
  SpmvStatus (*end)(void *ctx, void *halo, void *ghosts, SpmvExec *exec);
  /* The transpose of this exchange, for operators that are transposed. begin_back begins to send ghosts to the owners of
     these entries; until end_back, ghosts must not change. end_back adds what other processes have sent to the entries of
     y, one process after the other, in ascending order. */
  SpmvStatus (*begin_back)(void *ctx, void *halo, const void *ghosts, SpmvExec *exec);
  SpmvStatus (*end_back)(void *ctx, void *halo, void *y, SpmvExec *exec);
  /* Replaces n sums in the space of exec, at most SPMV_SUMS_MAX, by their sums over all processes, in stream order.
     After the end of a solve it may still add sums with meaningless values. */
  SpmvStatus (*add)(void *ctx, double *sums, int n, SpmvExec *exec);
  /* *end becomes the maximum over all processes: 1 if one of them has ended. The host waits. May be NULL if add gives
     the same bits on all processes: then they end together. */
  SpmvStatus (*agree)(void *ctx, int *end, SpmvExec *exec);
  /* Called while the host waits for enqueued work, with the seconds that it has waited so far. Returns an error if
     another process has died; the host then stops waiting. May be NULL if the functions themselves wait. */
  SpmvStatus (*alive)(void *ctx, double waited, SpmvExec *exec);
} SpmvProcesses;
enum { SPMV_SUMS_MAX = 64 };

/* ---- a product ---- */

/* y = alpha A x + beta y by one plan, or by two if the rows of A are distributed over processes. All pointers belong to
   the caller; work has plan->memory.work_bytes bytes. */
typedef struct {
  const SpmvPlan *plan; /* of the columns that this process owns */
  void           *work;
  int             transposed; /* the product is with the transpose of A; both plans after spmv_prepare_transpose() */
  /* NULL, or the values of the plan rounded to single precision by spmv_round_values() */
  const void *rounded;
  /* On several processes: the plan of the columns that other processes own (NULL if there are none), their entries of
     x, and the halo that fetches these entries. Every process takes part in the exchange, even if it needs no entry. A
     transposed product sends ghosts the other way: sums for entries of y that other processes own. */
  const SpmvPlan      *ghost_plan;
  void                *ghost_work, *ghosts, *halo;
  const SpmvProcesses *processes; /* NULL: one process */
} SpmvOperator;

SPMV_API SpmvStatus spmv_operator_mult(const SpmvOperator *, double alpha, const void *x, double beta, void *y,
                                       SpmvExec *);
/* Whether a product waits for the host, and so cannot be part of a graph: because messages between processes wait, or
   because a plan on the device is partly in host memory */
SPMV_API int spmv_operator_waits(const SpmvOperator *);
/* w = A p, as an SpmvApply whose context is a pointer to an SpmvOperator */
SPMV_API SpmvStatus spmv_operator_product(void *product, const void *p, void *w, SpmvExec *);
/* to[i] = from[index[i]], all on the device: packs the entries that other processes need. Only enqueues. */
SPMV_API SpmvStatus spmv_gather(int64_t n, const int32_t *index, SpmvScalar, const void *from, void *to, SpmvExec *);
/* to[index[i]] += from[i], all on the device; no index occurs twice. Only enqueues. */
SPMV_API SpmvStatus spmv_scatter_add(int64_t n, const int32_t *index, SpmvScalar, const void *from, void *to,
                                     SpmvExec *);

/* ---- arrays of numbers, on the device ---- */

/* to[i] = factor from[i], computed in double precision and rounded once; if the types are equal, from and to may be the
   same array. Only enqueues. */
SPMV_API SpmvStatus spmv_convert(int64_t n, double factor, SpmvScalar from_type, const void *from, SpmvScalar to_type,
                                 void *to, SpmvExec *);
/* values[i] = 1 / values[i]; a 0 stays 0. What is 0 then becomes 1 if `fix` is set, also the reciprocal of infinity. Only
   enqueues. */
SPMV_API SpmvStatus spmv_reciprocal(int64_t n, SpmvScalar, int fix, void *values, SpmvExec *);
/* Returns the largest |values[i]| to the host; NaN if one of them is NaN. Allocates 8 bytes, and waits. */
SPMV_API SpmvStatus spmv_largest(int64_t n, SpmvScalar, const void *values, double *largest, SpmvExec *);

#ifdef __cplusplus
}
#endif
#endif
