/*
  rbp_device_rows.cu - rows of a device CSR looked at for format packed: which share their columns with the row above,
  how many units their runs make, and which group height and unit width cost the fewest bytes.
*/
#include "rbp_device_analyze.cuh"
#include <cooperative_groups.h>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace cg = cooperative_groups;

namespace
{
enum { SCAN_THREADS = 256, COUNTERS = RBP_MAX_G * (RBP_MAX_U + 1) };

/* T threads a row. Position in the run: distance to the last run start, carried from chunk to chunk. */
template <typename I, int T>
__global__ void __launch_bounds__(SCAN_THREADS)
    rbp_scan_rows(const I *__restrict__ row_ptr, const I *__restrict__ col, int64_t rows, uint8_t *__restrict__ same,
                  int32_t *__restrict__ units2, int32_t *__restrict__ units3)
{
  const auto    tile = cg::tiled_partition<T>(cg::this_thread_block());
  const int64_t row  = (blockIdx.x * (int64_t)SCAN_THREADS + threadIdx.x) / T;
  const int     lane = tile.thread_rank();
  if (row >= rows) return;
  const int64_t begin = row_ptr[row], length = row_ptr[row + 1] - begin;
  const int64_t above = row ? (int64_t)row_ptr[row - 1] : 0;
  bool          equal = row > 0 && begin - above == length && length <= RBP_LONG_ROW;
  int           n2 = 0, n3 = 0, carry = 0;

  for (int64_t k0 = 0; k0 < length && length <= RBP_LONG_ROW; k0 += T) {
    const int64_t  k      = k0 + lane;
    const bool     inside = k < length;
    const I        c      = inside ? col[begin + k] : I(0);
    const bool     start  = inside && (k == 0 || col[begin + k - 1] + 1 != c);
    const unsigned starts = tile.ballot(start), before = starts & (0xffffffffu >> (31 - lane));
    const int      position = before ? lane - (31 - __clz(before)) : lane + carry;

    if (inside && equal) equal = col[above + k] == c;
    n2 += __popc(tile.ballot(inside && position % 2 == 0));
    n3 += __popc(tile.ballot(inside && position % 3 == 0));
    carry = starts ? T - (31 - __clz(starts)) : carry + T;
  }
  equal = tile.all(equal);
  if (lane) return;
  same[row]   = equal;
  units2[row] = length <= RBP_LONG_ROW ? n2 : (int32_t)length;
  units3[row] = length <= RBP_LONG_ROW ? n3 : (int32_t)length;
}

struct DistinctRow {
  const uint8_t     *same;
  __device__ int32_t operator()(int64_t i) const { return same[i] ? 0 : (int32_t)i; }
};

struct Maximum {
  __device__ int32_t operator()(int32_t a, int32_t b) const { return a > b ? a : b; }
};

struct StartsGroup {
  const int32_t  *distinct;
  int             group_rows;
  __device__ bool operator()(int32_t i) const { return (i - distinct[i]) % group_rows == 0; }
};

template <typename I>
struct RowUnits {
  const I           *row_ptr;
  const int32_t     *units; /* NULL: one a nonzero */
  __device__ int64_t operator()(int64_t row) const
  {
    return units ? units[row] : (int64_t)(row_ptr[row + 1] - row_ptr[row]);
  }
};

template <typename I>
struct GroupUnits {
  RowUnits<I>        row_units;
  const int32_t     *group_row;
  int64_t            groups;
  __device__ int64_t operator()(int64_t g) const { return g < groups ? row_units(group_row[g]) : 0; }
};

/* counters[(G-1) * (MAX_U+1)] = groups of at most G rows, [.. + U] = their units of U columns */
template <typename I>
__global__ void __launch_bounds__(SCAN_THREADS)
    rbp_count_units(const I *__restrict__ row_ptr, const int32_t *__restrict__ distinct,
                    const int32_t *__restrict__ units2, const int32_t *__restrict__ units3, int64_t rows,
                    unsigned long long *__restrict__ counters)
{
  long long count[COUNTERS] = {0};

  for (int64_t i = blockIdx.x * (int64_t)SCAN_THREADS + threadIdx.x; i < rows; i += (int64_t)gridDim.x * SCAN_THREADS) {
    const int       p                = (int)(i - distinct[i]);
    const long long n[RBP_MAX_U + 1] = {1, (long long)(row_ptr[i + 1] - row_ptr[i]), units2[i], units3[i]};
#pragma unroll
    for (int G = 1; G <= RBP_MAX_G; G++)
#pragma unroll
      for (int k = 0; k <= RBP_MAX_U; k++) count[(G - 1) * (RBP_MAX_U + 1) + k] += p % G == 0 ? n[k] : 0;
  }
  __shared__ unsigned long long sum[COUNTERS];
  if (threadIdx.x < COUNTERS) sum[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll
  for (int c = 0; c < COUNTERS; c++) {
    long long s = count[c];
    for (int offset = 16; offset; offset >>= 1) s += __shfl_xor_sync(0xffffffffu, s, offset);
    if (threadIdx.x % 32 == 0) atomicAdd(&sum[c], (unsigned long long)s);
  }
  __syncthreads();
  if (threadIdx.x < COUNTERS) atomicAdd(&counters[threadIdx.x], sum[threadIdx.x]);
}

template <typename I>
SpmvStatus scan(RbpDeviceAnalysis *a, SpmvExec *exec)
{
  const SpmvPattern *p       = &a->pattern;
  const I           *row_ptr = (const I *)p->row_ptr, *col = (const I *)p->col;

  if (p->nnz < RBP_SHORT_ROW * p->rows)
    SPMV_LAUNCH(exec, (rbp_scan_rows<I, 8>), spmv_blocks(p->rows * 8, SCAN_THREADS), SCAN_THREADS, 0, row_ptr, col,
                p->rows, a->same, a->units[2], a->units[3]);
  else
    SPMV_LAUNCH(exec, (rbp_scan_rows<I, 32>), spmv_blocks(p->rows * 32, SCAN_THREADS), SCAN_THREADS, 0, row_ptr, col,
                p->rows, a->same, a->units[2], a->units[3]);
  return SPMV_SUCCESS;
}

/* Bytes that a product moves, and what adding up sums and gathering x cost beside them, in bytes of the same time
   (measured: a unit costs about 2, a sum in shared memory about 1) */
double predicted_bytes(const RbpVariant *v, const int64_t *counter, int64_t scalar_bytes)
{
  const double units = (double)counter[(v->group_rows - 1) * (RBP_MAX_U + 1) + v->unit_columns];
  return units * (double)(v->group_rows * v->unit_columns * scalar_bytes + 2 + 2 + v->group_rows);
}
} // namespace

SpmvStatus rbp_scan_pattern(RbpDeviceAnalysis *a, SpmvExec *exec)
{
  const int64_t rows = a->pattern.rows;

  SPMV_TRY(spmv_arena_array(&a->arena, rows, "row equality", &a->same, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, rows, "row units", &a->units[2], exec));
  SPMV_TRY(spmv_arena_array(&a->arena, rows, "row units", &a->units[3], exec));
  SPMV_TRY(spmv_arena_array(&a->arena, rows, "distinct rows", &a->distinct, exec));
  if (rows == 0) return SPMV_SUCCESS;
  SPMV_TRY(a->pattern.index_type == SPMV_I64 ? scan<int64_t>(a, exec) : scan<int32_t>(a, exec));
  const auto input = thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), DistinctRow{a->same});
  SPMV_CUB(
      exec, &a->arena,
      cub::DeviceScan::InclusiveScan(scratch, bytes, input, a->distinct, Maximum(), rows, (cudaStream_t)exec->stream));
  return SPMV_SUCCESS;
}

