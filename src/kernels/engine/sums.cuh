/*
  sums.cuh - sums over the grid in a fixed order: each thread block writes its partial sums, and the one that comes last
  adds those of all. And the record that the last kernel of a chunk gives to the host.
*/
#pragma once

#include "device/vector.cuh"
#include "engine/point.cuh"
#include "engine/solve.h"

/* Thread blocks of a kernel, each with its partial sums: eight for each multiprocessor of an H100 or H200, and no more
   on a larger GPU, so that the order of additions is the same on all. With fewer, those of the next kernel that begin
   early would take the free places of some multiprocessors, and leave others with too few. */
enum { SPMV_SUM_THREADS = SPMV_POINT_THREADS, SPMV_SUM_WARPS = SPMV_SUM_THREADS / 32, SPMV_SUM_RESIDENT = 8 };

/* Sums over the thread block in a fixed order, valid in thread 0; a barrier must follow before the next ones */
template <int SUMS>
__device__ inline void spmv_sum_block(double (&v)[SUMS])
{
  __shared__ double of_warp[SUMS][SPMV_SUM_WARPS];

  for (int k = 0; k < SUMS; k++) {
    v[k] = spmv_add_lanes(v[k], 32);
    if (threadIdx.x % 32 == 0) of_warp[k][threadIdx.x / 32] = v[k];
  }
  __syncthreads();
  if (threadIdx.x == 0)
    for (int k = 0; k < SUMS; k++)
      for (int i = 1; i < SPMV_SUM_WARPS; i++) v[k] += of_warp[k][i];
}

/* The partial sums of a thread block, from thread 0 */
template <int SUMS>
__device__ inline void spmv_sum_put_partial(const double (&v)[SUMS], double *partial)
{
  if (threadIdx.x == 0)
    for (int k = 0; k < SUMS; k++) partial[k * SPMV_SUM_GRID_MAX + blockIdx.x] = v[k];
}

/* Adds the partial sums of all thread blocks, past the first-level cache; valid in thread 0 */
template <int SUMS>
__device__ inline void spmv_sum_add_partial(double (&v)[SUMS], const double *partial)
{
  for (int k = 0; k < SUMS; k++) {
    v[k] = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += SPMV_SUM_THREADS)
      v[k] += __ldcg(partial + k * SPMV_SUM_GRID_MAX + i);
  }
  spmv_sum_block(v);
}

/* Whether all other thread blocks have written their partial sums; the same answer in all threads */
__device__ inline bool spmv_arrives_last(unsigned *arrived)
{
  __shared__ bool last;

  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(arrived, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) __threadfence();
  return last;
}

/* Sums over the grid; true in one thread of it, which has them in v and in sums */
template <int SUMS>
__device__ inline bool spmv_sum_grid(double (&v)[SUMS], double *partial, unsigned *arrived, double *sums)
{
  spmv_sum_block(v);
  spmv_sum_put_partial(v, partial);
  if (!spmv_arrives_last(arrived)) return false;
  spmv_sum_add_partial(v, partial);
  if (threadIdx.x > 0) return false;
  *arrived = 0;
  for (int k = 0; k < SUMS; k++) sums[k] = v[k];
  return true;
}

/* Gives the host the record at the end of a chunk, from one thread: the kernel writes to page-locked memory of the host,
   since a copy in the stream would hold up the next iteration by 9 us on an H200. Chunks take turns with two places. */
__device__ inline void spmv_put_record(SpmvRecord *records, const SpmvRecord &record, int64_t *chunks)
{
  if (!records) return;
  records[*chunks % 2] = record;
  ++*chunks;
}

/* The thread blocks of a kernel whose warps take so many rows at a time: at least one, which decides also where there are
   no rows */
static inline int64_t spmv_sum_grid_of(int64_t rows, int rows_of_warp)
{
  const int64_t blocks = spmv_blocks(rows, (int64_t)SPMV_SUM_WARPS * rows_of_warp);

  return blocks < 1 ? 1 : blocks < SPMV_SUM_GRID_MAX ? blocks : (int64_t)SPMV_SUM_GRID_MAX;
}
