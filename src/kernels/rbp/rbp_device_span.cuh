/*
  rbp_device_span.cuh - the rows of a span, and the rows that begin groups: each row that differs from the row above,
  and every G-th equal row after it. For kernels in which a thread block processes a span.
*/
#pragma once

#include "rbp_device_analyze.cuh"

namespace
{
enum {
  SPAN_THREADS = 256,
  SPAN_EACH    = RBP_SPAN / SPAN_THREADS, /* rows per thread, SPAN_THREADS apart */
  SPAN_WORDS   = RBP_SPAN / 32,
  SPAN_LOADS   = 4 /* rows per thread whose loads are in flight together */
};
static_assert(SPAN_EACH % SPAN_LOADS == 0 && SPAN_WORDS <= SPAN_THREADS, "the threads of a span");

/* Bit i % 32 of word i / 32 is set if row i of the span differs from the row above; the bit of the first row is set */
struct SpanRows {
  unsigned distinct[SPAN_WORDS];
  uint16_t last[SPAN_WORDS]; /* the last such row before the word */
};

/* Marks the rows that differ from the row above. All threads must call; n rows, at least one. */
__device__ inline void mark_distinct(const RbpRowSummary *summary, int n, SpanRows &s)
{
#pragma unroll
  for (int j = 0; j < SPAN_EACH; j++) {
    const int      i        = j * SPAN_THREADS + threadIdx.x;
    const unsigned distinct = __ballot_sync(0xffffffffu, i < n && !rbp_is_same(summary[i]));
    if (i % 32 == 0) s.distinct[i / 32] = distinct;
  }
  __syncthreads();
  if (threadIdx.x < SPAN_WORDS) {
    int w = (int)threadIdx.x - 1;
    while (w > 0 && !s.distinct[w]) w--;
    s.last[threadIdx.x] = (uint16_t)(w >= 0 ? 32 * w + 31 - __clz((int)s.distinct[w]) : 0);
  }
  __syncthreads();
}

/* The number of consecutive rows directly above row i that equal it */
__device__ inline int equals_before(const SpanRows &s, int i)
{
  const unsigned here = s.distinct[i / 32] & ((2u << i % 32) - 1);
  return here ? i % 32 - (31 - __clz((int)here)) : i - s.last[i / 32];
}

/* Loads lengths and summaries of the rows i0, i0 + SPAN_THREADS, ... of n rows, all loads in flight together. Indices
   beyond the last row load the last row. */
template <typename I>
__device__ inline void load_rows(const I *row_ptr, const RbpRowSummary *summary, int64_t first, int i0, int n,
                                 I (&length)[SPAN_LOADS], RbpRowSummary (&known)[SPAN_LOADS])
{
#pragma unroll
  for (int j = 0; j < SPAN_LOADS; j++) {
    const int64_t row = first + min(i0 + j * SPAN_THREADS, n - 1);
    length[j]         = row_ptr[row + 1] - row_ptr[row];
    known[j]          = summary[row];
  }
}
} // namespace
