/*
  check.hpp - the product on the host in extended precision, and the error that a correct kernel may have
*/
#ifndef BENCH_CHECK_HPP
#define BENCH_CHECK_HPP

#include "matrix.hpp"

namespace bench
{

/* x has shape [cols]; the others [rows]. product is A x, magnitude is |A| |x|; y0 is the y that a product begins with.
 */
struct Reference {
  Array<double> x, y0, product, magnitude;
};
/* Values of the matrix and x are rounded to T first, so that a kernel of that type computes with the same numbers */
template <class T = double>
Reference make_reference(const Csr &);

struct CheckResult {
  bool         passed       = false;
  std::int64_t bad_rows     = 0;
  std::int64_t first_bad    = -1; /* its number, when there is one */
  double       worst        = 0;  /* largest error of a row in units of its bound: at most 1 when passed */
  double       relative_two = 0;  /* |y - reference| / |reference|, in the 2-norm */
};

/*
  Compares y = scale (alpha A x) + beta y0 with the reference. The bound of row i with n nonzeros is
  (n + 4) eps (|scale alpha| |A| |x| + |beta y0|) with the eps of T: what any order of summation keeps. NaN fails.
*/
template <class T>
CheckResult check_product(const Csr &, const Reference &, double alpha, double beta, double scale, const T *y);

/* What went wrong with the product that is called so */
std::string fault_text(const char *what, const CheckResult &);

} // namespace bench
#endif
