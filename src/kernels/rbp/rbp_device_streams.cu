/*
  rbp_device_streams.cu - the pattern stream of each block of format packed: found out once to describe the block and to
  take its fingerprint, and once more to write it, so that no array of all units is ever held.
*/
#include "rbp_device_analyze.cuh"
#include <cooperative_groups.h>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <climits>

namespace cg = cooperative_groups;

namespace
{
enum { LANES_UNITS = 16 /* units that one thread adds up, at most, in the longest row of a block */ };

struct Columns {
  int min, max, uneven, ragged, unscaled, longest;
};

struct Join {
  __device__ Columns operator()(const Columns &a, const Columns &b) const
  {
    return {min(a.min, b.min),   max(a.max, b.max),       a.uneven | b.uneven,
            a.ragged | b.ragged, a.unscaled | b.unscaled, max(a.longest, b.longest)};
  }
};

struct AddPrints {
  __device__ RbpPrint operator()(const RbpPrint &a, const RbpPrint &b) const
  {
    return {a.low + b.low, a.high + b.high};
  }
};

/* Shared memory of one block: its units, as walked from the CSR */
template <int P>
struct Units {
  int      start[RBP_THREADS * P];  /* column */
  uint8_t  length[RBP_THREADS * P]; /* columns */
  uint16_t first_unit[RBP_THREADS * P + 1];
  uint16_t first_row[RBP_THREADS * P + 1];
  unsigned window[RBP_THREADS];         /* bit w % 32 of word w / 32: some start lies in window w */
  int      windows_before[RBP_THREADS]; /* this word of bits */
  int      window_start[RBP_WINDOWS];   /* column - base, rising */
};

/* The units of columns begin .. end-1 of one row by a tile of T threads; returns how many */
template <typename I, int T, typename Tile>
__device__ inline int walk_row(const Tile &tile, const I *col, int64_t begin, int64_t end, int width, int first,
                               int *start, uint8_t *length)
{
  const int lane  = tile.thread_rank();
  int       carry = 0, units = first;

  for (int64_t k0 = begin; k0 < end; k0 += T) {
    const int64_t  k      = k0 + lane;
    const bool     inside = k < end;
    const I        c      = inside ? col[k] : I(0);
    const unsigned starts = tile.ballot(inside && (k == begin || col[k - 1] + 1 != c));
    const unsigned before = starts & (0xffffffffu >> (31 - lane));
    const int      place  = (before ? lane - (31 - __clz(before)) : lane + carry) % width;
    const unsigned firsts = tile.ballot(inside && place == 0);
    const int      unit   = units + __popc(firsts & (0xffffffffu >> (31 - lane))) - 1;

    if (inside && place == 0) start[unit] = (int)c;
    if (inside && (place == width - 1 || k + 1 == end || col[k + 1] != c + 1)) length[unit] = (uint8_t)(place + 1);
    units += __popc(firsts);
    carry = (starts ? T - (31 - __clz(starts)) : carry + T) % width;
  }
  return units - first;
}

template <typename I, int T, int P>
__device__ void walk_block(const RbpBlock &b, const RbpDeviceAnalysis &a, const I *row_ptr, const I *col, int64_t block,
                           int *units, Units<P> &u)
{
  const auto tile  = cg::tiled_partition<T>(cg::this_thread_block());
  const int  width = a.shape.unit_columns;

  if (b.flags & RBP_BLOCK_PIECE) {
    if (threadIdx.x < 2) {
      u.first_row[threadIdx.x]  = (uint16_t)(threadIdx.x * b.rows);
      u.first_unit[threadIdx.x] = 0;
    }
    __syncthreads();
    if (threadIdx.x < T) {
      const int64_t end = min(b.csr0 + a.shape.capacity, (int64_t)row_ptr[b.row0 + 1]);
      const int     n   = walk_row<I, T>(tile, col, b.csr0, end, width, 0, u.start, u.length);
      if (threadIdx.x == 0) {
        *units          = n;
        u.first_unit[1] = (uint16_t)n;
      }
    }
  } else {
    const int64_t group0 = a.block_group[block];
    for (int g = threadIdx.x; g <= b.groups; g += RBP_THREADS) {
      u.first_row[g]  = (uint16_t)(rbp_group_row(a.group_row, group0 + g) - b.row0);
      u.first_unit[g] = (uint16_t)(a.group_unit[group0 + g] - a.group_unit[group0]);
    }
    if (threadIdx.x == 0) *units = (int)(a.group_unit[group0 + b.groups] - a.group_unit[group0]);
    __syncthreads();
    for (int g = threadIdx.x / T; g < b.groups; g += RBP_THREADS / T) {
      const int32_t row = b.row0 + u.first_row[g];
      walk_row<I, T>(tile, col, row_ptr[row], row_ptr[row + 1], width, u.first_unit[g], u.start, u.length);
    }
  }
  __syncthreads();
}

/* Whether the starts lie in few enough windows; fills the windows of u if so. Needs all threads. */
template <int P>
__device__ bool find_windows(const RbpBlock &b, Units<P> &u)
{
  typedef cub::BlockScan<int, RBP_THREADS> Scan;
  __shared__ typename Scan::TempStorage    temp;
  int                                      before, count, far = 0;

  u.window[threadIdx.x] = 0;
  if (threadIdx.x < RBP_WINDOWS) u.window_start[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < b.units; i += RBP_THREADS) {
    const int w = (u.start[i] - b.base) >> RBP_WINDOW_BITS;
    if (w < 32 * RBP_THREADS) atomicOr(&u.window[w / 32], 1u << (w % 32));
    else far = 1;
  }
  far = __syncthreads_or(far);
  Scan(temp).ExclusiveSum(__popc(u.window[threadIdx.x]), before, count);
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
    if (b.flags & RBP_BLOCK_WINDOWED) return windowed_start(u, u.start[i] - b.base);
    if (!(b.flags & RBP_BLOCK_WIDE)) return (uint16_t)((u.start[i] - b.base) / b.scale);
    return (uint16_t)((unsigned)(u.start[i / 2] - b.base) >> (i % 2 ? 16 : 0));
  }
  return b.flags & RBP_BLOCK_RAGGED && position < lengths + b.units ? u.length[position - lengths] : 0;
}

