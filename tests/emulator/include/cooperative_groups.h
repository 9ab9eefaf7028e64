/* cooperative_groups.h of the emulator: tiles of a warp, and the grid */
#ifndef SPMV_EMULATED_COOPERATIVE_GROUPS_H
#define SPMV_EMULATED_COOPERATIVE_GROUPS_H

#include <cuda_runtime.h>

namespace cooperative_groups
{
struct thread_block {
  static void sync() { __syncthreads(); }
};
inline thread_block this_thread_block() { return {}; }

struct grid_group {
  static void sync() { spmv_emulator::grid_barrier(); }
};
inline grid_group this_grid() { return {}; }

template <int T>
class thread_block_tile
{
  static_assert(T >= 1 && T <= 32 && (T & (T - 1)) == 0, "a tile is a power of two, within a warp");
  static unsigned lanes() { return T == 32 ? 0xffffffffu : (1u << T % 32) - 1; }
  static int      shift() { return (int)(threadIdx.x % 32 / T * T); }
  static unsigned mask() { return lanes() << shift(); }

public:
  static unsigned thread_rank() { return threadIdx.x % T; }
  static unsigned size() { return T; }
  static void     sync() { __syncwarp(mask()); }
  static unsigned ballot(int v) { return __ballot_sync(mask(), v) >> shift() & lanes(); }
  static int      any(int v) { return __any_sync(mask(), v); }
  static int      all(int v) { return __all_sync(mask(), v); }
  template <typename V>
  static V shfl(V v, int lane)
  {
    return __shfl_sync(mask(), v, lane, T);
  }
  template <typename V>
  static V shfl_xor(V v, int bits)
  {
    return __shfl_xor_sync(mask(), v, bits, T);
  }
  template <typename V>
  static V shfl_down(V v, unsigned by)
  {
    return __shfl_down_sync(mask(), v, by, T);
  }
  template <typename V>
  static V shfl_up(V v, unsigned by)
  {
    return __shfl_up_sync(mask(), v, by, T);
  }
};

template <int T>
thread_block_tile<T> tiled_partition(thread_block)
{
  return {};
}
} // namespace cooperative_groups
#endif
