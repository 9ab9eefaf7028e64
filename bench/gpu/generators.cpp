/*
  generators.cpp - grids, graphs and circuits: each row is a function of its number
*/
#include "generators.hpp"
#include "mesh.hpp"
#include "rows.hpp"

#include <cmath>
#include <cstdlib>

namespace bench
{
namespace
{

/* Sorts columns, drops duplicates and returns how many are left */
std::int64_t sorted_unique(std::int32_t *col, std::int64_t n)
{
  std::sort(col, col + n);
  return std::unique(col, col + n) - col;
}

/* A number for the k-th draw of row i, apart from the numbers of other generators */
std::uint64_t draw(std::int64_t i, std::int64_t k, std::uint64_t seed)
{
  return mix(static_cast<std::uint64_t>(i) * 1024 + static_cast<std::uint64_t>(k)) ^ seed;
}

/* Nodes of the grid in the box of one cell around (i, j, k); the star leaves out the corners */
std::int64_t grid_row(std::int64_t node, int nx, int ny, int nz, bool star, std::int32_t *out)
{
  const auto   i = static_cast<int>(node % nx), j = static_cast<int>(node / nx % ny);
  const auto   k = static_cast<int>(node / (static_cast<std::int64_t>(nx) * ny));
  std::int64_t n = 0;

  for (int c = std::max(k - 1, 0); c <= std::min(k + 1, nz - 1); c++)
    for (int b = std::max(j - 1, 0); b <= std::min(j + 1, ny - 1); b++)
      for (int a = std::max(i - 1, 0); a <= std::min(i + 1, nx - 1); a++) {
        if (star && std::abs(a - i) + std::abs(b - j) + std::abs(c - k) > 1) continue;
        out[n++] = static_cast<std::int32_t>((static_cast<std::int64_t>(c) * ny + b) * nx + a);
      }
  return n;
}

} // namespace

Csr stencil(int nx, int ny, int nz, int points)
{
  const bool         star = points == 5 || points == 7;
  const std::int64_t rows = static_cast<std::int64_t>(nx) * ny * nz;
  return csr_from_rows(rows, rows, points,
                       [=](std::int64_t i, std::int32_t *out) { return grid_row(i, nx, ny, nz, star, out); });
}

Csr hexahedra3(int n)
{
  const std::int64_t rows = 3 * static_cast<std::int64_t>(n) * n * n;
  return csr_from_rows(rows, rows, 81, [=](std::int64_t i, std::int32_t *out) {
    std::int32_t       node[27];
    const std::int64_t nodes = grid_row(i / 3, n, n, n, false, node);
    for (std::int64_t k = 0; k < 3 * nodes; k++) out[k] = static_cast<std::int32_t>(3 * node[k / 3] + k % 3);
    return 3 * nodes;
  });
}

Csr power_law(std::int64_t rows)
{
  const std::int64_t  longest = std::min<std::int64_t>(20000, rows);
  const std::uint64_t seed    = 0x90E5u;
  return csr_from_rows(rows, rows, longest, [=](std::int64_t i, std::int32_t *out) {
    /* Pareto degrees of exponent 2.1 from 4 up; columns fall off from popular nodes, which lie anywhere */
    const double u = uniform(draw(i, 0, seed));
    const auto   degree =
        static_cast<std::int64_t>(std::min<double>(static_cast<double>(longest), 4 * std::pow(1 - u, -1 / 1.1)));
    for (std::int64_t k = 0; k < degree; k++) {
      const double popular = std::pow(uniform(mix(draw(i, 0, seed) + static_cast<std::uint64_t>(k) + 1)), 3.0);
      const auto   node    = static_cast<std::uint64_t>(popular * static_cast<double>(rows));
      out[k]               = static_cast<std::int32_t>(mix(node) % static_cast<std::uint64_t>(rows));
    }
    return sorted_unique(out, degree);
  });
}

Csr circuit(std::int64_t rows)
{
  const std::uint64_t seed = 0xC1Cu;
  const std::int64_t  nets = 8, net_length = std::max<std::int64_t>(rows / 200, 1);
  return csr_from_rows(rows, rows, net_length + 16, [=](std::int64_t i, std::int32_t *out) {
    const std::int64_t each = rows / nets;
    std::int64_t       n    = 0;
    out[n++]                = static_cast<std::int32_t>(i);
    if (each > 0 && i % each == each / 2) { /* a supply net */
      while (n < net_length) {
        out[n] = static_cast<std::int32_t>(mix(draw(i, 0, seed) + static_cast<std::uint64_t>(n)) %
                                           static_cast<std::uint64_t>(rows));
        n++;
      }
      return sorted_unique(out, n);
    }
    /* one to four neighbours within a few cells of the layout, and one row in eight has a far coupling */
    const auto near = 1 + static_cast<std::int64_t>(draw(i, 0, seed) % 4);
    for (std::int64_t k = 1; k <= near; k++) {
      const auto step = static_cast<std::int64_t>(std::exp(uniform(draw(i, k, seed)) * 7));
      const auto at   = draw(i, k, seed) & 1 ? i + step : i - step;
      if (at >= 0 && at < rows) out[n++] = static_cast<std::int32_t>(at);
    }
    if (draw(i, 5, seed) % 8 == 0)
      out[n++] = static_cast<std::int32_t>(draw(i, 6, seed) % static_cast<std::uint64_t>(rows));
    return sorted_unique(out, n);
  });
}

Csr long_rows(std::int64_t rows, std::int64_t long_row, bool evenly)
{
  const std::int64_t count = 4, each = rows / count, stride = std::max<std::int64_t>(rows / long_row, 1);
  const std::int64_t length = (rows + stride - 1) / stride;
  const std::int64_t extra = count * (length - 5), width = evenly ? 5 + extra / rows + 1 : 5;
  return csr_from_rows(rows, rows, std::max(length, width), [=](std::int64_t i, std::int32_t *out) {
    std::int64_t n = 0;
    if (!evenly && i % each == each / 2 && i / each < count) {
      for (std::int64_t c = 0; c < rows; c += stride) out[n++] = static_cast<std::int32_t>(c);
      return n;
    }
    const std::int64_t own = evenly ? 5 + extra / rows + (i < extra % rows) : 5;
    /* columns spread as far as those of a long row, so that both matrices read x alike */
    for (std::int64_t k = 0; k < own; k++) out[n++] = static_cast<std::int32_t>((i + k * (rows / own)) % rows);
    return sorted_unique(out, n);
  });
}

Csr expand_dofs(const Graph &g, int dofs)
{
  return csr_from_rows(g.nodes * dofs, g.nodes * dofs,
                       static_cast<std::int64_t>(dofs) * row_statistics(g.nodes, g.ptr.data()).longest,
                       [&g, dofs](std::int64_t i, std::int32_t *out) {
                         const std::int64_t  node = i / dofs;
                         const std::int32_t *adj  = g.adj.data() + g.ptr[node];
                         const std::int64_t  n    = static_cast<std::int64_t>(g.ptr[node + 1] - g.ptr[node]) * dofs;
                         for (std::int64_t k = 0; k < n; k++)
                           out[k] = adj[k / dofs] * dofs + static_cast<std::int32_t>(k % dofs);
                         return n;
                       });
}

Csr tetrahedral(int n, Discretisation kind, NodeOrder node_order, int dofs)
{
  const Elements tets = tetrahedra(n);
  Graph          g    = graph_of(tets);

  if (kind == Discretisation::p2) g = graph_of(vertices_and_edges_of(tets, g));
  if (kind == Discretisation::edge) g = graph_of(edges_of(tets, g));
  if (node_order == NodeOrder::rcm) g = permuted(g, reverse_cuthill_mckee(g));
  if (node_order == NodeOrder::random) g = permuted(g, random_order(g.nodes));
  return expand_dofs(g, dofs);
}

} // namespace bench
