/*
  rbp_device_blocks.cu - groups into blocks for format packed: consecutive groups fill a block up to its capacity, a
  group that is longer is cut into pieces; then every block gets the place of its values and of its stream.
*/
#include "rbp_device_analyze.cuh"
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <vector>

namespace
{
enum { PACK_THREADS = 256 };

/* What a segment of RBP_SEGMENT groups holds; the write pass reads exclusive sums over the segments before it */
struct SegmentCount {
  int64_t blocks, long_groups, pieces;
};

struct Packing {
  const int32_t *group_row;
  const int64_t *group_unit;
  int64_t        groups;
  int            capacity;
};

/* Nonzeros of one row of a group */
template <typename I>
__device__ inline int64_t row_length(const I *row_ptr, int32_t row)
{
  return (int64_t)(row_ptr[row + 1] - row_ptr[row]);
}

/* Where the blocks of a segment begin, found by one thread: next[g] is where a block that begins with group g ends, or
   g itself when the group is long */
struct Chain {
  uint16_t group[RBP_SEGMENT];
  int      block[RBP_SEGMENT]; /* of the segment, counting every piece */
  int      entries;
};

template <typename I>
__device__ SegmentCount walk_chain(const Packing &p, const I *row_ptr, int64_t first, int n, const uint16_t *next,
                                   Chain *chain)
{
  SegmentCount count = {0, 0, 0};

  chain->entries = 0;
  for (int g = 0; g < n;) {
    chain->group[chain->entries]   = (uint16_t)g;
    chain->block[chain->entries++] = (int)count.blocks;
    if (next[g] > g) {
      count.blocks++;
      g = next[g];
      continue;
    }
    const int64_t pieces = (row_length(row_ptr, p.group_row[first + g]) + p.capacity - 1) / p.capacity;
    count.blocks += pieces;
    count.pieces += pieces;
    count.long_groups++;
    g++;
  }
  return count;
}

/* The pieces of long group g, by all threads; at is where they go */
template <typename I>
__device__ void write_pieces(const Packing &p, const I *row_ptr, int64_t g, SegmentCount at, RbpBlock *blocks,
                             int64_t *block_group, RbpLongGroup *pieces)
{
  const int32_t row0 = p.group_row[g], rows = p.group_row[g + 1] - row0;
  const int64_t length = row_length(row_ptr, row0), count = (length + p.capacity - 1) / p.capacity;

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

/* One thread block a segment. write == 0 counts into segments; write == 1 reads there what lies before the segment and
   fills row0, groups, csr0 and rows of its blocks. */
template <typename I>
__global__ void __launch_bounds__(PACK_THREADS)
    rbp_pack_groups(Packing p, const I *__restrict__ row_ptr, int write, SegmentCount *__restrict__ segments,
                    RbpBlock *__restrict__ blocks, int64_t *__restrict__ block_group, RbpLongGroup *__restrict__ pieces)
{
  __shared__ int64_t  unit[RBP_SEGMENT + 1];
  __shared__ uint16_t next[RBP_SEGMENT];
  __shared__ Chain    chain;
  const int64_t       first = blockIdx.x * (int64_t)RBP_SEGMENT;
  const int           n     = (int)min((int64_t)RBP_SEGMENT, p.groups - first);

  for (int i = threadIdx.x; i <= n; i += PACK_THREADS) unit[i] = p.group_unit[first + i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += PACK_THREADS) {
    int low = i, high = min(n, i + p.capacity) + 1; /* units of groups i .. low-1 fit, those of i .. high-1 do not */
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      if (unit[middle] - unit[i] <= p.capacity) low = middle;
      else high = middle;
    }
    next[i] = (uint16_t)low;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const SegmentCount count = walk_chain(p, row_ptr, first, n, next, &chain);
    if (!write) segments[blockIdx.x] = count;
  }
  __syncthreads();
  if (!write) return;
  SegmentCount at = segments[blockIdx.x];
  for (int i = threadIdx.x; i < chain.entries; i += PACK_THREADS) {
    const int begin = chain.group[i], end = next[begin];
    if (end == begin) continue;
    const int64_t block = at.blocks + chain.block[i];
    const int32_t row0  = p.group_row[first + begin];
    RbpBlock      b     = {};
    b.csr0              = row_ptr[row0];
    b.row0              = row0;
    b.groups            = end - begin;
    b.rows              = p.group_row[first + end] - row0;
    blocks[block]       = b;
    block_group[block]  = first + begin;
  }
  for (int i = 0; i < chain.entries; i++) { /* long groups one after the other */
    const int begin = chain.group[i];
    if (next[begin] != begin) continue;
    write_pieces(p, row_ptr, first + begin, {at.blocks + chain.block[i], at.long_groups, at.pieces}, blocks,
                 block_group, pieces);
    at.pieces += (row_length(row_ptr, p.group_row[first + begin]) + p.capacity - 1) / p.capacity;
    at.long_groups++;
  }
}

template <typename I>
SpmvStatus make_blocks(RbpDeviceAnalysis *a, SpmvExec *exec)
{
  RbpDeviceShape           *s        = &a->shape;
  const int64_t             segments = spmv_blocks(s->groups, RBP_SEGMENT);
  const Packing             p        = {a->group_row, a->group_unit, s->groups, s->capacity};
  const I                  *row_ptr  = (const I *)a->pattern.row_ptr;
  SegmentCount             *counts;
  std::vector<SegmentCount> host((size_t)segments);
  SegmentCount              sum   = {0, 0, 0};
  const int64_t             bytes = segments * (int64_t)sizeof(SegmentCount);

  SPMV_TRY(spmv_arena_array(&a->arena, segments, "segments", &counts, exec));
  SPMV_LAUNCH(exec, rbp_pack_groups<I>, segments, PACK_THREADS, 0, p, row_ptr, 0, counts, nullptr, nullptr, nullptr);
  SPMV_TRY(rbp_fetch(host.data(), counts, bytes, exec));
  for (SegmentCount &c : host) {
    const SegmentCount before = sum;
    sum.blocks += c.blocks;
    sum.long_groups += c.long_groups;
    sum.pieces += c.pieces;
    c = before;
  }
  s->blocks      = sum.blocks;
  s->long_groups = sum.long_groups;
  s->pieces      = sum.pieces;
  if (sum.blocks > INT32_MAX)
    return spmv_fail(exec, SPMV_ERR_OVERFLOW, "rbp packed: %lld blocks", (long long)sum.blocks);
  SPMV_TRY(spmv_arena_array(&a->arena, s->blocks, "blocks", &a->blocks, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, s->blocks, "block groups", &a->block_group, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, s->long_groups, "pieces", &a->pieces, exec));
  SPMV_TRY(spmv_copy(counts, SPMV_DEVICE, host.data(), SPMV_HOST, bytes, exec));
  SPMV_LAUNCH(exec, rbp_pack_groups<I>, segments, PACK_THREADS, 0, p, row_ptr, 1, counts, a->blocks, a->block_group,
              a->pieces);
  return spmv_stream_wait(exec); /* host leaves scope */
}

/* ---- places ---- */

struct BlockValues {
  const RbpBlock    *blocks;
  int64_t            count;
  int                planes;
  __device__ int64_t operator()(int64_t b) const { return b < count ? (int64_t)blocks[b].stride * planes : 0; }
};

struct OwnedWords {
  const RbpBlock    *blocks;
  const int32_t     *owner; /* [blocks] the block whose stream serves */
  int64_t            count;
  __device__ int64_t operator()(int64_t i) const { return i < count && owner[i] == i ? blocks[i].words : 0; }
};

struct Larger {
  __device__ int32_t operator()(int32_t a, int32_t b) const { return a > b ? a : b; }
};

/* Position i of the sorted order begins a set of equal streams */
struct SetStart {
  const RbpPrint    *prints;
  const int32_t     *order;
  __device__ int32_t operator()(int64_t i) const
  {
    if (i == 0) return 0;
    const RbpPrint a = prints[order[i - 1]], b = prints[order[i]];
    return a.low == b.low && a.high == b.high ? 0 : (int32_t)i;
  }
};

__global__ void rbp_low_prints(const RbpPrint *prints, uint64_t *low, int32_t *order, int64_t n)
{
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i >= n) return;
  low[i]   = prints[i].low;
  order[i] = (int32_t)i;
}

