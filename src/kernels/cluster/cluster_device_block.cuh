/* cluster_device_block.cuh - the block of values that a thread multiplies in one step, with its mirrors. */
#ifndef SPMV_CLUSTER_DEVICE_BLOCK_CUH
#define SPMV_CLUSTER_DEVICE_BLOCK_CUH

#include "cluster_device.cuh"

namespace
{
/* Steps whose values, of type V, a thread has in flight */
template <typename V, int D, ClusterMirrors ARE>
constexpr int AHEAD = D == 1   ? 8
                      : D == 2 ? (ARE == CLUSTER_FULL ? 2 : 4)
                      : D == 3 ? (ARE == CLUSTER_FULL ? 1 : 2) + (int)(sizeof(double) / sizeof(V)) - 1
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

/* A block of a lane; `from` is its first value, and its pairs of values are 2 * lanes apart: cluster_at() by additions
 */
template <typename V, int D>
__device__ inline void load_scalars(const V *from, int lane, int lanes, V (&v)[D * D])
{
#pragma unroll
  for (int k = 0; k + 1 < D * D; k += 2) load_two(from + k * lanes, v[k], v[k + 1]);
  if (D * D % 2) v[D * D - 1] = __ldcs(from + ((D * D - 1) * lanes - (D > 1 ? lane : 0)));
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

/* Keeps a number in a register: the compiler would rather compute it anew for each use */
__device__ inline int in_register(int number)
{
#ifdef __CUDA_ARCH__
  asm("" : "+r"(number));
#endif
  return number;
}

/* Whether one of the four corrections of a word says that its mirror is far */
__device__ inline bool one_is_far(unsigned word)
{
  const unsigned rest = word ^ 0x80808080u;
  static_assert(CLUSTER_FAR == -0x80, "the byte that is looked for");
  return ((rest - 0x01010101u) & ~rest & 0x80808080u) != 0;
}

/* The slice of a step, where both are counted in a cluster. Steps are gone through one after the other. */
struct SliceCursor {
  int slice, end, pairs_end; /* the steps where it ends, and where those with pairs do */
  int pairs_from_steps;      /* a step with pairs is this far behind among those with pairs */

  __device__ void set(const ClusterSlice *slices, int number)
  {
    const ClusterSlice s = slices[number];

    slice            = number;
    end              = s.steps_before + s.steps;
    pairs_end        = s.steps_before + s.pair_steps;
    pairs_from_steps = s.pair_steps_before - s.steps_before;
  }
  __device__ void move_to(const ClusterSlice *slices, int step)
  {
    while (step >= end) set(slices, slice + 1);
  }
};

/* The steps with pairs that a cluster has before a step of this slice */
__device__ inline int pair_steps_before(const ClusterSlice &s, int step)
{
  return s.pair_steps_before + min(step - s.steps_before, (int)s.pair_steps);
}

/* Where a thread finds the values of the steps of its share, which are gone through one after the other. Where a block
   is one value all lanes of a step have one, so that the next step is 32 values behind; else a step says where it ends.
 */
template <typename V, int D, ClusterMirrors ARE>
struct Source {
  const V        *values;      /* of this lane; D == 1: in the first step of the cluster, else in the next one */
  const V        *mirrors;     /* of this lane in the next step with pairs; where they are read in full */
  const int8_t   *corrections; /* of the next step with pairs; where they are read */
  const uint16_t *starts;      /* D > 1: that of the step behind the next one */
  int             start;
  SliceCursor     at; /* the slice of the step whose mirrors are read next */

  __device__ void begin(const ClusterArrays &a, const ClusterHead &h, const uint16_t *of_cluster, int step, int lane)
  {
    start  = D == 1 ? 0 : of_cluster[step];
    starts = of_cluster + step + 1;
    values = (const V *)a.values + (h.value + start * CLUSTER_GRAIN) * (D * D) + (D == 1 ? lane : 2 * lane);
  }
  __device__ void begin_mirrors(const ClusterArrays &a, int64_t pair_step, const SliceCursor &first, int lane)
  {
    at = first;
    if (ARE == CLUSTER_FULL) mirrors = (const V *)a.mirrors + pair_step * 32 * D * D + (D == 1 ? lane : 2 * lane);
    if (ARE == CLUSTER_CORRECTED) corrections = a.corrections + pair_step * CLUSTER_CORRECTION_STEP<D>;
  }
  /* The lanes that have values in the next step */
  __device__ int next_lanes()
  {
    const int end = *starts++, count = (end - start) * CLUSTER_GRAIN;

    start = end;
    return count;
  }
};

/* The block of one lane in one step, with its mirrors: the values themselves, or by their corrections, or in full.
   Values are of type V; corrections are of those that are not rounded. */
template <typename V, int D, ClusterMirrors ARE>
struct Block {
  enum { WORDS = (D * D + 3) / 4 };
  V        v[D * D], full[ARE == CLUSTER_FULL ? D * D : 1];
  unsigned word[ARE == CLUSTER_CORRECTED ? WORDS : 1];
  bool     has_value;

  /* The lane has a value in the step */
  __device__ bool is_there() const { return D == 1 || has_value; }

  /* Step `from + ahead` of the cluster, which is the next one; `ahead` is known to the compiler */
  __device__ void load(Source<V, D, ARE> &source, int from, int ahead, int lane)
  {
    if constexpr (D == 1) v[0] = __ldcs(source.values + from * CLUSTER_DEVICE_LANES + ahead * CLUSTER_DEVICE_LANES);
    else {
      const int lanes = source.next_lanes();

      has_value = lane < lanes;
      if (has_value) load_scalars<V, D>(source.values, lane, lanes, v);
      source.values += lanes * (D * D);
    }
  }
  /* The mirrors of this step */
  __device__ void load_mirrors(Source<V, D, ARE> &source, const ClusterSlice *slices, int step, int lane)
  {
    source.at.move_to(slices, step);
    if (step >= source.at.pairs_end) return;
    if constexpr (ARE == CLUSTER_FULL) {
      load_scalars<V, D>(source.mirrors, lane, 32, full);
      source.mirrors += 32 * D * D;
    }
    if constexpr (ARE == CLUSTER_CORRECTED) {
      /* without a sign: widening it would wait for the load */
      if (D == 1) word[0] = __ldcs((const unsigned char *)source.corrections + lane);
#pragma unroll
      for (int w = 0; D > 1 && w < WORDS; w++) word[w] = __ldcs((const unsigned *)source.corrections + w * 32 + lane);
      source.corrections += CLUSTER_CORRECTION_STEP<D>;
    }
  }
  /* Reads the corrections in a way that the compiler cannot leave out, and spoils them. They are used under conditions;
     where it cannot prove that one of them was, it has the thread wait for it before the next one is loaded, and so for
     all that is on its way. */
  __device__ void settle()
  {
#ifdef __CUDA_ARCH__
  #pragma unroll
    for (int w = 0; ARE == CLUSTER_CORRECTED && w < WORDS; w++) asm volatile("not.b32 %0, %0;" : "+r"(word[w]));
#endif
  }
  __device__ bool has_far_mirror() const
  {
    if (ARE != CLUSTER_CORRECTED) return false;
    if (D == 1) return word[0] == (unsigned char)CLUSTER_FAR;
    bool far = false;
#pragma unroll
    for (int w = 0; w < WORDS; w++) far = far || one_is_far(word[w]);
    return far;
  }
  /* The mirror of scalar k. `far` is that of the lane's first one in a.mirrors, for a block that has a far mirror, or
     NULL. */
  __device__ V mirror(const V *far, int k, int lane) const
  {
    if constexpr (ARE == CLUSTER_FULL) return full[k];
    if constexpr (ARE == CLUSTER_CORRECTED) {
      const int by = (signed char)(word[k / 4] >> (k % 4 * 8));

      if (far && by == CLUSTER_FAR) return far[cluster_at<D>(k, lane, 32)];
      return corrected(v[k], by);
    }
    return v[k];
  }
};

} // namespace

#endif
