/* device.cu - the device calls of spmv_kernels.h: counting devices, copies, streams. */
#include "launch.cuh"
#include "memory.h"
#include "staging.h"
#include <cstdio>
#include <cstring>

namespace
{
struct Devices {
  int  count;
  char reason[SPMV_MESSAGE_MAX];
};

/* cudaErrorInsufficientDriver means an old driver or none at all: its version, then 0, tells which */
void explain(cudaError_t error, char reason[SPMV_MESSAGE_MAX])
{
  int driver = 0, runtime = 0;

  if (error != cudaErrorInsufficientDriver || cudaDriverGetVersion(&driver) || cudaRuntimeGetVersion(&runtime))
    snprintf(reason, SPMV_MESSAGE_MAX, "no usable CUDA device: %s", cudaGetErrorString(error));
  else if (driver == 0) snprintf(reason, SPMV_MESSAGE_MAX, "no usable CUDA device: this machine has no NVIDIA driver");
  else
    snprintf(reason, SPMV_MESSAGE_MAX,
             "no usable CUDA device: the NVIDIA driver supports CUDA up to %d.%d, but petscpack was built with CUDA "
             "%d.%d: update the driver",
             driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
}

Devices find_devices()
{
  Devices     d     = {0, ""};
  cudaError_t error = cudaGetDeviceCount(&d.count);

  if (error != cudaSuccess) {
    d.count = 0;
    (void)cudaGetLastError();
    explain(error, d.reason);
  } else if (d.count == 0) snprintf(d.reason, sizeof d.reason, "no CUDA device on this machine");
  return d;
}

/* Named as memory of the host, shared memory would move there first */
cudaMemcpyKind copy_kind(const void *to_block, SpmvSpace to, const void *from_block, SpmvSpace from)
{
  if (to != from && spmv_shared_holds(to == SPMV_HOST ? to_block : from_block)) return cudaMemcpyDefault;
  if (to == SPMV_HOST) return from == SPMV_HOST ? cudaMemcpyHostToHost : cudaMemcpyDeviceToHost;
  return from == SPMV_HOST ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
}
} // namespace

extern "C" int spmv_device_count(char reason[SPMV_MESSAGE_MAX])
{
  static const Devices devices = find_devices();

  if (reason) memcpy(reason, devices.reason, SPMV_MESSAGE_MAX);
  return devices.count;
}

extern "C" int64_t spmv_device_place(void)
{
  const cudaDeviceAttr parts[] = {cudaDevAttrPciDomainId, cudaDevAttrPciBusId, cudaDevAttrPciDeviceId};
  const int            device  = spmv_current_device();
  int64_t              place   = 0;

  for (const cudaDeviceAttr part : parts) {
    int value = 0;
    if (device < 0 || cudaDeviceGetAttribute(&value, part, device) != cudaSuccess) {
      (void)cudaGetLastError();
      return -1;
    }
    place = place << 16 | value;
  }
  return place;
}

extern "C" SpmvStatus spmv_device_memory(int64_t *free_bytes, int64_t *total_bytes, SpmvExec *exec)
{
  size_t free_now = 0, total = 0;

  SPMV_CUDA(exec, cudaMemGetInfo(&free_now, &total));
  *free_bytes  = (int64_t)free_now;
  *total_bytes = (int64_t)total;
  return SPMV_SUCCESS;
}

extern "C" SpmvStatus spmv_pinned_alloc(SpmvExec *exec, int64_t bytes, void **block)
{
  *block = nullptr;
  if (bytes > 0) SPMV_CUDA(exec, (cudaError_t)spmv_kept_take(SPMV_KEPT_PINNED, bytes, block));
  return SPMV_SUCCESS;
}

extern "C" void spmv_pinned_free(void *block)
{
  if (block) spmv_kept_give(SPMV_KEPT_PINNED, block);
}

extern "C" SpmvStatus spmv_copy(void *to, SpmvSpace to_space, const void *from, SpmvSpace from_space, int64_t bytes,
                                SpmvExec *exec)
{
  if (bytes <= 0) return SPMV_SUCCESS;
  if (to_space == SPMV_HOST && from_space == SPMV_HOST) {
    memcpy(to, from, (size_t)bytes);
    return SPMV_SUCCESS;
  }
  const cudaMemcpyKind kind = copy_kind(to, to_space, from, from_space);
  if (to_space != from_space && kind != cudaMemcpyDefault) {
    const int threads = spmv_staging_threads(bytes);
    auto     *staging = to_space == SPMV_DEVICE ? spmv_staging_upload : spmv_staging_download;
    if (threads > 1 && staging(to, from, bytes, threads, exec->stream)) return SPMV_SUCCESS;
  }
  SPMV_CUDA(exec, cudaMemcpyAsync(to, from, (size_t)bytes, kind, (cudaStream_t)exec->stream));
  if (kind == cudaMemcpyDefault) return spmv_stream_wait(exec); /* as for pageable memory, whose copy has ended here */
  return SPMV_SUCCESS;
}

extern "C" SpmvStatus spmv_stream_wait(SpmvExec *exec)
{
  /* without a device nothing is enqueued, and host plans must work all the same */
  if (spmv_device_count(nullptr) == 0) return SPMV_SUCCESS;
  SPMV_CUDA(exec, cudaStreamSynchronize((cudaStream_t)exec->stream));
  return SPMV_SUCCESS;
}

extern "C" SpmvStatus spmv_stream_create(SpmvExec *exec, void **stream)
{
  cudaStream_t s = nullptr;

  *stream = nullptr;
  SPMV_CUDA(exec, cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  *stream = s;
  return SPMV_SUCCESS;
}

extern "C" void spmv_stream_destroy(void *stream)
{
  if (stream) (void)cudaStreamDestroy((cudaStream_t)stream);
}
