/* row_shares.h - work on the rows of a pattern on the host, shared among threads. */
#pragma once

#include <spmv_kernels.h>

enum { SPMV_ROW_SHARES = 8 /* threads that keep the memory of one socket busy */ };

/* Works on rows begin .. end-1; share is 0 .. SPMV_ROW_SHARES-1 */
typedef void (*SpmvRowWork)(void *context, int share, int64_t begin, int64_t end);

/* Splits the rows into ranges of equal numbers of nonzeros, calls work for each range on a thread of its own (at most
   one per processor that the caller may run on), and returns when all are done. A pattern with few nonzeros is one
   range. */
void spmv_share_rows(const SpmvPattern *, SpmvRowWork, void *context);
