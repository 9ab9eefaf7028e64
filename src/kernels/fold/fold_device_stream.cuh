/* fold_device_stream.cuh - what a plan keeps for a table of which some part, or x, comes from the host. */
#ifndef SPMV_FOLD_DEVICE_STREAM_CUH
#define SPMV_FOLD_DEVICE_STREAM_CUH

#include "fold_device.cuh"
#include "fold_gather.h"
#include <pthread.h>

/* The argument of a host function: a chunk whose x is gathered */
typedef struct {
  const int32_t *columns;
  int64_t        entries;
  SpmvScalar     scalar;
  const void    *x;
  void          *to;
  SpmvThreads   *threads;
} GatherJob;

struct FoldStream {
  FoldStreamSizes sizes;
  FoldChunk      *chunk;         /* [chunks] */
  GatherJob      *job;           /* [chunks], gather=host */
  FoldTable       host;          /* layout of the whole table; columns and values of its part on the host */
  int64_t         columns_begin; /* the first slice of host.columns; host.values begin with the resident slices' end */
  void           *row_ptr;       /* of the CSR: a refresh needs the lengths of resident rows */
  void           *x;             /* [cols], gather=host */
  void           *gathered[FOLD_BUFFERS];
  SpmvThreads     threads; /* gather=host */
  cudaStream_t    copy[FOLD_BUFFERS];
  cudaEvent_t     start, fetched, ready[FOLD_BUFFERS], done[FOLD_BUFFERS];
  pthread_mutex_t one_at_a_time; /* the events are recorded and waited for in pairs */
};

/* 1 when the host gathers x: then no columns are on the device */
static inline int fold_host_gathers(const FoldStreamSizes *t) { return t->gather == FOLD_GATHER_HOST; }

#endif
