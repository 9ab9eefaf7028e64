/* cg_device.cuh - what the kernels of conjugate gradients share: sums over the grid, the preconditioner, the choice of
   a kernel, and what the host calls to enqueue them. */
#pragma once

#include "cg.h"
#include "device/vector.cuh"
#include <type_traits>

/* Thread blocks of a kernel fill the multiprocessors: with fewer, those of the next kernel that begin early would take
   the free places of some multiprocessors, and leave others with too few */
enum { SPMV_CG_THREADS = 256, SPMV_CG_WARPS = SPMV_CG_THREADS / 32, SPMV_CG_RESIDENT = 8 };

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

template <int N>
using SpmvCgNumber = std::integral_constant<int, N>;

/* call(SpmvCgNumber<B>()) for the rows of a block of the preconditioner, from the first B on */
template <int B, typename Call>
static SpmvStatus spmv_cg_with_block(int block, Call call)
{
  if constexpr (B < SPMV_PC_BLOCK_MAX)
    if (block > B) return spmv_cg_with_block<B + 1>(block, call);
  return call(SpmvCgNumber<B>());
}

/* The same for an engine: call(S(), SpmvCgNumber<B>()); FIRST is 0 for kernels that need the values of M */
template <int FIRST = SPMV_CG_STORED, typename Call>
static SpmvStatus spmv_cg_with_kernel(const SpmvCg *cg, Call call)
{
  const auto with_type = [&](auto s) {
    return spmv_cg_with_block<FIRST>(spmv_cg_block_size(&cg->options), [&](auto block) { return call(s, block); });
  };

  return cg->options.scalar_type == SPMV_F32 ? with_type(float()) : with_type(double());
}

/* Rows that a warp takes at a time, one per lane: whole blocks of the preconditioner */
template <int BLOCK>
__host__ __device__ constexpr int spmv_cg_rows_of_warp()
{
  return BLOCK > 1 ? 32 / BLOCK * BLOCK : 32;
}

/* z = M r of this lane's row, if there is one; r of the other rows of its block is in the lanes beside it. All lanes of
   the warp take part. */
template <int BLOCK, typename S>
__device__ inline S spmv_cg_precondition(const S *m, int64_t row, bool there, S r)
{
  if (BLOCK == SPMV_CG_STORED) return there ? m[row] : S(0); /* m is M r */
  if (BLOCK == 0) return r;
  if (BLOCK == 1) return there ? m[row] * r : S(0);
  constexpr int SIDE = BLOCK > 0 ? BLOCK : 1; /* the lines above leave no other */
  const int     lane = threadIdx.x % 32, i = lane % SIDE;
  const S      *of_row = m + (row - i) * SIDE + i;
  S             z      = 0;
#pragma unroll
  for (int j = 0; j < SIDE; j++) {
    const S other = __shfl_sync(0xffffffffu, r, (lane - i + j) % 32);
    if (there) z += of_row[j * SIDE] * other;
  }
  return z;
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
