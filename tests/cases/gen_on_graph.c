/* gen_on_graph.c - matrices on node graphs, and the graphs of unstructured meshes, which are made once and kept. */
#include "gen_graph.h"
#include "gen_private.h"
#include <stdlib.h>

/* cycle[0] is the number of unknowns of a node */
static int64_t graph_row(const GenSpec *s, int64_t i, int64_t *col)
{
  const GenGraph *g    = s->graph;
  const int64_t   dofs = s->cycle[0], node = i / dofs;
  int64_t         count = 0;

  for (int32_t k = g->ptr[node]; k < g->ptr[node + 1]; k++)
    for (int64_t d = 0; d < dofs; d++) col[count++] = g->adj[k] * dofs + d;
  return count;
}

GenSpec gen_on_graph(const GenGraph *graph, int dofs)
{
  GenSpec s = gen_spec(graph->nodes * dofs, graph->nodes * dofs, graph_row);

  s.nodes[0] = graph->nodes;
  s.cycle[0] = dofs;
  s.graph    = graph;
  return s;
}

typedef struct Mesh {
  int          corners; /* of an element: 3 or 4 */
  int64_t      n;
  GenElement   element;
  GenOrder     order;
  GenGraph     graph;
  struct Mesh *next;
} Mesh;

static Mesh *meshes;

static GenGraph mesh_graph(int corners, int64_t n, GenElement element, GenOrder order)
{
  GenElements mesh  = corners == 3 ? gen_elements_triangles(n) : gen_elements_tetrahedra(n);
  GenGraph    graph = gen_graph_of(&mesh);

  if (element != GEN_P1) {
    GenElements edges = gen_elements_edges(&mesh, &graph, element == GEN_P2);
    gen_graph_free(&graph);
    graph = gen_graph_of(&edges);
    gen_elements_free(&edges);
  }
  gen_elements_free(&mesh);
  if (order != GEN_NATURAL) {
    GenGraph ordered = gen_graph_ordered(&graph, order);
    gen_graph_free(&graph);
    graph = ordered;
  }
  return graph;
}

static const GenGraph *kept_graph(int corners, int64_t n, GenElement element, GenOrder order)
{
  Mesh *mesh = meshes;

  while (mesh && (mesh->corners != corners || mesh->n != n || mesh->element != element || mesh->order != order))
    mesh = mesh->next;
  if (!mesh) {
    mesh   = gen_alloc(1, sizeof *mesh);
    *mesh  = (Mesh){corners, n, element, order, mesh_graph(corners, n, element, order), meshes};
    meshes = mesh;
  }
  return &mesh->graph;
}

GenSpec gen_tetrahedra(int64_t n, GenElement element, GenOrder order, int dofs)
{
  return gen_on_graph(kept_graph(4, n, element, order), dofs);
}

GenSpec gen_triangles(int64_t n, GenOrder order, int dofs)
{
  return gen_on_graph(kept_graph(3, n, GEN_P1, order), dofs);
}

void gen_free_meshes(void)
{
  while (meshes) {
    Mesh *next = meshes->next;
    gen_graph_free(&meshes->graph);
    free(meshes);
    meshes = next;
  }
}
