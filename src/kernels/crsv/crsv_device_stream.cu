/*
  crsv_device_stream.cu - the products of format crsv on the device.

  A thread block multiplies the nonzeros of its rows, a few per thread. A thread issues the loads of all its values and
  columns before the first load of x, and all loads of x before the first multiplication. The products go to shared
  memory, where `lanes` threads add up each row. The first thread blocks of the grid sum the pieces of long rows
  instead; a second kernel adds up the sums of pieces.
*/
#include "crsv_device.cuh"
#include <type_traits>

namespace
{
/* The products of a block's nonzeros in shared memory; those of its row r are at ends[r] .. ends[r+1]-1 */
template <typename S>
struct Products {
  const S        *value;
  const uint16_t *ends;
};

/* The sum of products k, k + lanes, k + 2 lanes ... before end, with two loads in flight */
template <typename S>
__device__ inline S add_products(const S *value, int k, int end, int lanes)
{
  S sum = 0;

  for (; k + lanes < end; k += 2 * lanes) {
    const S one = value[k], other = value[k + lanes];
    sum += one;
    sum += other;
  }
  if (k < end) sum += value[k];
  return sum;
}

/* Writes y of all rows; in an uneven block, only of rows of at most CRSV_WARP_ROW nonzeros */
template <typename S, typename OUT>
__device__ inline void add_rows(const Products<S> &p, const CrsvBlock &b, const OUT &out)
{
  const int lanes = 1 << b.log_lanes, lane = threadIdx.x & (lanes - 1), per_pass = CRSV_THREADS >> b.log_lanes;

  for (int r0 = 0, r = threadIdx.x >> b.log_lanes; r0 < b.rows; r0 += per_pass, r += per_pass) {
    const int  begin = r < b.rows ? p.ends[r] : 0, end = r < b.rows ? p.ends[r + 1] : 0;
    const bool mine = r < b.rows && !(b.uneven && end - begin > CRSV_WARP_ROW);
    const S    sum  = spmv_add_lanes(mine ? add_products(p.value, begin + lane, end, lanes) : S(0), lanes);
    if (mine && lane == 0) out.put(b.row0 + r, sum);
  }
}

/* Writes y of the rows of more than CRSV_WARP_ROW nonzeros, one warp per row */
template <typename S, typename OUT>
__device__ inline void add_longer_rows(const Products<S> &p, const CrsvBlock &b, const OUT &out)
{
  for (int r = threadIdx.x / 32; r < b.rows; r += CRSV_THREADS / 32) {
    const int begin = p.ends[r], end = p.ends[r + 1];
    if (end - begin <= CRSV_WARP_ROW) continue;
    const S sum = spmv_add_lanes(add_products(p.value, begin + (int)threadIdx.x % 32, end, 32), 32);
    if (threadIdx.x % 32 == 0) out.put(b.row0 + r, sum);
  }
}

/* The nonzeros of one thread. Columns are unsigned and loads of x unconditional, so that computing the address of an
   entry of x takes one instruction. */
template <typename I, typename S, typename V>
struct Share {
  typename std::make_unsigned<I>::type col[CRSV_ITEMS]; /* 0 beyond the last nonzero: x[0] is loaded, but not used */
  V                                    value[CRSV_ITEMS];

  static __device__ inline bool has(const CrsvBlock &b, int i) { return (int)threadIdx.x + i * CRSV_THREADS < b.count; }

