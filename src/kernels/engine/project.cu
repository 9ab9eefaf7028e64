/* project.cu - the projection on the device: two kernels for the scalar products, one for the subtraction. */
#include "device/overlap.cuh"
#include "device/vector.cuh"
#include "project.h"

namespace
{
enum { THREADS = 256 };

/* Partial sums of (v_j, x): `blocks` thread blocks for each vector v_j */
template <typename S>
__global__ void __launch_bounds__(THREADS)
    spmv_project_dots(int64_t rows, int blocks, const S *vectors, const S *x, double *partial)
{
  const S  *v    = vectors + blockIdx.x / blocks * rows;
  const int part = blockIdx.x % blocks;
  double    sum  = 0;

  spmv_let_next_begin();
  spmv_wait_for_previous(x, partial);
  for (int64_t i = part * (int64_t)THREADS + threadIdx.x; i < rows; i += blocks * (int64_t)THREADS)
    sum += (double)v[i] * (double)x[i];
  sum = spmv_add_block<THREADS>(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

/* Adds the partial sums: one thread block for each vector */
__global__ void __launch_bounds__(THREADS) spmv_project_add(int blocks, const double *partial, double *sums)
{
  double sum = 0;

  spmv_let_next_begin();
  spmv_wait_for_previous(partial, sums);
  for (int i = threadIdx.x; i < blocks; i += THREADS) sum += partial[(int64_t)blockIdx.x * blocks + i];
  sum = spmv_add_block<THREADS>(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

template <typename S>
__global__ void __launch_bounds__(THREADS)
    spmv_project_subtract(int64_t rows, int count, const S *vectors, const double *sums, S *x)
{
  const int64_t i   = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  double        sum = 0;

  spmv_let_next_begin();
  spmv_wait_for_previous(sums, x);
  if (i >= rows) return;
  for (int j = 0; j < count; j++) sum += sums[j] * (double)vectors[j * rows + i];
  x[i] -= (S)sum;
}

template <typename S>
SpmvStatus enqueue_dots(const SpmvProjection *p, const void *x, SpmvExec *exec)
{
  const int64_t wanted  = (p->rows + THREADS - 1) / THREADS;
  const int     blocks  = wanted < 1 ? 1 : wanted > SPMV_PROJECT_BLOCKS ? SPMV_PROJECT_BLOCKS : (int)wanted;
  double *const partial = p->work + p->count;

  SPMV_LAUNCH_OVERLAPPED(exec, spmv_project_dots<S>, (int64_t)p->count * blocks, THREADS, 0, p->rows, blocks,
                         (const S *)p->vectors, (const S *)x, partial);
  SPMV_LAUNCH_OVERLAPPED(exec, spmv_project_add, p->count, THREADS, 0, blocks, (const double *)partial, p->work);
  return SPMV_SUCCESS;
}

template <typename S>
SpmvStatus enqueue_subtract(const SpmvProjection *p, void *x, SpmvExec *exec)
{
  if (p->rows == 0) return SPMV_SUCCESS;
  SPMV_LAUNCH_OVERLAPPED(exec, spmv_project_subtract<S>, spmv_blocks(p->rows, THREADS), THREADS, 0, p->rows, p->count,
                         (const S *)p->vectors, (const double *)p->work, (S *)x);
  return SPMV_SUCCESS;
}

SpmvStatus dots(const SpmvProjection *p, const void *x, SpmvExec *exec)
{
  return p->scalar_type == SPMV_F32 ? enqueue_dots<float>(p, x, exec) : enqueue_dots<double>(p, x, exec);
}

SpmvStatus subtract(const SpmvProjection *p, void *x, SpmvExec *exec)
{
  return p->scalar_type == SPMV_F32 ? enqueue_subtract<float>(p, x, exec) : enqueue_subtract<double>(p, x, exec);
}
} // namespace

SpmvStatus spmv_project(const SpmvProjection *p, void *x, SpmvExec *exec)
{
  if (p->count == 0) return SPMV_SUCCESS;
  SPMV_TRY(dots(p, x, exec));
  if (p->processes) SPMV_TRY(p->processes->add(p->processes->ctx, p->work, p->count, exec));
  return subtract(p, x, exec);
}
