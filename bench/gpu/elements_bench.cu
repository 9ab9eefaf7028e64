/*
  elements_bench.cu - elements_bench: times making a CSR from the list of all entries of element matrices (spmv_coo.h),
  for tetrahedra with 3 unknowns per node

    elements_bench [--matrix elements:points]... [--out file] [--commit text] [--no-peers] [--budget seconds]

  points is the number of nodes along an edge of a cube: 65 gives 226 million entries. Reported for each list: seconds
  for the first and for later patterns, from a list on the device and on the host; seconds for inserting and for adding
  values, with the minimum of bytes moved; bytes held afterwards, and the peak while sorting. Unless --no-peers is
  given, one thread of the host does the same by the standard library; pattern and values must have the same bits.
*/
#include "command_line.hpp"
#include "hooks.h"
#include "results.hpp"
#include "run_matrices.cuh"
#include "status.hpp"
#include "timing.cuh"

#include <gen_graph.h>
#include <spmv_coo.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <numeric>
#include <vector>

namespace bench
{
namespace
{

constexpr int DOFS = 3, PATTERN_RUNS = 5, VALUE_RUNS = 20;

const char *const DEFAULT_LISTS[] = {"elements:17", "elements:33", "elements:65"};

/* ---- the list ---- */

struct List {
  std::string         name;
  std::int64_t        rows = 0, count = 0;
  Array<std::int32_t> i, j;
  Array<double>       v;

  explicit List(const std::string &name_) : name(name_)
  {
    int points = 0, used = 0;

    if (std::sscanf(name.c_str(), "elements:%d%n", &points, &used) != 1 || name[used] || points < 2 || points > 400)
      throw std::runtime_error("--matrix is elements:points here, with 2 to 400 points along an edge, not '" + name +
                               "'");
    GenElements e = gen_elements_tetrahedra(points);
    rows          = DOFS * e.nodes;
    fill(e);
    gen_elements_free(&e);
  }

private:
  /* Element after element, and each element matrix row by row */
  void fill(const GenElements &e)
  {
    const std::int64_t own = DOFS * e.nodes_each;

    count = e.count * own * own;
    i     = Array<std::int32_t>(static_cast<std::size_t>(count));
    j     = Array<std::int32_t>(static_cast<std::size_t>(count));
    v     = Array<double>(static_cast<std::size_t>(count));
    for (std::int64_t k = 0; k < count; k++) {
      const std::int32_t *node = e.node + k / (own * own) * e.nodes_each;
      const auto          row = k / own % own, col = k % own;
      const auto          at = static_cast<std::size_t>(k);

      i[at] = static_cast<std::int32_t>(DOFS * node[row / DOFS] + row % DOFS);
      j[at] = static_cast<std::int32_t>(DOFS * node[col / DOFS] + col % DOFS);
      v[at] = 1.0 / static_cast<double>(1 + k % 1009) - (row == col ? 0 : 0.3);
    }
  }
};

SpmvCooList list_of(const List &l, SpmvSpace space, const std::int32_t *i, const std::int32_t *j)
{
  SpmvCooList r = {};

  r.part[0]    = {l.count, i, j};
  r.index_type = SPMV_I32;
  r.space      = space;
  r.all_rows = r.all_cols = r.rows = r.own_cols = l.rows;
  return r;
}

/* ---- measuring ---- */

struct Coo {
  SpmvExec    exec;
  SpmvCoo    *coo     = nullptr;
  SpmvPattern pattern = {};

  explicit Coo(cudaStream_t stream)
  {
    spmv_exec_init(&exec, SPMV_DEVICE);
    exec.stream = stream;
  }
  ~Coo() { spmv_coo_destroy(&coo); }
  Coo(const Coo &)            = delete;
  Coo &operator=(const Coo &) = delete;

  void make(const SpmvCooList &list)
  {
    spmv_coo_destroy(&coo);
    check(spmv_coo_create(&list, &exec, &coo), exec);
    spmv_coo_pattern(coo, &pattern);
  }
  double median_of(const SpmvCooList &list)
  {
    std::vector<double> seconds;

    for (int run = 0; run < PATTERN_RUNS; run++) seconds.push_back(wall_seconds_of([&] { make(list); }));
    return spread_of(seconds).median;
  }
  void values(const double *v, int add, double *csr)
  {
    const void *parts[] = {v, nullptr};
    check(spmv_coo_values(coo, SPMV_F64, parts, add, csr, &exec), exec);
  }
};

/* A CSR on the host */
struct Result {
  Array<std::int32_t> row_ptr, col;
  Array<double>       values;

