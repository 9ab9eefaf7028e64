/* gather.cu - packs the entries of a vector that are sent to other processes, and adds those that they have sent. */
#include "device/csr.cuh"
#include <spmv_engine.h>

namespace
{
template <typename S>
__global__ void __launch_bounds__(SPMV_CSR_THREADS)
    spmv_add_each(const int32_t *__restrict__ index, const S *__restrict__ from, int64_t n, S *__restrict__ to)
{
  const int64_t i = blockIdx.x * (int64_t)SPMV_CSR_THREADS + threadIdx.x;
  if (i < n) to[index[i]] += from[i];
}

template <typename S>
SpmvStatus add(int64_t n, const int32_t *index, const void *from, void *to, SpmvExec *exec)
{
  SPMV_LAUNCH(exec, spmv_add_each<S>, spmv_blocks(n, SPMV_CSR_THREADS), SPMV_CSR_THREADS, 0, index, (const S *)from, n,
              (S *)to);
  return SPMV_SUCCESS;
}
} // namespace

extern "C" SpmvStatus spmv_gather(int64_t n, const int32_t *index, SpmvScalar scalar, const void *from, void *to,
                                  SpmvExec *exec)
{
  return scalar == SPMV_F32 ? spmv_take(index, (const float *)from, n, (float *)to, exec)
                            : spmv_take(index, (const double *)from, n, (double *)to, exec);
}

extern "C" SpmvStatus spmv_scatter_add(int64_t n, const int32_t *index, SpmvScalar scalar, const void *from, void *to,
                                       SpmvExec *exec)
{
  return scalar == SPMV_F32 ? add<float>(n, index, from, to, exec) : add<double>(n, index, from, to, exec);
}
