/*
  sums.cuh - sums over the grid in a fixed order: each thread block writes its partial sums, and the last one to arrive
  adds all of them. Also the record that the last kernel of a chunk writes for the host.
*/
#pragma once

#include "device/vector.cuh"
#include "point.cuh"
#include "solve.h"

/* SPMV_SUM_GRID_MAX thread blocks are eight for each multiprocessor. A larger GPU gets
   no more, so that the order of additions is the same on all. With fewer, the early thread blocks of the next kernel
   would fill the free places of some multiprocessors and leave the next kernel badly distributed. */
enum { SPMV_SUM_THREADS = SPMV_POINT_THREADS, SPMV_SUM_WARPS = SPMV_SUM_THREADS / 32, SPMV_SUM_RESIDENT = 8 };

/* Sums over the thread block in a fixed order, valid in thread 0; call __syncthreads() before the next call */
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

/* Thread 0 writes the partial sums of its thread block */
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

/* Whether all other thread blocks have written their partial sums; all threads of a block get the same answer */
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

/* Sums over the grid. Returns true in one thread of the grid, which has the sums in v and has written them to sums. */
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

/* One thread writes the record at the end of a chunk. It writes to page-locked host memory, because a copy in the
   stream would delay the next iteration by 9 us on an H200. Chunks use the two records in turn. */
__device__ inline void spmv_put_record(SpmvRecord *records, const SpmvRecord &record, int64_t *chunks)
{
  if (!records) return;
  records[*chunks % 2] = record;
  ++*chunks;
}

/* The number of thread blocks of a kernel whose warps take rows_of_warp rows at a time: at least one, since the last
   thread block makes the decisions even if there are no rows */
static inline int64_t spmv_sum_grid_of(int64_t rows, int rows_of_warp)
{
  const int64_t blocks = spmv_blocks(rows, (int64_t)SPMV_SUM_WARPS * rows_of_warp);

  return blocks < 1 ? 1 : blocks < SPMV_SUM_GRID_MAX ? blocks : (int64_t)SPMV_SUM_GRID_MAX;
}
