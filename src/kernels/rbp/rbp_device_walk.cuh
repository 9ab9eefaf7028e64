/*
  rbp_device_walk.cuh - finds the units in the columns of one block of format packed. Threads work on columns and units
  independently of rows; the columns or units of a thread lie RBP_THREADS apart.
*/
#pragma once

#include "device/vector.cuh"
#include "rbp_device_analyze.cuh"
#include <climits>
#include <cub/block/block_scan.cuh>

namespace
{
typedef cub::BlockScan<int, RBP_THREADS> Scan;

/* Shared memory of a block of at most RBP_THREADS * P units of U columns. Its columns are those of the first row of
   each group, concatenated. Arrays that a variant does not need have one entry. */
template <int G, int U, int P>
struct Units {
  enum {
    UNITS   = RBP_THREADS * P,
    COLUMNS = UNITS * U,
    MASKS   = COLUMNS / 32,
    HEAD    = (UNITS + 1) * (G > 1 ? 2 : 1) + 1 + 2 * RBP_SEGMENTS,
    QUADS   = (HEAD + UNITS * (U > 1 ? 3 : 2) + 4) / 4
  };
  static_assert(MASKS <= 64, "a warp finds the units of a block");

  uint64_t encoding[QUADS]; /* 4 words each */
  /* Bit k % 32 of word k / 32 belongs to column k. First set if a row starts at column k, later if a run or a row does;
     all bits beyond the last column are set. */
  unsigned                   starts[MASKS + 1];
  uint16_t                   group_at[MASKS];            /* group of column 32 k, counting only groups that have
                                                            columns */
  uint16_t                   skipped[G > 1 ? UNITS : 1]; /* nonzeros of other rows of the groups, before the first row
                                                            of such a group */
  int                        column[U > 1 ? COLUMNS + 1 : 1]; /* column k at k + 1 */
  unsigned                   firsts[MASKS];                   /* bits: column k begins a unit */
  uint16_t                   before[MASKS];                   /* units before this word of firsts */
  int                        start[U > 1 ? UNITS : 1];        /* of each unit */
  uint8_t                    length[U > 1 ? UNITS : 1];       /* columns of each unit */
  int                        units;
  unsigned                   segment[RBP_THREADS];         /* bit w % 32 of word w / 32: some start lies in segment w */
  uint16_t                   segments_before[RBP_THREADS]; /* segments before this word of bits */
  typename Scan::TempStorage temp;                         /* free after a barrier */
};

template <int G, int U, int P>
__device__ inline uint16_t *words_of(Units<G, U, P> &u)
{
  return (uint16_t *)u.encoding;
}

/* Reductions over all units and groups of a block */
struct Common {
  int min, max, flags, longest; /* smallest and largest start; RBP_BLOCK_UNEVEN and _RAGGED; most units of a group */
};

/* Records that the next group with columns begins at column `first` of the block */
template <int G, int U, int P>
__device__ inline void mark_row(Units<G, U, P> &u, int first, int length, int group)
{
  if (length == 0) return;
  atomicOr(&u.starts[first / 32], 1u << first % 32);
  if (G > 1)
    for (int w = (first + 31) / 32; 32 * w < first + length; w++) u.group_at[w] = (uint16_t)group;
}

/* Writes the head of the encoding, except for the entries after the last group, and the starts of rows; returns the
   number of columns */
template <typename I, int G, int U, int P>
__device__ inline int load_groups(const RbpBlock &b, const RbpDeviceAnalysis &a, const I *row_ptr, int64_t group0,
                                  Units<G, U, P> &u, Common &c)
{
  const uint32_t *unit = a.group_unit + group0, unit0 = unit[0];
  int             sum = 0; /* columns before these groups, plus 2^16 times the number of groups with columns */

  for (int g0 = 0; g0 < b.groups; g0 += RBP_THREADS) {
    const int  g      = g0 + threadIdx.x;
    const bool inside = g < b.groups;
    int        offset = 0, length = 0, before = 0, all = 0;

    if (inside) {
      const int first = (int)(unit[g] - unit0), row = G > 1 ? a.group_row[group0 + g] : b.row0 + g;
      words_of(u)[g] = (uint16_t)first;
      c.longest      = max(c.longest, (int)(unit[g + 1] - unit0) - first);
      if (G > 1) {
        words_of(u)[b.groups + 1 + g] = (uint16_t)(row - b.row0);
        if (a.group_row[group0 + g + 1] - row != G) c.flags |= RBP_BLOCK_UNEVEN;
      }
      if (G * U > 1) {
        offset = (int)(row_ptr[row] - b.csr0);
        length = (int)(row_ptr[row + 1] - row_ptr[row]);
      }
    }
    if (G > 1) {
      Scan(u.temp).ExclusiveSum(length | (length > 0) << 16, before, all);
      before += sum;
      if (length) u.skipped[before >> 16] = (uint16_t)(offset - (before & 0xffff));
      mark_row(u, before & 0xffff, length, before >> 16);
      sum += all;
      __syncthreads(); /* temp */
    } else if (U > 1) mark_row(u, offset, length, 0);
  }
  if (G > 1) return sum & 0xffff;
  return U > 1 ? (int)(row_ptr[b.row0 + b.groups] - b.csr0) : (int)(unit[b.groups] - unit0);
}

/* Writes the head for a piece, which is part of one row */
template <typename I, int G, int U, int P>
__device__ inline int load_piece(const RbpBlock &b, int capacity, const I *row_ptr, Units<G, U, P> &u, Common &c)
{
  const int n = (int)min((int64_t)capacity, (int64_t)row_ptr[b.row0 + 1] - b.csr0);

  if (threadIdx.x == 0) {
    words_of(u)[0] = words_of(u)[2] = u.skipped[0] = 0;
    u.group_at[0]                                  = 0;
    mark_row(u, 0, n, 0);
    if (b.rows != G) c.flags |= RBP_BLOCK_UNEVEN;
  }
  return n;
}

/* Loads the columns of the block from the CSR, 0 beyond the last. There are no branches, so that all loads are in
   flight together. */
template <typename I, int G, int U, int P>
__device__ inline void load_columns(const I *col, unsigned n, const Units<G, U, P> &u, int (&column)[P * U])
{
  const unsigned up_to_lane = (2u << threadIdx.x % 32) - 2; /* bit 0 is accounted for in group_at */
  unsigned       at[P * U];

#pragma unroll
  for (int j = 0; j < P * U; j++) {
    const unsigned k = threadIdx.x + j * RBP_THREADS, w = k / 32;
    at[j] = k;
    if (G == 1) continue;
    const unsigned group = u.group_at[w] + __popc(u.starts[w] & up_to_lane);
    at[j] += u.skipped[k < n ? group : 0];
  }
#pragma unroll
  for (int j = 0; j < P * U; j++) column[j] = threadIdx.x + j * RBP_THREADS < n ? (int)col[at[j]] : 0;
}

/* Sets the bits of run starts; the bits of row starts are already set */
template <int G, int U, int P>
__device__ inline void find_starts(unsigned n, const int (&column)[P * U], Units<G, U, P> &u)
{
#pragma unroll
  for (int j = 0; j < P * U; j++) u.column[threadIdx.x + j * RBP_THREADS + 1] = column[j];
  if (threadIdx.x == 0) u.starts[Units<G, U, P>::MASKS] = ~0u;
  __syncthreads();
#pragma unroll
  for (int j = 0; j < P * U; j++) {
    const unsigned k      = threadIdx.x + j * RBP_THREADS;
    const unsigned starts = __ballot_sync(0xffffffffu, (k >= n) | (u.column[k] + 1 != column[j]));
    if (threadIdx.x % 32 == 0) u.starts[k / 32] |= starts;
  }
  __syncthreads();
}

/* Finds the columns that begin units: a run is cut from its start on. One thread handles 64 columns; one warp handles
   the block. */
template <int G, int U, int P>
__device__ inline void find_firsts(int n, Units<G, U, P> &u)
{
  const int lane = threadIdx.x, k = 64 * lane;
  uint64_t  firsts = 0;

  if (k < n) {
    const uint64_t inside = n - k < 64 ? (1ull << (n - k)) - 1 : ~0ull;
    const uint64_t starts = ((uint64_t)u.starts[2 * lane + 1] << 32 | u.starts[2 * lane]) & inside;
    firsts = rbp_unit_firsts<U>(starts, inside, starts & 1 ? 0 : rbp_distance_from_start(u.starts, 0, k));
  }
  const int low = __popc((unsigned)firsts), all = __popcll(firsts), sum = spmv_add_up_to_lane(all);
  if (2 * lane < Units<G, U, P>::MASKS) {
    u.firsts[2 * lane]     = (unsigned)firsts;
    u.firsts[2 * lane + 1] = (unsigned)(firsts >> 32);
    u.before[2 * lane]     = (uint16_t)(sum - all);
    u.before[2 * lane + 1] = (uint16_t)(sum - all + low);
  }
  if (lane == 31) u.units = sum;
}

/* Finds the units, if U > 1; returns their number. start: the starts of this thread's units. */
template <int G, int U, int P>
__device__ inline int find_units(int n, const int (&column)[P * U], Units<G, U, P> &u, int (&start)[P])
{
  const unsigned lane = threadIdx.x % 32, below_lane = (1u << lane) - 1;

  find_starts((unsigned)n, column, u);
  if (threadIdx.x < 32) find_firsts(n, u);
  __syncthreads();
#pragma unroll
  for (int j = 0; j < P * U; j++) {
    const unsigned w = (threadIdx.x + j * RBP_THREADS) / 32, firsts = u.firsts[w];
    const unsigned unit = u.before[w] + __popc(firsts & below_lane);
    const unsigned ends = (unsigned)(((uint64_t)u.starts[w + 1] << 32 | u.starts[w]) >> (lane + 1)); /* ends of runs */
    if (!(firsts >> lane & 1)) continue;
    u.start[unit]  = column[j];
    u.length[unit] = (uint8_t)__ffs((int)(ends | 1u << (U - 1)));
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < P; i++) {
    const int unit = threadIdx.x + i * RBP_THREADS;
    start[i]       = unit < u.units ? u.start[unit] : 0;
  }
  return u.units;
}

/* Finds the units of a block, and the head of its encoding; returns the number of units. group0: the first group. */
template <typename I, int G, int U, int P>
__device__ int walk_block(const RbpBlock &b, const RbpDeviceAnalysis &a, const I *row_ptr, const I *col, int64_t group0,
                          Units<G, U, P> &u, int (&start)[P], Common &c)
{
  const bool piece = b.flags & RBP_BLOCK_PIECE;
  int        column[P * U], units;

  if (G * U > 1) {
    if ((int)threadIdx.x < Units<G, U, P>::MASKS) u.starts[threadIdx.x] = 0;
    __syncthreads();
  }
  const int n = piece ? load_piece<I>(b, a.shape.capacity, row_ptr, u, c) : load_groups(b, a, row_ptr, group0, u, c);
  if (G > 1) __syncthreads();
  load_columns(col + b.csr0, (unsigned)n, u, column);
  if constexpr (U > 1) units = find_units(n, column, u, start);
  else {
    units = n;
#pragma unroll
    for (int i = 0; i < P; i++) start[i] = column[i];
  }
  if (piece) c.longest = units;
  if (threadIdx.x == 0) {
    words_of(u)[b.groups] = (uint16_t)units;
    if (G > 1) words_of(u)[2 * b.groups + 1] = (uint16_t)b.rows;
  }
  return units;
}
} // namespace
