/*
  timing.cuh - a timer by CUDA events, and median and spread of repeated timings
*/
#ifndef BENCH_TIMING_CUH
#define BENCH_TIMING_CUH

#include "device.cuh"

#include <algorithm>
#include <vector>

namespace bench
{

struct Spread {
  double median = 0, lower = 0, upper = 0, least = 0, most = 0; /* lower and upper are the quartiles */
};

inline Spread spread_of(std::vector<double> v)
{
  Spread r;

  if (v.empty()) return r;
  std::sort(v.begin(), v.end());
  const auto at = [&v](double part) {
    const double rank = part * static_cast<double>(v.size() - 1);
    const auto   low  = static_cast<std::size_t>(rank);
    const auto   high = std::min(low + 1, v.size() - 1);
    return v[low] + (rank - static_cast<double>(low)) * (v[high] - v[low]);
  };
  r.median = at(0.5);
  r.lower  = at(0.25);
  r.upper  = at(0.75);
  r.least  = v.front();
  r.most   = v.back();
  return r;
}

/* The median of the wall times of several runs */
template <class Work>
double median_seconds(int runs, const Work &work)
{
  std::vector<double> seconds;

  for (int i = 0; i < runs; i++) seconds.push_back(wall_seconds_of(work));
  return spread_of(seconds).median;
}

class EventTimer
{
public:
  EventTimer()
  {
    BENCH_CUDA(cudaEventCreate(&begin_));
    BENCH_CUDA(cudaEventCreate(&end_));
  }
  ~EventTimer()
  {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  EventTimer(const EventTimer &)            = delete;
  EventTimer &operator=(const EventTimer &) = delete;

  /* Seconds between two events around the work that `work` enqueues on the stream; waits for its end */
  template <class Work>
  double seconds(cudaStream_t stream, const Work &work)
  {
    float milliseconds = 0;

    BENCH_CUDA(cudaEventRecord(begin_, stream));
    work();
    BENCH_CUDA(cudaEventRecord(end_, stream));
    BENCH_CUDA(cudaEventSynchronize(end_));
    BENCH_CUDA(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return milliseconds * 1e-3;
  }

private:
  cudaEvent_t begin_, end_;
};

} // namespace bench
#endif
