/*
  codsell_device_slices.cuh - reading of slices by conversion kernels. Neighbouring threads share a row, so that the
  loads of a warp are contiguous within a few rows. Shared memory holds the data common to the rows of a slice.
*/
#pragma once

#include "codsell_device_words.cuh"

namespace
{
enum { CODSELL_SLICES = CODSELL_THREADS / 8 /* maximum per thread block */ };

/* The slices of a thread block. Rows are compared with the longest row of their slice. */
struct CodsellShared {
  int            widest[CODSELL_SLICES]; /* see codsell_widest() */
  int            ragged[CODSELL_SLICES], permuted[CODSELL_SLICES];
  int            row[CODSELL_SLICES]; /* the longest row; the first one in case of a tie */
  const void    *col[CODSELL_SLICES]; /* the columns of that row */
  CodsellSummary summary[CODSELL_SLICES];
};

/* A number whose maximum over the lanes identifies the longest row; the first lane in case of a tie */
__device__ inline int codsell_widest(int n, int lane) { return n * CODSELL_MAX_C + CODSELL_MAX_C - 1 - lane; }
__device__ inline int codsell_width(int widest) { return widest / CODSELL_MAX_C; }

/* The row of a thread */
template <typename I>
struct CodsellRow {
  const I *col; /* of its first nonzero */
  int      row, slot, n, lane, c;
  int      slice;       /* number within the thread block */
  int      log_slices;  /* of the block */
  int      part, parts; /* this thread's part of the row */
};

/* Slots per thread block, with 1 << log_parts threads per row */
__host__ __device__ inline int codsell_slots(int log_parts) { return CODSELL_THREADS >> log_parts; }

template <typename I>
__device__ inline CodsellRow<I> row_in_slot(const CodsellSource &a, int64_t slot, int log_parts, const I *row_ptr,
                                            const I *col)
{
  const bool    inside = slot >> a.log_c < a.slices;
  CodsellRow<I> r;

  r.c          = 1 << a.log_c;
  r.slot       = (int)slot;
  r.lane       = r.slot & (r.c - 1);
  r.slice      = threadIdx.x >> (a.log_c + log_parts);
  r.parts      = 1 << log_parts;
  r.log_slices = CODSELL_LOG_THREADS - a.log_c - log_parts;
  r.part       = threadIdx.x & (r.parts - 1);
  r.n          = inside ? a.length[slot] : 0;
  r.row        = inside ? codsell_row_in_slot(a.order, a.window, r.slot) : r.slot;
  r.col        = r.n > 0 ? col + row_ptr[r.row] : nullptr;
  return r;
}

/* Computes the properties of the slices of a thread block that do not depend on words: widths, ragged, permuted,
   longest rows, and the smallest and largest column minus the first slot. words: number of words in the dictionary.
   Called by all threads, which may read the result after their next barrier. */
template <typename I>
__device__ inline void measure(const CodsellRow<I> &r, int64_t words, CodsellShared &s)
{
  const int slot0 = r.slot - r.lane, together = min(32, r.c * r.parts), own = codsell_widest(r.n, r.lane);
  int       low = r.n > 0 ? (int)r.col[0] - slot0 : INT32_MAX, high = r.n > 0 ? (int)r.col[r.n - 1] - slot0 : INT32_MIN;
  int       widest = own;

  if (threadIdx.x < CODSELL_SLICES) {
    const int id = words > 0 ? 0 : (int)CODSELL_NO_ID;

    s.widest[threadIdx.x] = s.ragged[threadIdx.x] = s.permuted[threadIdx.x] = 0;
    s.summary[threadIdx.x]                                                  = {id, id, 1, 1, 1, INT32_MAX, INT32_MIN};
  }
  for (int step = r.parts; step < together; step *= 2) {
    widest = max(widest, __shfl_xor_sync(0xffffffffu, widest, step));
    low    = min(low, __shfl_xor_sync(0xffffffffu, low, step));
    high   = max(high, __shfl_xor_sync(0xffffffffu, high, step));
  }
  __syncthreads();
  if (threadIdx.x % together == 0) {
    atomicMax(&s.widest[r.slice], widest);
    atomicMin(&s.summary[r.slice].low, low);
    atomicMax(&s.summary[r.slice].high, high);
  }
  if (r.row != r.slot) s.permuted[r.slice] = 1;
  __syncthreads();
  widest = s.widest[r.slice];
  if (r.n < codsell_width(widest)) s.ragged[r.slice] = 1;
  if (own == widest && r.part == 0) {
    s.row[r.slice] = r.row;
    s.col[r.slice] = r.col;
  }
}

/* log2 of the threads per row: each thread has at least three words of the mean row, and there are at most 8 threads,
   or as many as fill a thread block */
inline int codsell_log_parts(const CodsellShape *s, int64_t nnz, int word)
{
  const int64_t words = s->rows > 0 ? (nnz - s->long_nnz) / s->rows / word : 0;
  int           log   = 0;

  while (log < 3 && (1 << (s->log_c + log)) < CODSELL_THREADS && 6 << log <= words) log++;
  return log;
}
} // namespace
