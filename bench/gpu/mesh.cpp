/*
  mesh.cpp - tetrahedral meshes and their node graphs

  Unstructured mesh without a mesh generator: each vertex of a grid gets a random rank. A face of a cell is cut through
  its vertex of lowest rank, and a cell is cut into the tetrahedra that join its vertex of lowest rank to the triangles
  of the faces away from it. The cut of a face depends on the face alone, so neighbouring cells fit; 14 neighbours a
  vertex in the mean, 3 to 26 by chance, as on a Delaunay mesh of a jittered grid (mean 15).
*/
#include "mesh.hpp"
#include "parallel.hpp"
#include "rows.hpp"

#include <array>
#include <cstdlib>
#include <numeric>

namespace bench
{
namespace
{

/* The vertices of a face of a cell, in a circle; corner bits are x, y, z */
std::array<int, 4> face_corners(int axis, int side)
{
  const int u = 1 << ((axis + 1) % 3), v = 1 << ((axis + 2) % 3), base = side << axis;
  return {base, base | u, base | u | v, base | v};
}

/* Writes the 6 tetrahedra of one cell; vertex has its 8 corners */
void cut_cell(const std::int32_t vertex[8], std::int32_t *out)
{
  const auto rank  = [&](int corner) { return mix(0x7E7Au + static_cast<std::uint64_t>(vertex[corner])); };
  const auto lower = [&](int a, int b) { return rank(a) < rank(b); };
  int        apex  = 0;

  for (int c = 1; c < 8; c++)
    if (lower(c, apex)) apex = c;
  for (int axis = 0; axis < 3; axis++) {
    const auto face  = face_corners(axis, !((apex >> axis) & 1));
    const int  first = static_cast<int>(std::min_element(face.begin(), face.end(), lower) - face.begin());
    for (int t = 1; t <= 2; t++) {
      *out++ = vertex[apex];
      *out++ = vertex[face[first]];
      *out++ = vertex[face[(first + t) % 4]];
      *out++ = vertex[face[(first + t + 1) % 4]];
    }
  }
}

/* Elements around each node: ptr has shape [nodes+1] */
struct Incidence {
  Array<std::int64_t> ptr;
  Array<std::int32_t> element;
};

Incidence incidence_of(const Elements &e)
{
  Incidence          r{Array<std::int64_t>(e.nodes + 2), Array<std::int32_t>(e.node.size())};
  const std::int64_t entries = static_cast<std::int64_t>(e.node.size());

  std::fill(r.ptr.begin(), r.ptr.end(), 0);
  for (const auto node : e.node) r.ptr[node + 2]++;
  std::partial_sum(r.ptr.begin(), r.ptr.end(), r.ptr.begin());
  /* the place for node i is ptr[i+1] while filling, and has moved to the end of i when all is filled */
  for (std::int64_t k = 0; k < entries; k++)
    r.element[r.ptr[e.node[k] + 1]++] = static_cast<std::int32_t>(k / e.nodes_each);
  return r;
}

/* Number of an edge (a, b), a < b: edges of a vertex are numbered together, in the order of the other end */
class EdgeNumbers
{
public:
  explicit EdgeNumbers(const Graph &g) : graph_(g), first_(g.nodes + 1)
  {
    first_[0] = 0;
    for (std::int64_t i = 0; i < g.nodes; i++)
      first_[i + 1] = first_[i] + static_cast<std::int32_t>(g.adj.data() + g.ptr[i + 1] - after(i));
  }
  std::int32_t count() const { return first_[graph_.nodes]; }
  std::int32_t operator()(std::int32_t a, std::int32_t b) const
  {
    if (a > b) std::swap(a, b);
    const std::int32_t *begin = after(a);
    return first_[a] + static_cast<std::int32_t>(std::lower_bound(begin, end(a), b) - begin);
  }

private:
  const std::int32_t *end(std::int64_t i) const { return graph_.adj.data() + graph_.ptr[i + 1]; }
  const std::int32_t *after(std::int64_t i) const
  {
    return std::upper_bound(graph_.adj.data() + graph_.ptr[i], end(i), static_cast<std::int32_t>(i));
  }
  const Graph        &graph_;
  Array<std::int32_t> first_;
};

/* Elements of the 6 edges, after the 4 vertices when with_vertices */
Elements with_edges(const Elements &tets, const Graph &vertices, bool with_vertices)
{
  static const int  ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  const EdgeNumbers number(vertices);
  const int         own   = with_vertices ? 4 : 0;
  const auto        shift = static_cast<std::int32_t>(with_vertices ? tets.nodes : 0);
  Elements          e;

  e.nodes      = shift + number.count();
  e.count      = tets.count;
  e.nodes_each = own + 6;
  e.node       = Array<std::int32_t>(e.count * e.nodes_each);
  parallel_ranges(e.count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; t++) {
      const std::int32_t *tet = tets.node.data() + 4 * t;
      std::int32_t       *out = e.node.data() + e.nodes_each * t;
      std::copy(tet, tet + own, out);
      for (int k = 0; k < 6; k++) out[own + k] = shift + number(tet[ends[k][0]], tet[ends[k][1]]);
    }
  });
  return e;
}

} // namespace

Elements tetrahedra(int n)
{
  const std::int64_t cells = n - 1;
  Elements           e;

  e.nodes      = static_cast<std::int64_t>(n) * n * n;
  e.count      = 6 * cells * cells * cells;
  e.nodes_each = 4;
  e.node       = Array<std::int32_t>(4 * e.count);
  parallel_ranges(cells * cells * cells, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; c++) {
      const std::int64_t i = c % cells, j = c / cells % cells, k = c / (cells * cells);
      std::int32_t       vertex[8];
      for (int v = 0; v < 8; v++)
        vertex[v] = static_cast<std::int32_t>(((k + (v >> 2)) * n + j + ((v >> 1) & 1)) * n + i + (v & 1));
      cut_cell(vertex, e.node.data() + 24 * c);
    }
  });
  return e;
}

Graph graph_of(const Elements &e)
{
  const Incidence around = incidence_of(e);
  Graph           g;
  const auto      gather = [&](std::int64_t i, std::vector<std::int32_t> &list) {
    list.clear();
    for (std::int64_t k = around.ptr[i]; k < around.ptr[i + 1]; k++) {
      const std::int32_t *node = e.node.data() + static_cast<std::int64_t>(around.element[k]) * e.nodes_each;
      list.insert(list.end(), node, node + e.nodes_each);
    }
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };

  g.nodes = e.nodes;
  g.ptr   = Array<std::int32_t>(g.nodes + 1);
  parallel_ranges(g.nodes, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int32_t> list;
    for (std::int64_t i = begin; i < end; i++) {
      gather(i, list);
      g.ptr[i + 1] = static_cast<std::int32_t>(list.size());
    }
  });
  g.adj = Array<std::int32_t>(sum_counts(g.ptr));
  parallel_ranges(g.nodes, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int32_t> list;
    for (std::int64_t i = begin; i < end; i++) {
      gather(i, list);
      std::copy(list.begin(), list.end(), g.adj.data() + g.ptr[i]);
    }
  });
  return g;
}

Elements edges_of(const Elements &tets, const Graph &vertices) { return with_edges(tets, vertices, false); }

Elements vertices_and_edges_of(const Elements &tets, const Graph &vertices) { return with_edges(tets, vertices, true); }

} // namespace bench
