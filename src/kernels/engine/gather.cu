/* gather.cu - packs the entries of a vector that are sent to other processes. */
#include "device/csr.cuh"
#include <spmv_engine.h>

extern "C" SpmvStatus spmv_gather(int64_t n, const int32_t *index, SpmvScalar scalar, const void *from, void *to,
                                  SpmvExec *exec)
{
  return scalar == SPMV_F32 ? spmv_take(index, (const float *)from, n, (float *)to, exec)
                            : spmv_take(index, (const double *)from, n, (double *)to, exec);
}
