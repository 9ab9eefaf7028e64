/* vector.cuh - for the products of all formats: sums over lanes and thread blocks, and the use of a row's sum. */
#pragma once

#include "launch.cuh"

/* Prefetches into the second-level cache */
__device__ inline void spmv_prefetch(const void *p)
{
#ifdef __CUDA_ARCH__
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
#else
  (void)p; /* the emulator has no caches */
#endif
}

/* alpha sum + beta y; y is not read when beta is 0 */
template <typename S>
__device__ inline S spmv_axpby(S alpha, S sum, S beta, const S *y)
{
  return beta == S(0) ? alpha * sum : alpha * sum + beta * *y;
}

/* The result of a product: y = alpha sum + beta y. If the sum of a row comes in parts, put() takes the first part, which
   overwrites y, and add() the others. before() loads early what put() needs. */
template <typename S>
struct SpmvSum {
  typedef S Scalar;
  S        *y;
  S         alpha, beta;

  SpmvSum(const void *by_alpha, const void *by_beta, void *to)
      : y((S *)to), alpha(*(const S *)by_alpha), beta(*(const S *)by_beta)
  {
  }
  __device__ inline void put(int64_t row, S sum) const { y[row] = spmv_axpby(alpha, sum, beta, y + row); }
  __device__ inline S    before(int64_t row) const { return beta == S(0) ? S(0) : y[row]; }
  __device__ inline void put(int64_t row, S sum, S before) const { y[row] = spmv_axpby(alpha, sum, beta, &before); }
  __device__ inline void add(int64_t row, S sum) const { y[row] += alpha * sum; }
};

/* The result of a fused step: y = a smoother's step, or the residual b - A x. The kernels are instantiated for SpmvSum
   and for SpmvSmooth: one kernel that branches on each row made products up to 7% slower. */
template <typename S>
struct SpmvSmooth {
  typedef S          Scalar;
  S                 *y;
  const SpmvFactors *factors; /* NULL: the residual */
  const S           *x, *m, *b;
  bool               adds;

  SpmvSmooth(const SpmvStep &step, const void *from, void *to)
      : y((S *)to), factors(step.factors), x((const S *)from), m((const S *)step.m), b((const S *)step.b),
        adds(step.adds != 0)
  {
  }
  __device__ inline S    before(int64_t row) const { return b[row]; }
  __device__ inline void put(int64_t row, S sum) const { put(row, sum, before(row)); }
  __device__ inline void put(int64_t row, S sum, S before) const
  {
    S v = before - sum;

    if (factors) {
      if (m) v *= m[row];
      v = (S)factors->correction * v + (S)factors->current * x[row];
      if (adds) v += (S)factors->before * y[row];
    }
    y[row] = v;
  }
  __device__ inline void add(int64_t row, S sum) const
  {
    if (factors && m) sum *= m[row];
    y[row] -= factors ? (S)factors->correction * sum : sum;
  }
};

/* The sum over `lanes` neighbouring lanes, a power of two, in a fixed order; all lanes of the warp must call it */
template <typename S>
__device__ inline S spmv_add_lanes(S sum, int lanes)
{
  for (int offset = lanes >> 1; offset; offset >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  return sum;
}

/* The largest number of `lanes` neighbouring lanes, a power of two; all lanes of the warp must call it */
template <typename T>
__device__ inline T spmv_max_lanes(T most, int lanes)
{
  for (int offset = lanes >> 1; offset; offset >>= 1) most = max(most, __shfl_xor_sync(0xffffffffu, most, offset));
  return most;
}

/* Inclusive scan over the lanes of a warp */
__device__ inline int spmv_add_up_to_lane(int sum)
{
  for (int by = 1; by < 32; by *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, sum, by);
    if ((int)(threadIdx.x % 32) >= by) sum += other;
  }
  return sum;
}

/* The sum over a thread block of THREADS threads in a fixed order; valid in thread 0 only */
template <int THREADS, typename S>
__device__ inline S spmv_add_block(S sum)
{
  __shared__ S warp_sum[THREADS / 32];

  sum = spmv_add_lanes(sum, 32);
  if (threadIdx.x % 32 == 0) warp_sum[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int i = 1; i < THREADS / 32; i++) sum += warp_sum[i];
  return sum;
}
