/* codsell_device_slices.cu - computes kind and offsets of each slice on the device. */
#include "codsell_device_slices.cuh"
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace
{
/* Whether the largest id of a slice can still grow; volatile, since other threads raise it concurrently */
__device__ inline bool is_open(const int32_t *id) { return *(const volatile int32_t *)id != CODSELL_NO_ID; }

__device__ inline void raise(int32_t *largest, int32_t id)
{
  if (id > *(volatile int32_t *)largest) atomicMax(largest, id);
}

/* Raises the largest ids of a slice to those of a word: of the word itself (ids), and of the word relative to its start
   (starts) */
template <int W, bool VERIFY>
__device__ inline void look_up(const CodsellSource &a, const int32_t (&offset)[W], bool ids, bool starts,
                               CodsellSummary *summary)
{
  uint64_t fingerprint, relative;

  if (!ids && !starts) return;
  codsell_fingerprints(offset, W, &fingerprint, &relative);
  if (ids) raise(&summary->max_id, id_of<W, VERIFY>(a, fingerprint, offset, 0));
  if (starts) raise(&summary->max_relative, id_of<W, VERIFY>(a, relative, offset, 1));
}

/* Looks up the words of the longest rows of all slices of the thread block, with neighbouring threads on one row */
template <int W, bool VERIFY, typename I>
__device__ inline void look_up_longest(const CodsellSource &a, const CodsellRow<I> &r, CodsellShared &s)
{
  const int       slice   = threadIdx.x & ((1 << r.log_slices) - 1);
  const int       n       = codsell_width(s.widest[slice]);
  CodsellSummary *summary = &s.summary[slice];
  int32_t         offset[W];

  for (int w = threadIdx.x >> r.log_slices; w * W < n; w += r.c * r.parts) {
    const bool ids = is_open(&summary->max_id), starts = is_open(&summary->max_relative);

    if (!ids && !starts) return;
    read_word((const I *)s.col[slice], n, w, s.row[slice], offset);
    look_up<W, VERIFY>(a, offset, ids, starts, summary);
  }
}

/* Compares the words of a row with those of the longest row, and looks up words that differ. It stops once the slice
   has both a word and a relative word that are not in the dictionary: then only kinds without words are possible. */
template <int W, bool VERIFY, typename I>
__device__ inline void compare(const CodsellSource &a, const CodsellRow<I> &r, CodsellShared &s)
{
  CodsellSummary *summary = &s.summary[r.slice];
  const I        *other   = (const I *)s.col[r.slice];
  const int       width = codsell_width(s.widest[r.slice]), shift = r.row - s.row[r.slice];
  const bool      narrow = codsell_is_narrow(summary);
  int             same = r.n == width, relative = same, aligned = 1;
  int32_t         here[W], there[W];

  for (int w = r.part; w * W < r.n; w += r.parts) {
    const bool ids = is_open(&summary->max_id), starts = is_open(&summary->max_relative);

    if (!ids && !starts) return;
    const int left = r.n - 1 - w * W; /* columns after the first one */
#pragma unroll
    for (int j = 0; j < W; j++) {
      const int k = w * W + min(j, left);
      here[j]     = (int32_t)r.col[k];
      there[j]    = (int32_t)other[k];
    }
    const int distance = here[0] - there[0];
    bool      equal    = r.n == width || left >= W - 1;
#pragma unroll
    for (int j = 1; j < W; j++) equal &= here[j] - there[j] == distance;
    const bool known = equal && distance == shift;
    same &= known;
    relative &= equal;
    if (!narrow) aligned &= (here[0] - (int)other[0]) % W == 0;
#pragma unroll
    for (int j = 0; j < W; j++) here[j] -= r.row;
    look_up<W, VERIFY>(a, here, ids && !known, starts && !equal, summary);
  }
  if (!same) summary->same = 0;
  if (!relative) summary->same_relative = 0;
  if (!aligned) summary->aligned = 0;
}

/* Completes the summaries of the slices of a thread block for a word length, after measure(). Called by all threads,
   which may read the summaries afterwards. */
template <int W, bool VERIFY, typename I>
__device__ inline void summarize_slices(const CodsellSource &a, const CodsellRow<I> &r, CodsellShared &s)
{
  __syncthreads();
  look_up_longest<W, VERIFY>(a, r, s);
  __syncthreads();
  if (r.n > 0) compare<W, VERIFY>(a, r, s);
  __syncthreads();
}

struct Lengths {
  int word[CODSELL_WORDS], count;
};

/* Adds the cost of the slices of a thread block for a word length */
template <int W, typename I>
__device__ inline void estimate(const CodsellSource &a, const CodsellRow<I> &r, CodsellShared &s,
                                unsigned long long *bytes)
{
  summarize_slices<W, false>(a, r, s);
  if ((int)threadIdx.x >> r.log_slices > 0) return;
  const int width = codsell_width(s.widest[threadIdx.x]), ragged = s.ragged[threadIdx.x];
  const int kind = codsell_choose(&s.summary[threadIdx.x], width, W, r.c, ragged);
  const int cost = codsell_cost(kind, width, W, r.c, ragged);
  if (cost > 0) atomicAdd(bytes, (unsigned long long)cost);
}

/* Estimates costs: each thread block processes some slices of the sample with one of the word lengths */
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

  measure(r, number[l], s);
  switch (lengths.word[l]) {
#define WORD(n)                                                                                                        \
  case n:                                                                                                              \
    estimate<n>(a, r, s, bytes + l);                                                                                   \
    break;
    CODSELL_WORD_LIST(WORD)
#undef WORD
  }
}

