/*
  jagged.cpp - see jagged.hpp
*/
#include "jagged.hpp"
#include "parallel.hpp"

namespace bench
{

Jagged make_jagged(const Csr &a)
{
  const std::int64_t longest = row_statistics(a.rows, a.row_ptr.data()).longest;
  const auto         nnz     = static_cast<std::size_t>(a.nnz);
  Jagged             j;

  j.rows      = a.rows;
  j.diagonals = longest;
  j.row_of    = Array<std::int32_t>(static_cast<std::size_t>(a.rows));
  j.start     = Array<std::int32_t>(static_cast<std::size_t>(longest) + 1);
  j.col       = Array<std::int32_t>(nnz);
  j.position  = Array<std::int32_t>(nnz);
  /* longer[l]: the number of rows with more than l nonzeros: the length of diagonal l, and the first place of the rows
     of length l */
  std::vector<std::int32_t> longer(static_cast<std::size_t>(longest) + 1);
  for (std::int64_t i = 0; i < a.rows; i++) longer[a.row_ptr[i + 1] - a.row_ptr[i]]++;
  for (std::int32_t l = static_cast<std::int32_t>(longest), sum = 0; l >= 0; l--) {
    const std::int32_t count = longer[l];
    longer[l]                = sum;
    sum += count;
  }
  j.start[0] = 0;
  for (std::int64_t d = 0; d < longest; d++) j.start[d + 1] = j.start[d] + longer[d];
  for (std::int64_t i = 0; i < a.rows; i++)
    j.row_of[longer[a.row_ptr[i + 1] - a.row_ptr[i]]++] = static_cast<std::int32_t>(i);

  parallel_ranges(a.rows, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; r++) {
      const std::int32_t first = a.row_ptr[j.row_of[r]], length = a.row_ptr[j.row_of[r] + 1] - first;
      for (std::int32_t d = 0; d < length; d++) {
        j.col[j.start[d] + r]      = a.col[first + d];
        j.position[j.start[d] + r] = first + d;
      }
    }
  });
  return j;
}

} // namespace bench
