/*
  factor_turns.cuh - how rows wait for rows of other threads without a deadlock.

  Thread blocks draw tickets, and a block works on the rows of its ticket. Rows are stored after the rows that they need.
  So a row waits only for rows of its own block and of blocks that already run, and the first row that is not done can
  always go on: no order in which the GPU starts blocks, and no number of them that it holds, makes them wait forever.

  A row that is done sends its number, in halves of 32 bits, each in one word with the number of the launch (the epoch),
  as in NCCL's protocol LL: whoever reads the epoch has the half, too, without a fence. Each launch sends all rows, and
  the last block ends the epoch. So nothing is cleared between launches, also not in a graph that is launched again, and
  every value is allowed.
*/
#pragma once

#include "device/launch.cuh"
#include "factor.h"

/* Begins as zeros */
struct SpmvTurns {
  uint32_t  ticket, left; /* blocks that have begun and ended in this launch */
  uint32_t  epoch;        /* launches before this one */
  uint32_t  unused;
  SpmvFound found; /* by a factorization */
};
static_assert(sizeof(SpmvTurns) <= SPMV_TURNS_BYTES, "raise SPMV_TURNS_BYTES");

#ifndef SPMV_KERNEL_YIELD /* tests/emulator defines its own: lets other threads run, and faults after many tries */
  #define SPMV_KERNEL_YIELD(tries) (void)(tries)
#endif

/* Words that other threads may be writing. ACQUIRES: what the writer wrote before is visible then, too; that costs the
   first-level cache. */
template <bool ACQUIRES>
__device__ inline void spmv_read_words(const uint64_t *from, uint64_t (&words)[2])
{
#ifdef __CUDA_ARCH__
  if (ACQUIRES)
    asm volatile("ld.acquire.gpu.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(words[0]), "=l"(words[1])
                 : "l"(from)
                 : "memory");
  else asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(words[0]), "=l"(words[1]) : "l"(from));
#else
  words[0] = from[0];
  words[1] = from[1];
#endif
}
template <bool ACQUIRES>
__device__ inline void spmv_read_words(const uint64_t *from, uint64_t (&words)[1])
{
#ifdef __CUDA_ARCH__
  if (ACQUIRES) asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(words[0]) : "l"(from) : "memory");
  else asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(words[0]) : "l"(from));
#else
  words[0] = from[0];
#endif
}
__device__ inline void spmv_write_words(uint64_t *to, const uint64_t (&words)[2])
{
#ifdef __CUDA_ARCH__
  asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(words[0]), "l"(words[1]) : "memory");
#else
  to[0]    = words[0];
  to[1]    = words[1];
#endif
}
__device__ inline void spmv_write_words(uint64_t *to, const uint64_t (&words)[1])
{
#ifdef __CUDA_ARCH__
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(words[0]) : "memory");
#else
  to[0]    = words[0];
#endif
}

/* The numbers that rows send, as one thread sees them */
template <typename S>
struct SpmvMail {
  enum { WORDS = sizeof(S) / sizeof(uint32_t) };
  uint64_t *words; /* [rows][WORDS] */
  uint32_t  epoch;

  /* Whether a row has sent its number; tries counts failures */
  template <bool ACQUIRES>
  __device__ inline bool take(int32_t row, S &number, int &tries) const
  {
    uint64_t got[WORDS];
    uint32_t half[WORDS];
    bool     is_there = true;

    spmv_read_words<ACQUIRES>(words + (int64_t)WORDS * row, got);
    for (int w = 0; w < WORDS; w++) {
      is_there = is_there && (uint32_t)(got[w] >> 32) == epoch;
      half[w]  = (uint32_t)got[w];
    }
    memcpy(&number, half, sizeof number);
    tries = is_there ? 0 : tries + 1;
    if (!is_there) SPMV_KERNEL_YIELD(tries);
    return is_there;
  }
  __device__ inline void send(int32_t row, S number) const
  {
    uint64_t sent[WORDS];
    uint32_t half[WORDS];

    memcpy(half, &number, sizeof number);
    for (int w = 0; w < WORDS; w++) sent[w] = (uint64_t)epoch << 32 | half[w];
    spmv_write_words(words + (int64_t)WORDS * row, sent);
  }
};

/* Draws the ticket of this block; all of its threads call it */
__device__ inline uint32_t spmv_draw_ticket(SpmvTurns *turns, uint32_t &epoch)
{
  __shared__ uint32_t drawn[2];

  if (threadIdx.x == 0) {
    drawn[0] = atomicAdd(&turns->ticket, 1u);
    drawn[1] = turns->epoch + 1;
  }
  __syncthreads();
  epoch = drawn[1];
  return drawn[0];
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
