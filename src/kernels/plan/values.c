/* Values of a plan: the part common to all formats, which calls their slots. */
#include "device/memory.h"
#include "plan.h"
#include <limits.h>

static SpmvStatus check_values(const SpmvPlan *plan, SpmvSpace values_space, SpmvExec *exec)
{
  if (plan->space == SPMV_HOST && values_space != SPMV_HOST)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "a host plan of format %s needs its values on the host",
                     plan->format->name);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_update_values(SpmvPlan *plan, const void *values, SpmvSpace values_space, SpmvExec *exec)
{
  SPMV_TRY(check_values(plan, values_space, exec));
  if (plan->transpose.order) plan->transpose.is_old = 1;
  else spmv_drop_transposed(plan);
  return plan->slots->update_values(plan, values, values_space, exec);
}

static SpmvStatus extract(const SpmvPlan *plan, void *values, SpmvExec *exec)
{
  const SpmvNonzeros values_alone = {NULL, NULL, values, NULL};

  if (plan->slots->extract_values) return plan->slots->extract_values(plan, values, exec);
  return plan->slots->list_nonzeros(plan, &values_alone, exec);
}

SpmvStatus spmv_extract_values(const SpmvPlan *plan, void *values, SpmvSpace values_space, SpmvExec *exec)
{
  const int64_t bytes = plan->nnz * spmv_scalar_bytes(plan->scalar_type);
  void         *there;

  SPMV_TRY(check_values(plan, values_space, exec));
  if (bytes == 0) return SPMV_SUCCESS;
  if (values_space == plan->space) return extract(plan, values, exec);
  SPMV_TRY(spmv_scratch_alloc(exec, plan->space, bytes, "values in CSR order", &there));
  SpmvStatus status = extract(plan, there, exec);
  if (!status) status = spmv_copy(values, values_space, there, plan->space, bytes, exec);
  if (!status) status = spmv_stream_wait(exec);
  spmv_scratch_free(exec, plan->space, there);
  return status;
}

/* ---- on the device, where the CSR may not exist ---- */

SpmvStatus spmv_check_listable(const SpmvPlan *plan, SpmvExec *exec)
{
  if (plan->space != SPMV_DEVICE)
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "the plan of format %s lies on the host: use its CSR instead",
                     plan->format->name);
  if (!plan->slots->list_nonzeros)
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "this layout of format %s does not list its nonzeros",
                     plan->format->name);
  if (plan->rows >= INT_MAX || plan->cols >= INT_MAX)
    return spmv_fail(exec, SPMV_ERR_OVERFLOW,
                     "a list of nonzeros is limited to %d rows and columns, but the plan is %lld x %lld", INT_MAX - 1,
                     (long long)plan->rows, (long long)plan->cols);
  return SPMV_SUCCESS;
}

SpmvStatus spmv_get_diagonal(const SpmvPlan *plan, void *diagonal, SpmvExec *exec)
{
  const SpmvNonzeros diagonal_alone = {NULL, NULL, NULL, diagonal};
  const double       zero           = 0; /* all bytes 0, so valid as a float too */

  SPMV_TRY(spmv_check_listable(plan, exec));
  SPMV_TRY(spmv_device_scale(plan->rows, plan->scalar_type, &zero, diagonal, exec));
  return plan->nnz > 0 ? plan->slots->list_nonzeros(plan, &diagonal_alone, exec) : SPMV_SUCCESS;
}

/* ---- in single precision ---- */

int64_t spmv_rounded_bytes(const SpmvPlan *plan)
{
  int64_t values = 0;

  if (!plan->slots->mult_rounded || plan->scalar_type != SPMV_F64) return 0;
  for (int i = 0; i < SPMV_ARRAYS_MAX; i++) values += plan->values[i].bytes / (int64_t)sizeof(double);
  return values * (int64_t)sizeof(float);
}

SpmvStatus spmv_check_rounded(const SpmvPlan *plan, SpmvExec *exec)
{
  if (plan->nnz == 0 || spmv_rounded_bytes(plan) > 0) return SPMV_SUCCESS;
  return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "this plan of format %s has no product with rounded values",
                   plan->format->name);
}

SpmvStatus spmv_round_values(const SpmvPlan *plan, void *rounded, SpmvExec *exec)
{
  float *to = rounded;

  SPMV_TRY(spmv_check_rounded(plan, exec));
  for (int i = 0; i < SPMV_ARRAYS_MAX && plan->nnz > 0; i++) {
    const int64_t n = plan->values[i].bytes / (int64_t)sizeof(double);

    if (n > 0) SPMV_TRY(spmv_device_round(plan->values[i].array, to, n, exec));
    to += n;
  }
  return SPMV_SUCCESS;
}
