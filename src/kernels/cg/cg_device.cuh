/* cg_device.cuh - what the kernels of conjugate gradients share: sums over the grid, the preconditioner, the choice of
   a kernel, and what the host calls to enqueue them. */
#pragma once

#include "cg.h"
#include "engine/point.cuh"

/* Thread blocks of a kernel fill the multiprocessors: with fewer, those of the next kernel that begin early would take
   the free places of some multiprocessors, and leave others with too few */
enum { SPMV_CG_THREADS = SPMV_POINT_THREADS, SPMV_CG_WARPS = SPMV_CG_THREADS / 32, SPMV_CG_RESIDENT = 8 };

/* x, r and M are set, and r, z and p of the first iteration; cg_device_vector.cu */
SpmvStatus spmv_cg_enqueue_first(SpmvCg *, const SpmvCgState *begin, SpmvExec *);
/* Another residual, and the direction made of it */
SpmvStatus spmv_cg_enqueue_correction(SpmvCg *, const SpmvCgTest *, int restart, SpmvExec *);
/* Iterations of this call end after so many */
SpmvStatus spmv_cg_enqueue_stop(SpmvCg *, int64_t stop_at, SpmvExec *);
/* Another test, before the first iteration */
SpmvStatus spmv_cg_enqueue_test(SpmvCg *, const SpmvCgTest *, SpmvExec *);
/* The two halves of an iteration whose preconditioner is a function: from the product to the residual; M r and what
   follows from it. The first one tells the host how far the solve is where it is tested early, else the second. */
SpmvStatus spmv_cg_enqueue_advance(SpmvCg *, SpmvCgRecord *records, SpmvExec *);
SpmvStatus spmv_cg_enqueue_renewal(SpmvCg *, SpmvCgRecord *records, SpmvExec *);
/* One iteration, with its product. The last one of a chunk gets two records in page-locked memory of the host: chunks
   of a call take turns in writing there how far they are. */
SpmvStatus spmv_cg_enqueue_iteration(SpmvCg *, SpmvCgRecord *records, SpmvExec *);

/* The grid of the persistent kernel, which must be possible, and its launch; cg_device_persistent.cu */
SpmvStatus spmv_cg_persistent_prepare(SpmvCg *, SpmvExec *);
SpmvStatus spmv_cg_enqueue_persistent(SpmvCg *, SpmvExec *);

/* call(S(), SpmvNumber<B>()) for the types of an engine and the rows of a block of its preconditioner; FIRST is 0 for
   kernels that need the values of M */
template <int FIRST = SPMV_POINT_STORED, typename Call>
static SpmvStatus spmv_cg_with_kernel(const SpmvCg *cg, Call call)
{
  return spmv_with_point<FIRST>(cg->options.scalar_type, spmv_cg_block_size(&cg->options), call);
}

/* Sums over the thread block in a fixed order, valid in thread 0; a barrier must follow before the next ones */
template <int SUMS>
__device__ inline void spmv_cg_add_block(double (&v)[SUMS])
{
  __shared__ double of_warp[SUMS][SPMV_CG_WARPS];

  for (int k = 0; k < SUMS; k++) {
    v[k] = spmv_add_lanes(v[k], 32);
    if (threadIdx.x % 32 == 0) of_warp[k][threadIdx.x / 32] = v[k];
  }
  __syncthreads();
  if (threadIdx.x == 0)
    for (int k = 0; k < SUMS; k++)
      for (int i = 1; i < SPMV_CG_WARPS; i++) v[k] += of_warp[k][i];
}

/* The partial sums of a thread block, from thread 0 */
template <int SUMS>
__device__ inline void spmv_cg_put_partial(const double (&v)[SUMS], double *partial)
{
  if (threadIdx.x == 0)
    for (int k = 0; k < SUMS; k++) partial[k * SPMV_CG_GRID_MAX + blockIdx.x] = v[k];
}

/* Adds the partial sums of all thread blocks, past the first-level cache; valid in thread 0 */
template <int SUMS>
__device__ inline void spmv_cg_add_partial(double (&v)[SUMS], const double *partial)
{
  for (int k = 0; k < SUMS; k++) {
    v[k] = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += SPMV_CG_THREADS)
      v[k] += __ldcg(partial + k * SPMV_CG_GRID_MAX + i);
  }
  spmv_cg_add_block(v);
}
