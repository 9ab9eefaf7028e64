/* graph.c - the graph of a matrix: argument checks, memory, and the sequence of steps. */
#include "graph.h"
#include <string.h>

SpmvStatus spmv_graph_hold_rows(SpmvGraphArrays *g, SpmvExec *exec)
{
  SPMV_TRY(spmv_alloc(exec, exec->space, spmv_padded_bytes(g->rows + 1, spmv_index_bytes(g->index_type)),
                      "row_ptr of a graph", &g->block[0]));
  g->row_ptr = g->block[0];
  return SPMV_SUCCESS;
}

SpmvStatus spmv_graph_hold_edges(SpmvGraphArrays *g, int64_t nnz, SpmvExec *exec)
{
  const int64_t col_bytes = spmv_padded_bytes(nnz, spmv_index_bytes(g->index_type));

  if (nnz >= INT32_MAX)
    return spmv_fail(exec, SPMV_ERR_OVERFLOW, "a graph: the number of edges is %lld, and must be below %d",
                     (long long)nnz, INT32_MAX);
  SPMV_TRY(spmv_alloc(exec, exec->space, col_bytes + spmv_padded_bytes(nnz, spmv_scalar_bytes(g->scalar_type)),
                      "edges of a graph", &g->block[1]));
  g->nnz    = nnz;
  g->col    = g->block[1];
  g->values = (char *)g->block[1] + col_bytes;
  return SPMV_SUCCESS;
}

static void release(SpmvGraphArrays *g, const SpmvAllocator *host, const SpmvAllocator *device, SpmvSpace space)
{
  for (int b = 0; b < 2; b++) {
    spmv_free(host, device, space, g->block[b]);
    g->block[b] = NULL;
  }
}

static const SpmvGraphSteps *steps_of(const SpmvExec *exec)
{
  return exec->space == SPMV_DEVICE ? SPMV_DEVICE_SLOTS(spmv_graph_device_steps) : &spmv_graph_host_steps;
}

static SpmvStatus check_fits(int64_t n, const char *what, SpmvExec *exec)
{
  if (n >= 0 && n < INT32_MAX) return SPMV_SUCCESS;
  return spmv_fail(exec, n < 0 ? SPMV_ERR_ARGUMENT : SPMV_ERR_OVERFLOW,
                   "a graph: the number of %s of its matrix is %lld, and must be below %d", what, (long long)n,
                   INT32_MAX);
}

static SpmvStatus check_pattern(const SpmvPattern *p, int64_t block_size, SpmvExec *exec)
{
  char reason[SPMV_MESSAGE_MAX];

  SPMV_TRY(check_fits(p->rows, "rows", exec));
  SPMV_TRY(check_fits(p->cols, "columns", exec));
  SPMV_TRY(check_fits(p->nnz, "nonzeros", exec));
  if (!p->row_ptr || (p->nnz > 0 && !p->col))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a graph: an array of its matrix is missing");
  if (p->space != exec->space) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a graph: its matrix lies in another space");
  if (block_size < 1 || block_size >= INT32_MAX || p->rows % block_size)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a graph: the block size is %lld, and its matrix has %lld rows",
                     (long long)block_size, (long long)p->rows);
  if (exec->space == SPMV_DEVICE && spmv_device_count(reason) == 0)
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "a graph on the device: %s", reason);
  return SPMV_SUCCESS;
}

static SpmvStatus check_arguments(const SpmvCsr *a, const SpmvGraphOptions *o, SpmvExec *exec)
{
  const SpmvPattern *p = &a->pattern;

  SPMV_TRY(check_pattern(p, o->block_size, exec));
  if (a->values_space != exec->space || (p->nnz > 0 && !a->values))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a graph: the values of its matrix are missing, or lie in another space");
  if (!o->group && p->rows != p->cols)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a graph: its matrix is %lld x %lld", (long long)p->rows,
                     (long long)p->cols);
  if (o->group && (o->add_transpose || o->scale || o->filter || check_fits(o->group_count, "columns", exec)))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "a graph with groups of columns cannot be transposed, scaled or "
                     "filtered, and must have fewer than 2^31 columns");
  if (o->index_count < 0 || o->index_count > SPMV_GRAPH_INDEX_MAX)
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "a graph: %d rows of a block are listed, but at most %d are supported",
                     o->index_count, SPMV_GRAPH_INDEX_MAX);
  for (int i = 0; i < o->index_count && o->block_size > 1; i++)
    if (o->index[i] < 0 || o->index[i] >= o->block_size)
      return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a graph: row %d of a block is listed, but blocks have %lld rows",
                       (int)o->index[i], (long long)o->block_size);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_graph_full_blocks(const SpmvPattern *p, int64_t block_size, SpmvExec *exec, int *full, int *seems_full)
{
  *full = *seems_full = 0;
  exec->message[0]    = '\0';
  SPMV_TRY(check_pattern(p, block_size, exec));
  return steps_of(exec)->full_blocks(p, block_size, exec, full, seems_full);
}

