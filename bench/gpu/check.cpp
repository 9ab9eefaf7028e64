/*
  check.cpp - see check.hpp
*/
#include "check.hpp"
#include "parallel.hpp"

#include <cmath>
#include <limits>
#include <mutex>

namespace bench
{
namespace
{

template <class T>
Array<double> random_vector(std::int64_t n, std::uint64_t seed)
{
  Array<double> v(static_cast<std::size_t>(n));

  for (std::int64_t i = 0; i < n; i++) v[i] = static_cast<T>(signed_uniform(seed + static_cast<std::uint64_t>(i)));
  return v;
}

} // namespace

template <class T>
Reference make_reference(const Csr &a)
{
  Reference r{random_vector<T>(a.cols, 0x1000000000u), random_vector<T>(a.rows, 0x2000000000u), Array<double>(a.rows),
              Array<double>(a.rows)};

  parallel_ranges(a.rows, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; i++) {
      long double sum = 0, magnitude = 0;
      for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; k++) {
        const long double term = static_cast<long double>(static_cast<T>(a.values[k])) * r.x[a.col[k]];
        sum += term;
        magnitude += std::fabs(term);
      }
      r.product[i]   = static_cast<double>(sum);
      r.magnitude[i] = static_cast<double>(magnitude);
    }
  });
  return r;
}
template Reference make_reference<float>(const Csr &);
template Reference make_reference<double>(const Csr &);

template <class T>
CheckResult check_product(const Csr &a, const Reference &r, double alpha, double beta, double scale, const T *y)
{
  CheckResult result;
  long double error2 = 0, reference2 = 0;
  std::mutex  lock;

  parallel_ranges(a.rows, [&](std::int64_t begin, std::int64_t end) {
    CheckResult part;
    long double part_error2 = 0, part_reference2 = 0;
    for (std::int64_t i = begin; i < end; i++) {
      const long double expected = static_cast<long double>(scale) * alpha * r.product[i] +
                                   (beta == 0 ? 0.0L : static_cast<long double>(beta) * r.y0[i]);
      const double error = static_cast<double>(std::fabs(y[i] - expected));
      const double terms = static_cast<double>(a.row_ptr[i + 1] - a.row_ptr[i]) + 4;
      const double bound = terms * std::numeric_limits<T>::epsilon() *
                           (std::fabs(scale * alpha) * r.magnitude[i] + (beta == 0 ? 0 : std::fabs(beta * r.y0[i])));
      if (!(error <= bound)) {
        part.bad_rows++;
        if (part.first_bad < 0) part.first_bad = i;
      }
      if (bound > 0) part.worst = error / bound > part.worst ? error / bound : part.worst;
      part_error2 += static_cast<long double>(error) * error;
      part_reference2 += expected * expected;
    }
    const std::lock_guard<std::mutex> guard(lock);
    result.bad_rows += part.bad_rows;
    if (part.first_bad >= 0 && (result.first_bad < 0 || part.first_bad < result.first_bad))
      result.first_bad = part.first_bad;
    result.worst = std::max(result.worst, part.worst);
    error2 += part_error2;
    reference2 += part_reference2;
  });
  result.passed       = result.bad_rows == 0;
  result.relative_two = reference2 > 0 ? static_cast<double>(std::sqrt(error2 / reference2)) : 0;
  return result;
}
template CheckResult check_product(const Csr &, const Reference &, double, double, double, const float *);
template CheckResult check_product(const Csr &, const Reference &, double, double, double, const double *);

std::string fault_text(const char *what, const CheckResult &r)
{
  return std::string(what) + ": " + std::to_string(r.bad_rows) + " wrong rows, the first is " +
         std::to_string(r.first_bad) + ", worst error " + std::to_string(r.worst) + " bounds";
}

} // namespace bench
