/* Tests of cycles captured in CUDA graphs: the graph contains all launches of a call, and uses new values. They pass
   without a device, and in a library built without CUDA. */
#include "cycle_test.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef SPMV_HAVE_CUDA
  #include <cuda_runtime_api.h>

/* A graph of one call; NULL after a failure */
static cudaGraphExec_t captured(CycleEngine *e)
{
  cudaGraphExec_t graph_exec = NULL;
  cudaGraph_t     graph      = NULL;

  UNIT_EQUAL(cudaSuccess, cudaStreamBeginCapture(e->plain.stream, cudaStreamCaptureModeGlobal));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_cycle_apply(e->cycle, e->b, e->x, &e->exec));
  UNIT_EQUAL(cudaSuccess, cudaStreamEndCapture(e->plain.stream, &graph));
  if (graph) {
    UNIT_EQUAL(cudaSuccess, cudaGraphInstantiate(&graph_exec, graph, 0));
    UNIT_EQUAL(cudaSuccess, cudaGraphDestroy(graph));
  }
  return graph_exec;
}

/* The vectors of the cycle still hold the numbers of an earlier b: if the graph lacked a launch, the result would
   differ */
static void check_replay(CycleEngine *e, cudaGraphExec_t graph, const double *b)
{
  const int n = cycle_rows(e->c);
  double   *x = calloc(2 * (size_t)n + 1, sizeof *x), *plain = x + n;

  cycle_engine_put(e, e->b, b, n);
  cycle_engine_spoil(e);
  UNIT_EQUAL(cudaSuccess, cudaGraphLaunch(graph, e->plain.stream));
  cycle_engine_get(e, e->x, x, n);
  UNIT_EQUAL(SPMV_SUCCESS, cycle_engine_apply(e, b, plain));
  UNIT_CHECK(!memcmp(plain, x, (size_t)n * sizeof *x));
  for (int i = 0; i < n; i++) UNIT_CHECK(isfinite(x[i]));
  free(x);
}

static void check_graph(const CycleSetup *u)
{
  CycleCase   c = cycle_case(u);
  CycleEngine e;

  cycle_engine_open(&e, &c);
  cudaGraphExec_t graph = captured(&e);
  for (int times = 0; times < 3 && graph; times++) {
    for (int i = 0; i < cycle_rows(&c); i++) c.b[i] = cos(0.3 * i + times);
    check_replay(&e, graph, c.b);
    if (times == 0) continue;
    cycle_case_change(&c); /* the same graph must use the new values and steps */
    UNIT_EQUAL(SPMV_SUCCESS, cycle_engine_renew(&e));
  }
  if (graph) UNIT_EQUAL(cudaSuccess, cudaGraphExecDestroy(graph));
  cycle_engine_close(&e);
  cycle_case_free(&c);
}

#else
/* Never called: a library without CUDA finds no device */
static void check_graph(const CycleSetup *u) { (void)u; }
#endif

UNIT_TEST(cycle_in_a_graph_gives_the_bits_of_plain_launches)
{
  const int64_t dense[] = {0, 10, -1};

  for (int i = 0; i < spmv_format_count() && spmv_device_count(NULL); i++)
    for (int k = 0; k < 3; k++)
      for (int own = 0; own <= 1; own++) {
        CycleSetup u      = cycle_setup();
        u.format          = spmv_format_get(i)->name;
        u.dofs            = 2;
        u.block[own]      = 2;
        u.visits          = 1 + own;
        u.cycles          = 1 + (i + k) % 2;
        u.own_restriction = own;
        u.dense_rows      = dense[k];
        u.own_stream      = 1;          /* the default stream cannot be captured */
        u.outer           = k == i % 3; /* a sample */
        if (u.outer) u.scalar = SPMV_F32;
        check_graph(&u);
      }
}