/* Replaces the arrays of g by those of `next`; after a failure frees `next` and keeps those of g */
static SpmvStatus take(SpmvGraph *g, SpmvGraphArrays *next, SpmvStatus status)
{
  release(status ? next : &g->arrays, &g->host, &g->device, g->space);
  if (!status) g->arrays = *next;
  return status;
}

static SpmvStatus fill(SpmvGraph *g, const SpmvCsr *a, const SpmvGraphOptions *options, SpmvExec *exec)
{
  const SpmvGraphSteps *steps = steps_of(exec);
  SpmvGraphOptions      o     = *options;
  SpmvGraphArrays       next  = {.rows        = a->pattern.rows / o.block_size,
                                 .cols        = o.group ? o.group_count : a->pattern.rows / o.block_size,
                                 .index_type  = a->pattern.index_type,
                                 .scalar_type = a->scalar_type};
  const SpmvGraphArrays empty = next;
  int                   full, seems_full;

  if (o.block_size == 1) { /* entry k is edge k */
    o.blocks      = SPMV_GRAPH_FULL_BLOCKS;
    o.index_count = 0;
  }
  if (o.blocks == SPMV_GRAPH_FIND_BLOCKS) {
    SPMV_TRY(steps->full_blocks(&a->pattern, o.block_size, exec, &full, &seems_full));
    o.blocks = full ? SPMV_GRAPH_FULL_BLOCKS : SPMV_GRAPH_ANY_BLOCKS;
  }
  SPMV_TRY(take(g, &next, steps->collapse(a, &o, &next, exec)));
  next = empty;
  if (o.add_transpose) SPMV_TRY(take(g, &next, steps->add_transpose(&g->arrays, &next, exec)));
  if (o.scale) SPMV_TRY(steps->scale(&g->arrays, exec));
  next = empty;
  if (o.filter != SPMV_GRAPH_KEEP_ALL) SPMV_TRY(take(g, &next, steps->filter(&g->arrays, &o, &next, exec)));
  return SPMV_SUCCESS;
}

SpmvStatus spmv_graph_create(const SpmvCsr *a, const SpmvGraphOptions *o, SpmvExec *exec, SpmvGraph **graph)
{
  void *block;

  *graph           = NULL;
  exec->message[0] = '\0';
  SPMV_TRY(check_arguments(a, o, exec));
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, sizeof **graph, "graph", &block));
  SpmvGraph *g = block;
  memset(g, 0, sizeof *g);
  g->space                = exec->space;
  g->host                 = exec->host;
  g->device               = exec->device;
  const SpmvStatus status = fill(g, a, o, exec);
  if (status) spmv_graph_destroy(&g);
  *graph = g;
  return status;
}

void spmv_graph_csr(const SpmvGraph *g, SpmvCsr *csr)
{
  const SpmvGraphArrays *a = &g->arrays;

  *csr = (SpmvCsr){.pattern      = {.rows       = a->rows,
                                    .cols       = a->cols,
                                    .nnz        = a->nnz,
                                    .index_type = a->index_type,
                                    .space      = g->space,
                                    .row_ptr    = a->row_ptr,
                                    .col        = a->col},
                   .scalar_type  = a->scalar_type,
                   .values       = a->values,
                   .values_space = g->space};
}

void spmv_graph_destroy(SpmvGraph **graph)
{
  if (!graph || !*graph) return;
  SpmvGraph          *g    = *graph;
  const SpmvAllocator host = g->host, device = g->device;

  release(&g->arrays, &host, &device, g->space);
  spmv_free(&host, &device, SPMV_HOST, g);
  *graph = NULL;
}
