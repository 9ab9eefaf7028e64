/*
  rbp_device_analyze.cuh - the steps of the analysis of format packed on the device, in their order:

    rbp_scan_pattern     rows -> which equal the row above, and their units for U = 2, 3        (rbp_device_scan.cu)
    rbp_choose_variant   -> G, U and capacity by predicted bytes                                 (rbp_device_rows.cu)
    rbp_make_blocks      -> first row and first unit of each group, groups and pieces of blocks  (rbp_device_blocks.cu)
    rbp_describe_blocks  -> base, width, flags, stream and 128-bit fingerprint of each block     (rbp_device_streams.cu)
    rbp_position_blocks  -> which blocks share a stream, where values and streams lie    (rbp_device_positions.cu)

  and rbp_copy_streams, by which the build takes them over (rbp_device_streams.cu). Everything is enqueued on
  exec->stream; the host waits for sizes twice, and once more where the number of blocks cannot be bounded well.

  A launch costs as much time as a small matrix' work, so there are few: rows are looked at in spans, each by one thread
  block from rows to blocks of groups, and no group lies in two spans.
*/
#ifndef SPMV_RBP_DEVICE_ANALYZE_CUH
#define SPMV_RBP_DEVICE_ANALYZE_CUH

#include "../device/running_sums.cuh"
#include "../device/upload.cuh"
#include "rbp_device_packed.cuh"

enum {
  RBP_MAX_G    = 3,
  RBP_MAX_U    = 3,
  RBP_LONG_ROW = 8192, /* nonzeros; a longer row is never compared or searched for runs, only cut */
  RBP_SPAN     = 3072  /* rows of a span, at most */
};

/* Nonzeros. One allocation more, or one more question of the host, costs a smaller matrix as much as all its kernels.
 */
static constexpr int64_t RBP_FEW_NONZEROS = 1 << 24;

/* What is known of a row: bits 0 .. 13 its units of 2 columns, 14 .. 27 those of 3 columns, 28 whether it has the
   columns of the row above and lies in its span. The units of a long row are its nonzeros. */
typedef uint32_t RbpRowSummary;
enum : uint32_t { RBP_SUMMARY_LONG = 0x0fffffff };

__device__ inline RbpRowSummary rbp_row_summary(int units2, int units3, bool same)
{
  return (RbpRowSummary)units2 | (RbpRowSummary)units3 << 14 | (RbpRowSummary)same << 28;
}

__device__ inline bool rbp_is_same(RbpRowSummary summary) { return summary >> 28; }

/* Units of U columns */
__device__ inline int64_t rbp_row_units(RbpRowSummary summary, int64_t length, int U)
{
  return U == 1 || summary == RBP_SUMMARY_LONG ? length : (int64_t)((U == 2 ? summary : summary >> 14) & 0x3fff);
}

/* A fingerprint of a stream: equal streams have equal prints; 128 bits make an accidental match of different ones
   (n^2 / 2^129 for n streams) less likely than a memory error */
typedef struct {
  uint64_t low, high;
} RbpPrint;

/* A hash table with open addressing: for each fingerprint the smallest block that has it. An empty slot has all bits
   set. */
typedef struct {
  unsigned long long *key;   /* [slots] the lower half of the print */
  unsigned           *first; /* [slots] */
  int64_t             slots; /* a power of 2 */
} RbpPrintTable;

/* What thread blocks count together; zero at first */
typedef struct {
  unsigned long long count[RBP_MAX_G][RBP_MAX_U + 1]; /* for at most G rows per group: groups, and units of U columns */
  unsigned long long longest;                         /* nonzeros of a row */
  unsigned long long buffer_used;                     /* by all that asked for some; may be more than there is */
  unsigned           arrived[2];                      /* see spmv_sum_up() */
} RbpTotals;

/* Of a span, or of all spans up to and with one */
enum { RBP_SPAN_BLOCKS, RBP_SPAN_LONG, RBP_SPAN_PIECES, RBP_SPAN_GROUPS, RBP_SPAN_NUMBERS }; /* LONG: long groups */
typedef SpmvNumbers<RBP_SPAN_NUMBERS> RbpSpanSums;

/* Of a block, or of all blocks up to and with one: values, words of its own, whether the stream is another's, and the
   space that a stream of its own still needs in the buffer */
enum { RBP_POSITION_VALUES, RBP_POSITION_WORDS, RBP_POSITION_SHARED, RBP_POSITION_BUFFER, RBP_POSITION_NUMBERS };
typedef SpmvNumbers<RBP_POSITION_NUMBERS> RbpPositions;

