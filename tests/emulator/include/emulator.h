/*
  emulator.h - the machine under cuda_runtime.h: threads that take turns, and points where they meet.

  The threads of a block are fibers of one host thread. A fiber runs until it meets others (a barrier, a warp-wide
  operation) or ends. Every order of the fibers is one that a GPU may show, so a kernel that lacks a barrier gives wrong
  results here in one order or another: SPMV_EMULATOR_ORDER = forward (default), backward, or a number that seeds a
  random order for each block.
*/
#ifndef SPMV_EMULATOR_H
#define SPMV_EMULATOR_H

#include "cuda_runtime_api.h"
#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>

struct uint3 {
  unsigned x, y, z;
};
struct dim3 : uint3 {
  dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : uint3{x_, y_, z_} {}
};

namespace spmv_emulator
{
struct Position {
  uint3 thread, block, block_size, grid_size;
};
extern Position position; /* of the fiber that runs */

/* Does work now, with device memory readable, or records it when the stream is being captured */
cudaError_t enqueue(cudaStream_t stream, std::function<void()> work);
/* Runs body once for each thread of a grid; an error of the configuration shows in cudaGetLastError() */
void run_grid(dim3 blocks, dim3 threads, size_t shared, cudaStream_t stream, std::function<void()> body);

template <typename... P, typename... A>
void launch(dim3 blocks, dim3 threads, size_t shared, cudaStream_t stream, void (*kernel)(P...), const A &...args)
{
  const std::tuple<std::decay_t<P>...> values(args...);
  run_grid(blocks, threads, shared, stream, [=] { std::apply(kernel, values); });
}

/* The shared memory whose size a launch gives */
void *dynamic_shared();

/* The same for a grid whose blocks may wait for each other */
void run_cooperative_grid(dim3 blocks, dim3 threads, size_t shared, cudaStream_t stream, std::function<void()> body);

template <typename... P, typename... A>
void launch_cooperative(dim3 blocks, dim3 threads, size_t shared, cudaStream_t stream, void (*kernel)(P...),
                        const A &...args)
{
  const std::tuple<std::decay_t<P>...> values(args...);
  run_cooperative_grid(blocks, threads, shared, stream, [=] { std::apply(kernel, values); });
}

/* Waits for all threads of a cooperative grid. Blocks go on one after the other, with one shared memory for all. */
void grid_barrier();

/* Waits for all threads of the block that have not ended; the sum of their v */
int block_barrier(int v);

/* Meeting of the lanes in mask; each brings up to 16 bytes and takes those of lane `from` of the warp */
enum { MAX_VALUE = 32 };
void     warp_meet(unsigned mask, const void *value, int from, void *result, size_t bytes);
void     warp_sync(unsigned mask);
unsigned warp_ballot(unsigned mask, bool v);

template <typename T>
T warp_shuffle(unsigned mask, const T &v, int from)
{
  static_assert(sizeof(T) <= MAX_VALUE, "raise MAX_VALUE");
  T result;
  warp_meet(mask, &v, from, &result, sizeof(T));
  return result;
}
} // namespace spmv_emulator
#endif
