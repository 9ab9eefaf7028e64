/*
  pool.cu - device memory: one CUDA memory pool per device, which keeps some of the freed memory. Mapping and unmapping
  the memory of a conversion takes as long as the conversion; taking it from a pool is almost free.

  A block for all streams behaves like one of cudaMalloc() and cudaFree(): it is ready for any stream, and the host waits
  for the device before it is freed. A block for one stream is taken and freed in the order of that stream, without a
  wait. A device without pools uses cudaMalloc() and cudaFree(), with the wait, for both.

  While somebody holds scratch memory (spmv_scratch_hold()), a pool also keeps as many bytes as scratch blocks took at a
  time in this round or the one before, so that repeated work maps no memory.
*/
#include "launch.cuh"
#include "memory.h"
#include <algorithm>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace
{
/* Bytes that a pool keeps by default: a part of the device's memory, but at least so many. Few, because PETSc's own arrays
   cannot use kept memory; but the driver needs some 10 us for each MiB that it gives again. */
constexpr int64_t KEPT = 64 << 20, KEPT_PART = 64;

struct Pool {
  bool          asked, there;
  cudaMemPool_t pool;
  cudaStream_t  stream;            /* on which blocks for all streams are taken and freed */
  int64_t       keep;              /* bytes to keep, unless spmv_device_keep() has set another number */
  int64_t       used, scratch;     /* bytes of all blocks in use, and of scratch blocks */
  int64_t       most, most_before; /* the most bytes of scratch blocks in this round, and in the one before */
};

struct Block {
  int     device;
  SpmvUse use;
  int64_t bytes;
};

struct Pools {
  std::mutex                        lock;
  int64_t                           keep    = -1;
  int                               holders = 0;
  Pool                              of[SPMV_DEVICES];
  std::unordered_map<void *, Block> block; /* in use */
};

Pools &pools()
{
  static auto *all = new Pools(); /* never destroyed: plans may be destroyed while the process exits */
  return *all;
}

/* Bytes of scratch memory, in use or kept */
int64_t scratch_bytes(const Pool &p) { return pools().holders > 0 ? std::max(p.most, p.most_before) : p.scratch; }

/* For a call whose failure changes nothing here: CUDA would report it after the next launch */
void may_fail(cudaError_t error)
{
  if (error != cudaSuccess) (void)cudaGetLastError();
}

int64_t keeps(const Pool &p) { return pools().keep < 0 ? p.keep : pools().keep; }

/* CUDA releases memory above the threshold at the next synchronization */
void set_threshold(const Pool &p)
{
  const int64_t keep  = keeps(p);
  uint64_t      bytes = (uint64_t)(p.used - p.scratch + scratch_bytes(p) + keep);

  may_fail(cudaMemPoolSetAttribute(p.pool, cudaMemPoolAttrReleaseThreshold, &bytes));
}

void release_above_threshold(Pool *p)
{
  set_threshold(*p);
  may_fail(cudaStreamSynchronize(p->stream));
}

void forget_rounds(Pool *p) { p->most = p->most_before = p->scratch; }

/* Counts a block that was taken (bytes > 0) or freed (bytes < 0) */
void count(Pool *p, SpmvUse use, int64_t bytes)
{
  p->used += bytes;
  if (use == SPMV_FOR_SCRATCH) p->scratch += bytes;
  p->most = std::max(p->most, p->scratch);
  set_threshold(*p);
}

void create(Pool *p, int device)
{
  cudaMemPoolProps props     = {};
  int              supported = 0;
  size_t           unused = 0, total = 0;

  p->asked            = true;
  props.allocType     = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  props.location.id   = device;
  if (cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device) == cudaSuccess && supported &&
      cudaMemPoolCreate(&p->pool, &props) == cudaSuccess) {
    may_fail(cudaMemGetInfo(&unused, &total));
    p->keep  = std::max(KEPT, (int64_t)total / KEPT_PART);
    p->there = cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking) == cudaSuccess;
    if (p->there) set_threshold(*p);
    else (void)cudaMemPoolDestroy(p->pool);
  }
  (void)cudaGetLastError();
}

/* The pool of a device, or NULL */
Pool *pool_of(int device) { return device >= 0 && pools().of[device].there ? &pools().of[device] : nullptr; }

void *from_pool(Pool *p, size_t bytes, cudaStream_t stream)
{
  void       *block = nullptr;
  cudaError_t error = cudaMallocFromPoolAsync(&block, bytes, p->pool, stream);

  if (error == cudaErrorMemoryAllocation) { /* kept memory may be fragmented, or its last work not done */
    spmv_kept_release();
    may_fail(cudaDeviceSynchronize());
    may_fail(cudaMemPoolTrimTo(p->pool, 0));
    forget_rounds(p);
    error = cudaMallocFromPoolAsync(&block, bytes, p->pool, stream);
  }
  return error == cudaSuccess ? block : nullptr;
}

/* Makes a device current for a scope */
class OnDevice
{
  int before = -1;

public:
  explicit OnDevice(int wanted)
  {
    int device = 0;

    if (cudaGetDevice(&device) == cudaSuccess && device != wanted && cudaSetDevice(wanted) == cudaSuccess)
      before = device;
  }
  OnDevice(const OnDevice &)            = delete;
  OnDevice &operator=(const OnDevice &) = delete;
  ~OnDevice()
  {
    if (before >= 0) may_fail(cudaSetDevice(before));
  }
};

