/* run_matrices.cuh - the main program of the benchmarks, which measure matrices one after the other */
#ifndef BENCH_RUN_MATRICES_CUH
#define BENCH_RUN_MATRICES_CUH

#include "results.hpp"

#include <cuda_runtime.h>

namespace bench
{

using Measure = std::function<MatrixResult(const Csr &, const CommandLine &, cudaStream_t)>;

/* Reads the command line, and does what it asks for; run() measures. Returns the exit status: that of run(), 1 after an
   exception, 2 for wrong usage, or NO_DEVICE */
int run_on_device(const char *program, int argc, char **argv, const std::vector<std::string> &default_matrices,
                  const std::function<int(const CommandLine &)> &run);
/* The same, and measures each matrix */
int run_matrices(const char *program, int argc, char **argv, const std::vector<std::string> &default_matrices,
                 const Measure &measure);
/* Measures each matrix of the command line and writes the results; returns 0, or 1 if something failed */
int measure_sources(const CommandLine &, Json header, const std::function<MatrixResult(const Csr &)> &measure);

} // namespace bench
#endif
