/* gather.cu - packs the entries of a vector that are sent to other processes. */
#include "device/launch.cuh"
#include <spmv_engine.h>

namespace
{
enum { THREADS = 256 };

template <typename S>
__global__ void spmv_gather_entries(int64_t n, const int32_t *index, const S *from, S *to)
{
  const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (i < n) to[i] = from[index[i]];
}

template <typename S>
SpmvStatus enqueue(int64_t n, const int32_t *index, const void *from, void *to, SpmvExec *exec)
{
  SPMV_LAUNCH(exec, spmv_gather_entries<S>, spmv_blocks(n, THREADS), THREADS, 0, n, index, (const S *)from, (S *)to);
  return SPMV_SUCCESS;
}
} // namespace

extern "C" SpmvStatus spmv_gather(int64_t n, const int32_t *index, SpmvScalar scalar, const void *from, void *to,
                                  SpmvExec *exec)
{
  return scalar == SPMV_F32 ? enqueue<float>(n, index, from, to, exec) : enqueue<double>(n, index, from, to, exec);
}
