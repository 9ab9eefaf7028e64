/*
  solve.h - the parts that all solvers share: the record of a solve's progress, the convergence test,
  sums over processes, allocation in one block, and argument checks.
*/
#pragma once

#include "device/object.h"
#include "device/tuning.h"
#include <math.h>
#include <spmv_engine.h>

/* The progress of a solve, which the host reads while iterations go on */
typedef struct {
  double  first, norm; /* of iteration 0, and of the last completed one */
  int64_t iterations, completed;
  int32_t reason;
} SpmvRecord;

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

/* Takes the test of a run as the caller gave it. A relative one becomes absolute by the norm of iteration 0, and tests
   that norm, before any other decision, if there was no iteration yet. */
SPMV_BOTH void spmv_take_test(const SpmvTest *given, SpmvTest *mine, SpmvRecord *record)
{
  *mine = *given;
  if (!given->relative || !spmv_finite(record->first)) return;
  mine->tolerance  = fmax(given->tolerance * record->first, given->absolute);
  mine->divergence = given->divergence * record->first;
  if (record->completed > 0) return;
  const int32_t reason = spmv_test(mine, 0, record->first);
  if (reason == SPMV_ITERATING) return;
  record->reason     = record->first == 0 ? SPMV_ATOL : reason;
  record->iterations = 0;
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

/* Fails if there is no such preconditioner, its block size is out of range or does not divide the rows, or its function
   is missing. `who` begins the messages. */
SpmvStatus spmv_check_preconditioner(const char *who, SpmvPreconditioner, int block_size, SpmvApply, int64_t rows,
                                     SpmvExec *);

/* The last `kept` norms of a solve, in a ring: the norm of iteration i is at (i - 1) mod kept */
typedef struct {
  const double *norms; /* on the device */
  int64_t       kept, completed;
} SpmvNorms;
/* Copies the norms of iterations first .. first+count-1 to the host; waits */
SpmvStatus spmv_norms_get(const char *who, const SpmvNorms *, int64_t first, int64_t count, double *to, SpmvExec *);

SPMV_C_END
