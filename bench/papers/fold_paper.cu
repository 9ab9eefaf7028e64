/*
  fold_paper.cu - Tables 4 and 5 of the paper on the Fold method, measured on this machine's GPU

  Flow: command line -> catalog or readers -> fold_paper_measure (kernels of fold_paper_fold and
  fold_paper_rivals) -> JSON, which bench/papers/fold_paper.py makes tables of.

  Source: N. Tanabe, J. Kogou, Y. Ogawa, M. Takata and K. Joe, acceleration of sparse matrix-vector product by algorithm
  with folding long rows and memory with gather functions.
*/
#include "catalog.hpp"
#include "fold_paper.hpp"
#include "gen_published.h"
#include "readers.hpp"
#include "trial.hpp"

#include <cstdio>
#include <iostream>

namespace bench
{
namespace
{

const char *const USAGE =
    "usage: fold_paper [option ...]\n"
    "  --shapes          matrices of all shapes of the paper's Table 3 (default without --matrix and --file)\n"
    "  --matrix name     one of them (shape:Na5, ...), or family[:size] of spmv_bench; may be given several times\n"
    "  --file path       PETSc binary, or Matrix Market (.mtx); may be given several times\n"
    "  --out file        results as JSON, rewritten after each matrix (standard output at the end)\n"
    "  --commit text     recorded in the results\n"
    "  --counts          only the sizes of the tables of fold (no GPU needed)\n"
    "Exit status: 0 all checks passed, 1 a kernel or a matrix failed, 2 wrong usage, 77 no usable GPU.\n";

struct Arguments {
  std::vector<MatrixSource> sources;
  std::string               out, commit = "unknown";
  bool                      counts = false, help = false;
};

void add_matrix(Arguments &a, const std::string &name)
{
  a.sources.push_back({name, [name] { return make_matrix(name); }});
}

void add_shapes(Arguments &a)
{
  for (const auto &shape : published_shapes) add_matrix(a, std::string("shape:") + shape.name);
}

Arguments parse(int argc, const char *const *argv)
{
  Arguments a;

  for (int i = 1; i < argc; i++) {
    const std::string option = argv[i];
    if (option == "--help") a.help = true;
    else if (option == "--counts") a.counts = true;
    else if (option == "--shapes") add_shapes(a);
    else if (i + 1 >= argc) throw std::runtime_error("unknown option or missing value: '" + option + "'");
    else {
      const std::string value = argv[++i];
      if (option == "--matrix") add_matrix(a, value);
      else if (option == "--file") a.sources.push_back({value, [value] { return read_matrix(value); }});
      else if (option == "--out") a.out = value;
      else if (option == "--commit") a.commit = value;
      else throw std::runtime_error("unknown option '" + option + "'");
    }
  }
  if (a.sources.empty()) add_shapes(a);
  return a;
}

/* Returns how many kernels or matrices failed */
int run(const Arguments &a, Json header, const std::function<MatrixResult(const Csr &)> &measure)
{
  header["program"] = "fold_paper";
  Results   results(a.out, std::move(header));
  const int faults = measure_all(a.sources, 0, results, measure);
  if (a.out.empty()) std::cout << results.text();
  return faults;
}

int count(const Arguments &a)
{
  Json header = Json::object();

  header["date"]   = utc_now();
  header["commit"] = a.commit;
  return run(a, std::move(header), [](const Csr &matrix) {
    MatrixResult r;
    r.matrix = count_table(matrix);
    return r;
  });
}

int measure(const Arguments &a)
{
  cudaStream_t stream;
  Json         settings = Json::object();

  BENCH_CUDA(cudaStreamCreate(&stream));
  Json header          = run_header(a.commit, stream);
  settings["warm_ups"] = WARM_UPS;
  settings["batches"]  = BATCHES;
  settings["batch"]    = BATCH;
  header["settings"]   = std::move(settings);
  const int faults = run(a, std::move(header), [stream](const Csr &matrix) { return measure_rivals(matrix, stream); });
  BENCH_CUDA(cudaStreamDestroy(stream));
  return faults;
}

int run_or_explain(const Arguments &a)
{
  std::string reason;

  if (a.help) std::cout << USAGE;
  else if (a.counts) return count(a) ? 1 : 0;
  else if (usable_devices(reason) == 0) {
    std::fprintf(stderr, "fold_paper: no usable CUDA device: %s\n", reason.c_str());
    return NO_DEVICE;
  } else return measure(a) ? 1 : 0;
  return 0;
}

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
  bench::Arguments a;

  try {
    a = bench::parse(argc, argv);
  } catch (const std::exception &e) {
    std::fprintf(stderr, "fold_paper: %s\n%s", e.what(), bench::USAGE);
    return 2;
  }
  try {
    return bench::run_or_explain(a);
  } catch (const std::exception &e) {
    std::fprintf(stderr, "fold_paper: %s\n", e.what());
    return 1;
  }
}
