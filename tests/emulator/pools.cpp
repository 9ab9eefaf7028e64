/*
  pools.cpp - memory pools of the emulator, and its device attributes: those of an old device, whose kernels do not
  overlap. Blocks of a pool are blocks of cudaMalloc(): kept memory would save no time here, and would hide faults.
*/
#include "runtime.h"
#include <unistd.h>
#include <cstdlib>

using namespace spmv_emulator;

struct CUmemPool_st {
  int  device;
  long used; /* number of blocks in use; callers only test whether it is 0 */
};

/* The pool of each block in use */
static std::map<void *, cudaMemPool_t> pool_of;

extern "C" {
/* SPMV_EMULATOR_NO_POOLS: a device without pools; SPMV_EMULATOR_NO_COOPERATIVE: a device without cooperative
   launches */
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
  if (attribute == cudaDevAttrMemoryPoolsSupported) *value = !getenv("SPMV_EMULATOR_NO_POOLS");
  else if (attribute == cudaDevAttrPciBusId) *value = getenv("SPMV_EMULATOR_OWN_GPU") ? (int)(getpid() & 0xffff) : 1;
  else if (attribute == cudaDevAttrCooperativeLaunch) *value = !getenv("SPMV_EMULATOR_NO_COOPERATIVE");
  else if (attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin) *value = 227 << 10;
  else if (attribute == cudaDevAttrMaxSharedMemoryPerMultiprocessor) *value = 228 << 10;
  else if (attribute == cudaDevAttrReservedSharedMemoryPerBlock) *value = 1 << 10;
  else *value = 8; /* the compute capability, the number of multiprocessors */
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *about, const void *)
{
  about->ptxVersion      = 80;
  about->sharedSizeBytes = 1024; /* more static shared memory than any of our kernels has */
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize(void)
{
  if (capturing()) return result(cudaErrorStreamCaptureUnsupported);
  catch_up();
  return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *props)
{
  *pool = new CUmemPool_st{props->location.id, 0};
  return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
  if (pool->used) abort(); /* CUDA allows it, but the library must not rely on it */
  delete pool;
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *) { return cudaSuccess; }
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr, void *value)
{
  *(unsigned long long *)value = (unsigned long long)pool->used;
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
cudaError_t cudaMallocFromPoolAsync(void **block, size_t bytes, cudaMemPool_t pool, cudaStream_t)
{
  if (pool->device != current_device) return result(cudaErrorInvalidValue);
  const cudaError_t error = cudaMalloc(block, bytes);
  if (error || bytes == 0) return error;
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);
  pool_of[*block] = pool;
  pool->used++;
  return cudaSuccess;
}
cudaError_t cudaFreeAsync(void *block, cudaStream_t)
{
  const std::lock_guard<std::recursive_mutex> lock(machine().one_at_a_time);
  const auto                                  owner = pool_of.find(block);

  if (owner == pool_of.end()) return result(cudaErrorInvalidValue);
  owner->second->used--;
  pool_of.erase(owner);
  return cudaFree(block);
}
}
