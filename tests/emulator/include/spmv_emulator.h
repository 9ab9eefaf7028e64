/* spmv_emulator.h - what tests may ask of the emulator beyond CUDA. For C and C++. */
#ifndef SPMV_EMULATOR_CONTROL_H
#define SPMV_EMULATOR_CONTROL_H

#ifdef __cplusplus
extern "C" {
#endif

/* From now on so many allocations of device or pinned memory succeed, and the others fail; negative: all succeed.
   Returns how many have failed since the last call. */
long spmv_emulator_allow(long allocations);

#ifdef __cplusplus
}
#endif
#endif
