/*
  cooperative.cuh - cooperative launches: all thread blocks are resident at the same time and may wait for each other by
  cooperative_groups::this_grid().sync(). A kernel must not rely on shared memory across that call: the emulator has one
  shared memory for all thread blocks.
*/
#pragma once

#include "launch.cuh"
#include <cooperative_groups.h>

#ifndef SPMV_KERNEL_CALL_COOPERATIVE /* tests/emulator defines its own */
static inline cudaLaunchAttribute spmv_cooperative()
{
  cudaLaunchAttribute attribute = {};
  attribute.id                  = cudaLaunchAttributeCooperative;
  attribute.val.cooperative     = 1;
  return attribute;
}
  #define SPMV_KERNEL_CALL_COOPERATIVE(...) spmv_launch_with(spmv_cooperative(), 1, __VA_ARGS__)
#endif

/* SPMV_LAUNCH for a cooperative kernel; `blocks` must not exceed spmv_cooperative_blocks() */
#define SPMV_LAUNCH_COOPERATIVE(exec, kernel, blocks, threads, shared, ...)                                            \
  SPMV_LAUNCH_BY(SPMV_KERNEL_CALL_COOPERATIVE, exec, kernel, blocks, threads, shared, __VA_ARGS__)

/* The most thread blocks of a kernel that are resident on the current device; 0 without cooperative launches */
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
