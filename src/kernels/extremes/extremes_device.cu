/* extremes_device.cu - the vectors with which an estimate begins. */
#include "device/launch.cuh"
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
} // namespace

extern "C" const SpmvExtremesSlots spmv_extremes_device_slots;
const SpmvExtremesSlots            spmv_extremes_device_slots = {begin};
