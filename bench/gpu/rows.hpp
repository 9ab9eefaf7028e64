/*
  rows.hpp - a CSR matrix from a function that writes one row
*/
#ifndef BENCH_ROWS_HPP
#define BENCH_ROWS_HPP

#include "matrix.hpp"
#include "parallel.hpp"

#include <stdexcept>

namespace bench
{

/* Turns counts in row_ptr[1 .. rows] into offsets; the total must fit 32 bits */
inline std::int64_t sum_counts(Array<std::int32_t> &row_ptr)
{
  std::int64_t total = 0;

  row_ptr[0] = 0;
  for (std::size_t i = 1; i < row_ptr.size(); i++) {
    total += row_ptr[i];
    if (total > INT32_MAX) throw std::runtime_error("more than 2^31-1 nonzeros: choose a smaller size");
    row_ptr[i] = static_cast<std::int32_t>(total);
  }
  return total;
}

/* Values that depend on their position only: no format gains from repeated values */
inline void fill_values(Csr &a)
{
  a.values       = Array<double>(static_cast<std::size_t>(a.nnz));
  double *values = a.values.data();
  parallel_ranges(a.nnz, [values](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; k++) values[k] = signed_uniform(static_cast<std::uint64_t>(k));
  });
}

/*
  row(i, out) writes the ascending columns of row i and returns their count, at most longest. It is called twice: to
  count, then to fill.
*/
template <class Row>
Csr csr_from_rows(std::int64_t rows, std::int64_t cols, std::int64_t longest, const Row &row)
{
  Csr a;

  a.rows            = rows;
  a.cols            = cols;
  a.row_ptr         = Array<std::int32_t>(static_cast<std::size_t>(rows) + 1);
  std::int32_t *ptr = a.row_ptr.data();
  parallel_ranges(rows, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int32_t> scratch(static_cast<std::size_t>(longest));
    for (std::int64_t i = begin; i < end; i++) ptr[i + 1] = static_cast<std::int32_t>(row(i, scratch.data()));
  });
  a.nnz             = sum_counts(a.row_ptr);
  a.col             = Array<std::int32_t>(static_cast<std::size_t>(a.nnz));
  std::int32_t *col = a.col.data();
  parallel_ranges(rows, [&](std::int64_t begin, std::int64_t end) {
    /* not straight into col: a row may draw more columns than it keeps, and its neighbour belongs to another thread */
    std::vector<std::int32_t> scratch(static_cast<std::size_t>(longest));
    for (std::int64_t i = begin; i < end; i++) {
      row(i, scratch.data());
      std::copy(scratch.data(), scratch.data() + (ptr[i + 1] - ptr[i]), col + ptr[i]);
    }
  });
  fill_values(a);
  return a;
}

} // namespace bench
#endif
