/*
  emulator.h - the machine under cuda_runtime.h: threads that take turns, and points where they meet.

  The threads of a block are fibers of one host thread. A fiber runs until a barrier, a warp-wide operation, or its end.
  Every order of the fibers is possible on a GPU, too, so a kernel that lacks a barrier gives wrong results here in some
  order: SPMV_EMULATOR_ORDER = forward (default), backward, or a number that seeds a random order for each block.
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
extern Position position; /* of the running fiber */

/* Does work at once, with device memory accessible; or records it, if the stream is being captured */
cudaError_t enqueue(cudaStream_t stream, std::function<void()> work);

/* PLAIN: begins after all earlier work. OVERLAPPED: some blocks run up to their waits before the previous kernels have
   begun (kernels.cpp). COOPERATIVE: blocks may wait for each other. */
enum class Kind { PLAIN, OVERLAPPED, COOPERATIVE };

/* Launches a grid whose threads each call body once; cudaGetLastError() returns an error of the configuration */
void run_grid(Kind, dim3 blocks, dim3 threads, size_t shared, cudaStream_t stream, std::function<void()> body);

template <typename... P, typename... A>
void launch(Kind kind, dim3 blocks, dim3 threads, size_t shared, cudaStream_t stream, void (*kernel)(P...),
            const A &...args)
{
  const std::tuple<std::decay_t<P>...> values(args...);
  run_grid(kind, blocks, threads, shared, stream, [=] { std::apply(kernel, values); });
}

/* The dynamic shared memory of the running kernel */
void *dynamic_shared();

/* Waits for the kernels before this one, if it began before their end */
void wait_for_previous();

/* Lets all other threads run, also of other blocks that have begun, for a thread that waits for what they write. After
   many tries it waits for a block that has not begun, or for nobody: a fault. All blocks share their __shared__ variables
   meanwhile. */
void yield(long tries);

/* Waits for all threads of a cooperative grid. Blocks then run one after the other, with one shared memory for all. */
void grid_barrier();

/* Waits for all threads of the block that have not ended; returns the sum of their v */
int block_barrier(int v);

/* A meeting of the lanes in mask, each of which gets the value of lane `from` of the warp. kind: the bytes of a value, or
   SYNC, which has none, or BALLOT: each lane gets a bit for each value that is not zero */
enum { SYNC = 0, BALLOT = -1 };
uint64_t warp_meet(unsigned mask, int kind, uint64_t value, int from);

inline void     warp_sync(unsigned mask) { warp_meet(mask, SYNC, 0, 0); }
inline unsigned warp_ballot(unsigned mask, bool v)
{
  return (unsigned)warp_meet(mask, BALLOT, v, (int)(position.thread.x % 32));
}

template <typename T>
T warp_shuffle(unsigned mask, const T &v, int from)
{
  T result;
  for (size_t i = 0; i < sizeof(T); i += 8) {
    const size_t bytes = sizeof(T) - i < 8 ? sizeof(T) - i : 8;
    uint64_t     word  = 0;
    memcpy(&word, (const char *)&v + i, bytes);
    word = warp_meet(mask, sizeof(T), word, from);
    memcpy((char *)&result + i, &word, bytes);
  }
  return result;
}
} // namespace spmv_emulator
#endif
