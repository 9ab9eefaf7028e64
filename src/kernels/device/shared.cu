/*
  shared.cu - memory with one address for the host and the device. The driver moves a page to whichever of them touches
  it, so an array that the device writes is copied to the host only if the host reads it.
*/
#include "launch.cuh"
#include "memory.h"
#include <atomic>

namespace
{
/* A smaller block costs more than a copy: it takes a call of the driver, and to free it waits for the device */
constexpr int64_t LEAST = 2 << 20;

std::atomic<int64_t> blocks{0}, least{LEAST};

/* Whether host and device may use such memory at the same time. They may not on Windows, nor on some virtual GPUs. */
bool is_concurrent(int device)
{
  int there = 0;

  return device >= 0 && cudaDeviceGetAttribute(&there, cudaDevAttrConcurrentManagedAccess, device) == cudaSuccess &&
         there;
}

/* Moves a new block to the device before anybody touches it: otherwise each page would fault there */
cudaError_t place(void *block, int64_t bytes, int device, cudaStream_t stream)
{
#if CUDART_VERSION >= 13000
  return cudaMemPrefetchAsync(block, (size_t)bytes, {cudaMemLocationTypeDevice, device}, 0, stream);
#else
  return cudaMemPrefetchAsync(block, (size_t)bytes, device, stream);
#endif
}
} // namespace

extern "C" void *spmv_shared_alloc(int64_t bytes, SpmvExec *exec)
{
  const int device = bytes < least ? -1 : spmv_current_device();
  void     *block  = nullptr;

  if (!is_concurrent(device) || spmv_kept_take(SPMV_KEPT_SHARED, bytes, &block) != cudaSuccess ||
      place(block, bytes, device, (cudaStream_t)exec->stream) != cudaSuccess) {
    if (block) spmv_kept_give(SPMV_KEPT_SHARED, block);
    (void)cudaGetLastError();
    return nullptr;
  }
  blocks++;
  return block;
}

extern "C" void spmv_shared_least(int64_t bytes) { least = bytes < 0 ? LEAST : bytes; }

extern "C" void spmv_shared_free(void *block)
{
  if (!block) return;
  spmv_kept_give(SPMV_KEPT_SHARED, block);
  blocks--;
}

extern "C" int spmv_shared_holds(const void *p)
{
  cudaPointerAttributes about;

  if (blocks == 0) return 0;
  if (cudaPointerGetAttributes(&about, p) == cudaSuccess) return about.type == cudaMemoryTypeManaged;
  (void)cudaGetLastError();
  return 0;
}
