/* spmv_emulator.h - functions by which tests control the emulator, for C and C++. */
#ifndef SPMV_EMULATOR_CONTROL_H
#define SPMV_EMULATOR_CONTROL_H

#include <stddef.h>
#include <stdint.h>

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

/* Likewise of those for which memory was mapped: a pool had not kept enough */
long spmv_emulator_grown(void);

/* Likewise of those of pinned memory */
long spmv_emulator_page_locked(void);

/* Likewise the number of launches of kernels of ours, each kernel of a launched graph being one; the number of times that
   the host has waited for an event, or for work in a stream; and for the device, as it does to free memory */
long spmv_emulator_launches(void);
long spmv_emulator_waits(void);
long spmv_emulator_device_waits(void);

/* A block begins early of each of the next 1024 overlapped kernels that follow others, and afterwards of one in 16, as it
   is when the process starts */
void spmv_emulator_begin_early(void);

/* With SPMV_EMULATOR_APART=1 each array in a block of several arrays ends at an inaccessible page, for device/memory.c:
   the bytes that an array takes there (0: arrays are not kept apart), and its address in that room. */
int64_t spmv_emulator_room(int64_t bytes);
void   *spmv_emulator_place(void *room, int64_t bytes);

/* The number of times that the host has touched a shared block after the device, since the last call */
long spmv_emulator_moved(void);

/* The number of copies of that many bytes between device memory and memory of the host since the process started */
long spmv_emulator_copies(size_t bytes);
/* The next `queries` queries of events answer "not ready". The macro says that this version of the emulator has it. */
#define SPMV_EMULATOR_HOLDS 1
void spmv_emulator_hold(long queries);

#ifdef __cplusplus
}
#endif
#endif
