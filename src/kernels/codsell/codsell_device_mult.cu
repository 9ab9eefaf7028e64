/*
  codsell_device_mult.cu - the product on the device. A thread processes the row of a lane or, with `parts` threads per
  row, every parts-th step of the row; neighbouring threads process neighbouring lanes, so that reads of values and
  codes are contiguous (codsell_device_lane.cuh). The first thread blocks sum up the pieces of long rows, and a second
  kernel adds these sums to y.
*/
#include "device/long_rows.cuh"
#include "codsell_device_lane.cuh"
#include <cstring>

namespace
{
enum {
  BLOCKS_AHEAD = 1024 /* each block prefetches the slices of the block this many later; 330 to 2640 gave equal times */
};

/* Values have type V: S, or float for rounded values. OUT, SpmvSum<S> or SpmvSmooth<S>, receives the sums
   of rows. */
template <typename V, typename OUT>
struct Product {
  typedef typename OUT::Scalar S;
  CodsellShape                 shape;
  int                          log_parts;
  const V                     *values;
  const uint8_t               *codes;
  const CodsellSlice          *slices;
  const int32_t               *dictionary;
  const uint16_t              *order;
  const CodsellLong           *long_rows;
  const CodsellPiece          *pieces;
  const int32_t               *long_columns;
  const V                     *long_values;
  const S                     *x;
  S                           *work;
  OUT                          out;
};

/* log2 of the lanes per slice; C is that number, or 0 if it is known only at run time */
template <int C, typename V, typename OUT>
__device__ inline int log_lanes(const Product<V, OUT> &p)
{
  static_assert(C == 0 || C == 32, "the other numbers of lanes are known at run time");
  return C ? 5 : p.shape.log_c;
}

/* Loads the entry of a slice, which no other thread block reads */
__device__ inline CodsellSlice load_slice(const CodsellSlice *slice)
{
  static_assert(sizeof(CodsellSlice) == sizeof(int4), "a slice is not loaded at once");
  const int4   words = __ldcs((const int4 *)slice);
  CodsellSlice s;
  memcpy(&s, &words, sizeof s);
  return s;
}

/* The row in a slot, through order if the slice is permuted */
template <typename V, typename OUT>
__device__ inline int row_of_slot(const Product<V, OUT> &p, const CodsellSlice &at, int64_t slot)
{
  const int window = (int)p.shape.window, first = (int)slot / window * window;
  return at.permuted ? first + p.order[slot] : (int)slot;
}

/* The sum of this thread's part of its row */
template <typename S, int W, int C, typename V, typename OUT>
__device__ inline S sum_of_thread(const Product<V, OUT> &p, const CodsellSlice &at, int64_t slot, int row, int part)
{
  const int            log_c = log_lanes<C>(p), c = 1 << log_c, lane = (int)slot & (c - 1), width = (int)at.width;
  const int            kind  = (int)at.kind;
  const uint8_t       *codes = p.codes + at.code0;
  CodsellLane<S, V, C> mine;

  mine.values     = p.values + ((int64_t)at.column0 << log_c) + lane;
  mine.codes      = codes;
  mine.dictionary = p.dictionary;
  mine.x          = p.x;
  mine.column     = codsell_has_starts(kind) ? (int)slot - lane : row;
  mine.lane       = lane;
  mine.lanes      = c;
  mine.width      = width;
  mine.length     = width;
  mine.scale      = at.scaled ? W : 1;
  mine.first      = part;
  mine.step       = 1 << p.log_parts;
  if (at.ragged) mine.length = codsell_length(codes + codsell_offsets(kind, width, W, c, 1).lengths, width, lane);
  return codsell_sum_by_kind<S, V, W, C>(kind, mine);
}

template <typename V, typename OUT>
__device__ inline void sum_piece(Product<V, OUT> p, int64_t piece)
{
  typedef typename OUT::Scalar S;
  spmv_wait_for_previous(p.x, p.work);
  const CodsellPiece at    = p.pieces[piece];
  const int64_t      end   = p.long_rows[at.long_row + 1].first;
  const int64_t      begin = p.long_rows[at.long_row].first + (int64_t)at.number * CODSELL_PIECE + threadIdx.x;
  S                  sum   = S(0);
  V                  value[CODSELL_PIECE / CODSELL_PRODUCT_THREADS];
  int32_t            column[CODSELL_PIECE / CODSELL_PRODUCT_THREADS];

#pragma unroll
  for (int i = 0; i < CODSELL_PIECE / CODSELL_PRODUCT_THREADS; i++) {
    const int64_t k = begin + i * CODSELL_PRODUCT_THREADS;

    column[i] = 0;
    value[i]  = V(0);
    if (k >= end) continue;
    column[i] = __ldcs(p.long_columns + k);
    value[i]  = __ldcs(p.long_values + k);
  }
#pragma unroll
  for (int i = 0; i < CODSELL_PIECE / CODSELL_PRODUCT_THREADS; i++)
    if (begin + i * CODSELL_PRODUCT_THREADS < end) sum += (S)value[i] * __ldca(p.x + column[i]);
  sum = spmv_add_block<CODSELL_PRODUCT_THREADS>(sum);
  if (threadIdx.x == 0) p.work[piece] = sum;
}

template <typename V, int W, int C, typename OUT>
__global__ void __launch_bounds__(CODSELL_PRODUCT_THREADS, codsell_resident_blocks(W))
    codsell_product(const Product<V, OUT> p)
{
  typedef typename OUT::Scalar S;
  __shared__ S                 partial[CODSELL_PRODUCT_THREADS];
  const int                    log_c = log_lanes<C>(p), log_share = log_c + p.log_parts, c = 1 << log_c;
  const int64_t                piece = blockIdx.x, block = piece - p.shape.pieces;
  const int64_t                slice = block * (CODSELL_PRODUCT_THREADS >> log_share) + (threadIdx.x >> log_share);
  const int                    part  = (threadIdx.x >> log_c) & ((1 << p.log_parts) - 1);
  const int                    rows  = (int)p.shape.rows;
  int                          row   = rows;
  S                            sum   = S(0);
  OUT                          out   = p.out;

  spmv_let_next_begin();
  if (piece < p.shape.pieces) {
    sum_piece(p, piece);
    return;
  }
  if (slice < p.shape.slices) {
    const CodsellSlice at    = load_slice(p.slices + slice);
    const int64_t      later = slice + ((int64_t)BLOCKS_AHEAD * CODSELL_PRODUCT_THREADS >> log_share);
    if ((threadIdx.x & (c - 1)) == 0 && part == 0 && later < p.shape.slices) spmv_prefetch(p.slices + later);
    const int64_t slot = (slice << log_c) + (threadIdx.x & (c - 1));
    row                = row_of_slot(p, at, slot);
    if (row < rows) sum = sum_of_thread<S, W, C>(p, at, slot, row, part);
  }
  if (p.log_parts > 0) {
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int i = 1; part == 0 && i < 1 << p.log_parts; i++) sum += partial[threadIdx.x + i * c];
  }
  spmv_wait_for_previous(out.y); /* for threads without nonzeros, which have not waited */
  if (part == 0 && row < rows) out.put(row, sum);
}

