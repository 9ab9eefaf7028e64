/*
  rbp_device_blocks.cu - joins rows to groups and groups to blocks for format packed: consecutive groups of a span fill
  a block up to its capacity; a longer group is cut into pieces.
*/
#include "device/vector.cuh"
#include "rbp_device_span.cuh"

namespace
{
enum {
  LONG_GROUP    = 1 << 15, /* a bit of next[] that positions in a span do not use */
  SCRATCH_BLOCK = 200      /* maximum bytes per block, without its encoding */
};
static_assert((int)RBP_SPAN < (int)LONG_GROUP, "positions in a span and the bit LONG_GROUP share 16 bits");

/* The data of an analysis that these kernels use */
template <typename I>
struct Packing {
  const I       *row_ptr;
  RbpRowSummary *summary; /* reused for the entries of a span once its summaries have been read */
  int64_t        rows;
  int32_t       *group_row; /* NULL: each row is a group */
  uint32_t      *group_unit;
  int            span_rows, group_rows, unit_columns, capacity;
};

/* The index of the first group entry of a span */
template <typename I>
__device__ inline int64_t first_entry(const Packing<I> &p, int64_t span)
{
  return span * (p.span_rows + 1);
}

/* The first row of a group of a span */
template <typename I>
__device__ inline int32_t row_of(const Packing<I> &p, int64_t span, int group)
{
  return p.group_row ? p.group_row[first_entry(p, span) + group] : (int32_t)(span * p.span_rows) + group;
}

/* Nonzeros of one row of a group */
template <typename I>
__device__ inline int64_t row_length(const I *row_ptr, int32_t row)
{
  return (int64_t)(row_ptr[row + 1] - row_ptr[row]);
}

/* The entries of a span: the first group of each block, or LONG_GROUP plus the number of a long group */
template <typename I>
__device__ inline uint16_t *entries_of(const Packing<I> &p, int64_t span)
{
  return (uint16_t *)(p.summary + span * p.span_rows);
}

/* The number of pieces of a long group, given its first row */
template <typename I>
__device__ inline int64_t pieces_of(const Packing<I> &p, int32_t row)
{
  return (row_length(p.row_ptr, row) + p.capacity - 1) / p.capacity;
}

/* The groups and blocks of a span */
struct Chain {
  uint32_t unit[RBP_SPAN + 1]; /* units of each group; later the sum over all previous groups */
  uint16_t next[RBP_SPAN];     /* first group after the block that would begin here; for a long group LONG_GROUP plus
                                  the next group */
  uint16_t entry[RBP_SPAN];    /* see entries_of() */
  int      entries, long_groups;
};

/* Ranks of groups, from bits that mark the rows that begin groups: the number of the group that begins at a row, and
   the number of groups. One warp computes them; a barrier must follow. */
struct GroupRanks {
  unsigned starts[SPAN_WORDS];
  uint16_t before[SPAN_WORDS];
  int      groups;

