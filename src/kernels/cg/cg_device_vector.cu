/*
  cg_device_vector.cu - the three kernels of an iteration beside the product, and the first one.

  Each begins while the one before it ends (device/overlap.cuh). The thread block that writes its partial sums last adds
  those of all, always in the same order, and decides how it goes on. Kernels of an iteration that does not happen
  return at once: spmv_cg_curvature() finds out whether it does, the other two read `active`.
*/
#include "cg_device.cuh"
#include "device/overlap.cuh"

namespace
{
/* Whether all other thread blocks have written their partial sums; the same answer in all threads */
__device__ bool arrives_last(unsigned *arrived)
{
  __shared__ bool last;

  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(arrived, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) __threadfence();
  return last;
}

/* Sums over the grid; true in one thread of it, which has them in v and in s->sums */
template <int SUMS>
__device__ bool add_grid(double (&v)[SUMS], double *partial, SpmvCgState *s)
{
  spmv_cg_add_block(v);
  spmv_cg_put_partial(v, partial);
  if (!arrives_last(&s->arrived)) return false;
  spmv_cg_add_partial(v, partial);
  if (threadIdx.x > 0) return false;
  s->arrived = 0;
  for (int k = 0; k < SUMS; k++) s->sums[k] = v[k];
  return true;
}

/* The first row of this warp, and how many rows lie between two that a lane takes */
template <int BLOCK>
__device__ int64_t first_row()
{
  return (blockIdx.x * (int64_t)SPMV_CG_WARPS + threadIdx.x / 32) * spmv_cg_rows_of_warp<BLOCK>();
}
template <int BLOCK>
__device__ int64_t row_step()
{
  return gridDim.x * (int64_t)SPMV_CG_WARPS * spmv_cg_rows_of_warp<BLOCK>();
}

__global__ void spmv_cg_set_state(SpmvCgState *s, SpmvCgState begin) { *s = begin; }

__global__ void spmv_cg_set_stop(SpmvCgState *s, int64_t stop_at)
{
  s->stop_at = stop_at;
  s->chunks  = 0;
}

__global__ void spmv_cg_set_correction(SpmvCgState *s, SpmvCgTest test, int restart)
{
  spmv_cg_begin_correction(s, &test, restart);
}

/* Decisions where sums are reduced between kernels */
__global__ void spmv_cg_decide_first(SpmvCgState *s, int) { spmv_cg_take_first(s, s->sums[0]); }
__global__ void spmv_cg_decide_corrected(SpmvCgState *s, int) { spmv_cg_take_corrected(s, s->sums[0]); }
__global__ void spmv_cg_decide_curvature(SpmvCgState *s, int)
{
  if (!spmv_cg_stopped(s)) spmv_cg_take_curvature(s, s->sums[0]);
}
__global__ void spmv_cg_decide_residual(SpmvCgState *s, int)
{
  if (s->active) spmv_cg_take_residual(s, s->sums[0], s->sums[1]);
}

/* (r, z), and p = z unless this is a correction, which makes p of it later */
template <typename S, int BLOCK>
__global__ void __launch_bounds__(SPMV_CG_THREADS, spmv_resident_blocks(SPMV_CG_THREADS, SPMV_CG_RESIDENT))
    spmv_cg_first(int64_t rows, S *p, double *partial, SpmvCgState *s, bool decide, bool correction)
{
  constexpr int ROWS = spmv_cg_rows_of_warp<BLOCK>();
  const int     lane = threadIdx.x % 32;
  double        v[1] = {0};

  spmv_let_next_begin();
  spmv_wait_for_previous(p, partial, s);
  const S *r = (const S *)s->r, *m = (const S *)s->m;
  for (int64_t base = first_row<BLOCK>(); base < rows; base += row_step<BLOCK>()) {
    const int64_t row   = base + lane;
    const bool    there = lane < ROWS && row < rows;
    const S       r_row = there ? r[row] : S(0);
    const S       z     = spmv_cg_precondition<BLOCK>(m, row, there, r_row);
    if (there && !correction) p[row] = z;
    if (there) v[0] += (double)r_row * (double)z;
  }
  if (!add_grid(v, partial, s) || !decide) return;
  if (correction) spmv_cg_take_corrected(s, v[0]);
  else spmv_cg_take_first(s, v[0]);
}

/* (p, w), and from it alpha */
template <typename S>
__global__ void __launch_bounds__(SPMV_CG_THREADS, spmv_resident_blocks(SPMV_CG_THREADS, SPMV_CG_RESIDENT))
    spmv_cg_curvature(int64_t rows, const S *p, const S *w, double *partial, SpmvCgState *s, bool decide)
{
  double v[1] = {0};

  spmv_let_next_begin();
  spmv_wait_for_previous(p, w, partial, s);
  if (spmv_cg_stopped(s)) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      s->active  = 0;
      s->sums[0] = s->sums[1] = 0;
    }
    return;
  }
  for (int64_t row = blockIdx.x * (int64_t)SPMV_CG_THREADS + threadIdx.x; row < rows;
       row += gridDim.x * (int64_t)SPMV_CG_THREADS)
    v[0] += (double)p[row] * (double)w[row];
  if (add_grid(v, partial, s) && decide) spmv_cg_take_curvature(s, v[0]);
}

