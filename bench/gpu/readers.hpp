/*
  readers.hpp - reads PETSc binary, Matrix Market and node graphs; writes PETSc binary
*/
#ifndef BENCH_READERS_HPP
#define BENCH_READERS_HPP

#include "catalog.hpp"

namespace bench
{

/* Files *.mtx are Matrix Market (see ../../tools/matrix_market.h), all other ones PETSc binary as written by MatView()
   with 32-bit indices. Throws std::runtime_error with the name of the file. */
Csr read_matrix(const std::string &path);

/* A node graph: int32 nodes, entries, pointers of shape [nodes+1], neighbours of shape [entries]; native byte order.
   Neighbours are sorted; a node that is not in its own list is added. */
Graph read_graph(const std::string &path);

/* PETSc binary, readable by MatLoad() */
void write_petsc(const Csr &, const std::string &path);

} // namespace bench
#endif
