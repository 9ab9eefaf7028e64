/*
  pool.cu - the default allocator of device memory: one CUDA memory pool per device, which keeps some of the freed
  memory. Mapping and unmapping the memory of a conversion takes as long as the conversion; taking it from a pool is
  almost free.

  Blocks behave as those of cudaMalloc() and cudaFree(): a new block is ready for any stream, and a block is freed only
  when the device has done all work that may use it. A device without pools uses cudaMalloc() and cudaFree().
*/
#include "launch.cuh"
#include "memory.h"
#include <cstdint>
#include <mutex>

namespace
{
/* Bytes that a pool keeps by default. Few, because PETSc's own arrays cannot use kept memory. */
constexpr uint64_t KEPT = 64 << 20;

struct Pool {
  bool          asked, there;
  cudaMemPool_t pool;
  cudaStream_t  stream; /* on which blocks are allocated and freed */
  uint64_t      keep;   /* unused bytes that the pool may keep */
};

struct Pools {
  std::mutex lock;
  int64_t    keep = -1;
  Pool       of[SPMV_DEVICES];
};

Pools &pools()
{
  static auto *all = new Pools(); /* never destroyed: plans may be destroyed while the process exits */
  return *all;
}

/* The pool may hold the bytes in use plus `keep`; CUDA releases the rest at the next synchronization */
void set_threshold(const Pool &p)
{
  uint64_t bytes = 0;

  (void)cudaMemPoolGetAttribute(p.pool, cudaMemPoolAttrUsedMemCurrent, &bytes);
  bytes += p.keep;
  (void)cudaMemPoolSetAttribute(p.pool, cudaMemPoolAttrReleaseThreshold, &bytes);
}

/* Sets how much the pool of the current device keeps */
void set_keep(Pool *p)
{
  const int64_t keep = pools().keep;

  p->keep = keep < 0 ? KEPT : (uint64_t)keep;
  set_threshold(*p);
  (void)cudaStreamSynchronize(p->stream);
}

void create(Pool *p, int device)
{
  cudaMemPoolProps props     = {};
  int              supported = 0;

  p->asked            = true;
  props.allocType     = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  props.location.id   = device;
  if (cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device) == cudaSuccess && supported &&
      cudaMemPoolCreate(&p->pool, &props) == cudaSuccess) {
    p->there = cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking) == cudaSuccess;
    if (p->there) set_keep(p);
    else (void)cudaMemPoolDestroy(p->pool);
  }
  (void)cudaGetLastError();
}

/* The pool of the current device, or NULL. make: creates the pool at the first call for a device */
Pool *current(bool make)
{
  const int device = spmv_current_device();

  if (device < 0) return nullptr;
  Pool *p = &pools().of[device];
  if (make && !p->asked) create(p, device);
  return p->there ? p : nullptr;
}

void *from_pool(const Pool &p, size_t bytes)
{
  void *block = nullptr;

  if (cudaMallocFromPoolAsync(&block, bytes, p.pool, p.stream) != cudaSuccess) return nullptr;
  set_threshold(p);
  if (cudaStreamSynchronize(p.stream) == cudaSuccess) return block;
  (void)cudaFreeAsync(block, p.stream);
  return nullptr;
}

/* Makes the device of a block current for a scope */
class OnDeviceOf
{
  int before = -1;

public:
  explicit OnDeviceOf(const void *block)
  {
    cudaPointerAttributes about;
    int                   device = 0;

    if (cudaGetDevice(&device) != cudaSuccess || cudaPointerGetAttributes(&about, block) != cudaSuccess ||
        about.device == device || cudaSetDevice(about.device) != cudaSuccess)
      return;
    before = device;
  }
  OnDeviceOf(const OnDeviceOf &)            = delete;
  OnDeviceOf &operator=(const OnDeviceOf &) = delete;
  ~OnDeviceOf()
  {
    if (before >= 0) (void)cudaSetDevice(before);
  }
};

/* Calls visit(pool) on the device of each existing pool. Without pools no CUDA call is made: a process that uses only
   the host must not create a CUDA context. */
template <typename Visit>
void for_pools(Visit visit)
{
  for (int device = 0; device < SPMV_DEVICES; device++) {
    int before = 0;

    if (!pools().of[device].there || cudaGetDevice(&before) != cudaSuccess) continue;
    if (cudaSetDevice(device) == cudaSuccess) visit(&pools().of[device]);
    (void)cudaSetDevice(before);
    (void)cudaGetLastError();
  }
}
} // namespace

extern "C" int spmv_device_number(void) { return spmv_current_device(); }

extern "C" void *spmv_device_alloc_default(int64_t bytes)
{
  const std::lock_guard<std::mutex> lock(pools().lock);
  const Pool                       *p     = current(true);
  void                             *block = nullptr;

  if (p) {
    block = from_pool(*p, (size_t)bytes);
    if (!block) { /* the kept memory may be fragmented */
      (void)cudaMemPoolTrimTo(p->pool, 0);
      block = from_pool(*p, (size_t)bytes);
    }
  } else if (cudaMalloc(&block, (size_t)bytes) != cudaSuccess) block = nullptr;
  if (!block) (void)cudaGetLastError();
  return block;
}

extern "C" void spmv_device_free_default(void *block)
{
  const OnDeviceOf where(block);

  /* any stream may still use the block, and cudaFree() does not wait if the block came from a pool */
  (void)cudaDeviceSynchronize();
  const std::lock_guard<std::mutex> lock(pools().lock);
  const Pool                       *p = current(false);
  if (p && cudaFreeAsync(block, p->stream) == cudaSuccess) {
    set_threshold(*p);
    (void)cudaStreamSynchronize(p->stream); /* releases memory above the threshold */
  } else (void)cudaFree(block);
  (void)cudaGetLastError();
}

extern "C" void spmv_device_keep(int64_t bytes)
{
  const std::lock_guard<std::mutex> lock(pools().lock);
  pools().keep = bytes;
  for_pools(set_keep);
}

extern "C" void spmv_device_release(void)
{
  (void)spmv_scratch_drop();
  const std::lock_guard<std::mutex> lock(pools().lock);
  for_pools([](Pool *p) {
    uint64_t used = 1;

    (void)cudaMemPoolGetAttribute(p->pool, cudaMemPoolAttrUsedMemCurrent, &used);
    (void)cudaMemPoolTrimTo(p->pool, 0);
    if (used > 0) return; /* blocks in use must be freed into this pool */
    (void)cudaStreamDestroy(p->stream);
    (void)cudaMemPoolDestroy(p->pool);
    *p = {};
  });
}
