/* cluster_graph.c - the graph of nodes of a pattern, and the size of its blocks. */
#include "cluster_layout.h"
#include <stdatomic.h>
#include <string.h>

enum { RANGES = 64 /* of nodes, for threads */ };

/* What the threads share */
typedef struct {
  const SpmvPattern *pattern;
  ClusterGraph      *graph;
  int                block;
  _Atomic int        differs; /* some rows are no blocks */
  int64_t            longest[RANGES];
} Reading;

#define SPMV_BODY "cluster/cluster_graph.inc"
#define SPMV_INDEX_ONLY
#include "core/instantiate.h"

static void check_range(void *reading, int range, int ranges)
{
  Reading           *w     = reading;
  const SpmvPattern *p     = w->pattern;
  const int64_t      nodes = p->rows / w->block, begin = nodes * range / ranges, end = nodes * (range + 1) / ranges;

  if (w->differs) return;
  if (!(p->index_type == SPMV_I64 ? has_blocks_i64(p, w->block, begin, end) : has_blocks_i32(p, w->block, begin, end)))
    w->differs = 1;
}

static void fill_range(void *reading, int range, int ranges)
{
  Reading      *w     = reading;
  const int64_t nodes = w->graph->nodes, begin = nodes * range / ranges, end = nodes * (range + 1) / ranges;

  if (w->pattern->index_type == SPMV_I64) w->longest[range] = fill_graph_i64(w->pattern, w->graph, begin, end);
  else w->longest[range] = fill_graph_i32(w->pattern, w->graph, begin, end);
}

enum { COUNT = 3 };
static const int BLOCKS[COUNT] = {6, 3, 2};

/* The largest block that the whole matrix consists of. A wrong size shows in the first rows, as a rule. */
static int find_block(Reading *w, SpmvThreads *threads)
{
  const SpmvPattern *p = w->pattern;

  for (int i = 0; i < COUNT && p->nnz > 0; i++) {
    w->block = BLOCKS[i];
    if (p->rows % w->block || p->cols % w->block) continue;
    w->differs = 0;
    check_range(w, 0, RANGES);
    if (!w->differs) cluster_share(threads, check_range, w, RANGES);
    if (!w->differs) return w->block;
  }
  return 1;
}

int cluster_likely_block(const SpmvPattern *p)
{
  Reading w = {.pattern = p};

  if (p->nnz > 0 && (p->space != SPMV_HOST || !p->row_ptr)) return BLOCKS[0];
  for (int i = 0; i < COUNT && p->nnz > 0; i++) {
    w.block = BLOCKS[i];
    if (p->rows % w.block || p->cols % w.block) continue;
    w.differs = 0;
    check_range(&w, 0, RANGES);
    if (!w.differs) return w.block;
  }
  return 1;
}

SpmvStatus cluster_make_graph(const SpmvPattern *p, ClusterGraph *g, SpmvThreads *threads, SpmvExec *exec)
{
  Reading w = {.pattern = p, .graph = g};

  if (p->rows >= INT32_MAX || p->cols >= INT32_MAX)
    return spmv_fail(exec, SPMV_ERR_OVERFLOW, "cluster has less than %d rows and columns, not %lld x %lld", INT32_MAX,
                     (long long)p->rows, (long long)p->cols);
  g->block     = find_block(&w, threads);
  g->square    = p->rows == p->cols;
  g->nodes     = p->rows / g->block;
  g->col_nodes = p->cols / g->block;
  g->longest   = 0;
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, (g->nodes + 1) * (int64_t)sizeof *g->begin, "nodes", (void **)&g->begin));
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, p->nnz / g->block / g->block * (int64_t)sizeof *g->adjacent, "entries",
                      (void **)&g->adjacent));
  g->begin[g->nodes] = p->nnz / g->block / g->block;
  cluster_share(threads, fill_range, &w, RANGES);
  for (int range = 0; range < RANGES; range++)
    if (w.longest[range] > g->longest) g->longest = w.longest[range];
  return SPMV_SUCCESS;
}
