/*
  catalog.hpp - matrices of the catalogue (tests/cases/families.h) as CSR of the benchmark
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

/* The matrix named "family", "family:size" or "shape:name"; throws std::runtime_error for an unknown name */
Csr make_matrix(const std::string &name);

/* The matrix of a spec, with values that depend on their position only, so that no format gains from repeated values */
Csr make_matrix(const GenSpec &);

/* Values by which the pattern becomes a weighted Laplacian plus a small multiple of the identity, positive definite if
   the pattern is symmetric; throws std::runtime_error if a diagonal entry is missing */
Array<double> definite_values(const Csr &);

} // namespace bench
#endif
