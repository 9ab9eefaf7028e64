/*
  cg_device_persistent.cu - all iterations in one cooperative kernel, for matrices that fit the caches.

  Each thread block has consecutive rows, of the matrix and of the vectors. Only p and the sums pass between blocks, so
  that an iteration has three grid barriers. Every thread makes the same decisions from the same sums.
*/
#include "cg_device.cuh"
#include "device/cooperative.cuh"

namespace
{
template <typename S>
struct Matrix {
  const int32_t *row_ptr, *col;
  const S       *values;
  int            lanes; /* for each row, a power of two */
  int64_t        rows, rows_of_block;
};

/* Sums over the grid, valid in all threads; one grid barrier */
template <int SUMS>
__device__ void add_grid(double (&v)[SUMS], double *partial)
{
  __shared__ double total[SUMS];

  spmv_sum_block(v);
  spmv_sum_put_partial(v, partial);
  cooperative_groups::this_grid().sync();
  spmv_sum_add_partial(v, partial);
  if (threadIdx.x == 0)
    for (int k = 0; k < SUMS; k++) total[k] = v[k];
  __syncthreads();
  for (int k = 0; k < SUMS; k++) v[k] = total[k];
}

/* w = A p for rows begin .. end-1; returns this thread's part of (p, w). Other thread blocks wrote p, so it is read
   past the first-level cache. */
template <typename S>
__device__ double multiply(const Matrix<S> &a, int64_t begin, int64_t end, const S *p, S *w)
{
  const int lane = threadIdx.x % a.lanes, team = threadIdx.x / a.lanes, teams = SPMV_SUM_THREADS / a.lanes;
  double    part = 0;

  for (int64_t first = begin; first < end; first += teams) {
    const int64_t row = first + team;
    S             sum = 0;
    if (row < end)
      for (int32_t k = __ldg(a.row_ptr + row) + lane, last = __ldg(a.row_ptr + row + 1); k < last; k += a.lanes)
        sum += __ldg(a.values + k) * __ldcg(p + __ldg(a.col + k));
    sum = spmv_add_lanes(sum, a.lanes);
    if (row >= end || lane > 0) continue;
    w[row] = sum;
    part += (double)sum * (double)__ldcg(p + row);
  }
  return part;
}

/* Calls work(row, there) with all lanes of the warp for the warp's share of the block's rows, one row per lane;
   `there`: the lane has a row */
template <int BLOCK, typename Work>
__device__ void for_rows(int64_t begin, int64_t end, const Work &work)
{
  constexpr int ROWS = spmv_point_rows<BLOCK>();
  const int     lane = threadIdx.x % 32;

  for (int64_t base = begin + threadIdx.x / 32 * ROWS; base < end; base += SPMV_SUM_WARPS * ROWS)
    work(base + lane, lane < ROWS && base + lane < end);
}

template <typename S, int BLOCK>
__global__ void __launch_bounds__(SPMV_SUM_THREADS)
    spmv_cg_persistent(Matrix<S> a, S *p, S *w, double *partial, SpmvCgState *state)
{
  const int64_t begin = min(a.rows, blockIdx.x * a.rows_of_block), end = min(a.rows, begin + a.rows_of_block);
  const bool    first_thread = blockIdx.x == 0 && threadIdx.x == 0;
  SpmvCgState   s            = *state;
  double *const history      = s.history;
  S *const x = (S *)s.x, *const r = (S *)s.r;
  const S   *m    = (const S *)s.m;
  const bool of_z = s.norm == SPMV_CG_PRECONDITIONED;

  if (spmv_cg_stopped(&s)) return;
  if (!first_thread) s.history = nullptr; /* only one thread writes the norms */
  for (;;) {
    double curvature[1] = {multiply(a, begin, end, p, w)};
    add_grid(curvature, partial);
    spmv_cg_take_curvature(&s, curvature[0]);
    if (!s.active) break;
    double v[2] = {0, 0};
    for_rows<BLOCK>(begin, end, [&](int64_t row, bool there) {
      S r_row = 0;
      if (there) {
        r_row  = r[row] - (S)s.alpha * w[row];
        r[row] = r_row;
        x[row] += (S)s.alpha * p[row];
      }
      const S      z    = spmv_point_apply<BLOCK>(m, row, there, r_row);
      const double size = of_z ? (double)z : (double)r_row;
      v[0] += (double)r_row * (double)z;
      v[1] += size * size;
    });
    add_grid(v, partial + SPMV_SUM_GRID_MAX);
    spmv_cg_take_residual(&s, v[0], v[1]);
    if (!s.active) break;
    for_rows<BLOCK>(begin, end, [&](int64_t row, bool there) {
      const S z = spmv_point_apply<BLOCK>(m, row, there, there ? r[row] : S(0));
      if (there) p[row] = z + (S)s.scale * p[row];
    });
    if (spmv_cg_stopped(&s)) break;
    cooperative_groups::this_grid().sync();
  }
  if (!first_thread) return;
  s.history = history;
  *state    = s; /* all threads have their copy */
}

/* Lanes for a row: each has at most three nonzeros of an average row, unless 32 lanes are not enough */
int lanes_for(const SpmvPattern &p)
{
  int lanes = 1;

  while (lanes < 32 && (int64_t)lanes * 3 * p.rows < p.nnz) lanes *= 2;
  return lanes;
}

int64_t rows_of_block(const SpmvCg *cg)
{
  const int block = spmv_cg_block_size(&cg->options), step = block > 1 ? block : 1;

  return spmv_blocks(spmv_blocks(cg->options.rows, cg->info.blocks), step) * step;
}

template <typename S, int BLOCK>
SpmvStatus enqueue(SpmvCg *cg, SpmvExec *exec)
{
  const auto        cg_persistent = spmv_cg_persistent<S, BLOCK>;
  const SpmvPattern p             = cg->matrix.pattern;
  const Matrix<S>   a             = {
                    (const int32_t *)p.row_ptr, (const int32_t *)p.col, (const S *)cg->matrix.values, cg->info.lanes, p.rows,
                    rows_of_block(cg)};

  SPMV_LAUNCH_COOPERATIVE(exec, cg_persistent, cg->info.blocks, SPMV_SUM_THREADS, 0, a, (S *)cg->p, (S *)cg->w,
                          cg->partial, cg->state);
  return SPMV_SUCCESS;
}
} // namespace

