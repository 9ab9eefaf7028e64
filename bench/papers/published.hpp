/*
  published.hpp - matrices of the shapes that the paper on the Fold method measures

  Row lengths are those of published_rows.h. Columns of a row are spread over a band around the diagonal, eight times as
  wide as the row is long: neighbouring rows read neighbouring parts of x, as in a mesh with its nodes in a good order.
*/
#ifndef BENCH_PUBLISHED_HPP
#define BENCH_PUBLISHED_HPP

#include "command_line.hpp"

namespace bench
{

/* "shape:Na5", ...: names that cannot be taken for the matrices themselves */
std::vector<std::string> published_names();

/* A name of published_names(), or one of make_matrix(); throws std::runtime_error for an unknown one */
Csr make_published(const std::string &name);

} // namespace bench
#endif
