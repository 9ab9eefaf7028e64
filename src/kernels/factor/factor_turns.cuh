/*
  factor_turns.cuh - how rows wait for rows of other threads without a deadlock.

  Thread blocks draw tickets, and a block works on the rows of its ticket. Rows are stored after the rows that they need.
  So a row waits only for rows of its own block and of blocks that already run, and the first row that is not done can
  always go on: no order in which the GPU starts blocks, and no number of them that it holds, makes them wait forever.

  A row is done if its flag is the epoch of the launch. Each launch sets all flags, and the last block ends the epoch: no
  flag is cleared between launches, also not in a graph that is launched again, and every value is allowed in x.
*/
#pragma once

#include "device/launch.cuh"
#include "factor.h"

/* Begins as zeros */
struct SpmvTurns {
  uint32_t  ticket, left; /* blocks that have begun and ended in this launch */
  uint32_t  epoch;        /* launches before this one */
  uint32_t  unused;
  SpmvFound found; /* by a factorization; the top as a double */
};
static_assert(sizeof(SpmvTurns) <= SPMV_TURNS_BYTES, "raise SPMV_TURNS_BYTES");

#ifndef SPMV_KERNEL_YIELD /* tests/emulator defines its own: lets other threads run, and faults after many tries */
  #define SPMV_KERNEL_YIELD(tries) (void)(tries)
#endif

/* The rows that other threads have done, as seen by one thread */
struct SpmvWaits {
  uint32_t *flags, epoch;

  /* Whether a row is done; then all that its threads wrote before is visible to this thread. tries counts failures. */
  __device__ inline bool done(int32_t row, int &tries) const
  {
    uint32_t flag;
#ifdef __CUDA_ARCH__
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(flag) : "l"(flags + row) : "memory");
#else
    flag       = flags[row];
#endif
    if (flag == epoch) return true;
    tries++;
    SPMV_KERNEL_YIELD(tries);
    return false;
  }
  __device__ inline void await(int32_t row) const
  {
    for (int tries = 0; !done(row, tries);) continue;
  }
  /* Tells all threads that this thread's row is done */
  __device__ inline void tell(int32_t row) const
  {
#ifdef __CUDA_ARCH__
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flags + row), "r"(epoch) : "memory");
#else
    flags[row] = epoch;
#endif
  }
};

/* Draws the ticket of this block; all of its threads call it */
__device__ inline uint32_t spmv_draw_ticket(SpmvTurns *turns, uint32_t *flags, SpmvWaits &waits)
{
  __shared__ uint32_t ticket, epoch;

  if (threadIdx.x == 0) {
    epoch  = *(volatile uint32_t *)&turns->epoch + 1;
    ticket = atomicAdd(&turns->ticket, 1u);
  }
  __syncthreads();
  waits = {flags, epoch};
  return ticket;
}

/* Ends the work of this block; all of its threads call it. When the last block is here, all have read the epoch. */
__device__ inline void spmv_leave(SpmvTurns *turns)
{
  __syncthreads();
  if (threadIdx.x > 0) return;
  __threadfence();
  if (atomicAdd(&turns->left, 1u) + 1 < gridDim.x) return;
  turns->ticket = turns->left = 0;
  turns->epoch++;
}
