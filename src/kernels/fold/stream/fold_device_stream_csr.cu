/*
  fold_device_stream_csr.cu - converts a streamed table back to a CSR on the host, which holds the row lengths and the
  part of the entries that is not resident: to extract the values of a plan, and to make a plan of A^T.
*/
#include "core/csr.h"
#include "fold_device_stream.cuh"

namespace
{
/* Writes values [nnz] of the CSR, and col [nnz] unless it is NULL */
SpmvStatus unfill(const FoldStreamPlan *stream, void *col, void *values, SpmvExec *exec)
{
  const SpmvPlan  *b     = &stream->device.base;
  const FoldTable *there = &stream->device.table;
  const int64_t    S = spmv_scalar_bytes(b->scalar_type), resident = stream->sizes.resident_slices;
  const int64_t    most     = stream->sizes.chunk_steps * FOLD_LANES; /* entries of a range */
  int32_t         *host_col = (int32_t *)stream->host.columns;
  FoldHostScratch  staged_columns(exec), staged_values(exec);

  SPMV_TRY(staged_columns.alloc(most * 4, "staged columns"));
  SPMV_TRY(staged_values.alloc(most * S, "staged values"));
  SPMV_TRY(fold_each_resident_range(stream, [&](int64_t begin, int64_t end, int64_t first, int64_t entries) {
    FoldRange range = {begin, end, host_col + first, staged_values.block};
    SPMV_TRY(spmv_fetch(staged_values.block, (const char *)there->values + first * S, entries * S, exec));
    if (there->columns) {
      range.columns = staged_columns.block;
      SPMV_TRY(spmv_fetch(staged_columns.block, (const int32_t *)there->columns + first, entries * 4, exec));
    }
    fold_unfill(&stream->host, &range, b->index_type, b->scalar_type, stream->row_ptr, col, values);
    return SPMV_SUCCESS;
  }));
  const int64_t   skip = (stream->columns_begin < resident ? stream->sizes.resident_steps : 0) * FOLD_LANES;
  const FoldRange rest = {resident, stream->host.sizes.slices, host_col + skip, stream->host.values};
  fold_unfill(&stream->host, &rest, b->index_type, b->scalar_type, stream->row_ptr, col, values);
  return SPMV_SUCCESS;
}
} // namespace

SpmvStatus fold_stream_prepare_transpose(SpmvPlan *b, SpmvExec *exec)
{
  FoldStreamPlan *stream = (FoldStreamPlan *)b;
  const int64_t   S = spmv_scalar_bytes(b->scalar_type), I = spmv_index_bytes(b->index_type);
  FoldHostScratch col(exec), values(exec), t_row_ptr(exec), t_col(exec), t_values(exec);

  SPMV_TRY(col.alloc(b->nnz * I, "col"));
  SPMV_TRY(values.alloc(b->nnz * S, "values"));
  SPMV_TRY(t_row_ptr.alloc((b->cols + 1) * I, "transposed row_ptr"));
  SPMV_TRY(t_col.alloc(b->nnz * I, "transposed col"));
  SPMV_TRY(t_values.alloc(b->nnz * S, "transposed values"));
  SPMV_TRY(unfill(stream, col.block, values.block, exec));
  const SpmvPattern p = {b->rows, b->cols, b->nnz, b->index_type, SPMV_HOST, stream->row_ptr, col.block};
  spmv_transpose_on_host(&p, t_row_ptr.block, t_col.block, b->scalar_type, values.block, t_values.block);
  const SpmvCsr transposed = {{b->cols, b->rows, b->nnz, b->index_type, SPMV_HOST, t_row_ptr.block, t_col.block},
                              b->scalar_type,
                              SPMV_HOST,
                              t_values.block};
  return spmv_build_transposed(b, &transposed, &b->options, exec);
}

SpmvStatus fold_stream_extract(const SpmvPlan *base, void *values, SpmvExec *exec)
{
  const int64_t   bytes = base->nnz * spmv_scalar_bytes(base->scalar_type);
  FoldHostScratch numbers(exec);

  SPMV_TRY(numbers.alloc(bytes, "values in CSR order"));
  SPMV_TRY(unfill((const FoldStreamPlan *)base, NULL, numbers.block, exec));
  SPMV_TRY(spmv_copy(values, SPMV_DEVICE, numbers.block, SPMV_HOST, bytes, exec));
  return spmv_stream_wait(exec);
}
