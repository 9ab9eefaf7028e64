/*
  gmres_device.cu - a solve as chunks of the iterations of a cycle, and graphs of them, by engine/queue.cuh. At the end of a
  cycle x and its residual are renewed by plain launches, as they have addresses of the caller.
*/
#include "engine/queue.cuh"
#include "gmres_device.cuh"

/* What the host needs to follow a solve. Addresses within the basis are part of a graph, so that each place of a cycle has
   one of its own; a function of the preconditioner always reads t and writes u, and is all that its one graph has. */
struct SpmvGmresQueue {
  SpmvQueue        queue;
  cudaGraphExec_t *graph; /* [graphs] */
  int              graphs;
};

namespace
{
enum { LEAST_OF_GRAPH = 2 /* iterations: graphs of large matrices would be many */ };

/* An iteration is taken for 10 us and the time of its words and 20 more for the product, at 4 TB/s */
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
  void      *memory = nullptr;

  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, sizeof(SpmvGmresQueue), "queue of GMRES", &memory));
  memset(memory, 0, sizeof(SpmvGmresQueue));
  SpmvGmresQueue *q    = (SpmvGmresQueue *)memory;
  g->queue             = q;
  q->queue.chunk       = chunk_for(g);
  g->info.pinned_bytes = SPMV_RECORDS_BYTES;
  SPMV_TRY(spmv_queue_open(&q->queue, "GMRES", g->options.processes, graphs, exec));
  if (!graphs) return SPMV_SUCCESS;
  const int     count = spmv_gmres_has_function(g) ? 1 : (int)spmv_blocks(g->options.restart, q->queue.chunk);
  const int64_t bytes = count * (int64_t)sizeof(cudaGraphExec_t);
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, bytes, "graphs of GMRES", &memory));
  memset(memory, 0, (size_t)bytes);
  q->graph  = (cudaGraphExec_t *)memory;
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
  spmv_free(&g->host, &g->device, SPMV_HOST, q->graph);
  spmv_free(&g->host, &g->device, SPMV_HOST, q);
}

/* Launches a graph, which is made at its first use */
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

SpmvStatus start(SpmvGmres *g, int x_is_zero, SpmvExec *exec)
{
  SpmvQueue *q = &g->queue->queue;

  SPMV_TRY(spmv_queue_follow(q, exec));
  if (g->options.mode == SPMV_GMRES_CHUNK) q->chunk = chunk_for(g);
  SPMV_TRY(spmv_gmres_enqueue_state(g, exec));
  SPMV_TRY(spmv_gmres_enqueue_begin(g, x_is_zero, nullptr, exec));
  return spmv_queue_record(q, 0, exec);
}

SpmvStatus set_test(SpmvGmres *g, const SpmvTest *test, SpmvExec *exec)
{
  SPMV_TRY(spmv_gmres_enqueue_test(g, test, exec));
  return spmv_queue_record(&g->queue->queue, 0, exec);
}

SpmvStatus first_norm(SpmvGmres *g, double *norm, SpmvExec *exec)
{
  SPMV_TRY(spmv_copy(norm, SPMV_HOST, &g->state->first, SPMV_DEVICE, sizeof *norm, exec));
  return spmv_queue_drain(&g->queue->queue, exec);
}

SpmvStatus enqueue_iterations(SpmvGmres *g, int first, int count, SpmvRecord *records, SpmvExec *exec)
{
  for (int i = 0; i < count; i++) {
    SPMV_TRY(spmv_gmres_enqueue_product(g, first + i, exec));
    SPMV_TRY(spmv_gmres_enqueue_vector(g, first + i, i < count - 1 ? nullptr : records, exec));
  }
  return SPMV_SUCCESS;
}

/* x of the cycle, and the next one */
SpmvStatus enqueue_restart(SpmvGmres *g, SpmvExec *exec)
{
  SPMV_TRY(spmv_gmres_enqueue_solution(g, g->x, 0, exec));
  g->position = 0;
  return spmv_gmres_enqueue_begin(g, 0, g->queue->queue.records, exec);
}

/* The iterations of a chunk, which lies within a cycle. If it is the end of that, the next cycle begins, and tells the host
   how far the solve is. */
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

/* Iterations up to the end of a graph, or of the cycle */
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

/* Iterations whose preconditioner is a function, which takes most of their time: the host looks at each of them before it
   enqueues the function again. Where a product comes before that, the device has it while the host looks; behind the last
   iteration it is needless. */
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

SpmvStatus run(SpmvGmres *g, int64_t iterations, SpmvRecord *record, SpmvExec *exec)
{
  SPMV_TRY(spmv_gmres_enqueue_stop(g, g->last.iterations + iterations, exec));
  SPMV_TRY(spmv_gmres_has_function(g) ? run_function(g, iterations, record, exec)
                                      : run_chunks(g, iterations, record, exec));
  if (record->reason == SPMV_ITERATING) return SPMV_SUCCESS;
  /* the cycle that it ended in may be closed already, or have given nothing: then this changes nothing */
  if (g->position > 0 || !spmv_gmres_has_function(g)) SPMV_TRY(spmv_gmres_enqueue_solution(g, g->x, 0, exec));
  return spmv_queue_record(&g->queue->queue, 0, exec);
}

SpmvStatus solution(SpmvGmres *g, void *to, SpmvExec *exec)
{
  SPMV_TRY(spmv_gmres_enqueue_solution(g, to, 1, exec));
  return spmv_queue_record(&g->queue->queue, 0, exec);
}
} // namespace

SpmvStatus spmv_gmres_enqueue_function(SpmvGmres *g, SpmvExec *exec)
{
  const auto enqueue = [&](SpmvExec *to) { return spmv_gmres_apply(g, to); };

  return g->options.mode == SPMV_GMRES_GRAPH ? launch_graph(g, 0, exec, enqueue) : enqueue(exec);
}

extern "C" const SpmvGmresSteps spmv_gmres_device_steps;
const SpmvGmresSteps            spmv_gmres_device_steps = {prepare, start, set_test, first_norm, run, solution, clear};
