/* codsell_device_codes.cu - what a plan on the device has besides its values: codes, windows, long columns, pieces. */
#include "codsell_device_slices.cuh"

namespace
{
/* Lengths, starts and ids of the row of a thread */
template <int W, typename I>
__device__ inline void write_row(const CodsellSource &a, const CodsellRow<I> &r, const CodsellSlice &at, int base,
                                 uint8_t *to)
{
  const int          kind = (int)at.kind, width = (int)at.width, plain = kind >= CODSELL_COLUMNS16;
  const int          starts = codsell_has_starts(kind), scale = at.scaled ? W : 1, length = plain ? 1 : W;
  const int          start_bytes = codsell_start_bytes(kind), id_bytes = codsell_id_bytes(kind);
  const CodsellParts parts = codsell_parts(kind, width, W, r.c, (int)at.ragged);
  int32_t            offset[W];
  uint64_t           print[2];

  if (at.ragged && r.part == 0) {
    if (width > 255) ((uint16_t *)(to + parts.lengths))[r.lane] = (uint16_t)r.n;
    else to[parts.lengths + r.lane] = (uint8_t)r.n;
  }
  for (int w = r.part; (starts || id_bytes) && w * length < r.n; w += r.parts) {
    const int entry = w * r.c + r.lane;

    if (starts) {
      const int32_t start = (int32_t)r.col[w * length] - (r.slot - r.lane) - base;
      if (start_bytes == 2) ((uint16_t *)(to + parts.starts))[entry] = (uint16_t)(start / scale);
      else ((int32_t *)(to + parts.starts))[entry] = start;
    }
    if (id_bytes == 0) continue;
    read_word(r.col, r.n, w, r.row, offset);
    codsell_prints(offset, W, &print[0], &print[1]);
    const int32_t id = id_of<W, false>(a, starts ? print[1] : print[0], offset, starts);
    if (id_bytes == 1) to[parts.ids + entry] = (uint8_t)id;
    else ((uint16_t *)(to + parts.ids))[entry] = (uint16_t)id;
  }
}

/* The codes of the slices: those of a row by its threads, shared ids by those of the slice */
template <int W, typename I>
__global__ void __launch_bounds__(CODSELL_THREADS)
    codsell_codes(const CodsellSource a, int log_parts, const CodsellSlice *__restrict__ slices,
                  const I *__restrict__ row_ptr, const I *__restrict__ col, uint8_t *codes)
{
  __shared__ CodsellShared s;
  const int64_t            slot  = blockIdx.x * (int64_t)codsell_slots(log_parts) + (threadIdx.x >> log_parts);
  const int64_t            slice = slot >> a.log_c;
  const CodsellRow<I>      r     = row_in_slot(a, slot, log_parts, row_ptr, col);
  CodsellSlice             at    = {};

  if (slice < a.slices) at = slices[slice];
  const int kind = (int)at.kind, starts = at.width > 0 && codsell_has_starts(kind);
  measure(r, starts && r.n > 0 ? (int)r.col[0] - (r.slot - r.lane) : INT32_MAX, INT32_MIN, s);
  __syncthreads();
  if (at.width == 0) return;
  uint8_t *to = codes + at.code0;
  if (starts && rank_in_slice(r) == 0) *(int32_t *)to = s.span[r.slice].low;
  write_row<W>(a, r, at, s.span[r.slice].low, to);
  if (kind >= CODSELL_COLUMNS16 || codsell_id_bytes(kind)) return;
  const int n   = s.first_n[r.slice];
  uint16_t *ids = (uint16_t *)(to + codsell_parts(kind, (int)at.width, W, r.c, (int)at.ragged).ids);
  int32_t   offset[W];
  uint64_t  print[2];
  for (int w = rank_in_slice(r); w * W < n; w += threads_of_slice(r)) {
    read_word((const I *)s.first_col[r.slice], n, w, s.first_row[r.slice], offset);
    codsell_prints(offset, W, &print[0], &print[1]);
    ids[w] = (uint16_t)id_of<W, false>(a, starts ? print[1] : print[0], offset, starts);
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

/* The pieces of long row i are those from up_to[i - 1] to up_to[i] */
__global__ void codsell_list_pieces(const int64_t *up_to, int64_t long_rows, CodsellPiece *pieces)
{
  for (int64_t i = blockIdx.x; i < long_rows; i += gridDim.x) {
    const int64_t begin = i > 0 ? up_to[i - 1] : 0;
    for (int64_t p = begin + threadIdx.x; p < up_to[i]; p += blockDim.x) pieces[p] = {(int32_t)i, (int32_t)(p - begin)};
  }
}

template <int W, typename I>
SpmvStatus write_slices(const CodsellDeviceAnalysis *a, const SpmvPattern *p, CodsellPlan *plan, SpmvExec *exec)
{
  const int log_parts = codsell_log_parts(&a->shape, p->nnz, W);

  SPMV_LAUNCH(exec, (codsell_codes<W, I>), spmv_blocks(a->shape.slices << a->shape.log_c, codsell_slots(log_parts)),
              CODSELL_THREADS, 0, codsell_source(a), log_parts, plan->slices, (const I *)p->row_ptr, (const I *)p->col,
              plan->codes);
  return SPMV_SUCCESS;
}

template <typename I>
SpmvStatus write_codes(const CodsellDeviceAnalysis *a, const SpmvPattern *p, CodsellPlan *plan, SpmvExec *exec)
{
  const CodsellShape *s      = &a->shape;
  const int64_t       blocks = spmv_blocks(s->windows, CODSELL_THREADS);

  if (s->code_bytes > 0)
    SPMV_CUDA(exec, cudaMemsetAsync(plan->codes, 0, (size_t)s->code_bytes, (cudaStream_t)exec->stream));
  switch (s->word) {
#define WORD(n)                                                                                                        \
  case n:                                                                                                              \
    SPMV_TRY((write_slices<n, I>(a, p, plan, exec)));                                                                  \
    break;
    CODSELL_WORD_LIST(WORD)
#undef WORD
  }
  SPMV_LAUNCH(exec, codsell_rest<I>, blocks > s->long_rows ? blocks : s->long_rows, CODSELL_THREADS, 0, s->windows,
              s->window, (const I *)p->row_ptr, (const I *)p->col, plan->long_rows, s->long_rows, plan->windows,
              (int32_t *)plan->long_columns);
  return SPMV_SUCCESS;
}

} // namespace

SpmvStatus codsell_device_codes(const CodsellDeviceAnalysis *a, const SpmvPattern *p, CodsellPlan *plan, SpmvExec *exec)
{
  const int64_t n = a->shape.long_rows;

  SPMV_TRY(p->index_type == SPMV_I64 ? write_codes<int64_t>(a, p, plan, exec) : write_codes<int32_t>(a, p, plan, exec));
  SPMV_LAUNCH(exec, codsell_list_pieces, n < 65536 ? n : 65536, 128, 0, a->pieces, n, plan->pieces);
  return SPMV_SUCCESS;
}
