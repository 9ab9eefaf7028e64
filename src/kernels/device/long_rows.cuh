/*
  long_rows.cuh - rows that are too long for one thread block: the product sums up each piece of such a row into work,
  and a second kernel adds the sums of its pieces in a fixed order.
*/
#pragma once

#include "overlap.cuh"
#include "vector.cuh"

/* A long row, or up to G adjacent ones that are cut alike: the sum of row q over piece i is work[(slot + i) * G + q] */
struct SpmvLongRow {
  int64_t row : 48, rows : 16;
  int32_t slot, count;
};
static_assert(sizeof(SpmvLongRow) == 16, "a long row is not loaded at once");

/* A result to which the sums of long rows are added, in place of one that they overwrite */
template <typename OUT>
struct SpmvAdding : OUT {
  explicit SpmvAdding(const OUT &out) : OUT(out) {}
  __device__ inline void put(int64_t row, typename OUT::Scalar sum) const { OUT::add(row, sum); }
};

namespace
{
enum { SPMV_LONG_THREADS = 128 };

/* LANES threads per row, a warp or a thread block; rows[i] is a long row, or one of 0 rows */
template <int LANES, int G, typename Rows, typename S, typename OUT>
__global__ void __launch_bounds__(SPMV_LONG_THREADS)
    spmv_sum_long_rows(Rows rows, int64_t n, const S *__restrict__ work, OUT out)
{
  constexpr bool    WHOLE = LANES == SPMV_LONG_THREADS;
  const int64_t     i     = WHOLE ? blockIdx.x / G : (blockIdx.x * (int64_t)SPMV_LONG_THREADS + threadIdx.x) / LANES;
  const int         q     = WHOLE ? blockIdx.x % G : 0;
  const SpmvLongRow r     = WHOLE || i < n ? rows[i] : SpmvLongRow{};
  S                 sum   = 0;

  static_assert(LANES == 32 || WHOLE, "sums of other numbers of threads");
  spmv_let_next_begin();
  spmv_wait_for_previous(work, out.y);
  if (q >= r.rows) return;
  work += (int64_t)r.slot * G + q;
  for (int k = threadIdx.x % LANES; k < r.count; k += LANES) sum += __ldca(work + (int64_t)k * G);
  sum = WHOLE ? spmv_add_block<SPMV_LONG_THREADS>(sum) : spmv_add_lanes(sum, 32);
  if (threadIdx.x % LANES == 0) out.put(r.row + q, sum);
}

/* Gives the sums of n long rows to out */
template <int LANES, int G, typename Rows, typename S, typename OUT>
inline SpmvStatus spmv_add_long_rows(const Rows &rows, int64_t n, const S *work, const OUT &out, SpmvExec *exec)
{
  SPMV_LAUNCH_OVERLAPPED(exec, (spmv_sum_long_rows<LANES, G, Rows, S, OUT>),
                         spmv_blocks(n * G, SPMV_LONG_THREADS / LANES), SPMV_LONG_THREADS, 0, rows, n, work, out);
  return SPMV_SUCCESS;
}
} // namespace
