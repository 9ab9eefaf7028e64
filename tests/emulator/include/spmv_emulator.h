/* spmv_emulator.h - functions by which tests control the emulator, for C and C++. */
#ifndef SPMV_EMULATOR_CONTROL_H
#define SPMV_EMULATOR_CONTROL_H

#ifdef __cplusplus
extern "C" {
#endif

/* The next `allocations` allocations of device or pinned memory succeed, and all later ones fail; negative: all
   succeed. Returns the number of failures since the last call. */
long spmv_emulator_allow(long allocations);

/* The number of allocations of device or pinned memory since the last call, including failed ones */
long spmv_emulator_allocations(void);

/* Of the calls that enqueue work, wait, or make a stream, an event or a graph, the next `calls` succeed, and the one
   after fails with cudaErrorLaunchOutOfResources; negative: none fails. Returns whether one has failed since the last
   call. */
int spmv_emulator_fail_after(long calls);

/* The next `queries` queries of events answer "not ready". The macro says that this version of the emulator has it. */
#define SPMV_EMULATOR_HOLDS 1
void spmv_emulator_hold(long queries);

#ifdef __cplusplus
}
#endif
#endif
