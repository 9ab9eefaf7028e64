/* graph_device.cuh - declarations that the device files of a graph share. */
#pragma once

#include "device/arena.cuh"
#include "device/search.cuh"
#include "device/staging.h"
#include "graph.h"
#include <cub/device/device_scan.cuh>

enum { SPMV_GRAPH_THREADS = 256, SPMV_GRAPH_LANES = 8 };

/* Turns the lengths of the rows in row_ptr into row pointers by a scan; then allocates the edges */
template <typename I>
static inline SpmvStatus spmv_graph_sum_rows(SpmvGraphArrays *g, SpmvExec *exec)
{
  SpmvScopedArena temporary(exec);
  I              *row_ptr = (I *)g->row_ptr, nnz;

  SPMV_CUDA(exec, cudaMemsetAsync(row_ptr + g->rows, 0, sizeof *row_ptr, (cudaStream_t)exec->stream));
  SPMV_CUB(exec, &temporary.arena,
           cub::DeviceScan::ExclusiveSum(scratch, bytes, row_ptr, row_ptr, g->rows + 1, (cudaStream_t)exec->stream));
  SPMV_TRY(spmv_fetch(&nnz, row_ptr + g->rows, sizeof nnz, exec));
  return spmv_graph_hold_edges(g, nnz, exec);
}

/* graph_device_edges.cu */
SpmvStatus spmv_graph_add_transpose(const SpmvGraphArrays *from, SpmvGraphArrays *to, SpmvExec *);
SpmvStatus spmv_graph_scale(SpmvGraphArrays *, SpmvExec *);
SpmvStatus spmv_graph_filter(const SpmvGraphArrays *from, const SpmvGraphOptions *, SpmvGraphArrays *to, SpmvExec *);
