/*
  crsv_device_mult.cu - products of format crsv on the device: the paper's kernel with T threads per row, complete or
  without one of its improvements (variant). crsv_device_stream.cu has the streaming kernel.
*/
#include "../device/vector.cuh"
#include "crsv_device.cuh"

namespace
{
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

template <typename I, typename S, int T, int VARIANT, typename OUT>
__global__ void __launch_bounds__(CRSV_THREADS) crsv_rows(CrsvCsr<I, S, S, OUT> a, int64_t rows)
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
    if (row < rows && lane == 0) a.out.put(row, sum);
    if (VARIANT != CRSV_OUTER_LOOP) return;
  }
}

template <int T, int VARIANT, typename I, typename S, typename OUT>
SpmvStatus launch_rows(const CrsvCsr<I, S, S, OUT> &a, int64_t rows, SpmvExec *exec)
{
  const int64_t all  = spmv_blocks(rows * T, CRSV_THREADS),
                most = 65535; /* the largest grid of the GPUs older than those of the paper */

  SPMV_LAUNCH(exec, (crsv_rows<I, S, T, VARIANT, OUT>), VARIANT == CRSV_OUTER_LOOP && all > most ? most : all,
              CRSV_THREADS, 0, a, rows);
  return SPMV_SUCCESS;
}

/* Launches the kernel for 1, 2, 4, 8, 16 or 32 threads per row */
template <int VARIANT, int T = 1, typename I, typename S, typename OUT>
SpmvStatus by_lanes(int lanes, const CrsvCsr<I, S, S, OUT> &a, int64_t rows, SpmvExec *exec)
{
  if constexpr (T < 32)
    if (lanes > T) return by_lanes<VARIANT, 2 * T>(lanes, a, rows, exec);
  return launch_rows<T, VARIANT>(a, rows, exec);
}

template <typename I, typename S>
SpmvStatus multiply(const CrsvDevicePlan *plan, const void *alpha, const void *x, const void *beta, void *y, void *work,
                    SpmvExec *exec)
{
  const CrsvCsr<I, S, S, SpmvSum<S>> a    = {(const I *)plan->row_ptr, (const I *)plan->col, (const S *)plan->values,
                                             (const S *)x, SpmvSum<S>(alpha, beta, y)};
  const int64_t                      rows = plan->base.rows;

  if (plan->lanes == 0) return crsv_multiply_stream(plan, a, work, exec);
  switch ((CrsvVariant)(int)plan->base.options.value[CRSV_OPTION_VARIANT]) {
  case CRSV_NO_READONLY:
    return by_lanes<CRSV_NO_READONLY>(plan->lanes, a, rows, exec);
  case CRSV_OUTER_LOOP:
    return by_lanes<CRSV_OUTER_LOOP>(plan->lanes, a, rows, exec);
  case CRSV_SHARED:
    return by_lanes<CRSV_SHARED>(plan->lanes, a, rows, exec);
  default:
    return by_lanes<CRSV_ALL>(plan->lanes, a, rows, exec);
  }
}

/* A step of a smoother; the paper's variants exist only for plain products */
template <typename I, typename S>
SpmvStatus smooth(const CrsvDevicePlan *plan, const void *x, const SpmvStep *step, void *y, void *work, SpmvExec *exec)
{
  const CrsvCsr<I, S, S, SpmvSmooth<S>> a = {(const I *)plan->row_ptr, (const I *)plan->col, (const S *)plan->values,
                                             (const S *)x, SpmvSmooth<S>(*step, x, y)};

  return plan->lanes == 0 ? crsv_multiply_stream(plan, a, work, exec)
                          : by_lanes<CRSV_ALL>(plan->lanes, a, plan->base.rows, exec);
}

template <typename I>
SpmvStatus multiply_rounded(const CrsvDevicePlan *plan, const float *rounded, const void *alpha, const void *x,
                            const void *beta, void *y, void *work, SpmvExec *exec)
{
  const CrsvCsr<I, double, float, SpmvSum<double>> a = {(const I *)plan->row_ptr, (const I *)plan->col, rounded,
                                                        (const double *)x, SpmvSum<double>(alpha, beta, y)};
  return crsv_multiply_stream(plan, a, work, exec);
}

} // namespace

SpmvStatus crsv_device_mult(const SpmvPlan *base, const void *alpha, const void *x, const void *beta, void *y,
                            void *work, SpmvExec *exec)
{
  const CrsvDevicePlan *plan = (const CrsvDevicePlan *)base;

  return SPMV_BY_TYPES(multiply, base->index_type, base->scalar_type, plan, alpha, x, beta, y, work, exec);
}

SpmvStatus crsv_device_step(const SpmvPlan *base, const void *x, const SpmvStep *step, void *y, void *work,
                            SpmvExec *exec)
{
  const CrsvDevicePlan *plan = (const CrsvDevicePlan *)base;

  return SPMV_BY_TYPES(smooth, base->index_type, base->scalar_type, plan, x, step, y, work, exec);
}

SpmvStatus crsv_device_mult_rounded(const SpmvPlan *base, const float *rounded, const void *alpha, const void *x,
                                    const void *beta, void *y, void *work, SpmvExec *exec)
{
  const CrsvDevicePlan *plan = (const CrsvDevicePlan *)base;

  return base->index_type == SPMV_I64 ? multiply_rounded<int64_t>(plan, rounded, alpha, x, beta, y, work, exec)
                                      : multiply_rounded<int32_t>(plan, rounded, alpha, x, beta, y, work, exec);
}
