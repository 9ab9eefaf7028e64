/* cluster_sort.h - puts few numbers in ascending order. */
#ifndef SPMV_CLUSTER_SORT_H
#define SPMV_CLUSTER_SORT_H

#include <stdint.h>
#include <string.h>

/* Eight bits at a time, as many times as the numbers differ in. scratch has as many entries. */
static inline void cluster_sort(int32_t *number, int32_t *scratch, int64_t count)
{
  int32_t least = INT32_MAX, most = INT32_MIN;

  for (int64_t i = 0; i < count; i++) {
    least = number[i] < least ? number[i] : least;
    most  = number[i] > most ? number[i] : most;
  }
  for (int shift = 0; shift < 32 && count > 1 && ((uint32_t)most - (uint32_t)least) >> shift; shift += 8) {
    int32_t at[256 + 1] = {0};

    for (int64_t i = 0; i < count; i++) at[(((uint32_t)number[i] - (uint32_t)least) >> shift & 0xff) + 1]++;
    for (int digit = 0; digit < 256; digit++) at[digit + 1] += at[digit];
    for (int64_t i = 0; i < count; i++)
      scratch[at[((uint32_t)number[i] - (uint32_t)least) >> shift & 0xff]++] = number[i];
    memcpy(number, scratch, (size_t)count * sizeof *number);
  }
}

#endif
