/*
  codsell_device_slices.cuh - how conversion kernels look at slices. A thread has the row of a lane; what the rows of a
  slice have in common is found out in shared memory.
*/
#ifndef SPMV_CODSELL_DEVICE_SLICES_CUH
#define SPMV_CODSELL_DEVICE_SLICES_CUH

#include "codsell_device.cuh"

namespace
{
enum { CODSELL_SLICES = CODSELL_THREADS / 8 /* of a thread block, at most */ };

/* A slice while its thread block looks at it */
struct CodsellShared {
  int         first[CODSELL_SLICES]; /* lane of the first row that is not empty; C if all are */
  int         width[CODSELL_SLICES], ragged[CODSELL_SLICES];
  CodsellSpan span[CODSELL_SLICES];
};

/* The row of a thread */
template <typename I>
struct CodsellRow {
  const I *col; /* of its first nonzero */
  int64_t  row, slot;
  int      n, lane, c, slice; /* slice: within the thread block */
};

template <typename I>
__device__ inline CodsellRow<I> row_in_slot(const CodsellSource &a, int64_t slot, const I *row_ptr, const I *col)
{
  CodsellRow<I> r;

  r.c     = 1 << a.log_c;
  r.slot  = slot;
  r.lane  = (int)(slot & (r.c - 1));
  r.slice = threadIdx.x >> a.log_c;
  r.n     = slot >> a.log_c < a.slices ? a.length[slot] : 0;
  r.row   = r.n > 0 ? codsell_row(a.order, a.window, slot) : 0;
  r.col   = r.n > 0 ? col + row_ptr[r.row] : nullptr;
  return r;
}

/* The first row of the slice of a row that has one */
template <typename I>
__device__ inline CodsellRow<I> first_row(const CodsellSource &a, const CodsellRow<I> &r, const CodsellShared &s,
                                          const I *row_ptr, const I *col)
{
  return row_in_slot(a, r.slot - r.lane + s.first[r.slice], row_ptr, col);
}

/* Widths, ragged and the first rows. All threads of the block must call. */
template <typename I>
__device__ inline void measure(const CodsellRow<I> &r, CodsellShared &s)
{
  if (threadIdx.x < CODSELL_SLICES) {
    s.first[threadIdx.x]  = r.c;
    s.width[threadIdx.x]  = 0;
    s.ragged[threadIdx.x] = 0;
    s.span[threadIdx.x]   = {0, 0, 1, 1, 1, INT32_MAX, INT32_MIN};
  }
  __syncthreads();
  if (r.n > 0) {
    atomicMin(&s.first[r.slice], r.lane);
    atomicMax(&s.width[r.slice], r.n);
    atomicMin(&s.span[r.slice].low, (int)(r.col[0] - (r.slot - r.lane)));
    atomicMax(&s.span[r.slice].high, (int)(r.col[r.n - 1] - (r.slot - r.lane)));
  }
  __syncthreads();
  if (r.n < s.width[r.slice]) s.ragged[r.slice] = 1;
}

/* The id of a print, or CODSELL_NO_ID; verify: only if the word of the dictionary is the same */
__device__ inline int32_t id_of(const CodsellSource &a, uint64_t print, const int32_t (&offset)[CODSELL_MAX_WORD],
                                int word, int relative, int verify)
{
  const CodsellEntry *e = a.table + codsell_find(a.table, a.capacity, print);

  if (!e->key || e->id == CODSELL_NO_ID) return CODSELL_NO_ID;
  const int32_t *there = a.dictionary + (int64_t)e->id * a.stride, start = relative ? offset[0] : 0;
#pragma unroll
  for (int j = 0; j < CODSELL_MAX_WORD; j++)
    if (verify && j < word && there[j] != offset[j] - start) return CODSELL_NO_ID;
  return (int32_t)e->id;
}
} // namespace

#endif
