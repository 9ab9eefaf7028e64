/*
  codsell_device_mult.cu - the product on the device. A thread takes the row of a lane, or with `parts` threads a row
  every parts-th step of it; neighbouring threads take neighbouring lanes, so that values and codes are read as they
  lie. A step is some words; the loads of a step are issued before the first of its multiplications, and those of the
  next step's codes too. The first thread blocks sum up the pieces of long rows, which a second kernel adds to y.
*/
#include "../device/vector.cuh"
#include "codsell_device.cuh"

namespace
{
template <typename S>
struct Product {
  CodsellShape        shape;
  int                 log_parts;
  const S            *values;
  const uint8_t      *codes;
  const CodsellSlice *slices;
  const int32_t      *dictionary;
  const uint16_t     *order;
  const CodsellLong  *long_rows;
  const CodsellPiece *pieces;
  const int32_t      *long_columns;
  const S            *long_values, *x;
  S                  *y, *work;
  S                   alpha, beta;
};

/* Where a thread finds what it needs of its lane */
template <typename S>
struct Lane {
  const S       *values; /* of its lane */
  const uint8_t *starts, *ids;
  const int32_t *dictionary;
  const S       *x;       /* at column 0 of the lane: of its row, or of the base of the slice */
  int            lane, c; /* lanes of the slice */
  int            length;  /* nonzeros of the row */
  int            width, words;
  int            scale;       /* columns that a start counts */
  int            first, step; /* words or nonzeros: where to begin, and how far to the next */
};

/* Offsets of a word, by loads of 16 bytes where the words of the dictionary lie so */
template <int W>
__device__ inline void load_word(const int32_t *word, int32_t (&offset)[W])
{
  if (W == 1) offset[0] = __ldg(word);
  else if (W == 2) {
    const int2 a          = __ldg((const int2 *)word);
    offset[0]             = a.x;
    offset[W > 1 ? 1 : 0] = a.y;
  } else {
    int4 part[2];
    part[0] = __ldg((const int4 *)word);
    part[1] = W > 4 ? __ldg((const int4 *)word + 1) : part[0];
#pragma unroll
    for (int j = 0; j < W; j++) {
      const int4 p = part[j / 4];
      offset[j]    = j % 4 == 0 ? p.x : j % 4 == 1 ? p.y : j % 4 == 2 ? p.z : p.w;
    }
  }
}

/* The codes of K words, not looked at yet. START: bytes of a start, 0 for none; ID: bytes of an id of one row, 0 where
   all rows share it, -1 for none. */
template <int K, int START, int ID>
struct Codes {
  int32_t start[K], id[K];

