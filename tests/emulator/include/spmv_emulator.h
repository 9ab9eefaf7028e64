/* spmv_emulator.h - what tests may ask of the emulator beyond CUDA. For C and C++. */
#ifndef SPMV_EMULATOR_CONTROL_H
#define SPMV_EMULATOR_CONTROL_H

#ifdef __cplusplus
extern "C" {
#endif

/* From now on so many allocations of device or pinned memory succeed, and the others fail; negative: all succeed.
   Returns how many have failed since the last call. */
long spmv_emulator_allow(long allocations);

/* From now on so many calls that give a stream work, make a stream, an event or a graph, or wait for one succeed, and
   the next one fails with cudaErrorLaunchOutOfResources; negative: none fails. Returns whether one has failed since the
   last call. */
int spmv_emulator_fail_after(long calls);

/* So many queries of events answer that what is in front of them is not done */
#define SPMV_EMULATOR_HOLDS 1
void spmv_emulator_hold(long queries);

#ifdef __cplusplus
}
#endif
#endif
