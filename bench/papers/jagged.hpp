/*
  jagged.hpp - jagged diagonals (JDS), the rival layout in the paper on the Fold method

  Rows are sorted by length over the whole matrix, the longest first. Diagonal d has the d-th nonzero of each row that
  has one. The diagonals are stored one after the other:

    a . b         row_of     2 0 1
    . c .    ->   start      0 3 5 6
    d e f         col        0 0 1 | 1 2 | 2
                  position   3 0 2 | 4 1 | 5        (of the CSR: d a c | e b | f)
*/
#ifndef BENCH_JAGGED_HPP
#define BENCH_JAGGED_HPP

#include "matrix.hpp"

namespace bench
{

/* row_of has shape [rows], start [diagonals+1], col and position [nnz] */
struct Jagged {
  std::int64_t        rows = 0, diagonals = 0;
  Array<std::int32_t> row_of, start, col, position;
};
Jagged make_jagged(const Csr &);

} // namespace bench
#endif
