/*
  overlap.cuh - kernels that begin while the previous kernel ends (programmatic dependent launch).

  The start of a product and its first loads of the matrix do not depend on what the previous kernel in the stream
  computes. So a product is launched by SPMV_LAUNCH_OVERLAPPED: its blocks may begin as soon as a multiprocessor can
  hold them and all blocks of the previous kernel have called spmv_let_next_begin() or ended. Two rules make that safe:

  - A thread calls spmv_wait_for_previous() before it touches x, y or work. At least one thread of every launch calls
  it, so that no kernel ends before an earlier one. x and work are read by __ldca(), because the compiler may move loads
  through the read-only path (__ldg, or const and __restrict__) in front of the wait.
  - The arrays of the matrix may be read before that wait. So code that writes them calls spmv_overlap_fence()
  afterwards.
*/
#pragma once

#include "launch.cuh"

/* Whether the current device and the code compiled for it can overlap kernels: compute capability 9.0 and newer */
extern "C" int spmv_device_overlaps(void);

/* Enqueues an empty kernel that begins when all earlier kernels have ended, so that a later overlapped kernel reads
   what they wrote to the arrays of the matrix. Not needed if the host waits for the stream anyway. A no-op on devices
   that cannot overlap kernels. */
SpmvStatus spmv_overlap_fence(SpmvExec *);

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  #define SPMV_ARCH_OVERLAPS
#endif
#ifndef SPMV_KERNEL_WAIT /* tests/emulator defines its own */
  #define SPMV_KERNEL_WAIT()
#endif

/* This thread allows the next kernel in the stream to begin; it begins when every thread block has allowed it or
   ended */
__device__ inline void spmv_let_next_begin()
{
#ifdef SPMV_ARCH_OVERLAPS
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/* Waits for the earlier kernels in the stream. The pointer is an operand of the instruction, so that the compiler does
   not move accesses through it in front of the wait, in spite of __restrict__. A second wait costs next to nothing. */
template <typename Pointer>
__device__ inline void spmv_wait_for_previous(Pointer &p)
{
#ifdef SPMV_ARCH_OVERLAPS
  asm volatile("griddepcontrol.wait;" : "+l"(p)::"memory");
#else
  (void)p;
  SPMV_KERNEL_WAIT();
#endif
}

template <typename Pointer, typename... Pointers>
__device__ inline void spmv_wait_for_previous(Pointer &p, Pointers &...others)
{
  spmv_wait_for_previous(p);
  spmv_wait_for_previous(others...);
}

#ifndef SPMV_KERNEL_CALL_OVERLAPPED /* tests/emulator defines its own */
static inline cudaLaunchAttribute spmv_overlapped()
{
  cudaLaunchAttribute attribute                        = {};
  attribute.id                                         = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  return attribute;
}
  #define SPMV_KERNEL_CALL_OVERLAPPED(...) spmv_launch_with(spmv_overlapped(), spmv_device_overlaps() != 0, __VA_ARGS__)
#endif

/* SPMV_LAUNCH for a kernel that keeps the two rules above */
#define SPMV_LAUNCH_OVERLAPPED(exec, kernel, blocks, threads, shared, ...)                                             \
  SPMV_LAUNCH_BY(SPMV_KERNEL_CALL_OVERLAPPED, exec, kernel, blocks, threads, shared, __VA_ARGS__)
