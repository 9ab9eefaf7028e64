/* sample_format.h - a format that does nothing, for tests of the registry, the options and the argument checks:
   complete, with one option of each kind. Its slots count their calls. */
#ifndef SPMV_SAMPLE_FORMAT_H
#define SPMV_SAMPLE_FORMAT_H

#include <spmv_kernels.h>

/* A complete format, and its table of slots for the host; change the copies to break them */
SpmvFormat sample_format(void);
SpmvSlots  sample_slots(void);

/* Calls so far, and what the next analyze or build returns */
typedef struct {
  int        analyze, build, data_cleared, mult, add_transposed;
  SpmvStatus next_status;
  int64_t    total_bytes; /* that an analysis reports */
} SampleCalls;

SampleCalls *sample_calls(void);

#endif
