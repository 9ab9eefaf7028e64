/* fold_gather.h - host threads gather x for the products of a plan. */
#pragma once

#include "core/format.h"
#include "core/threads.h"

SPMV_C_BEGIN

/* The number of threads worth starting to gather up to `most` entries at a time, at most one per available processor */
int fold_gather_threads(int64_t most);

/* to[e] = x[columns[e]] for n entries, 0 for padding (a negative column). Returns when all entries are written; may be
   called from several threads. */
void fold_gather(SpmvThreads *, const int32_t *columns, int64_t n, SpmvScalar, const void *x, void *to);

SPMV_C_END
