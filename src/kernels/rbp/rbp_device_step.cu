/* rbp_device_step.cu - steps of smoothers, and residuals, fused with a product of format packed on the device. */
#include "rbp_device_mult.cuh"

namespace
{
struct StepAction {
  const RbpDevicePacked *plan;
  const void            *x;
  const SpmvStep        *step;
  void                  *y, *work;
  SpmvExec              *exec;

  template <typename S, int G, int U, int P>
  SpmvStatus run() const
  {
    const RbpOperands<S, S, SpmvSmooth<S>> a = {plan, (const S *)plan->values, (const S *)x, (S *)work,
                                                SpmvSmooth<S>(*step, x, y)};

    return enqueue_product<G, U, P>(a, exec);
  }
};
} // namespace

SpmvStatus rbp_device_step(const SpmvPlan *base, const void *x, const SpmvStep *step, void *y, void *work,
                           SpmvExec *exec)
{
  const RbpDevicePacked *plan = (const RbpDevicePacked *)base;
  return rbp_with_kernel(plan, StepAction{plan, x, step, y, work, exec}, exec);
}
