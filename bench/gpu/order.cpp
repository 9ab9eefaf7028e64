/*
  order.cpp - node orders of a graph: reverse Cuthill-McKee and random
*/
#include "mesh.hpp"
#include "parallel.hpp"
#include "rows.hpp"

#include <numeric>

namespace bench
{
namespace
{

/* Breadth-first search that visits the neighbours of a node by rising degree, as Cuthill and McKee do */
class Search
{
public:
  explicit Search(const Graph &g) : graph_(g), seen_(g.nodes, 0) {}

  /* Appends the component of start to order and returns the position where the last level begins */
  std::size_t run(std::int32_t start, std::vector<std::int32_t> &order)
  {
    std::size_t level = order.size(), next = level;
    std::size_t last_level = level;

    order.push_back(start);
    seen_[start] = 1;
    while (next < order.size()) {
      if (next == level) {
        last_level = level;
        level      = order.size();
      }
      visit(order[next++], order);
    }
    return last_level;
  }
  bool seen(std::int32_t node) const { return seen_[node] != 0; }
  /* Forgets the nodes order[from ..] and removes them */
  void undo(std::size_t from, std::vector<std::int32_t> &order)
  {
    for (std::size_t k = from; k < order.size(); k++) seen_[order[k]] = 0;
    order.resize(from);
  }
  std::int32_t degree(std::int32_t node) const { return graph_.ptr[node + 1] - graph_.ptr[node]; }

private:
  void visit(std::int32_t node, std::vector<std::int32_t> &order)
  {
    const std::size_t first = order.size();

    for (std::int32_t k = graph_.ptr[node]; k < graph_.ptr[node + 1]; k++) {
      const std::int32_t neighbour = graph_.adj[k];
      if (seen_[neighbour]) continue;
      seen_[neighbour] = 1;
      order.push_back(neighbour);
    }
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(first), order.end(), [this](std::int32_t a, std::int32_t b) {
      return degree(a) != degree(b) ? degree(a) < degree(b) : a < b;
    });
  }
  const Graph      &graph_;
  std::vector<char> seen_;
};

} // namespace

Array<std::int32_t> reverse_cuthill_mckee(const Graph &g)
{
  Search                    search(g);
  std::vector<std::int32_t> order;

  order.reserve(static_cast<std::size_t>(g.nodes));
  for (std::int32_t seed = 0; seed < g.nodes; seed++) {
    if (search.seen(seed)) continue;
    const std::size_t first = order.size();
    std::int32_t      start = seed;
    /* two searches move the start towards a node at the rim of the component, whose levels are narrow */
    for (int sweep = 0; sweep < 2; sweep++) {
      const std::size_t last = search.run(start, order);
      start                  = *std::min_element(order.begin() + static_cast<std::ptrdiff_t>(last), order.end(),
                                                 [&](auto a, auto b) { return search.degree(a) < search.degree(b); });
      search.undo(first, order);
    }
    search.run(start, order);
  }
  Array<std::int32_t> reversed(order.size());
  std::reverse_copy(order.begin(), order.end(), reversed.begin());
  return reversed;
}

Array<std::int32_t> random_order(std::int64_t nodes)
{
  Array<std::int32_t> order(static_cast<std::size_t>(nodes));

  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t i = nodes - 1; i > 0; i--) {
    const auto j =
        static_cast<std::int64_t>(mix(0x0DE5u + static_cast<std::uint64_t>(i)) % static_cast<std::uint64_t>(i + 1));
    std::swap(order[i], order[j]);
  }
  return order;
}

Graph permuted(const Graph &g, const Array<std::int32_t> &order)
{
  Graph               r;
  Array<std::int32_t> place(g.nodes);

  r.nodes = g.nodes;
  r.ptr   = Array<std::int32_t>(g.nodes + 1);
  for (std::int64_t i = 0; i < g.nodes; i++) {
    place[order[i]] = static_cast<std::int32_t>(i);
    r.ptr[i + 1]    = g.ptr[order[i] + 1] - g.ptr[order[i]];
  }
  r.adj = Array<std::int32_t>(sum_counts(r.ptr));
  parallel_ranges(g.nodes, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; i++) {
      const std::int32_t *from = g.adj.data() + g.ptr[order[i]];
      std::int32_t       *to   = r.adj.data() + r.ptr[i];
      const std::int32_t  n    = r.ptr[i + 1] - r.ptr[i];
      for (std::int32_t k = 0; k < n; k++) to[k] = place[from[k]];
      std::sort(to, to + n);
    }
  });
  return r;
}

} // namespace bench
