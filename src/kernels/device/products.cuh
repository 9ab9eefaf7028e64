/* products.cuh - the slots for products of a format on the device, from one function template. */
#pragma once

#include "vector.cuh"

/*
  MULTIPLY has

    template <typename V, typename OUT>
    static SpmvStatus run(const SpmvPlan *, const V *const values[2], const void *x, const OUT &, void *work, SpmvExec *);

  which enqueues a product and gives the sums of rows to OUT, SpmvSum<S> or SpmvSmooth<S>. values are the first arrays of
  plan->values, of type V: S, or float for rounded values.

  The file of the kernels has `template struct SpmvProducts<MULTIPLY>;`, all others see `extern template struct`.
*/
template <typename MULTIPLY>
struct SpmvProducts {
  static SpmvStatus mult(const SpmvPlan *plan, const void *alpha, const void *x, const void *beta, void *y, void *work,
                         SpmvExec *exec)
  {
    return spmv_with_scalar(plan->scalar_type, [&](auto number) {
      return own<decltype(number)>(plan, x, SpmvSum<decltype(number)>(alpha, beta, y), work, exec);
    });
  }
  static SpmvStatus step(const SpmvPlan *plan, const void *x, const SpmvStep *step, void *y, void *work, SpmvExec *exec)
  {
    return spmv_with_scalar(plan->scalar_type, [&](auto number) {
      return own<decltype(number)>(plan, x, SpmvSmooth<decltype(number)>(*step, x, y), work, exec);
    });
  }
  static SpmvStatus rounded(const SpmvPlan *plan, const float *rounded, const void *alpha, const void *x,
                            const void *beta, void *y, void *work, SpmvExec *exec)
  {
    const float *const values[] = {rounded, rounded + plan->values[0].bytes / (int64_t)sizeof(double)};

    return MULTIPLY::run(plan, values, x, SpmvSum<double>(alpha, beta, y), work, exec);
  }

private:
  /* With the values of the plan */
  template <typename S, typename OUT>
  static SpmvStatus own(const SpmvPlan *plan, const void *x, const OUT &out, void *work, SpmvExec *exec)
  {
    const S *const values[] = {(const S *)plan->values[0].array, (const S *)plan->values[1].array};

    return MULTIPLY::run(plan, values, x, out, work, exec);
  }
};
