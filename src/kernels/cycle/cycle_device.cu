/* cycle_device.cu - the vector operations of a cycle on the device, and the dense product of the coarsest level. */
#include "cycle_device.cuh"
#include "device/overlap.cuh"
#include "engine/point.cuh"

namespace
{
enum { DENSE_THREADS = 128 };

/* One row per lane. The factors are read from device memory, where spmv_cycle_renew() writes them, so that a graph uses
   the new ones. */
template <typename S, int BLOCK>
__global__ void __launch_bounds__(SPMV_POINT_THREADS)
    spmv_cycle_point(int64_t rows, const SpmvFactors *step, const S *m, const S *x, const S *b, const S *w, S *out,
                     bool adds)
{
  constexpr int ROWS = spmv_point_rows<BLOCK>();
  const int     lane = threadIdx.x % 32;

  spmv_let_next_begin();
  spmv_wait_for_previous(x, b, w, out, m, step);
  const S       current = (S)step->current, before = (S)step->before, correction = (S)step->correction;
  const int64_t row   = spmv_point_first<BLOCK>() + lane;
  const bool    there = lane < ROWS && row < rows;
  const S       r     = !there ? S(0) : w ? b[row] - w[row] : b[row];
  S             v     = correction * spmv_point_apply<BLOCK>(m, row, there, r);
  if (!there) return;
  if (x) v += current * x[row];
  if (adds) v += before * out[row];
  out[row] = v;
}

/* One warp per row, with BATCH loads in flight */
template <typename S>
__global__ void __launch_bounds__(DENSE_THREADS) spmv_cycle_dense(int64_t n, const S *a, const S *b, S *x, bool adds)
{
  constexpr int BATCH = 8;
  const int64_t row   = blockIdx.x * (int64_t)(DENSE_THREADS / 32) + threadIdx.x / 32;
  const int     lane  = threadIdx.x % 32;
  S             sum   = 0;

  spmv_let_next_begin();
  spmv_wait_for_previous(a, b, x);
  if (row >= n) return;
  for (int64_t first = lane; first < n; first += 32 * BATCH) {
    S v[BATCH];
#pragma unroll
    for (int i = 0; i < BATCH; i++) v[i] = first + 32 * i < n ? a[row * n + first + 32 * i] : S(0);
#pragma unroll
    for (int i = 0; i < BATCH; i++)
      if (first + 32 * i < n) sum += v[i] * b[first + 32 * i];
  }
  sum = spmv_add_lanes(sum, 32);
  if (lane == 0) x[row] = adds ? x[row] + sum : sum;
}

template <typename S, int BLOCK>
SpmvStatus enqueue_point(int64_t rows, const SpmvFactors *step, const void *m, const void *x, const void *b,
                         const void *w, void *out, bool adds, SpmvExec *exec)
{
  const auto    cycle_point = spmv_cycle_point<S, BLOCK>;
  const int64_t each        = SPMV_POINT_THREADS / 32 * spmv_point_rows<BLOCK>();

  SPMV_LAUNCH_OVERLAPPED(exec, cycle_point, spmv_blocks(rows, each), SPMV_POINT_THREADS, 0, rows, step, (const S *)m,
                         (const S *)x, (const S *)b, (const S *)w, (S *)out, adds);
  return SPMV_SUCCESS;
}

SpmvStatus point(const SpmvCycle *cycle, const SpmvCycleGrid *grid, const SpmvCycleOp *op, const void *x, const void *b,
                 const void *w, void *out, SpmvExec *exec)
{
  const SpmvCycleSmoother *s    = spmv_cycle_smoother(grid, op->up);
  const SpmvPreconditioner kind = s->kind == SPMV_PC_FUNCTION ? SPMV_PC_IDENTITY : s->kind;

  return spmv_with_point<0>(cycle->options.scalar_type, spmv_point_block(kind, s->block_size),
                            [&](auto scalar, auto block) {
                              return enqueue_point<decltype(scalar), decltype(block)::value>(
                                  grid->def.rows, cycle->steps + op->step, s->values, x, b, w, out, op->adds, exec);
                            });
}

template <typename S>
SpmvStatus enqueue_dense(const SpmvCycle *cycle, const void *b, void *x, int adds, SpmvExec *exec)
{
  const int64_t n      = cycle->grid[cycle->bottom].def.rows;
  const void   *matrix = cycle->dense ? spmv_cycle_dense_matrix(cycle) : cycle->options.inverse;

  SPMV_LAUNCH_OVERLAPPED(exec, spmv_cycle_dense<S>, spmv_blocks(n, DENSE_THREADS / 32), DENSE_THREADS, 0, n,
                         (const S *)matrix, (const S *)b, (S *)x, adds != 0);
  return SPMV_SUCCESS;
}

SpmvStatus coarsest(const SpmvCycle *cycle, const void *b, void *x, int adds, SpmvExec *exec)
{
  return cycle->options.scalar_type == SPMV_F32 ? enqueue_dense<float>(cycle, b, x, adds, exec)
                                                : enqueue_dense<double>(cycle, b, x, adds, exec);
}
} // namespace

extern "C" const SpmvCycleSlots spmv_cycle_device_slots;
const SpmvCycleSlots            spmv_cycle_device_slots = {point,
                                                           coarsest,
                                                           spmv_cycle_dense_create,
                                                           spmv_cycle_dense_renew,
                                                           spmv_outer_device_sum,
                                                           spmv_outer_device_enter,
                                                           spmv_outer_device_convert};
