/*
  rbp_device_encodings.cu - makes the encoding of each block of format packed in shared memory, to describe the block
  and to compute its fingerprint. Encodings are buffered in any order until shared encodings and offsets are known.
*/
#include "rbp_device_walk.cuh"
#include <cub/block/block_reduce.cuh>

namespace
{
enum {
  LANES_UNITS = 16, /* maximum units that one thread adds up in the longest row of a block */
  UNSCALED    = 128 /* an additional flag: the distances of the starts are not all multiples of U */
};

struct Join {
  __device__ Common operator()(const Common &a, const Common &b) const
  {
    return {min(a.min, b.min), max(a.max, b.max), a.flags | b.flags, max(a.longest, b.longest)};
  }
};

struct AddFingerprints {
  __device__ RbpFingerprint operator()(const RbpFingerprint &a, const RbpFingerprint &b) const
  {
    return {a.low + b.low, a.high + b.high};
  }
};

/* Reduces the units of this thread into c */
template <int G, int U, int P>
__device__ inline void reduce_units(const int (&start)[P], int units, const Units<G, U, P> &u, Common &c)
{
#pragma unroll
  for (int i = 0; i < P; i++) {
    const int unit = threadIdx.x + i * RBP_THREADS;
    if (unit >= units) break;
    c.min = min(c.min, start[i]);
    c.max = max(c.max, start[i]);
    if (U > 1 && u.length[unit] != U) c.flags |= RBP_BLOCK_RAGGED;
    if (U > 1 && (unsigned)abs(start[i] - u.start[0]) % U) c.flags |= UNSCALED;
  }
}

/* Whether the starts, base .. base + span, lie in few enough segments; writes the table of segments if so. Called by
   all threads. */
template <int G, int U, int P>
__device__ bool find_segments(const int (&start)[P], int units, int base, int span, unsigned *table, Units<G, U, P> &u)
{
  int before, count;

  if (span >> RBP_SEGMENT_BITS >= 32 * RBP_THREADS) return false;
  u.segment[threadIdx.x] = 0;
  if (threadIdx.x < RBP_SEGMENTS) table[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < P; i++) {
    if ((int)threadIdx.x + i * RBP_THREADS >= units) break;
    const int      w   = (start[i] - base) >> RBP_SEGMENT_BITS;
    const unsigned bit = 1u << w % 32;
    if (!(u.segment[w / 32] & bit))
      atomicOr(&u.segment[w / 32], bit); /* most bits are already set, so few atomics
                                                                          run */
  }
  __syncthreads();
  Scan(u.temp).ExclusiveSum(__popc(u.segment[threadIdx.x]), before, count);
  u.segments_before[threadIdx.x] = (uint16_t)before;
  if (count > RBP_SEGMENTS) return false;
  for (unsigned bits = u.segment[threadIdx.x]; bits; bits &= bits - 1)
    table[before++] = (32 * threadIdx.x + __ffs((int)bits) - 1) << RBP_SEGMENT_BITS;
  __syncthreads();
  return true;
}

template <int G, int U, int P>
__device__ inline uint16_t segmented_start(const Units<G, U, P> &u, int offset)
{
  const int w  = offset >> RBP_SEGMENT_BITS;
  const int id = u.segments_before[w / 32] + __popc(u.segment[w / 32] & ((1u << w % 32) - 1));
  return (uint16_t)(id << RBP_SEGMENT_BITS | (offset & ((1 << RBP_SEGMENT_BITS) - 1)));
}

/* Writes the encoding after its head, padded to a multiple of 4 words */
template <int G, int U, int P>
__device__ inline void encode(const RbpBlock &b, const int (&start)[P], Units<G, U, P> &u)
{
  const int starts = rbp_starts_offset(b.groups, b.flags), lengths = rbp_lengths_offset(b.groups, b.units, b.flags);
  const int head = (b.groups + 1) * (b.flags & RBP_BLOCK_UNEVEN ? 2 : 1);
  const int end  = lengths + (b.flags & RBP_BLOCK_RAGGED ? b.units : 0) + (int)threadIdx.x;
  uint16_t *word = words_of(u);

#pragma unroll
  for (int i = 0; i < P; i++) {
    const int unit = threadIdx.x + i * RBP_THREADS, offset = start[i] - b.base;
    if (unit >= b.units) break;
    if (b.flags & RBP_BLOCK_WIDE) ((unsigned *)(word + starts))[unit] = (unsigned)offset;
    else if (b.flags & RBP_BLOCK_SEGMENTED) word[starts + unit] = segmented_start(u, offset);
    else word[starts + unit] = (uint16_t)(b.scale == 1 ? offset : offset / U);
    if (b.flags & RBP_BLOCK_RAGGED) word[lengths + unit] = (uint16_t)u.length[unit];
  }
  if (threadIdx.x == 0 && head % 2) word[head] = 0;
  if (threadIdx.x < 4 && end < (b.words + 3) / 4 * 4) word[end] = 0;
}

/* Sets base, units, stride, scale, lanes, flags and words of a block from the reductions. The threads of a product that
   have no unit read U entries of x from the base on, so these must exist. U is at most cols: larger units would only
   cost bytes. */
template <int G, int U, int P>
__device__ inline void describe(const Common &c, int cols, const int (&start)[P], RbpBlock &b, Units<G, U, P> &u)
{
  b.base   = b.units ? min(c.min, cols - U) : 0;
  b.scale  = (uint16_t)(c.flags & UNSCALED || (c.min - b.base) % U ? 1 : U);
  b.stride = (b.units + RBP_ALIGN - 1) / RBP_ALIGN * RBP_ALIGN;
  b.flags  = (uint8_t)((b.flags & RBP_BLOCK_PIECE) | (c.flags & ~UNSCALED));
  b.lanes  = 1;
  while (b.lanes < 32 && c.longest > b.lanes * LANES_UNITS) b.lanes *= 2;
  if (b.units && (c.max - b.base) / (b.scale == 1 ? 1 : U) > 65535) {
    unsigned *table = (unsigned *)(words_of(u) + rbp_starts_offset(b.groups, b.flags));
    b.scale         = 1;
    b.flags |= find_segments(start, b.units, b.base, c.max - b.base, table, u) ? RBP_BLOCK_SEGMENTED : RBP_BLOCK_WIDE;
  }
  b.words = rbp_pattern_words(b.groups, b.units, b.flags);
}

/* Stores the description of a block; returns the address of its encoding in the buffer, or NULL if the buffer is full.
   Called by one thread. */
__device__ inline uint64_t *keep(const RbpDeviceAnalysis &a, int64_t block, const RbpBlock &b)
{
  const int64_t quads = (b.words + 3) / 4, at = (int64_t)atomicAdd(&a.totals->buffer_used, (unsigned long long)quads);
  uint64_t     *to_encoding = at + quads <= a.buffer_size ? a.buffer + at : nullptr;
  RbpBlock     &to          = a.blocks[block];

  a.encoding[block] = to_encoding;
  to.base           = b.base;
  to.stride         = b.stride;
  to.units          = b.units;
  to.scale          = b.scale;
  to.lanes          = b.lanes;
  to.flags          = b.flags;
  to.words          = b.words;
  return to_encoding;
}

/* Copies the encoding to `to`, unless that is NULL. Returns its fingerprint, which is valid in thread 0 only. */
template <int G, int U, int P>
__device__ inline RbpFingerprint store(const RbpBlock &b, const Units<G, U, P> &u, uint64_t *to)
{
  typedef cub::BlockReduce<RbpFingerprint, RBP_THREADS> Reduce;
  __shared__ typename Reduce::TempStorage               temp;
  RbpFingerprint                                        fingerprint = {0, 0};

  if (threadIdx.x == 0)
    rbp_fingerprint_add(&fingerprint, -1, (uint64_t)b.groups << 32 | (uint64_t)b.units << 8 | b.flags);
#pragma unroll 1
  for (int i = threadIdx.x; i < (b.words + 3) / 4; i += RBP_THREADS) {
    rbp_fingerprint_add(&fingerprint, i, u.encoding[i]);
    if (to) to[i] = u.encoding[i];
  }
  return Reduce(temp).Reduce(fingerprint, AddFingerprints());
}

/* Stores the fingerprint of a block, and enters it with the smallest block into the table. Called by one thread. */
__device__ inline void insert_fingerprint(const RbpDeviceAnalysis &a, int64_t block, const RbpFingerprint &fingerprint)
{
  const RbpFingerprintTable &table = a.table;
  const unsigned long long   key   = rbp_fingerprint_key(fingerprint);
  int64_t                    slot  = rbp_fingerprint_slot(table, key);

  a.fingerprints[block] = fingerprint;
  for (;; slot = (slot + 1) & (table.slots - 1)) {
    unsigned long long there = table.key[slot];
    if (there == ~0ull) there = atomicCAS(&table.key[slot], ~0ull, key);
    if (there == ~0ull || there == key) break;
  }
  if (table.first[slot] > (unsigned)block)
    atomicMin(&table.first[slot], (unsigned)block); /* for most blocks a smaller block is already there */
}

/* again: makes only encodings that are needed and did not fit the first buffer */
template <typename I, int G, int U, int P>
__global__ void __launch_bounds__(RBP_THREADS, spmv_resident_blocks(RBP_THREADS, 16))
    rbp_describe(RbpDeviceAnalysis a, const I *__restrict__ row_ptr, const I *__restrict__ col, bool again)
{
  typedef cub::BlockReduce<Common, RBP_THREADS> Reduce;
  __shared__ Units<G, U, P>               u;
  __shared__ typename Reduce::TempStorage temp;
  __shared__ Common                       common;
  __shared__ uint64_t                    *to_encoding;
  const int64_t                           block = blockIdx.x;
  Common                                  c     = {INT_MAX, 0, 0, 0};
  int                                     start[P];

  if (block >= rbp_block_count(a)) return;
  if (again && (a.positions.owner[block] != block || a.encoding[block])) return;
  RbpBlock b = a.blocks[block];
  b.units    = walk_block(b, a, row_ptr, col, a.block_group[block], u, start, c);
  reduce_units(start, b.units, u, c);
  c = Reduce(temp).Reduce(c, Join());
  if (threadIdx.x == 0) common = c;
  __syncthreads();
  describe(common, (int)a.pattern.cols, start, b, u);
  if (threadIdx.x == 0) to_encoding = keep(a, block, b);
  encode(b, start, u);
  __syncthreads();
  const RbpFingerprint fingerprint = store(b, u, to_encoding);
  if (threadIdx.x == 0 && !again) insert_fingerprint(a, block, fingerprint);
}

struct Describe {
  RbpDeviceAnalysis *a;
  bool               again;
  SpmvExec          *exec;

