/* coo_tile.cuh - stream compaction in two launches: the first counts the items that satisfy a predicate in each tile,
   the second numbers them in order. Counts have 64 bits. */
#pragma once

#include "device/running_sums.cuh"

enum {
  SPMV_COO_THREADS = 256,
  SPMV_COO_WARPS   = SPMV_COO_THREADS / 32,
  SPMV_COO_EACH    = 16, /* items per thread, 32 apart */
  SPMV_COO_TILE    = SPMV_COO_THREADS * SPMV_COO_EACH,
  SPMV_COO_ROOM    = 4096 /* bytes for small arrays */
};

/* The view that a thread has of the tile of its block. first: its first item. lanes[e]: a bit for each lane of its warp
   whose item e satisfies the predicate. before, all: such items in the preceding warps, and in the whole tile. */
struct SpmvCooTile {
  int64_t  first;
  unsigned lanes[SPMV_COO_EACH];
  int      before, all;
};

/* All threads of a block must call it; holds(k), the predicate, is evaluated once for each k below n in the tile */
template <typename Holds>
__device__ inline SpmvCooTile spmv_coo_tile(int64_t n, const Holds &holds)
{
  __shared__ int count[SPMV_COO_WARPS];
  const int      warp = threadIdx.x / 32;
  SpmvCooTile    t    = {};
  int            mine = 0;

  t.first = blockIdx.x * (int64_t)SPMV_COO_TILE + warp * 32 * SPMV_COO_EACH + threadIdx.x % 32;
#pragma unroll
  for (int e = 0; e < SPMV_COO_EACH; e++) {
    const int64_t k = t.first + 32 * e;
    t.lanes[e]      = __ballot_sync(0xffffffffu, k < n && holds(k));
    mine += __popc(t.lanes[e]);
  }
  if (threadIdx.x % 32 == 0) count[warp] = mine;
  __syncthreads();
  for (int w = 0; w < SPMV_COO_WARPS; w++) {
    t.before += w < warp ? count[w] : 0;
    t.all += count[w];
  }
  return t;
}

/* sums[b] becomes the number of items in tiles 0 .. b, *total the number in all tiles. *arrived must be 0 before the
   launch. */
__device__ inline void spmv_coo_sum_tiles(const SpmvCooTile &t, SpmvNumbers<1> *sums, unsigned *arrived, int64_t *total)
{
  const SpmvNumbers<1> found = {{t.all}};

  if (spmv_sum_up<SPMV_COO_THREADS, 1>(found, sums, arrived) && threadIdx.x == 0) *total = sums[gridDim.x - 1].of[0];
}

/* Calls put(k, number) for each item; sums come from the first launch */
template <typename Put>
__device__ inline void spmv_coo_number(const SpmvCooTile &t, const SpmvNumbers<1> *sums, const Put &put)
{
  const unsigned lane   = 1u << threadIdx.x % 32;
  int64_t        before = t.before + (blockIdx.x ? sums[blockIdx.x - 1].of[0] : 0);

#pragma unroll
  for (int e = 0; e < SPMV_COO_EACH; e++) {
    if (t.lanes[e] & lane) put(t.first + 32 * e, before + __popc(t.lanes[e] & (lane - 1)));
    before += __popc(t.lanes[e]);
  }
}
