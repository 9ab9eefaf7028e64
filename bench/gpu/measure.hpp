/*
  measure.hpp - checks all kernels of one matrix, times them in turns, and returns the results as JSON
*/
#ifndef BENCH_MEASURE_HPP
#define BENCH_MEASURE_HPP

#include "kernel.hpp"
#include "results.hpp"

namespace bench
{

/* Makes every kernel, checks it against the host, then times all of them in turns. Only formats of the library that
   fail count as faults; failures of peers are reported. */
MatrixResult measure_matrix(const Csr &, const std::vector<KernelMaker> &, cudaStream_t);

} // namespace bench
#endif
