/*
  bounds.hpp - lower bounds for the time of a product: reading values, columns and entries of x as fast as possible
*/
#ifndef BENCH_BOUNDS_HPP
#define BENCH_BOUNDS_HPP

#include "json.hpp"
#include "matrix.hpp"
#include <cuda_runtime_api.h>

namespace bench
{

/* Microseconds to stream all values and columns once and to gather x, without sums of rows and without y: in the order
   of the CSR ("csr_order"), and in the order of slices of 32 rows sorted by length ("slice_order"); the fastest of
   several numbers of nonzeros per thread. "columns_only" leaves out the values. No format that reads a column and an
   entry of x for each nonzero, row by row, can be faster. */
Json gather_bounds(const Csr &, cudaStream_t);

} // namespace bench
#endif
