/*
  cooperative.cuh - kernels whose thread blocks all run at the same time, and may wait for each other: those that call
  cooperative_groups::this_grid().sync(). Data in shared memory must not be needed behind such a wait: the emulated GPU
  has one shared memory for all thread blocks.
*/
#pragma once

#include "launch.cuh"
#include <cooperative_groups.h>

#ifndef SPMV_KERNEL_CALL_COOPERATIVE /* tests/emulator has its own */
static inline cudaLaunchAttribute spmv_cooperative()
{
  cudaLaunchAttribute attribute = {};
  attribute.id                  = cudaLaunchAttributeCooperative;
  attribute.val.cooperative     = 1;
  return attribute;
}
  #define SPMV_KERNEL_CALL_COOPERATIVE(...) spmv_launch_with(spmv_cooperative(), 1, __VA_ARGS__)
#endif

/* SPMV_LAUNCH for such a kernel; at most spmv_cooperative_blocks() */
#define SPMV_LAUNCH_COOPERATIVE(exec, kernel, blocks, threads, shared, ...)                                            \
  SPMV_LAUNCH_BY(SPMV_KERNEL_CALL_COOPERATIVE, exec, kernel, blocks, threads, shared, __VA_ARGS__)

/* The most thread blocks of a kernel that the current device runs at a time; 0 where it has no such launches */
template <typename Kernel>
static inline SpmvStatus spmv_cooperative_blocks(Kernel kernel, int threads, int *blocks, SpmvExec *exec)
{
  int device = 0, supported = 0, multiprocessors = 0, each = 0;

  *blocks = 0;
  SPMV_CUDA(exec, cudaGetDevice(&device));
  SPMV_CUDA(exec, cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, device));
  SPMV_CUDA(exec, cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  SPMV_CUDA(exec, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, 0));
  if (supported) *blocks = multiprocessors * each;
  return SPMV_SUCCESS;
}
