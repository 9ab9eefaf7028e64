/* What the parts of mult_timeline share: a record of intervals of time, all on the clock of the machine. */
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

/* Kernels and copies of the GPU. Begin before CUDA is first used; End waits for what is not yet recorded. Both return a
   text that says why there are none, or NULL. */
const char *DeviceIntervalsBegin(void);
const char *DeviceIntervalsEnd(void);

#endif