/* The long rows by the numbers of their first pieces; other pieces have 0 rows */
struct LongRows {
  const CodsellLong            *long_rows;
  const CodsellPiece           *pieces;
  __device__ inline SpmvLongRow operator[](int64_t piece) const
  {
    const CodsellLong *row = long_rows + pieces[piece].long_row;

    if (pieces[piece].number > 0) return {};
    return {row->row, 1, (int32_t)piece, (int32_t)((row[1].first - row[0].first + CODSELL_PIECE - 1) / CODSELL_PIECE)};
  }
};
} // namespace

template <typename V, typename OUT>
SpmvStatus CodsellMultiply::run(const SpmvPlan *base, const V *const values[2], const void *x, const OUT &out,
                                void *work, SpmvExec *exec)
{
  typedef typename OUT::Scalar S;
  const CodsellPlan           *plan = (const CodsellPlan *)base;
  const CodsellShape          &s    = plan->shape;
  Product<V, OUT>              p    = {s,
                                       0,
                                       values[0],
                                       plan->codes,
                                       plan->slices,
                                       plan->dictionary,
                                       plan->order,
                                       plan->long_rows,
                                       plan->pieces,
                                       (const int32_t *)plan->long_columns,
                                       values[1],
                                       (const S *)x,
                                       (S *)work,
                                       out};

  while (1 << p.log_parts < s.parts) p.log_parts++;
  const int64_t blocks = s.pieces + spmv_blocks((s.slices << s.log_c) << p.log_parts, CODSELL_PRODUCT_THREADS);
  switch (s.word) {
#define CASE(W)                                                                                                        \
  case W:                                                                                                              \
    if (s.log_c == 5)                                                                                                  \
      SPMV_LAUNCH_OVERLAPPED(exec, (codsell_product<V, W, 32, OUT>), blocks, CODSELL_PRODUCT_THREADS, 0, p);           \
    else SPMV_LAUNCH_OVERLAPPED(exec, (codsell_product<V, W, 0, OUT>), blocks, CODSELL_PRODUCT_THREADS, 0, p);         \
    break;
    CODSELL_WORD_LIST(CASE)
#undef CASE
  }
  return spmv_add_long_rows<32, 1>(LongRows{plan->long_rows, plan->pieces}, s.pieces, (const S *)work,
                                   SpmvAdding<OUT>(out), exec);
}

template struct SpmvProducts<CodsellMultiply>;