/* Sets all fields of the slices except their offsets */
template <int W, typename I>
__global__ void __launch_bounds__(CODSELL_THREADS)
    codsell_describe(const CodsellSource a, int log_parts, const I *__restrict__ row_ptr, const I *__restrict__ col,
                     CodsellSlice *slices, CodsellFound *found)
{
  __shared__ CodsellShared s;
  const int64_t            slot0 = blockIdx.x * (int64_t)codsell_slots(log_parts);
  const CodsellRow<I>      r     = row_in_slot(a, slot0 + (threadIdx.x >> log_parts), log_parts, row_ptr, col);
  const int64_t            slice = (slot0 >> a.log_c) + threadIdx.x;

  measure(r, *a.words, s);
  summarize_slices<W, true>(a, r, s);
  if ((int)threadIdx.x >> r.log_slices > 0 || slice >= a.slices) return;
  const CodsellSummary *summary = &s.summary[threadIdx.x];
  const int             width = codsell_width(s.widest[threadIdx.x]), ragged = s.ragged[threadIdx.x];
  const int             kind = codsell_choose(summary, width, W, r.c, ragged);
  CodsellSlice          to   = {};

  to.width      = (uint64_t)width;
  to.kind       = (uint64_t)kind;
  to.ragged     = (uint64_t)ragged;
  to.permuted   = (uint64_t)s.permuted[threadIdx.x];
  to.scaled     = (uint64_t)codsell_is_scaled(summary, kind);
  slices[slice] = to;
  found[slice]  = {summary->low, s.row[threadIdx.x], width > 0 ? codsell_ids_used(summary, kind) : 0};
}

/* Columns and bytes of one slice, or their running sums over the slices */
struct Offsets {
  int64_t columns, bytes;
};

struct AddOffsets {
  __host__ __device__ Offsets operator()(const Offsets &a, const Offsets &b) const
  {
    return {a.columns + b.columns, a.bytes + b.bytes};
  }
};

struct OffsetsOfSlice {
  const CodsellSlice *slices;
  int                 word, c;
  __device__ Offsets  operator()(int64_t i) const
  {
    const CodsellSlice s = slices[i];
    return {(int64_t)s.width, codsell_offsets((int)s.kind, (int)s.width, word, c, (int)s.ragged).end};
  }
};

/* Sums over all slices, in device memory */
struct SliceTotals {
  Offsets            all;
  unsigned long long kinds[CODSELL_KINDS];
  int                used, permuted;
};

