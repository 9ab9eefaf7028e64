/*
  main.cu - spmv_bench: reads the command line, makes each matrix, measures it, and writes the results

  Flow: command_line -> catalog or readers -> measure (kernels of own_formats and peers_cusparse, trial) -> JSON.
*/
#include "measure.hpp"
#include "run_matrices.cuh"
#include "trial.hpp"

namespace bench
{
namespace
{

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

int run(const CommandLine &c)
{
  cudaStream_t             stream;
  std::vector<KernelMaker> makers = own_formats(c.formats, c.convert_once);

  BENCH_CUDA(cudaStreamCreate(&stream));
  if (c.peers)
    for (auto &peer : cusparse_peers()) makers.push_back(peer);
  const int status =
      measure_sources(c, header(c, stream), [&](const Csr &a) { return measure_matrix(a, makers, stream); });
  BENCH_CUDA(cudaStreamDestroy(stream));
  return status;
}

} // namespace
} // namespace bench

int main(int argc, char **argv) { return bench::run_on_device("spmv_bench", argc, argv, {}, bench::run); }
