/*
  crsv_published_device.cu - the kernel of the paper on format crsv: T threads per row, complete or without one of its
  improvements (variant).
*/
#include "crsv/crsv_device.cuh"
#include "device/vector.cuh"
#include <cstdio>

namespace
{
template <typename I, typename S>
using Csr = CrsvCsr<I, S, S, SpmvSum<S>>;

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

template <typename I, typename S, int T, int VARIANT>
__global__ void __launch_bounds__(CRSV_THREADS) crsv_rows(Csr<I, S> a, int64_t rows)
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

template <int T, int VARIANT, typename I, typename S>
SpmvStatus launch_rows(const Csr<I, S> &a, int64_t rows, SpmvExec *exec)
{
  const int64_t all  = spmv_blocks(rows * T, CRSV_THREADS),
                most = 65535; /* the largest grid of the GPUs older than those of the paper */

  SPMV_LAUNCH(exec, (crsv_rows<I, S, T, VARIANT>), VARIANT == CRSV_OUTER_LOOP && all > most ? most : all, CRSV_THREADS,
              0, a, rows);
  return SPMV_SUCCESS;
}

/* Launches the kernel for 1, 2, 4, 8, 16 or 32 threads per row */
template <int VARIANT, int T = 1, typename I, typename S>
SpmvStatus by_lanes(int lanes, const Csr<I, S> &a, int64_t rows, SpmvExec *exec)
{
  if constexpr (T < 32)
    if (lanes > T) return by_lanes<VARIANT, 2 * T>(lanes, a, rows, exec);
  return launch_rows<T, VARIANT>(a, rows, exec);
}

/* Threads per row. The rule, also for a variant without nt: the next power of two not below the mean row, at most a
   warp */
int lanes_of(const SpmvPlan *plan)
{
  const int nt    = (int)plan->options.value[CRSV_OPTION_NT];
  int       lanes = 1;

  if (nt >= CRSV_NT_1) return 1 << (nt - CRSV_NT_1);
  while (lanes < 32 && lanes * plan->rows < plan->nnz) lanes *= 2;
  return lanes;
}

CrsvVariant variant_of(const SpmvPlan *plan) { return (CrsvVariant)(int)plan->options.value[CRSV_OPTION_VARIANT]; }

template <typename I, typename S>
SpmvStatus multiply(const CrsvDevicePlan *plan, const void *alpha, const void *x, const void *beta, void *y,
                    SpmvExec *exec)
{
  const Csr<I, S> a     = {(const I *)plan->row_ptr, (const I *)plan->col, (const S *)plan->base.values[0].array,
                           (const S *)x, SpmvSum<S>(alpha, beta, y)};
  const int64_t   rows  = plan->base.rows;
  const int       lanes = lanes_of(&plan->base);

  switch (variant_of(&plan->base)) {
  case CRSV_NO_READONLY:
    return by_lanes<CRSV_NO_READONLY>(lanes, a, rows, exec);
  case CRSV_OUTER_LOOP:
    return by_lanes<CRSV_OUTER_LOOP>(lanes, a, rows, exec);
  case CRSV_SHARED:
    return by_lanes<CRSV_SHARED>(lanes, a, rows, exec);
  default:
    return by_lanes<CRSV_ALL>(lanes, a, rows, exec);
  }
}

/* Without blocks and pieces: build then makes no tables */
SpmvStatus analyze(const SpmvPattern *pattern, SpmvAnalysis *analysis, SpmvExec *exec)
{
  (void)exec;
  crsv_report_csr(pattern, analysis);
  return SPMV_SUCCESS;
}

SpmvStatus mult(const SpmvPlan *base, const void *alpha, const void *x, const void *beta, void *y, void *work,
                SpmvExec *exec)
{
  (void)work;
  return SPMV_BY_TYPES(multiply, base->index_type, base->scalar_type, (const CrsvDevicePlan *)base, alpha, x, beta, y,
                       exec);
}

void view(const SpmvPlan *plan, SpmvPrint print, void *ctx)
{
  char line[SPMV_MESSAGE_MAX];

  snprintf(line, sizeof line, "threads per row: %d, variant: %s", lanes_of(plan),
           plan->format->options[CRSV_OPTION_VARIANT].choices[variant_of(plan)]);
  print(ctx, line);
}

/* Those of the format, with another analysis and product */
SpmvSlots published()
{
  SpmvSlots slots = crsv_device_slots;

  slots.analyze      = analyze;
  slots.mult         = mult;
  slots.view         = view;
  slots.mult_rounded = nullptr;
  slots.step         = nullptr;
  return slots;
}
} // namespace

extern const SpmvSlots crsv_published_device_slots;
const SpmvSlots        crsv_published_device_slots = published();
