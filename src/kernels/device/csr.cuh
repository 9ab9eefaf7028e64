/*
  csr.cuh - what set-up code on the device does with any CSR: takes entries by an order, sorts by keys, finds row
  pointers, and transposes patterns. The twin for the host is core/csr.h.
*/
#pragma once

#include "arena.cuh"
#include "search.cuh"
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace
{
enum { SPMV_CSR_THREADS = 256 };

template <typename O, typename From, typename To>
__global__ void __launch_bounds__(SPMV_CSR_THREADS)
    spmv_take_each(const O *__restrict__ order, const From *__restrict__ from, int64_t n, To *__restrict__ to)
{
  const int64_t i = blockIdx.x * (int64_t)SPMV_CSR_THREADS + threadIdx.x;
  if (i < n) to[i] = (To)from[order[i]];
}

/* to[i] = from[order[i]] for i = 0 .. n-1 */
template <typename O, typename From, typename To>
inline SpmvStatus spmv_take(const O *order, const From *from, int64_t n, To *to, SpmvExec *exec)
{
  SPMV_LAUNCH(exec, (spmv_take_each<O, From, To>), spmv_blocks(n, SPMV_CSR_THREADS), SPMV_CSR_THREADS, 0, order, from,
              n, to);
  return SPMV_SUCCESS;
}

/* before[i] = counts[0] + ... + counts[i-1] for i = 0 .. n-1; may be in place. Row pointers of n-1 rows come from their
   lengths and one more number. */
template <typename Counts, typename T>
inline SpmvStatus spmv_sum_before(Counts counts, T *before, int64_t n, SpmvArena *arena, SpmvExec *exec)
{
  SPMV_CUB(exec, arena, cub::DeviceScan::ExclusiveSum(scratch, bytes, counts, before, n, (cudaStream_t)exec->stream));
  return SPMV_SUCCESS;
}

/* count(i), and nothing for i = n */
template <typename Count, typename T>
struct SpmvCountBelow {
  Count        count;
  int64_t      n;
  __device__ T operator()(int64_t i) const { return i < n ? count(i) : T{}; }
};

/* before[i] = count(0) + ... + count(i-1) for i = 0 .. n */
template <typename Count, typename T>
inline SpmvStatus spmv_sum_each_before(const Count &count, T *before, int64_t n, SpmvArena *arena, SpmvExec *exec)
{
  return spmv_sum_before(
      thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), SpmvCountBelow<Count, T>{count, n}),
      before, n + 1, arena, exec);
}

/* Sorts pairs of a key below `below` and a value stably, with only as many key bits as that needs. N, the type of the
   number of pairs, chooses the width of CUB's offsets. */
template <typename Key, typename Value, typename N>
inline SpmvStatus spmv_sort_pairs(const Key *key, Key *sorted, const Value *value, Value *ordered, N n, int64_t below,
                                  SpmvArena *arena, SpmvExec *exec)
{
  if (n > 0)
    SPMV_CUB(exec, arena,
             cub::DeviceRadixSort::SortPairs(scratch, bytes, key, sorted, value, ordered, n, 0, spmv_sort_bits(below),
                                             (cudaStream_t)exec->stream));
  return SPMV_SUCCESS;
}

/* A transposed pattern: row_ptr [cols+1], col [nnz], and order [nnz], the position in the original of each nonzero */
template <typename I, typename O>
struct SpmvTransposed {
  I *row_ptr, *col;
  O *order;
};

/* Transposes a list of nonzeros that is sorted by row; number[k] is k, row and column are those of nonzero k. The arena
   gets 4 n bytes and CUB's scratch. */
template <typename I, typename O, typename N>
inline SpmvStatus spmv_transpose_list(const int32_t *row, const int32_t *column, const O *number, N n, int64_t cols,
                                      const SpmvTransposed<I, O> &t, SpmvArena *arena, SpmvExec *exec)
{
  int32_t *sorted;

  SPMV_TRY(spmv_arena_array(arena, (int64_t)n, "sorted columns", &sorted, exec));
  SPMV_TRY(spmv_sort_pairs(column, sorted, number, t.order, n, cols, arena, exec));
  SPMV_TRY(spmv_row_starts(sorted, n, cols, t.row_ptr, exec));
  return spmv_take(t.order, row, n, t.col, exec);
}

template <int LANES, typename I>
__global__ void __launch_bounds__(SPMV_CSR_THREADS)
    spmv_list_rows(int64_t rows, const I *row_ptr, const I *col, int32_t *row_of, int32_t *column, int32_t *number)
{
  const int64_t row = (blockIdx.x * (int64_t)SPMV_CSR_THREADS + threadIdx.x) / LANES;

  if (row >= rows) return;
  for (int64_t k = row_ptr[row] + threadIdx.x % LANES; k < row_ptr[row + 1]; k += LANES) {
    row_of[k] = (int32_t)row;
    if (column) column[k] = (int32_t)col[k];
    if (number) number[k] = (int32_t)k;
  }
}

/* Lists the nonzeros of a pattern, LANES lanes per row: their rows and, unless NULL, their columns and numbers */
template <int LANES, typename I>
inline SpmvStatus spmv_list_pattern(int64_t rows, const I *row_ptr, const I *col, int32_t *row_of, int32_t *column,
                                    int32_t *number, SpmvExec *exec)
{
  SPMV_LAUNCH(exec, (spmv_list_rows<LANES, I>), spmv_blocks(rows * LANES, SPMV_CSR_THREADS), SPMV_CSR_THREADS, 0, rows,
              row_ptr, col, row_of, column, number);
  return SPMV_SUCCESS;
}

/* Transposes a pattern of fewer than 2^31 rows, columns and nonzeros */
template <typename I>
inline SpmvStatus spmv_transpose_pattern(int64_t rows, int64_t cols, int64_t n, const I *row_ptr, const I *col,
                                         const SpmvTransposed<int32_t, int32_t> &t, SpmvExec *exec)
{
  const bool      narrow = sizeof(I) == sizeof(int32_t);
  SpmvScopedArena temporary(exec);
  int32_t        *column = nullptr, *number, *row_of;

  temporary.arena.chunk_bytes = 24 * n + (1 << 16);
  if (!narrow) SPMV_TRY(temporary.array(n, "columns of nonzeros", &column));
  SPMV_TRY(temporary.array(n, "numbers of nonzeros", &number));
  SPMV_TRY(temporary.array(n, "rows of nonzeros", &row_of));
  SPMV_TRY(spmv_list_pattern<8>(rows, row_ptr, col, row_of, column, number, exec));
  return spmv_transpose_list(row_of, narrow ? (const int32_t *)col : column, number, n, cols, t, &temporary.arena,
                             exec);
}
} // namespace
