/* cycle_device_outer.cu - the conversions around a cycle in single precision between vectors in double precision, on
   the device. */
#include "cycle_device.cuh"
#include "device/overlap.cuh"
#include "device/vector.cuh"

namespace
{
enum { THREADS = SPMV_OUTER_THREADS };

/* Partial sums of |b|, one per thread block */
__global__ void __launch_bounds__(THREADS) spmv_outer_parts(int64_t rows, const double *b, double *parts)
{
  double sum = 0;

  spmv_let_next_begin();
  spmv_wait_for_previous(b, parts);
  for (int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x; i < rows; i += gridDim.x * (int64_t)THREADS)
    sum += fabs(b[i]);
  sum = spmv_add_block<THREADS>(sum);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

/* The sum of at most THREADS partial sums; valid in all threads */
__device__ inline double add_parts(int count, const double *parts)
{
  __shared__ double all;
  const double      sum = spmv_add_block<THREADS>((int)threadIdx.x < count ? parts[threadIdx.x] : 0.0);

  if (threadIdx.x == 0) all = sum;
  __syncthreads();
  return all;
}

/* The sum of this process, if there are several processes */
__global__ void __launch_bounds__(THREADS) spmv_outer_add(int count, const double *parts, double *sum)
{
  spmv_let_next_begin();
  spmv_wait_for_previous(parts, sum);
  const double all = add_parts(count, parts);
  if (threadIdx.x == 0) *sum = all;
}

/* Each block adds the partial sums itself, which takes less time than another launch. The first thread writes the
   factors for the later kernels. */
__global__ void __launch_bounds__(THREADS) spmv_outer_enter(int64_t rows, int count, const double *parts,
                                                            SpmvOuterFactors *factors, const double *b, float *to)
{
  const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  spmv_let_next_begin();
  spmv_wait_for_previous(parts, factors, b, to);
  const double in = spmv_outer_in(add_parts(count, parts));
  if (i == 0) {
    factors->in  = in;
    factors->out = factors->scale / in;
  }
  if (i < rows) to[i] = (float)(in * b[i]);
}

template <typename From, typename To>
__global__ void __launch_bounds__(THREADS)
    spmv_outer_convert(int64_t n, SpmvOuterWay way, const SpmvOuterFactors *factors, const From *from, To *to)
{
  const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  spmv_let_next_begin();
  spmv_wait_for_previous(factors, from, to);
  if (i < n) to[i] = (To)(spmv_outer_factor(factors, way) * (double)from[i]);
}

template <typename From, typename To>
SpmvStatus enqueue(const SpmvCycle *cycle, SpmvOuterWay way, int64_t n, const void *from, void *to, SpmvExec *exec)
{
  const auto outer_convert = spmv_outer_convert<From, To>;

  SPMV_LAUNCH_OVERLAPPED(exec, outer_convert, spmv_blocks(n, THREADS), THREADS, 0, n, way,
                         (const SpmvOuterFactors *)cycle->outer.factors, (const From *)from, (To *)to);
  return SPMV_SUCCESS;
}

int parts_of(int64_t rows)
{
  const int64_t wanted = spmv_blocks(rows, THREADS);

  return wanted < 1 ? 1 : wanted > SPMV_OUTER_PARTS ? SPMV_OUTER_PARTS : (int)wanted;
}

const SpmvCycleLevel &finest_of(const SpmvCycle *cycle) { return cycle->grid[cycle->options.levels - 1].def; }
} // namespace

SpmvStatus spmv_outer_device_sum(const SpmvCycle *cycle, const double *b, SpmvExec *exec)
{
  const SpmvCycleLevel &finest = finest_of(cycle);
  const int             parts  = parts_of(finest.rows);
  double *const         sums   = cycle->outer.sums;

  SPMV_LAUNCH_OVERLAPPED(exec, spmv_outer_parts, parts, THREADS, 0, finest.rows, b, sums + 1);
  if (finest.matrix.processes)
    SPMV_LAUNCH_OVERLAPPED(exec, spmv_outer_add, 1, THREADS, 0, parts, (const double *)(sums + 1), sums);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_outer_device_enter(const SpmvCycle *cycle, const double *b, SpmvExec *exec)
{
  const SpmvCycleLevel &finest = finest_of(cycle);
  const int             one    = finest.matrix.processes != nullptr; /* one part: the sum over all processes */
  const int64_t         blocks = spmv_blocks(finest.rows, THREADS);

  /* at least one block: a process without rows needs the factors, too */
  SPMV_LAUNCH_OVERLAPPED(exec, spmv_outer_enter, blocks < 1 ? 1 : blocks, THREADS, 0, finest.rows,
                         one ? 1 : parts_of(finest.rows), (const double *)(cycle->outer.sums + (one ? 0 : 1)),
                         cycle->outer.factors, b, (float *)cycle->grid[cycle->options.levels - 1].vector[SPMV_CYCLE_B]);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_outer_device_convert(const SpmvCycle *cycle, SpmvOuterWay way, int64_t n, const void *from, void *to,
                                     SpmvExec *exec)
{
  return way == SPMV_OUTER_NARROW ? enqueue<double, float>(cycle, way, n, from, to, exec)
                                  : enqueue<float, double>(cycle, way, n, from, to, exec);
}
