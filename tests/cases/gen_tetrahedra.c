/*
  gen_tetrahedra.c - unstructured meshes without a mesh generator, and their node graphs.

  Each vertex of a grid gets a random rank. A face of a cell is cut through its vertex of lowest rank, and a cell is cut
  into the tetrahedra that join its vertex of lowest rank to the triangles of the faces away from it. The cut of a face
  depends on the face alone, so neighbouring cells conform. A vertex has 14 neighbours on average; on a Delaunay mesh of
  a jittered grid it has 15. The meshes must never change, because results are compared across runs.
*/
#include "gen_graph.h"
#include "gen_private.h"
#include "parallel.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t rank_of(int32_t vertex) { return gen_mix(0x7e7a + (uint64_t)vertex); }

/* Writes the 6 tetrahedra of one cell; vertex has its 8 corners, whose bits are x, y, z */
static void cut_cell(const int32_t vertex[8], int32_t *out)
{
  int apex = 0;

  for (int c = 1; c < 8; c++)
    if (rank_of(vertex[c]) < rank_of(vertex[apex])) apex = c;
  for (int axis = 0; axis < 3; axis++) {
    const int u = 1 << ((axis + 1) % 3), v = 1 << ((axis + 2) % 3), base = !(apex >> axis & 1) << axis;
    const int face[4] = {base, base | u, base | u | v, base | v}; /* in cyclic order */
    int       first   = 0;
    for (int c = 1; c < 4; c++)
      if (rank_of(vertex[face[c]]) < rank_of(vertex[face[first]])) first = c;
    for (int t = 1; t <= 2; t++) {
      *out++ = vertex[apex];
      *out++ = vertex[face[first]];
      *out++ = vertex[face[(first + t) % 4]];
      *out++ = vertex[face[(first + t + 1) % 4]];
    }
  }
}

typedef struct {
  int64_t  n;
  int32_t *node;
} Cells;

static void cut_cells(void *cells_, int64_t begin, int64_t end)
{
  const Cells  *cells = cells_;
  const int64_t n = cells->n, side = n - 1;

  for (int64_t c = begin; c < end; c++) {
    const int64_t i = c % side, j = c / side % side, k = c / (side * side);
    int32_t       vertex[8];
    for (int v = 0; v < 8; v++) vertex[v] = (int32_t)(((k + (v >> 2)) * n + j + (v >> 1 & 1)) * n + i + (v & 1));
    cut_cell(vertex, cells->node + 24 * c);
  }
}

GenElements gen_elements_tetrahedra(int64_t n)
{
  const int64_t cells = (n - 1) * (n - 1) * (n - 1);
  GenElements   e     = {n * n * n, 6 * cells, 4, gen_alloc(24 * cells, sizeof(int32_t))};
  Cells         all   = {n, e.node};

  gen_parallel(cells, cut_cells, &all);
  return e;
}

void gen_elements_free(GenElements *elements)
{
  free(elements->node);
  memset(elements, 0, sizeof *elements);
}

void gen_graph_free(GenGraph *graph)
{
  free(graph->ptr);
  free(graph->adj);
  memset(graph, 0, sizeof *graph);
}

/* ---- edges ---- */

