/*
  rbp_device_scan.cu - the pass over all columns of a device CSR for format packed. It finds the rows whose columns
  equal those of the row above, and the number of units of 2 and of 3 columns in each row.

  A thread block processes some consecutive rows. Their columns, contiguous in the CSR, are loaded into shared memory
  with many loads in flight, and reduced to one bit per nonzero that tells whether a run starts there. Units are counted
  from these bits, 64 nonzeros at a time.
*/
#include "device/tuning.h"
#include "device/vector.cuh"
#include "rbp_device_analyze.cuh"

namespace
{
enum {
  SCAN_THREADS = 256,
  SCAN_ROWS    = 1024,         /* maximum per block */
  SCAN_COLUMNS = RBP_LONG_ROW, /* per tile: every row that is not long fits */
  SCAN_AIM     = 7900          /* target for the columns of a block: nearly a full tile */
};

/* Consecutive rows and their columns */
struct Tile {
  int      column[SCAN_COLUMNS + 1];      /* column k at k + 1 */
  unsigned starts[SCAN_COLUMNS / 32 + 2]; /* bit k % 32 of word k / 32: column k does not follow column k-1 */
  uint16_t offset[SCAN_ROWS + 1];         /* first column of each row, at most SCAN_COLUMNS + 1 */
};

/* Loads the offsets of the rows first .. first + most; returns the number of rows that fit */
template <typename I>
__device__ inline int load_offsets(const I *row_ptr, int64_t first, int64_t begin, int most, Tile &tile)
{
  int fit = 0;

  for (int i0 = 0; i0 <= most; i0 += SCAN_THREADS) {
    const int i = i0 + threadIdx.x;
    const int n = i <= most ? (int)min((int64_t)row_ptr[first + i] - begin, (int64_t)SCAN_COLUMNS + 1) : 0;
    if (i <= most) tile.offset[i] = (uint16_t)n;
    fit += __syncthreads_count(i > 0 && i <= most && n <= SCAN_COLUMNS);
  }
  return fit;
}

/* Loads the columns, and marks the starts of runs. All loads of a thread are independent and issued before their first
   use. */
template <typename I>
__device__ inline void load_columns(const I *col, int n, Tile &tile)
{
  constexpr int LOADS = 64 / (int)sizeof(I);
  static_assert(SCAN_COLUMNS % (SCAN_THREADS * LOADS) == 0, "loads in whole rounds stay inside the tile");

  for (int k0 = 0; k0 < n; k0 += SCAN_THREADS * LOADS) {
    const I  *from = col + k0 + threadIdx.x;
    int      *to   = tile.column + k0 + threadIdx.x;
    const int left = n - k0 - (int)threadIdx.x;
    int       c[LOADS];
#pragma unroll
    for (int j = 0; j < LOADS; j++) c[j] = j * SCAN_THREADS < left ? (int)from[j * SCAN_THREADS] : 0;
#pragma unroll
    for (int j = 0; j < LOADS; j++) to[j * SCAN_THREADS + 1] = c[j];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
      const unsigned starts = __ballot_sync(0xffffffffu, to[j * SCAN_THREADS] + 1 != c[j]);
      if (threadIdx.x % 32 == 0) tile.starts[(k0 + j * SCAN_THREADS + threadIdx.x) / 32] = starts;
    }
  }
}

/* The 64 bits from bit k on */
__device__ inline uint64_t bits_from(const unsigned *words, int k)
{
  const unsigned *w    = words + k / 32;
  const uint64_t  low  = (uint64_t)w[1] << 32 | w[0];
  const int       skip = k % 32;
  return skip ? low >> skip | (uint64_t)w[2] << (64 - skip) : low;
}

/* Whether a row has the columns of the row above, which must lie in the tile, too; `lanes` threads share the
   comparison. Loads of several columns are in flight together. */
__device__ inline bool equals_above(const Tile &tile, int row, int lane, int lanes)
{
  constexpr int LOADS = 4;
  const int     begin = tile.offset[row], end = tile.offset[row + 1], length = end - begin;
  const int    *column = tile.column + 1;
  int           differ = 0;

  if (begin - tile.offset[row - 1] != length) return false;
  if (length && column[begin] != column[begin - length]) return false; /* most different rows differ here */
  for (int k = begin + lane; k < end && !differ; k += LOADS * lanes)
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
      const int at = min(k + j * lanes, end - 1);
      differ |= column[at] ^ column[at - length];
    }
  return !differ;
}

/* Summarizes the rows of a tile, each with 2^n threads, as many as the block has for it. same: whether the first row
   equals the row above it, which lies outside the tile. offset: position of the first row in its span. */
__device__ inline void summarize_rows(const Tile &tile, int rows, bool same, int offset, int span_rows,
                                      RbpRowSummary *summary)
{
  int lanes = 1;
  while (lanes < 32 && 2 * lanes * rows <= SCAN_THREADS) lanes *= 2;
  const int lane = threadIdx.x % lanes;

  for (int row0 = 0; row0 < rows; row0 += SCAN_THREADS / lanes) {
    const int  row    = row0 + threadIdx.x / lanes;
    const bool inside = row < rows;
    const int  begin = inside ? tile.offset[row] : 0, end = inside ? tile.offset[row + 1] : 0;
    int        n2 = 0, n3 = 0, differ = 0;

    if (inside) differ = row ? !equals_above(tile, row, lane, lanes) : !same;
    for (int k = begin + 64 * lane; k < end; k += 64 * lanes) {
      const uint64_t in_row   = end - k < 64 ? (1ull << (end - k)) - 1 : ~0ull;
      const uint64_t starts   = (bits_from(tile.starts, k) | (k == begin)) & in_row;
      const int      distance = starts & 1 ? 0 : rbp_distance_from_start(tile.starts, begin, k);
      n2 += __popcll(rbp_unit_firsts<2>(starts, in_row, distance));
      n3 += __popcll(rbp_unit_firsts<3>(starts, in_row, distance));
    }
    n2     = spmv_add_lanes(n2, lanes);
    n3     = spmv_add_lanes(n3, lanes);
    differ = spmv_add_lanes(differ, lanes);
    if (inside && lane == 0) summary[row] = rbp_row_summary(n2, n3, !differ && (offset + row) % span_rows);
  }
}

