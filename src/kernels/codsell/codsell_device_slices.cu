/* codsell_device_slices.cu - kind and place of each slice on the device. */
#include "codsell_device_slices.cuh"
#include <cub/device/device_scan.cuh>

namespace
{
/* Whether the row has the words of the first one, and starts them at the same column modulo their length */
template <typename I>
__device__ inline void compare(const CodsellRow<I> &r, const CodsellRow<I> &first, int word, CodsellSpan *span)
{
  const int64_t shift = (r.row - first.row);
  int           same = r.n == first.n, relative = same;
  int64_t       start = 0;

  for (int k = 0, j = 0; k < r.n && (same || relative); k++) {
    const int64_t distance = (int64_t)r.col[k] - (int64_t)first.col[k];

    if (j == 0) start = distance;
    same &= distance == shift;
    relative &= distance == start;
    if (++j == word) j = 0;
  }
  if (!same) span->same = 0;
  if (!relative) span->same_relative = 0;
  for (int k = 0; k < r.n; k += word)
    if (((int64_t)r.col[k] - (int64_t)first.col[0]) % word != 0) span->aligned = 0;
}

/* The largest ids of a row's words w0, w0 + step, ... */
template <typename I>
__device__ inline void look_up(const CodsellSource &a, const CodsellRow<I> &r, int word, int verify, int w0, int step,
                               CodsellSpan *span)
{
  int32_t  offset[CODSELL_MAX_WORD], id = 0, relative = 0;
  uint64_t print[2];

  for (int w = w0; w < codsell_words(r.n, word) && (id != CODSELL_NO_ID || relative != CODSELL_NO_ID); w += step) {
    codsell_read_word(r.col, r.n, w, word, r.row, offset);
    codsell_prints(offset, word, &print[0], &print[1]);
    if (id != CODSELL_NO_ID) id = max(id, id_of(a, print[0], offset, word, 0, verify));
    if (relative != CODSELL_NO_ID) relative = max(relative, id_of(a, print[1], offset, word, 1, verify));
  }
  if (id > 0) atomicMax(&span->max_id, id);
  if (relative > 0) atomicMax(&span->max_relative, relative);
}

/* The span of the words of a length, after measure(). All threads of the block must call; the slices of the block are
   known to all of them afterwards. */
template <typename I>
__device__ inline void find_span(const CodsellSource &a, const CodsellRow<I> &r, int word, int verify, int64_t words,
                                 CodsellShared &s, const I *row_ptr, const I *col)
{
  CodsellSpan *span = &s.span[r.slice];

  __syncthreads();
  if (r.lane == 0) {
    span->same = span->same_relative = span->aligned = 1;
    span->max_id = span->max_relative = words > 0 ? 0 : CODSELL_NO_ID;
  }
  __syncthreads();
  if (r.n > 0) compare(r, first_row(a, r, s, row_ptr, col), word, span);
  if (r.n > 0 && r.n < s.width[r.slice]) span->same = span->same_relative = 0;
  __syncthreads();
  if (words > 0 && s.width[r.slice] > 0) {
    if (span->same) look_up(a, first_row(a, r, s, row_ptr, col), word, verify, r.lane, r.c, span);
    else if (r.n > 0) look_up(a, r, word, verify, 0, 1, span);
  }
  __syncthreads();
}

struct Lengths {
  int word[CODSELL_WORDS], count;
};

template <typename I>
__global__ void __launch_bounds__(CODSELL_THREADS)
    codsell_estimate(const CodsellSource a, const Lengths lengths, int64_t stride, const I *__restrict__ row_ptr,
                     const I *__restrict__ col, const int64_t *number, unsigned long long *bytes)
{
  __shared__ CodsellShared s;
  const int64_t            t = blockIdx.x * (int64_t)CODSELL_THREADS + threadIdx.x, sampled = t >> a.log_c;
  const int                here  = sampled * stride < a.slices;
  const int64_t            slice = here ? codsell_sampled(sampled, stride, a.slices) : a.slices;
  const CodsellRow<I>      r     = row_in_slot(a, (slice << a.log_c) + (t & ((1 << a.log_c) - 1)), row_ptr, col);

  measure(r, s);
  for (int l = 0; l < lengths.count; l++) {
    const int word = lengths.word[l];

    find_span(a, r, word, 0, number[l], s, row_ptr, col);
    if (!here || r.lane > 0) continue;
    const int width = s.width[r.slice], ragged = s.ragged[r.slice];
    const int kind   = codsell_choose(&s.span[r.slice], width, word, r.c, ragged);
    const int charge = codsell_charge(kind, width, word, r.c, ragged);
    if (charge > 0) atomicAdd(&bytes[l], (unsigned long long)charge);
  }
}

/* Sums over the slices in device memory */
struct SliceTotals {
  int64_t            columns, code_bytes;
  unsigned long long kinds[CODSELL_KINDS];
  int                used, moved;
};

/* Everything of a slice but its places, whose terms go to columns and bytes */
template <typename I>
__global__ void __launch_bounds__(CODSELL_THREADS)
    codsell_describe(const CodsellSource a, const I *__restrict__ row_ptr, const I *__restrict__ col,
                     CodsellSlice *slices, int64_t *columns, int64_t *bytes, SliceTotals *totals)
{
  __shared__ CodsellShared s;
  __shared__ int           kinds[CODSELL_KINDS], moved[CODSELL_SLICES], used;
  const int64_t            slot = blockIdx.x * (int64_t)CODSELL_THREADS + threadIdx.x, slice = slot >> a.log_c;
  const CodsellRow<I>      r = row_in_slot(a, slot, row_ptr, col);

  if (threadIdx.x < CODSELL_KINDS) kinds[threadIdx.x] = 0;
  if (threadIdx.x < CODSELL_SLICES) moved[threadIdx.x] = 0;
  if (threadIdx.x == 0) used = 0;
  measure(r, s);
  if (a.order && slice < a.slices && a.order[slot] != slot % a.window) moved[r.slice] = 1;
  find_span(a, r, a.word, 1, a.words, s, row_ptr, col);
  if (r.lane == 0 && slice <= a.slices) {
    const CodsellSpan *span  = &s.span[r.slice];
    const int          width = slice < a.slices ? s.width[r.slice] : 0, ragged = s.ragged[r.slice];
    const int          kind = codsell_choose(span, width, a.word, r.c, ragged);
    CodsellSlice       to   = {};

    columns[slice] = width;
    bytes[slice]   = slice < a.slices ? codsell_parts(kind, width, a.word, r.c, ragged).end : 0;
    to.width       = (uint64_t)width;
    to.kind        = (uint64_t)kind;
    to.ragged      = (uint64_t)ragged;
    to.moved       = (uint64_t)moved[r.slice];
    to.scaled      = (uint64_t)codsell_is_scaled(span, kind);
    if (slice < a.slices) slices[slice] = to;
    if (width > 0) {
      atomicAdd(&kinds[kind], 1);
      atomicMax(&used, codsell_ids_used(span, kind));
    }
  }
  __syncthreads();
  if (threadIdx.x < CODSELL_KINDS && kinds[threadIdx.x] > 0)
    atomicAdd(&totals->kinds[threadIdx.x], (unsigned long long)kinds[threadIdx.x]);
  if (threadIdx.x == 0 && used > 0) atomicMax(&totals->used, used);
}

__global__ void codsell_place_slices(CodsellSlice *slices, int64_t n, const int64_t *columns, const int64_t *bytes,
                                     const int *moved, SliceTotals *totals)
{
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) {
    CodsellSlice s = slices[i];
    s.column0      = (uint64_t)columns[i];
    s.code0        = (uint64_t)bytes[i];
    slices[i]      = s;
  }
  if (i != n) return;
  totals->columns    = columns[n];
  totals->code_bytes = bytes[n];
  totals->moved      = *moved;
}