/* The sort is stable, so the first of a set is its smallest block */
__global__ void rbp_find_owners(const int32_t *order, const int32_t *set_start, int32_t *owner, int64_t n)
{
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) owner[order[i]] = order[set_start[i]];
}

__global__ void rbp_set_places(RbpBlock *blocks, const int64_t *value0, const int64_t *word0, const int32_t *owner,
                               int64_t n)
{
  const int64_t b = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (b >= n) return;
  blocks[b].value0   = value0[b];
  blocks[b].pattern0 = word0[owner[b]];
  if (owner[b] != b) blocks[b].flags |= RBP_BLOCK_SHARED;
}

SpmvStatus find_owners(RbpDeviceAnalysis *a, const RbpPrint *prints, int32_t *owner, SpmvExec *exec)
{
  const int64_t n = a->shape.blocks;
  uint64_t     *keys, *sorted_keys;
  int32_t      *order, *sorted_order;

  SPMV_TRY(spmv_arena_array(&a->arena, n, "prints", &keys, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, n, "prints", &sorted_keys, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, n, "order", &order, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, n, "order", &sorted_order, exec));
  SPMV_LAUNCH(exec, rbp_low_prints, spmv_blocks(n, 256), 256, 0, prints, keys, order, n);
  SPMV_CUB(exec, &a->arena,
           cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, sorted_keys, order, sorted_order, n, 0, 64,
                                           (cudaStream_t)exec->stream));
  const auto input =
      thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), SetStart{prints, sorted_order});
  SPMV_CUB(exec, &a->arena,
           cub::DeviceScan::InclusiveScan(scratch, bytes, input, order, Larger(), n, (cudaStream_t)exec->stream));
  SPMV_LAUNCH(exec, rbp_find_owners, spmv_blocks(n, 256), 256, 0, sorted_order, order, owner, n);
  return SPMV_SUCCESS;
}

} // namespace

