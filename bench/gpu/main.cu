/*
  main.cu - spmv_bench: reads the command line, makes each matrix, measures it, and writes the results

  Flow: command_line -> catalog or readers -> measure (kernels of own_formats and peers_cusparse, trial) -> JSON.
*/
#include "bounds.hpp"
#include "catalog.hpp"
#include "command_line.hpp"
#include "families.h"
#include "measure.hpp"
#include "readers.hpp"
#include "trial.hpp"

#include <cstdio>
#include <iostream>

namespace bench
{
namespace
{

void print_list()
{
  for (int i = 0; i < family_count(); i++) {
    const Family *f = family_get(i);
    std::printf("%-16s %-20s size %-8lld %-42s %s\n", f->name, f->group, static_cast<long long>(f->default_size),
                f->what, f->size_means);
  }
  for (const char *const *set = family_sets(); *set; set++) {
    std::printf("set %s:", *set);
    for (const auto &name : matrix_set(*set)) std::printf(" %s", name.c_str());
    std::printf("\n");
  }
}

void print_statistics(const CommandLine &c)
{
  for (const auto &source : matrix_sources(c)) {
    const double begin = wall_seconds();
    const Csr    a     = source.make();
    const double made  = wall_seconds() - begin;
    check_csr(a);
    const RowStatistics s = row_statistics(a.rows, a.row_ptr.data());
    std::printf("%-24s %-20s %10lld rows %11lld nonzeros %8.1f MB  row %lld / %.1f / %lld  %.1f s\n", a.name.c_str(),
                a.group.c_str(), static_cast<long long>(a.rows), static_cast<long long>(a.nnz),
                static_cast<double>(csr_bytes(a)) * 1e-6, static_cast<long long>(s.shortest), s.mean,
                static_cast<long long>(s.longest), made);
  }
}

Json header(const CommandLine &c, cudaStream_t stream)
{
  Json h        = run_header(c.commit, stream);
  Json settings = Json::object();

  settings["warm_ups"]      = WARM_UPS;
  settings["batches"]       = BATCHES;
  settings["batch"]         = BATCH;
  settings["cold"]          = COLD;
  settings["general_alpha"] = GENERAL_ALPHA;
  settings["general_beta"]  = GENERAL_BETA;
  h["settings"]             = std::move(settings);
  return h;
}

/* Measures all matrices; returns the number of kernels and matrices that failed */
int run(const CommandLine &c)
{
  cudaStream_t             stream;
  std::vector<KernelMaker> makers = own_formats(c.formats, c.convert_once);

  BENCH_CUDA(cudaStreamCreate(&stream));
  if (c.peers)
    for (auto &peer : cusparse_peers()) makers.push_back(peer);
  Results   results(c.out, header(c, stream));
  const int faults = measure_all(matrix_sources(c), c.budget, results, [&](const Csr &a) {
    MatrixResult r = measure_matrix(a, makers, stream);
    if (c.bounds) r.matrix["gather_us"] = gather_bounds(a, stream);
    return r;
  });
  if (c.out.empty()) std::cout << results.text();
  BENCH_CUDA(cudaStreamDestroy(stream));
  return faults;
}

int run_or_explain(const CommandLine &c)
{
  std::string reason;

  if (c.help) std::cout << usage();
  else if (c.list) print_list();
  else if (c.statistics) print_statistics(c);
  else if (!c.write.empty()) write_petsc(matrix_sources(c).front().make(), c.write);
  else if (usable_devices(reason) == 0) {
    std::fprintf(stderr, "spmv_bench: no usable CUDA device: %s\n", reason.c_str());
    return NO_DEVICE;
  } else if (c.probe) std::cout << machine_facts().text(1) << "\n";
  else return run(c) ? 1 : 0;
  return 0;
}

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
  bench::CommandLine c;

  try {
    c = bench::parse_command_line(argc, argv);
  } catch (const std::exception &e) {
    std::fprintf(stderr, "spmv_bench: %s\n%s", e.what(), bench::usage().c_str());
    return 2;
  }
  try {
    return bench::run_or_explain(c);
  } catch (const std::exception &e) {
    std::fprintf(stderr, "spmv_bench: %s\n", e.what());
    return 1;
  }
}