  template <typename S>
  __device__ inline void load(const Lane<S> &at, int w0)
  {
#pragma unroll
    for (int i = 0; i < K; i++) {
      const int w = w0 + i, entry = w * at.c + at.lane;

      start[i] = id[i] = 0;
      if (w >= at.words) continue;
      if (START == 2) start[i] = __ldcs((const uint16_t *)at.starts + entry);
      if (START == 4) start[i] = __ldcs((const int32_t *)at.starts + entry);
      if (ID == 0) id[i] = __ldg((const uint16_t *)at.ids + w);
      if (ID == 1) id[i] = __ldcs(at.ids + entry);
      if (ID == 2) id[i] = __ldcs((const uint16_t *)at.ids + entry);
    }
  }
};

/* The sum of the lane's part of its row: K words of W positions a step */
template <typename S, int W, int K, int START, int ID>
__device__ inline S sum_lane(const Lane<S> &at)
{
  const int           stride = W <= 2 ? W : W <= 4 ? 4 : 8;
  S                   sum    = S(0);
  Codes<K, START, ID> codes, next;

  next.load(at, at.first * K);
  for (int w0 = at.first * K; w0 < at.words; w0 += at.step * K) {
    S       value[K * W], gathered[K * W];
    int32_t column[K][W];

    codes = next;
#pragma unroll
    for (int k = 0; k < K * W; k++) {
      value[k] = S(0);
      if (w0 * W + k < at.length) value[k] = __ldcs(at.values + (int64_t)(w0 * W + k) * at.c);
    }
#pragma unroll
    for (int i = 0; i < K; i++) {
#pragma unroll
      for (int j = 0; j < W; j++) column[i][j] = 0;
      if (ID >= 0 && w0 + i < at.words) load_word<W>(at.dictionary + codes.id[i] * stride, column[i]);
    }
#pragma unroll
    for (int k = 0; k < K * W; k++) {
      gathered[k] = S(0);
      if (w0 * W + k < at.length)
        gathered[k] =
            __ldg(at.x + (codes.start[k / W] * (START == 2 && ID >= 0 ? at.scale : 1) + column[k / W][k % W]));
    }
    if (w0 + at.step * K < at.words) next.load(at, w0 + at.step * K);
#pragma unroll
    for (int k = 0; k < K * W; k++) sum += value[k] * gathered[k];
  }
  return sum;
}

template <typename S, int W>
__device__ inline S sum_by_kind(int kind, const Lane<S> &at)
{
  constexpr int K = W > 4 ? 1 : W > 2 ? 2 : W > 1 ? 3 : 4; /* what 64 registers hold */

  switch (kind) {
  case CODSELL_UNIFORM:
    return sum_lane<S, W, K, 0, 0>(at);
  case CODSELL_IDS8:
    return sum_lane<S, W, K, 0, 1>(at);
  case CODSELL_IDS16:
    return sum_lane<S, W, K, 0, 2>(at);
  case CODSELL_STARTS16_UNIFORM:
    return sum_lane<S, W, K, 2, 0>(at);
  case CODSELL_STARTS16_IDS8:
    return sum_lane<S, W, K, 2, 1>(at);
  case CODSELL_STARTS32_UNIFORM:
    return sum_lane<S, W, K, 4, 0>(at);
  case CODSELL_STARTS32_IDS8:
    return sum_lane<S, W, K, 4, 1>(at);
  case CODSELL_COLUMNS16:
    return sum_lane<S, 1, 6, 2, -1>(at);
  default:
    return sum_lane<S, 1, 6, 4, -1>(at);
  }
}

/* The sum of this thread's part of its row, and the row */
template <typename S, int W>
__device__ inline S sum_of_thread(const Product<S> &p, int64_t slice, int lane, int part, int64_t *row)
{
  const CodsellShape &s    = p.shape;
  const CodsellSlice  at   = p.slices[slice];
  const int           kind = (int)at.kind, width = (int)at.width, c = 1 << s.log_c;
  const CodsellParts  parts = codsell_parts(kind, width, W, c, (int)at.ragged);
  const uint8_t      *codes = p.codes + at.code0;
  const int64_t       slot  = slice * c + lane;
  Lane<S>             mine;

  *row = at.moved ? slot / s.window * s.window + p.order[slot] : slot;
  if (width == 0) return S(0);
  mine.values     = p.values + (int64_t)at.column0 * c + lane;
  mine.starts     = codes + parts.starts;
  mine.ids        = codes + parts.ids;
  mine.dictionary = p.dictionary;
  mine.x          = p.x + (codsell_has_starts(kind) ? slice * c + *(const int32_t *)codes : *row);
  mine.lane       = lane;
  mine.c          = c;
  mine.length     = at.ragged ? codsell_length(codes + parts.lengths, width, lane) : width;
  mine.width      = width;
  mine.words      = kind >= CODSELL_COLUMNS16 ? mine.length : codsell_words(mine.length, W);
  mine.scale      = at.scaled ? W : 1;
  mine.first      = part;
  mine.step       = 1 << p.log_parts;
  return sum_by_kind<S, W>(kind, mine);
}

template <typename S>
__device__ inline void sum_piece(const Product<S> &p, int64_t piece)
{
  const CodsellPiece at    = p.pieces[piece];
  const int64_t      end   = p.long_rows[at.long_row + 1].first;
  const int64_t      begin = p.long_rows[at.long_row].first + (int64_t)at.number * CODSELL_PIECE + threadIdx.x;
  S                  sum   = S(0), value[CODSELL_PIECE / CODSELL_THREADS];
  int32_t            column[CODSELL_PIECE / CODSELL_THREADS];

#pragma unroll
  for (int i = 0; i < CODSELL_PIECE / CODSELL_THREADS; i++) {
    const int64_t k = begin + i * CODSELL_THREADS;

    column[i] = 0;
    value[i]  = S(0);
    if (k >= end) continue;
    column[i] = __ldcs(p.long_columns + k);
    value[i]  = __ldcs(p.long_values + k);
  }
#pragma unroll
  for (int i = 0; i < CODSELL_PIECE / CODSELL_THREADS; i++)
    if (begin + i * CODSELL_THREADS < end) sum += value[i] * __ldg(p.x + column[i]);
  sum = spmv_add_block<CODSELL_THREADS>(sum);
  if (threadIdx.x == 0) p.work[piece] = sum;
}

template <typename S, int W>
__global__ void __launch_bounds__(CODSELL_THREADS, 4) codsell_product(const Product<S> p)
{
  __shared__ S  partial[CODSELL_THREADS];
  const int     c = 1 << p.shape.log_c, log_share = p.shape.log_c + p.log_parts;
  const int64_t piece = blockIdx.x, block = piece - p.shape.pieces;
  const int64_t slice = block * (CODSELL_THREADS >> log_share) + (threadIdx.x >> log_share);
  const int     part  = (threadIdx.x >> p.shape.log_c) & ((1 << p.log_parts) - 1);
  int64_t       row   = p.shape.rows;
  S             sum   = S(0);

  if (piece < p.shape.pieces) {
    sum_piece(p, piece);
    return;
  }
  if (slice < p.shape.slices) sum = sum_of_thread<S, W>(p, slice, threadIdx.x & (c - 1), part, &row);
  if (p.log_parts > 0) {
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int i = 1; part == 0 && i < 1 << p.log_parts; i++) sum += partial[threadIdx.x + i * c];
  }
  if (part == 0 && row < p.shape.rows) p.y[row] = spmv_axpby(p.alpha, sum, p.beta, p.y + row);
}

