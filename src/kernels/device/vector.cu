/* vector.cu - y = beta y in device memory, for products with alpha = 0, and rounding to single precision. */
#include "memory.h"
#include "overlap.cuh"

namespace
{
enum { THREADS = 256 };

template <typename S>
__global__ void spmv_scale_rows(S *y, S beta, int64_t n)
{
  const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (i < n) y[i] = beta == S(0) ? S(0) : beta * y[i];
}

template <typename S>
SpmvStatus scale(int64_t n, const void *beta, void *y, SpmvExec *exec)
{
  SPMV_LAUNCH(exec, spmv_scale_rows<S>, spmv_blocks(n, THREADS), THREADS, 0, (S *)y, *(const S *)beta, n);
  return SPMV_SUCCESS;
}

__global__ void spmv_round(const double *v, float *rounded, int64_t n)
{
  const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (i < n) rounded[i] = (float)v[i];
}
} // namespace

extern "C" SpmvStatus spmv_device_round(const double *v, float *rounded, int64_t n, SpmvExec *exec)
{
  SPMV_LAUNCH(exec, spmv_round, spmv_blocks(n, THREADS), THREADS, 0, v, rounded, n);
  return spmv_overlap_fence(exec); /* products read the rounded numbers as values of a matrix */
}

extern "C" SpmvStatus spmv_device_scale(int64_t n, SpmvScalar scalar, const void *beta, void *y, SpmvExec *exec)
{
  return scalar == SPMV_F32 ? scale<float>(n, beta, y, exec) : scale<double>(n, beta, y, exec);
}
