/* fold_gather.h - threads of the host that gather x for the products of a plan. They wait between products. */
#ifndef SPMV_FOLD_GATHER_H
#define SPMV_FOLD_GATHER_H

#include <spmv_kernels.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FoldGatherers FoldGatherers;

/* As many threads as pay for `most` entries at a time; fewer, or none beside the caller's, where they cannot be had */
SpmvStatus fold_gatherers_start(int64_t most, SpmvExec *, FoldGatherers **);

/* to[e] = x[columns[e]] for n entries, 0 for padding (a negative column). Returns when all are there; calls from
   several threads come one after the other. */
void fold_gatherers_run(FoldGatherers *, const int32_t *columns, int64_t n, SpmvScalar, const void *x, void *to);

/* Ends the threads; NULL is accepted */
void fold_gatherers_stop(FoldGatherers *, const SpmvAllocator *host, const SpmvAllocator *device);

#ifdef __cplusplus
}
#endif
#endif
