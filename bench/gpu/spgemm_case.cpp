/*
  spgemm_case.cpp - see spgemm_case.hpp
*/
#include "spgemm_case.hpp"
#include "status.hpp"

#include "gen.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace bench
{
namespace
{

constexpr double DAMPING = 0.6;

SpmvPattern pattern_of(const Csr &m)
{
  return {m.rows, m.cols, m.nnz, SPMV_I32, SPMV_HOST, m.row_ptr.data(), m.col.data()};
}

/* Calls visit(node) for the neighbours of a node, including itself */
template <class Visit>
void for_neighbours(const Csr &a, std::int64_t dofs, std::int64_t node, Visit visit)
{
  for (std::int32_t k = a.row_ptr[node * dofs]; k < a.row_ptr[node * dofs + 1]; k++) visit(a.col[k] / dofs);
}

/* Returns the aggregate of each node; sets the number of aggregates */
std::vector<std::int32_t> aggregate(const Csr &a, std::int64_t dofs, std::int32_t &aggregates)
{
  const std::int64_t        nodes = a.rows / dofs;
  std::vector<std::int32_t> of(nodes, -1);

  aggregates = 0;
  for (std::int64_t i = 0; i < nodes; i++) {
    bool is_free = of[i] < 0;
    for_neighbours(a, dofs, i, [&](std::int64_t j) { is_free = is_free && of[j] < 0; });
    if (!is_free) continue;
    of[i] = aggregates;
    for_neighbours(a, dofs, i, [&](std::int64_t j) { of[j] = aggregates; });
    aggregates++;
  }
  const std::vector<std::int32_t> first = of;
  for (std::int64_t i = 0; i < nodes; i++) {
    if (of[i] >= 0) continue;
    for_neighbours(a, dofs, i, [&](std::int64_t j) {
      if (of[i] < 0) of[i] = first[j];
    });
    if (of[i] < 0) of[i] = aggregates++;
  }
  return of;
}

/* The tentative prolongator P0 */
Csr tentative(const Csr &a, std::int64_t dofs)
{
  const std::int64_t width      = dofs == 3 ? 6 : 1;
  std::int32_t       aggregates = 0;
  const auto         of         = aggregate(a, dofs, aggregates);
  Csr                p;

  p.rows    = a.rows;
  p.cols    = aggregates * width;
  p.nnz     = a.rows * width;
  p.row_ptr = Array<std::int32_t>(p.rows + 1);
  p.col     = Array<std::int32_t>(p.nnz);
  p.values  = Array<double>(p.nnz);
  for (std::int64_t k = 0; k < p.nnz; k++) {
    p.col[k]    = static_cast<std::int32_t>(of[k / width / dofs] * width + k % width);
    p.values[k] = width == 1 ? 1 : 2 * gen_uniform(1, static_cast<std::uint64_t>(k)) - 1;
  }
  for (std::int64_t i = 0; i <= p.rows; i++) p.row_ptr[i] = static_cast<std::int32_t>(i * width);
  return p;
}

/* Turns the values of A P0 into those of P0 - 0.6 D^-1 A P0 */
void smooth(const Csr &a, const Csr &p0, Csr &p)
{
  for (std::int64_t i = 0; i < p.rows; i++) {
    double       size = 0;
    std::int32_t from = p0.row_ptr[i];
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; k++) size += std::fabs(a.values[k]);
    for (std::int32_t k = p.row_ptr[i]; k < p.row_ptr[i + 1]; k++) {
      if (size > 0) p.values[k] *= -DAMPING / size;
      while (from < p0.row_ptr[i + 1] && p0.col[from] < p.col[k]) from++;
      if (from < p0.row_ptr[i + 1] && p0.col[from] == p.col[k]) p.values[k] += p0.values[from];
    }
  }
}

} // namespace

Csr make_prolongator(const Csr &a)
{
  const Csr         p0        = tentative(a, a.group.compare(0, 4, "fem3") == 0 ? 3 : 1);
  const SpmvPattern pattern[] = {pattern_of(a), pattern_of(p0)};
  ::SpmvSpgemm     *product   = nullptr;
  SpmvPattern       c;
  SpmvExec          exec;
  Csr               p;

  spmv_exec_init(&exec, SPMV_HOST);
  check(spmv_spgemm_symbolic(SPMV_SPGEMM_AB, &pattern[0], &pattern[1], SPMV_F64, &exec, &product), exec);
  spmv_spgemm_pattern(product, &c);
  p.rows    = c.rows;
  p.cols    = c.cols;
  p.nnz     = c.nnz;
  p.row_ptr = Array<std::int32_t>(c.rows + 1);
  p.col     = Array<std::int32_t>(c.nnz);
  p.values  = Array<double>(c.nnz);
  std::copy_n(static_cast<const std::int32_t *>(c.row_ptr), c.rows + 1, p.row_ptr.data());
  std::copy_n(static_cast<const std::int32_t *>(c.col), c.nnz, p.col.data());
  const SpmvStatus status = spmv_spgemm_numeric(product, a.values.data(), p0.values.data(), p.values.data(), &exec);
  spmv_spgemm_destroy(&product);
  check(status, exec);
  smooth(a, p0, p);
  return p;
}

Csr transposed(const Csr &m)
{
  Csr t;

  t.rows    = m.cols;
  t.cols    = m.rows;
  t.nnz     = m.nnz;
  t.row_ptr = Array<std::int32_t>(t.rows + 1);
  t.col     = Array<std::int32_t>(t.nnz);
  t.values  = Array<double>(t.nnz);
  std::vector<std::int32_t> next(t.rows + 1, 0);
  for (std::int64_t k = 0; k < m.nnz; k++) next[m.col[k] + 1]++;
  for (std::int64_t i = 0; i < t.rows; i++) next[i + 1] += next[i];
  std::copy(next.begin(), next.end(), t.row_ptr.data());
  for (std::int64_t i = 0; i < m.rows; i++)
    for (std::int32_t k = m.row_ptr[i]; k < m.row_ptr[i + 1]; k++) {
      const std::int32_t at = next[m.col[k]]++;
      t.col[at]             = static_cast<std::int32_t>(i);
      t.values[at]          = m.values[k];
    }
  return t;
}

} // namespace bench
