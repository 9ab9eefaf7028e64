/* The graph calls of a build without CUDA. They are never reached: such a build finds no device. */
#include "conf.h"
#include <stdio.h>

static SpmvStatus no_graphs(char *message)
{
  snprintf(message, SPMV_MESSAGE_MAX, "this test was built without CUDA");
  return SPMV_ERR_UNSUPPORTED;
}

SpmvStatus conf_graph_capture(void *stream, SpmvStatus (*enqueue)(void *), void *ctx, ConfGraph **graph,
                              char message[SPMV_MESSAGE_MAX])
{
  (void)stream;
  (void)enqueue;
  (void)ctx;
  *graph = NULL;
  return no_graphs(message);
}

SpmvStatus conf_graph_launch(ConfGraph *graph, void *stream, char message[SPMV_MESSAGE_MAX])
{
  (void)graph;
  (void)stream;
  return no_graphs(message);
}

void conf_graph_destroy(ConfGraph **graph) { *graph = NULL; }
