/*
  codsell_device_tile.cuh - tiles in shared memory with which a warp transposes data from CSR order (contiguous along
  rows) to slices (contiguous along lanes). A tile has 32 slots and 8 positions; it is read with 8 threads per row and
  written with one thread per row. All loads of a tile are issued before the first result is used.
*/
#pragma once

#include "codsell_device.cuh"

namespace
{
enum {
  SLOTS          = 32,
  POSITIONS      = 8,
  TILE           = SLOTS * POSITIONS,
  ROWS_AT_A_TIME = SLOTS / POSITIONS,       /* rows that a warp reads at a time */
  LOG_WARPS      = CODSELL_LOG_THREADS - 5, /* log2 of the warps of a thread block */
  WARPS          = 1 << LOG_WARPS
};

/* The index in a tile of T. Positions are swizzled, so that there are no bank conflicts, neither when threads write 8
   positions of some rows nor when they read one position of all rows. */
template <typename T>
__device__ inline int index_in_tile(int slot, int position)
{
  return (slot * POSITIONS + (slot >> (sizeof(T) == 8 ? 1 : 2) & (POSITIONS - 1))) ^ position;
}

/* log2 of the warps that share 32 slots: each warp has at least two tiles of the mean slice, which has `positions`
   positions */
inline int tile_log_parts(int64_t positions, int most)
{
  int log = 0;

  while (log < most && 4 * POSITIONS << log <= positions) log++;
  return log;
}
} // namespace
