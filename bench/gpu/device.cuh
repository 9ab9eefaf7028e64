/*
  device.cuh - CUDA helpers of the benchmark: errors, device memory, bandwidths, and facts about the machine
*/
#ifndef BENCH_DEVICE_CUH
#define BENCH_DEVICE_CUH

#include "clock.hpp"
#include "json.hpp"
#include "matrix.hpp"

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace bench
{

/* Clears the error in the runtime, so that the next launch does not return it, and throws */
inline void cuda_check(cudaError_t error, const char *what)
{
  if (error == cudaSuccess) return;
  cudaGetLastError();
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}
#define BENCH_CUDA(call) ::bench::cuda_check((call), #call)

/* Uninitialized device memory; its size is in elements */
template <class T>
class DeviceArray
{
public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t size) : size_(size)
  {
    if (size) BENCH_CUDA(cudaMalloc(reinterpret_cast<void **>(&block_), size * sizeof(T)));
  }
  template <class Host>
  static DeviceArray copy_of(const Host &host)
  {
    DeviceArray r(host.size());
    if (host.size()) BENCH_CUDA(cudaMemcpy(r.block_, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return r;
  }
  DeviceArray(DeviceArray &&other) noexcept { swap(other); }
  DeviceArray &operator=(DeviceArray &&other) noexcept
  {
    swap(other);
    return *this;
  }
  DeviceArray(const DeviceArray &)            = delete;
  DeviceArray &operator=(const DeviceArray &) = delete;
  ~DeviceArray() { cudaFree(block_); }
  T          *data() { return block_; }
  const T    *data() const { return block_; }
  std::size_t size() const { return size_; }
  Array<T>    on_host() const
  {
    Array<T> r(size_);
    if (size_) BENCH_CUDA(cudaMemcpy(r.data(), block_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return r;
  }

private:
  void swap(DeviceArray &other) noexcept
  {
    std::swap(block_, other.block_);
    std::swap(size_, other.size_);
  }
  T          *block_ = nullptr;
  std::size_t size_  = 0;
};

/* A CSR matrix on the device */
struct DeviceCsr {
  explicit DeviceCsr(const Csr &host)
      : row_ptr(DeviceArray<std::int32_t>::copy_of(host.row_ptr)), col(DeviceArray<std::int32_t>::copy_of(host.col)),
        values(DeviceArray<double>::copy_of(host.values))
  {
  }
  DeviceArray<std::int32_t> row_ptr, col;
  DeviceArray<double>       values;
};

/* Seconds of a piece of host code, including all device work that it enqueued */
template <class Work>
double wall_seconds_of(const Work &work)
{
  BENCH_CUDA(cudaDeviceSynchronize());
  const double begin = wall_seconds();
  work();
  BENCH_CUDA(cudaDeviceSynchronize());
  return wall_seconds() - begin;
}

/* Bytes that the device has free, after all of its work */
std::int64_t free_bytes();

/* The number of usable devices; reason says why there is none */
int usable_devices(std::string &reason);

/* The exit status of a program without a usable device */
constexpr int NO_DEVICE = 77;

/* Name, driver, runtime, caches, host processor */
Json machine_facts();

/* Bytes read and written per second by copies of a block of this size on the device: the median of several copies */
double copy_bandwidth(std::size_t block_bytes, cudaStream_t);
/* Bytes per second from pinned host memory to the device, likewise */
double upload_bandwidth(std::size_t block_bytes, cudaStream_t);

/* The header of the results: the machine, the date, the commit, and the bandwidth of a copy of 2 GiB */
Json run_header(const std::string &commit, cudaStream_t);

/* Fills the second-level cache with other data, without leaving dirty lines */
class CacheFlush
{
public:
  CacheFlush();
  void enqueue(cudaStream_t);

private:
  DeviceArray<double> block_, sink_;
};

/* The number of doubles in a and b that differ in any bit (also NaN), counted on the device */
std::int64_t differing(const double *a, const double *b, std::int64_t n, cudaStream_t);

/* out = factor * in, on the device */
void scale_values(double *out, const double *in, double factor, std::int64_t n, cudaStream_t);

} // namespace bench
#endif
