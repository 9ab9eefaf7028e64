/*
  trial.cu - see trial.hpp
*/
#include "trial.hpp"

#include <cmath>

namespace bench
{
namespace
{

void copy_vector(DeviceArray<double> &to, const DeviceArray<double> &from, cudaStream_t stream)
{
  BENCH_CUDA(cudaMemcpyAsync(to.data(), from.data(), to.size() * sizeof(double), cudaMemcpyDeviceToDevice, stream));
}

/* Compares y = A x by the kernel with `scale` times the host's; y begins as NaN for formats of the library, which
   promise not to read it */
CheckResult check_plain(Kernel &kernel, const Problem &p, const Reference &r, Vectors &v, double scale)
{
  copy_vector(v.y, v.y0, p.stream);
  if (kernel.own) BENCH_CUDA(cudaMemsetAsync(v.y.data(), 0xff, v.y.size() * sizeof(double), p.stream));
  kernel.mult(1, v.x.data(), 0, v.y.data());
  BENCH_CUDA(cudaStreamSynchronize(p.stream));
  return check_product(p.host, r, 1, 0, scale, v.y.on_host().data());
}

void require(const CheckResult &r, const char *what)
{
  if (!r.passed) throw std::runtime_error(fault_text(what, r));
}

/* Doubled values must double the product exactly; then the old values are restored. Refreshes are timed in batches,
   like products, and one by one with a wait for each. */
void verify_refresh(Entry &e, const Problem &p, const Reference &r, Vectors &v, const DeviceArray<double> &doubled)
{
  EventTimer timer;

  for (int i = 0; i < REFRESHES; i++) {
    const double *values = i % 2 == 0 ? doubled.data() : p.device.values.data();
    const double  s      = wall_seconds_of([&] { e.refreshable = e.kernel->update_values(values); });
    if (!e.refreshable) return;
    e.refresh_alone.push_back(s);
    if (i < 2) require(check_plain(*e.kernel, p, r, v, i == 0 ? 2 : 1), "after new values");
  }
  for (int i = 0; i < REFRESHES; i++)
    e.refresh.push_back(seconds_each(timer, p.stream, [&] { e.kernel->update_values(p.device.values.data()); }));
}

/* Calls work for each usable entry; an exception becomes the entry's error */
template <class Work>
void for_usable(std::vector<Entry> &entries, const Work &work)
{
  for (auto &e : entries) {
    if (!e.usable()) continue;
    try {
      work(e);
    } catch (const std::runtime_error &error) {
      e.error = error.what();
    }
  }
}

} // namespace

Vectors::Vectors(const Reference &r)
    : x(DeviceArray<double>::copy_of(r.x)), y(r.y0.size()), y0(DeviceArray<double>::copy_of(r.y0)), other(r.y0.size())
{
}

void verify(Entry &e, const Problem &p, const Reference &r, Vectors &v, const DeviceArray<double> &doubled_values)
{
  Kernel &kernel = *e.kernel;

  try {
    e.check = check_plain(kernel, p, r, v, 1);
    require(e.check, "y = A x");
    for (int i = 0; i < REPEATS; i++) {
      kernel.mult(1, v.x.data(), 0, v.other.data());
      e.repeat_differences += differing(v.y.data(), v.other.data(), p.host.rows, p.stream);
    }
    if (kernel.repeatable && e.repeat_differences)
      throw std::runtime_error("promises bitwise equal results, but " + std::to_string(e.repeat_differences) +
                               " elements differed");
    copy_vector(v.y, v.y0, p.stream);
    kernel.mult(GENERAL_ALPHA, v.x.data(), GENERAL_BETA, v.y.data());
    BENCH_CUDA(cudaStreamSynchronize(p.stream));
    e.general_check = check_product(p.host, r, GENERAL_ALPHA, GENERAL_BETA, 1, v.y.on_host().data());
    require(e.general_check, "y = alpha A x + beta y");
    verify_refresh(e, p, r, v, doubled_values);
  } catch (const std::runtime_error &error) {
    e.error = error.what();
  }
}

void time_in_turns(std::vector<Entry> &entries, const Problem &p, Vectors &v)
{
  EventTimer timer;
  CacheFlush flush;

  for_usable(entries, [&](Entry &e) {
    e.slow = timer.seconds(p.stream, [&] { e.kernel->mult(1, v.x.data(), 0, v.y.data()); }) > SLOW;
    for (int i = 0; i < WARM_UPS && !e.slow; i++) e.kernel->mult(1, v.x.data(), 0, v.y.data());
    BENCH_CUDA(cudaStreamSynchronize(p.stream));
  });
  for (int b = 0; b < BATCHES; b++)
    for_usable(entries, [&](Entry &e) {
      if (e.slow && b >= SLOW_ROUNDS) return;
      e.warm.push_back(seconds_each(timer, p.stream, [&] { e.kernel->mult(1, v.x.data(), 0, v.y.data()); }));
    });
  for (int b = 0; b < GENERAL_BATCHES; b++)
    for_usable(entries, [&](Entry &e) {
      if (e.slow && b >= SLOW_ROUNDS) return;
      copy_vector(v.y, v.y0, p.stream);
      e.general.push_back(
          seconds_each(timer, p.stream, [&] { e.kernel->mult(GENERAL_ALPHA, v.x.data(), GENERAL_BETA, v.y.data()); }));
    });
  for (int b = 0; b < COLD; b++)
    for_usable(entries, [&](Entry &e) {
      if (e.slow && b >= SLOW_ROUNDS) return;
      flush.enqueue(p.stream);
      e.cold.push_back(timer.seconds(p.stream, [&] { e.kernel->mult(1, v.x.data(), 0, v.y.data()); }));
    });
}

void verify_again(std::vector<Entry> &entries, const Problem &p, const Reference &r, Vectors &v)
{
  for_usable(entries, [&](Entry &e) { require(check_plain(*e.kernel, p, r, v, 1), "after the timings"); });
}

} // namespace bench
