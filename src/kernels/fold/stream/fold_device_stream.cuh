/* fold_device_stream.cuh - the plan of a streamed table (see fold_stream.h). */
#pragma once

#include "fold/fold_device.cuh"
#include "fold_gather.h"
#include "fold_stream.h"
#include <pthread.h>

/* The argument of a host function, which gathers x for a chunk */
typedef struct {
  const int32_t *columns;
  int64_t        entries;
  SpmvScalar     scalar;
  const void    *x;
  void          *to;
  SpmvThreads   *threads;
} GatherJob;

/* The data of an analysis; build takes over its arrays */
typedef struct {
  FoldSizes       sizes;
  FoldLayout      layout; /* on the host */
  FoldStreamSizes stream;
} FoldStreamAnalysis;

typedef struct {
  FoldPlan        device; /* first; sizes and layout of the whole table, columns and values of its device part */
  FoldStreamSizes sizes;
  FoldChunk      *chunk;         /* [chunks] */
  GatherJob      *job;           /* [chunks], gather=host */
  FoldTable       host;          /* layout of the whole table; columns and values of its host part */
  int64_t         columns_begin; /* the first slice of host.columns; host.values begin after the resident slices */
  void           *row_ptr;       /* of the CSR: a refresh needs the lengths of resident rows */
  void           *x;             /* [cols], gather=host */
  void           *gathered[FOLD_BUFFERS];
  SpmvThreads     threads; /* gather=host */
  cudaStream_t    copy[FOLD_BUFFERS];
  cudaEvent_t     start, fetched, ready[FOLD_BUFFERS], done[FOLD_BUFFERS];
  pthread_mutex_t one_at_a_time; /* held while a product is enqueued: its events are recorded and waited for in pairs */
} FoldStreamPlan;

/* 1 if the host gathers x: then the device holds no columns */
static inline int fold_host_gathers(const FoldStreamSizes *t) { return t->gather == FOLD_GATHER_HOST; }

/* Calls visit(begin, end, first entry, entries) for the resident slices, a chunk at a time */
template <typename Visit>
SpmvStatus fold_each_resident_range(const FoldStreamPlan *stream, const Visit &visit)
{
  const FoldStreamSizes *t         = &stream->sizes;
  const int64_t         *slice_ptr = stream->host.layout.slice_ptr;

  for (int64_t begin = 0, end; begin < t->resident_slices; begin = end) {
    end = fold_stream_range_end(slice_ptr, t->chunk_steps, begin, t->resident_slices);
    SPMV_TRY(visit(begin, end, slice_ptr[begin] * FOLD_LANES, (slice_ptr[end] - slice_ptr[begin]) * FOLD_LANES));
  }
  return SPMV_SUCCESS;
}

/* A block of host memory that is freed when its scope ends */
class FoldHostScratch
{
  SpmvExec *exec;

public:
  void *block = nullptr;
  explicit FoldHostScratch(SpmvExec *e) : exec(e) {}
  FoldHostScratch(const FoldHostScratch &)            = delete;
  FoldHostScratch &operator=(const FoldHostScratch &) = delete;
  ~FoldHostScratch() { spmv_exec_free(exec, SPMV_HOST, block); }
  SpmvStatus alloc(int64_t bytes, const char *name) { return spmv_alloc(exec, SPMV_HOST, bytes, name, &block); }
};

/* ---- slots: fold_device_stream_mult.cu, and fold_device_stream_csr.cu for the conversion back to CSR ---- */

SpmvStatus fold_stream_mult(const SpmvPlan *, const void *alpha, const void *x, const void *beta, void *y, void *work,
                            SpmvExec *);
SpmvStatus fold_stream_extract(const SpmvPlan *, void *values, SpmvExec *);
SpmvStatus fold_stream_prepare_transpose(SpmvPlan *, SpmvExec *);
