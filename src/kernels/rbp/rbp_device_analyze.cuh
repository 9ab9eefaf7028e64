/*
  rbp_device_analyze.cuh - the steps of the analysis of format packed on the device, in order:

    rbp_scan_pattern     rows equal to the row above, and units of each row for U = 2, 3    (rbp_device_scan.cu)
    rbp_choose_variant   G, U and capacity, by predicted bytes                              (rbp_device_rows.cu)
    rbp_make_blocks      first row and first unit of each group, groups and pieces of blocks (rbp_device_blocks.cu)
    rbp_describe_blocks  base, width, flags, encoding and 128-bit fingerprint of each block (rbp_device_encodings.cu)
    rbp_position_blocks  shared encodings, offsets of values and encodings                  (rbp_device_positions.cu)

  and rbp_copy_encodings, by which the build copies the encodings to the plan (rbp_device_encodings.cu). Everything is
  enqueued on exec->stream; the host waits for sizes twice, and a third time if the number of blocks has no good bound.

  For a small matrix a launch takes as long as its work, so there are few launches. Rows are analyzed in spans: one
  thread block makes the groups and blocks of a span, and groups do not cross spans.
*/
#pragma once

#include "device/running_sums.cuh"
#include "device/upload.cuh"
#include "rbp_device_packed.cuh"

enum {
  RBP_MAX_G    = 3,
  RBP_MAX_U    = 3,
  RBP_LONG_ROW = 8192, /* nonzeros; longer rows are only cut into pieces, never compared or searched for runs */
  RBP_SPAN     = 3072  /* rows of a span, at most */
};

/* Matrices with fewer nonzeros count as small: an additional allocation or wait of the host takes as long as all
   kernels of the analysis. */
static constexpr int64_t RBP_FEW_NONZEROS = 1 << 24;

/* The result of the scan for a row: bits 0 .. 13 its units of 2 columns, 14 .. 27 its units of 3 columns, 28 whether it
   has the columns of the row above, in the same span. The units of a long row are its nonzeros. */
typedef uint32_t RbpRowSummary;
enum : uint32_t { RBP_SUMMARY_LONG = 0x0fffffff };

__device__ inline RbpRowSummary rbp_row_summary(int units2, int units3, bool same)
{
  return (RbpRowSummary)units2 | (RbpRowSummary)units3 << 14 | (RbpRowSummary)same << 28;
}

__device__ inline bool rbp_is_same(RbpRowSummary summary) { return summary >> 28; }

/* The number of units of U columns of a row */
__device__ inline int64_t rbp_row_units(RbpRowSummary summary, int64_t length, int U)
{
  return U == 1 || summary == RBP_SUMMARY_LONG ? length : (int64_t)((U == 2 ? summary : summary >> 14) & 0x3fff);
}

/* The fingerprint of an encoding. Equal encodings have equal fingerprints. Among n different encodings two have the
   same fingerprint with probability n^2 / 2^129, which is less likely than a memory error. */
typedef struct {
  uint64_t low, high;
} RbpFingerprint;

/* A hash table with open addressing: maps each fingerprint to its smallest block. An empty slot has all bits set. */
typedef struct {
  unsigned long long *key;   /* [slots] the lower half of the fingerprint */
  unsigned           *first; /* [slots] */
  int64_t             slots; /* a power of 2 */
} RbpFingerprintTable;

/* Counters, initially zero, to which all thread blocks add */
typedef struct {
  unsigned long long count[RBP_MAX_G][RBP_MAX_U + 1]; /* for at most G rows per group: groups, and units of U columns */
  unsigned long long longest;                         /* nonzeros of a row */
  unsigned long long buffer_used;                     /* sum of all requests, which may exceed buffer_size */
  unsigned           arrived[2];                      /* see spmv_sum_up() */
} RbpTotals;

/* Counts of one span, or their running sums over the spans */
enum { RBP_SPAN_BLOCKS, RBP_SPAN_LONG, RBP_SPAN_PIECES, RBP_SPAN_GROUPS, RBP_SPAN_NUMBERS }; /* LONG: long groups */
typedef SpmvNumbers<RBP_SPAN_NUMBERS> RbpSpanSums;

/* Numbers of one block, or their running sums over the blocks: values; words of its encoding if not shared; 1 if it
   shares the encoding of another block; words of its encoding that still need space in the buffer */
enum { RBP_POSITION_VALUES, RBP_POSITION_WORDS, RBP_POSITION_SHARED, RBP_POSITION_BUFFER, RBP_POSITION_NUMBERS };
typedef SpmvNumbers<RBP_POSITION_NUMBERS> RbpPositions;

/* Sums over blocks in two steps */
enum { RBP_TILE = 256 /* blocks */ };
typedef struct {
  RbpPositions *in_tile; /* [blocks] running sums from the first block of a tile on */
  RbpPositions *tiles;   /* [tiles] running sums over the tiles */
  int32_t      *owner;   /* [blocks] the block whose encoding is used */
} RbpPositionSums;

/* The sum of one of these numbers over all blocks before `block` */
__device__ inline int64_t rbp_position_before(const RbpPositionSums &sums, int64_t block, int number)
{
  const int64_t tile = block / RBP_TILE;
  return (block % RBP_TILE ? sums.in_tile[block - 1].of[number] : 0) + (tile ? sums.tiles[tile - 1].of[number] : 0);
}

