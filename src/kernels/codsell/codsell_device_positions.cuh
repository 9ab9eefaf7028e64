/*
  codsell_device_positions.cuh - the CSR positions of the rows of a plan. The position of a row is that of its window
  plus the lengths of the previous rows of the window. These lengths are stored with slices and long rows, so neither
  CSR pointers nor a permutation of the nonzeros is stored. Each thread block adds up the lengths of its window itself.
*/
#pragma once

#include "device/vector.cuh"
#include "codsell_device.cuh"
#include <cub/block/block_scan.cuh>

enum {
  CODSELL_RESIDENT    = 640, /* about the number of thread blocks that a large device holds at a time (a wave) */
  CODSELL_WAVES       = 4,   /* with this many waves, the partly filled last wave costs little */
  CODSELL_SHARE_ROWS  = 512, /* rows of a window per thread block */
  CODSELL_SMALL_SHARE = 256  /* the same if CODSELL_SHARE_ROWS gives too few waves */
};

/* The data of a plan that kernels read */
typedef struct {
  CodsellShape        shape;
  const uint8_t      *codes;
  const CodsellSlice *slices;
  const int32_t      *dictionary;
  const uint16_t     *order;
  const int64_t      *windows;
  const CodsellPiece *pieces;
  const CodsellLong  *long_rows;
  const int32_t      *long_columns;
} CodsellLayout;

static inline CodsellLayout codsell_layout(const CodsellPlan *plan)
{
  return {plan->shape,      plan->codes,     plan->slices,
          plan->dictionary, plan->order,     plan->windows,
          plan->pieces,     plan->long_rows, (const int32_t *)plan->long_columns};
}

/* Thread blocks that share a window, each with at least `least` rows. Each of them adds up the lengths of the whole
   window, so several blocks are used only if the parallelism saves more time than this costs. */
static inline int codsell_shares(const CodsellShape *s, int64_t least)
{
  int64_t shares = s->window > CODSELL_SHARE_ROWS ? s->window / CODSELL_SHARE_ROWS : 1;

  while (s->window >= 2 * shares * least &&
         (2 * shares * s->windows <= CODSELL_RESIDENT ||
          (s->window >= 2 * shares * CODSELL_SMALL_SHARE && shares * s->windows < CODSELL_WAVES * CODSELL_RESIDENT)))
    shares *= 2;
  return (int)shares;
}

/* A window of rows, for the thread blocks that process it */
struct CodsellWindow {
  int64_t begin, end;   /* slots */
  int64_t start;        /* CSR position of its first nonzero */
  int64_t long0, long1; /* its long rows */
};

__device__ inline int codsell_length_in_slot(const CodsellLayout &p, const CodsellSlice &at, int64_t slot)
{
  const int c = 1 << p.shape.log_c, width = (int)at.width;

  if (!at.ragged) return width;
  return codsell_length(p.codes + at.code0 + codsell_offsets((int)at.kind, width, p.shape.word, c, 1).lengths, width,
                        (int)(slot & (c - 1)));
}

/* The first long row at or after a row */
__device__ inline int64_t codsell_find_long(const CodsellLayout &p, int64_t row)
{
  return spmv_first_not_below(p.shape.long_rows, row, [&](int64_t i) { return p.long_rows[i].row; });
}

__device__ inline CodsellWindow codsell_window(const CodsellLayout &p, int64_t window)
{
  const CodsellShape &s     = p.shape;
  const int64_t       begin = window * s.window;

  return {begin, min(begin + s.window, s.slices << s.log_c), p.windows[window], codsell_find_long(p, begin),
          codsell_find_long(p, begin + s.window)};
}

/* The index of a row of the window in shared memory, with padding against bank conflicts when each thread reads 4, 8 or
   16 consecutive rows. */
__host__ __device__ constexpr int codsell_padded(int row) { return row + row / 16; }

/* Writes the lengths of the rows of a window, from their slices, in row order. A thread has the loads of BATCH slots in
   flight. Beyond the end, threads repeat the last slot, so that no load depends on a condition. */
template <int BATCH>
__device__ inline void codsell_spread_lengths(const CodsellLayout &p, const CodsellWindow &window, int *length)
{
  const int64_t last = window.end - 1;

  for (int64_t slot0 = window.begin + threadIdx.x; slot0 < window.end; slot0 += BATCH * CODSELL_THREADS) {
    CodsellSlice at[BATCH];
    int          row[BATCH], n[BATCH];

#pragma unroll
    for (int i = 0; i < BATCH; i++) {
      const int64_t slot = min(slot0 + i * CODSELL_THREADS, last);

      at[i]  = p.slices[slot >> p.shape.log_c];
      row[i] = p.order ? (int)p.order[slot] : (int)(slot - window.begin);
    }
#pragma unroll
    for (int i = 0; i < BATCH; i++) n[i] = codsell_length_in_slot(p, at[i], min(slot0 + i * CODSELL_THREADS, last));
#pragma unroll
    for (int i = 0; i < BATCH; i++) length[codsell_padded(row[i])] = n[i];
  }
}

/* before[codsell_padded(r)] = nonzeros in slices of the rows before row r of the window, which has at most ROWS rows.
   Called by all threads; before has codsell_padded(ROWS) entries. */
template <int ROWS>
__device__ inline void codsell_add_up(const CodsellLayout &p, const CodsellWindow &window, int *before)
{
  typedef cub::BlockScan<int, CODSELL_THREADS> Scan;
  __shared__ typename Scan::TempStorage        temp;
  const int each  = ROWS > CODSELL_THREADS ? ((int)p.shape.window + CODSELL_THREADS - 1) / CODSELL_THREADS : 1;
  const int first = threadIdx.x * each;
  int       sum   = 0, all;

  for (int i = threadIdx.x; i < each * CODSELL_THREADS; i += CODSELL_THREADS) before[codsell_padded(i)] = 0;
  __syncthreads();
  codsell_spread_lengths<(ROWS > CODSELL_THREADS ? 4 : 1)>(p, window, before);
  __syncthreads();
  for (int i = first; i < first + each; i++) sum += before[codsell_padded(i)];
  Scan(temp).ExclusiveSum(sum, sum, all);
  for (int i = first; i < first + each; i++) {
    const int n = before[codsell_padded(i)];

    before[codsell_padded(i)] = sum;
    sum += n;
  }
  __syncthreads();
}

/* The position of a row of the window, given the nonzeros in slices before it */
__device__ inline int64_t codsell_position(const CodsellLayout &p, const CodsellWindow &window, int64_t row, int before)
{
  const int64_t position = window.start + before;

  if (window.long0 == window.long1) return position;
  return position + p.long_rows[codsell_find_long(p, row)].first - p.long_rows[window.long0].first;
}

/* The position of one row, without shared memory for its whole window. Called by all threads; all get the result. */
__device__ inline int64_t codsell_position_of_row(const CodsellLayout &p, int64_t row)
{
  __shared__ int      before;
  const CodsellWindow window = codsell_window(p, row / p.shape.window);
  int                 sum    = 0;

  for (int64_t slot = window.begin + threadIdx.x; slot < window.end; slot += CODSELL_THREADS) {
    const CodsellSlice at = p.slices[slot >> p.shape.log_c];

    if ((at.permuted ? window.begin + p.order[slot] : slot) < row) sum += codsell_length_in_slot(p, at, slot);
  }
  sum = spmv_add_block<CODSELL_THREADS>(sum);
  if (threadIdx.x == 0) before = sum;
  __syncthreads();
  return codsell_position(p, window, row, before);
}
