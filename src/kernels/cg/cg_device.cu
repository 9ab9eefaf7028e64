/*
  cg_device.cu - how the host follows a solve on the device: chunks of iterations, graphs of them, and the records that
  tell how far it is.

  Two chunks are under way at a time: while the host waits for the record of one, the device has the next. Iterations
  behind the last one do nothing, so what is enqueued too much costs time only.
*/
#include "cg_device.cuh"
#include <cstring>

/* What the host needs to follow a solve */
struct SpmvCgQueue {
  SpmvCgRecord   *records;  /* [2], page-locked: of every other chunk of a call, from its first on, and of the others */
  cudaEvent_t     event[2]; /* behind the kernels that write the records */
  bool            recorded[2]; /* whether the event is in a stream, or was */
  cudaStream_t    stream;      /* on which graphs are captured: the caller's may be the default stream */
  cudaGraphExec_t graph;
  const void     *r;     /* with a function as preconditioner: the graph reads this residual, ... */
  bool            early; /* ... and tests the norm before the function; see spmv_cg_tests_early() */
  int             chunk; /* iterations of the next chunk, or of every graph */
};

namespace
{
enum { GROWN_CHUNK = 16 /* looking at longer chunks costs next to nothing */ };
constexpr int64_t RECORDS_BYTES = 2 * sizeof(SpmvCgRecord);

/* Iterations that take about 200 us: 5 us each, and the time of 40 words a row at 4 TB/s. Shorter chunks may let the
   device wait for the host; longer ones end later than they could. */
int chunk_for(const SpmvCgOptions &o)
{
  if (o.preconditioner == SPMV_PC_FUNCTION) return 1;
  const double bytes = 40.0 * (double)o.rows * (double)spmv_scalar_bytes(o.scalar_type);
  const double most  = 200e-6 / (5e-6 + bytes / 4e12);

  if (o.chunk > 0) return o.chunk; /* several processes must enqueue the same */
  return most < 1 ? 1 : (int)most;
}

SpmvStatus prepare(SpmvCg *cg, SpmvExec *exec)
{
  void *memory = nullptr;

  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, sizeof(SpmvCgQueue), "queue of conjugate gradients", &memory));
  memset(memory, 0, sizeof(SpmvCgQueue));
  SpmvCgQueue *q = (SpmvCgQueue *)memory;
  cg->queue      = q;
  q->chunk       = chunk_for(cg->options);
  SPMV_TRY(spmv_pinned_alloc(exec, RECORDS_BYTES, (void **)&q->records));
  cg->info.pinned_bytes = RECORDS_BYTES;
  for (cudaEvent_t &event : q->event) SPMV_CUDA(exec, cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  if (cg->options.mode == SPMV_CG_GRAPH) SPMV_CUDA(exec, cudaStreamCreateWithFlags(&q->stream, cudaStreamNonBlocking));
  return cg->options.mode == SPMV_CG_PERSISTENT ? spmv_cg_persistent_prepare(cg, exec) : SPMV_SUCCESS;
}

void clear(SpmvCg *cg)
{
  SpmvCgQueue *q = cg->queue;

  if (!q) return;
  for (int i = 0; i < 2; i++) {
    if (q->recorded[i]) (void)cudaEventSynchronize(q->event[i]);
    if (q->event[i]) (void)cudaEventDestroy(q->event[i]);
  }
  if (q->graph) (void)cudaGraphExecDestroy(q->graph);
  if (q->stream) (void)cudaStreamDestroy(q->stream);
  spmv_pinned_free(q->records);
  spmv_free(&cg->host, &cg->device, SPMV_HOST, q);
}

SpmvStatus record_event(SpmvCgQueue *q, int i, SpmvExec *exec)
{
  SPMV_CUDA(exec, cudaEventRecord(q->event[i], (cudaStream_t)exec->stream));
  q->recorded[i] = true;
  return SPMV_SUCCESS;
}

SpmvStatus start(SpmvCg *cg, const SpmvCgState *begin, SpmvExec *exec)
{
  SpmvCgQueue *q = cg->queue;

  /* what the last solve left in another stream still uses p, w and the state */
  for (int i = 0; i < 2; i++)
    if (q->recorded[i]) SPMV_CUDA(exec, cudaStreamWaitEvent((cudaStream_t)exec->stream, q->event[i], 0));
  q->chunk = chunk_for(cg->options);
  SPMV_TRY(spmv_cg_enqueue_first(cg, begin, exec));
  return record_event(q, 0, exec);
}

