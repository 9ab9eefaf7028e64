/*
  trial.hpp - the checks and the timings of kernels that share a matrix
*/
#ifndef BENCH_TRIAL_HPP
#define BENCH_TRIAL_HPP

#include "check.hpp"
#include "kernel.hpp"
#include "timing.cuh"

namespace bench
{

/* How often things are done; products of a batch run back to back between two events */
constexpr int WARM_UPS = 20, BATCHES = 15, BATCH = 10, GENERAL_BATCHES = 5, LEAD_IN = 2, COLD = 15, REPEATS = 20,
              REFRESHES = 10;
/* A kernel whose product takes more seconds than SLOW is timed in so many rounds, without warming up */
constexpr double SLOW        = 0.02;
constexpr int    SLOW_ROUNDS = 2;
/* The general pair; y = A x is the other */
constexpr double GENERAL_ALPHA = -1.7, GENERAL_BETA = 0.6;

/* Seconds of one of the products of a batch, which others of the same kernel lead in */
template <class Work>
double seconds_each(EventTimer &timer, cudaStream_t stream, const Work &work)
{
  for (int i = 0; i < LEAD_IN; i++) work();
  return timer.seconds(stream, [&] {
    for (int i = 0; i < BATCH; i++) work();
  }) / BATCH;
}

/* A kernel and what was found out about it */
struct Entry {
  std::string             name, error, skipped; /* error: it failed; skipped: it does not fit the matrix */
  std::unique_ptr<Kernel> kernel;
  bool                    own = false;
  CheckResult             check, general_check;
  std::int64_t            repeat_differences = 0; /* elements of y, over all repeats */
  bool                    refreshable = false, slow = false;
  std::vector<double>     refresh, refresh_alone, warm, general, cold; /* seconds: of one refresh, of one product */
  bool                    usable() const { return kernel && error.empty(); }
};

/* Vectors on the device that every kernel of a matrix uses */
struct Vectors {
  explicit Vectors(const Reference &);
  DeviceArray<double> x, y, y0, other;
};

/* Checks both pairs of factors, the repeats and the refresh; a failure goes to error. The kernel is not timed then. */
void verify(Entry &, const Problem &, const Reference &, Vectors &, const DeviceArray<double> &doubled_values);

/* Times all usable entries in turns: y = A x warm and cold, and the general pair */
void time_in_turns(std::vector<Entry> &, const Problem &, Vectors &);

/* Compares one more product of each usable entry with the reference, to find a kernel that wrote to the memory of another */
void verify_again(std::vector<Entry> &, const Problem &, const Reference &, Vectors &);

} // namespace bench
#endif