SpmvStatus rbp_make_blocks(RbpDeviceAnalysis *a, SpmvExec *exec)
{
  if (a->shape.groups == 0) return SPMV_SUCCESS;
  return a->pattern.index_type == SPMV_I64 ? make_blocks<int64_t>(a, exec) : make_blocks<int32_t>(a, exec);
}

SpmvStatus rbp_place_blocks(RbpDeviceAnalysis *a, const RbpPrint *prints, SpmvExec *exec)
{
  RbpDeviceShape *s = &a->shape;
  const int64_t   n = s->blocks;
  int32_t        *owner;
  int64_t        *value0, *word0;

  if (n == 0) return SPMV_SUCCESS;
  SPMV_TRY(spmv_arena_array(&a->arena, n, "owners", &owner, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, n + 1, "value places", &value0, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, n + 1, "stream places", &word0, exec));
  SPMV_TRY(find_owners(a, prints, owner, exec));
  const auto values = thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0),
                                                      BlockValues{a->blocks, n, s->group_rows * s->unit_columns});
  SPMV_CUB(exec, &a->arena,
           cub::DeviceScan::ExclusiveSum(scratch, bytes, values, value0, n + 1, (cudaStream_t)exec->stream));
  const auto words =
      thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), OwnedWords{a->blocks, owner, n});
  SPMV_CUB(exec, &a->arena,
           cub::DeviceScan::ExclusiveSum(scratch, bytes, words, word0, n + 1, (cudaStream_t)exec->stream));
  SPMV_LAUNCH(exec, rbp_set_places, spmv_blocks(n, 256), 256, 0, a->blocks, value0, word0, owner, n);
  SPMV_TRY(spmv_copy(&s->value_count, SPMV_HOST, value0 + n, SPMV_DEVICE, 8, exec));
  SPMV_TRY(rbp_fetch(&s->pattern_words, word0 + n, 8, exec));
  s->padding = s->value_count - a->pattern.nnz;
  return SPMV_SUCCESS;
}
