/*
  catalog.hpp - matrices of the one catalogue (tests/cases/families.h), as CSR of the benchmark
*/
#ifndef BENCH_CATALOG_HPP
#define BENCH_CATALOG_HPP

#include "gen_graph.h"
#include "matrix.hpp"

namespace bench
{

/* A node graph that frees itself */
struct FreeGraph {
  void operator()(GenGraph *graph) const
  {
    gen_graph_free(graph);
    delete graph;
  }
};
using Graph = std::unique_ptr<GenGraph, FreeGraph>;
inline Graph own(const GenGraph &graph) { return Graph(new GenGraph(graph)); }

/* The names of a set: small, default or large; throws std::runtime_error for an unknown one */
std::vector<std::string> matrix_set(const std::string &set);

/* The matrix of a name "family", "family:size" or "shape:name"; throws std::runtime_error for an unknown one. Values are
   symmetric but for so many ulps, if that is 0 or more and the matrix is square. */
Csr make_matrix(const std::string &name, int ulps = -1);

/* What a generator gives, with such values, or ones that depend on their position only: no format gains from repeated
   values */
Csr make_matrix(const GenSpec &, int ulps = -1);

} // namespace bench
#endif
