/*
  cg_device.cu - runs a solve as chunks of iterations, or graphs of them, by engine/queue.cuh. If the preconditioner is
  a function, the host reads the record of every iteration instead.
*/
#include "cg_device.cuh"
#include "device/staging.h"
#include "engine/queue.cuh"

/* How the host follows a solve */
struct SpmvCgQueue {
  SpmvQueue       queue;
  cudaGraphExec_t graph;
  const void     *r;     /* with a function as preconditioner: the residual that the graph reads */
  bool            early; /* likewise: whether the norm is tested before it; see spmv_cg_tests_early() */
};

namespace
{
/* Assumes that an iteration takes 5 us plus the time to move 40 words a row at 4 TB/s */
int chunk_for(const SpmvCgOptions &o)
{
  if (o.preconditioner == SPMV_PC_FUNCTION) return 1;
  const double rows = (double)spmv_most_rows(o.processes, o.rows);

  return o.chunk > 0 ? o.chunk
                     : spmv_queue_chunk(o.processes, 5e-6 + 40 * rows * spmv_scalar_bytes(o.scalar_type) / 4e12);
}

SpmvStatus prepare(SpmvCg *cg, SpmvExec *exec)
{
  if (cg->options.lanczos) return SPMV_SUCCESS;
  SPMV_TRY(spmv_object_hold_zeros(&cg->object, sizeof(SpmvCgQueue), "queue of conjugate gradients", &cg->queue, exec));
  cg->info.pinned_bytes = SPMV_RECORDS_BYTES;
  SPMV_TRY(spmv_queue_open(&cg->queue->queue, "conjugate gradients", cg->options.processes,
                           cg->options.mode == SPMV_CG_GRAPH, exec));
  return cg->options.mode == SPMV_CG_PERSISTENT ? spmv_cg_persistent_prepare(cg, exec) : SPMV_SUCCESS;
}

void clear(SpmvCg *cg)
{
  if (!cg->queue) return;
  spmv_queue_close(&cg->queue->queue); /* waits for graphs */
  if (cg->queue->graph) (void)cudaGraphExecDestroy(cg->queue->graph);
}

SpmvStatus start(SpmvCg *cg, const SpmvCgState *begin, SpmvExec *exec)
{
  if (cg->options.lanczos) return spmv_cg_enqueue_first(cg, begin, exec);
  SpmvQueue *q = &cg->queue->queue;

  SPMV_TRY(spmv_queue_follow(q, exec));
  q->chunk = chunk_for(cg->options);
  SPMV_TRY(spmv_cg_enqueue_first(cg, begin, exec));
  return spmv_queue_record(q, 0, exec);
}

SpmvStatus correct(SpmvCg *cg, int restart, SpmvExec *exec)
{
  SPMV_TRY(spmv_cg_enqueue_correction(cg, restart, exec));
  return spmv_queue_record(&cg->queue->queue, 0, exec);
}

/* The iterations of a chunk, of which the last one writes the record. If the preconditioner is a function: the second
   half of one iteration, which is what a graph contains. */
SpmvStatus enqueue_iterations(SpmvCg *cg, int64_t count, SpmvExec *exec)
{
  if (spmv_cg_has_function(cg)) return spmv_cg_enqueue_renewal(cg, cg->queue->queue.records, exec);
  for (int64_t i = 0; i < count; i++)
    SPMV_TRY(spmv_cg_enqueue_iteration(cg, i < count - 1 ? nullptr : cg->queue->queue.records, exec));
  return SPMV_SUCCESS;
}

/* Makes the graph, unless the last one serves this solve. If the preconditioner is a function, the graph holds the
   address of r, and its kernels depend on whether the norm is tested early: both may differ from solve to solve. */
SpmvStatus prepare_graph(SpmvCg *cg, SpmvExec *exec)
{
  SpmvCgQueue *q     = cg->queue;
  const bool   early = spmv_cg_tests_early(cg);

  if (q->graph && (!spmv_cg_has_function(cg) || (q->r == cg->r && q->early == early))) return SPMV_SUCCESS;
  if (q->graph) SPMV_CUDA(exec, cudaGraphExecDestroy(q->graph));
  q->graph = nullptr;
  q->r     = cg->r;
  q->early = early;
  SPMV_TRY(spmv_queue_capture(&q->queue, &q->graph, exec,
                              [&](SpmvExec *inside) { return enqueue_iterations(cg, q->queue.chunk, inside); }));
  cg->info.graphs++;
  return SPMV_SUCCESS;
}

/* Enqueues one chunk: by the graph if it has the length of a graph, else by plain launches */
SpmvStatus enqueue_chunk(SpmvCg *cg, int64_t count, SpmvExec *exec)
{
  if (cg->options.mode != SPMV_CG_GRAPH || count < cg->queue->queue.chunk) return enqueue_iterations(cg, count, exec);
  SPMV_TRY(prepare_graph(cg, exec));
  SPMV_CUDA(exec, cudaGraphLaunch(cg->queue->graph, (cudaStream_t)exec->stream));
  return SPMV_SUCCESS;
}

SpmvStatus run_chunks(SpmvCg *cg, int64_t iterations, SpmvRecord *record, SpmvExec *exec)
{
  SpmvQueue *q     = &cg->queue->queue;
  const bool grows = cg->options.mode == SPMV_CG_CHUNK && cg->options.chunk == 0;

  return spmv_queue_run(
      q, iterations, record, exec, [&](int64_t left) { return left < q->chunk ? left : q->chunk; },
      [&](int64_t count) { return enqueue_chunk(cg, count, exec); },
      [&](int before, int64_t enqueued) {
        if (grows) spmv_queue_grow(q, before, cg->last.completed + enqueued);
      });
}

/* Iterations whose preconditioner is a function, which takes most of the time. So the function is enqueued only when
   the host knows that the solve goes on. While the device finishes an iteration, the host enqueues the first half of
   the next one; after convergence that half costs one needless product. */
SpmvStatus run_halves(SpmvCg *cg, int64_t iterations, SpmvRecord *record, SpmvExec *exec)
{
  SpmvQueue *q     = &cg->queue->queue;
  const bool early = spmv_cg_tests_early(cg);

  /* first of all: if the capture fails, x is unchanged, and the caller can solve in another mode */
  if (cg->options.mode == SPMV_CG_GRAPH) SPMV_TRY(prepare_graph(cg, exec));
  SPMV_TRY(spmv_cg_enqueue_advance(cg, q->records, exec));
  for (int64_t n = 0; n < iterations; n++) {
    if (early) {
      SPMV_TRY(spmv_queue_record(q, n % 2, exec));
      SPMV_TRY(spmv_queue_wait(q, n % 2, record, exec));
      if (record->reason != SPMV_ITERATING) return SPMV_SUCCESS;
    }
    SPMV_TRY(enqueue_chunk(cg, 1, exec));
    SPMV_TRY(spmv_queue_record(q, n % 2, exec));
    if (n + 1 < iterations) SPMV_TRY(spmv_cg_enqueue_advance(cg, q->records, exec));
    if (early) continue;
    SPMV_TRY(spmv_queue_wait(q, n % 2, record, exec));
    if (record->reason != SPMV_ITERATING) return spmv_queue_record(q, !(n % 2), exec);
  }
  return SPMV_SUCCESS;
}

SpmvStatus run(SpmvCg *cg, int64_t iterations, const SpmvTest *test, SpmvRecord *record, SpmvExec *exec)
{
  SpmvQueue    *q    = &cg->queue->queue;
  const int64_t done = cg->last.completed, left = test->max_iterations - done;
  const int64_t now = iterations < left ? iterations : left;

  SPMV_TRY(spmv_cg_enqueue_run(cg, test, done + now, now > 0 ? nullptr : q->records, exec));
  if (now > 0 && spmv_cg_has_function(cg)) return run_halves(cg, now, record, exec);
  if (now > 0 && cg->options.mode != SPMV_CG_PERSISTENT) return run_chunks(cg, now, record, exec);
  if (now > 0) {
    SPMV_TRY(spmv_cg_enqueue_persistent(cg, exec));
    SPMV_CUDA(exec, cudaMemcpyAsync(q->records, &cg->state->record, sizeof(SpmvRecord), cudaMemcpyDeviceToHost,
                                    (cudaStream_t)exec->stream));
  }
  SPMV_TRY(spmv_queue_record(q, 0, exec));
  return spmv_queue_wait(q, 0, record, exec);
}

SpmvStatus lanczos(SpmvCg *cg, const SpmvTest *test, void *to, int64_t bytes, SpmvExec *exec)
{
  SPMV_TRY(spmv_cg_enqueue_run(cg, test, cg->options.lanczos, nullptr, exec));
  for (int i = 1; i < cg->options.lanczos; i++) SPMV_TRY(spmv_cg_enqueue_iteration(cg, nullptr, exec));
  SPMV_TRY(spmv_cg_enqueue_iteration(cg, cg->kept, exec));
  SPMV_TRY(spmv_queue_watch(cg->options.processes, exec));
  return spmv_fetch(to, cg->kept, bytes, exec);
}
} // namespace

extern "C" const SpmvCgSlots spmv_cg_device_slots;
const SpmvCgSlots            spmv_cg_device_slots = {prepare, start, correct, run, lanczos, clear};
