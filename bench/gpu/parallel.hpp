/*
  parallel.hpp - loops over independent items on all cores, and numbers that depend on their position alone

  Generators write each row from its number, so that the result is the same for any count of threads.
*/
#ifndef BENCH_PARALLEL_HPP
#define BENCH_PARALLEL_HPP

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace bench
{

inline int thread_count() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

/* Calls body(begin, end) for ranges that cover 0 .. n-1; ranges are handed out as threads become free */
template <class Body>
void parallel_ranges(std::int64_t n, const Body &body)
{
  const std::int64_t        step    = std::max<std::int64_t>(256, n / (64 * thread_count()) + 1);
  const int                 threads = static_cast<int>(std::min<std::int64_t>(thread_count(), (n + step - 1) / step));
  std::atomic<std::int64_t> next{0};
  std::vector<std::thread>  team;
  const auto                work = [&] {
    for (std::int64_t begin; (begin = next.fetch_add(step)) < n;) body(begin, std::min(n, begin + step));
  };

  for (int t = 1; t < threads; t++) team.emplace_back(work);
  work();
  for (auto &member : team) member.join();
}

/* 64 well mixed bits of a number (the finalizer of splitmix64) */
inline std::uint64_t mix(std::uint64_t z)
{
  z += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/* Uniform in [0, 1) */
inline double uniform(std::uint64_t position) { return static_cast<double>(mix(position) >> 11) * 0x1p-53; }

/* Uniform in [-1, 1) */
inline double signed_uniform(std::uint64_t position) { return 2 * uniform(position) - 1; }

} // namespace bench
#endif
