/*
  measure.hpp - all kernels of one matrix: checked, timed in turns, and told as JSON
*/
#ifndef BENCH_MEASURE_HPP
#define BENCH_MEASURE_HPP

#include "kernel.hpp"
#include "results.hpp"

namespace bench
{

/* Makes every kernel, checks it against the host, then times all of them in turns. Faults are formats of the library
   that failed a check or could not run; peers are only reported. */
MatrixResult measure_matrix(const Csr &, const std::vector<KernelMaker> &, cudaStream_t);

} // namespace bench
#endif