SpmvStatus rbp_choose_variant(RbpDeviceAnalysis *a, SpmvScalar scalar, int64_t min_run, SpmvExec *exec)
{
  const SpmvPattern  *p                 = &a->pattern;
  int64_t             counter[COUNTERS] = {0};
  unsigned long long *counters;
  const RbpVariant   *best = &rbp_variants[0];

  SPMV_TRY(spmv_arena_array(&a->arena, COUNTERS, "counters", &counters, exec));
  SPMV_CUDA(exec, cudaMemsetAsync(counters, 0, sizeof counter, (cudaStream_t)exec->stream));
  const int64_t blocks = spmv_blocks(p->rows, SCAN_THREADS), limited = blocks < 528 ? blocks : 528;
  if (p->index_type == SPMV_I64)
    SPMV_LAUNCH(exec, rbp_count_units<int64_t>, limited, SCAN_THREADS, 0, (const int64_t *)p->row_ptr, a->distinct,
                a->units[2], a->units[3], p->rows, counters);
  else
    SPMV_LAUNCH(exec, rbp_count_units<int32_t>, limited, SCAN_THREADS, 0, (const int32_t *)p->row_ptr, a->distinct,
                a->units[2], a->units[3], p->rows, counters);
  SPMV_TRY(rbp_fetch(counter, counters, sizeof counter, exec));

  for (const RbpVariant &v : rbp_variants) {
    if (v.unit_columns > 1 && v.unit_columns < min_run) continue;
    if (predicted_bytes(&v, counter, spmv_scalar_bytes(scalar)) <
        predicted_bytes(best, counter, spmv_scalar_bytes(scalar)))
      best = &v;
  }
  const int64_t *c      = &counter[(best->group_rows - 1) * (RBP_MAX_U + 1)];
  const int64_t  enough = 3000 * (int64_t)RBP_THREADS * best->units_large; /* units; fewer leave the GPU partly idle */
  a->shape.group_rows   = best->group_rows;
  a->shape.unit_columns = best->unit_columns;
  a->shape.groups       = c[0];
  a->shape.units        = c[best->unit_columns];
  a->shape.capacity     = RBP_THREADS * (a->shape.units < enough ? best->units_small : best->units_large);
  return SPMV_SUCCESS;
}

