/* cluster_graph.c - the graph of nodes of a pattern, and the size of its blocks. */
#include "cluster_layout.h"
#include <string.h>

#define SPMV_BODY "cluster/cluster_graph.inc"
#define SPMV_INDEX_ONLY
#include "core/instantiate.h"

/* The largest block that the whole matrix consists of. A wrong size shows in the first rows, as a rule. */
static int find_block(const SpmvPattern *p)
{
  static const int sizes[] = {6, 3, 2};

  if (p->nnz == 0) return 1;
  for (int i = 0; i < 3; i++)
    if (p->index_type == SPMV_I64 ? has_blocks_i64(p, sizes[i]) : has_blocks_i32(p, sizes[i])) return sizes[i];
  return 1;
}

SpmvStatus cluster_make_graph(const SpmvPattern *p, ClusterGraph *g, SpmvExec *exec)
{
  g->block     = find_block(p);
  g->square    = p->rows == p->cols;
  g->nodes     = p->rows / g->block;
  g->col_nodes = p->cols / g->block;
  if (p->rows >= INT32_MAX || p->cols >= INT32_MAX)
    return spmv_fail(exec, SPMV_ERR_OVERFLOW, "cluster has less than %d rows and columns, not %lld x %lld", INT32_MAX,
                     (long long)p->rows, (long long)p->cols);
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, (g->nodes + 1) * (int64_t)sizeof *g->begin, "nodes", (void **)&g->begin));
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, p->nnz / g->block / g->block * (int64_t)sizeof *g->adjacent, "entries",
                      (void **)&g->adjacent));
  if (p->index_type == SPMV_I64) fill_graph_i64(p, g);
  else fill_graph_i32(p, g);
  return SPMV_SUCCESS;
}
