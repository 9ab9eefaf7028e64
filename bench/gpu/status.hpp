/*
  status.hpp - failures of the library as exceptions
*/
#ifndef BENCH_STATUS_HPP
#define BENCH_STATUS_HPP

#include <spmv_kernels.h>

#include <stdexcept>

namespace bench
{

inline void check(SpmvStatus status, const SpmvExec &exec)
{
  if (status) throw std::runtime_error(exec.message);
}

} // namespace bench
#endif
