/* graph.c - the graph of a matrix: argument checks, memory, and the sequence of steps. */
#include "graph.h"

SpmvStatus spmv_graph_hold_rows(SpmvGraphArrays *g, SpmvExec *exec)
{
  const int64_t bytes   = (g->rows + 1) * spmv_index_bytes(g->index_type);
  void **const  array[] = {&g->row_ptr};

  return spmv_object_hold(g->of, exec->space, 1, &bytes, "row_ptr of a graph", array, exec);
}

SpmvStatus spmv_graph_hold_edges(SpmvGraphArrays *g, int64_t nnz, SpmvExec *exec)
{
  /* never 0 bytes, so never NULL */
  const int64_t bytes[] = {nnz * spmv_index_bytes(g->index_type) + 1, nnz * spmv_scalar_bytes(g->scalar_type) + 1};
  void **const  array[] = {&g->col, &g->values};

  if (nnz >= INT32_MAX)
    return spmv_fail(exec, SPMV_ERR_OVERFLOW, "a graph: the number of edges is %lld, and must be below %d",
                     (long long)nnz, INT32_MAX);
  g->nnz = nnz;
  return spmv_object_hold(g->of, exec->space, 2, bytes, "edges of a graph", array, exec);
}

static const SpmvGraphSlots *slots_of(const SpmvExec *exec)
{
  return exec->space == SPMV_DEVICE ? SPMV_DEVICE_SLOTS(spmv_graph_device_slots) : &spmv_graph_host_slots;
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
  SPMV_TRY(check_fits(p->rows, "rows", exec));
  SPMV_TRY(check_fits(p->cols, "columns", exec));
  SPMV_TRY(check_fits(p->nnz, "nonzeros", exec));
  if (!p->row_ptr || (p->nnz > 0 && !p->col))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a graph: an array of its matrix is missing");
  if (p->space != exec->space) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a graph: its matrix lies in another space");
  if (block_size < 1 || block_size >= INT32_MAX || p->rows % block_size)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a graph: the block size is %lld, and its matrix has %lld rows",
                     (long long)block_size, (long long)p->rows);
  return spmv_check_space("a graph", exec);
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
  return slots_of(exec)->full_blocks(p, block_size, exec, full, seems_full);
}

/* Replaces the arrays of g by those of `next` */
static void take(SpmvGraph *g, const SpmvGraphArrays *next, SpmvExec *exec)
{
  spmv_object_drop(&g->object, g->arrays.row_ptr, exec);
  spmv_object_drop(&g->object, g->arrays.col, exec);
  g->arrays = *next;
}

static SpmvStatus fill(SpmvGraph *g, const SpmvCsr *a, const SpmvGraphOptions *options, SpmvExec *exec)
{
  const SpmvGraphSlots *slots = slots_of(exec);
  SpmvGraphOptions      o     = *options;
  SpmvGraphArrays       next  = {.of          = &g->object,
                                 .rows        = a->pattern.rows / o.block_size,
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
    SPMV_TRY(slots->full_blocks(&a->pattern, o.block_size, exec, &full, &seems_full));
    o.blocks = full ? SPMV_GRAPH_FULL_BLOCKS : SPMV_GRAPH_ANY_BLOCKS;
  }
  SPMV_TRY(slots->collapse(a, &o, &next, exec));
  take(g, &next, exec);
  if (o.add_transpose) {
    next = empty;
    SPMV_TRY(slots->add_transpose(&g->arrays, &next, exec));
    take(g, &next, exec);
  }
  if (o.scale) SPMV_TRY(slots->scale(&g->arrays, exec));
  if (o.filter == SPMV_GRAPH_KEEP_ALL) return SPMV_SUCCESS;
  next = empty;
  SPMV_TRY(slots->filter(&g->arrays, &o, &next, exec));
  take(g, &next, exec);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_graph_create(const SpmvCsr *a, const SpmvGraphOptions *o, SpmvExec *exec, SpmvGraph **graph)
{
  SPMV_TRY(spmv_object_create(check_arguments(a, o, exec), sizeof **graph, "graph", exec, graph));
  SPMV_OBJECT_MADE(fill(*graph, a, o, exec), spmv_graph_destroy, graph);
}

void spmv_graph_csr(const SpmvGraph *g, SpmvCsr *csr)
{
  const SpmvGraphArrays *a = &g->arrays;

  *csr = (SpmvCsr){.pattern      = {.rows       = a->rows,
                                    .cols       = a->cols,
                                    .nnz        = a->nnz,
                                    .index_type = a->index_type,
                                    .space      = g->object.space,
                                    .row_ptr    = a->row_ptr,
                                    .col        = a->col},
                   .scalar_type  = a->scalar_type,
                   .values       = a->values,
                   .values_space = g->object.space};
}

void spmv_graph_destroy(SpmvGraph **graph) { spmv_object_destroy(graph); }
void spmv_graph_destroy_on(SpmvGraph **graph, SpmvExec *exec) { spmv_object_destroy_on(graph, exec); }
