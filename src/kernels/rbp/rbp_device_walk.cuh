/*
  rbp_device_walk.cuh - the columns of one block of format packed, and the units that they make, in shared memory: what
  describing a block and writing its stream begin with. Every thread works on columns, whatever the row they are in.
*/
#ifndef SPMV_RBP_DEVICE_WALK_CUH
#define SPMV_RBP_DEVICE_WALK_CUH

#include "rbp_device_analyze.cuh"
#include <cub/block/block_scan.cuh>

namespace
{
enum { LOADS = 4 /* of a thread that are under way together */ };

/* Columns of the units of a thread in any variant: units times U */
constexpr int  columns_of(int units) { return units * RBP_MAX_U < 12 ? units * RBP_MAX_U : 12; }
constexpr bool fits(const RbpVariant &v)
{
  return v.units_small * v.unit_columns <= columns_of(v.units_small) &&
         v.units_large * v.unit_columns <= columns_of(v.units_large) && v.units_large <= 8;
}
constexpr bool all_fit()
{
  for (const RbpVariant &v : rbp_variants)
    if (!fits(v)) return false;
  return true;
}
static_assert(all_fit(), "the columns of a block's units have no room in Units");

typedef cub::BlockScan<int, RBP_THREADS> Scan;

/* Shared memory of one block of at most RBP_THREADS * P units: the columns of its groups, one row of each, one after
   the other, and the units they make */
template <int P>
struct Units {
  enum { UNITS = RBP_THREADS * P, COLUMNS = RBP_THREADS * columns_of(P), WORDS = COLUMNS / 32 };
  int                        column[COLUMNS];
  uint16_t                   first_column[UNITS + 1]; /* of each group */
  uint16_t                   skipped[UNITS];          /* nonzeros of other rows before the row of a group */
  uint16_t                   first_unit[UNITS + 1];
  uint16_t                   first_row[UNITS + 1];
  uint16_t                   at[UNITS];     /* column[at[u]] is the start of unit u; unused when units have 1 column */
  uint8_t                    length[UNITS]; /* columns of a unit; unused when units have 1 column */
  unsigned                   starts[WORDS]; /* bit k % 32 of word k / 32: column k begins a run or a row */
  unsigned                   firsts[WORDS]; /* column k begins a unit */
  int                        units_before[WORDS];         /* this word of firsts */
  unsigned                   window[RBP_THREADS];         /* bit w % 32 of word w / 32: some start lies in window w */
  int                        windows_before[RBP_THREADS]; /* this word of bits */
  int                        window_start[RBP_WINDOWS];   /* column - base, rising */
  int                        width;                       /* columns of a full unit: U */
  typename Scan::TempStorage temp;                        /* free after a barrier */
};

template <int P>
__device__ inline int start_of(const Units<P> &u, int unit)
{
  return u.column[u.width == 1 ? unit : u.at[unit]];
}

/* value / divisor and value % divisor for 1, 2 or 3 and value >= 0, without a division by a variable */
__device__ inline int divided(int value, int divisor)
{
  return divisor == 1 ? value : divisor == 2 ? value / 2 : (int)((unsigned)value / 3);
}

__device__ inline int remainder_of(int value, int divisor) { return value - divisor * divided(value, divisor); }

/* The one row of a piece; returns its columns */
template <typename I, int P>
__device__ inline int load_piece(const RbpBlock &b, int capacity, const I *row_ptr, Units<P> &u)
{
  const int n = (int)min((int64_t)capacity, (int64_t)row_ptr[b.row0 + 1] - b.csr0);

  if (threadIdx.x < 2) {
    u.first_row[threadIdx.x]    = (uint16_t)(threadIdx.x * b.rows);
    u.first_column[threadIdx.x] = (uint16_t)(threadIdx.x * n);
    u.first_unit[threadIdx.x]   = (uint16_t)(threadIdx.x * n); /* the last one is known later when U > 1 */
  }
  if (threadIdx.x == 0) u.skipped[0] = 0;
  return n;
}

/* Rows, units and columns before each group and before the end; returns the columns of all */
template <typename I, int P>
__device__ inline int load_groups(const RbpBlock &b, const RbpDeviceAnalysis &a, const I *row_ptr, int64_t group0,
                                  Units<P> &u)
{
  const uint32_t unit0 = a.group_unit[group0];
  int            sum   = 0;

  for (int g0 = 0; g0 <= b.groups; g0 += RBP_THREADS) {
    const int  g      = g0 + threadIdx.x;
    const bool inside = g <= b.groups;
    int        row = b.row0, place = 0, length = 0, before = 0, all = 0;
    if (inside) {
      row             = rbp_group_row(a.group_row, group0 + g);
      u.first_row[g]  = (uint16_t)(row - b.row0);
      u.first_unit[g] = (uint16_t)(a.group_unit[group0 + g] - unit0);
      place           = (int)(row_ptr[row] - b.csr0);
      if (g < b.groups) length = (int)(row_ptr[row + 1] - row_ptr[row]);
    }
    if (a.group_row) {
      Scan(u.temp).ExclusiveSum(length, before, all);
      __syncthreads();
    } else before = place; /* every row is here, so sum stays 0 */
    if (inside) u.first_column[g] = (uint16_t)(sum + before);
    if (g < b.groups) u.skipped[g] = (uint16_t)(place - sum - before);
    sum += all;
  }
  __syncthreads();
  return u.first_column[b.groups];
}

/* Columns of the groups from the CSR. All positions, and then all loads of a thread, go side by side. */
template <typename I, int P>
__device__ inline void load_columns(const RbpBlock &b, const I *col, bool has_gaps, int n, Units<P> &u)
{
  int first_step = 1;
  while (2 * first_step < b.groups) first_step *= 2;

  for (int k0 = threadIdx.x; k0 < n; k0 += RBP_THREADS * LOADS) {
    int group[LOADS] = {0};
    I   c[LOADS];

    if (has_gaps) /* the last group that begins at or before the column */
      for (int step = first_step; step; step /= 2)
#pragma unroll
        for (int j = 0; j < LOADS; j++) {
          const int tried = group[j] + step;
          if (tried < b.groups && u.first_column[tried] <= k0 + j * RBP_THREADS) group[j] = tried;
        }
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
      const int k = k0 + j * RBP_THREADS;
      if (k < n) c[j] = col[b.csr0 + k + (has_gaps ? (int)u.skipped[group[j]] : 0)];
    }
#pragma unroll
    for (int j = 0; j < LOADS; j++)
      if (k0 + j * RBP_THREADS < n) u.column[k0 + j * RBP_THREADS] = (int)c[j];
  }
}

