/*
  queue.cuh - how the host follows a solve on the device: it enqueues chunks of iterations, or graphs of them, and reads
  the records that the device writes at the end of each chunk.

  Two chunks are enqueued at a time: while the host waits for the record of one, the device has the next. Iterations
  enqueued after convergence do nothing, so they cost time only.
*/
#pragma once

#include "device/launch.cuh"
#include "solve.h"
#include <cstring>

struct SpmvQueue {
  const char          *who;         /* begins messages */
  const SpmvProcesses *processes;   /* all of them must end at the same iteration; NULL: one process */
  SpmvRecord          *records;     /* [2], page-locked: the chunks of a call write to them in turn */
  cudaEvent_t          event[2];    /* recorded after the kernels that write the records */
  bool                 recorded[2]; /* whether the event was ever recorded */
  cudaStream_t         stream;      /* graphs are captured on it, because the caller's may be the default stream */
  int                  chunk;       /* iterations of the next chunk, or of every graph */
};
constexpr int64_t SPMV_RECORDS_BYTES = 2 * sizeof(SpmvRecord);

/* Initializes an all-zero queue; spmv_queue_close() frees it, also after a failure */
SpmvStatus spmv_queue_open(SpmvQueue *, const char *who, const SpmvProcesses *, bool graphs, SpmvExec *);
/* Waits for the events, then frees what spmv_queue_open() made */
void spmv_queue_close(SpmvQueue *);

/* Makes exec->stream wait for the last solve, which may still use the solver's arrays on another stream */
SpmvStatus spmv_queue_follow(SpmvQueue *, SpmvExec *);
SpmvStatus spmv_queue_record(SpmvQueue *, int i, SpmvExec *);
/* Waits for record i. Fails if another process has died, or if some processes have a reason to end and others have
   none. */
SpmvStatus spmv_queue_wait(SpmvQueue *, int i, SpmvRecord *, SpmvExec *);
/* Before the host waits for the stream by another function: waits for what is enqueued, if another process may die
   meanwhile */
SpmvStatus spmv_queue_watch(const SpmvProcesses *, SpmvExec *);
/* For plain launches. If event i has occurred before the next chunk is enqueued, the device is idle: chunks are then
   doubled. A chunk has at most a 16th of the iterations so far, because up to two chunks run in vain after convergence.
   With several processes the length is fixed, because all must enqueue the same number of iterations. */
void spmv_queue_grow(SpmvQueue *, int i, int64_t iterations);

/* The number of iterations that take about 200 us, if one takes `iteration` seconds. Shorter chunks may let the device
   wait for the host; longer ones make the solve end later. 1 if communication waits for the host, since the host is
   then never ahead of the device. */
int spmv_queue_chunk(const SpmvProcesses *, double iteration);

template <typename State>
__global__ void spmv_put_state(State *s, State begin)
{
  *s = begin;
}

/* Gives a solve the state with which it begins; all zeros if that launch is refused and other processes go on, because the
   kernels that follow must find no addresses of an earlier solve */
template <typename State>
static SpmvStatus spmv_begin_state(State *s, const State &begin, SpmvExec *exec)
{
  SPMV_LAUNCH(exec, spmv_put_state<State>, 1, 1, 0, s, begin);
  if (exec->failure && exec->failure->status)
    SPMV_CUDA(exec, cudaMemsetAsync(s, 0, sizeof *s, (cudaStream_t)exec->stream));
  return SPMV_SUCCESS;
}

/* Makes a graph of the work that enqueue(exec) enqueues. The capture is ended even if enqueue fails. *graph is nullptr
   after a failure. Kernels keep the priorities of their streams, because messages between GPUs have a higher one. */
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
    (void)cudaGetLastError(); /* the end of a broken capture is an error, too */
  } else status = spmv_cuda_status(exec, ended, "capture of iterations");
  if (!status)
    status = spmv_cuda_status(exec, cudaGraphInstantiate(graph, captured, cudaGraphInstantiateFlagUseNodePriority),
                              "graph of iterations");
  if (status) *graph = nullptr;
  if (captured) (void)cudaGraphDestroy(captured);
  return status;
}

/* Runs iterations in chunks until a record has a reason to end. length(left) is the length of the next chunk;
   enqueue(count) enqueues it; looking(i, enqueued) is called before the host waits for event i of the chunk before,
   with the number of iterations enqueued so far. */
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
