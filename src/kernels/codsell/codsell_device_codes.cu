/* codsell_device_codes.cu - what a plan on the device has besides its values: codes, windows, long columns, pieces. */
#include "codsell_device_slices.cuh"
#include <cub/device/device_scan.cuh>

namespace
{
/* The codes of the slices; those of a lane by its thread, shared ids by all of them */
template <typename I>
__global__ void __launch_bounds__(CODSELL_THREADS)
    codsell_codes(const CodsellSource a, const CodsellSlice *__restrict__ slices, const I *__restrict__ row_ptr,
                  const I *__restrict__ col, uint8_t *codes)
{
  __shared__ CodsellShared s;
  const int64_t            slot = blockIdx.x * (int64_t)CODSELL_THREADS + threadIdx.x, slice = slot >> a.log_c;
  const CodsellRow<I>      r = row_in_slot(a, slot, row_ptr, col);
  int32_t                  offset[CODSELL_MAX_WORD];
  uint64_t                 print[2];

  measure(r, s);
  if (slice >= a.slices || s.width[r.slice] == 0) return;
  const CodsellSlice at   = slices[slice];
  const int          kind = (int)at.kind, width = (int)at.width, base = s.span[r.slice].low;
  const int          plain = kind >= CODSELL_COLUMNS16, starts = codsell_has_starts(kind);
  const int          start_bytes = codsell_start_bytes(kind), id_bytes = codsell_id_bytes(kind);
  const CodsellParts parts = codsell_parts(kind, width, a.word, r.c, (int)at.ragged);
  uint8_t           *to    = codes + at.code0;

  if (starts && r.lane == 0) *(int32_t *)to = base;
  if (at.ragged && width > 255) ((uint16_t *)(to + parts.lengths))[r.lane] = (uint16_t)r.n;
  else if (at.ragged) to[parts.lengths + r.lane] = (uint8_t)r.n;
  for (int k = 0, w = 0; starts && k < r.n; k += plain ? 1 : a.word, w++) {
    const int32_t start = ((int32_t)((int64_t)r.col[k] - (slot - r.lane)) - base) / (at.scaled ? a.word : 1);
    if (start_bytes == 2) ((uint16_t *)(to + parts.starts))[w * r.c + r.lane] = (uint16_t)start;
    else ((int32_t *)(to + parts.starts))[w * r.c + r.lane] = start;
  }
  if (plain) return;
  const CodsellRow<I> source = id_bytes ? r : first_row(a, r, s, row_ptr, col);
  for (int w = id_bytes ? 0 : r.lane; w < codsell_words(source.n, a.word); w += id_bytes ? 1 : r.c) {
    codsell_read_word(source.col, source.n, w, a.word, source.row, offset);
    codsell_prints(offset, a.word, &print[0], &print[1]);
    const int32_t id = id_of(a, print[starts], offset, a.word, starts, 0);
    if (id_bytes == 0) ((uint16_t *)(to + parts.ids))[w] = (uint16_t)id;
    else if (id_bytes == 1) to[parts.ids + w * r.c + r.lane] = (uint8_t)id;
    else ((uint16_t *)(to + parts.ids))[w * r.c + r.lane] = (uint16_t)id;
  }
}

/* Windows, one thread each, and long columns, one thread block a row */
template <typename I>
__global__ void __launch_bounds__(CODSELL_THREADS)
    codsell_rest(int64_t windows, int64_t window, const I *row_ptr, const I *col, const CodsellLong *long_rows,
                 int64_t long_count, int64_t *window_start, int32_t *long_columns)
{
  const int64_t w = blockIdx.x * (int64_t)CODSELL_THREADS + threadIdx.x;

  if (w < windows) window_start[w] = row_ptr[w * window];
  for (int64_t i = blockIdx.x; i < long_count; i += gridDim.x) {
    const int64_t n = long_rows[i + 1].first - long_rows[i].first, begin = row_ptr[long_rows[i].row];
    for (int64_t k = threadIdx.x; k < n; k += CODSELL_THREADS)
      long_columns[long_rows[i].first + k] = (int32_t)col[begin + k];
  }
}

__global__ void codsell_count_pieces(const CodsellLong *long_rows, int64_t n, int64_t *count)
{
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) count[i] = (long_rows[i + 1].first - long_rows[i].first + CODSELL_PIECE - 1) / CODSELL_PIECE;
}

__global__ void codsell_list_pieces(const int64_t *count, const int64_t *sum, int64_t n, CodsellPiece *pieces)
{
  for (int64_t i = blockIdx.x; i < n; i += gridDim.x)
    for (int64_t p = threadIdx.x; p < count[i]; p += blockDim.x)
      pieces[sum[i] - count[i] + p] = {(int32_t)i, (int32_t)p};
}

template <typename I>
SpmvStatus write_codes(const CodsellDeviceAnalysis *a, const SpmvPattern *p, CodsellPlan *plan, SpmvExec *exec)
{
  const CodsellShape *s       = &a->shape;
  const I            *row_ptr = (const I *)p->row_ptr, *col = (const I *)p->col;

  if (s->code_bytes > 0)
    SPMV_CUDA(exec, cudaMemsetAsync(plan->codes, 0, (size_t)s->code_bytes, (cudaStream_t)exec->stream));
  SPMV_LAUNCH(exec, codsell_codes<I>, spmv_blocks(s->slices << s->log_c, CODSELL_THREADS), CODSELL_THREADS, 0,
              codsell_source(a), plan->slices, row_ptr, col, plan->codes);
  const int64_t blocks = spmv_blocks(s->windows, CODSELL_THREADS);
  SPMV_LAUNCH(exec, codsell_rest<I>, blocks > s->long_rows ? blocks : s->long_rows, CODSELL_THREADS, 0, s->windows,
              s->window, row_ptr, col, plan->long_rows, s->long_rows, plan->windows, (int32_t *)plan->long_columns);
  return SPMV_SUCCESS;
}

SpmvStatus list_pieces(CodsellPlan *plan, SpmvArena *arena, SpmvExec *exec)
{
  const int64_t n = plan->shape.long_rows;
  int64_t      *count, *sum;

  if (n == 0) return SPMV_SUCCESS;
  SPMV_TRY(spmv_arena_array(arena, n, "pieces of rows", &count, exec));
  SPMV_TRY(spmv_arena_array(arena, n, "pieces before", &sum, exec));
  SPMV_LAUNCH(exec, codsell_count_pieces, spmv_blocks(n, 256), 256, 0, plan->long_rows, n, count);
  SPMV_CUB(exec, arena, cub::DeviceScan::InclusiveSum(scratch, bytes, count, sum, n, (cudaStream_t)exec->stream));
  SPMV_LAUNCH(exec, codsell_list_pieces, n < 65536 ? n : 65536, 128, 0, count, sum, n, plan->pieces);
  return spmv_stream_wait(exec); /* the arena leaves scope */
}
} // namespace

SpmvStatus codsell_device_codes(const CodsellDeviceAnalysis *a, const SpmvPattern *p, CodsellPlan *plan, SpmvExec *exec)
{
  SpmvScopedArena scratch(exec);

  SPMV_TRY(p->index_type == SPMV_I64 ? write_codes<int64_t>(a, p, plan, exec) : write_codes<int32_t>(a, p, plan, exec));
  return list_pieces(plan, &scratch.arena, exec);
}
