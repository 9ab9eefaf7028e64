/*
  solve.h - the parts that all solvers share on host and device: the record of a solve's progress, the convergence test,
  sums over processes, allocation in one block, and argument checks.
*/
#pragma once

#include "core/format.h"
#include <math.h>
#include <spmv_engine.h>

/* The progress of a solve, which the host reads while iterations go on */
typedef struct {
  double  norm;
  int64_t iterations, completed;
  int32_t reason;
} SpmvRecord;

/* The most thread blocks of a kernel that computes sums; see sums.cuh */
enum { SPMV_SUM_GRID_MAX = 1056 };

/* Neither NaN nor infinite */
SPMV_BOTH int spmv_finite(double v) { return v - v == 0; }

/* The test of KSPConvergedDefault() for iteration n; the norm must be finite */
SPMV_BOTH int32_t spmv_test(const SpmvTest *t, int64_t n, double norm)
{
  if (t->max_is_success && n >= t->max_iterations) return SPMV_ITERATIONS;
  if (t->untested || n <= t->check_after || n < t->min_iterations) return SPMV_ITERATING;
  if (norm <= t->tolerance) return norm < t->absolute ? SPMV_ATOL : SPMV_RTOL;
  return norm >= t->divergence ? SPMV_DIVERGED_TOLERANCE : SPMV_ITERATING;
}

SPMV_C_BEGIN

/* Whether communication waits for the host, so that graphs cannot contain it; NULL: one process */
static inline int spmv_processes_wait(const SpmvProcesses *p) { return p && !p->enqueues; }

/* The most rows of any process: chunk lengths are made of it, because all processes must enqueue chunks of one
   length */
static inline int64_t spmv_most_rows(const SpmvProcesses *p, int64_t rows)
{
  return p && p->most_rows > 0 ? p->most_rows : rows;
}

/* Replaces sums by their sums over all processes; NULL: one process */
SpmvStatus spmv_add_sums(const SpmvProcesses *, double *sums, int n, SpmvExec *);

/* An array of a solver; *array becomes NULL if bytes is 0 */
typedef struct {
  void  **array;
  int64_t bytes;
} SpmvSolverArray;

/* Allocates all arrays of the list in one block of *total bytes, each at a multiple of 256 bytes */
SpmvStatus spmv_solver_alloc(const SpmvSolverArray *, int count, const char *name, void **block, int64_t *total,
                             SpmvExec *);

/* Fails if there is no such preconditioner, its block size is out of range or does not divide the rows, or its function
   is missing. `who` begins the messages. */
SpmvStatus spmv_check_preconditioner(const char *who, SpmvPreconditioner, int block_size, SpmvApply, int64_t rows,
                                     SpmvExec *);
/* Fails if exec is not of that space, or needs a device and finds none */
SpmvStatus spmv_check_space(const char *who, SpmvSpace, SpmvExec *);

/* The last `kept` norms of a solve, in a ring: the norm of iteration i is at (i - 1) mod kept */
typedef struct {
  const double *norms;
  SpmvSpace     space;
  int64_t       kept, completed;
} SpmvNorms;
/* Copies the norms of iterations first .. first+count-1 to the host; waits */
SpmvStatus spmv_norms_get(const char *who, const SpmvNorms *, int64_t first, int64_t count, double *to, SpmvExec *);

SPMV_C_END