template <typename I>
SpmvStatus describe(CodsellDeviceAnalysis *a, SliceTotals *host_totals, SpmvExec *exec)
{
  const int64_t n      = a->shape.slices;
  cudaStream_t  stream = (cudaStream_t)exec->stream;
  int64_t      *columns, *bytes_of, *column0, *code0;
  SliceTotals  *totals;

  SPMV_TRY(spmv_arena_array(&a->arena, n, "slices", &a->slices, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, n + 1, "widths", &columns, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, n + 1, "bytes of slices", &bytes_of, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, n + 1, "columns before", &column0, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, n + 1, "bytes before", &code0, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, 1, "totals of slices", &totals, exec));
  SPMV_CUDA(exec, cudaMemsetAsync(totals, 0, sizeof *totals, stream));
  SPMV_LAUNCH(exec, codsell_describe<I>, spmv_blocks((n + 1) << a->shape.log_c, CODSELL_THREADS), CODSELL_THREADS, 0,
              codsell_source(a), (const I *)a->pattern.row_ptr, (const I *)a->pattern.col, a->slices, columns, bytes_of,
              totals);
  SPMV_CUB(exec, &a->arena, cub::DeviceScan::ExclusiveSum(scratch, bytes, columns, column0, n + 1, stream));
  SPMV_CUB(exec, &a->arena, cub::DeviceScan::ExclusiveSum(scratch, bytes, bytes_of, code0, n + 1, stream));
  SPMV_LAUNCH(exec, codsell_place_slices, spmv_blocks(n + 1, 256), 256, 0, a->slices, n, column0, code0, a->moved,
              totals);
  return codsell_fetch(host_totals, totals, sizeof *totals, exec);
}

} // namespace

