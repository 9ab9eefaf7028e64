/*
  crsv_device_mult.cu - products of format crsv on the device: the paper's kernel with a fixed number of threads a row,
  and the streaming kernel, which reads values and columns as they lie and adds up rows in shared memory.
*/
#include "../device/vector.cuh"
#include "crsv_device.cuh"

namespace
{
template <typename I, typename S>
struct Csr {
  const I *__restrict__ row_ptr;
  const I *__restrict__ col;
  const S *__restrict__ values;
  const S *__restrict__ x;
  S *y;
  S  alpha, beta;
};

/* ---- T threads a row, and what the paper adds to it one by one ---- */

template <int VARIANT, typename T>
__device__ inline T load(const T *p)
{
  return VARIANT == CRSV_NO_READONLY ? __ldcg(p) : __ldg(p);
}

/* The sum over the T lanes of a row, in its first lane */
template <int T, int VARIANT, typename S>
__device__ inline S add_row(S sum, S *shared)
{
  if (VARIANT != CRSV_SHARED) return spmv_add_lanes(sum, T);
  const int lane = threadIdx.x % T;

  shared[threadIdx.x] = sum;
  for (int offset = T / 2; offset; offset /= 2) {
    __syncwarp();
    if (lane < offset) shared[threadIdx.x] += shared[threadIdx.x + offset];
  }
  return shared[threadIdx.x];
}

template <typename I, typename S, int T, int VARIANT>
__global__ void __launch_bounds__(CRSV_THREADS) crsv_rows(Csr<I, S> a, int64_t rows)
{
  __shared__ S  shared[VARIANT == CRSV_SHARED ? CRSV_THREADS : 1];
  const int     warp_rows = 32 / T, lane = threadIdx.x % T;
  const int64_t step = (int64_t)gridDim.x * (CRSV_THREADS / T);

  /* row0 is the same for all lanes of a warp, so they leave together */
  for (int64_t row0 = (blockIdx.x * (int64_t)CRSV_THREADS + threadIdx.x) / 32 * warp_rows; row0 < rows; row0 += step) {
    const int64_t row = row0 + threadIdx.x % 32 / T;
    S             sum = 0;
    if (row < rows) {
      const I end = a.row_ptr[row + 1];
      for (I k = a.row_ptr[row] + lane; k < end; k += T)
        sum += load<VARIANT>(a.values + k) * load<VARIANT>(a.x + load<VARIANT>(a.col + k));
    }
    sum = add_row<T, VARIANT>(sum, shared);
    if (row < rows && lane == 0) a.y[row] = spmv_axpby(a.alpha, sum, a.beta, a.y + row);
    if (VARIANT != CRSV_OUTER_LOOP) return;
  }
}

/* ---- streaming ---- */

/* product[k] = the k-th nonzero behind begin times its x, for P * CRSV_THREADS of them from `from` on, all loads first
 */
template <typename I, typename S, int P>
__device__ inline void multiply_pass(const Csr<I, S> &a, int64_t begin, int from, int count, S *product)
{
  I c[P];
  S w[P], v[P];

#pragma unroll
  for (int i = 0; i < P; i++) {
    const int k = from + threadIdx.x + i * CRSV_THREADS;
    c[i]        = 0;
    w[i]        = 0;
    if (k < count) {
      c[i] = __ldcs(a.col + begin + k);
      w[i] = __ldcs(a.values + begin + k);
    }
  }
#pragma unroll
  for (int i = 0; i < P; i++) /* past the end nothing of x may be read: it may be empty, or not a number */
    v[i] = from + (int)threadIdx.x + i * CRSV_THREADS < count ? __ldg(a.x + c[i]) : S(0);
#pragma unroll
  for (int i = 0; i < P; i++) {
    const int k = from + threadIdx.x + i * CRSV_THREADS;
    if (k < count) product[k] = w[i] * v[i];
  }
}

/* The most lanes a row, a power of two, with which all rows fit a block; at most a warp */
__device__ inline int lanes_for(int rows)
{
  int lanes = 32;
  while (lanes > 1 && lanes * rows > CRSV_THREADS) lanes /= 2;
  return lanes;
}

template <typename I, typename S, int P>
__global__ void __launch_bounds__(CRSV_THREADS) crsv_stream(Csr<I, S> a, const CrsvBlock *__restrict__ blocks)
{
  __shared__ S    product[2 * CRSV_THREADS * P]; /* the last row may reach over the block's share, by less than that */
  const CrsvBlock b     = blocks[blockIdx.x];
  const int       lanes = lanes_for(b.rows), lane = threadIdx.x & (lanes - 1), per_pass = CRSV_THREADS / lanes;
  const I        *ends = a.row_ptr + b.row0;
  int             r = threadIdx.x / lanes, k0 = 0, k1 = 0;

  if (r < b.rows) { /* on their way with the values */
    k0 = (int)(ends[r] - b.begin);
    k1 = (int)(ends[r + 1] - b.begin);
  }
  for (int from = 0; from < b.count; from += CRSV_THREADS * P)
    multiply_pass<I, S, P>(a, b.begin, from, b.count, product);
  __syncthreads();
  for (int r0 = 0; r0 < b.rows; r0 += per_pass) {
    S sum = 0;
    for (int k = k0 + lane; k < k1; k += lanes) sum += product[k];
    sum = spmv_add_lanes(sum, lanes);
    if (r < b.rows && lane == 0) a.y[b.row0 + r] = spmv_axpby(a.alpha, sum, a.beta, a.y + b.row0 + r);
    r += per_pass;
    k0 = r < b.rows ? (int)(ends[r] - b.begin) : 0;
    k1 = r < b.rows ? (int)(ends[r + 1] - b.begin) : 0;
  }
}

template <typename I, typename S, int P>
__global__ void __launch_bounds__(CRSV_THREADS)
    crsv_long_pieces(Csr<I, S> a, const CrsvPiece *__restrict__ pieces, S *work)
{
  const CrsvPiece p   = pieces[blockIdx.x];
  S               sum = 0;

  for (int from = threadIdx.x; from < p.count; from += CRSV_THREADS * P) {
    S v[P];
#pragma unroll
    for (int i = 0; i < P; i++) {
      const int     inside = from + i * CRSV_THREADS < p.count;
      const int64_t k      = p.begin + from + i * CRSV_THREADS;
      v[i]                 = inside ? __ldcs(a.values + k) * __ldg(a.x + __ldcs(a.col + k)) : S(0);
    }
#pragma unroll
    for (int i = 0; i < P; i++) sum += v[i];
  }
  sum = spmv_add_block<CRSV_THREADS>(sum);
  if (threadIdx.x) return;
  if (p.slot >= 0) work[p.slot] = sum;
  else a.y[p.row] = spmv_axpby(a.alpha, sum, a.beta, a.y + p.row);
}

template <typename S>
__global__ void __launch_bounds__(CRSV_THREADS)
    crsv_sum_pieces(const CrsvLongRow *__restrict__ long_rows, const S *__restrict__ work, S alpha, S beta, S *y)
{
  const CrsvLongRow r   = long_rows[blockIdx.x];
  S                 sum = 0;

  for (int i = threadIdx.x; i < r.count; i += CRSV_THREADS) sum += work[r.slot + i];
  sum = spmv_add_block<CRSV_THREADS>(sum);
  if (threadIdx.x == 0) y[r.row] = spmv_axpby(alpha, sum, beta, y + r.row);
}

template <typename I, typename S, int P>
SpmvStatus stream(const CrsvDevicePlan *plan, const Csr<I, S> &a, S *work, SpmvExec *exec)
{
  const CrsvCounts &c = plan->counts;

  SPMV_LAUNCH(exec, (crsv_stream<I, S, P>), c.blocks, CRSV_THREADS, 0, a, plan->blocks);
  SPMV_LAUNCH(exec, (crsv_long_pieces<I, S, P>), c.pieces, CRSV_THREADS, 0, a, plan->pieces, work);
  SPMV_LAUNCH(exec, crsv_sum_pieces<S>, c.long_rows, CRSV_THREADS, 0, plan->long_rows, (const S *)work, a.alpha, a.beta,
              a.y);
  return SPMV_SUCCESS;
}

template <typename I, typename S, int T, int VARIANT>
SpmvStatus launch_rows(const Csr<I, S> &a, int64_t rows, SpmvExec *exec)
{
  const int64_t all = spmv_blocks(rows * T, CRSV_THREADS), most = 65535; /* what a grid could have before the paper */

  SPMV_LAUNCH(exec, (crsv_rows<I, S, T, VARIANT>), VARIANT == CRSV_OUTER_LOOP && all > most ? most : all, CRSV_THREADS,
              0, a, rows);
  return SPMV_SUCCESS;
}

template <typename I, typename S, int VARIANT>
SpmvStatus by_lanes(int lanes, const Csr<I, S> &a, int64_t rows, SpmvExec *exec)
{
  switch (lanes) {
  case 1:
    return launch_rows<I, S, 1, VARIANT>(a, rows, exec);
  case 2:
    return launch_rows<I, S, 2, VARIANT>(a, rows, exec);
  case 4:
    return launch_rows<I, S, 4, VARIANT>(a, rows, exec);
  case 8:
    return launch_rows<I, S, 8, VARIANT>(a, rows, exec);
  case 16:
    return launch_rows<I, S, 16, VARIANT>(a, rows, exec);
  default:
    return launch_rows<I, S, 32, VARIANT>(a, rows, exec);
  }
}

template <typename I, typename S>
SpmvStatus multiply(const CrsvDevicePlan *plan, const Csr<I, S> &a, S *work, SpmvExec *exec)
{
  const int64_t rows = plan->base.rows;

  if (a.alpha == S(0)) return spmv_scale(a.y, a.beta, rows, exec);
  if (plan->lanes == 0)
    return plan->counts.items == CRSV_ITEMS_LARGE ? stream<I, S, CRSV_ITEMS_LARGE>(plan, a, work, exec)
                                                  : stream<I, S, CRSV_ITEMS_SMALL>(plan, a, work, exec);
  switch ((CrsvVariant)(int)plan->options.value[CRSV_OPTION_VARIANT]) {
  case CRSV_NO_READONLY:
    return by_lanes<I, S, CRSV_NO_READONLY>(plan->lanes, a, rows, exec);
  case CRSV_OUTER_LOOP:
    return by_lanes<I, S, CRSV_OUTER_LOOP>(plan->lanes, a, rows, exec);
  case CRSV_SHARED:
    return by_lanes<I, S, CRSV_SHARED>(plan->lanes, a, rows, exec);
  default:
    return by_lanes<I, S, CRSV_ALL>(plan->lanes, a, rows, exec);
  }
}

template <typename I, typename S>
SpmvStatus multiply_types(const CrsvDevicePlan *plan, const void *alpha, const void *x, const void *beta, void *y,
                          void *work, SpmvExec *exec)
{
  const Csr<I, S> a = {(const I *)plan->row_ptr, (const I *)plan->col, (const S *)plan->values, (const S *)x, (S *)y,
                       *(const S *)alpha,        *(const S *)beta};
  return multiply(plan, a, (S *)work, exec);
}
} // namespace

SpmvStatus crsv_device_mult(const SpmvPlan *base, const void *alpha, const void *x, const void *beta, void *y,
                            void *work, SpmvExec *exec)
{
  const CrsvDevicePlan *plan = (const CrsvDevicePlan *)base;

  if (base->index_type == SPMV_I64)
    return base->scalar_type == SPMV_F32 ? multiply_types<int64_t, float>(plan, alpha, x, beta, y, work, exec)
                                         : multiply_types<int64_t, double>(plan, alpha, x, beta, y, work, exec);
  return base->scalar_type == SPMV_F32 ? multiply_types<int32_t, float>(plan, alpha, x, beta, y, work, exec)
                                       : multiply_types<int32_t, double>(plan, alpha, x, beta, y, work, exec);
}
