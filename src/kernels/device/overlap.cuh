/*
  overlap.cuh - products that begin while the kernel before them ends (programmatic dependent launch).

  The start of a kernel and its first loads of the matrix do not depend on what the kernel before it in the stream
  computes. So a product is launched by SPMV_LAUNCH_OVERLAPPED: its blocks may begin as soon as a multiprocessor can
  hold them and all blocks of the kernel before have called spmv_let_next_begin() or ended. Two rules make that safe:

  - A thread calls spmv_wait_for_previous() before it touches x, y or work. Some thread of every launch calls it, so
  that a kernel never ends before those in front of it. x and work are read by __ldca(), because the compiler may move
  loads of the read-only path (__ldg, or const and __restrict__) in front of the wait.
  - The arrays of the matrix are read before that wait. Code that writes them calls spmv_overlap_fence() afterwards.
*/
#pragma once

#include "launch.cuh"

/* Whether the current device, and the code made for it, can overlap kernels: compute capability 9.0 and newer */
extern "C" int spmv_device_overlaps(void);

/* Enqueues an empty kernel that begins when all kernels before it have ended, so that an overlapped kernel behind it
   reads what they wrote to the arrays of the matrix. Not needed where the host waits for the stream; does nothing where
   kernels do not overlap. */
SpmvStatus spmv_overlap_fence(SpmvExec *);

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  #define SPMV_ARCH_OVERLAPS
#endif

/* Allows the next kernel in the stream to begin, as far as this thread is concerned */
__device__ inline void spmv_let_next_begin()
{
#ifdef SPMV_ARCH_OVERLAPS
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/* Waits for the kernels before this one in the stream. The pointer is an operand of the instruction, so that the
   compiler moves no access through it in front of the wait, in spite of __restrict__. A second wait costs next to
   nothing. */
template <typename Pointer>
__device__ inline void spmv_wait_for_previous(Pointer &p)
{
#ifdef SPMV_ARCH_OVERLAPS
  asm volatile("griddepcontrol.wait;" : "+l"(p)::"memory");
#else
  (void)p;
#endif
}

template <typename Pointer, typename... Pointers>
__device__ inline void spmv_wait_for_previous(Pointer &p, Pointers &...others)
{
  spmv_wait_for_previous(p);
  spmv_wait_for_previous(others...);
}

#ifndef SPMV_KERNEL_CALL_OVERLAPPED /* tests/emulator has its own */
static inline cudaLaunchAttribute spmv_overlapped()
{
  cudaLaunchAttribute attribute                        = {};
  attribute.id                                         = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  return attribute;
}
  #define SPMV_KERNEL_CALL_OVERLAPPED(...) spmv_launch_with(spmv_overlapped(), spmv_device_overlaps() != 0, __VA_ARGS__)
#endif

/* SPMV_LAUNCH for a kernel that keeps the rules above */
#define SPMV_LAUNCH_OVERLAPPED(exec, kernel, blocks, threads, shared, ...)                                             \
  SPMV_LAUNCH_BY(SPMV_KERNEL_CALL_OVERLAPPED, exec, kernel, blocks, threads, shared, __VA_ARGS__)
