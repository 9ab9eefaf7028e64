/*
  main.cu - spmv_bench: reads the command line, makes each matrix, measures it, and writes the results

  Flow: command_line -> generators or readers -> measure (kernels of own_formats and peers_cusparse, trial) -> JSON.
*/
#include "command_line.hpp"
#include "generators.hpp"
#include "measure.hpp"
#include "readers.hpp"
#include "trial.hpp"

#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>

namespace bench
{
namespace
{

constexpr int         NO_DEVICE  = 77;
constexpr std::size_t COPY_BLOCK = std::size_t{1} << 31, UPLOAD_BLOCK = std::size_t{1} << 28;

void print_list()
{
  for (const auto &f : families())
    std::printf("%-16s %-20s size %-8lld %s\n", f.name, f.group, static_cast<long long>(f.default_size), f.size_means);
  for (const char *set : {"small", "default", "large"}) {
    std::printf("set %s:", set);
    for (const auto &name : matrix_set(set)) std::printf(" %s", name.c_str());
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

std::string utc_now()
{
  char              text[32];
  const std::time_t now = std::time(nullptr);

  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

Json header(const CommandLine &c, cudaStream_t stream)
{
  Json h        = machine_facts();
  Json settings = Json::object();

  settings["warm_ups"]      = WARM_UPS;
  settings["batches"]       = BATCHES;
  settings["batch"]         = BATCH;
  settings["cold"]          = COLD;
  settings["general_alpha"] = GENERAL_ALPHA;
  settings["general_beta"]  = GENERAL_BETA;
  h["date"]                 = utc_now();
  h["commit"]               = c.commit;
  h["copy_bytes_per_s"]     = copy_bandwidth(COPY_BLOCK, stream);
  h["upload_bytes_per_s"]   = upload_bandwidth(UPLOAD_BLOCK, stream);
  h["settings"]             = std::move(settings);
  return h;
}

/* The results so far; written after each matrix, so that a run that is stopped leaves what it measured */
class Results
{
public:
  Results(const CommandLine &c, cudaStream_t stream) : out_(c.out), header_(header(c, stream)) {}
  void add(const MatrixResult &r)
  {
    matrices_.push(r.matrix);
    for (const auto &record : r.records) records_.push(record);
    write_file();
  }
  void leave_out(const std::string &name, const std::string &reason)
  {
    Json r      = Json::object();
    r["matrix"] = name;
    r["reason"] = reason;
    left_out_.push(std::move(r));
    write_file();
  }
  std::string text() const
  {
    Json all        = Json::object();
    all["schema"]   = 1;
    all["header"]   = header_;
    all["matrices"] = matrices_;
    all["records"]  = records_;
    all["left_out"] = left_out_;
    return all.text() + "\n";
  }

private:
  void write_file() const
  {
    if (out_.empty()) return;
    std::ofstream file(out_);
    file << text();
    if (!file.flush()) throw std::runtime_error(out_ + ": cannot be written");
  }
  std::string out_;
  Json        header_, matrices_ = Json::array(), records_ = Json::array(), left_out_ = Json::array();
};

/* Measures all matrices; returns how many kernels or matrices failed */
int run(const CommandLine &c)
{
  cudaStream_t             stream;
  std::vector<KernelMaker> makers = own_formats(c.formats, c.convert_once);
  const double             begin  = wall_seconds();
  int                      faults = 0;

  BENCH_CUDA(cudaStreamCreate(&stream));
  if (c.peers)
    for (auto &peer : cusparse_peers()) makers.push_back(peer);
  Results results(c, stream);
  for (const auto &source : matrix_sources(c)) {
    const double spent = wall_seconds() - begin;
    if (c.budget > 0 && spent > c.budget) {
      std::fprintf(stderr, "%s: left out, the budget of %g s is spent\n", source.name.c_str(), c.budget);
      results.leave_out(source.name, "budget");
      continue;
    }
    try {
      const Csr a = source.make();
      check_csr(a);
      std::fprintf(stderr, "%s: %lld rows, %lld nonzeros, %.1f MB, after %.1f s\n", a.name.c_str(),
                   static_cast<long long>(a.rows), static_cast<long long>(a.nnz),
                   static_cast<double>(csr_bytes(a)) * 1e-6, wall_seconds() - begin);
      if (a.nnz == 0) throw std::runtime_error("has no nonzeros: nothing to measure");
      const MatrixResult r = measure_matrix(a, makers, stream);
      faults += r.faults;
      results.add(r);
    } catch (const std::exception &e) {
      std::fprintf(stderr, "%s: FAILED: %s\n", source.name.c_str(), e.what());
      results.leave_out(source.name, e.what());
      faults++;
    }
  }
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
