/* row_shares.h - work on the rows of a pattern on the host, shared among threads. */
#pragma once

#include <spmv_kernels.h>

enum { SPMV_ROW_SHARES = 8 /* threads that keep the memory of one socket busy */ };

/* Works on rows begin .. end-1; share is 0 .. SPMV_ROW_SHARES-1 */
typedef void (*SpmvRowWork)(void *context, int share, int64_t begin, int64_t end);

/* Calls work for ranges that have as many nonzeros each and together all rows, by as many threads as there are
   processors that the caller may run on, and returns when all are done. A pattern with few nonzeros is one range. */
void spmv_share_rows(const SpmvPattern *, SpmvRowWork, void *context);
