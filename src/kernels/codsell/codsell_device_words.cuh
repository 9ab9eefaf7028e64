/* codsell_device_words.cuh - words of rows, and their ids in the dictionary, for conversion kernels. */
#pragma once

#include "codsell_device.cuh"

namespace
{
/* Reads the columns of word w of a row with n nonzeros, minus `row`; the last position fills the rest of the word */
template <int W, typename I>
__device__ inline void read_word(const I *col, int n, int w, int row, int32_t (&offset)[W])
{
  const I  *at   = col + w * W;
  const int last = n - 1 - w * W;

  if (last >= W - 1) {
#pragma unroll
    for (int j = 0; j < W; j++) offset[j] = (int32_t)at[j] - row;
  } else {
#pragma unroll
    for (int j = 0; j < W; j++) offset[j] = (int32_t)at[min(j, last)] - row;
  }
}

/* The id of a fingerprint, or CODSELL_NO_ID; VERIFY: only if the word in the dictionary is equal */
template <int W, bool VERIFY>
__device__ inline int32_t id_of(const CodsellSource &a, uint64_t fingerprint, const int32_t (&offset)[W], int relative)
{
  const CodsellEntry *e = a.table + codsell_find(a.table, a.capacity, fingerprint);

  if (!e->key || e->id == CODSELL_NO_ID) return CODSELL_NO_ID;
  if (!VERIFY) return (int32_t)e->id;
  const int32_t *there = a.dictionary + e->id * codsell_stride(W), start = relative ? offset[0] : 0;
  int            equal = 1;
#pragma unroll
  for (int j = 0; j < W; j++) equal &= there[j] == offset[j] - start;
  return equal ? (int32_t)e->id : (int32_t)CODSELL_NO_ID;
}
} // namespace
