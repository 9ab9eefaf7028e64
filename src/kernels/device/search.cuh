/* search.cuh - bisection in ascending numbers: the diagonal entry of a row, the first nonzero of each row; and the bits by
   which a sort makes them ascend. */
#pragma once

#include "launch.cuh"

/* How many bits tell the numbers 0 .. below-1 apart; a sort wants at least one */
static inline int spmv_bits_of(int64_t below)
{
  int bits = 1;

  while ((below - 1) >> bits > 0) bits++;
  return bits;
}

/* The first i in 0 .. n-1 whose number at(i) is not below `wanted`, or n; the numbers ascend */
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

/* row_ptr[r] = how many of the sorted rows are below r, for r = 0 .. rows */
template <typename I>
__global__ void spmv_find_row_starts(const int32_t *sorted, int64_t nnz, int64_t rows, I *row_ptr)
{
  const int64_t r = blockIdx.x * (int64_t)SPMV_STARTS_THREADS + threadIdx.x;
  if (r <= rows) row_ptr[r] = (I)spmv_first_not_below(nnz, r, [&](int64_t k) { return (int64_t)sorted[k]; });
}

/* The pointers of a CSR whose nonzeros lie in these rows, which ascend */
template <typename I>
inline SpmvStatus spmv_row_starts(const int32_t *sorted, int64_t nnz, int64_t rows, I *row_ptr, SpmvExec *exec)
{
  SPMV_LAUNCH(exec, spmv_find_row_starts<I>, spmv_blocks(rows + 1, SPMV_STARTS_THREADS), SPMV_STARTS_THREADS, 0, sorted,
              nnz, rows, row_ptr);
  return SPMV_SUCCESS;
}
} // namespace
