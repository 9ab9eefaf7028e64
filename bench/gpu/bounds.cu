#include "bounds.hpp"
#include "trial.hpp"

#include <algorithm>
#include <numeric>

namespace bench
{
namespace
{

constexpr int THREADS = 256, ROWS = 32 /* of a slice */;

/* ITEMS nonzeros per thread, with all loads before the first use. The comparison with `never` prevents the compiler
   from removing the loads. */
template <int ITEMS, bool VALUES>
__global__ void __launch_bounds__(THREADS)
    gather_only(const int *__restrict__ col, const double *__restrict__ values, const double *__restrict__ x,
                std::int64_t nnz, double never, double *y)
{
  const std::int64_t k0 = blockIdx.x * static_cast<std::int64_t>(THREADS * ITEMS) + threadIdx.x;
  int                c[ITEMS];
  double             v[ITEMS], sum = 0;

#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    const bool inside = k0 + i * THREADS < nnz;
    c[i]              = inside ? __ldcs(col + k0 + i * THREADS) : 0;
    v[i]              = VALUES && inside ? __ldcs(values + k0 + i * THREADS) : 1.0;
  }
#pragma unroll
  for (int i = 0; i < ITEMS; i++) sum += v[i] * __ldg(x + c[i]);
  if (sum == never) y[0] = sum;
}

struct Gather {
  DeviceArray<int>    col;
  DeviceArray<double> values, x, y;
  cudaStream_t        stream;

  template <int ITEMS, bool VALUES>
  double microseconds()
  {
    const auto          nnz    = static_cast<std::int64_t>(col.size());
    const auto          blocks = static_cast<unsigned>((nnz + THREADS * ITEMS - 1) / (THREADS * ITEMS));
    std::vector<double> seconds;
    EventTimer          timer;

    if (nnz == 0) return 0;
    for (int b = 0; b < BATCHES; b++)
      seconds.push_back(seconds_each(timer, stream, [&] {
        gather_only<ITEMS, VALUES>
            <<<blocks, THREADS, 0, stream>>>(col.data(), values.data(), x.data(), nnz, -1.25e300, y.data());
        BENCH_CUDA(cudaGetLastError());
      }));
    return spread_of(seconds).median * 1e6;
  }
  template <bool VALUES>
  double fastest()
  {
    return std::min({microseconds<2, VALUES>(), microseconds<4, VALUES>(), microseconds<8, VALUES>()});
  }
};

/* The columns in the order of slices of rows sorted by length: position by position, without padding */
std::vector<std::int32_t> slice_order(const Csr &a)
{
  const auto                length = [&](std::int64_t i) { return a.row_ptr[i + 1] - a.row_ptr[i]; };
  std::vector<std::int64_t> rows(static_cast<std::size_t>(a.rows));
  std::vector<std::int32_t> col;

  std::iota(rows.begin(), rows.end(), 0);
  std::stable_sort(rows.begin(), rows.end(), [&](auto i, auto j) { return length(i) > length(j); });
  col.reserve(a.col.size());
  for (std::size_t first = 0; first < rows.size(); first += ROWS)
    for (std::int64_t k = 0; k < length(rows[first]); k++)
      for (std::size_t r = first; r < std::min(first + ROWS, rows.size()) && k < length(rows[r]); r++)
        col.push_back(a.col[static_cast<std::size_t>(a.row_ptr[rows[r]] + k)]);
  return col;
}

} // namespace

Json gather_bounds(const Csr &a, cudaStream_t stream)
{
  Json                      r = Json::object();
  const std::vector<double> ones(static_cast<std::size_t>(a.cols), 1.0);
  Gather                    g = {DeviceArray<int>::copy_of(a.col), DeviceArray<double>::copy_of(a.values),
                                 DeviceArray<double>::copy_of(ones), DeviceArray<double>(1), stream};

  r["csr_order"]          = g.fastest<true>();
  r["csr_columns_only"]   = g.fastest<false>();
  g.col                   = DeviceArray<int>::copy_of(slice_order(a));
  r["slice_order"]        = g.fastest<true>();
  r["slice_columns_only"] = g.fastest<false>();
  return r;
}

} // namespace bench
