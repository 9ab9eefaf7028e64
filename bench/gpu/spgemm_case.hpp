/*
  spgemm_case.hpp - the prolongators of spgemm_bench, on the host: P of smoothed aggregation for a matrix A of the
  catalogue
*/
#ifndef BENCH_SPGEMM_CASE_HPP
#define BENCH_SPGEMM_CASE_HPP

#include "matrix.hpp"

namespace bench
{

/* Aggregates are nodes with all their neighbours, found greedily; remaining nodes join a neighbouring aggregate. P0 has
   a full block for each node: its unknowns times the columns of its aggregate (6 columns if nodes have 3 unknowns, else
   1). P = (I - 0.6 D^-1 A) P0, where D is the sum of absolute values of each row. */
Csr make_prolongator(const Csr &a);

/* P^T */
Csr transposed(const Csr &);

} // namespace bench
#endif
