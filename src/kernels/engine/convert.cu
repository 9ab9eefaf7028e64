/* convert.cu - scaling and conversion between scalar types, reciprocals, and the largest absolute value of an array. */
#include "device/arena.cuh"
#include <spmv_engine.h>

namespace
{
enum { THREADS = 256, BLOCKS = 1024 };

template <typename From, typename To>
__global__ void spmv_convert_numbers(int64_t n, double factor, const From *from, To *to)
{
  const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (i < n) to[i] = (To)(factor * (double)from[i]);
}

template <typename S>
__global__ void spmv_reciprocals(int64_t n, int fix, S *values)
{
  const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (i >= n) return;
  const S result = values[i] == 0 ? values[i] : S(1) / values[i];
  values[i]      = fix && result == 0 ? S(1) : result;
}

/* Nonnegative doubles are ordered as their bits are, read as integers. The bits of a NaN are larger than those of
   infinity, so that one NaN makes the result NaN. */
template <typename S>
__global__ void spmv_largest_number(int64_t n, const S *values, unsigned long long *largest)
{
  unsigned long long mine = 0;

  for (int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x; i < n; i += gridDim.x * (int64_t)THREADS) {
    const unsigned long long bits = (unsigned long long)__double_as_longlong(fabs((double)values[i]));
    if (bits > mine) mine = bits;
  }
  if (mine > *(volatile unsigned long long *)largest) atomicMax(largest, mine);
}

template <typename From, typename To>
SpmvStatus enqueue(int64_t n, double factor, const void *from, void *to, SpmvExec *exec)
{
  SPMV_LAUNCH(exec, (spmv_convert_numbers<From, To>), spmv_blocks(n, THREADS), THREADS, 0, n, factor,
              (const From *)from, (To *)to);
  return SPMV_SUCCESS;
}

template <typename S>
SpmvStatus enqueue_largest(int64_t n, const void *values, unsigned long long *largest, SpmvExec *exec)
{
  const int64_t wanted = spmv_blocks(n, THREADS);

  SPMV_LAUNCH(exec, spmv_largest_number<S>, wanted < BLOCKS ? wanted : (int64_t)BLOCKS, THREADS, 0, n,
              (const S *)values, largest);
  return SPMV_SUCCESS;
}
} // namespace

extern "C" SpmvStatus spmv_convert(int64_t n, double factor, SpmvScalar from_type, const void *from, SpmvScalar to_type,
                                   void *to, SpmvExec *exec)
{
  if (from_type == SPMV_F32)
    return to_type == SPMV_F32 ? enqueue<float, float>(n, factor, from, to, exec)
                               : enqueue<float, double>(n, factor, from, to, exec);
  return to_type == SPMV_F32 ? enqueue<double, float>(n, factor, from, to, exec)
                             : enqueue<double, double>(n, factor, from, to, exec);
}

extern "C" SpmvStatus spmv_reciprocal(int64_t n, SpmvScalar scalar, int fix, void *values, SpmvExec *exec)
{
  const int64_t blocks = spmv_blocks(n, THREADS);

  if (scalar == SPMV_F32) SPMV_LAUNCH(exec, spmv_reciprocals<float>, blocks, THREADS, 0, n, fix, (float *)values);
  else SPMV_LAUNCH(exec, spmv_reciprocals<double>, blocks, THREADS, 0, n, fix, (double *)values);
  return SPMV_SUCCESS;
}

extern "C" SpmvStatus spmv_largest(int64_t n, SpmvScalar scalar, const void *values, double *largest, SpmvExec *exec)
{
  SpmvScopedScratch scratch(exec);

  *largest = 0;
  SPMV_TRY(scratch.take(sizeof(unsigned long long), "the largest number"));
  unsigned long long *there = (unsigned long long *)scratch.block;
  SPMV_TRY(spmv_copy(there, SPMV_DEVICE, largest, SPMV_HOST, sizeof *largest, exec));
  SPMV_TRY(scalar == SPMV_F32 ? enqueue_largest<float>(n, values, there, exec)
                              : enqueue_largest<double>(n, values, there, exec));
  SPMV_TRY(spmv_copy(largest, SPMV_HOST, there, SPMV_DEVICE, sizeof *largest, exec));
  return spmv_stream_wait(exec);
}
