/*
  fold_paper_measure.cu - checks all rivals for one matrix, times them in turns, and returns the results as JSON
*/
#include "fold_paper.hpp"
#include "trial.hpp"

#include <algorithm>
#include <cstdio>

namespace bench
{
namespace
{

constexpr double MICRO = 1e6;

template <class T>
struct Competitor {
  std::string               name, error, skipped; /* error: why it failed; skipped: why it does not fit the matrix */
  std::unique_ptr<Rival<T>> rival;
  CheckResult               check;
  std::vector<double>       seconds; /* of one product */
  bool                      usable() const { return rival && error.empty(); }
};

/* The vectors for a matrix, and the reference product */
template <class T>
struct Trial {
  explicit Trial(const TypedMatrix<T> &m) : matrix(m), reference(make_reference<T>(m.host)), y(reference.product.size())
  {
    Array<T> rounded(reference.x.size());
    std::transform(reference.x.begin(), reference.x.end(), rounded.begin(), [](double v) { return static_cast<T>(v); });
    x = DeviceArray<T>::copy_of(rounded);
  }
  const TypedMatrix<T> &matrix;
  Reference             reference;
  DeviceArray<T>        x, y;
};

/* Checks a product; y begins with numbers that no product gives. After a fault, error is set, and the kernel is no
   longer timed. */
template <class T>
void verify(Competitor<T> &c, Trial<T> &t, const char *when)
{
  if (!c.usable()) return;
  try {
    BENCH_CUDA(cudaMemsetAsync(t.y.data(), 0x5f, t.y.size() * sizeof(T), t.matrix.stream));
    c.rival->mult(t.x.data(), t.y.data());
    BENCH_CUDA(cudaStreamSynchronize(t.matrix.stream));
    c.check = check_product(t.matrix.host, t.reference, 1, 0, 1, t.y.on_host().data());
    if (!c.check.passed) c.error = fault_text(when, c.check);
  } catch (const std::runtime_error &e) {
    c.error = e.what();
  }
}

/* As in spmv_bench, each kernel has a turn in each round, so that a change of the GPU's clock affects all alike */
template <class T>
void time_rivals(std::vector<Competitor<T>> &all, Trial<T> &t)
{
  EventTimer timer;

  for (int round = -1; round < BATCHES; round++)
    for (auto &c : all) {
      if (!c.usable()) continue;
      try {
        const auto product = [&] { c.rival->mult(t.x.data(), t.y.data()); };
        if (round >= 0) c.seconds.push_back(seconds_each(timer, t.matrix.stream, product));
        else
          for (int i = 0; i < WARM_UPS; i++) product();
      } catch (const std::runtime_error &e) {
        c.error = e.what();
      }
    }
}

template <class T>
std::vector<Competitor<T>> make_competitors(const TypedMatrix<T> &m)
{
  std::vector<Competitor<T>> all;
  auto                       makers = fold_rivals<T>();

  for (auto &maker : other_rivals<T>()) makers.push_back(maker);
  for (const auto &maker : makers) {
    Competitor<T> c;
    c.name = maker.name;
    try {
      c.rival = maker.make(m, c.skipped);
    } catch (const std::runtime_error &e) {
      c.error = e.what();
    }
    all.push_back(std::move(c));
  }
  return all;
}

template <class T>
Json record_of(const Competitor<T> &c, const Csr &a)
{
  const double nnz = static_cast<double>(a.nnz);
  const Spread s   = spread_of(c.seconds);
  Json         r   = Json::object();

  r["matrix"] = a.name;
  r["kernel"] = c.name;
  r["scalar"] = sizeof(T) == 4 ? "single" : "double";
  if (!c.skipped.empty()) r["skipped"] = c.skipped;
  else r["ok"] = c.usable();
  if (!c.error.empty()) r["error"] = c.error;
  if (!c.usable()) return r;
  r["us"]           = s.median * MICRO;
  r["us_lower"]     = s.lower * MICRO;
  r["us_upper"]     = s.upper * MICRO;
  r["gflops"]       = 2 * nnz / s.median * 1e-9;
  r["bytes"]        = c.rival->matrix_bytes;
  r["error_bounds"] = c.check.worst;
  r["facts"]        = c.rival->facts;
  return r;
}

template <class T>
void print_competitor(const Competitor<T> &c, const Csr &a)
{
  const char *scalar = sizeof(T) == 4 ? "single" : "double";

  if (!c.skipped.empty()) std::fprintf(stderr, "  %s %-20s left out: %s\n", scalar, c.name.c_str(), c.skipped.c_str());
  else if (!c.usable()) std::fprintf(stderr, "  %s %-20s FAILED: %s\n", scalar, c.name.c_str(), c.error.c_str());
  else {
    const double time = spread_of(c.seconds).median;
    std::fprintf(stderr, "  %s %-20s %9.1f us %8.1f GFLOP/s %10.1f MB\n", scalar, c.name.c_str(), time * MICRO,
                 2 * static_cast<double>(a.nnz) / time * 1e-9, static_cast<double>(c.rival->matrix_bytes) * 1e-6);
  }
}

template <class T>
void measure_type(const Csr &a, cudaStream_t stream, MatrixResult &result)
{
  const TypedMatrix<T>       matrix(a, stream);
  Trial<T>                   trial(matrix);
  std::vector<Competitor<T>> all = make_competitors(matrix);

  for (auto &c : all) verify(c, trial, "y = A x");
  time_rivals(all, trial);
  for (auto &c : all) verify(c, trial, "after the timings");
  for (const auto &c : all) {
    result.faults += c.skipped.empty() && !c.usable();
    result.records.push_back(record_of(c, a));
    print_competitor(c, a);
  }
}

} // namespace

MatrixResult measure_rivals(const Csr &a, cudaStream_t stream)
{
  MatrixResult result;

  result.matrix = count_table(a);
  measure_type<float>(a, stream, result);
  measure_type<double>(a, stream, result);
  return result;
}

} // namespace bench
