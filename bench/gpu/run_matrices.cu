/* run_matrices.cu - see run_matrices.cuh */
#include "run_matrices.cuh"
#include "catalog.hpp"
#include "clock.hpp"
#include "device.cuh"
#include "families.h"
#include "readers.hpp"

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

/* Does what needs no GPU and measures nothing; false if the command line asks for neither */
bool informed(const CommandLine &c)
{
  if (c.help) std::cout << usage();
  else if (c.list) print_list();
  else if (c.statistics) print_statistics(c);
  else if (!c.write.empty()) write_petsc(matrix_sources(c).front().make(), c.write);
  else return false;
  return true;
}

} // namespace

int measure_sources(const CommandLine &c, Json header, const std::function<MatrixResult(const Csr &)> &measure)
{
  Results   results(c.out, std::move(header));
  const int faults = measure_all(matrix_sources(c), c.budget, results, measure);
  if (c.out.empty()) std::cout << results.text();
  return faults ? 1 : 0;
}

int run_matrices(const char *program, int argc, char **argv, const std::vector<std::string> &default_matrices,
                 const Measure &measure)
{
  return run_on_device(program, argc, argv, default_matrices, [&](const CommandLine &c) {
    cudaStream_t stream;

    BENCH_CUDA(cudaStreamCreate(&stream));
    const int status =
        measure_sources(c, run_header(c.commit, stream), [&](const Csr &a) { return measure(a, c, stream); });
    BENCH_CUDA(cudaStreamDestroy(stream));
    return status;
  });
}

int run_on_device(const char *program, int argc, char **argv, const std::vector<std::string> &default_matrices,
                  const std::function<int(const CommandLine &)> &run)
{
  std::string reason;
  CommandLine c;

  try {
    c = parse_command_line(argc, argv, default_matrices);
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s: %s\n%s", program, e.what(), usage().c_str());
    return 2;
  }
  try {
    if (informed(c)) return 0;
    if (!c.counts && usable_devices(reason) == 0) {
      std::fprintf(stderr, "%s: no usable CUDA device: %s\n", program, reason.c_str());
      return NO_DEVICE;
    }
    if (!c.probe) return run(c);
    std::cout << machine_facts().text() << "\n";
    return 0;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s: %s\n", program, e.what());
    return 1;
  }
}

} // namespace bench
