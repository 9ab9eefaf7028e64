/* spmv_emulator.h - functions by which tests control the emulator, for C and C++. */
#ifndef SPMV_EMULATOR_CONTROL_H
#define SPMV_EMULATOR_CONTROL_H

#ifdef __cplusplus
extern "C" {
#endif

/* Points at which a call of the CUDA runtime may fail */
enum {
  SPMV_POINT_DEVICE = 1, /* allocations of device memory: cudaErrorMemoryAllocation */
  SPMV_POINT_PINNED = 2, /* allocations of pinned memory: likewise */
  SPMV_POINT_LAUNCH = 4, /* launches of kernels and graphs: cudaErrorLaunchOutOfResources */
  SPMV_POINT_CALL   = 8, /* other calls that enqueue work, wait, or make a stream, an event or a graph: likewise */
  SPMV_POINT_LOST   = 16 /* points of all kinds: cudaErrorIllegalAddress */
};

/* Of the points of these kinds, the next `before` succeed; then one fails (once) or all that follow. An allocation that
   is tried again at once is the same point. A negative `before`: none fails. Returns the number of failures since the
   last call. */
long spmv_emulator_refuse(unsigned kinds, long before, int once);

/* The number of points that have succeeded since spmv_emulator_refuse() was called */
long spmv_emulator_passed(void);

/* The next `allocations` allocations of device or pinned memory succeed, and all later ones fail; negative: all
   succeed. Returns the number of failures since the last call. */
static inline long spmv_emulator_allow(long allocations)
{
  return spmv_emulator_refuse(SPMV_POINT_DEVICE | SPMV_POINT_PINNED, allocations, 0);
}

/* Of the calls that enqueue work, wait, or make a stream, an event or a graph, the next `calls` succeed, and the one
   after fails; negative: none fails. Returns whether one has failed since the last call. */
static inline int spmv_emulator_fail_after(long calls)
{
  return spmv_emulator_refuse(SPMV_POINT_LAUNCH | SPMV_POINT_CALL, calls, 1) > 0;
}

/* The number of allocations of device or pinned memory since the last call, including failed ones */
long spmv_emulator_allocations(void);

/* The next `queries` queries of events answer "not ready". The macro says that this version of the emulator has it. */
#define SPMV_EMULATOR_HOLDS 1
void spmv_emulator_hold(long queries);

#ifdef __cplusplus
}
#endif
#endif
