/* Products of a plan: the part common to all formats, which calls their slots. */
#include "device/memory.h"
#include "plan.h"

static int is_zero(const void *value, SpmvScalar scalar)
{
  return scalar == SPMV_F32 ? *(const float *)value == 0 : *(const double *)value == 0;
}

/* y = beta y; beta == 0 does not read y */
static SpmvStatus scale(const SpmvPlan *plan, int64_t n, const void *beta, void *y, SpmvExec *exec)
{
  if (plan->space == SPMV_DEVICE) return spmv_device_scale(n, plan->scalar_type, beta, y, exec);
  if (plan->scalar_type == SPMV_F32) {
    const float b = *(const float *)beta;
    for (int64_t i = 0; i < n; i++) ((float *)y)[i] = b == 0 ? 0 : b * ((float *)y)[i];
  } else {
    const double b = *(const double *)beta;
    for (int64_t i = 0; i < n; i++) ((double *)y)[i] = b == 0 ? 0 : b * ((double *)y)[i];
  }
  return SPMV_SUCCESS;
}

/* Whether a product reads x, which may be NULL if the matrix has no nonzeros */
static int reads_x(const SpmvPlan *plan, const void *alpha)
{
  return plan->nnz > 0 && !is_zero(alpha, plan->scalar_type);
}

SpmvStatus spmv_mult(const SpmvPlan *plan, const void *alpha, const void *x, const void *beta, void *y, void *work,
                     SpmvExec *exec)
{
  if (!reads_x(plan, alpha)) return scale(plan, plan->rows, beta, y, exec);
  return plan->slots->mult(plan, alpha, x, beta, y, work, exec);
}

SpmvStatus spmv_mult_rounded(const SpmvPlan *plan, const void *rounded, const void *alpha, const void *x,
                             const void *beta, void *y, void *work, SpmvExec *exec)
{
  SPMV_TRY(spmv_check_rounded(plan, exec));
  if (!reads_x(plan, alpha)) return scale(plan, plan->rows, beta, y, exec);
  return plan->slots->mult_rounded(plan, rounded, alpha, x, beta, y, work, exec);
}

int spmv_has_step(const SpmvPlan *plan) { return plan->slots->step && plan->nnz > 0; }

SpmvStatus spmv_mult_step(const SpmvPlan *plan, const void *x, const SpmvStep *step, void *y, void *work,
                          SpmvExec *exec)
{
  if (!spmv_has_step(plan) || plan->rows != plan->cols)
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "format %s has no step of a smoother for this matrix",
                     plan->format->name);
  return plan->slots->step(plan, x, step, y, work, exec);
}

SpmvStatus spmv_multtranspose(const SpmvPlan *plan, const void *alpha, const void *x, const void *beta, void *y,
                              void *work, SpmvExec *exec)
{
  (void)work; /* the plan of A^T has its own work array */
  if (!reads_x(plan, alpha)) return scale(plan, plan->cols, beta, y, exec);
  if (plan->transpose.plan && !plan->transpose.is_old)
    return spmv_mult(plan->transpose.plan, alpha, x, beta, y, plan->transpose.work, exec);
  if (!plan->slots->add_transposed)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT,
                     "transposed product without spmv_prepare_transpose() after the build or after new values");
  SPMV_TRY(scale(plan, plan->cols, beta, y, exec));
  return plan->slots->add_transposed(plan, alpha, x, y, exec);
}

SpmvStatus spmv_prepare_transpose(SpmvPlan *plan, SpmvExec *exec)
{
  const SpmvSlots *slots = plan->slots;

  if (slots->add_transposed) return SPMV_SUCCESS;
  if (plan->transpose.plan) return plan->transpose.is_old ? spmv_refresh_transposed(plan, exec) : SPMV_SUCCESS;
  if (slots->prepare_transpose) return slots->prepare_transpose(plan, exec);
  if (slots->list_nonzeros) return spmv_transpose_listed(plan, &plan->options, exec);
  return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "format %s has no transposed product", plan->format->name);
}
