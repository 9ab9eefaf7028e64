/*
  gmres_device_cycle.cu - the kernels at the beginning and the end of a cycle: the residual of x and its norm; the
  triangular solve, and the update of x by the basis.
*/
#include "device/overlap.cuh"
#include "engine/queue.cuh"
#include "gmres_device.cuh"

namespace
{
enum { LANES = 32 };

__global__ void spmv_gmres_set_run(SpmvGmresState *s, SpmvTest test, int64_t stop_at, SpmvRecord *records)
{
  spmv_take_test(&test, &s->test, &s->record);
  s->stop_at = stop_at;
  s->chunks  = 0;
  spmv_gmres_put_record(records, s);
}

__global__ void spmv_gmres_decide_residual(SpmvGmresState *s, SpmvRecord *records)
{
  if (s->begins) spmv_gmres_take_residual(s, s->sums[0]);
  spmv_gmres_put_record(records, s);
}

/* The arguments of the first kernel of a cycle */
template <typename S>
struct First {
  int64_t  rows;
  const S *b;
  S       *t;     /* the product A x; NULL: x is zero */
  const S *ready; /* M (b - A x), if M is a function on the left; else NULL */
  S       *v, *next;
  int      left, right; /* rows of a block of M */
};

/* t = b - A x, for a function on the left, which reads it */
template <typename S>
__global__ void __launch_bounds__(SPMV_SUM_THREADS)
    spmv_gmres_residual(int64_t rows, const S *b, S *t, bool x_is_zero, const SpmvGmresState *s)
{
  spmv_let_next_begin();
  spmv_wait_for_previous(b, t, s);
  if (!s->begins) return;
  for (int64_t row = blockIdx.x * (int64_t)SPMV_SUM_THREADS + threadIdx.x; row < rows;
       row += gridDim.x * (int64_t)SPMV_SUM_THREADS)
    t[row] = x_is_zero ? b[row] : b[row] - t[row];
}

/* The first vector of the basis, its norm, and next = M v */
template <typename S>
__global__ void __launch_bounds__(SPMV_SUM_THREADS)
    spmv_gmres_first(First<S> f, double *partial, SpmvGmresState *s, bool decide, SpmvRecord *records)
{
  const int     block = f.left > f.right ? f.left : f.right; /* one of them is 0 */
  const int     lane = threadIdx.x % 32, rows_of_warp = spmv_point_rows_of(block);
  const int64_t step   = (int64_t)gridDim.x * SPMV_SUM_WARPS * rows_of_warp;
  double        sum[1] = {0};

  spmv_let_next_begin();
  spmv_wait_for_previous(f.b, f.t, f.ready, f.v, f.next, partial, s, records);
  if (!s->begins) {
    spmv_gmres_pass(records, s);
    return;
  }
  const S *m = (const S *)s->m;
  for (int64_t base = (blockIdx.x * (int64_t)SPMV_SUM_WARPS + threadIdx.x / 32) * rows_of_warp; base < f.rows;
       base += step) {
    const int64_t row   = base + lane;
    const bool    there = lane < rows_of_warp && row < f.rows;
    S             r     = 0;
    if (there) r = f.ready ? f.ready[row] : f.t ? f.b[row] - f.t[row] : f.b[row];
    const S v = spmv_point_of(m, f.left, row, there, r);
    if (there) f.v[row] = v;
    sum[0] += there ? (double)v * (double)v : 0.0;
    if (!f.next) continue;
    const S z = spmv_point_of(m, f.right, row, there, v);
    if (there) f.next[row] = z;
  }
  if (!spmv_sum_grid(sum, partial, &s->arrived, s->sums) || !decide) return;
  spmv_gmres_take_residual(s, sum[0]);
  spmv_gmres_put_record(records, s);
}

/* The triangular solve by one warp: the columns one after the other, the rows of a column in parallel */
__global__ void __launch_bounds__(LANES) spmv_gmres_solve(SpmvGmresState *s, bool look)
{
  const int lane = threadIdx.x;

  spmv_let_next_begin();
  spmv_wait_for_previous(s);
  const int columns = spmv_gmres_due(s, look);
  for (int j = lane; j < columns; j += LANES) s->y[j] = s->g[j];
  __syncwarp();
  for (int i = columns - 1; i >= 0; i--) {
    spmv_gmres_eliminate(s, i, lane, LANES);
    __syncwarp();
  }
  for (int i = lane; i < columns; i += LANES) spmv_gmres_unscale(s, i);
  __syncwarp();
  if (lane == 0) spmv_gmres_close_cycle(s, columns, look);
}

/* to = x + M V y; or stored = V y, for a function on the right */
template <typename S>
__global__ void __launch_bounds__(SPMV_SUM_THREADS)
    spmv_gmres_combine(int64_t rows, int64_t stride, const S *basis, const S *x, S *to, S *stored, int block,
                       const SpmvGmresState *s, bool look)
{
  SPMV_DYNAMIC_SHARED(shared);
  const int     lane = threadIdx.x % 32, rows_of_warp = spmv_point_rows_of(block);
  const int64_t step = (int64_t)gridDim.x * SPMV_SUM_WARPS * rows_of_warp;
  double       *y    = (double *)shared;

  spmv_let_next_begin();
  spmv_wait_for_previous(basis, x, to, stored, s);
  const int columns = s->combine;
  if (columns == 0 && !look) return;
  for (int j = threadIdx.x; j < columns; j += SPMV_SUM_THREADS) y[j] = s->y[j];
  __syncthreads();
  const S *m = (const S *)s->m;
  for (int64_t base = (blockIdx.x * (int64_t)SPMV_SUM_WARPS + threadIdx.x / 32) * rows_of_warp; base < rows;
       base += step) {
    const int64_t row   = base + lane;
    const bool    there = lane < rows_of_warp && row < rows;
    double        sum   = 0;
#pragma unroll 8
    for (int j = 0; there && j < columns; j++) sum += y[j] * (double)basis[j * stride + row];
    const S z = spmv_point_of(m, block, row, there, (S)sum);
    if (!there) continue;
    if (stored) stored[row] = z;
    else to[row] = x[row] + z;
  }
}

/* to = x + u */
template <typename S>
__global__ void __launch_bounds__(SPMV_SUM_THREADS)
    spmv_gmres_add(int64_t rows, const S *x, const S *u, S *to, const SpmvGmresState *s, bool look)
{
  spmv_let_next_begin();
  spmv_wait_for_previous(x, u, to, s);
  if (s->combine == 0 && !look) return;
  for (int64_t row = blockIdx.x * (int64_t)SPMV_SUM_THREADS + threadIdx.x; row < rows;
       row += gridDim.x * (int64_t)SPMV_SUM_THREADS)
    to[row] = x[row] + u[row];
}

template <typename S>
SpmvStatus begin(SpmvGmres *g, int x_is_zero, SpmvRecord *records, SpmvExec *exec)
{
  const bool    alone = !g->options.processes, left = spmv_gmres_has_function(g) && !g->options.right;
  const int64_t rows = g->options.rows;
  First<S>      f    = {rows,
                        (const S *)g->b,
                x_is_zero ? nullptr : (S *)g->t,
                        nullptr,
                        (S *)g->basis,
                        (S *)spmv_gmres_next(g),
                        spmv_gmres_left(g),
                        spmv_gmres_right(g)};

  if (!x_is_zero) SPMV_TRY(spmv_gmres_product(g, g->x, g->t, exec));
  if (left) {
    SPMV_LAUNCH_OVERLAPPED(exec, spmv_gmres_residual<S>, spmv_sum_grid_of(rows, 32), SPMV_SUM_THREADS, 0, rows, f.b,
                           (S *)g->t, x_is_zero != 0, g->state);
    SPMV_TRY(spmv_gmres_enqueue_function(g, exec));
    f.ready = (const S *)g->u;
  }
  SPMV_LAUNCH_OVERLAPPED(exec, spmv_gmres_first<S>,
                         spmv_sum_grid_of(rows, spmv_point_rows_of(f.left > f.right ? f.left : f.right)),
                         SPMV_SUM_THREADS, 0, f, g->partial, g->state, alone, alone ? records : nullptr);
  if (alone) return SPMV_SUCCESS;
  SPMV_TRY(spmv_add_sums(g->options.processes, g->start.sums, 1, exec));
  SPMV_LAUNCH(exec, spmv_gmres_decide_residual, 1, 1, 0, g->state, records);
  return SPMV_SUCCESS;
}

template <typename S>
SpmvStatus solution(SpmvGmres *g, S *to, bool look, SpmvExec *exec)
{
  const bool    function = spmv_gmres_has_function(g) && g->options.right;
  const int     block    = spmv_gmres_right(g);
  const int64_t rows     = g->options.rows;
  const S      *x        = (const S *)g->x;

  SPMV_LAUNCH_OVERLAPPED(exec, spmv_gmres_solve, 1, LANES, 0, g->state, look);
  SPMV_LAUNCH_OVERLAPPED(exec, spmv_gmres_combine<S>, spmv_sum_grid_of(rows, spmv_point_rows_of(block)),
                         SPMV_SUM_THREADS, spmv_gmres_shared_factors(g->options.restart), rows, g->stride,
                         (const S *)g->basis, x, to, function ? (S *)g->t : nullptr, block, g->state, look);
  if (!function) return SPMV_SUCCESS;
  SPMV_TRY(spmv_gmres_enqueue_function(g, exec));
  SPMV_LAUNCH_OVERLAPPED(exec, spmv_gmres_add<S>, spmv_sum_grid_of(rows, 32), SPMV_SUM_THREADS, 0, rows, x,
                         (const S *)g->u, to, g->state, look);
  if (!look) return SPMV_SUCCESS;
  return spmv_copy(g->t, SPMV_DEVICE, spmv_gmres_vector(g, g->position), SPMV_DEVICE, rows * (int64_t)sizeof(S), exec);
}
} // namespace

SpmvStatus spmv_gmres_enqueue_state(SpmvGmres *g, SpmvExec *exec) { return spmv_begin_state(g->state, g->start, exec); }

SpmvStatus spmv_gmres_enqueue_run(SpmvGmres *g, const SpmvTest *test, int64_t stop_at, SpmvRecord *records,
                                  SpmvExec *exec)
{
  SPMV_LAUNCH(exec, spmv_gmres_set_run, 1, 1, 0, g->state, *test, stop_at, records);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_gmres_enqueue_begin(SpmvGmres *g, int x_is_zero, SpmvRecord *records, SpmvExec *exec)
{
  return spmv_with_scalar(g->options.scalar_type,
                          [&](auto s) { return begin<decltype(s)>(g, x_is_zero, records, exec); });
}

SpmvStatus spmv_gmres_enqueue_solution(SpmvGmres *g, void *to, int look, SpmvExec *exec)
{
  return spmv_with_scalar(g->options.scalar_type,
                          [&](auto s) { return solution(g, (decltype(s) *)to, look != 0, exec); });
}
