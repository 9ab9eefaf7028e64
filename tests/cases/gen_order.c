/* gen_order.c - orders of the nodes of a graph: reverse Cuthill-McKee and random. */
#include "gen_graph.h"
#include "gen_private.h"
#include "parallel.h"
#include <stdlib.h>
#include <string.h>

/* A breadth-first search that visits the neighbours of a node by ascending degree, as in Cuthill-McKee */
typedef struct {
  const GenGraph *graph;
  char           *seen;  /* [nodes] */
  int32_t        *order; /* [nodes]: the nodes visited so far; count of them */
  int64_t         count;
  int64_t        *key; /* [longest]: degree and number of the neighbours of one node */
} Search;

static int32_t degree(const GenGraph *g, int64_t node) { return g->ptr[node + 1] - g->ptr[node]; }

static void visit(Search *s, int32_t node)
{
  const GenGraph *g     = s->graph;
  int64_t         count = 0;

  for (int32_t k = g->ptr[node]; k < g->ptr[node + 1]; k++) {
    const int32_t neighbour = g->adj[k];
    if (s->seen[neighbour]) continue;
    s->seen[neighbour] = 1;
    s->key[count++]    = (int64_t)degree(g, neighbour) << 32 | neighbour;
  }
  gen_sort(s->key, count);
  for (int64_t k = 0; k < count; k++) s->order[s->count++] = (int32_t)(s->key[k] & INT32_MAX);
}

/* Appends the component of start to the order; returns the index at which its last level begins */
static int64_t search(Search *s, int32_t start)
{
  int64_t next = s->count, level = s->count, last_level = s->count;

  s->order[s->count++] = start;
  s->seen[start]       = 1;
  while (next < s->count) {
    if (next == level) {
      last_level = level;
      level      = s->count;
    }
    visit(s, s->order[next++]);
  }
  return last_level;
}

static void undo(Search *s, int64_t from)
{
  for (int64_t k = from; k < s->count; k++) s->seen[s->order[k]] = 0;
  s->count = from;
}

static int32_t least_degree(const Search *s, int64_t from)
{
  int32_t best = s->order[from];

  for (int64_t k = from + 1; k < s->count; k++)
    if (degree(s->graph, s->order[k]) < degree(s->graph, best)) best = s->order[k];
  return best;
}

int32_t *gen_reverse_cuthill_mckee(const GenGraph *graph)
{
  Search  s       = {.graph = graph};
  int64_t longest = 0;

  for (int64_t i = 0; i < graph->nodes; i++) longest = degree(graph, i) > longest ? degree(graph, i) : longest;
  s.seen  = gen_alloc(graph->nodes, 1);
  s.order = gen_alloc(graph->nodes, sizeof *s.order);
  s.key   = gen_alloc(longest, sizeof *s.key);
  memset(s.seen, 0, (size_t)graph->nodes);
  for (int32_t seed = 0; seed < graph->nodes; seed++) {
    const int64_t first = s.count;
    int32_t       start = seed;
    if (s.seen[seed]) continue;
    /* two searches move the start to the boundary of the component, from where levels are narrow */
    for (int sweep = 0; sweep < 2; sweep++) {
      const int64_t last = search(&s, start);
      start              = least_degree(&s, last);
      undo(&s, first);
    }
    search(&s, start);
  }
  for (int64_t i = 0, j = s.count - 1; i < j; i++, j--) {
    const int32_t kept = s.order[i];
    s.order[i]         = s.order[j];
    s.order[j]         = kept;
  }
  free(s.seen);
  free(s.key);
  return s.order;
}

static int32_t *natural_order(int64_t nodes)
{
  int32_t *order = gen_alloc(nodes, sizeof *order);

  for (int64_t i = 0; i < nodes; i++) order[i] = (int32_t)i;
  return order;
}

int32_t *gen_shuffled(int64_t nodes)
{
  int32_t *order = natural_order(nodes);

  for (int64_t i = nodes - 1; i > 0; i--) {
    const int64_t j    = (int64_t)(gen_mix(0x0de5 + (uint64_t)i) % (uint64_t)(i + 1));
    const int32_t kept = order[i];
    order[i]           = order[j];
    order[j]           = kept;
  }
  return order;
}

typedef struct {
  const GenGraph *from;
  const int32_t  *order, *position; /* position is the inverse of order */
  GenGraph        to;
} Permutation;

static void permute_nodes(void *permutation_, int64_t begin, int64_t end)
{
  const Permutation *p       = permutation_;
  int64_t            longest = 0, *list;

  for (int64_t i = begin; i < end; i++) longest = degree(&p->to, i) > longest ? degree(&p->to, i) : longest;
  list = gen_alloc(longest, sizeof *list);
  for (int64_t i = begin; i < end; i++) {
    const int32_t *adj   = p->from->adj + p->from->ptr[p->order[i]];
    const int64_t  count = degree(&p->to, i);
    for (int64_t k = 0; k < count; k++) list[k] = p->position[adj[k]];
    gen_sort(list, count);
    for (int64_t k = 0; k < count; k++) p->to.adj[p->to.ptr[i] + k] = (int32_t)list[k];
  }
  free(list);
}

GenGraph gen_graph_ordered(const GenGraph *graph, GenOrder order)
{
  int32_t    *list     = order == GEN_RCM        ? gen_reverse_cuthill_mckee(graph)
                         : order == GEN_SHUFFLED ? gen_shuffled(graph->nodes)
                                                 : natural_order(graph->nodes);
  int32_t    *position = gen_alloc(graph->nodes, sizeof *position);
  Permutation p        = {.from = graph, .order = list, .position = position, .to = {.nodes = graph->nodes}};

  p.to.ptr    = gen_alloc(graph->nodes + 1, sizeof *p.to.ptr);
  p.to.adj    = gen_alloc(graph->ptr[graph->nodes], sizeof *p.to.adj);
  p.to.ptr[0] = 0;
  for (int64_t i = 0; i < graph->nodes; i++) {
    position[list[i]] = (int32_t)i;
    p.to.ptr[i + 1]   = p.to.ptr[i] + degree(graph, list[i]);
  }
  gen_parallel(graph->nodes, permute_nodes, &p);
  free(list);
  free(position);
  return p.to;
}
