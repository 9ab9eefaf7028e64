/* gmres_device.cuh - what the host calls to enqueue the kernels of GMRES; gmres_device_vector.cu and
   gmres_device_cycle.cu */
#pragma once

#include "engine/sums.cuh"
#include "gmres.h"

/* u = M t of a function, by a graph of the engine in that mode; gmres_device.cu */
SpmvStatus spmv_gmres_enqueue_function(SpmvGmres *, SpmvExec *);

/* Iteration k of a cycle in two parts: its product, and what makes the new vector of that and decides. The last one of a
   chunk gets two records in page-locked memory of the host: chunks of a call take turns in writing there how far they
   are. */
SpmvStatus spmv_gmres_enqueue_product(SpmvGmres *, int k, SpmvExec *);
SpmvStatus spmv_gmres_enqueue_vector(SpmvGmres *, int k, SpmvRecord *records, SpmvExec *);

SpmvStatus spmv_gmres_enqueue_state(SpmvGmres *, SpmvExec *);
SpmvStatus spmv_gmres_enqueue_test(SpmvGmres *, const SpmvTest *, SpmvExec *);
/* Iterations of this call end after so many */
SpmvStatus spmv_gmres_enqueue_stop(SpmvGmres *, int64_t stop_at, SpmvExec *);
/* The residual of x, if x has changed, and the first vector of a cycle */
SpmvStatus spmv_gmres_enqueue_begin(SpmvGmres *, int x_is_zero, SpmvRecord *records, SpmvExec *);
/* The solution: x of a cycle that has ended, or a look at it */
SpmvStatus spmv_gmres_enqueue_solution(SpmvGmres *, void *to, int look, SpmvExec *);

__device__ inline void spmv_gmres_put_record(SpmvRecord *records, SpmvGmresState *s)
{
  spmv_put_record(records, s->record, &s->chunks);
}

/* Behind the end: kernels that would write a record still do, from one thread */
__device__ inline void spmv_gmres_pass(SpmvRecord *records, SpmvGmresState *s)
{
  if (blockIdx.x == 0 && threadIdx.x == 0) spmv_gmres_put_record(records, s);
}

/* Bytes of shared memory for one factor of each of so many vectors. Loops over the vectors are unrolled by 8: the compiler
   reads the factors of such a group before it knows how many of them count. */
static inline size_t spmv_gmres_shared_factors(int64_t vectors)
{
  return (size_t)((vectors + 7) / 8 * 8) * sizeof(double);
}

/* call(S()) for the scalar type of an engine */
template <typename Call>
static SpmvStatus spmv_gmres_with_type(const SpmvGmres *g, Call call)
{
  return g->options.scalar_type == SPMV_F32 ? call(float()) : call(double());
}
