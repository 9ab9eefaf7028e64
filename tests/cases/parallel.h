/*
  parallel.h - loops over independent items on all cores. Generators make each row from its number, so that the result
  is the same for any number of threads.
*/
#ifndef SPMV_PARALLEL_H
#define SPMV_PARALLEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Handles the items begin .. end-1 */
typedef void (*GenRange)(void *context, int64_t begin, int64_t end);

/* Calls range() for pieces that cover 0 .. n-1; free threads take the next piece. A loop over few items is one call. */
void gen_parallel(int64_t n, GenRange range, void *context);

#ifdef __cplusplus
}
#endif
#endif
