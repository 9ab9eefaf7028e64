/* Products of a plan: what is the same for all formats, around their slots. */
#include "internal.h"
#include <spmv_values.h>

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
  return plan->slots->rounded->mult(plan, rounded, alpha, x, beta, y, work, exec);
}

SpmvStatus spmv_multtranspose(const SpmvPlan *plan, const void *alpha, const void *x, const void *beta, void *y,
                              void *work, SpmvExec *exec)
{
  (void)work; /* a plan of A^T has work of its own */
  if (!reads_x(plan, alpha)) return scale(plan, plan->cols, beta, y, exec);
  if (plan->transpose.plan && !plan->transpose.is_old)
    return spmv_mult(plan->transpose.plan, alpha, x, beta, y, plan->transpose.work, exec);
  if (!plan->slots->add_transposed)
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "transposed product before prepare_transpose, or after new values");
  SPMV_TRY(scale(plan, plan->cols, beta, y, exec));
  return plan->slots->add_transposed(plan, alpha, x, y, exec);
}

/* ---- the plan of A^T ---- */

SpmvStatus spmv_prepare_transpose(SpmvPlan *plan, SpmvExec *exec)
{
  const SpmvSlots *slots = plan->slots;

  if (slots->add_transposed) return SPMV_SUCCESS;
  if (plan->transpose.plan) return plan->transpose.is_old ? spmv_refresh_transposed(plan, exec) : SPMV_SUCCESS;
  if (slots->prepare_transpose) return slots->prepare_transpose(plan, exec);
  if (slots->list_nonzeros) return spmv_transpose_listed(plan, &plan->options, exec);
  return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "format %s has no transposed product", plan->format->name);
}

SpmvStatus spmv_build_transposed(SpmvPlan *plan, const SpmvCsr *csr, const SpmvOptions *options, SpmvExec *exec)
{
  SpmvAnalysis analysis;
  SpmvPlan    *t    = NULL;
  void        *work = NULL;

  SPMV_TRY(spmv_analyze(plan->format, &csr->pattern, csr->scalar_type, options, exec, &analysis));
  SpmvStatus status = spmv_build(csr, &analysis, exec, &t);
  spmv_analysis_clear(&analysis, exec);
  if (!status) status = spmv_alloc(exec, plan->space, t->memory.work_bytes, "work of A^T", &work);
  if (!status) status = spmv_stream_wait(exec); /* the CSR may be freed now */
  if (status) {
    spmv_exec_free(exec, plan->space, work);
    spmv_destroy(&t);
    return status;
  }
  plan->transpose.plan = t;
  plan->transpose.work = work;
  spmv_memory_add(&plan->memory, "transpose", SPMV_ARRAY_VALUES, t->memory.total_bytes + t->memory.work_bytes);
  plan->memory.host_bytes += t->memory.host_bytes;
  plan->transpose.is_old = 0;
  return SPMV_SUCCESS;
}

/* Takes the array that was added last, for transposed products, out of the memory of a plan */
static void remove_last_array(SpmvMemory *memory) { memory->total_bytes -= memory->array[--memory->count].bytes; }

void spmv_drop_transposed(SpmvPlan *plan)
{
  void **const block[] = {&plan->transpose.work, &plan->transpose.csr, &plan->transpose.order};

  if (!plan->transpose.plan) return;
  if (plan->transpose.order) remove_last_array(&plan->memory);
  remove_last_array(&plan->memory);
  plan->memory.host_bytes -= plan->transpose.plan->memory.host_bytes;
  spmv_destroy(&plan->transpose.plan);
  for (int i = 0; i < 3; i++) {
    spmv_plan_free(plan, plan->space, *block[i]);
    *block[i] = NULL;
  }
  plan->transpose.values = NULL;
}
