/* aggregate_host.c - aggregates on the host: vertices become roots one after the other, by descending rank. */
#include "aggregate.h"
#include <string.h>

enum { DIGIT = SPMV_RANK_BITS / 3, DIGITS = 1 << DIGIT, FREE = -1, ALONE = -2 };

typedef struct {
  int64_t        n;
  const int32_t *row_ptr, *col;
  uint32_t      *rank;          /* [n] */
  int32_t       *order, *spare; /* [n]; vertices by rank */
  int32_t       *owner;         /* [n]; the root of each vertex; FREE: none yet; ALONE: it has no edges */
} Greedy;

/* A stable sort by one digit of the ranks */
static void sort_by_digit(const Greedy *g, int shift, const int32_t *from, int32_t *to)
{
  static const int64_t mask = DIGITS - 1;
  int32_t              first[DIGITS + 1];

  memset(first, 0, sizeof first);
  for (int64_t i = 0; i < g->n; i++) first[(g->rank[i] >> shift & mask) + 1]++;
  for (int d = 0; d < DIGITS; d++) first[d + 1] += first[d];
  for (int64_t i = 0; i < g->n; i++) {
    const int32_t v                         = from ? from[i] : (int32_t)i;
    to[first[g->rank[v] >> shift & mask]++] = v;
  }
}

static SpmvStatus narrow(int64_t n, const int64_t *from, int32_t *to, SpmvExec *exec)
{
  (void)exec;
  for (int64_t i = 0; i < n; i++) to[i] = (int32_t)from[i];
  return SPMV_SUCCESS;
}

static void begin(Greedy *g, const SpmvAggregateOptions *o)
{
  const int32_t *beyond = o->beyond;

  for (int64_t v = 0; v < g->n; v++) {
    int64_t degree = g->row_ptr[v + 1] - g->row_ptr[v];
    if (beyond) degree += beyond[v + 1] - beyond[v];
    g->rank[v]  = spmv_vertex_rank(v, o->order, degree);
    g->owner[v] = spmv_vertex_has_edge(g->row_ptr, g->col, beyond, v) ? FREE : ALONE;
  }
  sort_by_digit(g, 0, NULL, g->order);
  sort_by_digit(g, DIGIT, g->order, g->spare);
  sort_by_digit(g, 2 * DIGIT, g->spare, g->order);
}

/* Gives all free neighbours of v to root */
static void take_neighbours(Greedy *g, int32_t v, int32_t root)
{
  for (int32_t k = g->row_ptr[v]; k < g->row_ptr[v + 1]; k++)
    if (g->owner[g->col[k]] == FREE) g->owner[g->col[k]] = root;
}

/* Gives the neighbours of a root to it, even those that an earlier root had taken at two edges: no vertex is beside two
   roots. So each vertex of an aggregate is connected with its root within the aggregate. */
static void take_two_edges(Greedy *g, int32_t root)
{
  for (int32_t k = g->row_ptr[root]; k < g->row_ptr[root + 1]; k++) {
    const int32_t v = g->col[k];
    if (g->owner[v] != ALONE && g->owner[v] != v) g->owner[v] = root; /* if symmetric, false for root only */
    take_neighbours(g, v, root);
  }
}

/* Numbers the aggregates by ascending vertex numbers of their roots */
static void number(Greedy *g, int32_t *aggregate, int32_t *root, SpmvAggregates *found)
{
  int32_t *number_of = g->order; /* its memory is free */

  for (int64_t v = 0; v < g->n; v++)
    if (g->owner[v] == v) {
      if (root) root[found->count] = (int32_t)v;
      number_of[v] = (int32_t)found->count++;
    }
  for (int64_t v = 0; v < g->n; v++) {
    aggregate[v] = g->owner[v] < 0 ? -1 : number_of[g->owner[v]];
    found->members += aggregate[v] >= 0;
  }
}

static SpmvStatus aggregate_host(const SpmvPattern *graph, const SpmvAggregateOptions *o, int32_t *aggregate,
                                 int32_t *root, SpmvAggregates *found, SpmvExec *exec)
{
  const int64_t n = graph->rows;
  Greedy        g = {.n = n, .row_ptr = graph->row_ptr, .col = graph->col};
  void         *block;

  memset(found, 0, sizeof *found);
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, 16 * n, "order of the vertices", &block));
  g.rank  = block;
  g.order = (int32_t *)block + n;
  g.spare = (int32_t *)block + 2 * n;
  g.owner = (int32_t *)block + 3 * n;
  begin(&g, o);
  for (int64_t i = n - 1; i >= 0; i--) {
    const int32_t v = g.order[i];
    if (g.owner[v] != FREE) continue;
    g.owner[v] = v;
    if (o->distance == 1) take_neighbours(&g, v, v);
    else take_two_edges(&g, v);
  }
  number(&g, aggregate, root, found);
  spmv_exec_free(exec, SPMV_HOST, block);
  return SPMV_SUCCESS;
}

static SpmvStatus join_host(int64_t n, int32_t *aggregate, int32_t *root, const int32_t *next, const int32_t *next_root,
                            SpmvAggregates *found, SpmvExec *exec)
{
  (void)exec;
  found->members = 0;
  for (int64_t v = 0; v < n; v++) {
    if (aggregate[v] >= 0) aggregate[v] = next[aggregate[v]];
    found->members += aggregate[v] >= 0;
  }
  for (int64_t a = 0; root && a < found->count; a++) root[a] = root[next_root[a]]; /* next_root[a] >= a */
  return SPMV_SUCCESS;
}

const SpmvAggregateSlots spmv_aggregate_host_slots = {.narrow    = narrow,
                                                      .aggregate = aggregate_host,
                                                      .join      = join_host,
                                                      .tentative = spmv_tentative_host,
                                                      .smooth    = spmv_smooth_host};
