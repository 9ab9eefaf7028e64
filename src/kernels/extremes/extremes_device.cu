/* extremes_device.cu - the vectors with which an estimate begins, and M beside a projection. */
#include "engine/point.cuh"
#include "extremes.h"

namespace
{
enum { THREADS = 256 };

/* KSPNoisyHash_Private() of PETSc: a number between -1.1 and 1.1 */
__device__ double noise(int64_t row)
{
  unsigned x = (unsigned)row;

  x = ((x >> 16) ^ x) * 0x45d9f3bu;
  x = ((x >> 16) ^ x) * 0x45d9f3bu;
  x = (x >> 16) ^ x;
  return ((double)x - 2147483648.0) * 5e-10;
}

template <typename S>
__global__ void spmv_extremes_vectors(int64_t rows, int64_t first_row, const S *diagonal, S *b, S *x, S *m)
{
  const int64_t row = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (row >= rows) return;
  b[row] = (S)noise(first_row + row);
  if (x) x[row] = 0;
  if (m) m[row] = diagonal[row] == 0 ? S(1) : S(1) / diagonal[row];
}

SpmvStatus begin(const SpmvExtremesOptions *o, void *b, void *x, void *m, SpmvExec *exec)
{
  return spmv_with_scalar(o->scalar_type, [&](auto s) -> SpmvStatus {
    using S = decltype(s);
    SPMV_LAUNCH(exec, spmv_extremes_vectors<S>, spmv_blocks(o->rows, THREADS), THREADS, 0, o->rows, o->first_row,
                (const S *)o->m, (S *)b, (S *)x, (S *)m);
    return SPMV_SUCCESS;
  });
}

template <typename S>
__global__ void __launch_bounds__(THREADS)
    spmv_extremes_precondition(int64_t rows, int block, int rows_of_warp, const S *m, S *x)
{
  const int     lane = threadIdx.x % 32;
  const int64_t warp = blockIdx.x * (int64_t)(THREADS / 32) + threadIdx.x / 32, row = warp * rows_of_warp + lane;
  const bool    there = lane < rows_of_warp && row < rows;
  const S       z     = spmv_point_of(m, block, row, there, there ? x[row] : S(0));

  if (there) x[row] = z;
}

SpmvStatus precondition(const SpmvExtremesOptions *o, const void *m, void *x, SpmvExec *exec)
{
  const int block = spmv_point_block(o->preconditioner, o->block_size), rows_of_warp = spmv_point_rows_of(block);

  return spmv_with_scalar(o->scalar_type, [&](auto s) -> SpmvStatus {
    using S = decltype(s);
    SPMV_LAUNCH(exec, spmv_extremes_precondition<S>, spmv_blocks(o->rows, rows_of_warp * (THREADS / 32)), THREADS, 0,
                o->rows, block, rows_of_warp, (const S *)m, (S *)x);
    return SPMV_SUCCESS;
  });
}
} // namespace

extern "C" const SpmvExtremesSlots spmv_extremes_device_slots;
const SpmvExtremesSlots            spmv_extremes_device_slots = {begin, precondition};
