/*
  pools.cpp - memory pools of the emulator, and its device attributes: those of a small device, whose kernels overlap.
  Blocks of a pool are blocks of cudaMalloc(): kept memory would save no time here, and would hide faults. A pool only
  counts the bytes that it would keep.
*/
#include "runtime.h"
#include <unistd.h>
#include <algorithm>
#include <cstdlib>

using namespace spmv_emulator;

struct CUmemPool_st {
  int    device;
  size_t used = 0, held = 0, threshold = 0; /* bytes in use, and with those that it keeps */
};

/* The pool of each block in use, and all pools */
static std::map<void *, cudaMemPool_t> pool_of;
static std::set<cudaMemPool_t>         pools;

void spmv_emulator::shrink_pools()
{
  for (cudaMemPool_t p : pools) p->held = std::max(p->used, std::min(p->held, p->threshold));
}

extern "C" {
/* SPMV_EMULATOR_NO_POOLS: a device without pools; SPMV_EMULATOR_NO_COOPERATIVE: without cooperative launches;
   SPMV_EMULATOR_NO_OVERLAP: an old device, whose kernels do not overlap */
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
  if (attribute == cudaDevAttrMemoryPoolsSupported) *value = !getenv("SPMV_EMULATOR_NO_POOLS");
  else if (attribute == cudaDevAttrPciBusId) *value = getenv("SPMV_EMULATOR_OWN_GPU") ? (int)(getpid() & 0xffff) : 1;
  else if (attribute == cudaDevAttrCooperativeLaunch) *value = !getenv("SPMV_EMULATOR_NO_COOPERATIVE");
  else if (attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin) *value = 227 << 10;
  else if (attribute == cudaDevAttrMaxSharedMemoryPerMultiprocessor) *value = 228 << 10;
  else if (attribute == cudaDevAttrReservedSharedMemoryPerBlock) *value = 1 << 10;
  else if (attribute == cudaDevAttrComputeCapabilityMajor) *value = getenv("SPMV_EMULATOR_NO_OVERLAP") ? 8 : 9;
  else *value = 8; /* the number of multiprocessors */
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *about, const void *)
{
  about->ptxVersion      = 90;
  about->sharedSizeBytes = 1024; /* more static shared memory than any of our kernels has */
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize(void)
{
  if (capturing()) return result(cudaErrorStreamCaptureUnsupported);
  count_wait(&Machine::device_waits);
  catch_up();
  host_waited(nullptr);
  return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *props)
{
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);

  *pool           = new CUmemPool_st;
  (*pool)->device = props->location.id;
  pools.insert(*pool);
  return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);

  if (pool->used) abort(); /* CUDA allows it, but the library must not rely on it */
  pools.erase(pool);
  delete pool;
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr, void *value)
{
  pool->threshold = *(unsigned long long *)value;
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes)
{
  pool->held = std::max(pool->used, std::min(pool->held, bytes));
  return cudaSuccess;
}
cudaError_t cudaMallocFromPoolAsync(void **block, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
  if (pool->device != current_device) return result(cudaErrorInvalidValue);
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);
  const cudaError_t                           error = cudaMalloc(block, bytes);
  if (error || bytes == 0) return error;
  pool_of[*block] = pool;
  taken(*block, stream_of(stream));
  pool->used += bytes;
  if (pool->used <= pool->held) machine().grown--; /* it has the memory */
  pool->held = std::max(pool->used, pool->held);
  return cudaSuccess;
}
cudaError_t cudaFreeAsync(void *block, cudaStream_t stream)
{
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);
  const auto                                  owner = pool_of.find(block);

  if (owner == pool_of.end() || capturing()) return result(cudaErrorInvalidValue);
  DeviceBlock &b = machine().device[(char *)block];
  owner->second->used -= b.bytes;
  pool_of.erase(owner);
  begin_work(stream_of(stream));
  b.users[b.owner] = machine().last[b.owner];
  after_kernels([block, id = stream_of(stream)->id, before = stream_of(stream)->before] {
    freed(block, id, before);
    unmap(block);
  });
  return cudaSuccess;
}
}