__global__ void __launch_bounds__(CODSELL_THREADS)
    codsell_position_slices(CodsellSlice *slices, const CodsellFound *found, int64_t n, const Offsets *up_to,
                            const int *permuted, SliceTotals *totals)
{
  __shared__ int kinds[CODSELL_KINDS], used;
  const int64_t  i = blockIdx.x * (int64_t)CODSELL_THREADS + threadIdx.x;

  if (threadIdx.x < CODSELL_KINDS) kinds[threadIdx.x] = 0;
  if (threadIdx.x == 0) used = 0;
  __syncthreads();
  if (i < n) {
    CodsellSlice s = slices[i];

    s.column0 = i > 0 ? (uint64_t)up_to[i - 1].columns : 0;
    s.code0   = i > 0 ? (uint64_t)up_to[i - 1].bytes : 0;
    slices[i] = s;
    if (s.width > 0) atomicAdd(&kinds[s.kind], 1);
    raise(&used, found[i].used);
  }
  if (i == n - 1) {
    totals->all      = up_to[i];
    totals->permuted = *permuted;
  }
  __syncthreads();
  if (threadIdx.x < CODSELL_KINDS && kinds[threadIdx.x] > 0)
    atomicAdd(&totals->kinds[threadIdx.x], (unsigned long long)kinds[threadIdx.x]);
  if (threadIdx.x == 0 && used > 0) atomicMax(&totals->used, used);
}

template <int W, typename I>
SpmvStatus describe(const CodsellDeviceAnalysis *a, SpmvExec *exec)
{
  const int log_parts = codsell_log_parts(&a->shape, a->pattern.nnz, W);

  SPMV_LAUNCH(exec, (codsell_describe<W, I>), spmv_blocks(a->shape.slices << a->shape.log_c, codsell_slots(log_parts)),
              CODSELL_THREADS, 0, codsell_source(a), log_parts, (const I *)a->pattern.row_ptr,
              (const I *)a->pattern.col, a->slices, a->found);
  return SPMV_SUCCESS;
}

SpmvStatus describe_slices(CodsellDeviceAnalysis *a, SpmvExec *exec)
{
  const int64_t n    = a->shape.slices;
  const bool    wide = a->pattern.index_type == SPMV_I64;

  SPMV_TRY(spmv_arena_array(&a->arena, n, "slices", &a->slices, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, n, "rows of slices", &a->found, exec));
  switch (a->shape.word) {
#define WORD(n)                                                                                                        \
  case n:                                                                                                              \
    return wide ? describe<n, int64_t>(a, exec) : describe<n, int32_t>(a, exec);
    CODSELL_WORD_LIST(WORD)
#undef WORD
  }
  return SPMV_SUCCESS;
}

SpmvStatus position_slices(CodsellDeviceAnalysis *a, SliceTotals *host_totals, SpmvExec *exec)
{
  const int64_t n      = a->shape.slices;
  cudaStream_t  stream = (cudaStream_t)exec->stream;
  Offsets      *up_to;
  SliceTotals  *totals;

  SPMV_TRY(spmv_arena_array(&a->arena, n, "offsets of slices", &up_to, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, 1, "totals of slices", &totals, exec));
  SPMV_CUDA(exec, cudaMemsetAsync(totals, 0, sizeof *totals, stream));
  const auto offsets = thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0),
                                                       OffsetsOfSlice{a->slices, a->shape.word, 1 << a->shape.log_c});
  SPMV_CUB(exec, &a->arena, cub::DeviceScan::InclusiveScan(scratch, bytes, offsets, up_to, AddOffsets(), n, stream));
  SPMV_LAUNCH(exec, codsell_position_slices, spmv_blocks(n, CODSELL_THREADS), CODSELL_THREADS, 0, a->slices, a->found,
              n, up_to, a->permuted, totals);
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
  return spmv_with_index(p->index_type, [&](auto index) -> SpmvStatus {
    typedef decltype(index) I;
    SPMV_LAUNCH(exec, codsell_estimate<I>, blocks, CODSELL_THREADS, 0, codsell_source(a), lengths, log_parts, stride,
                (const I *)p->row_ptr, (const I *)p->col, number, bytes);
    return SPMV_SUCCESS;
  });
}

SpmvStatus codsell_device_slices(CodsellDeviceAnalysis *a, SpmvExec *exec)
{
  CodsellShape *s = &a->shape;
  SliceTotals   t;

  SPMV_TRY(describe_slices(a, exec));
  SPMV_TRY(position_slices(a, &t, exec));
  s->columns    = t.all.columns;
  s->code_bytes = t.all.bytes;
  s->words      = t.used;
  s->sorted     = t.permuted;
  s->padding    = (s->columns << s->log_c) - (a->pattern.nnz - s->long_nnz);
  for (int k = 0; k < CODSELL_KINDS; k++) s->kinds[k] = (int64_t)t.kinds[k];
  return SPMV_SUCCESS;
}