  template <typename S, int G, int U, int P>
  SpmvStatus run() const
  {
    SPMV_LAUNCH(exec, (rbp_describe<S, G, U, P>), a->blocks_most, RBP_THREADS, 0, *a, (const S *)a->pattern.row_ptr,
                (const S *)a->pattern.col, again);
    return SPMV_SUCCESS;
  }
};

/* Copies the blocks and their encodings to the plan, one thread block per block. The loads of a thread are in flight
   together. */
__global__ void __launch_bounds__(RBP_THREADS) rbp_copy(RbpDeviceAnalysis a, RbpBlock *blocks, uint16_t *pattern)
{
  constexpr int   LOADS = 4;
  const int64_t   block = blockIdx.x, owner = a.positions.owner[block];
  RbpBlock        b    = a.blocks[block];
  const unsigned *from = (const unsigned *)a.encoding[block];
  b.value0             = rbp_position_before(a.positions, block, RBP_POSITION_VALUES);
  b.pattern0           = rbp_position_before(a.positions, owner, RBP_POSITION_WORDS);
  unsigned *to         = (unsigned *)(pattern + b.pattern0); /* encodings have even positions and lengths */

  if (owner != block) b.flags |= RBP_BLOCK_SHARED;
  if (threadIdx.x == 0) blocks[block] = b;
  if (owner != block) return;
  for (int i0 = threadIdx.x; i0 < b.words / 2; i0 += LOADS * RBP_THREADS) {
    unsigned pair[LOADS];
#pragma unroll
    for (int j = 0; j < LOADS; j++) pair[j] = i0 + j * RBP_THREADS < b.words / 2 ? from[i0 + j * RBP_THREADS] : 0;
#pragma unroll
    for (int j = 0; j < LOADS; j++)
      if (i0 + j * RBP_THREADS < b.words / 2) to[i0 + j * RBP_THREADS] = pair[j];
  }
}

SpmvStatus describe_into(RbpDeviceAnalysis *a, int64_t buffer_size, bool again, SpmvExec *exec)
{
  a->buffer_size = buffer_size;
  SPMV_TRY(spmv_arena_array(&a->arena, buffer_size, "encodings", &a->buffer, exec));
  return a->pattern.index_type == SPMV_I64 ? rbp_with_shape<int64_t>(a->shape, Describe{a, again, exec}, exec)
                                           : rbp_with_shape<int32_t>(a->shape, Describe{a, again, exec}, exec);
}
} // namespace