/* The first neighbour of a vertex with a number of at least `least` */
static const int32_t *neighbour_from(const GenGraph *g, int32_t vertex, int32_t least)
{
  const int32_t *low = g->adj + g->ptr[vertex], *high = g->adj + g->ptr[vertex + 1];

  while (low < high) {
    const int32_t *middle = low + (high - low) / 2;
    if (*middle < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

typedef struct {
  const GenElements *tetrahedra;
  const GenGraph    *vertices;
  int32_t           *first; /* [vertices+1]: the first edge of each vertex as the lower end; then by the higher end */
  int32_t            shift; /* number of nodes before the edges */
  GenElements       *out;
} Edges;

static int32_t edge_number(const Edges *e, int32_t a, int32_t b)
{
  const int32_t low = a < b ? a : b, high = a < b ? b : a;

  return e->first[low] + (int32_t)(neighbour_from(e->vertices, low, high) - neighbour_from(e->vertices, low, low + 1));
}

static void number_edges(void *edges_, int64_t begin, int64_t end)
{
  static const int ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  const Edges     *e          = edges_;
  const int        own        = e->out->nodes_each - 6;

  for (int64_t t = begin; t < end; t++) {
    const int32_t *tet = e->tetrahedra->node + 4 * t;
    int32_t       *out = e->out->node + e->out->nodes_each * t;
    for (int k = 0; k < own; k++) out[k] = tet[k];
    for (int k = 0; k < 6; k++) out[own + k] = e->shift + edge_number(e, tet[ends[k][0]], tet[ends[k][1]]);
  }
}

GenElements gen_elements_edges(const GenElements *tetrahedra, const GenGraph *vertices, int with_vertices)
{
  GenElements out = {.count = tetrahedra->count, .nodes_each = with_vertices ? 10 : 6};
  Edges       e   = {tetrahedra, vertices, NULL, with_vertices ? (int32_t)tetrahedra->nodes : 0, &out};

  e.first    = gen_alloc(vertices->nodes + 1, sizeof *e.first);
  e.first[0] = 0;
  for (int32_t i = 0; i < vertices->nodes; i++)
    e.first[i + 1] = e.first[i] + (int32_t)(vertices->adj + vertices->ptr[i + 1] - neighbour_from(vertices, i, i + 1));
  out.nodes = e.shift + e.first[vertices->nodes];
  out.node  = gen_alloc(out.count * out.nodes_each, sizeof *out.node);
  gen_parallel(out.count, number_edges, &e);
  free(e.first);
  return out;
}

/* ---- the graph of elements ---- */

typedef struct {
  const GenElements *elements;
  int64_t           *around_ptr; /* [nodes+1], into around: the elements around each node */
  int32_t           *around;
  GenGraph           graph;
} Neighbours;

static void find_elements_around(Neighbours *n)
{
  const GenElements *e       = n->elements;
  const int64_t      entries = e->count * e->nodes_each;

  /* while the entries are filled in, around_ptr[i+1] is the next free entry of node i; afterwards its end */
  n->around_ptr = gen_alloc(e->nodes + 2, sizeof *n->around_ptr);
  n->around     = gen_alloc(entries, sizeof *n->around);
  memset(n->around_ptr, 0, (size_t)(e->nodes + 2) * sizeof *n->around_ptr);
  for (int64_t k = 0; k < entries; k++) n->around_ptr[e->node[k] + 2]++;
  for (int64_t i = 0; i <= e->nodes; i++) n->around_ptr[i + 1] += n->around_ptr[i];
  for (int64_t k = 0; k < entries; k++) n->around[n->around_ptr[e->node[k] + 1]++] = (int32_t)(k / e->nodes_each);
}

/* Inserts a node into an ascending list without duplicates; returns the new length */
static int64_t insert(int32_t *list, int64_t count, int32_t node)
{
  int64_t at = count;

  while (at > 0 && list[at - 1] > node) at--;
  if (at > 0 && list[at - 1] == node) return count;
  memmove(list + at + 1, list + at, (size_t)(count - at) * sizeof *list);
  list[at] = node;
  return count + 1;
}

/* Counts the neighbours while adj is NULL, then writes them */
static void find_neighbours(void *neighbours_, int64_t begin, int64_t end)
{
  Neighbours        *n    = neighbours_;
  const GenElements *e    = n->elements;
  int64_t            most = 0;
  int32_t           *list;

  for (int64_t i = begin; i < end; i++)
    if (n->around_ptr[i + 1] - n->around_ptr[i] > most) most = n->around_ptr[i + 1] - n->around_ptr[i];
  list = gen_alloc(most * e->nodes_each, sizeof *list);
  for (int64_t i = begin; i < end; i++) {
    int64_t count = 0;
    for (int64_t a = n->around_ptr[i]; a < n->around_ptr[i + 1]; a++)
      for (int k = 0; k < e->nodes_each; k++)
        count = insert(list, count, e->node[(int64_t)n->around[a] * e->nodes_each + k]);
    if (n->graph.adj) memcpy(n->graph.adj + n->graph.ptr[i], list, (size_t)count * sizeof *list);
    else n->graph.ptr[i + 1] = (int32_t)count;
  }
  free(list);
}

GenGraph gen_graph_of(const GenElements *elements)
{
  Neighbours n     = {.elements = elements, .graph = {.nodes = elements->nodes}};
  int64_t    total = 0;

  find_elements_around(&n);
  n.graph.ptr    = gen_alloc(elements->nodes + 1, sizeof *n.graph.ptr);
  n.graph.ptr[0] = 0;
  gen_parallel(elements->nodes, find_neighbours, &n);
  for (int64_t i = 0; i < elements->nodes; i++) {
    total += n.graph.ptr[i + 1];
    if (total > INT32_MAX) {
      fprintf(stderr, "a mesh of %lld nodes has more than 2^31-1 neighbours: choose a smaller one\n",
              (long long)elements->nodes);
      exit(1);
    }
    n.graph.ptr[i + 1] = (int32_t)total;
  }
  n.graph.adj = gen_alloc(total, sizeof *n.graph.adj);
  gen_parallel(elements->nodes, find_neighbours, &n);
  free(n.around_ptr);
  free(n.around);
  return n.graph;
}
