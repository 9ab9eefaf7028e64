/*
  rbp_device_blocks.cu - groups into blocks for format packed: consecutive groups fill a block up to its capacity, a
  group that is longer is cut into pieces; then every block gets the place of its values and of its stream.
*/
#include "rbp_device_analyze.cuh"
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace
{
enum {
  PACK_THREADS  = 256,
  PACK_ITEMS    = RBP_SEGMENT / PACK_THREADS, /* groups of a thread */
  LONG_GROUP    = 1 << 15,                    /* a bit of next[] that no position in a segment needs */
  SCRATCH_BLOCK = 200                         /* bytes a block, at most, beside its stream */
};
static_assert((int)RBP_SEGMENT < (int)LONG_GROUP, "positions in a segment and the bit LONG_GROUP share 16 bits");

/* What a segment of RBP_SEGMENT groups holds, or all segments up to and with one */
struct SegmentCount {
  int64_t blocks, long_groups, pieces;
};

struct AddCounts {
  __host__ __device__ SegmentCount operator()(const SegmentCount &a, const SegmentCount &b) const
  {
    return {a.blocks + b.blocks, a.long_groups + b.long_groups, a.pieces + b.pieces};
  }
};

struct Packing {
  const int32_t  *group_row; /* NULL: group g is row g */
  const uint32_t *group_unit;
  int64_t         groups;
  int             capacity;
};

__device__ inline int32_t row_of(const Packing &p, int64_t group) { return rbp_group_row(p.group_row, group); }

/* Nonzeros of one row of a group */
template <typename I>
__device__ inline int64_t row_length(const I *row_ptr, int32_t row)
{
  return (int64_t)(row_ptr[row + 1] - row_ptr[row]);
}

template <typename I>
__device__ inline int64_t pieces_of(const Packing &p, const I *row_ptr, int64_t group)
{
  return (row_length(row_ptr, row_of(p, group)) + p.capacity - 1) / p.capacity;
}

/* The blocks of a segment */
struct Chain {
  uint32_t unit[RBP_SEGMENT + 1];
  uint16_t next[RBP_SEGMENT];  /* first group behind the block that would begin here; LONG_GROUP and the next one where
                                  the  group is long */
  uint16_t entry[RBP_SEGMENT]; /* the first group of each block; LONG_GROUP and each long group */
  int      entries;
  int      long_groups;
};

/* Where a block ends that would begin with a group, for all groups of a segment. A search for the last one whose units
   fit; those of a thread's groups go side by side, for their loads to overlap. */
__device__ inline void find_ends(const Packing &p, int64_t first, int n, Chain &chain)
{
  int end[PACK_ITEMS];

#pragma unroll
  for (int j = 0; j < PACK_ITEMS; j++) {
    const int i = threadIdx.x + j * PACK_THREADS;
    if (i <= n) chain.unit[i] = p.group_unit[first + i];
    end[j] = i;
  }
  if (threadIdx.x == 0 && n == RBP_SEGMENT) chain.unit[n] = p.group_unit[first + n];
  __syncthreads();
  int step = RBP_SEGMENT; /* a block has at most `capacity` groups */
  while (step > p.capacity) step /= 2;
  for (; step; step /= 2)
#pragma unroll
    for (int j = 0; j < PACK_ITEMS; j++) {
      const int i = threadIdx.x + j * PACK_THREADS, tried = end[j] + step;
      if (tried <= n && tried - i <= p.capacity && chain.unit[tried] - chain.unit[i] <= (uint32_t)p.capacity)
        end[j] = tried;
    }
#pragma unroll
  for (int j = 0; j < PACK_ITEMS; j++) {
    const int i = threadIdx.x + j * PACK_THREADS;
    if (i < n) chain.next[i] = (uint16_t)(end[j] > i ? end[j] : (i + 1) | LONG_GROUP);
  }
  __syncthreads();
}

/* By one thread: nothing but the next position is waited for */
__device__ inline void walk_chain(int n, Chain &chain)
{
  int entries = 0, long_groups = 0;

  for (int g = 0; g < n; entries++) {
    const int next = chain.next[g];

    chain.entry[entries] = (uint16_t)(g | (next & LONG_GROUP));
    long_groups += next >= LONG_GROUP;
    g = next & (LONG_GROUP - 1);
  }
  chain.entries     = entries;
  chain.long_groups = long_groups;
}

/* The pieces of long group g, by all threads; at is where they go */
template <typename I>
__device__ void write_pieces(const Packing &p, const I *row_ptr, int64_t g, SegmentCount at, RbpBlock *blocks,
                             int64_t *block_group, RbpLongGroup *pieces)
{
  const int32_t row0 = row_of(p, g), rows = row_of(p, g + 1) - row0;
  const int64_t length = row_length(row_ptr, row0), count = pieces_of(p, row_ptr, g);

  if (threadIdx.x == 0) pieces[at.long_groups] = {row0, rows, (int32_t)at.pieces, (int32_t)count};
  for (int64_t i = threadIdx.x; i < count; i += PACK_THREADS) {
    RbpBlock b                 = {};
    b.csr0                     = (int64_t)row_ptr[row0] + i * p.capacity;
    b.row0                     = row0;
    b.groups                   = 1;
    b.rows                     = rows;
    b.slot                     = (int32_t)(at.pieces + i);
    b.row_length               = (int32_t)length;
    b.flags                    = RBP_BLOCK_PIECE;
    blocks[at.blocks + i]      = b;
    block_group[at.blocks + i] = g;
  }
}

/* row0, groups, csr0 and rows of one block */
template <typename I>
__device__ inline void write_block(const Packing &p, const I *row_ptr, int64_t group, int groups, int64_t block,
                                   RbpBlock *blocks, int64_t *block_group)
{
  const int32_t row0 = row_of(p, group);
  RbpBlock      b    = {};

  b.csr0             = row_ptr[row0];
  b.row0             = row0;
  b.groups           = groups;
  b.rows             = row_of(p, group + groups) - row0;
  blocks[block]      = b;
  block_group[block] = group;
}

/* Groups of each segment into blocks, one thread block a segment: their entries, from the place of the segment's first
   group on, and how many there are */
template <typename I>
__global__ void __launch_bounds__(PACK_THREADS)
    rbp_pack_groups(Packing p, const I *__restrict__ row_ptr, uint16_t *__restrict__ entries, SegmentCount *counts)
{
  __shared__ Chain              chain;
  __shared__ unsigned long long pieces;
  const int64_t                 first = blockIdx.x * (int64_t)RBP_SEGMENT;
  const int                     n     = (int)min((int64_t)RBP_SEGMENT, p.groups - first);

  find_ends(p, first, n, chain);
  if (threadIdx.x == 0) {
    walk_chain(n, chain);
    pieces = 0;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < chain.entries; i += PACK_THREADS) {
    const int group    = chain.entry[i] & (LONG_GROUP - 1);
    entries[first + i] = chain.entry[i];
    if (chain.entry[i] >= LONG_GROUP) atomicAdd(&pieces, (unsigned long long)pieces_of(p, row_ptr, first + group));
  }
  __syncthreads();
  if (threadIdx.x == 0)
    counts[blockIdx.x] = {chain.entries - chain.long_groups + (int64_t)pieces, chain.long_groups, (int64_t)pieces};
}

/* Blocks and pieces of each segment, one thread block a segment. sums: of the segments up to and with each. */
template <typename I>
__global__ void __launch_bounds__(PACK_THREADS)
    rbp_write_blocks(Packing             p, const I *__restrict__ row_ptr, const uint16_t *__restrict__ entries,
                     const SegmentCount *counts, const SegmentCount *sums, RbpBlock *__restrict__ blocks,
                     int64_t *__restrict__ block_group, RbpLongGroup *__restrict__ pieces)
{
  const int64_t      first = blockIdx.x * (int64_t)RBP_SEGMENT;
  const SegmentCount here  = counts[blockIdx.x];
  const int          count = (int)(here.blocks - here.pieces + here.long_groups); /* of entries */
  const auto         place = [&](int i) { return first + (entries[first + i] & (LONG_GROUP - 1)); };
  const auto         write = [&](int i, int64_t block) {
    const int64_t group = place(i), next = i + 1 < count ? place(i + 1) : min(first + RBP_SEGMENT, p.groups);
    write_block(p, row_ptr, group, (int)(next - group), block, blocks, block_group);
  };
  SegmentCount at = blockIdx.x ? sums[blockIdx.x - 1] : SegmentCount{0, 0, 0};

  if (here.long_groups == 0) {
    for (int i = threadIdx.x; i < count; i += PACK_THREADS) write(i, at.blocks + i);
    return;
  }
  for (int i = 0; i < count; i++) { /* one after the other */
    if (entries[first + i] < LONG_GROUP) {
      if (threadIdx.x == 0) write(i, at.blocks);
      at.blocks++;
      continue;
    }
    const int64_t n = pieces_of(p, row_ptr, place(i));
    write_pieces(p, row_ptr, place(i), at, blocks, block_group, pieces);
    at.blocks += n;
    at.pieces += n;
    at.long_groups++;
  }
}

template <typename I>
SpmvStatus make_blocks(RbpDeviceAnalysis *a, SpmvExec *exec)
{
  RbpDeviceShape *s        = &a->shape;
  const int64_t   segments = spmv_blocks(s->groups, RBP_SEGMENT);
  const Packing   p        = {a->group_row, a->group_unit, s->groups, s->capacity};
  const I        *row_ptr  = (const I *)a->pattern.row_ptr;
  uint16_t       *entries  = (uint16_t *)a->look; /* no longer read, and larger */
  SegmentCount   *counts, *sums, sum;

  SPMV_TRY(spmv_arena_array(&a->arena, segments, "segments", &counts, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, segments, "segments", &sums, exec));
  SPMV_LAUNCH(exec, rbp_pack_groups<I>, segments, PACK_THREADS, 0, p, row_ptr, entries, counts);
  SPMV_CUB(
      exec, &a->arena,
      cub::DeviceScan::InclusiveScan(scratch, bytes, counts, sums, AddCounts(), segments, (cudaStream_t)exec->stream));
  SPMV_TRY(spmv_fetch(&sum, sums + segments - 1, sizeof sum, exec));
  s->blocks      = sum.blocks;
  s->long_groups = sum.long_groups;
  s->pieces      = sum.pieces;
  if (sum.blocks > INT32_MAX)
    return spmv_fail(exec, SPMV_ERR_OVERFLOW, "rbp packed: %lld blocks", (long long)sum.blocks);
  a->arena.chunk_bytes = 8 * rbp_expected_room(a) + SCRATCH_BLOCK * s->blocks + (1 << 16); /* of all that follows */
  SPMV_TRY(spmv_arena_array(&a->arena, s->blocks, "blocks", &a->blocks, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, s->blocks, "block groups", &a->block_group, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, s->blocks, "prints", &a->prints, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, s->long_groups, "pieces", &a->pieces, exec));
  SPMV_LAUNCH(exec, rbp_write_blocks<I>, segments, PACK_THREADS, 0, p, row_ptr, entries, counts, sums, a->blocks,
              a->block_group, a->pieces);
  return SPMV_SUCCESS;
}

/* ---- places ---- */

/* A hash table with open addressing: for each fingerprint the smallest block that has it. An empty slot has all bits
   set. */
struct PrintTable {
  const RbpPrint     *prints; /* [blocks] */
  unsigned long long *key;    /* [slots] the lower half of the print */
  unsigned           *first;  /* [slots] */
  int64_t             slots;  /* a power of 2 */

  __device__ unsigned long long key_of(int64_t block) const
  {
    return prints[block].low == ~0ull ? 0 : (unsigned long long)prints[block].low;
  }
  __device__ int64_t slot_of(unsigned long long k) const { return (int64_t)(k & (unsigned long long)(slots - 1)); }

  /* The block whose stream serves */
  __device__ int64_t owner(int64_t block) const
  {
    const unsigned long long k    = key_of(block);
    int64_t                  slot = slot_of(k);

    while (key[slot] != k) slot = (slot + 1) & (slots - 1);
    const RbpPrint a = prints[block], b = prints[first[slot]];
    return a.low == b.low && a.high == b.high ? (int64_t)first[slot] : block;
  }
};

/* Of a block, or of all blocks up to and with one: values, words of their own, whether the stream is another's, and the
   room that a stream of its own still needs */
struct Places {
  int64_t values, words, shared, room;
};

struct AddPlaces {
  __host__ __device__ Places operator()(const Places &a, const Places &b) const
  {
    return {a.values + b.values, a.words + b.words, a.shared + b.shared, a.room + b.room};
  }
};

struct BlockPlaces {
  const RbpBlock   *blocks;
  const uint64_t  **stream;
  PrintTable        table;
  int               planes;
  __device__ Places operator()(int64_t b) const
  {
    const bool    own   = table.owner(b) == b;
    const int64_t words = own ? blocks[b].words : 0;
    return {(int64_t)blocks[b].stride * planes, words, own ? 0 : 1, stream[b] ? 0 : (words + 3) / 4};
  }
};

__global__ void rbp_insert_prints(PrintTable table, int64_t n)
{
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned long long key  = table.key_of(i);
  int64_t                  slot = table.slot_of(key);

  for (;; slot = (slot + 1) & (table.slots - 1)) {
    unsigned long long there = table.key[slot];
    if (there == ~0ull) there = atomicCAS(&table.key[slot], ~0ull, key);
    if (there == ~0ull || there == key) break;
  }
  if (table.first[slot] > (unsigned)i) atomicMin(&table.first[slot], (unsigned)i); /* most blocks find a smaller one */
}

__global__ void rbp_set_places(RbpBlock *blocks, const Places *sums, PrintTable table, int64_t n)
{
  const int64_t b = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (b >= n) return;
  const int64_t o    = table.owner(b);
  blocks[b].value0   = b ? sums[b - 1].values : 0;
  blocks[b].pattern0 = o ? sums[o - 1].words : 0;
  if (o != b) blocks[b].flags |= RBP_BLOCK_SHARED;
}

SpmvStatus make_table(RbpDeviceAnalysis *a, PrintTable *table, SpmvExec *exec)
{
  const int64_t n = a->shape.blocks;

  *table = {a->prints, nullptr, nullptr, 64};
  while (table->slots < 2 * n) table->slots *= 2;
  const int64_t bytes = table->slots * (int64_t)(sizeof *table->key + sizeof *table->first);
  SPMV_TRY(spmv_arena_alloc(&a->arena, bytes, "table of prints", (void **)&table->key, exec));
  table->first = (unsigned *)(table->key + table->slots);
  SPMV_CUDA(exec, cudaMemsetAsync(table->key, 0xff, (size_t)bytes, (cudaStream_t)exec->stream));
  SPMV_LAUNCH(exec, rbp_insert_prints, spmv_blocks(n, 256), 256, 0, *table, n);
  return SPMV_SUCCESS;
}
} // namespace

