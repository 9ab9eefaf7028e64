/*
  readers.hpp - matrices from files: PETSc binary, Matrix Market and node graphs; and PETSc binary out
*/
#ifndef BENCH_READERS_HPP
#define BENCH_READERS_HPP

#include "catalog.hpp"

namespace bench
{

/* By extension: .mtx is Matrix Market, as ../../tools/matrix_market.h says; anything else PETSc binary as MatView()
   writes it with 32-bit indices. Throws std::runtime_error with the file's name. */
Csr read_matrix(const std::string &path);

/* A node graph: int32 nodes, entries, pointers of shape [nodes+1], neighbours of shape [entries]; native byte order.
   Neighbours are sorted, a node missing from its own list is added. */
Graph read_graph(const std::string &path);

/* PETSc binary, readable by MatLoad() */
void write_petsc(const Csr &, const std::string &path);

} // namespace bench
#endif