/* x += alpha p, r -= alpha w; the sums of (r, z) and of the norm, with z in registers */
template <typename S, int BLOCK>
__global__ void __launch_bounds__(SPMV_CG_THREADS, spmv_resident_blocks(SPMV_CG_THREADS, SPMV_CG_RESIDENT))
    spmv_cg_residual(int64_t rows, const S *p, const S *w, double *partial, SpmvCgState *s, bool decide)
{
  constexpr int ROWS = spmv_cg_rows_of_warp<BLOCK>();
  const int     lane = threadIdx.x % 32;
  double        v[2] = {0, 0};

  spmv_let_next_begin();
  spmv_wait_for_previous(p, w, partial, s);
  if (!s->active) return;
  S         *x = (S *)s->x, *r = (S *)s->r;
  const S   *m     = (const S *)s->m;
  const S    alpha = (S)s->alpha;
  const bool of_z  = s->test.norm == SPMV_CG_PRECONDITIONED;
  for (int64_t base = first_row<BLOCK>(); base < rows; base += row_step<BLOCK>()) {
    const int64_t row   = base + lane;
    const bool    there = lane < ROWS && row < rows;
    S             r_row = 0;
    if (there) { /* all loads before the first store */
      const S x_row = x[row] + alpha * p[row];
      r_row         = r[row] - alpha * w[row];
      r[row]        = r_row;
      x[row]        = x_row;
    }
    const S      z    = spmv_cg_precondition<BLOCK>(m, row, there, r_row);
    const double size = of_z ? (double)z : (double)r_row; /* 0 where there is no row */
    v[0] += (double)r_row * (double)z;
    v[1] += size * size;
  }
  if (add_grid(v, partial, s) && decide) spmv_cg_take_residual(s, v[0], v[1]);
}

/* Gives the host the record at the end of a chunk: the kernel writes to page-locked memory of the host, since a copy in
   the stream would hold up the next iteration by 9 us on an H200. Chunks take turns with two places. */
__device__ void put_record(SpmvCgRecord *records, SpmvCgState *s)
{
  if (!records || blockIdx.x > 0 || threadIdx.x > 0) return;
  records[s->chunks % 2] = s->record;
  s->chunks++;
}

/* p = M r + scale p; the last kernel of a chunk has records */
template <typename S, int BLOCK>
__global__ void __launch_bounds__(SPMV_CG_THREADS, spmv_resident_blocks(SPMV_CG_THREADS, SPMV_CG_RESIDENT))
    spmv_cg_direction(int64_t rows, S *p, SpmvCgState *s, SpmvCgRecord *records)
{
  constexpr int ROWS = spmv_cg_rows_of_warp<BLOCK>();
  const int     lane = threadIdx.x % 32;

  spmv_let_next_begin();
  spmv_wait_for_previous(p, s, records);
  put_record(records, s);
  if (!s->active) return;
  const S *r = (const S *)s->r, *m = (const S *)s->m;
  const S  scale = (S)s->scale;
  for (int64_t base = first_row<BLOCK>(); base < rows; base += row_step<BLOCK>()) {
    const int64_t row   = base + lane;
    const bool    there = lane < ROWS && row < rows;
    const S       z     = spmv_cg_precondition<BLOCK>(m, row, there, there ? r[row] : S(0));
    if (there) p[row] = z + scale * p[row];
  }
}

/* At least one block, which decides also where there are no rows */
int64_t grid_of(int64_t rows, int rows_of_warp)
{
  const int64_t blocks = spmv_blocks(rows, (int64_t)SPMV_CG_WARPS * rows_of_warp);

  return blocks < 1 ? 1 : blocks < SPMV_CG_GRID_MAX ? blocks : (int64_t)SPMV_CG_GRID_MAX;
}

SpmvStatus reduce(SpmvCg *cg, int sums, SpmvExec *exec)
{
  return cg->options.reduce(cg->options.reduce_ctx, cg->state->sums, sums, exec);
}

template <typename S>
SpmvStatus enqueue_curvature(SpmvCg *cg, bool decide, SpmvExec *exec)
{
  SPMV_LAUNCH_OVERLAPPED(exec, spmv_cg_curvature<S>, grid_of(cg->options.rows, 32), SPMV_CG_THREADS, 0,
                         cg->options.rows, (const S *)cg->p, (const S *)cg->w, cg->partial, cg->state, decide);
  return SPMV_SUCCESS;
}

