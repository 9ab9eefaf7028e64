/*
  kernel.hpp - a product to measure: by a format of the library or by a peer
*/
#ifndef BENCH_KERNEL_HPP
#define BENCH_KERNEL_HPP

#include "device.cuh"

#include <functional>
#include <memory>
#include <vector>

namespace bench
{

/* The matrix and stream that all kernels share; both copies of the CSR outlive the kernels */
struct Problem {
  const Csr       &host;
  const DeviceCsr &device;
  cudaStream_t     stream;
};

/* A conversion to a format, by the location of the CSR: on the device, with or without a copy of the pattern on the
   host, or on the host */
struct Conversion {
  std::string  source, error; /* error: why this conversion is not available, or "" */
  double       seconds = 0, first_seconds = 0, allocation_seconds = 0;
  std::int64_t peak_bytes = 0; /* peak of device memory, with the plan, without the given CSR */
};

class Kernel
{
public:
  virtual ~Kernel() = default;
  /* Enqueues y = alpha A x + beta y on the stream of the problem */
  virtual void mult(double alpha, const double *x, double beta, double *y) = 0;
  /* Takes new values of the same pattern, in device memory; returns false if the kernel cannot */
  virtual bool update_values(const double *) { return false; }

  std::string  name;
  std::int64_t matrix_bytes = 0;              /* values, indices and pointers that a product reads */
  Json         facts        = Json::object(); /* further facts for the results */

  /* For formats of the library only */
  bool                    own        = false;
  bool                    repeatable = false; /* promises bitwise equal results of repeated products */
  bool                    accepted   = true;  /* false: its analysis declines, as plain CSR is at least as good */
  std::vector<Conversion> conversions;
};

/* Makes a kernel for a matrix. make returns null and a reason if the format does not fit the matrix. */
struct KernelMaker {
  std::string                                                            name;
  std::function<std::unique_ptr<Kernel>(const Problem &, std::string &)> make;
  bool                                                                   own = false;
};

std::vector<KernelMaker> cusparse_peers();

/* Formats of the registry. Each text is name[:option=value...]; no texts: all formats. convert_once: a single
   conversion, from the device, instead of several from each source. Throws std::runtime_error for an unknown name or
   option. */
std::vector<KernelMaker> own_formats(const std::vector<std::string> &texts, bool convert_once);

} // namespace bench
#endif
