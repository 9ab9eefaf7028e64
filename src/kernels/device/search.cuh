/* search.cuh - searches in sorted sequences on the device: the diagonal entry of a row, or the first nonzero of each
   row; and the number of key bits that a sort needs. */
#pragma once

#include "core/csr.h"
#include "launch.cuh"

/* How many bits tell the numbers 0 .. below-1 apart */
static inline int spmv_bits_of(int64_t below)
{
  int bits = 0;

  while ((below - 1) >> bits > 0) bits++;
  return bits;
}

/* The bits of a sort key below `below`: a sort wants at least one */
static inline int spmv_sort_bits(int64_t below) { return below > 1 ? spmv_bits_of(below) : 1; }

/* The first i of 0 .. n-1 for which is_below(i) is false, or n. Once false, it must stay false. */
template <typename N, typename IsBelow>
__device__ inline N spmv_first_without(N n, const IsBelow &is_below)
{
  N low = 0;

  SPMV_BISECT(low, n, middle, is_below(middle));
  return low;
}

/* The lower bound: the first i of 0 .. n-1 with at(i) >= wanted, or n. at(i) must ascend. */
template <typename N, typename Wanted, typename At>
__device__ inline N spmv_first_not_below(N n, Wanted wanted, const At &at)
{
  return spmv_first_without(n, [&](N i) { return at(i) < wanted; });
}

namespace
{
enum { SPMV_STARTS_THREADS = 256 };

/* row_ptr[r] = the number of nonzeros in rows below r, for r = 0 .. rows; row_of(k) is the row of nonzero k */
template <typename RowOf, typename I>
__global__ void __launch_bounds__(SPMV_STARTS_THREADS)
    spmv_find_row_starts(RowOf row_of, int64_t nnz, int64_t rows, I *row_ptr)
{
  const int64_t r = blockIdx.x * (int64_t)SPMV_STARTS_THREADS + threadIdx.x;
  if (r <= rows) row_ptr[r] = (I)spmv_first_not_below(nnz, r, row_of);
}

template <typename RowOf, typename I>
inline SpmvStatus spmv_row_starts_by(const RowOf &row_of, int64_t nnz, int64_t rows, I *row_ptr, SpmvExec *exec)
{
  SPMV_LAUNCH(exec, (spmv_find_row_starts<RowOf, I>), spmv_blocks(rows + 1, SPMV_STARTS_THREADS), SPMV_STARTS_THREADS,
              0, row_of, nnz, rows, row_ptr);
  return SPMV_SUCCESS;
}

struct SpmvListed {
  const int32_t     *row;
  __device__ int64_t operator()(int64_t k) const { return row[k]; }
};

/* The row pointers of a CSR from the row of each nonzero, in ascending order */
template <typename I>
inline SpmvStatus spmv_row_starts(const int32_t *sorted, int64_t nnz, int64_t rows, I *row_ptr, SpmvExec *exec)
{
  return spmv_row_starts_by(SpmvListed{sorted}, nnz, rows, row_ptr, exec);
}
} // namespace
