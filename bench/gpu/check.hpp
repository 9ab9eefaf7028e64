/*
  check.hpp - the reference product on the host in extended precision, and the error bound for correct kernels
*/
#ifndef BENCH_CHECK_HPP
#define BENCH_CHECK_HPP

#include "matrix.hpp"

namespace bench
{

/* x has shape [cols], the other arrays [rows]. product is A x, magnitude is |A| |x|, y0 is the y before a product. */
struct Reference {
  Array<double> x, y0, product, magnitude;
};
/* Matrix values and x are rounded to T first, so that they equal the numbers of a kernel of type T */
template <class T = double>
Reference make_reference(const Csr &);

struct CheckResult {
  bool         passed       = false;
  std::int64_t bad_rows     = 0;
  std::int64_t first_bad    = -1; /* the first bad row, or -1 */
  double       worst        = 0;  /* largest error of a row divided by its bound: at most 1 if passed */
  double       relative_two = 0;  /* |y - reference| / |reference|, in the 2-norm */
};

/*
  Compares y = scale (alpha A x) + beta y0 with the reference. The bound of row i with n nonzeros is
  (n + 4) eps (|scale alpha| |A| |x| + |beta y0|) with the eps of T, which holds for any order of summation. NaN fails.
*/
template <class T>
CheckResult check_product(const Csr &, const Reference &, double alpha, double beta, double scale, const T *y);

/* A message about the fault of the product `what` */
std::string fault_text(const char *what, const CheckResult &);

} // namespace bench
#endif
