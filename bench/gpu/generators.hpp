/*
  generators.hpp - the matrices of the benchmark by family and size

  A matrix is named family:size ("tet3_rcm:65"); sizes mean what each family says in the catalog.
*/
#ifndef BENCH_GENERATORS_HPP
#define BENCH_GENERATORS_HPP

#include "matrix.hpp"

namespace bench
{

/* Finite differences on a grid of nx x ny x nz nodes, lexicographic; points is 5 or 9 (nz = 1), 7 or 27 */
Csr stencil(int nx, int ny, int nz, int points);
/* Q1 elasticity on n^3 nodes: the 27-point node graph with 3 dofs a node */
Csr hexahedra3(int n);

/* Degrees by a power law, columns drawn towards few popular nodes */
Csr power_law(std::int64_t rows);
/* Short rows near the diagonal, some far couplings, and a few supply nets that touch many nodes */
Csr circuit(std::int64_t rows);
/* Four rows of `long_row` nonzeros among rows of 5, or (evenly) the same count of nonzeros with no long row */
Csr long_rows(std::int64_t rows, std::int64_t long_row, bool evenly);

enum class NodeOrder { natural, rcm, random };
enum class Discretisation { p1, p2, edge };
/* Tetrahedral mesh with vertices on a jittered n^3 grid; one block of dofs x dofs for each pair of neighbours */
Csr tetrahedral(int n, Discretisation, NodeOrder, int dofs);

/* One dofs x dofs block for each entry of a node graph */
Csr expand_dofs(const Graph &, int dofs);

struct Family {
  const char  *name, *group, *size_means;
  std::int64_t default_size;
  Csr (*make)(std::int64_t size);
};
const std::vector<Family> &families();

/* The names of a set: small (seconds, for a first check), default, or large (up to 2 GB as CSR) */
std::vector<std::string> matrix_set(const std::string &set);

/* The matrix of a name "family" or "family:size"; throws std::runtime_error for an unknown one */
Csr make_matrix(const std::string &name);

} // namespace bench
#endif
