/*
  device.cu - see device.cuh
*/
#include "device.cuh"
#include "timing.cuh"

#include <cusparse.h>

#include <algorithm>
#include <cstring>
#include <fstream>

namespace bench
{
namespace
{

constexpr int         BLOCK      = 256;
constexpr std::size_t COPY_BLOCK = std::size_t{1} << 31, UPLOAD_BLOCK = std::size_t{1} << 28;

__global__ void read_all(const double *block, std::int64_t n, double *sink)
{
  double sum = 0;

  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < n;
       i += static_cast<std::int64_t>(gridDim.x) * blockDim.x)
    sum += block[i];
  if (sum != 0) *sink = sum; /* never true, as the block is all zeros; it keeps the loads */
}

__global__ void count_differing(const unsigned long long *a, const unsigned long long *b, std::int64_t n,
                                unsigned long long *count)
{
  unsigned long long own = 0;

  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < n;
       i += static_cast<std::int64_t>(gridDim.x) * blockDim.x)
    own += a[i] != b[i];
  if (own) atomicAdd(count, own);
}

__global__ void scale(double *out, const double *in, double factor, std::int64_t n)
{
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < n;
       i += static_cast<std::int64_t>(gridDim.x) * blockDim.x)
    out[i] = factor * in[i];
}

int grid_for(std::int64_t n) { return static_cast<int>(std::min<std::int64_t>((n + BLOCK - 1) / BLOCK + 1, 4096)); }

std::string first_line_with(const char *path, const std::string &key)
{
  std::ifstream file(path);
  std::string   line;

  while (std::getline(file, line)) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const auto colon = line.find(':');
    const auto text  = colon == std::string::npos ? std::string::npos : line.find_first_not_of(" \t", colon + 1);
    return text == std::string::npos ? line : line.substr(text);
  }
  return "unknown";
}

std::string version_text(int version)
{
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

} // namespace

std::int64_t free_bytes()
{
  std::size_t free_now = 0, total = 0;

  BENCH_CUDA(cudaDeviceSynchronize());
  BENCH_CUDA(cudaMemGetInfo(&free_now, &total));
  return static_cast<std::int64_t>(free_now);
}

int usable_devices(std::string &reason)
{
  int               count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);

  if (error != cudaSuccess) {
    reason = cudaGetErrorString(error);
    return 0;
  }
  if (count == 0) reason = "the driver shows no device";
  return count;
}

Json machine_facts()
{
  cudaDeviceProp properties;
  int            device = 0, driver = 0, runtime = 0, cusparse[3] = {0, 0, 0};
  Json           facts = Json::object(true);

  BENCH_CUDA(cudaGetDevice(&device));
  BENCH_CUDA(cudaGetDeviceProperties(&properties, device));
  BENCH_CUDA(cudaDriverGetVersion(&driver));
  BENCH_CUDA(cudaRuntimeGetVersion(&runtime));
  for (int part = 0; part < 3; part++)
    cusparseGetProperty(static_cast<libraryPropertyType>(MAJOR_VERSION + part), &cusparse[part]);
  facts["gpu"]             = properties.name;
  facts["compute"]         = std::to_string(properties.major) + "." + std::to_string(properties.minor);
  facts["multiprocessors"] = properties.multiProcessorCount;
  facts["l2_bytes"]        = properties.l2CacheSize;
  facts["memory_bytes"]    = static_cast<std::int64_t>(properties.totalGlobalMem);
  facts["driver"]          = first_line_with("/proc/driver/nvidia/version", "NVRM version");
  facts["driver_cuda"]     = version_text(driver);
  facts["cuda"]            = version_text(runtime);
  facts["cusparse"] =
      std::to_string(cusparse[0]) + "." + std::to_string(cusparse[1]) + "." + std::to_string(cusparse[2]);
  facts["host_cpu"] = first_line_with("/proc/cpuinfo", "model name");
  return facts;
}

namespace
{
/* Bytes per second of copies of a block, without the first two copies */
double copied_bytes_per_second(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
  EventTimer          timer;
  std::vector<double> seconds;

  for (int i = 0; i < 12; i++) {
    const double s = timer.seconds(stream, [&] { BENCH_CUDA(cudaMemcpyAsync(to, from, bytes, kind, stream)); });
    if (i >= 2) seconds.push_back(s);
  }
  return static_cast<double>(bytes) / spread_of(seconds).median;
}
} // namespace

double copy_bandwidth(std::size_t block_bytes, cudaStream_t stream)
{
  DeviceArray<char> from(block_bytes), to(block_bytes);

  BENCH_CUDA(cudaMemsetAsync(from.data(), 0, block_bytes, stream));
  return 2 * copied_bytes_per_second(to.data(), from.data(), block_bytes, cudaMemcpyDeviceToDevice, stream);
}

double upload_bandwidth(std::size_t block_bytes, cudaStream_t stream)
{
  DeviceArray<char> to(block_bytes);
  void             *from = nullptr;

  BENCH_CUDA(cudaMallocHost(&from, block_bytes));
  std::memset(from, 0, block_bytes);
  const double r = copied_bytes_per_second(to.data(), from, block_bytes, cudaMemcpyHostToDevice, stream);
  BENCH_CUDA(cudaFreeHost(from));
  return r;
}

Json run_header(const std::string &commit, cudaStream_t stream)
{
  Json h = machine_facts();

  h["date"]               = utc_now();
  h["commit"]             = commit;
  h["copy_bytes_per_s"]   = copy_bandwidth(COPY_BLOCK, stream);
  h["upload_bytes_per_s"] = upload_bandwidth(UPLOAD_BLOCK, stream);
  return h;
}

CacheFlush::CacheFlush() : sink_(1)
{
  int device = 0, cache = 0;

  BENCH_CUDA(cudaGetDevice(&device));
  BENCH_CUDA(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, device));
  const std::size_t bytes = std::max<std::size_t>(std::size_t{128} << 20, 3 * static_cast<std::size_t>(cache));
  block_                  = DeviceArray<double>(bytes / sizeof(double));
  BENCH_CUDA(cudaMemset(block_.data(), 0, bytes));
}

void CacheFlush::enqueue(cudaStream_t stream)
{
  const auto n = static_cast<std::int64_t>(block_.size());

  read_all<<<grid_for(n), BLOCK, 0, stream>>>(block_.data(), n, sink_.data());
  BENCH_CUDA(cudaGetLastError());
}

std::int64_t differing(const double *a, const double *b, std::int64_t n, cudaStream_t stream)
{
  DeviceArray<unsigned long long> count(1);

  BENCH_CUDA(cudaMemsetAsync(count.data(), 0, sizeof(unsigned long long), stream));
  count_differing<<<grid_for(n), BLOCK, 0, stream>>>(reinterpret_cast<const unsigned long long *>(a),
                                                     reinterpret_cast<const unsigned long long *>(b), n, count.data());
  BENCH_CUDA(cudaGetLastError());
  BENCH_CUDA(cudaStreamSynchronize(stream));
  return static_cast<std::int64_t>(count.on_host()[0]);
}

void scale_values(double *out, const double *in, double factor, std::int64_t n, cudaStream_t stream)
{
  scale<<<grid_for(n), BLOCK, 0, stream>>>(out, in, factor, n);
  BENCH_CUDA(cudaGetLastError());
}

} // namespace bench