/* Sums over blocks in two steps */
enum { RBP_TILE = 256 /* blocks */ };
typedef struct {
  RbpPositions *in_tile; /* [blocks] up to and with each block, from the first of its tile on */
  RbpPositions *tiles;   /* [tiles] up to and with each tile */
  int32_t      *owner;   /* [blocks] the block whose stream serves */
} RbpPositionSums;

/* One of the numbers of all blocks before one */
__device__ inline int64_t rbp_position_before(const RbpPositionSums &sums, int64_t block, int number)
{
  const int64_t tile = block / RBP_TILE;
  return (block % RBP_TILE ? sums.in_tile[block - 1].of[number] : 0) + (tile ? sums.tiles[tile - 1].of[number] : 0);
}

/* What the host asks for at last */
typedef struct {
  RbpSpanSums  spans;
  RbpPositions positions;
} RbpSizes;

__device__ inline unsigned long long rbp_print_key(const RbpPrint &print) { return print.low == ~0ull ? 0 : print.low; }

/* The slot where the search for a key begins */
__device__ inline int64_t rbp_print_slot(const RbpPrintTable &table, unsigned long long key)
{
  return (int64_t)(key & (unsigned long long)(table.slots - 1));
}

/* The data of an analysis: what build needs. All arrays are in device memory, in the arena. blocks: of the shape, or a
   bound. */
typedef struct {
  SpmvArena      arena;
  RbpDeviceShape shape;
  SpmvPattern    pattern;   /* the caller's arrays, or an upload */
  int            span_rows; /* of a span; a multiple of every G, for groups of G rows to fill it */
  int64_t        spans, blocks_most;
  RbpTotals     *totals;
  RbpRowSummary *summary; /* [rows] */
  /* A span has span_rows + 1 entries for its groups; behind the last one there is one entry more */
  int32_t  *group_row;          /* first row; NULL when every group is one row */
  uint32_t *group_unit;         /* first unit in the span, where a group that is too long for a block counts as one unit
                                   more than fits there */
  RbpSpanSums     *span_sums;   /* [spans] */
  int64_t         *block_group; /* [blocks] entry of its first group */
  RbpBlock        *blocks;      /* [blocks] */
  RbpLongGroup    *pieces;      /* [long_groups] */
  RbpPrint        *prints;      /* [blocks] */
  RbpPrintTable    table;
  uint64_t        *buffer; /* [buffer_size] holds streams in any order, 4 words each */
  int64_t          buffer_size;
  const uint64_t **stream; /* [blocks] where it is; NULL if the buffer is full */
  RbpPositionSums  positions;
  RbpSizes        *sizes;
} RbpDeviceAnalysis;

/* Blocks that there are; known once the spans are packed */
__device__ inline int64_t rbp_block_count(const RbpDeviceAnalysis &a)
{
  return a.span_sums[a.spans - 1].of[RBP_SPAN_BLOCKS];
}

/* Adds 64 bits at a position; the order of the calls does not matter */
__device__ inline void rbp_print_add(RbpPrint *print, int position, uint64_t bits)
{
  const uint64_t z = spmv_mix((uint64_t)position * 0x9e3779b97f4a7c15ull + bits + 1);

  print->low += z;
  print->high += (z ^ z >> 29) * 0xd6e8feb86659fd93ull;
}

/* ---- runs, as bits: bit k % 32 of word k / 32 tells that a run starts at column k ---- */

/* Columns from the start of the run that holds column k - 1 to column k, where a run starts at column `begin` < k */
__device__ inline int rbp_distance_from_start(const unsigned *starts, int begin, int k)
{
  int      w    = (k - 1) / 32;
  unsigned bits = starts[w] << (31 - (k - 1) % 32) >> (31 - (k - 1) % 32);

  while (!bits && 32 * w > begin) bits = starts[--w];
  return k - max(begin, bits ? 32 * w + 31 - __clz((int)bits) : begin);
}

/* Which of 64 columns begin units of U columns: run starts, and each U columns on while the run goes on. inside: the
   columns that are there; distance: of the first one from the start of its run. */
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
/* Room for all streams, in units of 4 words, enough but for wide blocks */
int64_t    rbp_expected_buffer(const RbpDeviceAnalysis *);
SpmvStatus rbp_describe_blocks(RbpDeviceAnalysis *, SpmvExec *);
SpmvStatus rbp_position_blocks(RbpDeviceAnalysis *, SpmvExec *);
/* Room for more streams, for those that found none */
SpmvStatus rbp_describe_again(RbpDeviceAnalysis *, int64_t buffer_size, SpmvExec *);
/* Blocks and streams to the plan */
SpmvStatus rbp_copy_streams(const RbpDeviceAnalysis *, RbpBlock *blocks, uint16_t *pattern, SpmvExec *);

#endif
