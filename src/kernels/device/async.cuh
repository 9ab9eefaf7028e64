/*
  async.cuh - copies to shared memory that go on while a thread does other work: cp.async, from compute capability 8.0
  on. Elsewhere, and on the emulator, a copy is done at once. What a thread has copied is there for it behind
  spmv_async_wait(), and for the others behind a barrier after that.
*/
#ifndef SPMV_ASYNC_CUH
#define SPMV_ASYNC_CUH

#include "launch.cuh"

/* Copies one T, of 4, 8 or 16 bytes, through the caches that all threads share. Also for x, after the wait for the
   kernel before: the compiler moves no other access across it. */
template <typename T>
__device__ inline void spmv_async_copy(T *to, const T *from)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from),
               "n"(sizeof(T))
               : "memory");
#else
  *to = *from;
#endif
}

/* Waits for all copies that this thread has begun */
__device__ inline void spmv_async_wait()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

#endif
