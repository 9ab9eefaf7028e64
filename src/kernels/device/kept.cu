/*
  kept.cu - memory that the host can touch: page-locked, or shared with the device. Freed blocks are kept for the next that
  asks for one, because the driver needs 0.1 ms or more for each MiB that it locks or maps.

  As cudaFreeHost() and cudaFree() do, the host waits for the device before a block is free, so the next owner may use it
  on any stream.
*/
#include "launch.cuh"
#include "memory.h"
#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

namespace
{
/* Smaller blocks are cheap. A kept block serves up to half as many bytes. Page-locked memory is lost to all programs. */
constexpr int64_t LEAST = 64 << 10, WASTE = 2, PINNED = 256 << 20;

struct Block {
  void    *memory;
  SpmvKept kind;
  int      device;
  int64_t  bytes;
};

struct Blocks {
  std::mutex              lock;
  std::map<void *, Block> used; /* those that may be kept */
  std::vector<Block>      kept;
};

Blocks &blocks()
{
  static auto *all = new Blocks(); /* never destroyed: plans may be destroyed while the process exits */
  return *all;
}

void give_back(const Block &b)
{
  (void)(b.kind == SPMV_KEPT_PINNED ? cudaFreeHost(b.memory) : cudaFree(b.memory));
  (void)cudaGetLastError();
}

cudaError_t take_anew(Block *b)
{
  return b->kind == SPMV_KEPT_PINNED ? cudaMallocHost(&b->memory, (size_t)b->bytes)
                                     : cudaMallocManaged(&b->memory, (size_t)b->bytes, cudaMemAttachGlobal);
}

bool serves(const Block &kept, const Block &wanted)
{
  return kept.kind == wanted.kind && kept.device == wanted.device && kept.bytes >= wanted.bytes &&
         kept.bytes / WASTE <= wanted.bytes;
}

/* Takes the smallest kept block that serves */
bool take_kept(Block *b)
{
  std::vector<Block> &kept = blocks().kept;
  auto                best = kept.end();

  for (auto it = kept.begin(); it != kept.end(); ++it)
    if (serves(*it, *b) && (best == kept.end() || it->bytes < best->bytes)) best = it;
  if (best == kept.end()) return false;
  *b = *best;
  kept.erase(best);
  return true;
}

/* Bytes of all kept blocks of this kind, with b */
int64_t bytes_with(const Block &b)
{
  int64_t bytes = b.bytes;

  for (const Block &k : blocks().kept)
    if (k.kind == b.kind) bytes += k.bytes;
  return bytes;
}
} // namespace

extern "C" int spmv_kept_take(SpmvKept kind, int64_t bytes, void **memory)
{
  Block       b     = {nullptr, kind, spmv_current_device(), bytes};
  cudaError_t error = cudaSuccess;

  {
    const std::lock_guard<std::mutex> lock(blocks().lock);
    if (bytes < LEAST || !take_kept(&b)) error = take_anew(&b);
    if (bytes >= LEAST && error == cudaSuccess) blocks().used[b.memory] = b;
  }
  *memory = error == cudaSuccess ? b.memory : nullptr;
  return (int)error;
}

extern "C" void spmv_kept_give(SpmvKept kind, void *memory)
{
  const int     device = spmv_current_device();
  const int64_t keeps = spmv_device_keeps(device), most = kind == SPMV_KEPT_PINNED ? std::min(PINNED, keeps) : keeps;
  Block         b = {memory, kind, 0, 0};

  {
    const std::lock_guard<std::mutex> lock(blocks().lock);
    const auto                        it = blocks().used.find(memory);

    if (it != blocks().used.end()) b = it->second;
    if (b.bytes > 0) blocks().used.erase(it);
    if (b.bytes > 0 && b.device == device && bytes_with(b) <= most && cudaDeviceSynchronize() == cudaSuccess) {
      blocks().kept.push_back(b);
      return;
    }
  }
  give_back(b);
}

extern "C" void spmv_kept_release(void)
{
  const std::lock_guard<std::mutex> lock(blocks().lock);

  for (const Block &b : blocks().kept) give_back(b);
  blocks().kept.clear();
}
