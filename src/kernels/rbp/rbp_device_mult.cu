/* rbp_device_mult.cu - products of format packed on the device, with the values of the plan or with rounded ones. */
#include "rbp_device_mult.cuh"
#include <type_traits>

namespace
{
/* With ROUNDED, values are in single precision, independent of the type of x and y */
template <bool ROUNDED>
struct MultAction {
  const RbpDevicePacked *plan;
  const void            *values, *alpha, *x, *beta;
  void                  *y, *work;
  SpmvExec              *exec;

  template <typename S, int G, int U, int P>
  SpmvStatus run() const
  {
    typedef std::conditional_t<ROUNDED, float, S> V;
    const RbpOperands<S, V, SpmvSum<S>>           a = {plan, (const V *)values, (const S *)x, (S *)work,
                                                       SpmvSum<S>(alpha, beta, y)};

    return enqueue_product<G, U, P>(a, exec);
  }
};
} // namespace

SpmvStatus rbp_device_mult(const SpmvPlan *base, const void *alpha, const void *x, const void *beta, void *y,
                           void *work, SpmvExec *exec)
{
  const RbpDevicePacked *plan = (const RbpDevicePacked *)base;
  return rbp_with_kernel(plan, MultAction<false>{plan, plan->values, alpha, x, beta, y, work, exec}, exec);
}

SpmvStatus rbp_device_mult_rounded(const SpmvPlan *base, const float *rounded, const void *alpha, const void *x,
                                   const void *beta, void *y, void *work, SpmvExec *exec)
{
  const RbpDevicePacked *plan = (const RbpDevicePacked *)base;
  return rbp_with_shape<double>(plan->shape, MultAction<true>{plan, rounded, alpha, x, beta, y, work, exec}, exec);
}
