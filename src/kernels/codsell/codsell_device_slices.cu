/* codsell_device_slices.cu - kind and place of each slice, and its codes, on the device. A thread has the row of a
   lane; what the rows of a slice have in common is found out in shared memory. */
#include "codsell_device.cuh"
#include <cub/device/device_scan.cuh>

namespace
{
enum { SLICES = CODSELL_THREADS / 8 /* of a thread block, at most */ };

/* A slice while its thread block looks at it */
struct Shared {
  int         first[SLICES]; /* lane of the first row that is not empty; C if all are */
  int         width[SLICES], ragged[SLICES];
  CodsellSpan span[SLICES];
};

/* The row of a thread */
template <typename I>
struct Row {
  const I *col; /* of its first nonzero */
  int64_t  row, slot;
  int      n, lane, c, slice; /* slice: within the thread block */
};

template <typename I>
__device__ inline Row<I> row_in_slot(const CodsellSource &a, int64_t slot, const I *row_ptr, const I *col)
{
  Row<I> r;

  r.c     = 1 << a.log_c;
  r.slot  = slot;
  r.lane  = (int)(slot & (r.c - 1));
  r.slice = threadIdx.x >> a.log_c;
  r.n     = slot >> a.log_c < a.slices ? a.length[slot] : 0;
  r.row   = r.n > 0 ? codsell_row(a.order, a.window, slot) : 0;
  r.col   = r.n > 0 ? col + row_ptr[r.row] : nullptr;
  return r;
}

/* The first row of the slice of a row that has one */
template <typename I>
__device__ inline Row<I> first_row(const CodsellSource &a, const Row<I> &r, const Shared &s, const I *row_ptr,
                                   const I *col)
{
  return row_in_slot(a, r.slot - r.lane + s.first[r.slice], row_ptr, col);
}

/* Widths, ragged and the first rows. All threads of the block must call. */
template <typename I>
__device__ inline void measure(const Row<I> &r, Shared &s)
{
  if (threadIdx.x < SLICES) {
    s.first[threadIdx.x]  = r.c;
    s.width[threadIdx.x]  = 0;
    s.ragged[threadIdx.x] = 0;
    s.span[threadIdx.x]   = {0, 0, 1, 1, INT32_MAX, INT32_MIN};
  }
  __syncthreads();
  if (r.n > 0) {
    atomicMin(&s.first[r.slice], r.lane);
    atomicMax(&s.width[r.slice], r.n);
    atomicMin(&s.span[r.slice].low, (int)(r.col[0] - (r.slot - r.lane)));
    atomicMax(&s.span[r.slice].high, (int)(r.col[r.n - 1] - (r.slot - r.lane)));
  }
  __syncthreads();
  if (r.n < s.width[r.slice]) s.ragged[r.slice] = 1;
}

/* Whether the row has the words of the first one */
template <typename I>
__device__ inline void compare(const Row<I> &r, const Row<I> &first, int word, CodsellSpan *span)
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
}

/* The id of a print, or CODSELL_NO_ID; verify: only if the word of the dictionary is the same */
__device__ inline int32_t id_of(const CodsellSource &a, uint64_t print, const int32_t (&offset)[CODSELL_MAX_WORD],
                                int word, int relative, int verify)
{
  const CodsellEntry *e = a.table + codsell_find(a.table, a.capacity, print);

  if (!e->key || e->id == CODSELL_NO_ID) return CODSELL_NO_ID;
  const int32_t *there = a.dictionary + (int64_t)e->id * a.stride, start = relative ? offset[0] : 0;
#pragma unroll
  for (int j = 0; j < CODSELL_MAX_WORD; j++)
    if (verify && j < word && there[j] != offset[j] - start) return CODSELL_NO_ID;
  return (int32_t)e->id;
}

