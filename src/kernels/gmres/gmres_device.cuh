/* gmres_device.cuh - the functions that enqueue the kernels of GMRES, in gmres_device_vector.cu and
   gmres_device_cycle.cu. */
#pragma once

#include "engine/sums.cuh"
#include "gmres.h"

/* u = M t, if M is a function; by a graph in mode SPMV_GMRES_GRAPH; gmres_device.cu */
SpmvStatus spmv_gmres_enqueue_function(SpmvGmres *, SpmvExec *);

/* Iteration k of a cycle in two parts: its product; the orthogonalization and the decisions. For the last iteration of
   a chunk, `records` are the two records in page-locked host memory, which the chunks of a call write in turn; else
   NULL. */
SpmvStatus spmv_gmres_enqueue_product(SpmvGmres *, int k, SpmvExec *);
SpmvStatus spmv_gmres_enqueue_vector(SpmvGmres *, int k, SpmvRecord *records, SpmvExec *);

SpmvStatus spmv_gmres_enqueue_state(SpmvGmres *, SpmvExec *);
/* Begins a run: its test, and the number of completed iterations after which it ends; writes a record, unless records is
   NULL */
SpmvStatus spmv_gmres_enqueue_run(SpmvGmres *, const SpmvTest *, int64_t stop_at, SpmvRecord *records, SpmvExec *);
/* Begins a cycle, if x has changed: the residual of x and the first vector of the basis */
SpmvStatus spmv_gmres_enqueue_begin(SpmvGmres *, int x_is_zero, SpmvRecord *records, SpmvExec *);
/* Writes the solution to `to`: x of a cycle that has ended, or with `look` the present solution */
SpmvStatus spmv_gmres_enqueue_solution(SpmvGmres *, void *to, int look, SpmvExec *);

__device__ inline void spmv_gmres_put_record(SpmvRecord *records, SpmvGmresState *s)
{
  spmv_put_record(records, s->record, &s->chunks);
}

/* After convergence: a kernel that has records still writes its record, from one thread */
__device__ inline void spmv_gmres_pass(SpmvRecord *records, SpmvGmresState *s)
{
  if (blockIdx.x == 0 && threadIdx.x == 0) spmv_gmres_put_record(records, s);
}

/* Bytes of shared memory for one factor per vector. Rounded up to 8 vectors: the loops over vectors are unrolled by 8,
   and the compiler may read all factors of a group before it tests how many are in use. */
static inline size_t spmv_gmres_shared_factors(int64_t vectors)
{
  return (size_t)((vectors + 7) / 8 * 8) * sizeof(double);
}
