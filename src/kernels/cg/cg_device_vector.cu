/*
  cg_device_vector.cu - the kernels of an iteration beside the product, and those of iteration 0.

  Each begins while the previous kernel ends (device/overlap.cuh). The thread block that writes its partial sums last
  adds the sums of all blocks, always in the same order, and decides whether the solve goes on. The kernels of
  iterations enqueued after convergence return at once: spmv_cg_curvature() sets `active` to 0, and the others read it.
*/
#include "cg_device.cuh"
#include "device/overlap.cuh"
#include "engine/queue.cuh"

namespace
{
/* Sums over the grid. Returns true in one thread of the grid, which has the sums in v and has written them to
   s->sums. */
template <int SUMS>
__device__ bool add_grid(double (&v)[SUMS], double *partial, SpmvCgState *s)
{
  return spmv_sum_grid(v, partial, &s->arrived, s->sums);
}

__global__ void spmv_cg_set_run(SpmvCgState *s, SpmvTest test, int64_t stop_at, SpmvRecord *records)
{
  spmv_take_test(&test, &s->test, &s->record);
  s->stop_at = stop_at;
  s->chunks  = 0;
  spmv_put_record(records, s->record, &s->chunks);
}

__global__ void spmv_cg_set_correction(SpmvCgState *s, int restart) { spmv_cg_begin_correction(s, restart); }

/* The use of the sums (r, z) and of the norm's squares */
enum Purpose {
  FIRST,     /* iteration 0: p = z */
  CORRECTED, /* a residual replaced by the caller; p is computed later */
  RESIDUAL,  /* an iteration that is tested with these sums */
  BETA       /* an iteration that was tested before z was computed */
};

__device__ void decide_sums(SpmvCgState *s, Purpose purpose, double beta, double squares)
{
  if (purpose == FIRST) spmv_cg_take_first(s, beta, squares);
  else if (purpose == CORRECTED) spmv_cg_take_corrected(s, beta);
  else if (purpose == RESIDUAL) spmv_cg_take_residual(s, beta, squares);
  else spmv_cg_take_beta(s, beta);
}

/* With several processes, sums over processes come between kernels, so decisions are kernels of their own */
__global__ void spmv_cg_decide_sums(SpmvCgState *s, Purpose purpose)
{
  if (purpose == FIRST || purpose == CORRECTED || s->active) decide_sums(s, purpose, s->sums[0], s->sums[1]);
}
__global__ void spmv_cg_decide_curvature(SpmvCgState *s, int)
{
  if (!spmv_cg_stopped(s)) spmv_cg_take_curvature(s, s->sums[0]);
}
__global__ void spmv_cg_decide_squares(SpmvCgState *s, int)
{
  if (s->active) spmv_cg_take_squares(s, s->sums[1]);
}

/* (r, z) and the norm's sum of squares; in iteration 0 also p = z */
template <typename S, int BLOCK>
__global__ void __launch_bounds__(SPMV_SUM_THREADS, spmv_resident_blocks(SPMV_SUM_THREADS, SPMV_SUM_RESIDENT))
    spmv_cg_sums(int64_t rows, S *p, double *partial, SpmvCgState *s, bool decide, Purpose purpose)
{
  constexpr int ROWS = spmv_point_rows<BLOCK>();
  const int     lane = threadIdx.x % 32;
  double        v[2] = {0, 0};

  spmv_let_next_begin();
  spmv_wait_for_previous(p, partial, s);
  if ((purpose == RESIDUAL || purpose == BETA) && !s->active) return;
  const S *r = (const S *)s->r, *m = (const S *)s->m;
  if (!r) rows = 0;
  const bool of_z = s->norm == SPMV_CG_PRECONDITIONED;
  for (int64_t base = spmv_point_first<BLOCK>(); base < rows; base += spmv_point_step<BLOCK>()) {
    const int64_t row   = base + lane;
    const bool    there = lane < ROWS && row < rows;
    const S       r_row = there ? r[row] : S(0);
    const S       z     = spmv_point_apply<BLOCK>(m, row, there, r_row);
    const double  size  = of_z ? (double)z : (double)r_row; /* 0 where there is no row */
    if (!there) continue;
    if (purpose == FIRST) p[row] = z;
    v[0] += (double)r_row * (double)z;
    v[1] += size * size;
  }
  if (add_grid(v, partial, s) && decide) decide_sums(s, purpose, v[0], v[1]);
}

/* (p, w) and alpha */
template <typename S>
__global__ void __launch_bounds__(SPMV_SUM_THREADS, spmv_resident_blocks(SPMV_SUM_THREADS, SPMV_SUM_RESIDENT))
    spmv_cg_curvature(int64_t rows, const S *p, const S *w, double *partial, SpmvCgState *s, bool decide)
{
  double v[1] = {0};

  spmv_let_next_begin();
  spmv_wait_for_previous(p, w, partial, s);
  if (spmv_cg_stopped(s)) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      s->active = s->moves = 0;
      s->sums[0] = s->sums[1] = 0;
    }
    return;
  }
  for (int64_t row = blockIdx.x * (int64_t)SPMV_SUM_THREADS + threadIdx.x; row < rows;
       row += gridDim.x * (int64_t)SPMV_SUM_THREADS)
    v[0] += (double)p[row] * (double)w[row];
  if (add_grid(v, partial, s) && decide) spmv_cg_take_curvature(s, v[0]);
}

