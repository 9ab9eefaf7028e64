/*
  fold_paper.cu - Tables 4 and 5 of the paper on the Fold method, measured on this machine's GPU

  Flow: command line -> catalog or readers -> fold_paper_measure (kernels of fold_paper_fold and
  fold_paper_rivals) -> JSON, which bench/papers/fold_paper.py makes tables of.

  Source: N. Tanabe, J. Kogou, Y. Ogawa, M. Takata and K. Joe, acceleration of sparse matrix-vector product by algorithm
  with folding long rows and memory with gather functions.
*/
#include "fold_paper.hpp"
#include "gen_published.h"
#include "run_matrices.cuh"
#include "trial.hpp"

#include <cstdio>
#include <iostream>

namespace bench
{
namespace
{

int count(const CommandLine &c)
{
  Json header = Json::object();

  header["date"]    = utc_now();
  header["commit"]  = c.commit;
  header["program"] = "fold_paper";
  return measure_sources(c, std::move(header), [](const Csr &matrix) {
    MatrixResult r;
    r.matrix = count_table(matrix);
    return r;
  });
}

int measure(const CommandLine &c)
{
  cudaStream_t stream;
  Json         settings = Json::object();

  BENCH_CUDA(cudaStreamCreate(&stream));
  Json header          = run_header(c.commit, stream);
  settings["warm_ups"] = WARM_UPS;
  settings["batches"]  = BATCHES;
  settings["batch"]    = BATCH;
  header["settings"]   = std::move(settings);
  header["program"]    = "fold_paper";
  const int status =
      measure_sources(c, std::move(header), [stream](const Csr &matrix) { return measure_rivals(matrix, stream); });
  BENCH_CUDA(cudaStreamDestroy(stream));
  return status;
}

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
  std::vector<std::string> shapes;

  for (const auto &shape : published_shapes) shapes.push_back(std::string("shape:") + shape.name);
  return bench::run_on_device("fold_paper", argc, argv, shapes, [](const bench::CommandLine &c) {
    return c.counts ? bench::count(c) : bench::measure(c);
  });
}
