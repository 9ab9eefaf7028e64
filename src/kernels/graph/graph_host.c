/* graph_host.c - the steps of a graph on the host, as simple loops: the reference for the device. */
#include "core/csr.h"
#include "graph.h"
#include <math.h>

#define SPMV_BODY "graph/graph_host.inc"
#include "core/instantiate.h"

static SpmvStatus full_blocks(const SpmvPattern *p, int64_t block_size, SpmvExec *exec, int *full, int *seems_full)
{
  (void)exec;
  SPMV_SELECT(full_blocks, p->index_type, SPMV_F64)(p, block_size, full, seems_full);
  return SPMV_SUCCESS;
}

static SpmvStatus collapse(const SpmvCsr *a, const SpmvGraphOptions *o, SpmvGraphArrays *g, SpmvExec *exec)
{
  return SPMV_SELECT(collapse, g->index_type, g->scalar_type)(a, o, g, exec);
}

static SpmvStatus add_transpose(const SpmvGraphArrays *from, SpmvGraphArrays *to, SpmvExec *exec)
{
  return SPMV_SELECT(add_transpose, from->index_type, from->scalar_type)(from, to, exec);
}

static SpmvStatus scale(SpmvGraphArrays *g, SpmvExec *exec)
{
  void *factors;

  SPMV_TRY(
      spmv_alloc(exec, SPMV_HOST, (g->rows + 1) * spmv_scalar_bytes(g->scalar_type), "factors of a graph", &factors));
  SPMV_SELECT(scale, g->index_type, g->scalar_type)(g, factors);
  spmv_exec_free(exec, SPMV_HOST, factors);
  return SPMV_SUCCESS;
}

static SpmvStatus filter(const SpmvGraphArrays *from, const SpmvGraphOptions *o, SpmvGraphArrays *to, SpmvExec *exec)
{
  return SPMV_SELECT(filter, from->index_type, from->scalar_type)(from, o, to, exec);
}

const SpmvGraphSlots spmv_graph_host_slots = {full_blocks, collapse, add_transpose, scale, filter};