/* The largest ids of a row's words w0, w0 + step, ... */
template <typename I>
__device__ inline void look_up(const CodsellSource &a, const Row<I> &r, int word, int verify, int w0, int step,
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
__device__ inline void find_span(const CodsellSource &a, const Row<I> &r, int word, int verify, int64_t words,
                                 Shared &s, const I *row_ptr, const I *col)
{
  CodsellSpan *span = &s.span[r.slice];

  __syncthreads();
  if (r.lane == 0) {
    span->same = span->same_relative = 1;
    span->max_id = span->max_relative = words > 0 ? 0 : CODSELL_NO_ID;
  }
  __syncthreads();
  if (r.n > 0 && r.lane > s.first[r.slice]) compare(r, first_row(a, r, s, row_ptr, col), word, span);
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
  __shared__ Shared s;
  const int64_t     t = blockIdx.x * (int64_t)CODSELL_THREADS + threadIdx.x, sampled = t >> a.log_c;
  const int         here  = sampled * stride < a.slices;
  const int64_t     slice = here ? codsell_sampled(sampled, stride, a.slices) : a.slices;
  const Row<I>      r     = row_in_slot(a, (slice << a.log_c) + (t & ((1 << a.log_c) - 1)), row_ptr, col);

  measure(r, s);
  for (int l = 0; l < lengths.count; l++) {
    const int word = lengths.word[l];

    find_span(a, r, word, 0, number[l], s, row_ptr, col);
    if (!here || r.lane > 0) continue;
    const int width = s.width[r.slice], ragged = s.ragged[r.slice];
    const int kind = codsell_choose(&s.span[r.slice], width, word, r.c, ragged);
    const int end  = codsell_parts(kind, width, word, r.c, ragged).end;
    if (end > 0) atomicAdd(&bytes[l], (unsigned long long)end);
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
  __shared__ Shared s;
  __shared__ int    kinds[CODSELL_KINDS], moved[SLICES], used;
  const int64_t     slot = blockIdx.x * (int64_t)CODSELL_THREADS + threadIdx.x, slice = slot >> a.log_c;
  const Row<I>      r = row_in_slot(a, slot, row_ptr, col);

  if (threadIdx.x < CODSELL_KINDS) kinds[threadIdx.x] = 0;
  if (threadIdx.x < SLICES) moved[threadIdx.x] = 0;
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

/* The codes of the slices; those of a lane by its thread, shared ids by all of them */
template <typename I>
__global__ void __launch_bounds__(CODSELL_THREADS)
    codsell_codes(const CodsellSource a, const CodsellSlice *__restrict__ slices, const I *__restrict__ row_ptr,
                  const I *__restrict__ col, uint8_t *codes)
{
  __shared__ Shared s;
  const int64_t     slot = blockIdx.x * (int64_t)CODSELL_THREADS + threadIdx.x, slice = slot >> a.log_c;
  const Row<I>      r = row_in_slot(a, slot, row_ptr, col);
  int32_t           offset[CODSELL_MAX_WORD];
  uint64_t          print[2];

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
    const int32_t start = (int32_t)((int64_t)r.col[k] - (slot - r.lane)) - base;
    if (start_bytes == 2) ((uint16_t *)(to + parts.starts))[w * r.c + r.lane] = (uint16_t)start;
    else ((int32_t *)(to + parts.starts))[w * r.c + r.lane] = start;
  }
  if (plain) return;
  const Row<I> source = id_bytes ? r : first_row(a, r, s, row_ptr, col);
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
SpmvStatus write_codes(const CodsellDeviceAnalysis *a, const CodsellPattern *p, CodsellPlan *plan, SpmvExec *exec)
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

SpmvStatus codsell_device_estimate(const CodsellDeviceAnalysis *a, const int *word, int count, int64_t stride,
                                   const int64_t *number, unsigned long long *bytes, SpmvExec *exec)
{
  const CodsellPattern *p       = &a->pattern;
  const int64_t         threads = spmv_blocks(a->shape.slices, stride) << a->shape.log_c;
  Lengths               lengths = {{0}, count};

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

SpmvStatus codsell_device_codes(const CodsellDeviceAnalysis *a, const CodsellPattern *p, CodsellPlan *plan,
                                SpmvExec *exec)
{
  SpmvScopedArena scratch(exec);

  SPMV_TRY(p->index_type == SPMV_I64 ? write_codes<int64_t>(a, p, plan, exec) : write_codes<int32_t>(a, p, plan, exec));
  return list_pieces(plan, &scratch.arena, exec);
}
