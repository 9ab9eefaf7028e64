/*
  spgemm_case.hpp - the matrices of spgemm_bench, on the host: A of the catalogue, and a prolongator P of smoothed
  aggregation for it
*/
#ifndef BENCH_SPGEMM_CASE_HPP
#define BENCH_SPGEMM_CASE_HPP

#include "matrix.hpp"

namespace bench
{

/* Aggregates are nodes with all their neighbours, found greedily; nodes between join one of them. P0 has, for each
   node, a full block of its unknowns and the columns of its aggregate (6 where nodes have 3 unknowns, else 1), and P =
   (I - 0.6 D^-1 A) P0, where D is the sum of the magnitudes of each row. */
Csr make_prolongator(const Csr &a);

/* P^T */
Csr transposed(const Csr &);

} // namespace bench
#endif
