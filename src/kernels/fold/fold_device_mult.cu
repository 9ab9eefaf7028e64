/*
  fold_device_mult.cu - the product on the device. One thread per table row, a warp per slice, so that all threads of a
  warp take the same number of steps. A thread issues the loads of FOLD_BATCH columns and values before the first load
  of x, and all loads of x before the first multiplication.
*/
#include "fold_device.cuh"
#include "device/overlap.cuh"
#include "fold_rows.h"

namespace
{
/* The sum over FOLD_BATCH entries of a lane, or over the first `left` of them. Values have type V: S, or float for
   rounded values. */
template <bool GATHERED, bool WHOLE, typename S, typename V>
__device__ inline S multiply_batch(const int32_t *columns, const V *values, const S *gathered, const S *x, int64_t left,
                                   S sum)
{
  V       v[FOLD_BATCH];
  S       xs[FOLD_BATCH];
  int32_t c[FOLD_BATCH];

#pragma unroll
  for (int j = 0; j < FOLD_BATCH; j++) {
    const bool inside = WHOLE || j < left;
    if (!GATHERED) c[j] = inside ? __ldcs(columns + j * FOLD_LANES) : -1;
    v[j] = inside ? __ldcs(values + j * FOLD_LANES) : V(0);
  }
#pragma unroll
  for (int j = 0; j < FOLD_BATCH; j++) {
    xs[j] = S(0);
    if (GATHERED && (WHOLE || j < left)) xs[j] = __ldcs(gathered + j * FOLD_LANES);
    if (!GATHERED && c[j] >= 0) xs[j] = __ldca(x + c[j]);
  }
#pragma unroll
  for (int j = 0; j < FOLD_BATCH; j++) sum += (S)v[j] * xs[j];
  return sum;
}

/* OUT, SpmvSum<S> or SpmvSmooth<S>, receives the sums of first pieces */
template <typename S, typename V, bool GATHERED, typename OUT>
__global__ void __launch_bounds__(FOLD_THREADS)
    fold_multiply(FoldSizes s, FoldLayout layout, FoldPart part, const S *__restrict__ x, S *__restrict__ work, OUT out)
{
  spmv_let_next_begin();
  const int64_t t     = part.begin * FOLD_LANES + blockIdx.x * (int64_t)FOLD_THREADS + threadIdx.x;
  const int64_t slice = t / FOLD_LANES;
  if (slice >= part.end) return;
  const int64_t first = layout.slice_ptr[slice], width = layout.slice_ptr[slice + 1] - first;
  spmv_wait_for_previous(x, out.y, work);
  const int64_t  e        = (first - part.first_step) * FOLD_LANES + t % FOLD_LANES;
  const V       *values   = (const V *)part.values + e;
  const S       *gathered = GATHERED ? (const S *)part.gathered + e : nullptr;
  const int32_t *columns  = GATHERED ? nullptr : (const int32_t *)part.columns + e;
  const bool     is_first = t < s.rows;
  const int64_t  row      = is_first ? fold_row(&layout, t) : 0;
  const S        before   = is_first ? out.before(row) : S(0); /* this load overlaps the first batch */
  S              sum      = S(0);

  int64_t j = 0;
  for (; j + FOLD_BATCH <= width; j += FOLD_BATCH) {
    sum = multiply_batch<GATHERED, true>(columns, values, gathered, x, FOLD_BATCH, sum);
    values += FOLD_BATCH * FOLD_LANES;
    if (GATHERED) gathered += FOLD_BATCH * FOLD_LANES;
    else columns += FOLD_BATCH * FOLD_LANES;
  }
  if (j < width) sum = multiply_batch<GATHERED, false>(columns, values, gathered, x, width - j, sum);
  if (is_first) out.put(row, sum, before);
  else if (t < s.table_rows) work[t - s.rows] = sum;
}

/* One thread block per share: the sum over one of FOLD_SHARES equal shares of the full pieces of a row */
template <typename S>
__global__ void __launch_bounds__(FOLD_THREADS)
    fold_sum_shares(const int64_t *__restrict__ full_ptr, const S *__restrict__ work, S *__restrict__ shares)
{
  const int64_t f = blockIdx.x / FOLD_SHARES, share = blockIdx.x % FOLD_SHARES;
  const int64_t first = full_ptr[f], count = full_ptr[f + 1] - first;
  const int64_t end = first + count * (share + 1) / FOLD_SHARES;
  S             sum = S(0);

  spmv_let_next_begin();
  spmv_wait_for_previous(work, shares);
  for (int64_t p = first + count * share / FOLD_SHARES + threadIdx.x; p < end; p += FOLD_THREADS)
    sum += __ldca(work + p);
  sum = spmv_add_block<FOLD_THREADS>(sum);
  if (threadIdx.x == 0) shares[blockIdx.x] = sum;
}

/* Adds the sums of further pieces. The first blocks use one warp per row with full pieces, the other blocks one
   thread per row with only a last piece. */
template <typename S, typename OUT>
__global__ void __launch_bounds__(FOLD_THREADS)
    fold_add_pieces(FoldSizes s, FoldLayout layout, int64_t warp_blocks, const S *__restrict__ work, OUT out)
{
  spmv_let_next_begin();
  spmv_wait_for_previous(work, out.y);
  const S *last = work + s.full_pieces, *shares = last + s.folded;

  if (blockIdx.x >= warp_blocks) {
    const int64_t f = s.cut_often + (blockIdx.x - warp_blocks) * FOLD_THREADS + threadIdx.x;
    if (f < s.folded) out.add(layout.owner[f], __ldca(last + f));
    return;
  }
  const int64_t f    = (blockIdx.x * (int64_t)FOLD_THREADS + threadIdx.x) / 32;
  const int     lane = threadIdx.x % 32;
  if (f >= s.cut_often) return;
  S sum = S(0);
  if (f < s.cut_up) sum = __ldca(shares + f * FOLD_SHARES + lane);
  else
    for (int64_t p = layout.full_ptr[f] + lane; p < layout.full_ptr[f + 1]; p += 32) sum += __ldca(work + p);
  sum = spmv_add_lanes(sum, 32);
  if (lane == 0) out.add(layout.owner[f], sum + __ldca(last + f));
}

template <typename V, typename OUT>
SpmvStatus multiply_part(const FoldTable *table, const FoldPart *part, const void *x, const OUT &out, void *work,
                         SpmvExec *exec)
{
  typedef typename OUT::Scalar S;
  const int64_t                blocks = spmv_blocks((part->end - part->begin) * FOLD_LANES, FOLD_THREADS);

  SPMV_LAUNCH_OVERLAPPED(exec, (fold_multiply<S, V, false, OUT>), blocks, FOLD_THREADS, 0, table->sizes, table->layout,
                         *part, (const S *)x, (S *)work, out);
  return SPMV_SUCCESS;
}

template <typename OUT>
SpmvStatus finish(const FoldTable *table, const OUT &out, void *work, SpmvExec *exec)
{
  typedef typename OUT::Scalar S;
  const FoldSizes             *s           = &table->sizes;
  const int64_t                warp_blocks = spmv_blocks(s->cut_often * 32, FOLD_THREADS);

  SPMV_LAUNCH_OVERLAPPED(exec, fold_sum_shares<S>, s->cut_up * FOLD_SHARES, FOLD_THREADS, 0, table->layout.full_ptr,
                         (const S *)work, (S *)work + s->full_pieces + s->folded);
  SPMV_LAUNCH_OVERLAPPED(exec, (fold_add_pieces<S, OUT>),
                         warp_blocks + spmv_blocks(s->folded - s->cut_often, FOLD_THREADS), FOLD_THREADS, 0, *s,
                         table->layout, warp_blocks, (const S *)work, out);
  return SPMV_SUCCESS;
}
} // namespace

