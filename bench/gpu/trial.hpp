/*
  trial.hpp - checks and times the kernels of one matrix
*/
#ifndef BENCH_TRIAL_HPP
#define BENCH_TRIAL_HPP

#include "check.hpp"
#include "kernel.hpp"
#include "timing.cuh"

namespace bench
{

/* Numbers of repetitions; the products of a batch run back to back between two events */
constexpr int WARM_UPS = 20, BATCHES = 15, BATCH = 10, GENERAL_BATCHES = 5, LEAD_IN = 2, COLD = 15, REPEATS = 20,
              REFRESHES = 10;
/* A kernel whose product takes more than SLOW seconds is timed in SLOW_ROUNDS rounds, without warm-up calls */
constexpr double SLOW        = 0.02;
constexpr int    SLOW_ROUNDS = 2;
/* The factors of the general product; the other product is y = A x */
constexpr double GENERAL_ALPHA = -1.7, GENERAL_BETA = 0.6;

/* Mean seconds of the products of a batch, after LEAD_IN warm-up calls of the same kernel */
template <class Work>
double seconds_each(EventTimer &timer, cudaStream_t stream, const Work &work)
{
  for (int i = 0; i < LEAD_IN; i++) work();
  return timer.seconds(stream, [&] {
    for (int i = 0; i < BATCH; i++) work();
  }) / BATCH;
}

/* A kernel, with the results of its checks and timings */
struct Entry {
  std::string             name, error, skipped; /* error: why it failed; skipped: why it does not fit the matrix */
  std::unique_ptr<Kernel> kernel;
  bool                    own = false;
  CheckResult             check, general_check;
  std::int64_t            repeat_differences = 0; /* number of elements of y, over all repeats */
  bool                    refreshable = false, slow = false;
  std::vector<double>     refresh, refresh_alone, warm, general, cold; /* seconds: of one refresh, of one product */
  bool                    usable() const { return kernel && error.empty(); }
};

/* The vectors on the device that all kernels of a matrix share */
struct Vectors {
  explicit Vectors(const Reference &);
  DeviceArray<double> x, y, y0, other;
};

/* Checks both products, repeated products and the refresh. After a failure, error is set, and the kernel is not
   timed. */
void verify(Entry &, const Problem &, const Reference &, Vectors &, const DeviceArray<double> &doubled_values);

/* Times all usable entries in turns: y = A x warm and cold, and the general pair */
void time_in_turns(std::vector<Entry> &, const Problem &, Vectors &);

/* Compares one more product of each usable entry with the reference, to find out if a kernel has overwritten the memory
   of another kernel */
void verify_again(std::vector<Entry> &, const Problem &, const Reference &, Vectors &);

} // namespace bench
#endif
