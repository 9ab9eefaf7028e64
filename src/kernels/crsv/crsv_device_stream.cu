/*
  crsv_device_stream.cu - the streaming product of format crsv.

  A thread block takes the nonzeros of its rows in their order, a few a thread: all values and columns are asked for
  before the first x, and all x before the first multiplication. The products go to shared memory, where `lanes` threads
  add up each row. The first blocks take the pieces of long rows instead, which a second kernel adds up.
*/
#include "../device/vector.cuh"
#include "crsv_device.cuh"

namespace
{
enum { WARP_ROW = 64 }; /* where rows differ in length, those longer than this are added up by a warp */

/* The products of a block's nonzeros in shared memory; ends[r] .. ends[r+1]-1 are those of its row r */
template <typename S>
struct Products {
  const S        *value;
  const uint16_t *ends;
};

/* The most lanes a row, a power of two, with which all rows fit a block; at most a warp */
__device__ inline int lanes_for(int rows)
{
  int lanes = 32;
  while (lanes > 1 && lanes * rows > CRSV_THREADS) lanes /= 2;
  return lanes;
}

/* The sum of every lanes-th product of a row */
template <typename S>
__device__ inline S add_products(const Products<S> &p, int row, int lane, int lanes)
{
  S sum = 0;
  for (int k = p.ends[row] + lane; k < p.ends[row + 1]; k += lanes) sum += p.value[k];
  return sum;
}

/* y of rows of at most `longest` nonzeros */
template <typename S>
__device__ inline void add_rows(const Products<S> &p, int rows, int longest, S alpha, S beta, S *y)
{
  const int lanes = lanes_for(rows), lane = threadIdx.x & (lanes - 1), per_pass = CRSV_THREADS / lanes;

  for (int r0 = 0; r0 < rows; r0 += per_pass) {
    const int  r    = r0 + threadIdx.x / lanes;
    const bool mine = r < rows && p.ends[r + 1] - p.ends[r] <= longest;
    const S    sum  = spmv_add_lanes(mine ? add_products(p, r, lane, lanes) : S(0), lanes);
    if (mine && lane == 0) y[r] = spmv_axpby(alpha, sum, beta, y + r);
  }
}

/* y of the rows that are longer than WARP_ROW, a warp each */
template <typename S>
__device__ inline void add_longer_rows(const Products<S> &p, int rows, S alpha, S beta, S *y)
{
  for (int r = threadIdx.x / 32; r < rows; r += CRSV_THREADS / 32) {
    if (p.ends[r + 1] - p.ends[r] <= WARP_ROW) continue;
    const S sum = spmv_add_lanes(add_products(p, r, (int)threadIdx.x % 32, 32), 32);
    if (threadIdx.x % 32 == 0) y[r] = spmv_axpby(alpha, sum, beta, y + r);
  }
}

/* A thread's nonzeros of a block */
template <typename I, typename S>
struct Share {
  I col[CRSV_ITEMS];
  S value[CRSV_ITEMS];

  static __device__ inline bool has(const CrsvBlock &b, int i) { return (int)threadIdx.x + i * CRSV_THREADS < b.count; }