/* Columns from the start of the run that holds column k to k */
__device__ inline int distance_from_start(const unsigned *starts, int k)
{
  int      w    = k / 32;
  unsigned bits = starts[w] & 0xffffffffu >> (31 - k % 32);

  while (!bits) bits = starts[--w]; /* column 0 is a start */
  return k - (32 * w + 31 - __clz((int)bits));
}

/* Units of more than one column: a run is cut from its start on. starts has the first columns of the rows. Returns the
   units. */
template <int P>
__device__ inline int find_units(int n, Units<P> &u)
{
  int before, units;

  for (int k = threadIdx.x; (k & ~31) < n; k += RBP_THREADS) {
    const unsigned starts = __ballot_sync(0xffffffffu, k > 0 && k < n && u.column[k - 1] + 1 != u.column[k]);
    if (k % 32 == 0) u.starts[k / 32] |= starts;
  }
  __syncthreads();
  for (int k = threadIdx.x; (k & ~31) < n; k += RBP_THREADS) {
    const bool     first  = k < n && remainder_of(distance_from_start(u.starts, k), u.width) == 0;
    const unsigned firsts = __ballot_sync(0xffffffffu, first);
    if (k % 32 == 0) u.firsts[k / 32] = firsts;
  }
  __syncthreads();
  Scan(u.temp).ExclusiveSum((int)threadIdx.x * 32 < n ? __popc(u.firsts[threadIdx.x]) : 0, before, units);
  if ((int)threadIdx.x * 32 < n) u.units_before[threadIdx.x] = before;
  __syncthreads();
  for (int k = threadIdx.x; k < n; k += RBP_THREADS) {
    const unsigned firsts = u.firsts[k / 32], bit = 1u << k % 32;
    if (!(firsts & bit)) continue;
    const int unit   = u.units_before[k / 32] + __popc(firsts & (bit - 1));
    int       length = 1;
    while (length < u.width && k + length < n && !(u.starts[(k + length) / 32] >> (k + length) % 32 & 1)) length++;
    u.at[unit]     = (uint16_t)k;
    u.length[unit] = (uint8_t)length;
  }
  __syncthreads();
  return units;
}

/* Fills u from the CSR; returns the units of the block. group0: its first group. Needs all threads. */
template <typename I, int P>
__device__ int walk_block(const RbpBlock &b, const RbpDeviceAnalysis &a, const I *row_ptr, const I *col, int64_t group0,
                          Units<P> &u)
{
  const bool piece = b.flags & RBP_BLOCK_PIECE;
  const int  width = a.shape.unit_columns;

  if (threadIdx.x == 0) u.width = width;
  if (threadIdx.x < Units<P>::WORDS) u.starts[threadIdx.x] = 0;
  const int n = piece ? load_piece<I, P>(b, a.shape.capacity, row_ptr, u) : load_groups<I, P>(b, a, row_ptr, group0, u);
  __syncthreads();
  load_columns<I, P>(b, col, a.group_row && !piece, n, u);
  if (width == 1) {
    __syncthreads();
    return n;
  }
  for (int g = threadIdx.x; g < b.groups; g += RBP_THREADS)
    if (u.first_column[g] < u.first_column[g + 1])
      atomicOr(&u.starts[u.first_column[g] / 32], 1u << u.first_column[g] % 32);
  __syncthreads();
  const int units = find_units<P>(n, u);
  if (piece && threadIdx.x == 0) u.first_unit[1] = (uint16_t)units;
  __syncthreads();
  return units;
}

} // namespace

#endif