  template <class T>
  static bool same(const Array<T> &a, const Array<T> &b)
  {
    return a.bytes() == b.bytes() && !std::memcmp(a.data(), b.data(), a.bytes());
  }
  bool operator==(const Result &o) const
  {
    return same(row_ptr, o.row_ptr) && same(col, o.col) && same(values, o.values);
  }
};

template <class T>
Array<T> on_host(const void *there, std::int64_t n)
{
  Array<T> r(static_cast<std::size_t>(n));

  BENCH_CUDA(cudaMemcpy(r.data(), there, r.bytes(), cudaMemcpyDeviceToHost));
  return r;
}

/* Peak of device memory while a list on the device is sorted, without the list itself */
std::int64_t peak_bytes(const SpmvCooList &list)
{
  Hooks    hooks;
  SpmvExec exec;
  SpmvCoo *coo = nullptr;

  hooks_init(&hooks);
  hooks_exec(&hooks, SPMV_DEVICE, nullptr, &exec);
  const SpmvStatus status = spmv_coo_create(&list, &exec, &coo);
  spmv_coo_destroy(&coo);
  check(status, exec);
  return hooks.device.peak_bytes;
}

void measure_values(const List &l, Coo &coo, cudaStream_t stream, Json &r, Result &result, int &faults)
{
  const auto          v     = DeviceArray<double>::copy_of(l.v);
  const auto          nnz   = coo.pattern.nnz;
  const double        bytes = 12.0 * static_cast<double>(l.count) + 12.0 * static_cast<double>(nnz);
  EventTimer          timer;
  DeviceArray<double> csr(static_cast<std::size_t>(nnz)), again(static_cast<std::size_t>(nnz));

  coo.values(v.data(), 0, again.data());
  for (int add = 0; add <= 1; add++) {
    const std::string   name  = add ? "add" : "insert";
    const double        moved = bytes + (add ? 8.0 * static_cast<double>(nnz) : 0);
    std::vector<double> seconds;
    coo.values(v.data(), 0, csr.data());
    for (int run = 0; run < VALUE_RUNS; run++)
      seconds.push_back(timer.seconds(stream, [&] { coo.values(v.data(), add, csr.data()); }));
    r[name + "_s"]           = spread_of(seconds).median;
    r[name + "_bytes"]       = static_cast<std::int64_t>(moved);
    r[name + "_bytes_per_s"] = moved / spread_of(seconds).median;
    if (add) continue;
    const bool the_same = differing(csr.data(), again.data(), nnz, stream) == 0;
    r["repeatable"]     = the_same;
    faults += !the_same;
    result.values = csr.on_host();
  }
}

Json measure_device(const List &l, cudaStream_t stream, Result &result, int &faults)
{
  const auto        i = DeviceArray<std::int32_t>::copy_of(l.i), j = DeviceArray<std::int32_t>::copy_of(l.j);
  const SpmvCooList there = list_of(l, SPMV_DEVICE, i.data(), j.data());
  Coo               coo(stream);
  Json              r = Json::object();
  std::int64_t      entries, bytes;

  r["kernel"]              = "device";
  r["pattern_first_s"]     = wall_seconds_of([&] { coo.make(there); });
  r["pattern_s"]           = coo.median_of(there);
  r["pattern_from_host_s"] = coo.median_of(list_of(l, SPMV_HOST, l.i.data(), l.j.data()));
  spmv_coo_info(coo.coo, &entries, &bytes);
  r["nnz"]        = coo.pattern.nnz;
  r["held_bytes"] = bytes;
  r["peak_bytes"] = peak_bytes(there);
  r["list_bytes"] = static_cast<std::int64_t>(l.i.bytes() + l.j.bytes());
  measure_values(l, coo, stream, r, result, faults);
  result.row_ptr = on_host<std::int32_t>(coo.pattern.row_ptr, coo.pattern.rows + 1);
  result.col     = on_host<std::int32_t>(coo.pattern.col, coo.pattern.nnz);
  return r;
}

/* The CSR of a list by one thread of the host and the standard library. Place p has the entries entry[start[p]] ..
   entry[start[p+1]-1], in the order of the list. */
struct Places {
  std::vector<std::size_t> entry, start;
  Result                   csr;

