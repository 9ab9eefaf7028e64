/*
  kernel.hpp - one product that is measured: a format of the library or a peer
*/
#ifndef BENCH_KERNEL_HPP
#define BENCH_KERNEL_HPP

#include "device.cuh"

#include <functional>
#include <memory>
#include <vector>

namespace bench
{

/* A matrix with all that its kernels share; both copies of the CSR outlive the kernels */
struct Problem {
  const Csr       &host;
  const DeviceCsr &device;
  cudaStream_t     stream;
};

/* One way to make a plan: from a CSR on the device, with or without the host's copy of its pattern, or on the host */
struct Conversion {
  std::string  source, error; /* error: why this way is not there; "" when it is */
  double       seconds = 0, first_seconds = 0, allocation_seconds = 0;
  std::int64_t peak_bytes = 0; /* device memory at the worst moment, the plan included, the given CSR not */
};

class Kernel
{
public:
  virtual ~Kernel() = default;
  /* Enqueues y = alpha A x + beta y on the stream of the problem */
  virtual void mult(double alpha, const double *x, double beta, double *y) = 0;
  /* Takes new values of the same pattern, in device memory; false when the kernel cannot */
  virtual bool update_values(const double *) { return false; }

  std::string  name;
  std::int64_t matrix_bytes = 0;              /* values, indices and pointers that a product reads */
  Json         facts        = Json::object(); /* what else the results say of it */

  /* Formats of the library only */
  bool                    own        = false;
  bool                    repeatable = false; /* promises the same bits every time */
  bool                    accepted   = true;  /* false: its analysis says that plain CSR is at least as good */
  std::vector<Conversion> conversions;
};

/* A kernel that still has to be made for a matrix. make returns null and a reason when the format does not fit. */
struct KernelMaker {
  std::string                                                            name;
  std::function<std::unique_ptr<Kernel>(const Problem &, std::string &)> make;
  bool                                                                   own = false;
};

std::vector<KernelMaker> cusparse_peers();

/* Formats of the registry: each text is name[:option=value...]; none means all of them.
   convert_once: one conversion, from the device, instead of several from each source.
   Throws std::runtime_error for an unknown name or option. */
std::vector<KernelMaker> own_formats(const std::vector<std::string> &texts, bool convert_once);

} // namespace bench
#endif