  __device__ inline void load(const CrsvCsr<I, S> &a, const CrsvBlock &b)
  {
#pragma unroll
    for (int i = 0; i < CRSV_ITEMS; i++)
      if (has(b, i)) col[i] = __ldcs(a.col + b.begin + threadIdx.x + i * CRSV_THREADS);
#pragma unroll
    for (int i = 0; i < CRSV_ITEMS; i++)
      if (has(b, i)) value[i] = __ldcs(a.values + b.begin + threadIdx.x + i * CRSV_THREADS);
  }
  __device__ inline void multiply(const S *x, const CrsvBlock &b, S *product)
  {
    S v[CRSV_ITEMS];

#pragma unroll
    for (int i = 0; i < CRSV_ITEMS; i++)
      if (has(b, i)) v[i] = __ldg(x + col[i]);
#pragma unroll
    for (int i = 0; i < CRSV_ITEMS; i++)
      if (has(b, i)) product[threadIdx.x + i * CRSV_THREADS] = value[i] * v[i];
  }
};

/* The ends of a block's rows; whether one of them is much longer than the mean */
template <typename I>
__device__ inline bool find_ends(const I *row_ptr, const CrsvBlock &b, uint16_t *ends)
{
  bool unequal = false;

  for (int r = threadIdx.x; r <= b.rows; r += CRSV_THREADS) {
    const int end = (int)(row_ptr[r] - b.begin), next = r < b.rows ? (int)(row_ptr[r + 1] - b.begin) : end;
    ends[r] = (uint16_t)end;
    unequal = unequal || (next - end - 8) * b.rows > 4 * b.count; /* 8 more than 4 times the mean */
  }
  return unequal;
}

template <typename I>
constexpr int crsv_resident_blocks()
{
  return spmv_resident_blocks(CRSV_THREADS, sizeof(I) == 8 ? CRSV_BLOCKS_WIDE : CRSV_BLOCKS);
}

/* A piece of a long row: its sum to y, or where there are several, to the work space */
template <typename I, typename S>
__device__ inline void sum_piece(const CrsvCsr<I, S> &a, const CrsvPiece &p, S *work)
{
  constexpr int BATCH = 8;
  S             sum   = 0;

  for (int from = threadIdx.x; from < p.count; from += CRSV_THREADS * BATCH) {
    S v[BATCH];
#pragma unroll
    for (int i = 0; i < BATCH; i++) {
      const bool    inside = from + i * CRSV_THREADS < p.count;
      const int64_t k      = p.begin + from + i * CRSV_THREADS;
      v[i]                 = inside ? __ldcs(a.values + k) * __ldg(a.x + __ldcs(a.col + k)) : S(0);
    }
#pragma unroll
    for (int i = 0; i < BATCH; i++) sum += v[i];
  }
  sum = spmv_add_block<CRSV_THREADS>(sum);
  if (threadIdx.x) return;
  if (p.slot >= 0) work[p.slot] = sum;
  else a.y[p.row] = spmv_axpby(a.alpha, sum, a.beta, a.y + p.row);
}

template <typename I, typename S>
__global__ void __launch_bounds__(CRSV_THREADS, crsv_resident_blocks<I>())
    crsv_stream(CrsvCsr<I, S> a, const CrsvBlock *__restrict__ blocks, const CrsvPiece *__restrict__ pieces,
                int piece_count, S *work)
{
  __shared__ S        product[CRSV_CAPACITY];
  __shared__ uint16_t ends[CRSV_ROWS + 1];
  Share<I, S>         mine;

  if ((int)blockIdx.x < piece_count) return sum_piece(a, pieces[blockIdx.x], work);
  const CrsvBlock b = blocks[(int)blockIdx.x - piece_count];
  S              *y = a.y + b.row0;

  mine.load(a, b);
  bool unequal = find_ends(a.row_ptr + b.row0, b, ends); /* while the nonzeros are on their way */
  mine.multiply(a.x, b, product);
  unequal                    = __syncthreads_or(unequal);
  const Products<S> products = {product, ends};
  add_rows(products, b.rows, unequal ? (int)WARP_ROW : (int)CRSV_CAPACITY, a.alpha, a.beta, y);
  if (unequal) add_longer_rows(products, b.rows, a.alpha, a.beta, y);
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
} // namespace

template <typename I, typename S>
SpmvStatus crsv_multiply_stream(const CrsvDevicePlan *plan, const CrsvCsr<I, S> &a, void *work, SpmvExec *exec)
{
  const CrsvCounts &c = plan->counts;

  SPMV_LAUNCH(exec, (crsv_stream<I, S>), c.pieces + c.blocks, CRSV_THREADS, 0, a, plan->blocks, plan->pieces,
              (int)c.pieces, (S *)work);
  SPMV_LAUNCH(exec, crsv_sum_pieces<S>, c.long_rows, CRSV_THREADS, 0, plan->long_rows, (const S *)work, a.alpha, a.beta,
              a.y);
  return SPMV_SUCCESS;
}

#define STREAM(I, S)                                                                                                   \
  template SpmvStatus crsv_multiply_stream(const CrsvDevicePlan *, const CrsvCsr<I, S> &, void *, SpmvExec *)
STREAM(int32_t, float);
STREAM(int32_t, double);
STREAM(int64_t, float);
STREAM(int64_t, double);
