/* run_matrices.cuh - the main program of benchmarks that measure matrices of the catalogue one after the other */
#ifndef BENCH_RUN_MATRICES_CUH
#define BENCH_RUN_MATRICES_CUH

#include "results.hpp"

#include <cuda_runtime.h>

namespace bench
{

using Measure = std::function<MatrixResult(const Csr &, const CommandLine &, cudaStream_t)>;

/* Returns the exit status: 0, 1 if something failed, or NO_DEVICE */
int run_matrices(const char *program, int argc, char **argv, const std::vector<std::string> &default_matrices,
                 const Measure &measure);

} // namespace bench
#endif
