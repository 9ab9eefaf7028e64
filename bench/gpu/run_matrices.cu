/* run_matrices.cu - see run_matrices.cuh */
#include "run_matrices.cuh"
#include "device.cuh"

#include <cstdio>
#include <cstring>
#include <iostream>

namespace bench
{
namespace
{

int run(const CommandLine &c, const Measure &measure)
{
  cudaStream_t stream;

  BENCH_CUDA(cudaStreamCreate(&stream));
  Results   results(c.out, run_header(c.commit, stream));
  const int faults =
      measure_all(matrix_sources(c), c.budget, results, [&](const Csr &a) { return measure(a, c, stream); });
  if (c.out.empty()) std::cout << results.text();
  BENCH_CUDA(cudaStreamDestroy(stream));
  return faults ? 1 : 0;
}

} // namespace

int run_matrices(const char *program, int argc, char **argv, const std::vector<std::string> &default_matrices,
                 const Measure &measure)
{
  std::string reason;

  try {
    CommandLine c     = parse_command_line(argc, argv);
    bool        named = false;
    for (int i = 1; i < argc; i++) named = named || !std::strcmp(argv[i], "--matrix") || !std::strcmp(argv[i], "--set");
    if (!named) c.matrices = default_matrices;
    if (usable_devices(reason) > 0) return run(c, measure);
    std::fprintf(stderr, "%s: no usable CUDA device: %s\n", program, reason.c_str());
    return NO_DEVICE;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s: %s\n", program, e.what());
    return 1;
  }
}

} // namespace bench