SpmvStatus spmv_cg_persistent_prepare(SpmvCg *cg, SpmvExec *exec)
{
  const int64_t rows = cg->options.rows;
  int           most = 0;

  SPMV_TRY(spmv_cg_with_kernel<0>(cg, [&](auto scalar, auto block) {
    return spmv_cooperative_blocks(spmv_cg_persistent<decltype(scalar), decltype(block)::value>, SPMV_SUM_THREADS,
                                   &most, exec);
  }));
  if (most == 0)
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED,
                     "persistent conjugate gradients: this device does not support "
                     "cooperative launches");
  cg->info.lanes       = lanes_for(cg->matrix.pattern);
  const int64_t wanted = spmv_blocks(rows * cg->info.lanes, SPMV_SUM_THREADS);
  if (most > (int)SPMV_SUM_GRID_MAX) most = SPMV_SUM_GRID_MAX;
  cg->info.blocks = wanted < 1 ? 1 : wanted < most ? (int)wanted : most;
  if (rows > 0) cg->info.blocks = (int)spmv_blocks(rows, rows_of_block(cg));
  return SPMV_SUCCESS;
}

SpmvStatus spmv_cg_enqueue_persistent(SpmvCg *cg, SpmvExec *exec)
{
  return spmv_cg_with_kernel<0>(
      cg, [&](auto scalar, auto block) { return enqueue<decltype(scalar), decltype(block)::value>(cg, exec); });
}