SpmvStatus correct(SpmvCg *cg, const SpmvCgTest *test, int restart, SpmvExec *exec)
{
  SPMV_TRY(spmv_cg_enqueue_correction(cg, test, restart, exec));
  return record_event(cg->queue, 0, exec);
}

SpmvStatus set_test(SpmvCg *cg, const SpmvCgTest *test, SpmvExec *exec)
{
  SPMV_TRY(spmv_cg_enqueue_test(cg, test, exec));
  return record_event(cg->queue, 0, exec);
}

SpmvStatus first_norm(SpmvCg *cg, double *norm, SpmvExec *exec)
{
  SPMV_TRY(spmv_copy(norm, SPMV_HOST, &cg->state->first_norm, SPMV_DEVICE, sizeof *norm, exec));
  return spmv_stream_wait(exec);
}

/* The iterations of a chunk; the last one writes its record. Of those whose preconditioner is a function a graph has the
   second half of one. */
SpmvStatus enqueue_iterations(SpmvCg *cg, int64_t count, SpmvExec *exec)
{
  if (cg->z) return spmv_cg_enqueue_renewal(cg, cg->queue->records, exec);
  for (int64_t i = 0; i < count; i++)
    SPMV_TRY(spmv_cg_enqueue_iteration(cg, i < count - 1 ? nullptr : cg->queue->records, exec));
  return SPMV_SUCCESS;
}

/* Captures iterations; the capture ends also where one of them cannot be enqueued */
SpmvStatus capture(SpmvCg *cg, SpmvExec *exec)
{
  SpmvCgQueue *q      = cg->queue;
  cudaGraph_t  graph  = nullptr;
  SpmvExec     inside = *exec;

  inside.stream = q->stream;
  SPMV_CUDA(exec, cudaStreamBeginCapture(q->stream, cudaStreamCaptureModeThreadLocal));
  SpmvStatus        status = enqueue_iterations(cg, q->chunk, &inside);
  const cudaError_t ended  = cudaStreamEndCapture(q->stream, &graph);
  if (status) {
    memcpy(exec->message, inside.message, sizeof exec->message);
    (void)cudaGetLastError(); /* of the end of a capture that was given up */
  } else status = spmv_cuda_status(exec, ended, "capture of iterations");
  if (!status) status = spmv_cuda_status(exec, cudaGraphInstantiate(&q->graph, graph, 0), "graph of iterations");
  if (status) q->graph = nullptr;
  else cg->info.graphs++;
  if (graph) (void)cudaGraphDestroy(graph);
  return status;
}

/* Makes the graph, unless there is one that serves this solve. With a function of the preconditioner the graph holds the
   address of r, and its kernels depend on when the norm is tested: both may differ from solve to solve. */
SpmvStatus prepare_graph(SpmvCg *cg, SpmvExec *exec)
{
  SpmvCgQueue *q     = cg->queue;
  const bool   early = spmv_cg_tests_early(cg);

  if (q->graph && (!cg->z || (q->r == cg->r && q->early == early))) return SPMV_SUCCESS;
  if (q->graph) SPMV_CUDA(exec, cudaGraphExecDestroy(q->graph));
  q->graph = nullptr;
  q->r     = cg->r;
  q->early = early;
  return capture(cg, exec);
}

/* The iterations of one chunk; a graph has a fixed number of them */
SpmvStatus enqueue_chunk(SpmvCg *cg, int64_t count, SpmvExec *exec)
{
  if (cg->options.mode != SPMV_CG_GRAPH || count < cg->queue->chunk) return enqueue_iterations(cg, count, exec);
  SPMV_TRY(prepare_graph(cg, exec));
  SPMV_CUDA(exec, cudaGraphLaunch(cg->queue->graph, (cudaStream_t)exec->stream));
  return SPMV_SUCCESS;
}

/* A process that ended while another goes on would leave that waiting for ever */
SpmvStatus agree_on_end(const SpmvCg *cg, const SpmvCgRecord *record, SpmvExec *exec)
{
  const SpmvProcesses *all  = cg->options.processes;
  const int            mine = record->reason != SPMV_CG_ITERATING;
  int                  end  = mine;

  if (!all || !all->agree) return SPMV_SUCCESS;
  SPMV_TRY(all->agree(all->ctx, &end, exec));
  if (end == mine) return SPMV_SUCCESS;
  return spmv_fail(exec, SPMV_ERR_DEVICE,
                   "conjugate gradients: another process has come to an end after %lld iterations: "
                   "its sums are not those of this one",
                   (long long)record->iterations);
}

