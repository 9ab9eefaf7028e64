/* graph_device.cuh - declarations that the device files of a graph share. */
#pragma once

#include "device/csr.cuh"
#include "device/staging.h"
#include "graph.h"

enum { SPMV_GRAPH_THREADS = 256, SPMV_GRAPH_LANES = 8 };

/* graph_rows.inc for the device */
template <typename SPMV_INDEX, typename SPMV_SCALAR>
struct SpmvGraphRows {
#define SPMV_NAME(f) f
#define SPMV_ROW     static __device__ inline
#define SPMV_ORDER   int32_t
#include "graph_rows.inc"
#undef SPMV_NAME
#undef SPMV_ROW
#undef SPMV_ORDER
};

/* Turns the lengths of the rows in row_ptr into row pointers by a scan; then allocates the edges */
template <typename I>
static inline SpmvStatus spmv_graph_sum_rows(SpmvGraphArrays *g, SpmvExec *exec)
{
  SpmvScopedArena temporary(exec);
  I              *row_ptr = (I *)g->row_ptr, nnz;

  SPMV_CUDA(exec, cudaMemsetAsync(row_ptr + g->rows, 0, sizeof *row_ptr, (cudaStream_t)exec->stream));
  SPMV_TRY(spmv_sum_before(row_ptr, row_ptr, g->rows + 1, &temporary.arena, exec));
  SPMV_TRY(spmv_fetch(&nnz, row_ptr + g->rows, sizeof nnz, exec));
  return spmv_graph_hold_edges(g, nnz, exec);
}

/* graph_device_edges.cu */
SpmvStatus spmv_graph_add_transpose(const SpmvGraphArrays *from, SpmvGraphArrays *to, SpmvExec *);
SpmvStatus spmv_graph_scale(SpmvGraphArrays *, SpmvExec *);
SpmvStatus spmv_graph_filter(const SpmvGraphArrays *from, const SpmvGraphOptions *, SpmvGraphArrays *to, SpmvExec *);