SpmvStatus rbp_make_blocks(RbpDeviceAnalysis *a, SpmvExec *exec)
{
  if (a->shape.groups == 0) return SPMV_SUCCESS;
  return a->pattern.index_type == SPMV_I64 ? make_blocks<int64_t>(a, exec) : make_blocks<int32_t>(a, exec);
}

SpmvStatus rbp_place_blocks(RbpDeviceAnalysis *a, SpmvExec *exec)
{
  RbpDeviceShape *s = &a->shape;
  const int64_t   n = s->blocks;
  PrintTable      table;
  Places         *sums, all;

  if (n == 0) return SPMV_SUCCESS;
  SPMV_TRY(spmv_arena_array(&a->arena, n, "places", &sums, exec));
  SPMV_TRY(make_table(a, &table, exec));
  const auto places = thrust::make_transform_iterator(
      thrust::counting_iterator<int64_t>(0), BlockPlaces{a->blocks, a->stream, table, s->group_rows * s->unit_columns});
  SPMV_CUB(exec, &a->arena,
           cub::DeviceScan::InclusiveScan(scratch, bytes, places, sums, AddPlaces(), n, (cudaStream_t)exec->stream));
  SPMV_LAUNCH(exec, rbp_set_places, spmv_blocks(n, 256), 256, 0, a->blocks, sums, table, n);
  SPMV_TRY(spmv_fetch(&all, sums + n - 1, sizeof all, exec));
  s->value_count   = all.values;
  s->pattern_words = all.words;
  s->shared_blocks = all.shared;
  s->padding       = s->value_count - a->pattern.nnz;
  return all.room ? rbp_describe_again(a, all.room, exec) : SPMV_SUCCESS;
}