SpmvStatus wait_for_record(SpmvCg *cg, int i, SpmvCgRecord *record, SpmvExec *exec)
{
  SPMV_CUDA(exec, cudaEventSynchronize(cg->queue->event[i]));
  *record = cg->queue->records[i];
  return agree_on_end(cg, record, exec);
}

/* Plain launches: when a chunk is done before the next one is enqueued, the device waits for the host, and chunks
   become longer, up to a 16th of the iterations so far: up to two of them are needless in the end. Not where several
   processes must enqueue the same. */
void grow(SpmvCg *cg, int before, int64_t iterations)
{
  SpmvCgQueue *q = cg->queue;

  if (cg->options.mode != SPMV_CG_CHUNK || cg->options.chunk > 0 || cg->options.processes || q->chunk >= GROWN_CHUNK ||
      32 * (int64_t)q->chunk > iterations)
    return;
  if (cudaEventQuery(q->event[before]) == cudaSuccess)
    q->chunk = 2 * q->chunk < GROWN_CHUNK ? 2 * q->chunk : GROWN_CHUNK;
  else (void)cudaGetLastError(); /* "not ready" counts as an error of the runtime */
}

SpmvStatus run_chunks(SpmvCg *cg, int64_t iterations, SpmvCgRecord *record, SpmvExec *exec)
{
  int i = 0;

  for (int64_t left = iterations, before = 0; left > 0; i = !i) {
    const int64_t count = left < cg->queue->chunk ? left : cg->queue->chunk;
    SPMV_TRY(enqueue_chunk(cg, count, exec));
    SPMV_TRY(record_event(cg->queue, i, exec));
    left -= count;
    if (before) {
      grow(cg, !i, cg->last.completed + iterations - left);
      SPMV_TRY(wait_for_record(cg, !i, record, exec));
      if (record->reason != SPMV_CG_ITERATING) return SPMV_SUCCESS;
    }
    before = count;
  }
  return wait_for_record(cg, !i, record, exec);
}

/* Iterations whose preconditioner is a function, which takes most of their time. While the device finishes an iteration,
   the host enqueues the first half of the next one; if there is none, that half costs one product. The function is
   enqueued only when the host knows that the solve goes on. */
SpmvStatus run_halves(SpmvCg *cg, int64_t iterations, SpmvCgRecord *record, SpmvExec *exec)
{
  SpmvCgQueue *q     = cg->queue;
  const bool   early = spmv_cg_tests_early(cg);

  /* a graph that cannot be made must leave x as it was, so that the caller can solve in another way */
  if (cg->options.mode == SPMV_CG_GRAPH) SPMV_TRY(prepare_graph(cg, exec));
  SPMV_TRY(spmv_cg_enqueue_advance(cg, q->records, exec));
  for (int64_t n = 0; n < iterations; n++) {
    if (early) {
      SPMV_TRY(record_event(q, n % 2, exec));
      SPMV_TRY(wait_for_record(cg, n % 2, record, exec));
      if (record->reason != SPMV_CG_ITERATING) return SPMV_SUCCESS;
    }
    SPMV_TRY(enqueue_chunk(cg, 1, exec));
    SPMV_TRY(record_event(q, n % 2, exec));
    if (n + 1 < iterations) SPMV_TRY(spmv_cg_enqueue_advance(cg, q->records, exec));
    if (early) continue;
    SPMV_TRY(wait_for_record(cg, n % 2, record, exec));
    if (record->reason != SPMV_CG_ITERATING) return record_event(q, !(n % 2), exec);
  }
  return SPMV_SUCCESS;
}

SpmvStatus run(SpmvCg *cg, int64_t iterations, SpmvCgRecord *record, SpmvExec *exec)
{
  const int64_t done = cg->last.completed, left = cg->most - done;
  const int64_t now = iterations < left ? iterations : left;

  SPMV_TRY(spmv_cg_enqueue_stop(cg, done + now, exec));
  if (cg->z) return run_halves(cg, now, record, exec);
  if (cg->options.mode != SPMV_CG_PERSISTENT) return run_chunks(cg, now, record, exec);
  SPMV_TRY(spmv_cg_enqueue_persistent(cg, exec));
  SPMV_CUDA(exec, cudaMemcpyAsync(cg->queue->records, &cg->state->record, sizeof(SpmvCgRecord), cudaMemcpyDeviceToHost,
                                  (cudaStream_t)exec->stream));
  SPMV_TRY(record_event(cg->queue, 0, exec));
  return wait_for_record(cg, 0, record, exec);
}
} // namespace

extern "C" const SpmvCgSteps spmv_cg_device_steps;
const SpmvCgSteps            spmv_cg_device_steps = {prepare, start, set_test, first_norm, correct, run, clear};
