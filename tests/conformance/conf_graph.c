/* Capture of products in CUDA graphs: the only part of the test that calls the CUDA runtime itself. */
#include "conf.h"
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

struct ConfGraph {
  cudaGraph_t     graph;
  cudaGraphExec_t exec;
};

static SpmvStatus cuda_status(cudaError_t error, const char *call, char *message)
{
  if (error == cudaSuccess) return SPMV_SUCCESS;
  snprintf(message, SPMV_MESSAGE_MAX, "%s: %s", call, cudaGetErrorString(error));
  (void)cudaGetLastError();
  return SPMV_ERR_DEVICE;
}

SpmvStatus conf_graph_capture(void *stream, SpmvStatus (*enqueue)(void *), void *ctx, ConfGraph **out,
                              char message[SPMV_MESSAGE_MAX])
{
  ConfGraph *graph = calloc(1, sizeof *graph);
  SpmvStatus enqueued, status;

  *out = NULL;
  if (!graph) return SPMV_ERR_MEMORY;
  /* the global mode also refuses what another stream would have to wait for, as cudaMalloc does */
  status = cuda_status(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture", message);
  if (!status) {
    enqueued = enqueue(ctx);
    status   = cuda_status(cudaStreamEndCapture(stream, &graph->graph), "cudaStreamEndCapture", message);
    if (!status && enqueued) {
      snprintf(message, SPMV_MESSAGE_MAX, "the product failed during capture: %s", spmv_status_text(enqueued));
      status = enqueued;
    }
  }
  if (!status)
    status = cuda_status(cudaGraphInstantiate(&graph->exec, graph->graph, 0), "cudaGraphInstantiate", message);
  *out = graph;
  if (status) conf_graph_destroy(out);
  return status;
}

SpmvStatus conf_graph_launch(ConfGraph *graph, void *stream, char message[SPMV_MESSAGE_MAX])
{
  SpmvStatus status = cuda_status(cudaGraphLaunch(graph->exec, stream), "cudaGraphLaunch", message);

  return status ? status : cuda_status(cudaStreamSynchronize(stream), "cudaStreamSynchronize", message);
}

void conf_graph_destroy(ConfGraph **graph)
{
  if (!*graph) return;
  if ((*graph)->exec) (void)cudaGraphExecDestroy((*graph)->exec);
  if ((*graph)->graph) (void)cudaGraphDestroy((*graph)->graph);
  free(*graph);
  *graph = NULL;
}
