/*
  codsell_device_tile.cuh - tiles in shared memory by which a warp transposes data that is contiguous along the rows of
  the CSR and along the lanes of a slice: 32 slots and 8 positions, read with 8 threads per row, written with one thread
  per row. All loads of a tile are issued before the first result is used.
*/
#pragma once

#include "codsell_device.cuh"

namespace
{
enum {
  SLOTS          = 32,
  POSITIONS      = 8,
  TILE           = SLOTS * POSITIONS,
  ROWS_AT_A_TIME = SLOTS / POSITIONS,       /* that a warp reads at a time */
  LOG_WARPS      = CODSELL_LOG_THREADS - 5, /* of a thread block */
  WARPS          = 1 << LOG_WARPS
};

/* The index in a tile of T. Positions are swizzled, so that neither the threads that write 8 positions of some rows nor
   those that read one position of all rows meet bank conflicts. */
template <typename T>
__device__ inline int index_in_tile(int slot, int position)
{
  return (slot * POSITIONS + (slot >> (sizeof(T) == 8 ? 1 : 2) & (POSITIONS - 1))) ^ position;
}

/* log2 of the warps that share 32 slots: each has at least two tiles of the mean slice, which has so many positions */
inline int tile_log_parts(int64_t positions, int most)
{
  int log = 0;

  while (log < most && 4 * POSITIONS << log <= positions) log++;
  return log;
}
} // namespace
