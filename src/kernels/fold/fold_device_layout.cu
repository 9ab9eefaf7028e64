/*
  fold_device_layout.cu - computes the sizes and the layout of a table from a row_ptr in device memory, with the same
  result as fold_layout.c on the host. The host waits for the histogram (twice if sorting may pay), for the numbers of
  folded rows, and for the number of steps.
*/
#include "device/csr.cuh"
#include "device/tuning.h"
#include "device/vector.cuh"
#include "fold_device.cuh"
#include "fold_rows.h"
#include <cub/device/device_select.cuh>
#include <cstring>

namespace
{
typedef unsigned long long Counter; /* the 64-bit type of atomicAdd */

enum { LENGTH_BITS = 9 /* for 0 .. FOLD_UNSORTED; the windows of 2^31 rows need the other 23 bits */ };
constexpr int64_t KEYS_BELOW = (int64_t)1 << 32; /* every bit of a sort key counts */
static_assert(FOLD_UNSORTED < 1 << LENGTH_BITS, "a capped length must fit its bits of a key");

/* Positions of the counters of fold_count_rows */
enum {
  LENGTHS     = 0,
  SLICES      = LENGTHS + FOLD_LONG + 1,
  SQUARES     = SLICES + FOLD_LONG + 1,
  LONGEST     = SQUARES + 1,
  LONG_SLICES = LONGEST + 1,
  COUNTERS    = LONG_SLICES + 1
};

template <typename I>
struct Rows {
  const I           *row_ptr;
  __device__ int64_t length(int64_t row) const { return (int64_t)(row_ptr[row + 1] - row_ptr[row]); }
};

__device__ inline int capped(int64_t length) { return length < FOLD_LONG ? (int)length : (int)FOLD_LONG; }

/* Counts rows by length and slices by their longest row, a warp per slice; order may be NULL */
template <typename I>
__global__ void __launch_bounds__(FOLD_THREADS)
    fold_count_rows(Rows<I> in, int64_t rows, FoldLayout layout, Counter *__restrict__ counters)
{
  __shared__ unsigned length_count[FOLD_LONG + 1], slice_count[FOLD_LONG + 1];
  const int64_t       warps = gridDim.x * (int64_t)(FOLD_THREADS / 32), slices = (rows + FOLD_LANES - 1) / FOLD_LANES;
  const int           lane = threadIdx.x % 32;

  for (int l = threadIdx.x; l <= FOLD_LONG; l += FOLD_THREADS) length_count[l] = slice_count[l] = 0;
  __syncthreads();
  for (int64_t slice = (blockIdx.x * (int64_t)FOLD_THREADS + threadIdx.x) / 32; slice < slices; slice += warps) {
    const int64_t  t = slice * FOLD_LANES + lane, length = t < rows ? in.length(fold_row(&layout, t)) : 0;
    const int      bin     = t < rows ? capped(length) : -1;
    const unsigned same    = __match_any_sync(0xffffffffu, bin);
    const int64_t  longest = spmv_max_lanes(length, 32);
    const Counter  squares = spmv_add_lanes((Counter)length * (Counter)length, 32);

    if (bin >= 0 && __ffs(same) - 1 == lane) atomicAdd(&length_count[bin], (unsigned)__popc(same));
    if (lane) continue;
    atomicAdd(&slice_count[capped(longest)], 1u);
    atomicAdd(&counters[SQUARES], squares);
    atomicMax(&counters[LONGEST], (Counter)longest);
    if (longest >= FOLD_LONG) atomicAdd(&counters[LONG_SLICES], (Counter)longest);
  }
  __syncthreads();
  for (int l = threadIdx.x; l <= FOLD_LONG; l += FOLD_THREADS) {
    if (length_count[l]) atomicAdd(&counters[LENGTHS + l], (Counter)length_count[l]);
    if (slice_count[l]) atomicAdd(&counters[SLICES + l], (Counter)slice_count[l]);
  }
}

/* Sort key of a row or an owner: window, then length descending */
__device__ inline uint32_t sort_key(int64_t window, int64_t length)
{
  return (uint32_t)window << LENGTH_BITS | (uint32_t)(FOLD_UNSORTED - min(length, (int64_t)FOLD_UNSORTED));
}

template <typename I>
__global__ void __launch_bounds__(FOLD_THREADS)
    fold_row_keys(Rows<I> in, int64_t rows, uint32_t *__restrict__ key, uint8_t *__restrict__ position)
{
  const int64_t i = blockIdx.x * (int64_t)FOLD_THREADS + threadIdx.x;
  if (i >= rows) return;
  key[i]      = sort_key(i / FOLD_WINDOW, in.length(i));
  position[i] = (uint8_t)(i % FOLD_WINDOW);
}

template <typename I>
SpmvStatus count_rows(const Rows<I> &in, int64_t rows, const FoldLayout &layout, SpmvArena *arena, FoldHistogram *h,
                      FoldOrder order, SpmvExec *exec)
{
  Counter *counters, found[COUNTERS];

  SPMV_TRY(spmv_arena_array(arena, (int64_t)COUNTERS, "row counters", &counters, exec));
  SPMV_CUDA(exec, cudaMemsetAsync(counters, 0, sizeof found, (cudaStream_t)exec->stream));
  const int64_t blocks = spmv_blocks(rows, FOLD_THREADS);
  SPMV_LAUNCH(exec, fold_count_rows<I>, blocks < SPMV_FOLD_COUNT_GRID ? blocks : (int64_t)SPMV_FOLD_COUNT_GRID,
              FOLD_THREADS, 0, in, rows, layout, counters);
  SPMV_TRY(spmv_fetch(found, counters, sizeof found, exec));
  h->longest     = (int64_t)found[LONGEST];
  h->sum_squares = (double)found[SQUARES];
  for (int l = 0; l <= FOLD_LONG; l++) {
    h->length[l]       = (int64_t)found[LENGTHS + l];
    h->slice[order][l] = (int64_t)found[SLICES + l];
  }
  h->long_slice_sum[order] = (int64_t)found[LONG_SLICES];
  return SPMV_SUCCESS;
}

template <typename I>
SpmvStatus sort_rows(const Rows<I> &in, int64_t rows, FoldDeviceAnalysis *a, SpmvExec *exec)
{
  uint32_t *key, *sorted_key;
  uint8_t  *position;

  SPMV_TRY(spmv_arena_array(&a->arena, rows, "keys", &key, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, rows, "sorted keys", &sorted_key, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, rows, "positions", &position, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, rows, "order", &a->layout.order, exec));
  SPMV_LAUNCH(exec, fold_row_keys<I>, spmv_blocks(rows, FOLD_THREADS), FOLD_THREADS, 0, in, rows, key, position);
  return spmv_sort_pairs(key, sorted_key, position, a->layout.order, rows, KEYS_BELOW, &a->arena, exec);
}

/* Computes the histogram h (its sorted half only if sorting may pay), and the choice in a->sizes */
template <typename I>
SpmvStatus choose(const Rows<I> &in, const SpmvPattern *p, SpmvScalar scalar, FoldGiven given, FoldHistogram *h,
                  FoldDeviceAnalysis *a, SpmvExec *exec)
{
  memset(h, 0, sizeof *h);
  h->rows = p->rows;
  h->nnz  = p->nnz;
  SPMV_TRY(count_rows(in, p->rows, FoldLayout{}, &a->arena, h, FOLD_NATURAL, exec));
  const int try_sorted = fold_sorting_may_pay(h, scalar, SPMV_DEVICE, given);
  if (try_sorted) {
    SPMV_TRY(sort_rows(in, p->rows, a, exec));
    SPMV_TRY(count_rows(in, p->rows, a->layout, &a->arena, h, FOLD_SORTED, exec));
  }
  fold_choose(h, try_sorted, scalar, SPMV_DEVICE, given, &a->sizes);
  if (a->sizes.order != FOLD_SORTED) a->layout.order = nullptr;
  return SPMV_SUCCESS;
}

/* ---- folded rows ---- */

/* The kinds of owners in their order; WHOLE marks rows that are not owners */
enum { CUT_UP, CUT_OFTEN, CUT_ONCE, KINDS, WHOLE = KINDS };

template <typename I>
struct Fold {
  Rows<I>            rows;
  int64_t            width;
  __device__ int64_t full_pieces(int64_t row) const
  {
    const int64_t length = rows.length(row);
    return length > 2 * width ? (length - 1) / width - 1 : 0;
  }
  __device__ int64_t last_piece(int64_t row) const { return (rows.length(row) - 1) % width + 1; }
  __device__ int     kind(int64_t row) const
  {
    if (rows.length(row) <= width) return WHOLE;
    const int64_t full = full_pieces(row);
    return full > FOLD_MANY ? CUT_UP : full > 0 ? CUT_OFTEN : CUT_ONCE;
  }
};

template <typename I>
struct IsOfKind {
  Fold<I>         fold;
  int             kind;
  __device__ bool operator()(int64_t row) const { return fold.kind(row) == kind; }
};

template <typename I>
struct FullPieces {
  Fold<I>            fold;
  const int64_t     *owner;
  __device__ int64_t operator()(int64_t f) const { return fold.full_pieces(owner[f]); }
};

/* counters[kind] += rows of that kind; counters[KINDS] += full pieces */
template <typename I>
__global__ void __launch_bounds__(FOLD_THREADS)
    fold_count_folded(Fold<I> fold, int64_t rows, Counter *__restrict__ counters)
{
  Counter count[KINDS + 1] = {0};

  for (int64_t i = blockIdx.x * (int64_t)FOLD_THREADS + threadIdx.x; i < rows; i += (int64_t)gridDim.x * FOLD_THREADS) {
    const int kind = fold.kind(i);
#pragma unroll
    for (int k = 0; k < KINDS; k++) count[k] += kind == k;
    count[KINDS] += (Counter)fold.full_pieces(i);
  }
#pragma unroll
  for (int k = 0; k <= KINDS; k++) {
    const Counter sum = spmv_add_lanes(count[k], 32);
    if (threadIdx.x % 32 == 0 && sum) atomicAdd(&counters[k], sum);
  }
}

template <typename I>
SpmvStatus count_folded(const Fold<I> &fold, FoldSizes *s, SpmvArena *arena, SpmvExec *exec)
{
  Counter      *counters, found[KINDS + 1] = {0};
  const int64_t blocks = spmv_blocks(s->rows, FOLD_THREADS);

  if (s->longest > s->width) {
    SPMV_TRY(spmv_arena_array(arena, (int64_t)KINDS + 1, "fold counters", &counters, exec));
    SPMV_CUDA(exec, cudaMemsetAsync(counters, 0, sizeof found, (cudaStream_t)exec->stream));
    SPMV_LAUNCH(exec, fold_count_folded<I>, blocks < SPMV_FOLD_COUNT_GRID ? blocks : (int64_t)SPMV_FOLD_COUNT_GRID,
                FOLD_THREADS, 0, fold, s->rows, counters);
    SPMV_TRY(spmv_fetch(found, counters, sizeof found, exec));
  }
  s->cut_up      = (int64_t)found[CUT_UP];
  s->cut_often   = s->cut_up + (int64_t)found[CUT_OFTEN];
  s->folded      = s->cut_often + (int64_t)found[CUT_ONCE];
  s->full_pieces = (int64_t)found[KINDS];
  s->table_rows  = s->rows + s->full_pieces + s->folded;
  s->slices      = (s->table_rows + FOLD_LANES - 1) / FOLD_LANES;
  return SPMV_SUCCESS;
}

/* The sort keys of owners. Each kind begins a new window. */
template <typename I>
__global__ void __launch_bounds__(FOLD_THREADS)
    fold_owner_keys(Fold<I> fold, FoldSizes s, const int64_t *__restrict__ owner, uint32_t *__restrict__ key)
{
  const int64_t begin[] = {0, s.cut_up, s.cut_often};
  const int64_t f       = blockIdx.x * (int64_t)FOLD_THREADS + threadIdx.x;
  if (f >= s.folded) return;
  const int kind   = f >= s.cut_often ? CUT_ONCE : f >= s.cut_up ? CUT_OFTEN : CUT_UP;
  int64_t   window = (f - begin[kind]) / FOLD_OWNERS;
  for (int k = 0; k < kind; k++) window += (begin[k + 1] - begin[k] + FOLD_OWNERS - 1) / FOLD_OWNERS;
  key[f] = sort_key(window, fold.last_piece(owner[f]));
}

template <typename I>
SpmvStatus list_owners(const Fold<I> &fold, FoldDeviceAnalysis *a, SpmvExec *exec)
{
  const FoldSizes *s       = &a->sizes;
  const int64_t    begin[] = {0, s->cut_up, s->cut_often, s->folded};
  int64_t         *owner, *selected;
  uint32_t        *key, *sorted_key;

  SPMV_TRY(spmv_arena_array(&a->arena, s->folded, "folded rows", &owner, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, s->folded, "owner", &a->layout.owner, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, s->folded, "keys", &key, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, s->folded, "sorted keys", &sorted_key, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, 1, "owner count", &selected, exec));
  for (int kind = 0; kind < KINDS; kind++) {
    const IsOfKind<I> keep = {fold, kind};
    if (begin[kind + 1] == begin[kind]) continue;
    SPMV_CUB(exec, &a->arena,
             cub::DeviceSelect::If(scratch, bytes, thrust::counting_iterator<int64_t>(0), owner + begin[kind], selected,
                                   s->rows, keep, (cudaStream_t)exec->stream));
  }
  SPMV_LAUNCH(exec, fold_owner_keys<I>, spmv_blocks(s->folded, FOLD_THREADS), FOLD_THREADS, 0, fold, *s, owner, key);
  SPMV_TRY(spmv_sort_pairs(key, sorted_key, owner, a->layout.owner, s->folded, KEYS_BELOW, &a->arena, exec));
  if (s->cut_often == 0) return SPMV_SUCCESS;
  SPMV_TRY(spmv_arena_array(&a->arena, s->cut_often + 1, "full_ptr", &a->layout.full_ptr, exec));
  return spmv_sum_each_before(FullPieces<I>{fold, a->layout.owner}, a->layout.full_ptr, s->cut_often, &a->arena, exec);
}

/* ---- slices ---- */

template <typename I>
__global__ void __launch_bounds__(FOLD_THREADS)
    fold_slice_widths(Fold<I> fold, FoldSizes s, FoldLayout layout, int64_t *__restrict__ width)
{
  const int64_t t = blockIdx.x * (int64_t)FOLD_THREADS + threadIdx.x, slice = t / FOLD_LANES;
  if (slice >= s.slices) return;
  int64_t length = 0;
  if (s.order == FOLD_UNIFORM) length = s.width;
  else if (t < s.rows) length = min(fold.rows.length(fold_row(&layout, t)), s.width);
  else if (t < s.rows + s.full_pieces) length = s.width;
  else if (t < s.table_rows) length = fold.last_piece(layout.owner[t - s.rows - s.full_pieces]);
  length = spmv_max_lanes(length, 32);
  if (t % FOLD_LANES == 0) width[slice] = length;
}

struct SliceWidth {
  const int64_t     *width;
  __device__ int64_t operator()(int64_t i) const { return width[i]; }
};

template <typename I>
SpmvStatus position_slices(const Fold<I> &fold, FoldDeviceAnalysis *a, SpmvExec *exec)
{
  FoldSizes *s = &a->sizes;
  int64_t   *width;

  SPMV_TRY(spmv_arena_array(&a->arena, s->slices, "slice widths", &width, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, s->slices + 1, "slice_ptr", &a->layout.slice_ptr, exec));
  SPMV_LAUNCH(exec, fold_slice_widths<I>, spmv_blocks(s->slices * FOLD_LANES, FOLD_THREADS), FOLD_THREADS, 0, fold, *s,
              a->layout, width);
  SPMV_TRY(spmv_sum_each_before(SliceWidth{width}, a->layout.slice_ptr, s->slices, &a->arena, exec));
  return spmv_fetch(&s->steps, a->layout.slice_ptr + s->slices, sizeof s->steps, exec);
}

template <typename I>
SpmvStatus lay_out(const void *row_ptr, const SpmvPattern *p, SpmvScalar scalar, FoldGiven given, FoldHistogram *h,
                   FoldDeviceAnalysis *a, SpmvExec *exec)
{
  const Rows<I> rows = {(const I *)row_ptr};

  SPMV_TRY(choose(rows, p, scalar, given, h, a, exec));
  const Fold<I> fold = {rows, a->sizes.width};
  SPMV_TRY(count_folded(fold, &a->sizes, &a->arena, exec));
  if (a->sizes.folded > 0) SPMV_TRY(list_owners(fold, a, exec));
  return position_slices(fold, a, exec);
}
} // namespace

SpmvStatus fold_device_lay_out(const void *row_ptr, SpmvIndex index, const SpmvPattern *p, SpmvScalar scalar,
                               FoldGiven given, SpmvExec *exec, FoldDeviceAnalysis *a)
{
  void      *h;
  SpmvStatus status = spmv_alloc(exec, SPMV_HOST, sizeof(FoldHistogram), "histogram", &h);

  if (status) return status;
  status = index == SPMV_I64 ? lay_out<int64_t>(row_ptr, p, scalar, given, (FoldHistogram *)h, a, exec)
                             : lay_out<int32_t>(row_ptr, p, scalar, given, (FoldHistogram *)h, a, exec);
  spmv_exec_free(exec, SPMV_HOST, h);
  return status;
}
