/* timeline.h - declarations that the parts of mult_timeline share: a record of intervals of time, all on one clock. */
#ifndef TIMELINE_H
#define TIMELINE_H

#include <stdint.h>

typedef struct {
  const char *row; /* product, mpi, kernel or copy */
  char       *name;
  uint64_t    begin, end; /* nanoseconds of CLOCK_MONOTONIC */
} Interval;

uint64_t TimelineNow(void);
void     TimelineAdd(const char row[], const char name[], uint64_t begin, uint64_t end);

/* Record kernels and copies on the GPU. Call Begin before CUDA is first used; End waits for pending records. Both
   return NULL, or a text that says why nothing is recorded. */
const char *DeviceIntervalsBegin(void);
const char *DeviceIntervalsEnd(void);

#endif
