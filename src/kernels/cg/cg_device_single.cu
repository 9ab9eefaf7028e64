/*
  cg_device_single.cu - conjugate gradients with one sum over the processes per iteration (options.single_reduction).

  The product is that with z = M r: w = A p follows by the recurrence of p, and (p, w) from (z, A z). All three sums are
  then taken after the product, and cg_decide.h has alpha for the next iteration. So one kernel makes the direction of
  an iteration and takes its step, and another one adds its sums.
*/
#include "cg_device.cuh"
#include "device/overlap.cuh"

namespace
{
/* p = z + scale p, w = A z + scale w, x += alpha p, r -= alpha w, and z = M r unless M is a function. first: only
   z = M r. In iteration 1 scale is 0, and p and w have no values yet. */
template <typename S, int BLOCK>
__global__ void __launch_bounds__(SPMV_SUM_THREADS, spmv_resident_blocks(SPMV_SUM_THREADS, SPMV_SUM_RESIDENT))
    spmv_cg_step(int64_t rows, S *p, S *w, S *z, const S *az, SpmvCgState *s, bool first)
{
  constexpr int ROWS = spmv_point_rows<BLOCK>();
  const int     lane = threadIdx.x % 32;

  spmv_let_next_begin();
  spmv_wait_for_previous(p, w, z, az, s);
  const bool stopped = !first && spmv_cg_stopped(s);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    s->active = !stopped;
    if (stopped) s->sums[0] = s->sums[1] = s->sums[2] = 0;
  }
  if (stopped) return;
  S       *x = (S *)s->x, *r = (S *)s->r;
  const S *m     = (const S *)s->m;
  const S  alpha = (S)s->alpha, scale = (S)s->scale;
  if (!r) rows = 0;
  for (int64_t base = spmv_point_first<BLOCK>(); base < rows; base += spmv_point_step<BLOCK>()) {
    const int64_t row   = base + lane;
    const bool    there = lane < ROWS && row < rows;
    S             r_row = there ? r[row] : S(0);
    if (there && !first) { /* all loads before the first store */
      const S p_row = scale == S(0) ? z[row] : z[row] + scale * p[row];
      const S w_row = scale == S(0) ? az[row] : az[row] + scale * w[row];
      const S x_row = x[row] + alpha * p_row;
      r_row -= alpha * w_row;
      p[row] = p_row;
      w[row] = w_row;
      x[row] = x_row;
      r[row] = r_row;
    }
    if constexpr (BLOCK != SPMV_POINT_STORED) {
      const S z_row = spmv_point_apply<BLOCK>(m, row, there, r_row);
      if (there) z[row] = z_row;
    }
  }
}

__device__ void decide(SpmvCgState *s, bool first, SpmvRecord *records)
{
  if (first || s->active) spmv_cg_take_single(s, first);
  spmv_put_record(records, s->record, &s->chunks);
}

__global__ void spmv_cg_decide_single(SpmvCgState *s, bool first, SpmvRecord *records) { decide(s, first, records); }

/* (r, z), the norm's sum of squares and (z, A z); with several processes spmv_cg_decide_single() follows */
template <typename S>
__global__ void __launch_bounds__(SPMV_SUM_THREADS, spmv_resident_blocks(SPMV_SUM_THREADS, SPMV_SUM_RESIDENT))
    spmv_cg_single_sums(int64_t rows, const S *z, const S *az, double *partial, SpmvCgState *s, bool alone, bool first,
                        SpmvRecord *records)
{
  double v[3] = {0, 0, 0};

  spmv_let_next_begin();
  spmv_wait_for_previous(z, az, partial, s, records);
  if (!first && !s->active) {
    if (alone && blockIdx.x == 0 && threadIdx.x == 0) decide(s, first, records);
    return;
  }
  const S *r = (const S *)s->r;
  if (!r) rows = 0;
  const bool of_z = s->norm == SPMV_CG_PRECONDITIONED;
  for (int64_t row = blockIdx.x * (int64_t)SPMV_SUM_THREADS + threadIdx.x; row < rows;
       row += gridDim.x * (int64_t)SPMV_SUM_THREADS) {
    const double z_row = (double)z[row], r_row = (double)r[row], size = of_z ? z_row : r_row;
    v[0] += r_row * z_row;
    v[1] += size * size;
    v[2] += z_row * (double)az[row];
  }
  if (spmv_sum_grid(v, partial, &s->arrived, s->sums) && alone) decide(s, first, records);
}

template <typename S>
SpmvStatus enqueue_sums(SpmvCg *cg, bool alone, bool first, SpmvRecord *records, SpmvExec *exec)
{
  SPMV_LAUNCH_OVERLAPPED(exec, spmv_cg_single_sums<S>, spmv_sum_grid_of(cg->options.rows, 32), SPMV_SUM_THREADS, 0,
                         cg->options.rows, (const S *)cg->z, (const S *)cg->az, cg->partial, cg->state, alone, first,
                         records);
  return SPMV_SUCCESS;
}

template <typename S, int BLOCK>
SpmvStatus enqueue_step(SpmvCg *cg, bool first, SpmvExec *exec)
{
  const auto cg_step = spmv_cg_step<S, BLOCK>;

  SPMV_LAUNCH_OVERLAPPED(exec, cg_step, spmv_sum_grid_of(cg->options.rows, spmv_point_rows<BLOCK>()), SPMV_SUM_THREADS,
                         0, cg->options.rows, (S *)cg->p, (S *)cg->w, (S *)cg->z, (const S *)cg->az, cg->state, first);
  return SPMV_SUCCESS;
}
} // namespace

SpmvStatus spmv_cg_enqueue_step(SpmvCg *cg, bool first, SpmvExec *exec)
{
  return spmv_cg_with_kernel(
      cg, [&](auto s, auto block) { return enqueue_step<decltype(s), decltype(block)::value>(cg, first, exec); });
}

SpmvStatus spmv_cg_enqueue_single_sums(SpmvCg *cg, bool first, SpmvRecord *records, SpmvExec *exec)
{
  const bool alone = !cg->options.processes;

  SPMV_TRY(spmv_cg_apply(cg, cg->r, exec));
  SPMV_TRY(cg->options.product(cg->options.product_ctx, cg->z, cg->az, exec));
  SPMV_TRY(cg->options.scalar_type == SPMV_F32 ? enqueue_sums<float>(cg, alone, first, records, exec)
                                               : enqueue_sums<double>(cg, alone, first, records, exec));
  if (alone) return SPMV_SUCCESS;
  SPMV_TRY(spmv_cg_add(cg, cg->state->sums, 3, exec));
  SPMV_LAUNCH(exec, spmv_cg_decide_single, 1, 1, 0, cg->state, first, records);
  return SPMV_SUCCESS;
}