/* The sizes that the host fetches at the end of the analysis */
typedef struct {
  RbpSpanSums  spans;
  RbpPositions positions;
} RbpSizes;

__device__ inline unsigned long long rbp_fingerprint_key(const RbpFingerprint &fingerprint)
{
  return fingerprint.low == ~0ull ? 0 : fingerprint.low;
}

/* The slot where the search for a key begins */
__device__ inline int64_t rbp_fingerprint_slot(const RbpFingerprintTable &table, unsigned long long key)
{
  return (int64_t)(key & (unsigned long long)(table.slots - 1));
}

/* The data of an analysis, for build. All arrays are in device memory, in the arena. The array length `blocks` is the
   number of blocks in shape, or a bound. */
typedef struct {
  SpmvArena      arena;
  RbpDeviceShape shape;
  SpmvPattern    pattern;   /* the caller's arrays, or an upload */
  int            span_rows; /* per span; a multiple of every G, so that groups of G rows fill a span */
  int64_t        spans, blocks_most;
  RbpTotals     *totals;
  RbpRowSummary *summary; /* [rows] */
  /* Each span has span_rows + 1 entries: one per group, and one after its last group, which gives the end */
  int32_t *group_row; /* first row; NULL if every group has one row */
  /* First unit, counted within the span; a group too long for a block counts as capacity + 1 units */
  uint32_t           *group_unit;
  RbpSpanSums        *span_sums;    /* [spans] */
  int64_t            *block_group;  /* [blocks] entry of its first group */
  RbpBlock           *blocks;       /* [blocks] */
  SpmvLongRow        *pieces;       /* [long_groups] */
  RbpFingerprint     *fingerprints; /* [blocks] */
  RbpFingerprintTable table;
  uint64_t           *buffer; /* [buffer_size] encodings in any order, 4 words per entry */
  int64_t             buffer_size;
  const uint64_t    **encoding; /* [blocks] address of each encoding; NULL if the buffer was full */
  RbpPositionSums     positions;
  RbpSizes           *sizes;
} RbpDeviceAnalysis;

/* The number of blocks; valid once the spans are packed */
__device__ inline int64_t rbp_block_count(const RbpDeviceAnalysis &a)
{
  return a.span_sums[a.spans - 1].of[RBP_SPAN_BLOCKS];
}

/* Adds 64 bits of an encoding at a position; calls may come in any order */
__device__ inline void rbp_fingerprint_add(RbpFingerprint *fingerprint, int position, uint64_t bits)
{
  const uint64_t z = spmv_mix((uint64_t)position * 0x9e3779b97f4a7c15ull + bits + 1);

  fingerprint->low += z;
  fingerprint->high += (z ^ z >> 29) * 0xd6e8feb86659fd93ull;
}

/* ---- runs as bits: bit k % 32 of word k / 32 is set if a run starts at column k ---- */

/* The distance of column k from the start of the run that contains column k - 1; a run starts at column `begin` < k */
__device__ inline int rbp_distance_from_start(const unsigned *starts, int begin, int k)
{
  int      w    = (k - 1) / 32;
  unsigned bits = starts[w] << (31 - (k - 1) % 32) >> (31 - (k - 1) % 32);

  while (!bits && 32 * w > begin) bits = starts[--w];
  return k - max(begin, bits ? 32 * w + 31 - __clz((int)bits) : begin);
}

/* The columns, among 64, at which units of U columns begin: run starts, and every U-th column of a run. inside: mask of
   valid columns; distance: of the first column from the start of its run. */
template <int U>
__device__ inline uint64_t rbp_unit_firsts(uint64_t starts, uint64_t inside, int distance)
{
  uint64_t blocked = starts | ~inside, ahead = starts & inside;

  if (!(starts & 1)) { /* the first of the run from before */
    const int skip = (U - distance % U) % U;
    if (!(starts & ((2ull << skip) - 1))) ahead |= inside & 1ull << skip;
  }
#pragma unroll
  for (int u = 1; u < U; u++) blocked |= starts << u;
  uint64_t firsts = ahead;
  while ((ahead = ahead << U & ~blocked) != 0) firsts |= ahead;
  return firsts;
}

SpmvStatus rbp_scan_pattern(RbpDeviceAnalysis *, SpmvExec *);
SpmvStatus rbp_choose_variant(RbpDeviceAnalysis *, SpmvScalar, int64_t min_run, SpmvExec *);
SpmvStatus rbp_make_blocks(RbpDeviceAnalysis *, SpmvExec *);
/* Space for all encodings if no block is wide, in units of 4 words */
int64_t    rbp_expected_buffer(const RbpDeviceAnalysis *);
SpmvStatus rbp_describe_blocks(RbpDeviceAnalysis *, SpmvExec *);
SpmvStatus rbp_position_blocks(RbpDeviceAnalysis *, SpmvExec *);
/* Makes the encodings that did not fit the buffer again, in a new buffer */
SpmvStatus rbp_describe_again(RbpDeviceAnalysis *, int64_t buffer_size, SpmvExec *);
/* Copies blocks and encodings to the plan */
SpmvStatus rbp_copy_encodings(const RbpDeviceAnalysis *, RbpBlock *blocks, uint16_t *pattern, SpmvExec *);
