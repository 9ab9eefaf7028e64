/*
  catalog.cpp - families of matrices by name, the sets that a run measures, and statistics and checks of any matrix
*/
#include "generators.hpp"

#include <algorithm>
#include <stdexcept>

namespace bench
{
namespace
{

int side(std::int64_t size) { return static_cast<int>(size); }

template <Discretisation kind, NodeOrder order, int dofs>
Csr tets(std::int64_t n)
{
  return tetrahedral(side(n), kind, order, dofs);
}

constexpr auto P1 = Discretisation::p1, P2 = Discretisation::p2, EDGE = Discretisation::edge;
constexpr auto NATURAL = NodeOrder::natural, RCM = NodeOrder::rcm, RANDOM = NodeOrder::random;

} // namespace

const std::vector<Family> &families()
{
  static const char *const         vertices = "vertices along a side of the tetrahedral mesh";
  static const std::vector<Family> table    = {
         {"stencil5", "stencil", "nodes along a side of a square", 2500,
          [](std::int64_t n) { return stencil(side(n), side(n), 1, 5); }},
         {"stencil9", "stencil", "nodes along a side of a square", 2000,
          [](std::int64_t n) { return stencil(side(n), side(n), 1, 9); }},
         {"stencil7", "stencil", "nodes along a side of a cube", 200,
          [](std::int64_t n) { return stencil(side(n), side(n), side(n), 7); }},
         {"stencil27", "stencil", "nodes along a side of a cube", 150,
          [](std::int64_t n) { return stencil(side(n), side(n), side(n), 27); }},
         {"hex3", "fem3-structured", "nodes along a side of a cube", 80,
          [](std::int64_t n) { return hexahedra3(side(n)); }},
         {"tet3_natural", "fem3-unstructured", vertices, 65, tets<P1, NATURAL, 3>},
         {"tet3_rcm", "fem3-unstructured", vertices, 65, tets<P1, RCM, 3>},
         {"tet3_random", "fem3-random-order", vertices, 65, tets<P1, RANDOM, 3>},
         {"p2tet3_rcm", "fem3-unstructured", vertices, 30, tets<P2, RCM, 3>},
         {"p1_natural", "fem1", vertices, 130, tets<P1, NATURAL, 1>},
         {"p1_rcm", "fem1", vertices, 130, tets<P1, RCM, 1>},
         {"p1_random", "fem1-random-order", vertices, 130, tets<P1, RANDOM, 1>},
         {"p2_natural", "fem1", vertices, 50, tets<P2, NATURAL, 1>},
         {"p2_rcm", "fem1", vertices, 50, tets<P2, RCM, 1>},
         {"p2_random", "fem1-random-order", vertices, 50, tets<P2, RANDOM, 1>},
         {"edge_natural", "edge", vertices, 65, tets<EDGE, NATURAL, 1>},
         {"edge_rcm", "edge", vertices, 65, tets<EDGE, RCM, 1>},
         {"powerlaw", "power-law", "rows", 1000000, power_law},
         {"circuit", "circuit", "rows", 4000000, circuit},
         {"longrows", "long-rows", "rows; four have as many nonzeros as there are rows, at most a million", 4000000,
          [](std::int64_t n) { return long_rows(n, 1000000, false); }},
         {"longrows_even", "long-rows", "rows; as many nonzeros as longrows, evenly", 4000000,
          [](std::int64_t n) { return long_rows(n, 1000000, true); }},
  };
  return table;
}

std::vector<std::string> matrix_set(const std::string &set)
{
  if (set == "small")
    return {"stencil5:200",   "stencil9:150",    "stencil7:40",     "stencil27:30",
            "hex3:16",        "tet3_natural:16", "tet3_rcm:16",     "tet3_random:16",
            "p2tet3_rcm:8",   "p1_rcm:30",       "p2_rcm:12",       "edge_rcm:16",
            "powerlaw:20000", "circuit:50000",   "longrows:200000", "longrows_even:200000"};
  /* the goals first: a budget that runs out leaves out the end */
  if (set == "default")
    return {"hex3:80",       "hex3:30",       "tet3_rcm:65", "tet3_natural:65", "tet3_random:65",
            "tet3_rcm:36",   "p1_rcm:65",     "p1_rcm:130",  "stencil27:150",   "stencil7:200",
            "stencil5:2500", "stencil9:2000", "edge_rcm:65", "p2_rcm:50",       "p2tet3_rcm:30",
            "powerlaw",      "circuit",       "longrows",    "longrows_even"};
  if (set == "large")
    return {"hex3:88",   "tet3_rcm:100",    "tet3_natural:100", "p2tet3_rcm:43", "p1_natural:200", "p1_random:130",
            "p2_rcm:85", "edge_natural:90", "stencil27:180",    "stencil7:280",  "stencil5:5000",  "stencil9:4000"};
  throw std::runtime_error("unknown set '" + set + "': use small, default or large");
}

Csr make_matrix(const std::string &name)
{
  const auto        colon  = name.find(':');
  const std::string family = name.substr(0, colon);

  for (const auto &f : families()) {
    if (family != f.name) continue;
    std::int64_t size = f.default_size;
    if (colon != std::string::npos) {
      std::size_t used = 0;
      try {
        size = std::stoll(name.substr(colon + 1), &used);
      } catch (const std::exception &) {
        used = 0;
      }
      if (used == 0 || colon + 1 + used != name.size() || size < 2)
        throw std::runtime_error("the size in '" + name + "' must be a whole number of at least 2");
    }
    Csr a   = f.make(size);
    a.name  = family + ":" + std::to_string(size);
    a.group = f.group;
    return a;
  }
  throw std::runtime_error("unknown matrix '" + name + "': --list shows all");
}

RowStatistics row_statistics(std::int64_t rows, const std::int32_t *row_ptr)
{
  RowStatistics s;

  if (rows == 0) return s;
  s.shortest = INT32_MAX;
  for (std::int64_t i = 0; i < rows; i++) {
    const std::int64_t n = row_ptr[i + 1] - row_ptr[i];
    s.shortest           = std::min(s.shortest, n);
    s.longest            = std::max(s.longest, n);
  }
  s.mean = static_cast<double>(row_ptr[rows]) / static_cast<double>(rows);
  return s;
}

void check_csr(const Csr &a)
{
  const auto fault = [&a](const std::string &what) { throw std::runtime_error("matrix " + a.name + ": " + what); };

  if (a.row_ptr.size() != static_cast<std::size_t>(a.rows) + 1 || a.row_ptr[0] != 0)
    fault("row pointers do not begin at 0");
  for (std::int64_t i = 0; i < a.rows; i++) {
    if (a.row_ptr[i] > a.row_ptr[i + 1]) fault("row " + std::to_string(i) + " has a negative length");
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; k++) {
      if (a.col[k] < 0 || a.col[k] >= a.cols) fault("row " + std::to_string(i) + " has a column outside the matrix");
      if (k > a.row_ptr[i] && a.col[k - 1] >= a.col[k]) fault("columns of row " + std::to_string(i) + " do not ascend");
    }
  }
  if (a.row_ptr[a.rows] != a.nnz) fault("row pointers do not end at nnz");
}

} // namespace bench
