/*
  solve.h - what solvers have in common on host and device: the record that tells how far a solve is, the test of a norm,
  sums over processes, memory in one block, and the check of a preconditioner.
*/
#pragma once

#include "core/format.h"
#include <math.h>
#include <spmv_engine.h>

/* What the host reads while iterations go on */
typedef struct {
  double  norm;
  int64_t iterations, completed;
  int32_t reason;
} SpmvRecord;

/* Thread blocks of a kernel that adds, each with its partial sums; see sums.cuh */
enum { SPMV_SUM_GRID_MAX = 1056 };

/* Neither NaN nor infinite */
SPMV_BOTH int spmv_finite(double v) { return v - v == 0; }

/* KSPConvergedDefault() for iteration n, whose norm is finite */
SPMV_BOTH int32_t spmv_test(const SpmvTest *t, int64_t n, double norm)
{
  if (t->max_is_success && n >= t->max_iterations) return SPMV_ITERATIONS;
  if (t->untested || n <= t->check_after || n < t->min_iterations) return SPMV_ITERATING;
  if (norm <= t->tolerance) return norm < t->absolute ? SPMV_ATOL : SPMV_RTOL;
  return norm >= t->divergence ? SPMV_DIVERGED_TOLERANCE : SPMV_ITERATING;
}

SPMV_C_BEGIN

/* Whether processes wait for the host, so that what they do is no part of a graph; NULL: there is one */
static inline int spmv_processes_wait(const SpmvProcesses *p) { return p && !p->enqueues; }

/* The rows of the process that has most: processes must enqueue equally many iterations at a time */
static inline int64_t spmv_most_rows(const SpmvProcesses *p, int64_t rows)
{
  return p && p->most_rows > 0 ? p->most_rows : rows;
}

/* Replaces sums by those over all processes; NULL: there is one */
SpmvStatus spmv_add_sums(const SpmvProcesses *, double *sums, int n, SpmvExec *);

/* An array of a solver. Empty ones become NULL. */
typedef struct {
  void  **array;
  int64_t bytes;
} SpmvSolverArray;

/* One block of memory for all of them, each at a multiple of 256 bytes; *total is its size */
SpmvStatus spmv_solver_alloc(const SpmvSolverArray *, int count, const char *name, void **block, int64_t *total,
                             SpmvExec *);

/* An error where a preconditioner does not exist, does not divide the rows or lacks its function; `who` begins messages */
SpmvStatus spmv_check_preconditioner(const char *who, SpmvPreconditioner, int block_size, SpmvApply, int64_t rows,
                                     SpmvExec *);
/* An error where exec is not of that space, or there is no device */
SpmvStatus spmv_check_space(const char *who, SpmvSpace, SpmvExec *);

/* The norms of a solve are kept in a ring of so many: that of iteration i is at (i - 1) mod kept */
typedef struct {
  const double *norms;
  SpmvSpace     space;
  int64_t       kept, completed;
} SpmvNorms;
/* Copies the norms of iterations first .. first+count-1 to the host; waits */
SpmvStatus spmv_norms_get(const char *who, const SpmvNorms *, int64_t first, int64_t count, double *to, SpmvExec *);

SPMV_C_END
