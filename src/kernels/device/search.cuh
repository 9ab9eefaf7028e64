/* search.cuh - bisection in sorted arrays: finds the diagonal entry of a row, or the first nonzero of each row. */
#pragma once

#include "launch.cuh"

/* The lower bound: the first i in 0 .. n-1 with at(i) >= wanted, or n. at(i) must ascend. */
template <typename N, typename Wanted, typename At>
__device__ inline N spmv_first_not_below(N n, Wanted wanted, const At &at)
{
  N low = 0, high = n;

  while (low < high) {
    const N middle = low + (high - low) / 2;
    if (at(middle) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

namespace
{
enum { SPMV_STARTS_THREADS = 256 };

/* row_ptr[r] = number of entries of sorted[] below r, for r = 0 .. rows */
template <typename I>
__global__ void spmv_find_row_starts(const int32_t *sorted, int64_t nnz, int64_t rows, I *row_ptr)
{
  const int64_t r = blockIdx.x * (int64_t)SPMV_STARTS_THREADS + threadIdx.x;
  if (r <= rows) row_ptr[r] = (I)spmv_first_not_below(nnz, r, [&](int64_t k) { return (int64_t)sorted[k]; });
}

/* The row pointers of a CSR from the row of each nonzero, in ascending order */
template <typename I>
inline SpmvStatus spmv_row_starts(const int32_t *sorted, int64_t nnz, int64_t rows, I *row_ptr, SpmvExec *exec)
{
  SPMV_LAUNCH(exec, spmv_find_row_starts<I>, spmv_blocks(rows + 1, SPMV_STARTS_THREADS), SPMV_STARTS_THREADS, 0, sorted,
              nnz, rows, row_ptr);
  return SPMV_SUCCESS;
}
} // namespace
