/*
  gmres_device.cu - runs a solve as chunks of iterations within a cycle, or graphs of them, by engine/queue.cuh. At the
  end of a cycle plain launches compute x and its residual, because they use addresses of the caller.
*/
#include "device/staging.h"
#include "engine/queue.cuh"
#include "gmres_device.cuh"

/* How the host follows a solve. A graph holds addresses of vectors of the basis, so there is one graph for each chunk
   of a cycle. If the preconditioner is a function, there is one graph with only the function, which always reads t and
   writes u. */
struct SpmvGmresQueue {
  SpmvQueue        queue;
  cudaGraphExec_t *graph; /* [graphs] */
  int              graphs;
};

namespace
{
enum { LEAST_OF_GRAPH = 2 /* iterations: with fewer, large matrices would need too many graphs */ };

/* Assumes that an iteration takes 10 us plus the time to move its words, and 20 words a row for the product, at 4
   TB/s */
int chunk_for(const SpmvGmres *g)
{
  const SpmvGmresOptions *o     = &g->options;
  const double            rows  = (double)spmv_most_rows(o->processes, o->rows);
  const double            bytes = g->info.traffic_bytes * rows / (o->rows > 0 ? (double)o->rows : 1) +
                       20 * rows * (double)spmv_scalar_bytes(o->scalar_type);
  const int least = o->mode == SPMV_GMRES_GRAPH ? LEAST_OF_GRAPH : 1;

  if (o->preconditioner == SPMV_PC_FUNCTION) return 1;
  const int chunk = o->chunk > 0 ? o->chunk : spmv_queue_chunk(o->processes, 10e-6 + bytes / 4e12);
  return chunk > o->restart ? o->restart : o->chunk > 0 || chunk > least ? chunk : least;
}

SpmvStatus prepare(SpmvGmres *g, SpmvExec *exec)
{
  const bool graphs = g->options.mode == SPMV_GMRES_GRAPH;

  if (g->options.hessenberg) return SPMV_SUCCESS;
  SPMV_TRY(spmv_object_hold_zeros(&g->object, sizeof(SpmvGmresQueue), "queue of GMRES", &g->queue, exec));
  SpmvGmresQueue *q    = g->queue;
  q->queue.chunk       = chunk_for(g);
  g->info.pinned_bytes = SPMV_RECORDS_BYTES;
  SPMV_TRY(spmv_queue_open(&q->queue, "GMRES", g->options.processes, graphs, exec));
  if (!graphs) return SPMV_SUCCESS;
  const int     count = spmv_gmres_has_function(g) ? 1 : (int)spmv_blocks(g->options.restart, q->queue.chunk);
  const int64_t bytes = count * (int64_t)sizeof(cudaGraphExec_t);
  SPMV_TRY(spmv_object_hold_zeros(&g->object, bytes, "graphs of GMRES", &q->graph, exec));
  q->graphs = count;
  return SPMV_SUCCESS;
}

void clear(SpmvGmres *g)
{
  SpmvGmresQueue *q = g->queue;

  if (!q) return;
  spmv_queue_close(&q->queue); /* waits for graphs */
  for (int i = 0; i < q->graphs; i++)
    if (q->graph[i]) (void)cudaGraphExecDestroy(q->graph[i]);
}

/* Launches graph i, which is captured at its first use */
template <typename Enqueue>
SpmvStatus launch_graph(SpmvGmres *g, int i, SpmvExec *exec, const Enqueue &enqueue)
{
  SpmvGmresQueue *q = g->queue;

  if (!q->graph[i]) {
    SPMV_TRY(spmv_queue_capture(&q->queue, &q->graph[i], exec, enqueue));
    g->info.graphs++;
  }
  SPMV_CUDA(exec, cudaGraphLaunch(q->graph[i], (cudaStream_t)exec->stream));
  return SPMV_SUCCESS;
}

SpmvStatus begin_cycle(SpmvGmres *g, int x_is_zero, SpmvExec *exec)
{
  SPMV_TRY(spmv_gmres_enqueue_state(g, exec));
  return spmv_gmres_enqueue_begin(g, x_is_zero, nullptr, exec);
}

SpmvStatus start(SpmvGmres *g, int x_is_zero, SpmvExec *exec)
{
  if (g->options.hessenberg) return begin_cycle(g, x_is_zero, exec);
  SpmvQueue *q = &g->queue->queue;

  SPMV_TRY(spmv_queue_follow(q, exec));
  if (g->options.mode == SPMV_GMRES_CHUNK) q->chunk = chunk_for(g);
  SPMV_TRY(begin_cycle(g, x_is_zero, exec));
  return spmv_queue_record(q, 0, exec);
}

SpmvStatus enqueue_iterations(SpmvGmres *g, int first, int count, SpmvRecord *records, SpmvExec *exec)
{
  for (int i = 0; i < count; i++) {
    SPMV_TRY(spmv_gmres_enqueue_product(g, first + i, exec));
    SPMV_TRY(spmv_gmres_enqueue_vector(g, first + i, i < count - 1 ? nullptr : records, exec));
  }
  return SPMV_SUCCESS;
}

/* Ends a cycle: x, then the beginning of the next cycle */
SpmvStatus enqueue_restart(SpmvGmres *g, SpmvExec *exec)
{
  SPMV_TRY(spmv_gmres_enqueue_solution(g, g->x, 0, exec));
  g->position = 0;
  return spmv_gmres_enqueue_begin(g, 0, g->queue->queue.records, exec);
}

/* The iterations of a chunk, which lies within a cycle. The last iteration writes the record; if the chunk ends the
   cycle, the beginning of the next cycle writes it. */
SpmvStatus enqueue_chunk(SpmvGmres *g, int count, SpmvExec *exec)
{
  SpmvQueue  *q     = &g->queue->queue;
  const int   first = g->position, left = g->options.restart - first;
  const bool  closes  = count == left;
  const bool  whole   = first % q->chunk == 0 && (count == q->chunk || closes);
  SpmvRecord *records = closes ? nullptr : q->records;
  const auto  enqueue = [&](SpmvExec *to) { return enqueue_iterations(g, first, count, records, to); };

  SPMV_TRY(g->options.mode == SPMV_GMRES_GRAPH && whole ? launch_graph(g, first / q->chunk, exec, enqueue)
                                                        : enqueue(exec));
  g->position += count;
  return closes ? enqueue_restart(g, exec) : SPMV_SUCCESS;
}

/* The length of the next chunk, at most up to the end of a graph and of the cycle */
int64_t length(const SpmvGmres *g, int64_t left)
{
  const int     chunk = g->queue->queue.chunk, of_cycle = g->options.restart - g->position;
  const int     most  = g->options.mode == SPMV_GMRES_GRAPH ? chunk - g->position % chunk : chunk;
  const int64_t count = most < of_cycle ? most : of_cycle;

  return left < count ? left : count;
}

SpmvStatus run_chunks(SpmvGmres *g, int64_t iterations, SpmvRecord *record, SpmvExec *exec)
{
  SpmvQueue *q     = &g->queue->queue;
  const bool grows = g->options.mode == SPMV_GMRES_CHUNK && g->options.chunk == 0;

  return spmv_queue_run(
      q, iterations, record, exec, [&](int64_t left) { return length(g, left); },
      [&](int64_t count) { return enqueue_chunk(g, (int)count, exec); },
      [&](int before, int64_t enqueued) {
        if (grows) spmv_queue_grow(q, before, g->last.iterations + enqueued);
      });
}

/* Iterations whose preconditioner is a function, which takes most of the time: the host reads the record of each before
   it enqueues the function again. On the left the product comes before the function, so it is enqueued while the host
   waits for the record; after convergence it is needless. */
SpmvStatus run_function(SpmvGmres *g, int64_t iterations, SpmvRecord *record, SpmvExec *exec)
{
  SpmvQueue *q          = &g->queue->queue;
  bool       multiplied = false;
  int        turn       = 0;

  for (int64_t n = 0; n < iterations; n++) {
    if (!multiplied) SPMV_TRY(spmv_gmres_enqueue_product(g, g->position, exec));
    SPMV_TRY(spmv_gmres_enqueue_vector(g, g->position++, q->records, exec));
    SPMV_TRY(spmv_queue_record(q, turn, exec));
    multiplied = !g->options.right && n + 1 < iterations && g->position < g->options.restart;
    if (multiplied) SPMV_TRY(spmv_gmres_enqueue_product(g, g->position, exec));
    SPMV_TRY(spmv_queue_wait(q, turn, record, exec));
    turn = !turn;
    if (record->reason == SPMV_ITERATING && g->position == g->options.restart) {
      SPMV_TRY(enqueue_restart(g, exec));
      SPMV_TRY(spmv_queue_record(q, turn, exec));
      SPMV_TRY(spmv_queue_wait(q, turn, record, exec));
      turn = !turn;
    }
    if (record->reason != SPMV_ITERATING) break;
  }
  return SPMV_SUCCESS;
}

SpmvStatus run(SpmvGmres *g, int64_t iterations, const SpmvTest *test, SpmvRecord *record, SpmvExec *exec)
{
  SpmvQueue *q = &g->queue->queue;

  SPMV_TRY(
      spmv_gmres_enqueue_run(g, test, g->last.iterations + iterations, iterations > 0 ? nullptr : q->records, exec));
  if (iterations == 0) {
    SPMV_TRY(spmv_queue_record(q, 0, exec));
    return spmv_queue_wait(q, 0, record, exec);
  }
  SPMV_TRY(spmv_gmres_has_function(g) ? run_function(g, iterations, record, exec)
                                      : run_chunks(g, iterations, record, exec));
  if (record->reason == SPMV_ITERATING) return SPMV_SUCCESS;
  /* adds the columns that x lacks; a no-op if the last cycle is closed already or has no columns */
  if (g->position > 0 || !spmv_gmres_has_function(g)) SPMV_TRY(spmv_gmres_enqueue_solution(g, g->x, 0, exec));
  return spmv_queue_record(q, 0, exec);
}

SpmvStatus solution(SpmvGmres *g, void *to, SpmvExec *exec)
{
  SPMV_TRY(spmv_gmres_enqueue_solution(g, to, 1, exec));
  return spmv_queue_record(&g->queue->queue, 0, exec);
}

SpmvStatus hessenberg(SpmvGmres *g, const SpmvTest *test, void *to, int64_t bytes, SpmvExec *exec)
{
  SPMV_TRY(spmv_gmres_enqueue_run(g, test, g->options.restart, nullptr, exec));
  SPMV_TRY(enqueue_iterations(g, 0, g->options.restart, g->kept, exec));
  SPMV_TRY(spmv_queue_watch(g->options.processes, exec));
  return spmv_fetch(to, g->kept, bytes, exec);
}
} // namespace

SpmvStatus spmv_gmres_enqueue_function(SpmvGmres *g, SpmvExec *exec)
{
  const auto enqueue = [&](SpmvExec *to) { return spmv_gmres_apply(g, to); };

  return g->options.mode == SPMV_GMRES_GRAPH ? launch_graph(g, 0, exec, enqueue) : enqueue(exec);
}

extern "C" const SpmvGmresSlots spmv_gmres_device_slots;
const SpmvGmresSlots            spmv_gmres_device_slots = {prepare, start, run, solution, hessenberg, clear};
