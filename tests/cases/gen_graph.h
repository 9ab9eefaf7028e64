/*
  gen_graph.h - node graphs of unstructured meshes and of their discretizations, and orders of their nodes.
  gen_on_graph() makes a matrix of a graph.
*/
#ifndef SPMV_GEN_GRAPH_H
#define SPMV_GEN_GRAPH_H

#include "gen.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Neighbours of each node, itself included, ascending: ptr has shape [nodes+1], adj [ptr[nodes]] */
struct GenGraph {
  int64_t  nodes;
  int32_t *ptr, *adj;
};
void gen_graph_free(GenGraph *graph);

/* Elements of a mesh: node has shape [count][nodes_each] */
typedef struct {
  int64_t  nodes, count;
  int      nodes_each;
  int32_t *node;
} GenElements;
void gen_elements_free(GenElements *elements);

/* 6 (n-1)^3 tetrahedra on n^3 vertices, 2 (n-1)^2 triangles on n^2 */
GenElements gen_elements_tetrahedra(int64_t n);
GenElements gen_elements_triangles(int64_t n);
/* Elements whose nodes are the 6 edges of each tetrahedron, after its 4 vertices if with_vertices; vertices is the
   graph of the tetrahedra */
GenElements gen_elements_edges(const GenElements *tetrahedra, const GenGraph *vertices, int with_vertices);
/* The graph in which two nodes are neighbours if an element has both */
GenGraph gen_graph_of(const GenElements *elements);

/* Orders have shape [nodes]: node i of the new graph is node order[i] of the old one. GEN_NATURAL gives a copy. */
GenGraph gen_graph_ordered(const GenGraph *graph, GenOrder order);
int32_t *gen_reverse_cuthill_mckee(const GenGraph *graph);
int32_t *gen_shuffled(int64_t nodes);

#ifdef __cplusplus
}
#endif
#endif
