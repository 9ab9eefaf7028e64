/*
  mesh.hpp - an unstructured tetrahedral mesh, the node graphs of its discretisations, and node orders
*/
#ifndef BENCH_MESH_HPP
#define BENCH_MESH_HPP

#include "matrix.hpp"

namespace bench
{

/* Elements of a mesh: node has shape [count][nodes_each] */
struct Elements {
  std::int64_t        nodes = 0, count = 0;
  int                 nodes_each = 0;
  Array<std::int32_t> node;
};

/* 6 (n-1)^3 tetrahedra on n^3 vertices, with a vertex degree that varies from node to node */
Elements tetrahedra(int n);

/* Two nodes are neighbours when an element has both */
Graph graph_of(const Elements &);

/* The same tetrahedra with 6 edges each (Nedelec elements of lowest order), or with 4 vertices and 6 edge midpoints */
Elements edges_of(const Elements &tets, const Graph &vertices);
Elements vertices_and_edges_of(const Elements &tets, const Graph &vertices);

/* Orders as lists: place i of the new order holds node order[i] of the old one */
Array<std::int32_t> reverse_cuthill_mckee(const Graph &);
Array<std::int32_t> random_order(std::int64_t nodes);
Graph               permuted(const Graph &, const Array<std::int32_t> &order);

} // namespace bench
#endif
