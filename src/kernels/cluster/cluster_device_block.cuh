/* cluster_device_block.cuh - the block of values that a thread multiplies in one step, with its mirrors. */
#ifndef SPMV_CLUSTER_DEVICE_BLOCK_CUH
#define SPMV_CLUSTER_DEVICE_BLOCK_CUH

#include "cluster_device.cuh"

namespace
{
/* Steps whose values a thread has in flight */
template <int D, ClusterMirrors ARE>
constexpr int AHEAD = D == 1                          ? 8
                      : D == 2                        ? 4
                      : D == 3 && ARE != CLUSTER_FULL ? 2
                                                      : 1;

/* Two values that lie side by side, which no cache needs to keep */
__device__ inline void load_two(const double *from, double &x, double &y)
{
#ifdef __CUDA_ARCH__
  const double2 v = __ldcs((const double2 *)from);
  x = v.x, y = v.y;
#else
  x = from[0], y = from[1];
#endif
}
__device__ inline void load_two(const float *from, float &x, float &y)
{
#ifdef __CUDA_ARCH__
  const float2 v = __ldcs((const float2 *)from);
  x = v.x, y = v.y;
#else
  x = from[0], y = from[1];
#endif
}

template <typename S, int D>
__device__ inline void load_scalars(const S *step, int lane, int lanes, S (&v)[D * D])
{
#pragma unroll
  for (int k = 0; k + 1 < D * D; k += 2) load_two(step + cluster_at<D>(k, lane, lanes), v[k], v[k + 1]);
  if (D * D % 2) v[D * D - 1] = __ldcs(step + cluster_at<D>(D * D - 1, lane, lanes));
}

/* By unsigned integers, whose sums may pass the end */
__device__ inline double corrected(double v, int by)
{
  return __longlong_as_double((long long)((unsigned long long)__double_as_longlong(v) + (unsigned long long)by));
}
__device__ inline float corrected(float v, int by)
{
  return __int_as_float((int)((unsigned)__float_as_int(v) + (unsigned)by));
}

/* The block of one lane in one step, with its mirrors: the values themselves, or by their corrections, or in full */
template <typename S, int D, ClusterMirrors ARE>
struct Block {
  enum { WORDS = (D * D + 3) / 4 };
  S        v[D * D], full[ARE == CLUSTER_FULL ? D * D : 1];
  unsigned word[ARE == CLUSTER_CORRECTED ? WORDS : 1];

  __device__ void load(const ClusterArrays &a, const ClusterStep &step, int64_t pair_step, bool keeps, int lane)
  {
    if (D == 1 || lane < step.lanes) load_scalars<S, D>((const S *)a.values + step.first, lane, step.lanes, v);
    else {
#pragma unroll
      for (int k = 0; k < D * D; k++) v[k] = S(0);
    }
    if (!keeps || ARE == CLUSTER_EQUAL) return;
    if constexpr (ARE == CLUSTER_FULL)
      load_scalars<S, D>((const S *)a.mirrors + pair_step * 32 * D * D, lane, 32, full);
    if constexpr (ARE == CLUSTER_CORRECTED) {
      const int8_t *from = a.corrections + pair_step * CLUSTER_CORRECTION_STEP<D>;

      /* without a sign: widening it would wait for the load */
      if (D == 1) word[0] = __ldcs((const unsigned char *)from + lane);
#pragma unroll
      for (int w = 0; D > 1 && w < WORDS; w++) word[w] = __ldcs((const unsigned *)from + w * 32 + lane);
    }
  }
  /* The mirror of scalar k */
  __device__ S mirror(const ClusterArrays &a, int64_t pair_step, int lane, int k) const
  {
    if constexpr (ARE == CLUSTER_FULL) return full[k];
    if constexpr (ARE == CLUSTER_CORRECTED) {
      const int by = (signed char)(word[k / 4] >> (k % 4 * 8));

      if (by == CLUSTER_FAR) return ((const S *)a.mirrors)[pair_step * 32 * D * D + cluster_at<D>(k, lane, 32)];
      return corrected(v[k], by);
    }
    return v[k];
  }
};

} // namespace

#endif
