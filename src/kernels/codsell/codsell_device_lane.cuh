/*
  codsell_device_lane.cuh - the sum of one thread of the product: its part of the row in a lane of a slice.

  A step is K words of W positions. All its values are loaded before its positions are decoded, and all its entries of x
  before the first multiplication. Short rows have too little work to hide the latency of branches, so the properties of
  the kind of a slice are template parameters, and whole steps have no conditions.
*/
#pragma once

#include "device/overlap.cuh"
#include "codsell_device.cuh"

/* A lane: addresses of its values, of type V, and of the codes of its slice. C: lanes per slice, 0 if known only at run
   time. */
template <typename S, typename V, int C>
struct CodsellLane {
  const V       *values; /* of its lane */
  const uint8_t *codes;  /* of the slice */
  const int32_t *dictionary;
  const S       *x;
  int            column;      /* origin of offsets: the row of the lane, or, if the kind has starts, the first slot of
                                 the slice */
  int            lane, lanes; /* of the slice */
  int            width;       /* of the slice */
  int            length;      /* nonzeros of the row */
  int            scale;       /* columns per unit of a start */
  int            first, step; /* first step of this thread, and distance to its next step */

  __device__ inline int c() const { return C ? C : lanes; }
};

/* Addresses of the codes of a lane. START: bytes of a start, 0 for none; ID: bytes of an id per row, 0 if all rows
   share the ids, -1 for none. */
template <int W, int START, int ID>
struct CodsellCodes {
  const uint8_t *codes;
  int            starts, ids; /* byte offsets from codes */

  template <typename S, typename V, int C>
  __device__ inline CodsellCodes(const CodsellLane<S, V, C> &at)
      : codes(at.codes), starts(4 + at.lane * START),
        ids(START == 0 ? 0 : 4 + START * (ID < 0 ? at.width : codsell_words(at.width, W)) * at.c())
  {
  }
  /* The first column of word w, minus the origin of the lane's offsets */
  template <typename S, typename V, int C>
  __device__ inline int32_t start(const CodsellLane<S, V, C> &at, int w) const
  {
    if (START == 2) return (ID < 0 ? 1 : at.scale) * (int32_t)__ldcs((const uint16_t *)(codes + starts) + w * at.c());
    if (START == 4) return __ldcs((const int32_t *)(codes + starts) + w * at.c());
    return 0;
  }
  template <typename S, typename V, int C>
  __device__ inline int id(const CodsellLane<S, V, C> &at, int w) const
  {
    if (ID == 0) return __ldg((const uint16_t *)(codes + ids) + w);
    if (ID == 1) return __ldcs(codes + ids + w * at.c() + at.lane);
    if (ID == 2) return __ldcs((const uint16_t *)(codes + ids) + w * at.c() + at.lane);
    return 0;
  }
};

/* Loads the offsets of a word, in loads of 16 bytes if the words of the dictionary are so aligned */
template <int W>
__device__ inline void codsell_load_word(const int32_t *word, int32_t (&offset)[W])
{
  if (W == 1) offset[0] = __ldg(word);
  else if (W == 2) {
    const int2 a          = __ldg((const int2 *)word);
    offset[0]             = a.x;
    offset[W > 1 ? 1 : 0] = a.y;
  } else {
    int4 part[2];
    part[0] = __ldg((const int4 *)word);
    part[1] = W > 4 ? __ldg((const int4 *)word + 1) : part[0];
#pragma unroll
    for (int j = 0; j < W; j++) {
      const int4 p = part[j / 4];
      offset[j]    = j % 4 == 0 ? p.x : j % 4 == 1 ? p.y : j % 4 == 2 ? p.z : p.w;
    }
  }
}

