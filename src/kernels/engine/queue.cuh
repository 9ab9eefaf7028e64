/*
  queue.cuh - how the host follows a solve on the device: chunks of iterations, graphs of them, and the records that tell
  how far it is.

  Two chunks are under way at a time: while the host waits for the record of one, the device has the next. Iterations
  behind the last one do nothing, so what is enqueued too much costs time only.
*/
#pragma once

#include "device/launch.cuh"
#include "engine/solve.h"
#include <cstring>

struct SpmvQueue {
  const char          *who;       /* begins messages */
  const SpmvProcesses *processes; /* that end together, or NULL */
  SpmvRecord  *records;     /* [2], page-locked: of every other chunk of a call, from its first on, and of the others */
  cudaEvent_t  event[2];    /* behind the kernels that write the records */
  bool         recorded[2]; /* whether the event is in a stream, or was */
  cudaStream_t stream;      /* on which graphs are captured: the caller's may be the default stream */
  int          chunk;       /* iterations of the next chunk, or of every graph */
};
constexpr int64_t SPMV_RECORDS_BYTES = 2 * sizeof(SpmvRecord);

/* Of an all-zero queue; what it makes is freed by spmv_queue_close(), also when it failed */
SpmvStatus spmv_queue_open(SpmvQueue *, const char *who, const SpmvProcesses *, bool graphs, SpmvExec *);
/* Waits for the events */
void spmv_queue_close(SpmvQueue *);

/* What the last solve left in another stream still uses the arrays of the solver: this stream waits for it */
SpmvStatus spmv_queue_follow(SpmvQueue *, SpmvExec *);
SpmvStatus spmv_queue_record(SpmvQueue *, int i, SpmvExec *);
/* Waits for what is in the stream, while other processes are alive */
SpmvStatus spmv_queue_drain(SpmvQueue *, SpmvExec *);
/* Waits for the record, and makes sure that all processes come to an end together */
SpmvStatus spmv_queue_wait(SpmvQueue *, int i, SpmvRecord *, SpmvExec *);
/* Plain launches: when a chunk, whose event is i, is done before the next one is enqueued, the device waits for the host, and
   chunks become longer, up to a 16th of the iterations so far: up to two of them are needless in the end. Not where
   several processes must enqueue the same. */
void spmv_queue_grow(SpmvQueue *, int i, int64_t iterations);

/* Iterations that take about 200 us, of so many seconds each: shorter chunks may let the device wait for the host; longer
   ones end later than they could. One where processes wait for the host, which is never further ahead then. */
int spmv_queue_chunk(const SpmvProcesses *, double iteration);

/* A graph of what enqueue(exec) enqueues; the capture ends also where something cannot be enqueued. *graph is nullptr
   after a failure. Kernels keep the priorities of their streams: messages between GPUs have a higher one. */
template <typename Enqueue>
static SpmvStatus spmv_queue_capture(SpmvQueue *q, cudaGraphExec_t *graph, SpmvExec *exec, const Enqueue &enqueue)
{
  cudaGraph_t captured = nullptr;
  SpmvExec    inside   = *exec;

  *graph        = nullptr;
  inside.stream = q->stream;
  SPMV_CUDA(exec, cudaStreamBeginCapture(q->stream, cudaStreamCaptureModeThreadLocal));
  SpmvStatus        status = enqueue(&inside);
  const cudaError_t ended  = cudaStreamEndCapture(q->stream, &captured);
  if (status) {
    memcpy(exec->message, inside.message, sizeof exec->message);
    (void)cudaGetLastError(); /* of the end of a capture that was given up */
  } else status = spmv_cuda_status(exec, ended, "capture of iterations");
  if (!status)
    status = spmv_cuda_status(exec, cudaGraphInstantiate(graph, captured, cudaGraphInstantiateFlagUseNodePriority),
                              "graph of iterations");
  if (status) *graph = nullptr;
  if (captured) (void)cudaGraphDestroy(captured);
  return status;
}

/* Does iterations in chunks until a record has a reason: count = length(left), enqueue(count), and looking(done) before the
   host waits for the chunk before, when so many are enqueued */
template <typename Length, typename Enqueue, typename Looking>
static SpmvStatus spmv_queue_run(SpmvQueue *q, int64_t iterations, SpmvRecord *record, SpmvExec *exec,
                                 const Length &length, const Enqueue &enqueue, const Looking &looking)
{
  int i = 0;

  for (int64_t left = iterations, before = 0; left > 0; i = !i) {
    const int64_t count = length(left);
    SPMV_TRY(enqueue(count));
    SPMV_TRY(spmv_queue_record(q, i, exec));
    left -= count;
    if (before) {
      looking(!i, iterations - left);
      SPMV_TRY(spmv_queue_wait(q, !i, record, exec));
      if (record->reason != SPMV_ITERATING) return SPMV_SUCCESS;
    }
    before = count;
  }
  return spmv_queue_wait(q, !i, record, exec);
}