int64_t rbp_expected_buffer(const RbpDeviceAnalysis *a)
{
  const RbpDeviceShape *s        = &a->shape;
  const int64_t         heads    = s->groups + 2 * a->blocks_most; /* pieces have heads, too */
  const int             segments = a->pattern.cols > 65536 ? 2 * RBP_SEGMENTS : 0;

  return (heads * (s->group_rows > 1 ? 2 : 1) + s->units * (s->unit_columns > 1 ? 2 : 1) +
          a->blocks_most * (segments + 6)) /
         4;
}

SpmvStatus rbp_describe_blocks(RbpDeviceAnalysis *a, SpmvExec *exec)
{
  const int64_t       n     = a->blocks_most;
  RbpFingerprintTable table = {NULL, NULL, 64};

  if (n == 0) return SPMV_SUCCESS;
  while (table.slots < 2 * n) table.slots *= 2;
  const int64_t bytes = table.slots * (int64_t)(sizeof *table.key + sizeof *table.first);
  SPMV_TRY(spmv_arena_alloc(&a->arena, bytes, "table of fingerprints", (void **)&table.key, exec));
  table.first = (unsigned *)(table.key + table.slots);
  a->table    = table;
  SPMV_CUDA(exec, cudaMemsetAsync(table.key, 0xff, (size_t)bytes, (cudaStream_t)exec->stream));
  SPMV_TRY(spmv_arena_array(&a->arena, n, "fingerprints", &a->fingerprints, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, n, "encodings", &a->encoding, exec));
  return describe_into(a, rbp_expected_buffer(a), false, exec);
}

SpmvStatus rbp_describe_again(RbpDeviceAnalysis *a, int64_t buffer_size, SpmvExec *exec)
{
  a->arena.chunk_bytes = 0; /* exactly this allocation */
  SPMV_CUDA(exec,
            cudaMemsetAsync(&a->totals->buffer_used, 0, sizeof a->totals->buffer_used, (cudaStream_t)exec->stream));
  return describe_into(a, buffer_size, true, exec);
}

SpmvStatus rbp_copy_encodings(const RbpDeviceAnalysis *a, RbpBlock *blocks, uint16_t *pattern, SpmvExec *exec)
{
  SPMV_LAUNCH(exec, rbp_copy, a->shape.blocks, RBP_THREADS, 0, *a, blocks, pattern);
  return SPMV_SUCCESS;
}
