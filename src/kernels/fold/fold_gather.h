/* fold_gather.h - threads of the host gather x for the products of a plan. */
#pragma once

#include "core/format.h"
#include "core/threads.h"

SPMV_C_BEGIN

/* The number of threads that pays for `most` entries at a time, at most those that may run */
int fold_gather_threads(int64_t most);

/* to[e] = x[columns[e]] for n entries, 0 for padding (a negative column). Returns when all are there; calls from
   several threads are allowed. */
void fold_gather(SpmvThreads *, const int32_t *columns, int64_t n, SpmvScalar, const void *x, void *to);

SPMV_C_END
