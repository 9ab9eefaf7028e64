/* spgemm_device_transpose.cu - transposed patterns on the device, by a stable sort of the columns, which also gives the
   index of each block in the original. */
#include "spgemm_device.cuh"
#include <cub/device/device_radix_sort.cuh>

namespace
{
enum { THREADS = 256, LANES = 8, ROWS_PER_BLOCK = THREADS / LANES };

/* Writes the index and the row of each block */
__global__ void spmv_spgemm_list(SpmvSpgemmPattern p, int32_t *number, int32_t *row_of)
{
  const int64_t row = blockIdx.x * (int64_t)ROWS_PER_BLOCK + threadIdx.x / LANES;

  if (row >= p.rows) return;
  for (int k = p.row_ptr[row] + threadIdx.x % LANES; k < p.row_ptr[row + 1]; k += LANES) {
    number[k] = k;
    row_of[k] = (int32_t)row;
  }
}

__global__ void spmv_spgemm_take(const int32_t *order, const int32_t *from, int32_t *to, int64_t n)
{
  const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (i < n) to[i] = from[order[i]];
}

__global__ void spmv_spgemm_starts(const int32_t *sorted, int64_t n, SpmvSpgemmPattern t)
{
  const int64_t row = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (row <= t.rows) t.row_ptr[row] = spmv_lower_bound(sorted, 0, (int)n, (int)row);
}

template <typename S>
__global__ void spmv_spgemm_transpose_values(SpmvSpgemmPattern t, const S *values, S *to)
{
  const int64_t row  = blockIdx.x * (int64_t)ROWS_PER_BLOCK + threadIdx.x / LANES;
  const int     area = t.block_rows * t.block_cols;

  if (row >= t.rows) return;
  const int first = t.row_ptr[row], n = t.row_ptr[row + 1] - first, width = n * t.block_cols;
  for (int e = threadIdx.x % LANES; e < n * area; e += LANES) {
    const int r = e / width, k = e % width / t.block_cols, s = e % t.block_cols;
    const int from = t.col[first + k], begin = t.origin_ptr[from], length = t.origin_ptr[from + 1] - begin;
    to[(int64_t)first * area + e] =
        values[(int64_t)begin * area + (s * length + t.order[first + k] - begin) * t.block_rows + r];
  }
}

int bits_of(int64_t below)
{
  int bits = 1;
  while ((int64_t)1 << bits < below) bits++;
  return bits;
}
} // namespace

SpmvStatus spmv_spgemm_transpose(SpmvSpgemm *p, const SpmvSpgemmPattern *from, SpmvSpgemmPattern *t, SpmvExec *exec)
{
  const int64_t   n = from->nnz, order_bytes = n * 4;
  SpmvScopedArena temporary(exec);
  int32_t        *number, *row_of, *sorted;
  void **const    array[] = {(void **)&t->order};

  t->rows                     = from->cols;
  t->cols                     = from->rows;
  t->nnz                      = n;
  t->block_rows               = from->block_cols;
  t->block_cols               = from->block_rows;
  t->origin_ptr               = from->row_ptr;
  temporary.arena.chunk_bytes = 24 * n + (1 << 16);
  SPMV_TRY(spmv_spgemm_hold_pattern(p, t, "transposed pattern", exec));
  SPMV_TRY(spmv_spgemm_hold(p, exec, 1, &order_bytes, "order of the transposed values", array));
  SPMV_TRY(temporary.array(n, "numbers of blocks", &number));
  SPMV_TRY(temporary.array(n, "rows of blocks", &row_of));
  SPMV_TRY(temporary.array(n, "sorted columns", &sorted));
  SPMV_LAUNCH(exec, spmv_spgemm_list, spmv_blocks(from->rows, ROWS_PER_BLOCK), THREADS, 0, *from, number, row_of);
  if (n > 0)
    SPMV_CUB(exec, &temporary.arena,
             cub::DeviceRadixSort::SortPairs(scratch, bytes, from->col, sorted, number, t->order, n, 0,
                                             bits_of(from->cols), (cudaStream_t)exec->stream));
  SPMV_LAUNCH(exec, spmv_spgemm_starts, spmv_blocks(t->rows + 1, THREADS), THREADS, 0, sorted, n, *t);
  SPMV_LAUNCH(exec, spmv_spgemm_take, spmv_blocks(n, THREADS), THREADS, 0, t->order, row_of, t->col, n);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_spgemm_reorder(const SpmvSpgemm *p, const SpmvSpgemmPattern *t, const void *values, void *to,
                               SpmvExec *exec)
{
  const int64_t blocks = spmv_blocks(t->rows, ROWS_PER_BLOCK);

  if (p->scalar_type == SPMV_F32)
    SPMV_LAUNCH(exec, spmv_spgemm_transpose_values<float>, blocks, THREADS, 0, *t, (const float *)values, (float *)to);
  else
    SPMV_LAUNCH(exec, spmv_spgemm_transpose_values<double>, blocks, THREADS, 0, *t, (const double *)values,
                (double *)to);
  return SPMV_SUCCESS;
}