SpmvStatus codsell_device_estimate(const CodsellDeviceAnalysis *a, const int *word, int count, int64_t stride,
                                   const int64_t *number, unsigned long long *bytes, SpmvExec *exec)
{
  const SpmvPattern *p       = &a->pattern;
  const int64_t      threads = spmv_blocks(a->shape.slices, stride) << a->shape.log_c;
  Lengths            lengths = {{0}, count};

  for (int l = 0; l < count; l++) lengths.word[l] = word[l];
  SPMV_CUDA(exec, cudaMemsetAsync(bytes, 0, CODSELL_WORDS * sizeof *bytes, (cudaStream_t)exec->stream));
  if (p->index_type == SPMV_I64)
    SPMV_LAUNCH(exec, codsell_estimate<int64_t>, spmv_blocks(threads, CODSELL_THREADS), CODSELL_THREADS, 0,
                codsell_source(a), lengths, stride, (const int64_t *)p->row_ptr, (const int64_t *)p->col, number,
                bytes);
  else
    SPMV_LAUNCH(exec, codsell_estimate<int32_t>, spmv_blocks(threads, CODSELL_THREADS), CODSELL_THREADS, 0,
                codsell_source(a), lengths, stride, (const int32_t *)p->row_ptr, (const int32_t *)p->col, number,
                bytes);
  return SPMV_SUCCESS;
}

SpmvStatus codsell_device_slices(CodsellDeviceAnalysis *a, SpmvExec *exec)
{
  CodsellShape *s = &a->shape;
  SliceTotals   t;

  SPMV_TRY(a->pattern.index_type == SPMV_I64 ? describe<int64_t>(a, &t, exec) : describe<int32_t>(a, &t, exec));
  s->columns    = t.columns;
  s->code_bytes = t.code_bytes;
  s->words      = t.used;
  s->sorted     = t.moved;
  s->padding    = (s->columns << s->log_c) - (a->pattern.nnz - s->long_nnz);
  for (int k = 0; k < CODSELL_KINDS; k++) s->kinds[k] = (int64_t)t.kinds[k];
  return SPMV_SUCCESS;
}