/* Scans rows that fit the tile; their offsets must be loaded. begin, above: CSR positions of the first row and of the
   row above it, -1 if there is none. offset, span_rows: see summarize_rows(). */
template <typename I>
__device__ inline void scan_tile(const I *col, int64_t begin, int64_t above, int rows, int offset, int span_rows,
                                 Tile &tile, RbpRowSummary *summary)
{
  const int  n = tile.offset[rows], length = tile.offset[1];
  const bool comparable = above >= 0 && begin - above == length;
  /* the row above the first row is not in the tile; its loads overlap those of the tile */
  const I neighbour = comparable && (int)threadIdx.x < length ? col[above + threadIdx.x] : I(0);

  load_columns(col + begin, n, tile);
  int differ = !comparable || ((int)threadIdx.x < length && tile.column[threadIdx.x + 1] != (int)neighbour);
  for (int k = threadIdx.x + SCAN_THREADS; k < length && !differ; k += SCAN_THREADS)
    differ = tile.column[k + 1] != (int)col[above + k];
  differ = __syncthreads_or(differ);
  summarize_rows(tile, rows, !differ, offset, span_rows, summary);
}

template <typename I>
__global__ void __launch_bounds__(SCAN_THREADS, spmv_resident_blocks(SCAN_THREADS, 6))
    rbp_scan_rows(const I *__restrict__ row_ptr, const I *__restrict__ col, int64_t rows, int block_rows, int span_rows,
                  RbpRowSummary *__restrict__ summary)
{
  __shared__ Tile tile;
  int64_t         first = (int64_t)blockIdx.x * block_rows;
  const int64_t   end   = min(first + block_rows, rows);

  while (first < end) {
    const int64_t begin = row_ptr[first], above = first ? (int64_t)row_ptr[first - 1] : -1;
    const int     fit = load_offsets(row_ptr, first, begin, (int)(end - first), tile);
    if (fit) scan_tile(col, begin, above, fit, (int)(first % span_rows), span_rows, tile, summary + first);
    else if (threadIdx.x == 0) summary[first] = RBP_SUMMARY_LONG;
    first += max(fit, 1);
    __syncthreads(); /* the tile is reused */
  }
}

template <typename I>
SpmvStatus scan(const SpmvPattern *p, int span_rows, RbpRowSummary *summary, SpmvExec *exec)
{
  const int64_t mean = p->nnz / p->rows + 1, most = SCAN_ROWS, filled = SCAN_AIM / mean, busy = SCAN_THREADS / mean;
  int64_t       rows = p->rows / SPMV_RBP_SCAN_GRID + 1;

  if (rows < busy) rows = busy; /* at least one column per thread */
  if (rows > filled) rows = filled < 1 ? 1 : filled;
  if (rows > most) rows = most;
  SPMV_LAUNCH(exec, rbp_scan_rows<I>, spmv_blocks(p->rows, rows), SCAN_THREADS, 0, (const I *)p->row_ptr,
              (const I *)p->col, p->rows, (int)rows, span_rows, summary);
  return SPMV_SUCCESS;
}

/* The number of rows of a span: small enough that each multiprocessor of a large device gets a span, large enough that
   the partly filled last block of a span does not matter. It is a multiple of all group heights. */
int rows_of_span(const SpmvPattern *p)
{
  constexpr int64_t STEP = 96, SPANS = 128, NONZEROS = 4096;
  const int64_t     shared = p->rows / SPANS, filled = p->nnz > 0 ? NONZEROS * p->rows / p->nnz : (int64_t)RBP_SPAN;
  const int64_t     wanted = spmv_blocks(shared > filled ? shared : filled, STEP) * STEP;

  return (int)(wanted < 4 * STEP ? 4 * STEP : wanted < RBP_SPAN ? wanted : (int64_t)RBP_SPAN);
}
} // namespace

SpmvStatus rbp_scan_pattern(RbpDeviceAnalysis *a, SpmvExec *exec)
{
  SPMV_TRY(spmv_arena_array(&a->arena, 1, "totals", &a->totals, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, a->pattern.rows, "row summaries", &a->summary, exec));
  SPMV_CUDA(exec, cudaMemsetAsync(a->totals, 0, sizeof *a->totals, (cudaStream_t)exec->stream));
  a->span_rows = rows_of_span(&a->pattern);
  a->spans     = spmv_blocks(a->pattern.rows, a->span_rows);
  if (a->pattern.rows == 0) return SPMV_SUCCESS;
  return a->pattern.index_type == SPMV_I64 ? scan<int64_t>(&a->pattern, a->span_rows, a->summary, exec)
                                           : scan<int32_t>(&a->pattern, a->span_rows, a->summary, exec);
}
