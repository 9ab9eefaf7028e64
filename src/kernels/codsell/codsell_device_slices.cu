/* codsell_device_slices.cu - kind and place of each slice on the device. */
#include "codsell_device_slices.cuh"
#include <cub/device/device_scan.cuh>

namespace
{
/* Whether the row has the words of the first one, and starts them at the same column modulo their length */
template <int W, typename I>
__device__ inline void compare(const CodsellRow<I> &r, CodsellShared &s)
{
  const I   *first = (const I *)s.first_col[r.slice];
  const int  begin = (int)first[0], shift = r.row - s.first_row[r.slice];
  const bool equal = r.n == s.width[r.slice] && s.first_n[r.slice] == r.n;
  int        same = equal, relative = equal, aligned = 1;
  int32_t    here[W], there[W];

  for (int w = r.part; w * W < r.n; w += r.parts) {
    read_word(r.col, r.n, w, 0, here);
    aligned &= (here[0] - begin) % W == 0;
    if (!equal) continue;
    read_word(first, r.n, w, 0, there);
#pragma unroll
    for (int j = 0; j < W; j++) {
      same &= here[j] - there[j] == shift;
      relative &= here[j] - there[j] == here[0] - there[0];
    }
  }
  CodsellSpan *span = &s.span[r.slice];
  if (!same) span->same = 0;
  if (!relative) span->same_relative = 0;
  if (!aligned) span->aligned = 0;
}

/* Whether the largest id of a slice may still grow; other threads raise it meanwhile */
__device__ inline bool is_open(const int32_t *id) { return *(const volatile int32_t *)id != CODSELL_NO_ID; }

__device__ inline void raise(int32_t *largest, int32_t id)
{
  if (id > *(volatile int32_t *)largest) atomicMax(largest, id);
}

/* The largest ids of words w0, w0 + step, ... of a row, and if asked for, of these words from their own start */
template <int W, bool VERIFY, typename I>
__device__ inline void look_up(const CodsellSource &a, const I *col, int n, int row, int w0, int step, bool relative,
                               CodsellSpan *span)
{
  int32_t  offset[W];
  uint64_t print[2];

  for (int w = w0; w * W < n; w += step) {
    const bool ids = is_open(&span->max_id), starts = relative && is_open(&span->max_relative);

    if (!ids && !starts) return;
    read_word(col, n, w, row, offset);
    codsell_prints(offset, W, &print[0], &print[1]);
    if (ids) raise(&span->max_id, id_of<W, VERIFY>(a, print[0], offset, 0));
    if (starts) raise(&span->max_relative, id_of<W, VERIFY>(a, print[1], offset, 1));
  }
}

/* The span of the words of a length, after measure(). The words of the first row come first: they are those of all rows
   where rows are the same, and show mostly whether a slice has to be looked up at all. All threads of the block must
   call; the slices of the block are known to all of them afterwards. */
template <int W, bool VERIFY, typename I>
__device__ inline void find_span(const CodsellSource &a, const CodsellRow<I> &r, int64_t words, CodsellShared &s)
{
  CodsellSpan *span = &s.span[r.slice];

  __syncthreads();
  if (rank_in_slice(r) == 0) {
    span->same = span->same_relative = span->aligned = 1;
    span->max_id = span->max_relative = words > 0 ? 0 : CODSELL_NO_ID;
  }
  __syncthreads();
  if (r.n > 0) compare<W>(r, s);
  if (s.width[r.slice] > 0)
    look_up<W, VERIFY>(a, (const I *)s.first_col[r.slice], s.first_n[r.slice], s.first_row[r.slice], rank_in_slice(r),
                       threads_of_slice(r), true, span);
  __syncthreads();
  if (!span->same) look_up<W, VERIFY>(a, r.col, r.n, r.row, r.part, r.parts, !span->same_relative, span);
  __syncthreads();
}

template <typename I>
__device__ inline void measure_columns(const CodsellRow<I> &r, CodsellShared &s)
{
  const int slot = r.slot - r.lane;

  measure(r, r.n > 0 ? (int)r.col[0] - slot : INT32_MAX, r.n > 0 ? (int)r.col[r.n - 1] - slot : INT32_MIN, s);
}

struct Lengths {
  int word[CODSELL_WORDS], count;
};

/* What a slice speaks against a word length */
template <int W, typename I>
__device__ inline void estimate(const CodsellSource &a, const CodsellRow<I> &r, int64_t words, CodsellShared &s,
                                unsigned long long *bytes)
{
  find_span<W, false>(a, r, words, s);
  if (rank_in_slice(r) > 0) return;
  const int width = s.width[r.slice], ragged = s.ragged[r.slice];
  const int kind   = codsell_choose(&s.span[r.slice], width, W, r.c, ragged);
  const int charge = codsell_charge(kind, width, W, r.c, ragged);
  if (charge > 0) atomicAdd(bytes, (unsigned long long)charge);
}

/* Each thread block has some slices of the sample and one of the word lengths */
template <typename I>
__global__ void __launch_bounds__(CODSELL_THREADS)
    codsell_estimate(const CodsellSource a, const Lengths lengths, int log_parts, int64_t stride,
                     const I *__restrict__ row_ptr, const I *__restrict__ col, const int64_t *number,
                     unsigned long long *bytes)
{
  __shared__ CodsellShared s;
  const int                l = blockIdx.x % lengths.count;
  const int64_t       t = blockIdx.x / lengths.count * (int64_t)codsell_slots(log_parts) + (threadIdx.x >> log_parts);
  const int64_t       sampled = t >> a.log_c;
  const int64_t       slice   = sampled * stride < a.slices ? codsell_sampled(sampled, stride, a.slices) : a.slices;
  const CodsellRow<I> r = row_in_slot(a, (slice << a.log_c) + (t & ((1 << a.log_c) - 1)), log_parts, row_ptr, col);

  measure_columns(r, s);
  switch (lengths.word[l]) {
#define WORD(n)                                                                                                        \
  case n:                                                                                                              \
    estimate<n>(a, r, number[l], s, bytes + l);                                                                        \
    break;
    CODSELL_WORD_LIST(WORD)
#undef WORD
  }
}

/* Sums over the slices in device memory */
struct SliceTotals {
  int64_t            columns, code_bytes;
  unsigned long long kinds[CODSELL_KINDS];
  int                used, moved;
};

/* Everything of a slice but its places, whose terms go to columns and bytes */
template <int W, typename I>
__global__ void __launch_bounds__(CODSELL_THREADS)
    codsell_describe(const CodsellSource a, int log_parts, const I *__restrict__ row_ptr, const I *__restrict__ col,
                     CodsellSlice *slices, int64_t *columns, int64_t *bytes, SliceTotals *totals)
{
  __shared__ CodsellShared s;
  __shared__ int           kinds[CODSELL_KINDS], moved[CODSELL_SLICES], used;
  const int64_t            slot  = blockIdx.x * (int64_t)codsell_slots(log_parts) + (threadIdx.x >> log_parts);
  const int64_t            slice = slot >> a.log_c;
  const CodsellRow<I>      r     = row_in_slot(a, slot, log_parts, row_ptr, col);

  if (threadIdx.x < CODSELL_KINDS) kinds[threadIdx.x] = 0;
  if (threadIdx.x < CODSELL_SLICES) moved[threadIdx.x] = 0;
  if (threadIdx.x == 0) used = 0;
  measure_columns(r, s);
  if (a.order && slice < a.slices && a.order[slot] != (unsigned)slot % (unsigned)a.window) moved[r.slice] = 1;
  find_span<W, true>(a, r, a.words, s);
  if (rank_in_slice(r) == 0 && slice <= a.slices) {
    const CodsellSpan *span  = &s.span[r.slice];
    const int          width = slice < a.slices ? s.width[r.slice] : 0, ragged = s.ragged[r.slice];
    const int          kind = codsell_choose(span, width, W, r.c, ragged);
    CodsellSlice       to   = {};

    columns[slice] = width;
    bytes[slice]   = slice < a.slices ? codsell_parts(kind, width, W, r.c, ragged).end : 0;
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

template <int W, typename I>
SpmvStatus describe(const CodsellDeviceAnalysis *a, int64_t *columns, int64_t *bytes, SliceTotals *totals,
                    SpmvExec *exec)
{
  const int log_parts = codsell_log_parts(&a->shape, a->pattern.nnz, W);

  SPMV_LAUNCH(exec, (codsell_describe<W, I>),
              spmv_blocks((a->shape.slices + 1) << a->shape.log_c, codsell_slots(log_parts)), CODSELL_THREADS, 0,
              codsell_source(a), log_parts, (const I *)a->pattern.row_ptr, (const I *)a->pattern.col, a->slices,
              columns, bytes, totals);
  return SPMV_SUCCESS;
}

template <int W>
SpmvStatus describe_words(const CodsellDeviceAnalysis *a, int64_t *columns, int64_t *bytes, SliceTotals *totals,
                          SpmvExec *exec)
{
  return a->pattern.index_type == SPMV_I64 ? describe<W, int64_t>(a, columns, bytes, totals, exec)
                                           : describe<W, int32_t>(a, columns, bytes, totals, exec);
}

SpmvStatus describe_slices(CodsellDeviceAnalysis *a, SliceTotals *host_totals, SpmvExec *exec)
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
  switch (a->shape.word) {
#define WORD(n)                                                                                                        \
  case n:                                                                                                              \
    SPMV_TRY(describe_words<n>(a, columns, bytes_of, totals, exec));                                                   \
    break;
    CODSELL_WORD_LIST(WORD)
#undef WORD
  }
  SPMV_CUB(exec, &a->arena, cub::DeviceScan::ExclusiveSum(scratch, bytes, columns, column0, n + 1, stream));
  SPMV_CUB(exec, &a->arena, cub::DeviceScan::ExclusiveSum(scratch, bytes, bytes_of, code0, n + 1, stream));
  SPMV_LAUNCH(exec, codsell_place_slices, spmv_blocks(n + 1, 256), 256, 0, a->slices, n, column0, code0, a->moved,
              totals);
  return spmv_fetch(host_totals, totals, sizeof *totals, exec);
}
} // namespace

SpmvStatus codsell_device_estimate(const CodsellDeviceAnalysis *a, const int *word, int count, int64_t stride,
                                   const int64_t *number, unsigned long long *bytes, SpmvExec *exec)
{
  const SpmvPattern *p         = &a->pattern;
  const int          log_parts = codsell_log_parts(&a->shape, p->nnz, 1);
  const int64_t      slots     = spmv_blocks(a->shape.slices, stride) << a->shape.log_c;
  const int64_t      blocks    = spmv_blocks(slots, codsell_slots(log_parts)) * count;
  Lengths            lengths   = {{0}, count};

  for (int l = 0; l < count; l++) lengths.word[l] = word[l];
  SPMV_CUDA(exec, cudaMemsetAsync(bytes, 0, CODSELL_WORDS * sizeof *bytes, (cudaStream_t)exec->stream));
  if (p->index_type == SPMV_I64)
    SPMV_LAUNCH(exec, codsell_estimate<int64_t>, blocks, CODSELL_THREADS, 0, codsell_source(a), lengths, log_parts,
                stride, (const int64_t *)p->row_ptr, (const int64_t *)p->col, number, bytes);
  else
    SPMV_LAUNCH(exec, codsell_estimate<int32_t>, blocks, CODSELL_THREADS, 0, codsell_source(a), lengths, log_parts,
                stride, (const int32_t *)p->row_ptr, (const int32_t *)p->col, number, bytes);
  return SPMV_SUCCESS;
}

SpmvStatus codsell_device_slices(CodsellDeviceAnalysis *a, SpmvExec *exec)
{
  CodsellShape *s = &a->shape;
  SliceTotals   t;

  SPMV_TRY(describe_slices(a, &t, exec));
  s->columns    = t.columns;
  s->code_bytes = t.code_bytes;
  s->words      = t.used;
  s->sorted     = t.moved;
  s->padding    = (s->columns << s->log_c) - (a->pattern.nnz - s->long_nnz);
  for (int k = 0; k < CODSELL_KINDS; k++) s->kinds[k] = (int64_t)t.kinds[k];
  return SPMV_SUCCESS;
}
