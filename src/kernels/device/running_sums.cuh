/*
  running_sums.cuh - an inclusive scan over the thread blocks of a launch, inside that launch: the block that arrives
  last does it. A separate scan would take two more launches, as long as the actual work on a small matrix.
*/
#pragma once

#include "launch.cuh"
#include <cub/block/block_scan.cuh>

/* N numbers that are added component by component */
template <int N>
struct SpmvNumbers {
  int64_t  of[N];
  __host__ __device__ inline SpmvNumbers<N> operator+(const SpmvNumbers<N> &other) const
  {
    SpmvNumbers<N> sum;
    for (int i = 0; i < N; i++) sum.of[i] = of[i] + other.of[i];
    return sum;
  }
};

struct SpmvAddNumbers {
  template <int N>
  __host__ __device__ inline SpmvNumbers<N> operator()(const SpmvNumbers<N> &a, const SpmvNumbers<N> &b) const
  {
    return a + b;
  }
};

/* sums[b] becomes the sum of `found` over thread blocks 0 .. b; thread 0 of each block passes `found`. All threads of
   all blocks of THREADS threads must call it, and *arrived must be 0 before the launch. Returns true in all threads of
   the last block to arrive: only these may read sums before the launch has ended. */
template <int THREADS, int N>
__device__ inline bool spmv_sum_up(const SpmvNumbers<N> &found, SpmvNumbers<N> *sums, unsigned *arrived)
{
  typedef cub::BlockScan<SpmvNumbers<N>, THREADS> Scan;
  __shared__ typename Scan::TempStorage           temp;
  __shared__ bool                                 is_last;
  SpmvNumbers<N>                                  before = {}, mine, all;

  if (threadIdx.x == 0) {
    sums[blockIdx.x] = found;
    __threadfence();
    is_last = atomicAdd(arrived, 1u) + 1 == gridDim.x;
    __threadfence();
  }
  __syncthreads();
  if (!is_last) return false;
  for (int64_t b0 = 0; b0 < gridDim.x; b0 += THREADS) {
    const int64_t b = b0 + threadIdx.x;

    for (int i = 0; i < N; i++) mine.of[i] = b < gridDim.x ? __ldcg((const long long *)sums[b].of + i) : 0;
    Scan(temp).InclusiveScan(mine, mine, SpmvAddNumbers(), all);
    mine   = before + mine;
    before = before + all;
    if (b < gridDim.x) sums[b] = mine;
    __syncthreads(); /* before temp is used again */
  }
  return true;
}