/* r -= alpha w; (r, z) and the norm's sum of squares, with z in registers only. spmv_cg_direction() has x: behind the sums
   over the processes, and it reads p anyway. */
template <typename S, int BLOCK>
__global__ void __launch_bounds__(SPMV_SUM_THREADS, spmv_resident_blocks(SPMV_SUM_THREADS, SPMV_SUM_RESIDENT))
    spmv_cg_residual(int64_t rows, const S *w, double *partial, SpmvCgState *s, bool decide)
{
  constexpr int ROWS = spmv_point_rows<BLOCK>();
  const int     lane = threadIdx.x % 32;
  double        v[2] = {0, 0};

  spmv_let_next_begin();
  spmv_wait_for_previous(w, partial, s);
  if (!s->active) return;
  S         *r     = (S *)s->r;
  const S   *m     = (const S *)s->m;
  const S    alpha = (S)s->alpha;
  const bool of_z  = s->norm == SPMV_CG_PRECONDITIONED;
  for (int64_t base = spmv_point_first<BLOCK>(); base < rows; base += spmv_point_step<BLOCK>()) {
    const int64_t row   = base + lane;
    const bool    there = lane < ROWS && row < rows;
    const S       r_row = there ? r[row] - alpha * w[row] : S(0);
    const S       z     = spmv_point_apply<BLOCK>(m, row, there, r_row); /* all loads before the store */
    if (there) r[row] = r_row;
    const double size = of_z ? (double)z : (double)r_row; /* 0 where there is no row */
    v[0] += (double)r_row * (double)z;
    v[1] += size * size;
  }
  if (add_grid(v, partial, s) && decide) spmv_cg_take_residual(s, v[0], v[1]);
}

/* x += alpha p, r -= alpha w, for a function as preconditioner, which comes later; the sum of squares of r if the
   iteration is tested early */
template <typename S>
__global__ void __launch_bounds__(SPMV_SUM_THREADS, spmv_resident_blocks(SPMV_SUM_THREADS, SPMV_SUM_RESIDENT))
    spmv_cg_advance(int64_t rows, const S *p, const S *w, double *partial, SpmvCgState *s, bool early, bool decide)
{
  double v[2] = {0, 0};

  spmv_let_next_begin();
  spmv_wait_for_previous(p, w, partial, s);
  if (!s->active) return;
  S      *x = (S *)s->x, *r = (S *)s->r;
  const S alpha = (S)s->alpha;
  for (int64_t row = blockIdx.x * (int64_t)SPMV_SUM_THREADS + threadIdx.x; row < rows;
       row += gridDim.x * (int64_t)SPMV_SUM_THREADS) { /* all loads before the first store */
    const S x_row = x[row] + alpha * p[row], r_row = r[row] - alpha * w[row];
    r[row] = r_row;
    x[row] = x_row;
    v[1] += (double)r_row * (double)r_row;
  }
  if (early && add_grid(v, partial, s) && decide) spmv_cg_take_squares(s, v[1]);
}

__device__ void put_record(SpmvRecord *records, SpmvCgState *s)
{
  if (blockIdx.x == 0 && threadIdx.x == 0) spmv_put_record(records, s->record, &s->chunks);
}

__global__ void spmv_cg_tell(SpmvCgState *s, SpmvRecord *records) { put_record(records, s); }

/* p = M r + scale p if the solve goes on, and before that x += alpha p if this iteration has a step that
   spmv_cg_advance() has not taken; records is NULL unless this is the last kernel of a chunk */