  __device__ int  of(int i) const { return before[i / 32] + __popc(starts[i / 32] & ((1u << i % 32) - 1)); }
  __device__ void add_up()
  {
    constexpr int WORDS = SPAN_WORDS / 32;
    const int     lane = threadIdx.x, w0 = lane * WORDS;
    int           all = 0;

    for (int w = w0; w < w0 + WORDS; w++) all += __popc(starts[w]);
    int sum = spmv_add_up_to_lane(all);
    if (lane == 31) groups = sum;
    sum -= all;
    for (int w = w0; w < w0 + WORDS; w++) {
      before[w] = (uint16_t)sum;
      sum += __popc(starts[w]);
    }
  }
};
static_assert(SPAN_WORDS % 32 == 0, "a warp adds up");

/* Finds the groups of a span, their first rows and their units; returns the number of groups */
template <typename I>
__device__ inline int make_groups(const Packing<I> &p, int64_t span, int n, Chain &chain)
{
  __shared__ SpanRows   rows;
  __shared__ GroupRanks ranks;
  const int64_t         first = span * p.span_rows;

  mark_distinct(p.summary + first, n, rows);
#pragma unroll
  for (int j = 0; j < SPAN_EACH; j++) {
    const int      i      = j * SPAN_THREADS + threadIdx.x;
    const unsigned starts = __ballot_sync(0xffffffffu, i < n && equals_before(rows, i) % p.group_rows == 0);
    if (i % 32 == 0) ranks.starts[i / 32] = starts;
  }
  __syncthreads();
  if (threadIdx.x < 32) ranks.add_up();
  __syncthreads();
  for (int i0 = threadIdx.x; i0 < n; i0 += SPAN_LOADS * SPAN_THREADS) {
    I             length[SPAN_LOADS];
    RbpRowSummary known[SPAN_LOADS];
    load_rows<I>(p.row_ptr, p.summary, first, i0, n, length, known);
#pragma unroll
    for (int j = 0; j < SPAN_LOADS; j++) {
      const int i = i0 + j * SPAN_THREADS;
      if (i >= n || !(ranks.starts[i / 32] >> i % 32 & 1)) continue;
      const int group   = ranks.of(i);
      chain.unit[group] = (uint32_t)min(rbp_row_units(known[j], length[j], p.unit_columns), (int64_t)p.capacity + 1);
      if (p.group_row) p.group_row[first_entry(p, span) + group] = (int32_t)(first + i);
    }
  }
  const int groups = ranks.groups;
  if (p.group_row && threadIdx.x == 0) p.group_row[first_entry(p, span) + groups] = (int32_t)(first + n);
  __syncthreads();
  return groups;
}

/* Replaces the units of each group by the sum over previous groups; stores the sums for later steps, too */
__device__ inline void add_up_units(int groups, Chain &chain, uint32_t *group_unit)
{
  typedef cub::BlockScan<int, SPAN_THREADS> Scan;
  __shared__ typename Scan::TempStorage     temp;
  const int                                 g0 = threadIdx.x * SPAN_EACH, g1 = min(g0 + SPAN_EACH, groups);
  int                                       sum = 0, all;

  for (int g = g0; g < g1; g++) sum += (int)chain.unit[g];
  Scan(temp).ExclusiveSum(sum, sum, all);
  for (int g = g0; g < g1; g++) {
    const int units = (int)chain.unit[g];
    chain.unit[g]   = (uint32_t)sum;
    sum += units;
  }
  if (threadIdx.x == 0) chain.unit[groups] = (uint32_t)all;
  __syncthreads();
  for (int g = threadIdx.x; g <= groups; g += SPAN_THREADS) group_unit[g] = chain.unit[g];
}

/* For all groups of a span, finds the end of a block that would begin with that group: bisection for the last group
   whose units fit. A thread runs the searches of its groups in lockstep, so that their loads overlap. */
__device__ inline void find_ends(int groups, int capacity, Chain &chain)
{
  int end[SPAN_EACH], step = 1 << 14; /* a power of 2; a block has at most `capacity` groups */

#pragma unroll
  for (int j = 0; j < SPAN_EACH; j++) end[j] = threadIdx.x + j * SPAN_THREADS;
  while (step > capacity) step /= 2;
  for (; step; step /= 2)
#pragma unroll
    for (int j = 0; j < SPAN_EACH; j++) {
      const int i = threadIdx.x + j * SPAN_THREADS, tried = end[j] + step;
      if (tried <= groups && tried - i <= capacity && chain.unit[tried] - chain.unit[i] <= (uint32_t)capacity)
        end[j] = tried;
    }
#pragma unroll
  for (int j = 0; j < SPAN_EACH; j++) {
    const int i = threadIdx.x + j * SPAN_THREADS;
    if (i < groups) chain.next[i] = (uint16_t)(end[j] > i ? end[j] : (i + 1) | LONG_GROUP);
  }
  __syncthreads();
}

/* Lists the blocks of a span from first to last. Called by one thread; each step waits for one load only. */
__device__ inline void walk_chain(int groups, Chain &chain)
{
  int entries = 0, long_groups = 0;

  for (int g = 0; g < groups; entries++) {
    const int next = chain.next[g];

    chain.entry[entries] = (uint16_t)(g | (next & LONG_GROUP));
    long_groups += next >= LONG_GROUP;
    g = next & (LONG_GROUP - 1);
  }
  chain.entries     = entries;
  chain.long_groups = long_groups;
}

/* Makes the groups and blocks of each span, one thread block per span, and the running sums of their counts */
template <typename I>
__global__ void __launch_bounds__(SPAN_THREADS) rbp_pack_spans(const Packing<I> p, RbpSpanSums *sums, unsigned *arrived)
{
  __shared__ Chain              chain;
  __shared__ unsigned long long pieces;
  const int64_t                 span = blockIdx.x, first = span * p.span_rows;
  const int                     groups = make_groups(p, span, (int)min((int64_t)p.span_rows, p.rows - first), chain);

  add_up_units(groups, chain, p.group_unit + first_entry(p, span));
  find_ends(groups, p.capacity, chain);
  if (threadIdx.x == 0) {
    walk_chain(groups, chain);
    pieces = 0;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < chain.entries; i += SPAN_THREADS) {
    const int group        = chain.entry[i] & (LONG_GROUP - 1);
    entries_of(p, span)[i] = chain.entry[i];
    if (chain.entry[i] >= LONG_GROUP) atomicAdd(&pieces, (unsigned long long)pieces_of(p, row_of(p, span, group)));
  }
  __syncthreads();
  const RbpSpanSums here = {
      {chain.entries - chain.long_groups + (int64_t)pieces, chain.long_groups, (int64_t)pieces, groups}};
  spmv_sum_up<SPAN_THREADS>(here, sums, arrived);
}

/* ---- blocks ---- */

/* The output arrays for blocks and pieces */
struct Blocks {
  RbpBlock    *blocks;
  int64_t     *block_group;
  SpmvLongRow *pieces;
};

/* Writes the pieces of long group g, with all threads; at: their positions */
template <typename I>
__device__ void write_pieces(const Packing<I> &p, int64_t span, int g, const RbpSpanSums &at, const Blocks &to)
{
  const int32_t row0 = row_of(p, span, g), rows = row_of(p, span, g + 1) - row0;
  const int64_t length = row_length(p.row_ptr, row0), count = pieces_of(p, row0), block = at.of[RBP_SPAN_BLOCKS],
                piece = at.of[RBP_SPAN_PIECES];

  if (threadIdx.x == 0) to.pieces[at.of[RBP_SPAN_LONG]] = {row0, rows, (int32_t)piece, (int32_t)count};
  for (int64_t i = threadIdx.x; i < count; i += SPAN_THREADS) {
    RbpBlock b                = {};
    b.csr0                    = (int64_t)p.row_ptr[row0] + i * p.capacity;
    b.row0                    = row0;
    b.groups                  = 1;
    b.rows                    = rows;
    b.slot                    = (int32_t)(piece + i);
    b.row_length              = (int32_t)length;
    b.flags                   = RBP_BLOCK_PIECE;
    to.blocks[block + i]      = b;
    to.block_group[block + i] = first_entry(p, span) + g;
  }
}

/* Writes row0, groups, csr0 and rows of a block with groups group .. next-1 */
template <typename I>
__device__ inline void write_block(const Packing<I> &p, int64_t span, int group, int next, int64_t block,
                                   const Blocks &to)
{
  const int32_t row0 = row_of(p, span, group);
  RbpBlock      b    = {};

  b.csr0                = p.row_ptr[row0];
  b.row0                = row0;
  b.groups              = next - group;
  b.rows                = row_of(p, span, next) - row0;
  to.blocks[block]      = b;
  to.block_group[block] = first_entry(p, span) + group;
}

/* Writes the blocks and pieces of each span, one thread block per span. sums: running sums over the spans. */
template <typename I>
__global__ void __launch_bounds__(SPAN_THREADS)
    rbp_write_blocks(const Packing<I> p, const RbpSpanSums *__restrict__ sums, const Blocks to)
{
  const int64_t   span = blockIdx.x;
  const uint16_t *mine = entries_of(p, span);
  RbpSpanSums     at = {}, here = sums[span];

  if (span > 0) at = sums[span - 1];
  for (int i = 0; i < RBP_SPAN_NUMBERS; i++) here.of[i] -= at.of[i];
  const int  count    = (int)(here.of[RBP_SPAN_BLOCKS] - here.of[RBP_SPAN_PIECES] + here.of[RBP_SPAN_LONG]);
  const int  groups   = (int)here.of[RBP_SPAN_GROUPS];
  const auto group_at = [&](int i) { return i < count ? mine[i] & (LONG_GROUP - 1) : groups; };

  if (here.of[RBP_SPAN_LONG] == 0) {
    for (int i = threadIdx.x; i < count; i += SPAN_THREADS)
      write_block(p, span, group_at(i), group_at(i + 1), at.of[RBP_SPAN_BLOCKS] + i, to);
    return;
  }
  for (int i = 0; i < count; i++) { /* sequential: all threads write each long group */
    if (mine[i] < LONG_GROUP) {
      if (threadIdx.x == 0) write_block(p, span, group_at(i), group_at(i + 1), at.of[RBP_SPAN_BLOCKS], to);
      at.of[RBP_SPAN_BLOCKS]++;
      continue;
    }
    const int64_t n = pieces_of(p, row_of(p, span, group_at(i)));
    write_pieces(p, span, group_at(i), at, to);
    at.of[RBP_SPAN_BLOCKS] += n;
    at.of[RBP_SPAN_PIECES] += n;
    at.of[RBP_SPAN_LONG]++;
  }
}

/* Finds the number of long groups, and the number of blocks or a bound on it */
SpmvStatus count_blocks(RbpDeviceAnalysis *a, SpmvExec *exec)
{
  RbpSpanSums sum = {{a->blocks_most}};

  if (a->blocks_most < 0) SPMV_TRY(spmv_fetch(&sum, a->span_sums + a->spans - 1, sizeof sum, exec));
  a->blocks_most       = sum.of[RBP_SPAN_BLOCKS];
  a->shape.long_groups = sum.of[RBP_SPAN_LONG];
  a->shape.pieces      = sum.of[RBP_SPAN_PIECES];
  if (a->blocks_most > INT32_MAX)
    return spmv_fail(exec, SPMV_ERR_OVERFLOW, "rbp packed: %lld blocks", (long long)a->blocks_most);
  return SPMV_SUCCESS;
}

template <typename I>
SpmvStatus make_blocks(RbpDeviceAnalysis *a, SpmvExec *exec)
{
  const RbpDeviceShape *s       = &a->shape;
  const int64_t         entries = a->spans * (a->span_rows + 1);

  if (s->group_rows > 1) SPMV_TRY(spmv_arena_array(&a->arena, entries, "group rows", &a->group_row, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, entries, "group units", &a->group_unit, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, a->spans, "spans", &a->span_sums, exec));
  const Packing<I> p = {(const I *)a->pattern.row_ptr,
                        a->summary,
                        a->pattern.rows,
                        a->group_row,
                        a->group_unit,
                        a->span_rows,
                        s->group_rows,
                        s->unit_columns,
                        s->capacity};
  SPMV_LAUNCH(exec, rbp_pack_spans<I>, a->spans, SPAN_THREADS, 0, p, a->span_sums, &a->totals->arrived[0]);
  SPMV_TRY(count_blocks(a, exec));
  a->arena.chunk_bytes =
      8 * rbp_expected_buffer(a) + SCRATCH_BLOCK * a->blocks_most + (1 << 16); /* memory for all following steps */
  SPMV_TRY(spmv_arena_array(&a->arena, a->blocks_most, "blocks", &a->blocks, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, a->blocks_most, "block groups", &a->block_group, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, s->long_groups, "pieces", &a->pieces, exec));
  SPMV_LAUNCH(exec, rbp_write_blocks<I>, a->spans, SPAN_THREADS, 0, p, a->span_sums,
              Blocks{a->blocks, a->block_group, a->pieces});
  return SPMV_SUCCESS;
}
} // namespace

SpmvStatus rbp_make_blocks(RbpDeviceAnalysis *a, SpmvExec *exec)
{
  if (a->spans == 0) return SPMV_SUCCESS;
  return a->pattern.index_type == SPMV_I64 ? make_blocks<int64_t>(a, exec) : make_blocks<int32_t>(a, exec);
}
