/* overlap.cu - the host side of overlapped launches; see overlap.cuh for the rules. */
#include "overlap.cuh"
#include <atomic>

namespace
{
__global__ void spmv_do_nothing(int) {}

enum { UNKNOWN = 0, NO = 1, YES = 2 };

/* Both the device and the code must have the instructions: a new device may run code compiled for an old architecture,
   whose kernels do not wait for the previous one. */
int find_out(int device)
{
  int                major = 0;
  cudaFuncAttributes code  = {};

  if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess && major >= 9 &&
      cudaFuncGetAttributes(&code, (const void *)spmv_do_nothing) == cudaSuccess && code.ptxVersion >= 90)
    return YES;
  (void)cudaGetLastError();
  return NO;
}
} // namespace

extern "C" int spmv_device_overlaps(void)
{
  static std::atomic<int> known[SPMV_DEVICES];
  const int               device = spmv_current_device();

  if (device < 0) return 0;
  int answer = known[device].load(std::memory_order_relaxed);
  if (answer == UNKNOWN) {
    answer = find_out(device);
    known[device].store(answer, std::memory_order_relaxed);
  }
  return answer == YES;
}

SpmvStatus spmv_overlap_fence(SpmvExec *exec)
{
  if (spmv_device_overlaps()) SPMV_LAUNCH(exec, spmv_do_nothing, 1, 1, 0, 0);
  return SPMV_SUCCESS;
}
