/* spgemm_device_transpose.cu - transposed patterns on the device, by a stable sort of the columns, which also gives the
   index of each block in the original. */
#include "spgemm_device.cuh"

namespace
{
enum { THREADS = 256, LANES = 8, ROWS_PER_BLOCK = THREADS / LANES };

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
} // namespace

SpmvStatus spmv_spgemm_transpose(SpmvSpgemm *p, const SpmvSpgemmPattern *from, SpmvSpgemmPattern *t, SpmvExec *exec)
{
  const int64_t order_bytes = from->nnz * 4;
  void **const  array[]     = {(void **)&t->order};

  t->rows       = from->cols;
  t->cols       = from->rows;
  t->nnz        = from->nnz;
  t->block_rows = from->block_cols;
  t->block_cols = from->block_rows;
  t->origin_ptr = from->row_ptr;
  SPMV_TRY(spmv_spgemm_hold_pattern(p, t, "transposed pattern", exec));
  SPMV_TRY(spmv_spgemm_hold(p, exec, 1, &order_bytes, "order of the transposed values", array));
  return spmv_transpose_pattern(from->rows, from->cols, from->nnz, from->row_ptr, from->col,
                                SpmvTransposed<int32_t, int32_t>{t->row_ptr, t->col, t->order}, exec);
}

SpmvStatus spmv_spgemm_reorder(const SpmvSpgemm *p, const SpmvSpgemmPattern *t, const void *values, void *to,
                               SpmvExec *exec)
{
  const int64_t blocks = spmv_blocks(t->rows, ROWS_PER_BLOCK);

  return spmv_with_scalar(p->scalar_type, [&](auto number) -> SpmvStatus {
    typedef decltype(number) S;
    SPMV_LAUNCH(exec, spmv_spgemm_transpose_values<S>, blocks, THREADS, 0, *t, (const S *)values, (S *)to);
    return SPMV_SUCCESS;
  });
}
