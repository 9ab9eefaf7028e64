/*
  rbp_device_rows.cu - rows of a device CSR into groups for format packed: which group height and unit width cost the
  fewest bytes, where the groups begin and how many units each of them has.
*/
#include "rbp_device_analyze.cuh"
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace
{
enum {
  COUNT_THREADS = 256,
  COUNT_ROWS    = 4, /* of a thread, whose loads are under way together */
  COUNT_BLOCKS  = 1056,
  COUNTERS      = RBP_MAX_G * (RBP_MAX_U + 1)
};

/* Not an iterator that the scan reads through: of one that holds a count and a pointer nvcc 12.4 loads neither */
__global__ void __launch_bounds__(COUNT_THREADS)
    rbp_mark_distinct(const RbpRowLook *__restrict__ look, int64_t rows, int32_t *__restrict__ distinct)
{
  const int64_t i = blockIdx.x * (int64_t)COUNT_THREADS + threadIdx.x;
  if (i < rows) distinct[i] = rbp_is_same(look[i]) ? 0 : (int32_t)i;
}

struct Maximum {
  __device__ int32_t operator()(int32_t a, int32_t b) const { return a > b ? a : b; }
};

/* Of the row after the last one too: the end of the last group */
struct StartsGroup {
  const int32_t  *distinct;
  int             group_rows;
  int32_t         rows;
  __device__ bool operator()(int32_t i) const { return i == rows || (i - distinct[i]) % group_rows == 0; }
};

/* Units of a group as group_unit adds them up */
template <typename I>
struct GroupUnits {
  const I            *row_ptr;
  const RbpRowLook   *look;
  const int32_t      *group_row;
  int64_t             groups;
  int                 unit_columns, capacity;
  __device__ uint32_t operator()(int64_t g) const
  {
    if (g >= groups) return 0;
    const int64_t row = rbp_group_row(group_row, g), length = row_ptr[row + 1] - row_ptr[row];
    return (uint32_t)min(rbp_row_units(look[row], length, unit_columns), (int64_t)capacity + 1);
  }
};

/* counters[(G-1) * (MAX_U+1)] = groups of at most G rows, [.. + U] = their units of U columns */
template <typename I>
__global__ void __launch_bounds__(COUNT_THREADS)
    rbp_count_units(const I *__restrict__ row_ptr, const int32_t *__restrict__ distinct,
                    const RbpRowLook *__restrict__ look, int64_t rows, unsigned long long *__restrict__ counters)
{
  constexpr int      PER_G           = RBP_MAX_U + 1;
  const int64_t      step            = (int64_t)gridDim.x * COUNT_THREADS;
  unsigned long long count[COUNTERS] = {0};

  for (int64_t i0 = blockIdx.x * (int64_t)COUNT_THREADS + threadIdx.x; i0 < rows; i0 += COUNT_ROWS * step) {
    int        place[COUNT_ROWS]; /* of the row among its equals */
    I          length[COUNT_ROWS];
    RbpRowLook known[COUNT_ROWS];
#pragma unroll
    for (int j = 0; j < COUNT_ROWS; j++) {
      const int64_t i = min(i0 + j * step, rows - 1);
      place[j]        = (int)(i - distinct[i]);
      length[j]       = row_ptr[i + 1] - row_ptr[i];
      known[j]        = look[i];
    }
#pragma unroll
    for (int j = 0; j < COUNT_ROWS; j++) {
      if (i0 + j * step >= rows) break;
#pragma unroll
      for (int G = 1; G <= RBP_MAX_G; G++) {
        if (place[j] % G) continue;
        count[(G - 1) * PER_G]++;
#pragma unroll
        for (int U = 1; U <= RBP_MAX_U; U++) count[(G - 1) * PER_G + U] += rbp_row_units(known[j], length[j], U);
      }
    }
  }
  __shared__ unsigned long long sum[COUNTERS];
  if (threadIdx.x < COUNTERS) sum[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll
  for (int c = 0; c < COUNTERS; c++) {
    unsigned long long s = count[c];
    for (int offset = 16; offset; offset >>= 1) s += __shfl_xor_sync(0xffffffffu, s, offset);
    if (threadIdx.x % 32 == 0) atomicAdd(&sum[c], s);
  }
  __syncthreads();
  if (threadIdx.x < COUNTERS) atomicAdd(&counters[threadIdx.x], sum[threadIdx.x]);
}

/* Bytes that a product moves, and what adding up sums and gathering x cost beside them, in bytes of the same time
   (measured: a unit costs about 2, a sum in shared memory about 1) */
double predicted_bytes(const RbpVariant *v, const int64_t *counter, int64_t scalar_bytes)
{
  const double units = (double)counter[(v->group_rows - 1) * (RBP_MAX_U + 1) + v->unit_columns];
  return units * (double)(v->group_rows * v->unit_columns * scalar_bytes + 2 + 2 + v->group_rows);
}
} // namespace

/* Last distinct row at or before each row */
static SpmvStatus find_distinct(RbpDeviceAnalysis *a, SpmvExec *exec)
{
  const int64_t rows = a->pattern.rows;

  SPMV_TRY(spmv_arena_array(&a->arena, rows + 1, "distinct rows", &a->distinct, exec));
  SPMV_LAUNCH(exec, rbp_mark_distinct, spmv_blocks(rows, COUNT_THREADS), COUNT_THREADS, 0, a->look, rows, a->distinct);
  if (rows > 0)
    SPMV_CUB(exec, &a->arena,
             cub::DeviceScan::InclusiveScan(scratch, bytes, a->distinct, a->distinct, Maximum(), rows,
                                            (cudaStream_t)exec->stream));
  return SPMV_SUCCESS;
}

template <typename I>
static SpmvStatus count_units(const RbpDeviceAnalysis *a, unsigned long long *counters, SpmvExec *exec)
{
  const int64_t blocks = spmv_blocks(a->pattern.rows, COUNT_THREADS * COUNT_ROWS);

  SPMV_LAUNCH(exec, rbp_count_units<I>, blocks < COUNT_BLOCKS ? blocks : (int64_t)COUNT_BLOCKS, COUNT_THREADS, 0,
              (const I *)a->pattern.row_ptr, a->distinct, a->look, a->pattern.rows, counters);
  return SPMV_SUCCESS;
}

SpmvStatus rbp_choose_variant(RbpDeviceAnalysis *a, SpmvScalar scalar, int64_t min_run, SpmvExec *exec)
{
  const SpmvPattern  *p                 = &a->pattern;
  int64_t             counter[COUNTERS] = {0};
  unsigned long long *counters;
  const RbpVariant   *best = &rbp_variants[0];

  SPMV_TRY(find_distinct(a, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, COUNTERS, "counters", &counters, exec));
  SPMV_CUDA(exec, cudaMemsetAsync(counters, 0, sizeof counter, (cudaStream_t)exec->stream));
  SPMV_TRY(p->index_type == SPMV_I64 ? count_units<int64_t>(a, counters, exec)
                                     : count_units<int32_t>(a, counters, exec));
  SPMV_TRY(spmv_fetch(counter, counters, sizeof counter, exec));

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
static SpmvStatus sum_units(RbpDeviceAnalysis *a, SpmvExec *exec)
{
  const RbpDeviceShape *s     = &a->shape;
  const GroupUnits<I>   units = {
        (const I *)a->pattern.row_ptr, a->look, a->group_row, s->groups, s->unit_columns, s->capacity};
  const auto input = thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), units);

  SPMV_CUB(
      exec, &a->arena,
      cub::DeviceScan::ExclusiveSum(scratch, bytes, input, a->group_unit, s->groups + 1, (cudaStream_t)exec->stream));
  return SPMV_SUCCESS;
}

SpmvStatus rbp_make_groups(RbpDeviceAnalysis *a, SpmvExec *exec)
{
  const RbpDeviceShape *s    = &a->shape;
  const int64_t         rows = a->pattern.rows;
  int64_t              *selected;

  if (s->group_rows > 1) {
    SPMV_TRY(spmv_arena_array(&a->arena, s->groups + 1, "group rows", &a->group_row, exec));
    SPMV_TRY(spmv_arena_array(&a->arena, 1, "group count", &selected, exec));
    SPMV_CUB(exec, &a->arena,
             cub::DeviceSelect::If(scratch, bytes, thrust::counting_iterator<int32_t>(0), a->group_row, selected,
                                   rows + 1, StartsGroup{a->distinct, s->group_rows, (int32_t)rows},
                                   (cudaStream_t)exec->stream));
  }
  a->group_unit = (uint32_t *)a->distinct; /* at most as many groups as rows, and distinct is no longer read */
  return a->pattern.index_type == SPMV_I64 ? sum_units<int64_t>(a, exec) : sum_units<int32_t>(a, exec);
}
