/*
  codsell_device_tile.cuh - tiles through which a warp takes what is contiguous along the rows of the CSR to where it is
  contiguous along the lanes of a slice: 32 slots and 8 positions, read with 8 threads per row, written with a thread a
  row. All loads of a tile are under way before the first one is waited for.
*/
#ifndef SPMV_CODSELL_DEVICE_TILE_CUH
#define SPMV_CODSELL_DEVICE_TILE_CUH

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

/* The index in a tile of T. Positions are exchanged so that neither the threads that write 8 positions of some rows nor
   those that read a position of all rows meet bank conflicts. */
template <typename T>
__device__ inline int index_in_tile(int slot, int position)
{
  return (slot * POSITIONS + (slot >> (sizeof(T) == 8 ? 1 : 2) & (POSITIONS - 1))) ^ position;
}

/* Warps that share 32 slots, as a power of two: as many as have two tiles each in the mean slice, of `positions` */
inline int tile_log_parts(int64_t positions, int most)
{
  int log = 0;

  while (log < most && 4 * POSITIONS << log <= positions) log++;
  return log;
}
} // namespace

#endif