template <typename S, int BLOCK>
SpmvStatus enqueue_residual(SpmvCg *cg, bool decide, SpmvExec *exec)
{
  const auto cg_residual = spmv_cg_residual<S, BLOCK>;

  SPMV_LAUNCH_OVERLAPPED(exec, cg_residual, grid_of(cg->options.rows, spmv_cg_rows_of_warp<BLOCK>()), SPMV_CG_THREADS,
                         0, cg->options.rows, (const S *)cg->p, (const S *)cg->w, cg->partial, cg->state, decide);
  return SPMV_SUCCESS;
}

template <typename S, int BLOCK>
SpmvStatus enqueue_direction(SpmvCg *cg, SpmvCgRecord *records, SpmvExec *exec)
{
  const auto cg_direction = spmv_cg_direction<S, BLOCK>;

  SPMV_LAUNCH_OVERLAPPED(exec, cg_direction, grid_of(cg->options.rows, spmv_cg_rows_of_warp<BLOCK>()), SPMV_CG_THREADS,
                         0, cg->options.rows, (S *)cg->p, cg->state, records);
  return SPMV_SUCCESS;
}

template <typename S, int BLOCK>
SpmvStatus enqueue_first(SpmvCg *cg, bool decide, bool correction, SpmvExec *exec)
{
  const auto cg_first = spmv_cg_first<S, BLOCK>;

  SPMV_LAUNCH_OVERLAPPED(exec, cg_first, grid_of(cg->options.rows, spmv_cg_rows_of_warp<BLOCK>()), SPMV_CG_THREADS, 0,
                         cg->options.rows, (S *)cg->p, cg->partial, cg->state, decide, correction);
  return SPMV_SUCCESS;
}

SpmvStatus enqueue_new_direction(SpmvCg *cg, SpmvCgRecord *records, SpmvExec *exec)
{
  return spmv_cg_with_kernel(cg, [&](auto s, auto block) {
    return enqueue_direction<decltype(s), decltype(block)::value>(cg, records, exec);
  });
}
} // namespace

SpmvStatus spmv_cg_enqueue_first(SpmvCg *cg, const SpmvCgState *begin, SpmvExec *exec)
{
  const bool alone = !cg->options.reduce;

  SPMV_LAUNCH(exec, spmv_cg_set_state, 1, 1, 0, cg->state, *begin);
  SPMV_TRY(spmv_cg_with_kernel(cg, [&](auto s, auto block) {
    return enqueue_first<decltype(s), decltype(block)::value>(cg, alone, false, exec);
  }));
  if (alone) return SPMV_SUCCESS;
  SPMV_TRY(reduce(cg, 1, exec));
  SPMV_LAUNCH(exec, spmv_cg_decide_first, 1, 1, 0, cg->state, 0);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_cg_enqueue_correction(SpmvCg *cg, const SpmvCgTest *test, int restart, SpmvExec *exec)
{
  const bool alone = !cg->options.reduce;

  SPMV_LAUNCH(exec, spmv_cg_set_correction, 1, 1, 0, cg->state, *test, restart);
  SPMV_TRY(spmv_cg_with_kernel(cg, [&](auto s, auto block) {
    return enqueue_first<decltype(s), decltype(block)::value>(cg, alone, true, exec);
  }));
  if (!alone) {
    SPMV_TRY(reduce(cg, 1, exec));
    SPMV_LAUNCH(exec, spmv_cg_decide_corrected, 1, 1, 0, cg->state, 0);
  }
  return enqueue_new_direction(cg, nullptr, exec);
}

SpmvStatus spmv_cg_enqueue_stop(SpmvCg *cg, int64_t stop_at, SpmvExec *exec)
{
  SPMV_LAUNCH(exec, spmv_cg_set_stop, 1, 1, 0, cg->state, stop_at);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_cg_enqueue_iteration(SpmvCg *cg, SpmvCgRecord *records, SpmvExec *exec)
{
  const bool alone = !cg->options.reduce;

  SPMV_TRY(cg->options.product(cg->options.product_ctx, cg->p, cg->w, exec));
  SPMV_TRY(cg->options.scalar_type == SPMV_F32 ? enqueue_curvature<float>(cg, alone, exec)
                                               : enqueue_curvature<double>(cg, alone, exec));
  if (!alone) {
    SPMV_TRY(reduce(cg, 1, exec));
    SPMV_LAUNCH(exec, spmv_cg_decide_curvature, 1, 1, 0, cg->state, 0);
  }
  SPMV_TRY(spmv_cg_with_kernel(
      cg, [&](auto s, auto block) { return enqueue_residual<decltype(s), decltype(block)::value>(cg, alone, exec); }));
  if (!alone) {
    SPMV_TRY(reduce(cg, 2, exec));
    SPMV_LAUNCH(exec, spmv_cg_decide_residual, 1, 1, 0, cg->state, 0);
  }
  return enqueue_new_direction(cg, records, exec);
}
