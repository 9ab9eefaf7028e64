/*
  published.cpp - see published.hpp
*/
#include "published.hpp"
#include "published_rows.h"
#include "generators.hpp"
#include "rows.hpp"

#include <stdexcept>

namespace bench
{
namespace
{

constexpr std::int64_t BAND   = 8; /* width of the band over the length of the row */
constexpr const char  *PREFIX = "shape:";

/* length ascending columns of row i: the band is cut into so many parts, and each has one column */
void band_row(std::int64_t i, std::int64_t length, std::int64_t cols, std::int32_t *out)
{
  const std::int64_t width = std::min(BAND * length, cols);
  const std::int64_t begin = std::min(std::max<std::int64_t>(i - width / 2, 0), cols - width);

  for (std::int64_t k = 0; k < length; k++) {
    const std::int64_t from = k * width / length, part = (k + 1) * width / length - from;
    const auto         draw = mix(mix(static_cast<std::uint64_t>(i)) + static_cast<std::uint64_t>(k));
    out[k] =
        static_cast<std::int32_t>(begin + from + static_cast<std::int64_t>(draw % static_cast<std::uint64_t>(part)));
  }
}

Csr make_shape(int shape)
{
  const PublishedShape     &s = published_shapes[shape];
  std::vector<std::int64_t> ptr(static_cast<std::size_t>(s.rows) + 1);

  if (!published_row_ptr(shape, ptr.data())) throw std::runtime_error("out of memory");
  Csr a   = csr_from_rows(s.rows, s.rows, s.longest, [&](std::int64_t i, std::int32_t *out) {
    const std::int64_t length = ptr[i + 1] - ptr[i];
    band_row(i, length, s.rows, out);
    return length;
  });
  a.name  = std::string(PREFIX) + s.name;
  a.group = "published-shape";
  return a;
}

} // namespace

std::vector<std::string> published_names()
{
  std::vector<std::string> r;

  for (const auto &s : published_shapes) r.push_back(std::string(PREFIX) + s.name);
  return r;
}

Csr make_published(const std::string &name)
{
  const auto names = published_names();

  for (std::size_t i = 0; i < names.size(); i++)
    if (names[i] == name) return make_shape(static_cast<int>(i));
  return make_matrix(name);
}

} // namespace bench
