/*
  catalog.cpp - matrices of the catalogue (see catalog.hpp); statistics and checks of matrices
*/
#include "catalog.hpp"
#include "families.h"
#include "gen.h"
#include "parallel.hpp"

#include <stdexcept>

namespace bench
{
namespace
{

/* Takes over an array of a pattern; both sides use malloc() */
Array<std::int32_t> taken(const void *array, std::int64_t size)
{
  return Array<std::int32_t>::adopt(static_cast<std::int32_t *>(const_cast<void *>(array)),
                                    static_cast<std::size_t>(size));
}

Array<double> values_by_position(std::int64_t nnz)
{
  Array<double> values(static_cast<std::size_t>(nnz));

  parallel_ranges(nnz, [&values](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; k++)
      values[static_cast<std::size_t>(k)] = signed_uniform(static_cast<std::uint64_t>(k));
  });
  return values;
}

} // namespace

std::vector<std::string> matrix_set(const std::string &set)
{
  std::vector<std::string> r;
  const char *const *const names = family_set(set.c_str());

  if (!names) throw std::runtime_error("unknown set '" + set + "': use small, default or large");
  for (const char *const *name = names; *name; name++) r.push_back(*name);
  return r;
}

Csr make_matrix(const GenSpec &spec)
{
  SpmvPattern      p;
  Csr              a;
  const SpmvStatus status = gen_pattern(&spec, SPMV_I32, &p);

  if (status == SPMV_ERR_OVERFLOW) throw std::runtime_error("more than 2^31-1 nonzeros: choose a smaller size");
  if (status != SPMV_SUCCESS) throw std::bad_alloc();
  a.rows    = p.rows;
  a.cols    = p.cols;
  a.nnz     = p.nnz;
  a.row_ptr = taken(p.row_ptr, p.rows + 1);
  a.col     = taken(p.col, p.nnz);
  a.values  = values_by_position(a.nnz);
  return a;
}

Csr make_matrix(const std::string &name)
{
  NamedMatrix named;
  char        message[FAMILY_TEXT];

  if (!family_find(name.c_str(), &named, message)) throw std::runtime_error(message);
  Csr a   = make_matrix(named.spec);
  a.name  = named.name;
  a.group = named.group;
  gen_free_kept();
  return a;
}

Array<double> definite_values(const Csr &a)
{
  Array<double> values(static_cast<std::size_t>(a.nnz));

  for (std::int64_t i = 0; i < a.rows; i++) {
    double       sum = 1e-3;
    std::int64_t at  = -1;
    for (std::int64_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; k++) {
      const std::int64_t j = a.col[k];
      if (j == i) at = k;
      else
        sum -= values[k] =
            -0.5 - gen_uniform(static_cast<std::uint64_t>(std::min(i, j)), static_cast<std::uint64_t>(std::max(i, j)));
    }
    if (at < 0) throw std::runtime_error("a diagonal entry is missing");
    values[at] = sum;
  }
  return values;
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