/* Frees a block in the order of a stream; NULL: the host has waited for the device. cudaFree() does not wait if the block
   came from a pool. */
void give_back(void *memory, const cudaStream_t *stream)
{
  const std::lock_guard<std::mutex> lock(pools().lock);
  const auto                        it = pools().block.find(memory);

  if (it == pools().block.end()) {
    if (stream) (void)cudaDeviceSynchronize();
    (void)cudaFree(memory);
  } else {
    const Block    b = it->second;
    const OnDevice where(b.device);
    Pool          *p = &pools().of[b.device];

    pools().block.erase(it);
    if (cudaFreeAsync(memory, stream ? *stream : p->stream) != cudaSuccess) (void)cudaFree(memory);
    count(p, b.use, -b.bytes);
  }
  (void)cudaGetLastError();
}

int device_of(void *memory)
{
  const std::lock_guard<std::mutex> lock(pools().lock);
  const auto                        it = pools().block.find(memory);

  return it == pools().block.end() ? std::max(0, spmv_current_device()) : it->second.device;
}

/* Calls visit(pool) on the device of each existing pool. Without pools no CUDA call is made: a process that uses only
   the host must not create a CUDA context. */
template <typename Visit>
void for_pools(Visit visit)
{
  for (int device = 0; device < SPMV_DEVICES; device++) {
    if (!pools().of[device].there) continue;
    const OnDevice where(device);
    visit(&pools().of[device]);
    (void)cudaGetLastError();
  }
}
} // namespace

extern "C" void *spmv_device_alloc_for(SpmvUse use, int64_t bytes, void *stream)
{
  const std::lock_guard<std::mutex> lock(pools().lock);
  const int                         device = spmv_current_device();
  void                             *block  = nullptr;

  if (device >= 0 && !pools().of[device].asked) create(&pools().of[device], device);
  if (Pool *p = pool_of(device)) {
    block = from_pool(p, (size_t)bytes, use == SPMV_FOR_ALL_STREAMS ? p->stream : (cudaStream_t)stream);
    if (block && use == SPMV_FOR_ALL_STREAMS && cudaStreamSynchronize(p->stream) != cudaSuccess) {
      (void)cudaFreeAsync(block, p->stream);
      block = nullptr;
    }
    if (block) {
      pools().block[block] = {device, use, bytes};
      count(p, use, bytes);
    }
  } else if (cudaMalloc(&block, (size_t)bytes) != cudaSuccess) block = nullptr;
  if (!block) (void)cudaGetLastError();
  return block;
}

extern "C" void spmv_device_free_default(int blocks, void *const block[])
{
  if (blocks == 0) return;
  const int      device = device_of(block[0]);
  const OnDevice where(device);

  may_fail(cudaDeviceSynchronize()); /* any stream may still use them */
  for (int i = 0; i < blocks; i++) give_back(block[i], nullptr);
  const std::lock_guard<std::mutex> lock(pools().lock);
  if (Pool *p = pool_of(device)) release_above_threshold(p);
}

extern "C" void spmv_device_free_on(void *block, void *stream)
{
  const cudaStream_t last = (cudaStream_t)stream;
  give_back(block, &last);
}

extern "C" int64_t spmv_device_keeps(int device)
{
  const std::lock_guard<std::mutex> lock(pools().lock);
  const Pool                       *p = pool_of(device);

  return p ? keeps(*p) : 0;
}

extern "C" void spmv_device_keep(int64_t bytes)
{
  const std::lock_guard<std::mutex> lock(pools().lock);

  pools().keep = bytes;
  spmv_kept_release();
  for_pools(release_above_threshold);
}

extern "C" void spmv_device_release(void)
{
  const std::lock_guard<std::mutex> lock(pools().lock);

  spmv_kept_release();
  for_pools([](Pool *p) {
    (void)cudaDeviceSynchronize();
    (void)cudaMemPoolTrimTo(p->pool, 0);
    forget_rounds(p);
    if (p->used > 0) return; /* blocks in use must be freed into this pool */
    (void)cudaStreamDestroy(p->stream);
    (void)cudaMemPoolDestroy(p->pool);
    *p = {};
  });
}

extern "C" void spmv_scratch_hold(void)
{
  const std::lock_guard<std::mutex> lock(pools().lock);

  if (pools().holders++ == 0) for_pools(forget_rounds);
}

extern "C" void spmv_scratch_release(void)
{
  const std::lock_guard<std::mutex> lock(pools().lock);

  if (--pools().holders == 0) for_pools(release_above_threshold);
}

extern "C" void spmv_scratch_trim(void)
{
  const std::lock_guard<std::mutex> lock(pools().lock);

  for_pools([](Pool *p) {
    p->most_before = p->most;
    p->most        = p->scratch;
    set_threshold(*p);
  });
}

extern "C" int64_t spmv_scratch_bytes(void)
{
  const std::lock_guard<std::mutex> lock(pools().lock);
  int64_t                           bytes = 0;

  for (const Pool &p : pools().of) bytes += scratch_bytes(p);
  return bytes;
}
