/*
  codsell_device_slices.cuh - how conversion kernels look at slices. Neighbouring threads share a row, so that a warp
  reads whole pieces of few rows; what the rows of a slice have in common is found out in shared memory.
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
  int         first_row[CODSELL_SLICES], first_n[CODSELL_SLICES]; /* of that row: */
  const void *first_col[CODSELL_SLICES];                          /* its columns */
  CodsellSpan span[CODSELL_SLICES];
};

/* The row of a thread */
template <typename I>
struct CodsellRow {
  const I *col; /* of its first nonzero */
  int      row, slot, n, lane, c;
  int      slice;       /* within the thread block */
  int      part, parts; /* of the row */
};

/* Slots of a thread block whose threads share rows */
__host__ __device__ inline int codsell_slots(int log_parts) { return CODSELL_THREADS >> log_parts; }

template <typename I>
__device__ inline CodsellRow<I> row_in_slot(const CodsellSource &a, int64_t slot, int log_parts, const I *row_ptr,
                                            const I *col)
{
  CodsellRow<I>  r;
  const unsigned at = (unsigned)slot, window = (unsigned)a.window;

  r.c     = 1 << a.log_c;
  r.slot  = (int)slot;
  r.lane  = r.slot & (r.c - 1);
  r.slice = threadIdx.x >> (a.log_c + log_parts);
  r.parts = 1 << log_parts;
  r.part  = threadIdx.x & (r.parts - 1);
  r.n     = slot >> a.log_c < a.slices ? a.length[slot] : 0;
  r.row   = r.n == 0 ? 0 : a.order ? (int)(at / window * window) + a.order[slot] : r.slot;
  r.col   = r.n > 0 ? col + row_ptr[r.row] : nullptr;
  return r;
}

/* The place of a thread among those of its slice, and their number */
template <typename I>
__device__ inline int rank_in_slice(const CodsellRow<I> &r)
{
  return r.lane * r.parts + r.part;
}
template <typename I>
__device__ inline int threads_of_slice(const CodsellRow<I> &r)
{
  return r.c * r.parts;
}

/* Widths, ragged, the first rows, and the smallest and largest of the columns low and high that rows with nonzeros
   bring, all minus the first slot. All threads of the block must call; known after their next barrier. */
template <typename I>
__device__ inline void measure(const CodsellRow<I> &r, int low, int high, CodsellShared &s)
{
  const int together = min(32, threads_of_slice(r));
  int       first = r.n > 0 ? r.lane : r.c, width = r.n;

  if (threadIdx.x < CODSELL_SLICES) {
    s.first[threadIdx.x]  = r.c;
    s.width[threadIdx.x]  = 0;
    s.ragged[threadIdx.x] = 0;
    s.span[threadIdx.x]   = {0, 0, 1, 1, 1, INT32_MAX, INT32_MIN};
  }
  for (int step = r.parts; step < together; step *= 2) {
    first = min(first, __shfl_xor_sync(0xffffffffu, first, step));
    width = max(width, __shfl_xor_sync(0xffffffffu, width, step));
    low   = min(low, __shfl_xor_sync(0xffffffffu, low, step));
    high  = max(high, __shfl_xor_sync(0xffffffffu, high, step));
  }
  __syncthreads();
  if (width > 0 && threadIdx.x % together == 0) {
    atomicMin(&s.first[r.slice], first);
    atomicMax(&s.width[r.slice], width);
    atomicMin(&s.span[r.slice].low, low);
    atomicMax(&s.span[r.slice].high, high);
  }
  __syncthreads();
  if (r.n < s.width[r.slice]) s.ragged[r.slice] = 1;
  if (r.n > 0 && r.part == 0 && r.lane == s.first[r.slice]) {
    s.first_row[r.slice] = r.row;
    s.first_n[r.slice]   = r.n;
    s.first_col[r.slice] = r.col;
  }
}

/* Columns of word w of a row of n nonzeros minus `row`; the last position fills the rest of the word */
template <int W, typename I>
__device__ inline void read_word(const I *col, int n, int w, int row, int32_t (&offset)[W])
{
#pragma unroll
  for (int j = 0; j < W; j++) offset[j] = (int32_t)col[min(w * W + j, n - 1)] - row;
}

/* The id of a print, or CODSELL_NO_ID; VERIFY: only if the word of the dictionary is the same */
template <int W, bool VERIFY>
__device__ inline int32_t id_of(const CodsellSource &a, uint64_t print, const int32_t (&offset)[W], int relative)
{
  const CodsellEntry *e = a.table + codsell_find(a.table, a.capacity, print);

  if (!e->key || e->id == CODSELL_NO_ID) return CODSELL_NO_ID;
  if (!VERIFY) return (int32_t)e->id;
  const int32_t *there = a.dictionary + e->id * codsell_stride(W), start = relative ? offset[0] : 0;
  int            equal = 1;
#pragma unroll
  for (int j = 0; j < W; j++) equal &= there[j] == offset[j] - start;
  return equal ? (int32_t)e->id : (int32_t)CODSELL_NO_ID;
}

/* Threads that share a row, as a power of two: each keeps three words of the mean row, at most 8 do, or fill a block */
inline int codsell_log_parts(const CodsellShape *s, int64_t nnz, int word)
{
  const int64_t words = s->rows > 0 ? (nnz - s->long_nnz) / s->rows / word : 0;
  int           log   = 0;

  while (log < 3 && (1 << (s->log_c + log)) < CODSELL_THREADS && 6 << log <= words) log++;
  return log;
}
} // namespace

#endif
