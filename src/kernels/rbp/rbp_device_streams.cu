/*
  rbp_device_streams.cu - the pattern stream of each block of format packed: found out once to describe the block and to
  take its fingerprint, and once more to write it, so that no array of all units is ever held.
*/
#include "rbp_device_walk.cuh"
#include <cub/block/block_reduce.cuh>
#include <climits>

namespace
{
enum {
  LANES_UNITS = 16, /* units that one thread adds up, at most, in the longest row of a block */
  UNSCALED    = 128 /* beside the flags of a block: the distances of its starts are not all multiples of U */
};

struct Columns {
  int min, max, flags, longest;
};

struct Join {
  __device__ Columns operator()(const Columns &a, const Columns &b) const
  {
    return {min(a.min, b.min), max(a.max, b.max), a.flags | b.flags, max(a.longest, b.longest)};
  }
};

struct AddPrints {
  __device__ RbpPrint operator()(const RbpPrint &a, const RbpPrint &b) const
  {
    return {a.low + b.low, a.high + b.high};
  }
};

/* Whether the starts lie in few enough windows; fills the windows of u if so. Needs all threads. */
template <int P>
__device__ bool find_windows(const RbpBlock &b, Units<P> &u)
{
  int before, count, far = 0;

  u.window[threadIdx.x] = 0;
  if (threadIdx.x < RBP_WINDOWS) u.window_start[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < b.units; i += RBP_THREADS) {
    const int w = (start_of(u, i) - b.base) >> RBP_WINDOW_BITS;
    if (w < 32 * RBP_THREADS) atomicOr(&u.window[w / 32], 1u << (w % 32));
    else far = 1;
  }
  far = __syncthreads_or(far);
  Scan(u.temp).ExclusiveSum(__popc(u.window[threadIdx.x]), before, count);
  u.windows_before[threadIdx.x] = before;
  if (far || count > RBP_WINDOWS) return false;
  for (unsigned bits = u.window[threadIdx.x]; bits; bits &= bits - 1)
    u.window_start[before++] = (32 * threadIdx.x + __ffs((int)bits) - 1) << RBP_WINDOW_BITS;
  __syncthreads();
  return true;
}

template <int P>
__device__ inline uint16_t windowed_start(const Units<P> &u, int offset)
{
  const int w  = offset >> RBP_WINDOW_BITS;
  const int id = u.windows_before[w / 32] + __popc(u.window[w / 32] & ((1u << (w % 32)) - 1));
  return (uint16_t)(id << RBP_WINDOW_BITS | (offset & ((1 << RBP_WINDOW_BITS) - 1)));
}

/* Word `position` of the stream */
template <int P>
__device__ inline uint16_t stream_word(const RbpBlock &b, const Units<P> &u, int position)
{
  const int uneven = b.flags & RBP_BLOCK_UNEVEN, starts = rbp_starts_offset(b.groups, b.flags);
  const int lengths = rbp_lengths_offset(b.groups, b.units, b.flags);
  const int windows = b.flags & RBP_BLOCK_WINDOWED ? starts - 2 * RBP_WINDOWS : starts;

  if (position <= b.groups) return u.first_unit[position];
  if (uneven && position <= 2 * b.groups + 1) return u.first_row[position - b.groups - 1];
  if (position < windows) return 0;
  if (position < starts) {
    const int i = position - windows;
    return (uint16_t)((unsigned)u.window_start[i / 2] >> (i % 2 ? 16 : 0));
  }
  if (position < lengths) {
    const int i = position - starts;
    if (b.flags & RBP_BLOCK_WINDOWED) return windowed_start(u, start_of(u, i) - b.base);
    if (!(b.flags & RBP_BLOCK_WIDE)) return (uint16_t)divided(start_of(u, i) - b.base, b.scale);
    return (uint16_t)((unsigned)(start_of(u, i / 2) - b.base) >> (i % 2 ? 16 : 0));
  }
  return b.flags & RBP_BLOCK_RAGGED && position < lengths + b.units ? u.length[position - lengths] : 0;
}

template <int P>
__device__ Columns look_at(const RbpBlock &b, const Units<P> &u, int G)
{
  Columns   c     = {INT_MAX, 0, 0, 0};
  const int start = b.units ? start_of(u, 0) : 0;

  for (int i = threadIdx.x; i < b.units; i += RBP_THREADS) {
    const int s = start_of(u, i);
    c.min       = min(c.min, s);
    c.max       = max(c.max, s);
    if (u.width == 1) continue;
    if (u.length[i] != u.width) c.flags |= RBP_BLOCK_RAGGED;
    if (remainder_of(abs(s - start), u.width)) c.flags |= UNSCALED;
  }
  for (int g = threadIdx.x; g < b.groups; g += RBP_THREADS) {
    if (u.first_row[g + 1] - u.first_row[g] != G) c.flags |= RBP_BLOCK_UNEVEN;
    c.longest = max(c.longest, u.first_unit[g + 1] - u.first_unit[g]);
  }
  return c;
}

template <typename I, int P>
__global__ void __launch_bounds__(RBP_THREADS, spmv_resident_blocks(RBP_THREADS, 12))
    rbp_describe(RbpDeviceAnalysis a, const I *__restrict__ row_ptr, const I *__restrict__ col, RbpPrint *prints)
{
  typedef cub::BlockReduce<Columns, RBP_THREADS>  ReduceColumns;
  typedef cub::BlockReduce<RbpPrint, RBP_THREADS> ReducePrints;
  __shared__ Units<P>                            u;
  __shared__ typename ReduceColumns::TempStorage temp;
  __shared__ typename ReducePrints::TempStorage  temp_prints;
  __shared__ RbpBlock                            b;
  __shared__ int                                 is_far;
  const int64_t                                  block = blockIdx.x, group0 = a.block_group[block];

  if (threadIdx.x == 0) b = a.blocks[block];
  __syncthreads();
  const int units = walk_block<I, P>(b, a, row_ptr, col, group0, u);
  if (threadIdx.x == 0) b.units = units;
  __syncthreads();
  const Columns c = ReduceColumns(temp).Reduce(look_at<P>(b, u, a.shape.group_rows), Join());
  if (threadIdx.x == 0) {
    b.base   = b.units ? c.min : 0;
    b.scale  = (uint16_t)(c.flags & UNSCALED ? 1 : u.width);
    b.stride = (b.units + RBP_ALIGN - 1) / RBP_ALIGN * RBP_ALIGN;
    b.flags  = (uint8_t)(b.flags | (c.flags & ~UNSCALED));
    b.lanes  = 1;
    while (b.lanes < 32 && c.longest > b.lanes * LANES_UNITS) b.lanes *= 2;
    is_far = b.units && divided(c.max - c.min, b.scale) > 65535;
  }
  __syncthreads();
  const int far_flag = !is_far ? 0 : find_windows(b, u) ? RBP_BLOCK_WINDOWED : RBP_BLOCK_WIDE;
  if (threadIdx.x == 0) {
    if (is_far) b.scale = 1;
    b.flags         = (uint8_t)(b.flags | far_flag);
    b.words         = rbp_pattern_words(b.groups, b.units, b.flags);
    a.blocks[block] = b;
  }
  __syncthreads();
  RbpPrint print = {0, 0};
  for (int i = threadIdx.x; i < b.words; i += RBP_THREADS) rbp_print_add(&print, i, stream_word<P>(b, u, i));
  print = ReducePrints(temp_prints).Reduce(print, AddPrints());
  if (threadIdx.x == 0) {
    rbp_print_add(&print, b.words, (uint64_t)b.groups << 32 | (uint64_t)b.units << 8 | b.flags);
    prints[block] = print;
  }
}

template <typename I, int P>
__global__ void __launch_bounds__(RBP_THREADS, spmv_resident_blocks(RBP_THREADS, 12))
    rbp_write(RbpDeviceAnalysis a, const I *__restrict__ row_ptr, const I *__restrict__ col, uint16_t *pattern)
{
  __shared__ Units<P> u;
  const int64_t       block = blockIdx.x, group0 = a.block_group[block];
  const RbpBlock      b     = a.blocks[block];
  unsigned           *pairs = (unsigned *)(pattern + b.pattern0); /* streams have even places and lengths */

  if (b.flags & RBP_BLOCK_SHARED) return;
  walk_block<I, P>(b, a, row_ptr, col, group0, u);
  if (b.flags & RBP_BLOCK_WINDOWED) find_windows(b, u);
  for (int i = threadIdx.x; i < b.words / 2; i += RBP_THREADS)
    pairs[i] = stream_word<P>(b, u, 2 * i) | (unsigned)stream_word<P>(b, u, 2 * i + 1) << 16;
}

template <typename I, int P>
SpmvStatus launch(const RbpDeviceAnalysis *a, RbpPrint *prints, uint16_t *pattern, SpmvExec *exec)
{
  const I      *row_ptr = (const I *)a->pattern.row_ptr, *col = (const I *)a->pattern.col;
  const int64_t blocks = a->shape.blocks;

  if (prints) SPMV_LAUNCH(exec, (rbp_describe<I, P>), blocks, RBP_THREADS, 0, *a, row_ptr, col, prints);
  else SPMV_LAUNCH(exec, (rbp_write<I, P>), blocks, RBP_THREADS, 0, *a, row_ptr, col, pattern);
  return SPMV_SUCCESS;
}

template <typename I>
SpmvStatus select_capacity(const RbpDeviceAnalysis *a, RbpPrint *prints, uint16_t *pattern, SpmvExec *exec)
{
  const int units = a->shape.capacity / RBP_THREADS;

  if (units <= 1) return launch<I, 1>(a, prints, pattern, exec);
  if (units <= 2) return launch<I, 2>(a, prints, pattern, exec);
  if (units <= 4) return launch<I, 4>(a, prints, pattern, exec);
  return launch<I, 8>(a, prints, pattern, exec);
}

SpmvStatus select(const RbpDeviceAnalysis *a, RbpPrint *prints, uint16_t *pattern, SpmvExec *exec)
{
  return a->pattern.index_type == SPMV_I64 ? select_capacity<int64_t>(a, prints, pattern, exec)
                                           : select_capacity<int32_t>(a, prints, pattern, exec);
}
} // namespace

SpmvStatus rbp_describe_blocks(RbpDeviceAnalysis *a, RbpPrint *prints, SpmvExec *exec)
{
  return select(a, prints, nullptr, exec);
}

SpmvStatus rbp_write_streams(const RbpDeviceAnalysis *a, uint16_t *pattern, SpmvExec *exec)
{
  return select(a, nullptr, pattern, exec);
}