template <typename I>
static SpmvStatus make_groups(RbpDeviceAnalysis *a, SpmvExec *exec)
{
  const RbpDeviceShape *s = &a->shape;
  int64_t              *selected;
  const int32_t         rows = (int32_t)a->pattern.rows;

  SPMV_TRY(spmv_arena_array(&a->arena, 1, "group count", &selected, exec));
  if (rows > 0)
    SPMV_CUB(exec, &a->arena,
             cub::DeviceSelect::If(scratch, bytes, thrust::counting_iterator<int32_t>(0), a->group_row, selected,
                                   (int64_t)rows, StartsGroup{a->distinct, s->group_rows}, (cudaStream_t)exec->stream));
  SPMV_CUDA(exec, cudaMemcpyAsync(a->group_row + s->groups, &rows, sizeof rows, cudaMemcpyHostToDevice,
                                  (cudaStream_t)exec->stream));
  const GroupUnits<I> units = {{(const I *)a->pattern.row_ptr, a->units[s->unit_columns]}, a->group_row, s->groups};
  const auto          input = thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), units);
  SPMV_CUB(
      exec, &a->arena,
      cub::DeviceScan::ExclusiveSum(scratch, bytes, input, a->group_unit, s->groups + 1, (cudaStream_t)exec->stream));
  return SPMV_SUCCESS;
}

SpmvStatus rbp_make_groups(RbpDeviceAnalysis *a, SpmvExec *exec)
{
  SPMV_TRY(spmv_arena_array(&a->arena, a->shape.groups + 1, "group rows", &a->group_row, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, a->shape.groups + 1, "group units", &a->group_unit, exec));
  SPMV_TRY(a->pattern.index_type == SPMV_I64 ? make_groups<int64_t>(a, exec) : make_groups<int32_t>(a, exec));
  return SPMV_SUCCESS;
}