SpmvStatus fold_device_multiply_part(const FoldTable *table, SpmvScalar scalar, const FoldPart *part,
                                     const FoldOperands *o, SpmvExec *exec)
{
  return spmv_with_scalar(scalar, [&](auto number) -> SpmvStatus {
    typedef decltype(number) S;
    const SpmvSum<S>         out(o->alpha, o->beta, o->y);

    if (!part->gathered) return multiply_part<S>(table, part, o->x, out, o->work, exec);
    SPMV_LAUNCH(exec, (fold_multiply<S, S, true, SpmvSum<S>>),
                spmv_blocks((part->end - part->begin) * FOLD_LANES, FOLD_THREADS), FOLD_THREADS, 0, table->sizes,
                table->layout, *part, (const S *)o->x, (S *)o->work, out);
    return SPMV_SUCCESS;
  });
}

SpmvStatus fold_device_finish(const FoldTable *table, SpmvScalar scalar, const FoldOperands *o, SpmvExec *exec)
{
  return spmv_with_scalar(scalar, [&](auto number) {
    return finish(table, SpmvSum<decltype(number)>(o->alpha, o->beta, o->y), o->work, exec);
  });
}

template <typename V, typename OUT>
SpmvStatus FoldMultiply::run(const SpmvPlan *base, const V *const values[2], const void *x, const OUT &out, void *work,
                             SpmvExec *exec)
{
  const FoldTable *table = &((const FoldPlan *)base)->table;
  const FoldPart   part  = {0, table->sizes.slices, 0, table->columns, values[0], NULL};

  SPMV_TRY(multiply_part<V>(table, &part, x, out, work, exec));
  return finish(table, out, work, exec);
}

template struct SpmvProducts<FoldMultiply>;