template <typename S, int BLOCK>
__global__ void __launch_bounds__(SPMV_SUM_THREADS, spmv_resident_blocks(SPMV_SUM_THREADS, SPMV_SUM_RESIDENT))
    spmv_cg_direction(int64_t rows, S *p, SpmvCgState *s, SpmvRecord *records)
{
  constexpr int ROWS = spmv_point_rows<BLOCK>();
  const int     lane = threadIdx.x % 32;

  spmv_let_next_begin();
  spmv_wait_for_previous(p, s, records);
  put_record(records, s);
  const bool moves = BLOCK != SPMV_POINT_STORED && s->moves, goes_on = s->active;
  if (!moves && !goes_on) return;
  S       *x = (S *)s->x;
  const S *r = (const S *)s->r, *m = (const S *)s->m;
  const S  alpha = (S)s->alpha, scale = (S)s->scale;
  for (int64_t base = spmv_point_first<BLOCK>(); base < rows; base += spmv_point_step<BLOCK>()) {
    const int64_t row   = base + lane;
    const bool    there = lane < ROWS && row < rows;
    S             r_row = 0, p_row = 0, x_row = 0;
    if (there) { /* all loads before the first store */
      r_row = r[row];
      p_row = p[row];
      if (moves) x_row = x[row];
    }
    const S z = spmv_point_apply<BLOCK>(m, row, there, r_row);
    if (there && goes_on) p[row] = z + scale * p_row;
    if (there && moves) x[row] = x_row + alpha * p_row;
  }
}

template <typename S>
SpmvStatus enqueue_curvature(SpmvCg *cg, bool decide, SpmvExec *exec)
{
  SPMV_LAUNCH_OVERLAPPED(exec, spmv_cg_curvature<S>, spmv_sum_grid_of(cg->options.rows, 32), SPMV_SUM_THREADS, 0,
                         cg->options.rows, (const S *)cg->p, (const S *)cg->w, cg->partial, cg->state, decide);
  return SPMV_SUCCESS;
}

template <typename S, int BLOCK>
SpmvStatus enqueue_residual(SpmvCg *cg, bool decide, SpmvExec *exec)
{
  const auto cg_residual = spmv_cg_residual<S, BLOCK>;

  SPMV_LAUNCH_OVERLAPPED(exec, cg_residual, spmv_sum_grid_of(cg->options.rows, spmv_point_rows<BLOCK>()),
                         SPMV_SUM_THREADS, 0, cg->options.rows, (const S *)cg->w, cg->partial, cg->state, decide);
  return SPMV_SUCCESS;
}

template <typename S, int BLOCK>
SpmvStatus enqueue_direction(SpmvCg *cg, SpmvRecord *records, SpmvExec *exec)
{
  const auto cg_direction = spmv_cg_direction<S, BLOCK>;

  SPMV_LAUNCH_OVERLAPPED(exec, cg_direction, spmv_sum_grid_of(cg->options.rows, spmv_point_rows<BLOCK>()),
                         SPMV_SUM_THREADS, 0, cg->options.rows, (S *)cg->p, cg->state, records);
  return SPMV_SUCCESS;
}

template <typename S, int BLOCK>
SpmvStatus enqueue_sums(SpmvCg *cg, bool decide, Purpose purpose, SpmvExec *exec)
{
  const auto cg_sums = spmv_cg_sums<S, BLOCK>;

  SPMV_LAUNCH_OVERLAPPED(exec, cg_sums, spmv_sum_grid_of(cg->options.rows, spmv_point_rows<BLOCK>()), SPMV_SUM_THREADS,
                         0, cg->options.rows, (S *)cg->p, cg->partial, cg->state, decide, purpose);
  return SPMV_SUCCESS;
}

/* z = M r if the preconditioner is a function, then the sums and decisions that need z */
SpmvStatus apply_and_sum(SpmvCg *cg, const void *r, Purpose purpose, SpmvExec *exec)
{
  const bool alone = !cg->options.processes;

  SPMV_TRY(spmv_cg_apply(cg, r, exec));
  SPMV_TRY(spmv_cg_with_kernel(cg, [&](auto s, auto block) {
    return enqueue_sums<decltype(s), decltype(block)::value>(cg, alone, purpose, exec);
  }));
  if (alone) return SPMV_SUCCESS;
  SPMV_TRY(spmv_cg_add(cg, cg->state->sums, 2, exec));
  SPMV_LAUNCH(exec, spmv_cg_decide_sums, 1, 1, 0, cg->state, purpose);
  return SPMV_SUCCESS;
}

template <typename S>
SpmvStatus enqueue_advance(SpmvCg *cg, bool early, bool decide, SpmvExec *exec)
{
  SPMV_LAUNCH_OVERLAPPED(exec, spmv_cg_advance<S>, spmv_sum_grid_of(cg->options.rows, 32), SPMV_SUM_THREADS, 0,
                         cg->options.rows, (const S *)cg->p, (const S *)cg->w, cg->partial, cg->state, early, decide);
  return SPMV_SUCCESS;
}