  template <typename OUT>
  __device__ inline void load(const CrsvCsr<I, S, V, OUT> &a, const CrsvBlock &b)
  {
#pragma unroll
    for (int i = 0; i < CRSV_ITEMS; i++) {
      col[i] = 0;
      if (has(b, i)) col[i] = __ldcs(a.col + b.begin + threadIdx.x + i * CRSV_THREADS);
    }
#pragma unroll
    for (int i = 0; i < CRSV_ITEMS; i++)
      if (has(b, i)) value[i] = __ldcs(a.values + b.begin + threadIdx.x + i * CRSV_THREADS);
  }
  __device__ inline void multiply(const S *x, const CrsvBlock &b, S *product)
  {
    S v[CRSV_ITEMS];

#pragma unroll
    for (int i = 0; i < CRSV_ITEMS; i++) v[i] = __ldca(x + col[i]);
#pragma unroll
    for (int i = 0; i < CRSV_ITEMS; i++)
      if (has(b, i)) product[threadIdx.x + i * CRSV_THREADS] = (S)value[i] * v[i];
  }
};

/* Computes where the products of each row of a block begin and end */
template <typename I>
__device__ inline void find_ends(const I *row_ptr, const CrsvBlock &b, uint16_t *ends)
{
#pragma unroll 1
  for (int r = threadIdx.x; r <= b.rows; r += CRSV_THREADS) ends[r] = (uint16_t)(row_ptr[r] - (I)b.begin);
}

template <typename I>
constexpr int crsv_resident_blocks()
{
  return spmv_resident_blocks(CRSV_THREADS, sizeof(I) == 8 ? CRSV_BLOCKS_WIDE : CRSV_BLOCKS);
}

/* Sums up a piece of a long row, into y or, if the row has several pieces, into work */
template <typename I, typename S, typename V, typename OUT>
__device__ inline void sum_piece(CrsvCsr<I, S, V, OUT> &a, const CrsvPiece &p, S *work)
{
  constexpr int BATCH = 8;
  S             sum   = 0;

  spmv_wait_for_previous(a.x, a.out.y, work);
  for (int from = threadIdx.x; from < p.count; from += CRSV_THREADS * BATCH) {
    S v[BATCH];
#pragma unroll
    for (int i = 0; i < BATCH; i++) {
      const bool    inside = from + i * CRSV_THREADS < p.count;
      const int64_t k      = p.begin + from + i * CRSV_THREADS;
      v[i]                 = inside ? (S)__ldcs(a.values + k) * __ldca(a.x + __ldcs(a.col + k)) : S(0);
    }
#pragma unroll
    for (int i = 0; i < BATCH; i++) sum += v[i];
  }
  sum = spmv_add_block<CRSV_THREADS>(sum);
  if (threadIdx.x) return;
  if (p.slot >= 0) work[p.slot] = sum;
  else a.out.put(p.row, sum);
}

template <typename I, typename S, typename V, typename OUT>
__global__ void __launch_bounds__(CRSV_THREADS, crsv_resident_blocks<I>())
    crsv_stream(CrsvCsr<I, S, V, OUT> a, const CrsvBlock *__restrict__ blocks, const CrsvPiece *__restrict__ pieces,
                int piece_count, S *work)
{
  __shared__ S        product[CRSV_CAPACITY];
  __shared__ uint16_t ends[CRSV_ROWS + 1];
  Share<I, S, V>      mine;

  spmv_let_next_begin();
  if ((int)blockIdx.x < piece_count) return sum_piece(a, pieces[blockIdx.x], work);
  const CrsvBlock b = blocks[(int)blockIdx.x - piece_count];

  mine.load(a, b);
  find_ends(a.row_ptr + b.row0, b, ends); /* while the loads of the nonzeros are in flight */
  spmv_wait_for_previous(a.x, a.out.y);
  mine.multiply(a.x, b, product);
  __syncthreads();
  const Products<S> products = {product, ends};
  add_rows(products, b, a.out);
  if (b.uneven) add_longer_rows(products, b, a.out);
}

} // namespace

template <typename V, typename OUT>
SpmvStatus CrsvMultiply::run(const SpmvPlan *base, const V *const values[2], const void *x, const OUT &out, void *work,
                             SpmvExec *exec)
{
  typedef typename OUT::Scalar S;
  const CrsvDevicePlan        *plan = (const CrsvDevicePlan *)base;
  const CrsvCounts            &c    = plan->counts;

  return spmv_with_index(base->index_type, [&](auto index) -> SpmvStatus {
    typedef decltype(index)     I;
    const CrsvCsr<I, S, V, OUT> a = {(const I *)plan->row_ptr, (const I *)plan->col, values[0], (const S *)x, out};

    SPMV_LAUNCH_OVERLAPPED(exec, (crsv_stream<I, S, V, OUT>), c.pieces + c.blocks, CRSV_THREADS, 0, a, plan->blocks,
                           plan->pieces, (int)c.pieces, (S *)work);
    return spmv_add_long_rows<CRSV_THREADS, 1>(plan->long_rows, c.long_rows, (const S *)work, out, exec);
  });
}

template struct SpmvProducts<CrsvMultiply>;
