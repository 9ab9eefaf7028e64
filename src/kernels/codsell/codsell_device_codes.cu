/* codsell_device_codes.cu - makes all arrays of a plan on the device except the values: codes, windows, long columns,
   pieces. */
#include "codsell_device_tile.cuh"
#include "codsell_device_words.cuh"

namespace
{
/* A row of the CSR, for the threads that read it. Its positions are words or, in a slice without words, columns. */
template <typename I>
struct SourceRow {
  const I *col;
  int      positions, length; /* number of positions; nonzeros per position */
  int      origin;            /* column of start 0 */
  int      row, n, kind;
};

/* The codes of a row, for the thread that writes them */
struct TargetRow {
  uint8_t *starts, *ids;   /* of the slice */
  int      lane, c, width; /* width in positions */
  int      start_bytes, id_bytes, scaled;
};

struct CodeTiles {
  unsigned start[WARPS][TILE];
  uint16_t id[WARPS][TILE];
};

/* Reads the starts of the positions of a tile; 0 beyond the end of a row */
template <typename I>
__device__ inline void read_starts(const SourceRow<I> *rows, int k0, unsigned *tile)
{
  const int thread = threadIdx.x % 32, position = thread % POSITIONS;
  unsigned  start[POSITIONS];

#pragma unroll
  for (int i = 0; i < POSITIONS; i++) {
    const SourceRow<I> &r = rows[i * ROWS_AT_A_TIME + thread / POSITIONS];

    start[i] = k0 + position < r.positions ? (unsigned)((int)r.col[(k0 + position) * r.length] - r.origin) : 0;
  }
#pragma unroll
  for (int i = 0; i < POSITIONS; i++)
    tile[index_in_tile<int>(i * ROWS_AT_A_TIME + thread / POSITIONS, position)] = start[i];
}

/* The id of word w of a row; the word must be in the dictionary */
template <int W, typename I>
__device__ inline uint16_t id_of_word(const CodsellSource &a, const I *col, int n, int w, int row, int kind)
{
  const int starts = codsell_has_starts(kind);
  int32_t   offset[W];
  uint64_t  fingerprint[2];

  read_word(col, n, w, row, offset);
  codsell_fingerprints(offset, W, &fingerprint[0], &fingerprint[1]);
  return (uint16_t)id_of<W, false>(a, starts ? fingerprint[1] : fingerprint[0], offset, starts);
}

/* Reads the ids of the words of a tile; 0 beyond the end of a row */
template <int W, typename I>
__device__ inline void read_ids(const CodsellSource &a, const SourceRow<I> *rows, int k0, uint16_t *tile)
{
  const int thread = threadIdx.x % 32, position = thread % POSITIONS, w = k0 + position;

  for (int slot = thread / POSITIONS; slot < SLOTS; slot += ROWS_AT_A_TIME) {
    const SourceRow<I> &r = rows[slot];

    const bool inside                        = w < r.positions && codsell_id_bytes(r.kind);
    tile[index_in_tile<int>(slot, position)] = inside ? id_of_word<W>(a, r.col, r.n, w, r.row, r.kind) : (uint16_t)0;
  }
}

/* Writes the positions of a tile, divided by D, to the lane of this thread in its slice */
template <int D, typename T, typename Tile>
__device__ inline void write_positions(uint8_t *to, const TargetRow &r, int k0, const Tile *tile)
{
  T *lane = (T *)to + k0 * r.c + r.lane;

#pragma unroll
  for (int k = 0; k < POSITIONS; k++, lane += r.c)
    if (k0 + k < r.width) *lane = (T)(tile[index_in_tile<int>(threadIdx.x % 32, k)] / D);
}

template <int W>
__device__ inline void write_codes(const TargetRow &r, int k0, const unsigned *start, const uint16_t *id)
{
  if (r.start_bytes == 4) write_positions<1, uint32_t>(r.starts, r, k0, start);
  else if (r.scaled) write_positions<W, uint16_t>(r.starts, r, k0, start);
  else if (r.start_bytes == 2) write_positions<1, uint16_t>(r.starts, r, k0, start);
  if (r.id_bytes == 1) write_positions<1, uint8_t>(r.ids, r, k0, id);
  else if (r.id_bytes == 2) write_positions<1, uint16_t>(r.ids, r, k0, id);
}

/* Writes the base, lengths and padding of a slice, which do not depend on positions; called by the thread of each
   row */
__device__ inline void write_ends(uint8_t *to, const CodsellSlice &at, int lengths, int lane, int n, int base)
{
  if (lane == 0 && codsell_has_starts((int)at.kind)) *(int32_t *)to = base;
  if (at.ragged && at.width > 255) ((uint16_t *)(to + lengths))[lane] = (uint16_t)n;
  else if (at.ragged) to[lengths + lane] = (uint8_t)n;
}

/* Writes the shared ids of slices, for the slices of a thread block, from a row as long as its slice is wide */
template <int W, typename I>
__device__ inline void write_shared_ids(const CodsellSource &a, int64_t slice0, int log_slices, const CodsellSlice *all,
                                        const CodsellFound *found, const I *row_ptr, const I *col, uint8_t *codes)
{
  const int64_t slice = slice0 + (threadIdx.x & ((1 << log_slices) - 1));

  if (slice >= a.slices) return;
  const CodsellSlice at   = all[slice];
  const int          kind = (int)at.kind, width = (int)at.width;
  if (width == 0 || kind >= CODSELL_COLUMNS16 || codsell_id_bytes(kind)) return;
  const CodsellOffsets offsets = codsell_offsets(kind, width, W, 1 << a.log_c, (int)at.ragged);
  const int            row = found[slice].row, n = codsell_words(width, W);
  uint8_t             *to  = codes + at.code0;
  uint16_t            *ids = (uint16_t *)(to + offsets.ids);
  for (int w = threadIdx.x >> log_slices; w < n; w += CODSELL_THREADS >> log_slices)
    ids[w] = id_of_word<W>(a, col + row_ptr[row], width, w, row, kind);
  if (threadIdx.x >> log_slices == 0 && n % 2)
    *(uint16_t *)(to + offsets.end - 2) = 0; /* padding that aligns the next slice */
}

/* Writes the codes of the slices. 1 << log_parts warps share 32 slots. Codes per row go through tiles, shared ids do
   not. */
template <int W, typename I>
__global__ void __launch_bounds__(CODSELL_THREADS, spmv_resident_blocks(CODSELL_THREADS, 5))
    codsell_codes(const CodsellSource a, int log_parts, const CodsellSlice *__restrict__ slices,
                  const CodsellFound *__restrict__ found, const I *__restrict__ row_ptr, const I *__restrict__ col,
                  uint8_t *codes)
{
  __shared__ SourceRow<I> all_rows[CODSELL_THREADS];
  __shared__ CodeTiles    tiles;
  const int               warp = threadIdx.x / 32, part = warp & ((1 << log_parts) - 1), c = 1 << a.log_c;
  const int64_t           slot0 = (int64_t)blockIdx.x << (CODSELL_LOG_THREADS - log_parts);
  const int64_t           slot = slot0 + (warp >> log_parts) * 32 + threadIdx.x % 32, slice = slot >> a.log_c;
  CodsellSlice            at = {};

  write_shared_ids<W>(a, slot0 >> a.log_c, CODSELL_LOG_THREADS - log_parts - a.log_c, slices, found, row_ptr, col,
                      codes);
  if (slice < a.slices) at = slices[slice];
  const int  kind = (int)at.kind, width = (int)at.width, length = kind >= CODSELL_COLUMNS16 ? 1 : W;
  const int  start_bytes = codsell_start_bytes(kind), id_bytes = codsell_id_bytes(kind);
  const bool by_row = start_bytes || id_bytes, used = by_row || at.ragged;
  if (!__any_sync(0xffffffffu, used)) return;
  const int     n = used ? a.length[slot] : 0, row = n > 0 ? codsell_row_in_slot(a.order, a.window, (int)slot) : 0;
  const int     base = start_bytes ? found[slice].base : 0, lane = (int)slot & (c - 1);
  SourceRow<I> *rows           = all_rows + warp * 32;
  const CodsellOffsets offsets = codsell_offsets(kind, width, W, c, (int)at.ragged);
  uint8_t             *to      = codes + at.code0;

  if (used && part == 0) write_ends(to, at, offsets.lengths, lane, n, base);
  rows[threadIdx.x % 32] = {col + (n > 0 ? row_ptr[row] : 0),
                            by_row ? codsell_words(n, length) : 0,
                            length,
                            base + (int)slot - lane,
                            row,
                            n,
                            kind};
  const TargetRow target = {
      to + offsets.starts, to + offsets.ids, lane,          c, by_row ? codsell_words(width, length) : 0,
      start_bytes,         id_bytes,         (int)at.scaled};
  for (int k0 = part * POSITIONS; __any_sync(0xffffffffu, k0 < target.width); k0 += POSITIONS << log_parts) {
    __syncwarp();
    read_starts(rows, k0, tiles.start[warp]);
    if (__any_sync(0xffffffffu, target.id_bytes)) read_ids<W>(a, rows, k0, tiles.id[warp]);
    __syncwarp();
    write_codes<W>(target, k0, tiles.start[warp], tiles.id[warp]);
  }
}

/* Writes the windows, one thread per window, and the long columns, one thread block per piece */
template <typename I>
__global__ void __launch_bounds__(CODSELL_THREADS)
    codsell_rest(int64_t windows, int64_t window, const I *row_ptr, const I *col, const CodsellLong *long_rows,
                 const CodsellPiece *pieces, int64_t piece_count, int64_t *window_start, int32_t *long_columns)
{
  const int64_t w = blockIdx.x * (int64_t)CODSELL_THREADS + threadIdx.x;

  if (w < windows) window_start[w] = row_ptr[w * window];
  if (blockIdx.x >= piece_count) return;
  const CodsellPiece piece = pieces[blockIdx.x];
  const CodsellLong *row   = long_rows + piece.long_row;
  const int64_t      begin = (int64_t)piece.number * CODSELL_PIECE, from = row_ptr[row->row];
  const int64_t      end = min(begin + CODSELL_PIECE, row[1].first - row[0].first);
  for (int64_t k = begin + threadIdx.x; k < end; k += CODSELL_THREADS)
    long_columns[row->first + k] = (int32_t)col[from + k];
}

__global__ void codsell_list_pieces(const SpmvNumbers<2> *before, int64_t long_rows, CodsellPiece *pieces)
{
  for (int64_t i = blockIdx.x; i < long_rows; i += gridDim.x) {
    const int64_t begin = before[i].of[1], end = before[i + 1].of[1];
    for (int64_t p = begin + threadIdx.x; p < end; p += blockDim.x) pieces[p] = {(int32_t)i, (int32_t)(p - begin)};
  }
}

template <int W, typename I>
SpmvStatus write_slices(const CodsellDeviceAnalysis *a, const SpmvPattern *p, CodsellPlan *plan, SpmvExec *exec)
{
  const int64_t slices = a->shape.slices, slots = slices << a->shape.log_c;
  const int     log_parts =
      tile_log_parts(slices > 0 ? a->shape.columns / slices / W : 0, 2); /* 64 slots are whole slices for every C */

  SPMV_LAUNCH(exec, (codsell_codes<W, I>), spmv_blocks(slots, CODSELL_THREADS >> log_parts), CODSELL_THREADS, 0,
              codsell_source(a), log_parts, plan->slices, a->found, (const I *)p->row_ptr, (const I *)p->col,
              plan->codes);
  return SPMV_SUCCESS;
}

template <typename I>
SpmvStatus write_codes(const CodsellDeviceAnalysis *a, const SpmvPattern *p, CodsellPlan *plan, SpmvExec *exec)
{
  const CodsellShape *s      = &a->shape;
  const int64_t       blocks = spmv_blocks(s->windows, CODSELL_THREADS);

  switch (s->word) {
#define WORD(n)                                                                                                        \
  case n:                                                                                                              \
    SPMV_TRY((write_slices<n, I>(a, p, plan, exec)));                                                                  \
    break;
    CODSELL_WORD_LIST(WORD)
#undef WORD
  }
  SPMV_LAUNCH(exec, codsell_rest<I>, blocks > s->pieces ? blocks : s->pieces, CODSELL_THREADS, 0, s->windows, s->window,
              (const I *)p->row_ptr, (const I *)p->col, plan->long_rows, plan->pieces, s->pieces, plan->windows,
              (int32_t *)plan->long_columns);
  return SPMV_SUCCESS;
}

} // namespace

SpmvStatus codsell_device_codes(const CodsellDeviceAnalysis *a, const SpmvPattern *p, CodsellPlan *plan, SpmvExec *exec)
{
  const int64_t n = a->shape.long_rows;

  SPMV_LAUNCH(exec, codsell_list_pieces, n < 65536 ? n : 65536, 128, 0, a->before, n, plan->pieces);
  return p->index_type == SPMV_I64 ? write_codes<int64_t>(a, p, plan, exec) : write_codes<int32_t>(a, p, plan, exec);
}