/* w = A p and (p, w) */
SpmvStatus multiply(SpmvCg *cg, SpmvExec *exec)
{
  const bool alone = !cg->options.processes;

  SPMV_TRY(cg->options.product(cg->options.product_ctx, cg->p, cg->w, exec));
  SPMV_TRY(cg->options.scalar_type == SPMV_F32 ? enqueue_curvature<float>(cg, alone, exec)
                                               : enqueue_curvature<double>(cg, alone, exec));
  if (alone) return SPMV_SUCCESS;
  SPMV_TRY(spmv_cg_add(cg, cg->state->sums, 1, exec));
  SPMV_LAUNCH(exec, spmv_cg_decide_curvature, 1, 1, 0, cg->state, 0);
  return SPMV_SUCCESS;
}

SpmvStatus enqueue_new_direction(SpmvCg *cg, SpmvRecord *records, SpmvExec *exec)
{
  return spmv_cg_with_kernel(cg, [&](auto s, auto block) {
    return enqueue_direction<decltype(s), decltype(block)::value>(cg, records, exec);
  });
}
} // namespace

SpmvStatus spmv_cg_enqueue_first(SpmvCg *cg, const SpmvCgState *begin, SpmvExec *exec)
{
  SPMV_TRY(spmv_begin_state(cg->state, *begin, exec));
  cg->r = begin->r;
  if (!cg->options.single_reduction) return apply_and_sum(cg, cg->r, FIRST, exec);
  SPMV_TRY(spmv_cg_enqueue_step(cg, true, exec));
  return spmv_cg_enqueue_single_sums(cg, true, nullptr, exec);
}

SpmvStatus spmv_cg_enqueue_correction(SpmvCg *cg, int restart, SpmvExec *exec)
{
  SPMV_LAUNCH(exec, spmv_cg_set_correction, 1, 1, 0, cg->state, restart);
  SPMV_TRY(apply_and_sum(cg, cg->r, CORRECTED, exec));
  return enqueue_new_direction(cg, nullptr, exec);
}

SpmvStatus spmv_cg_enqueue_run(SpmvCg *cg, const SpmvTest *test, int64_t stop_at, SpmvRecord *records, SpmvExec *exec)
{
  SPMV_LAUNCH(exec, spmv_cg_set_run, 1, 1, 0, cg->state, *test, stop_at, records);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_cg_enqueue_iteration(SpmvCg *cg, SpmvRecord *records, SpmvExec *exec)
{
  const bool alone = !cg->options.processes;

  if (cg->options.single_reduction) {
    SPMV_TRY(spmv_cg_enqueue_step(cg, false, exec));
    return spmv_cg_enqueue_single_sums(cg, false, records, exec);
  }
  SPMV_TRY(multiply(cg, exec));
  SPMV_TRY(spmv_cg_with_kernel<0>(
      cg, [&](auto s, auto block) { return enqueue_residual<decltype(s), decltype(block)::value>(cg, alone, exec); }));
  if (!alone) {
    SPMV_TRY(spmv_cg_add(cg, cg->state->sums, 2, exec));
    SPMV_LAUNCH(exec, spmv_cg_decide_sums, 1, 1, 0, cg->state, RESIDUAL);
  }
  return enqueue_new_direction(cg, records, exec);
}

SpmvStatus spmv_cg_enqueue_advance(SpmvCg *cg, SpmvRecord *records, SpmvExec *exec)
{
  const bool alone = !cg->options.processes, early = spmv_cg_tests_early(cg);

  if (cg->options.single_reduction) return spmv_cg_enqueue_step(cg, false, exec);
  SPMV_TRY(multiply(cg, exec));
  SPMV_TRY(cg->options.scalar_type == SPMV_F32 ? enqueue_advance<float>(cg, early, alone, exec)
                                               : enqueue_advance<double>(cg, early, alone, exec));
  if (!early) return SPMV_SUCCESS;
  if (!alone) {
    SPMV_TRY(spmv_cg_add(cg, cg->state->sums, 2, exec));
    SPMV_LAUNCH(exec, spmv_cg_decide_squares, 1, 1, 0, cg->state, 0);
  }
  SPMV_LAUNCH(exec, spmv_cg_tell, 1, 1, 0, cg->state, records);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_cg_enqueue_renewal(SpmvCg *cg, SpmvRecord *records, SpmvExec *exec)
{
  const bool early = spmv_cg_tests_early(cg);

  if (cg->options.single_reduction) return spmv_cg_enqueue_single_sums(cg, false, records, exec);
  SPMV_TRY(apply_and_sum(cg, cg->r, early ? BETA : RESIDUAL, exec));
  return enqueue_new_direction(cg, early ? nullptr : records, exec);
}