  explicit Places(const List &l) : entry(static_cast<std::size_t>(l.count))
  {
    const auto                rows = static_cast<std::size_t>(l.rows);
    std::vector<std::size_t>  end(rows + 1); /* of the row before, until its entries are listed */
    std::vector<std::int32_t> col;

    csr.row_ptr = Array<std::int32_t>(rows + 1);
    for (std::size_t k = 0; k < entry.size(); k++) end[static_cast<std::size_t>(l.i[k]) + 1]++;
    std::partial_sum(end.begin(), end.end(), end.begin());
    for (std::size_t k = 0; k < entry.size(); k++) entry[end[static_cast<std::size_t>(l.i[k])]++] = k;
    csr.row_ptr[0] = 0;
    for (std::size_t row = 0, k = 0; row < rows; row++) {
      const auto begin = entry.begin() + static_cast<std::ptrdiff_t>(k);
      std::stable_sort(begin, entry.begin() + static_cast<std::ptrdiff_t>(end[row]),
                       [&](std::size_t a, std::size_t b) { return l.j[a] < l.j[b]; });
      for (const std::size_t first = k; k < end[row]; k++) {
        if (k > first && l.j[entry[k]] == l.j[entry[k - 1]]) continue;
        col.push_back(l.j[entry[k]]);
        start.push_back(k);
      }
      csr.row_ptr[row + 1] = static_cast<std::int32_t>(col.size());
    }
    start.push_back(entry.size());
    csr.col = Array<std::int32_t>(col.size());
    std::copy(col.begin(), col.end(), csr.col.data());
    csr.values = Array<double>(col.size());
  }

  void values(const Array<double> &v)
  {
    for (std::size_t p = 0; p + 1 < start.size(); p++) {
      double sum = 0;
      for (std::size_t k = start[p]; k < start[p + 1]; k++) sum += v[entry[k]];
      csr.values[p] = sum;
    }
  }
};

Json measure_host(const List &l, const Result &device, int &faults)
{
  std::unique_ptr<Places> places;
  Json                    r = Json::object();

  r["kernel"]         = "host";
  r["pattern_s"]      = wall_seconds_of([&] { places = std::make_unique<Places>(l); });
  r["nnz"]            = static_cast<std::int64_t>(places->start.size() - 1);
  r["insert_s"]       = wall_seconds_of([&] { places->values(l.v); });
  const bool the_same = places->csr == device;
  r["same_as_device"] = the_same;
  faults += !the_same;
  return r;
}

MatrixResult measure(const std::string &name, const CommandLine &c, cudaStream_t stream)
{
  const List   l(name);
  MatrixResult m;
  Result       device;
  const auto   add = [&](Json r) {
    r["matrix"] = l.name;
    std::fprintf(stderr, "  %s\n", r.text().c_str());
    m.records.push_back(std::move(r));
  };

  m.matrix            = Json::object();
  m.matrix["name"]    = l.name;
  m.matrix["rows"]    = l.rows;
  m.matrix["entries"] = l.count;
  add(measure_device(l, stream, device, m.faults));
  if (c.peers) add(measure_host(l, device, m.faults));
  return m;
}

int run(const CommandLine &c)
{
  const double begin  = wall_seconds();
  int          faults = 0;
  cudaStream_t stream;

  BENCH_CUDA(cudaStreamCreate(&stream));
  Results results(c.out, run_header(c.commit, stream));
  for (const auto &name : c.matrices) {
    if (c.budget > 0 && wall_seconds() - begin > c.budget) {
      results.leave_out(name, "budget");
      continue;
    }
    std::fprintf(stderr, "%s\n", name.c_str());
    const MatrixResult m = measure(name, c, stream);
    faults += m.faults;
    results.add(m);
  }
  if (c.out.empty()) std::cout << results.text();
  BENCH_CUDA(cudaStreamDestroy(stream));
  return faults ? 1 : 0;
}

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
  return bench::run_on_device("elements_bench", argc, argv,
                              {std::begin(bench::DEFAULT_LISTS), std::end(bench::DEFAULT_LISTS)}, bench::run);
}