/* Adds the products of K words from w0 on: all positions if WHOLE, else the first `left` positions */
template <bool WHOLE, typename S, typename V, int C, int W, int K, int START, int ID>
__device__ inline S codsell_add_step(const CodsellLane<S, V, C> &at, const S *x,
                                     const CodsellCodes<W, START, ID> &codes, int column, int w0, int left, S sum)
{
  const V *values = at.values + (int64_t)(w0 * W) * at.c();
  V        value[K * W];
  S        gathered[K * W];
  int32_t  start[K], id[K];

#pragma unroll
  for (int i = 0; i < K; i++) {
    start[i] = id[i] = 0;
    if (!WHOLE && i * W >= left) continue;
    start[i] = codes.start(at, w0 + i);
    id[i]    = codes.id(at, w0 + i);
  }
#pragma unroll
  for (int k = 0; k < K * W; k++)
    if (WHOLE || k < left) value[k] = __ldcs(values + k * at.c());
#pragma unroll
  for (int i = 0; i < K; i++) {
    int32_t offset[W];
#pragma unroll
    for (int j = 0; j < W; j++) offset[j] = 0;
    if (ID >= 0 && (WHOLE || i * W < left)) codsell_load_word<W>(at.dictionary + id[i] * codsell_stride(W), offset);
#pragma unroll
    for (int j = 0; j < W; j++)
      if (WHOLE || i * W + j < left) gathered[i * W + j] = __ldca(x + (column + start[i] + offset[j]));
  }
#pragma unroll
  for (int k = 0; k < K * W; k++)
    if (WHOLE || k < left) sum += (S)value[k] * gathered[k];
  return sum;
}

/* The sum of the lane's part of its row */
template <typename S, typename V, int C, int W, int K, int START, int ID>
__device__ inline S codsell_sum_lane(const CodsellLane<S, V, C> &at)
{
  const CodsellCodes<W, START, ID> codes(at);
  const int                        column = START ? at.column + *(const int32_t *)at.codes : at.column;
  const S                         *x      = at.x;
  S                                sum    = S(0);

  spmv_wait_for_previous(x);
  for (int w0 = at.first * K; w0 * W < at.length; w0 += at.step * K) {
    const int left = at.length - w0 * W;
    sum = left >= K * W ? codsell_add_step<true, S, V, C, W, K, START, ID>(at, x, codes, column, w0, left, sum)
                        : codsell_add_step<false, S, V, C, W, K, START, ID>(at, x, codes, column, w0, left, sum);
  }
  return sum;
}

/* Words per step, and the number of thread blocks for which a multiprocessor then has registers. More threads gain more
   than longer steps. */
__host__ __device__ constexpr int codsell_words_at_a_time(int word) { return word > 3 ? 1 : word > 1 ? 6 / word : 4; }
__host__ __device__ constexpr int codsell_resident_blocks(int word)
{
  return spmv_resident_blocks(CODSELL_PRODUCT_THREADS, word == 8 ? 8 : word > 5 ? 9 : 10);
}

template <typename S, typename V, int W, int C>
__device__ inline S codsell_sum_by_kind(int kind, const CodsellLane<S, V, C> &at)
{
  constexpr int K = codsell_words_at_a_time(W), COLUMNS = K * W > 6 ? 8 : 6;

  switch (kind) {
  case CODSELL_UNIFORM:
    return codsell_sum_lane<S, V, C, W, K, 0, 0>(at);
  case CODSELL_IDS8:
    return codsell_sum_lane<S, V, C, W, K, 0, 1>(at);
  case CODSELL_IDS16:
    return codsell_sum_lane<S, V, C, W, K, 0, 2>(at);
  case CODSELL_STARTS16_UNIFORM:
    return codsell_sum_lane<S, V, C, W, K, 2, 0>(at);
  case CODSELL_STARTS16_IDS8:
    return codsell_sum_lane<S, V, C, W, K, 2, 1>(at);
  case CODSELL_STARTS32_UNIFORM:
    return codsell_sum_lane<S, V, C, W, K, 4, 0>(at);
  case CODSELL_STARTS32_IDS8:
    return codsell_sum_lane<S, V, C, W, K, 4, 1>(at);
  case CODSELL_COLUMNS16:
    return codsell_sum_lane<S, V, C, 1, COLUMNS, 2, -1>(at);
  default:
    return codsell_sum_lane<S, V, C, 1, COLUMNS, 4, -1>(at);
  }
}
