/*
  factor_turns.cuh - how rows wait for rows of other threads without a deadlock.

  Thread blocks draw tickets, and a block works on the rows of its ticket; then it may draw another one. Rows are stored
  after the rows that they need. So a row waits only for rows of its own block and of tickets that other blocks work on,
  and the first row that is not done can always go on: no order in which the GPU starts blocks, and no number of them that
  it holds, makes them wait forever.

  A row that is done sends its number, in halves of 32 bits, each in one word with the number of the launch (the epoch),
  as in NCCL's protocol LL: whoever reads the epoch has the half, too, without a fence. Each launch sends all rows, and
  the last block ends the epoch. So nothing is cleared between launches, also not in a graph that is launched again, and
  every value is allowed. Rows of one block read the same words in shared memory; racecheck of compute-sanitizer reports
  these looks as hazards.
*/
#pragma once

#include "device/launch.cuh"
#include "factor.h"

/* Begins as zeros */
struct SpmvTurns {
  uint32_t  ticket, left; /* blocks that have begun and ended in this launch */
  uint32_t  epoch; /* of the last launch. The next one has one more, and never 0: words without a number have 0. */
  uint32_t  unused;
  SpmvFound found; /* by a factorization */
};
static_assert(sizeof(SpmvTurns) <= SPMV_TURNS_BYTES, "raise SPMV_TURNS_BYTES");
static_assert(offsetof(SpmvTurns, epoch) == SPMV_TURNS_EPOCH, "correct SPMV_TURNS_EPOCH");

#ifndef SPMV_KERNEL_YIELD /* tests/emulator defines its own: lets other threads run, and faults after many tries */
  #define SPMV_KERNEL_YIELD(tries) (void)(tries)
#endif

/* Words, in memory of the device or in shared memory, that other threads may be writing. ACQUIRES: what the writer wrote
   before is visible then, too; that costs the first-level cache. */
template <bool ACQUIRES>
__device__ inline void spmv_read_words(const uint64_t *from, uint64_t (&words)[2])
{
#ifdef __CUDA_ARCH__
  if (ACQUIRES)
    asm volatile("ld.acquire.gpu.v2.u64 {%0, %1}, [%2];" : "=l"(words[0]), "=l"(words[1]) : "l"(from) : "memory");
  else asm volatile("ld.relaxed.gpu.v2.u64 {%0, %1}, [%2];" : "=l"(words[0]), "=l"(words[1]) : "l"(from));
#else
  words[0] = from[0];
  words[1] = from[1];
#endif
}
template <bool ACQUIRES>
__device__ inline void spmv_read_words(const uint64_t *from, uint64_t (&words)[1])
{
#ifdef __CUDA_ARCH__
  if (ACQUIRES) asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(words[0]) : "l"(from) : "memory");
  else asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(words[0]) : "l"(from));
#else
  words[0] = from[0];
#endif
}
__device__ inline void spmv_write_words(uint64_t *to, const uint64_t (&words)[2])
{
#ifdef __CUDA_ARCH__
  asm volatile("st.relaxed.gpu.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(words[0]), "l"(words[1]) : "memory");
#else
  to[0]    = words[0];
  to[1]    = words[1];
#endif
}
__device__ inline void spmv_write_words(uint64_t *to, const uint64_t (&words)[1])
{
#ifdef __CUDA_ARCH__
  asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(to), "l"(words[0]) : "memory");
#else
  to[0]    = words[0];
#endif
}

/* The numbers that rows send, as one thread sees them */
template <typename S>
struct SpmvMail {
  enum { WORDS = sizeof(S) / sizeof(uint32_t) };
  uint64_t *words; /* [rows][WORDS], by place */
  uint32_t  epoch;

  /* Whether the number of a row is in its words */
  template <bool ACQUIRES>
  __device__ inline bool take(const uint64_t *from, S &number) const
  {
    uint64_t got[WORDS];
    uint32_t half[WORDS];
    bool     is_there = true;

    spmv_read_words<ACQUIRES>(from, got);
    for (int w = 0; w < WORDS; w++) {
      is_there = is_there && (uint32_t)(got[w] >> 32) == epoch;
      half[w]  = (uint32_t)got[w];
    }
    memcpy(&number, half, sizeof number);
    return is_there;
  }
  __device__ inline uint64_t *of(int32_t place) const { return words + (int64_t)WORDS * place; }
  __device__ inline void      send(uint64_t *to, S number) const
  {
    uint64_t sent[WORDS];
    uint32_t half[WORDS];

    memcpy(half, &number, sizeof number);
    for (int w = 0; w < WORDS; w++) sent[w] = (uint64_t)epoch << 32 | half[w];
    spmv_write_words(to, sent);
  }
};

/* Draws a ticket for this block; all of its threads call it, after they are done with the last one */
__device__ inline uint32_t spmv_draw_ticket(SpmvTurns *turns, uint32_t &epoch)
{
  __shared__ uint32_t drawn[2];

  __syncthreads();
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
  turns->epoch                = (turns->epoch + 1) % UINT32_MAX;
}