/* One warp a piece: the first piece of each row adds up those of its row, in their order */
template <typename S>
__global__ void __launch_bounds__(CODSELL_THREADS) codsell_add_long_rows(const Product<S> p)
{
  const int64_t piece = blockIdx.x * (int64_t)(CODSELL_THREADS / 32) + threadIdx.x / 32;

  if (piece >= p.shape.pieces || p.pieces[piece].number > 0) return;
  const CodsellLong *row    = p.long_rows + p.pieces[piece].long_row;
  const int64_t      pieces = (row[1].first - row[0].first + CODSELL_PIECE - 1) / CODSELL_PIECE;
  S                  sum    = S(0);

  for (int64_t i = threadIdx.x % 32; i < pieces; i += 32) sum += p.work[piece + i];
  sum = spmv_add_lanes(sum, 32);
  if (threadIdx.x % 32 == 0) p.y[row->row] += p.alpha * sum;
}

template <typename S>
SpmvStatus mult(const CodsellPlan *plan, const void *alpha, const void *x, const void *beta, void *y, void *work,
                SpmvExec *exec)
{
  const CodsellShape &s = plan->shape;
  Product<S>          p = {s,
                           0,
                           (const S *)plan->values,
                           plan->codes,
                           plan->slices,
                           plan->dictionary,
                           plan->order,
                           plan->long_rows,
                           plan->pieces,
                           (const int32_t *)plan->long_columns,
                           (const S *)plan->long_values,
                           (const S *)x,
                           (S *)y,
                           (S *)work,
                           *(const S *)alpha,
                           *(const S *)beta};

  if (p.alpha == S(0)) return spmv_scale(p.y, p.beta, s.rows, exec);
  while (1 << p.log_parts < s.parts) p.log_parts++;
  const int64_t blocks = s.pieces + spmv_blocks((s.slices << s.log_c) << p.log_parts, CODSELL_THREADS);
  switch (s.word) {
#define CASE(W)                                                                                                        \
  case W:                                                                                                              \
    SPMV_LAUNCH(exec, (codsell_product<S, W>), blocks, CODSELL_THREADS, 0, p);                                         \
    break;
    CODSELL_WORD_LIST(CASE)
#undef CASE
  }
  SPMV_LAUNCH(exec, codsell_add_long_rows<S>, spmv_blocks(s.pieces, CODSELL_THREADS / 32), CODSELL_THREADS, 0, p);
  return SPMV_SUCCESS;
}
} // namespace

SpmvStatus codsell_device_mult(const SpmvPlan *base, const void *alpha, const void *x, const void *beta, void *y,
                               void *work, SpmvExec *exec)
{
  const CodsellPlan *plan = (const CodsellPlan *)base;

  return base->scalar_type == SPMV_F32 ? mult<float>(plan, alpha, x, beta, y, work, exec)
                                       : mult<double>(plan, alpha, x, beta, y, work, exec);
}