template <int P>
__device__ Columns look_at(const RbpBlock &b, const Units<P> &u, int G, int U)
{
  Columns c = {INT_MAX, 0, 0, 0, 0, 0};

  for (int i = threadIdx.x; i < b.units; i += RBP_THREADS) {
    c.min = min(c.min, u.start[i]);
    c.max = max(c.max, u.start[i]);
    c.ragged |= u.length[i] != U;
    c.unscaled |= (u.start[i] - u.start[0]) % U != 0;
  }
  for (int g = threadIdx.x; g < b.groups; g += RBP_THREADS) {
    c.uneven |= u.first_row[g + 1] - u.first_row[g] != G;
    c.longest = max(c.longest, u.first_unit[g + 1] - u.first_unit[g]);
  }
  return c;
}

template <typename I, int T, int P>
__global__ void __launch_bounds__(RBP_THREADS)
    rbp_describe(RbpDeviceAnalysis a, const I *__restrict__ row_ptr, const I *__restrict__ col, RbpPrint *prints)
{
  typedef cub::BlockReduce<Columns, RBP_THREADS>  ReduceColumns;
  typedef cub::BlockReduce<RbpPrint, RBP_THREADS> ReducePrints;
  __shared__ Units<P>                            u;
  __shared__ typename ReduceColumns::TempStorage temp;
  __shared__ typename ReducePrints::TempStorage  temp_prints;
  __shared__ RbpBlock                            b;
  __shared__ int                                 units, is_far;
  const int                                      G = a.shape.group_rows, U = a.shape.unit_columns;
  const int64_t                                  block = blockIdx.x;

  if (threadIdx.x == 0) b = a.blocks[block];
  __syncthreads();
  walk_block<I, T, P>(b, a, row_ptr, col, block, &units, u);
  if (threadIdx.x == 0) b.units = units;
  __syncthreads();
  const Columns c = ReduceColumns(temp).Reduce(look_at<P>(b, u, G, U), Join());
  if (threadIdx.x == 0) {
    b.base   = b.units ? c.min : 0;
    b.scale  = (uint16_t)(c.unscaled ? 1 : U);
    b.stride = (b.units + RBP_ALIGN - 1) / RBP_ALIGN * RBP_ALIGN;
    b.flags  = (uint8_t)(b.flags | (c.uneven ? RBP_BLOCK_UNEVEN : 0) | (c.ragged ? RBP_BLOCK_RAGGED : 0));
    b.lanes  = 1;
    while (b.lanes < 32 && c.longest > b.lanes * LANES_UNITS) b.lanes *= 2;
    is_far = b.units && (c.max - c.min) / b.scale > 65535;
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

template <typename I, int T, int P>
__global__ void __launch_bounds__(RBP_THREADS)
    rbp_write(RbpDeviceAnalysis a, const I *__restrict__ row_ptr, const I *__restrict__ col, uint16_t *pattern)
{
  __shared__ Units<P> u;
  __shared__ int      units;
  const int64_t       block = blockIdx.x;
  const RbpBlock      b     = a.blocks[block];

  if (b.flags & RBP_BLOCK_SHARED) return;
  walk_block<I, T, P>(b, a, row_ptr, col, block, &units, u);
  if (b.flags & RBP_BLOCK_WINDOWED) find_windows(b, u);
  for (int i = threadIdx.x; i < b.words; i += RBP_THREADS) pattern[b.pattern0 + i] = stream_word<P>(b, u, i);
}

template <typename I, int T, int P>
SpmvStatus launch(const RbpDeviceAnalysis *a, RbpPrint *prints, uint16_t *pattern, SpmvExec *exec)
{
  const I      *row_ptr = (const I *)a->pattern.row_ptr, *col = (const I *)a->pattern.col;
  const int64_t blocks = a->shape.blocks;

  if (prints) SPMV_LAUNCH(exec, (rbp_describe<I, T, P>), blocks, RBP_THREADS, 0, *a, row_ptr, col, prints);
  else SPMV_LAUNCH(exec, (rbp_write<I, T, P>), blocks, RBP_THREADS, 0, *a, row_ptr, col, pattern);
  return SPMV_SUCCESS;
}

template <typename I, int T>
SpmvStatus select_capacity(const RbpDeviceAnalysis *a, RbpPrint *prints, uint16_t *pattern, SpmvExec *exec)
{
  const int units = a->shape.capacity / RBP_THREADS;

  if (units <= 1) return launch<I, T, 1>(a, prints, pattern, exec);
  if (units <= 2) return launch<I, T, 2>(a, prints, pattern, exec);
  if (units <= 4) return launch<I, T, 4>(a, prints, pattern, exec);
  return launch<I, T, 8>(a, prints, pattern, exec);
}

SpmvStatus select(const RbpDeviceAnalysis *a, RbpPrint *prints, uint16_t *pattern, SpmvExec *exec)
{
  const bool short_rows = a->pattern.nnz < 16 * a->pattern.rows;

  if (a->pattern.index_type == SPMV_I64)
    return short_rows ? select_capacity<int64_t, 8>(a, prints, pattern, exec)
                      : select_capacity<int64_t, 32>(a, prints, pattern, exec);
  return short_rows ? select_capacity<int32_t, 8>(a, prints, pattern, exec)
                    : select_capacity<int32_t, 32>(a, prints, pattern, exec);
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
