/* sample_format.h - a complete format for tests of the registry, the options and the argument checks. It has one option
   of each kind, and its slots only count their calls. */
#ifndef SPMV_SAMPLE_FORMAT_H
#define SPMV_SAMPLE_FORMAT_H

#include <spmv_kernels.h>

/* Copies of the format and of its host slots, which a test may change to break them */
SpmvFormat sample_format(void);
SpmvSlots  sample_slots(void);

/* Numbers of calls so far, and the results of the next ones */
typedef struct {
  int        analyze, build, data_cleared, mult, add_transposed;
  SpmvStatus next_status;
  int64_t    total_bytes; /* reported by the next analysis */
} SampleCalls;

SampleCalls *sample_calls(void);

#endif
