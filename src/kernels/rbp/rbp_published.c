/* rbp_published.c - the slots of the layouts csr, ell and ellr of the paper on the host. */
#include "rbp_published.h"
#include <string.h>

#define SPMV_BODY "rbp/rbp_runs.inc"
#include "core/instantiate.h"
#define SPMV_BODY "rbp/rbp_published.inc"
#include "core/instantiate.h"

static SpmvStatus analyze(const SpmvPattern *pattern, SpmvAnalysis *analysis, SpmvExec *exec)
{
  (void)exec;
  SPMV_TRY(rbp_count_runs(pattern, rbp_min_run_of(&analysis->options), analysis->data));
  rbp_published_report(pattern->index_type, analysis);
  return SPMV_SUCCESS;
}

static SpmvStatus update_values(SpmvPlan *plan, const void *values, SpmvSpace values_space, SpmvExec *exec)
{
  (void)values_space;
  (void)exec;
  SPMV_SELECT(update, plan->index_type, plan->scalar_type)((const RbpPublished *)plan, values);
  return SPMV_SUCCESS;
}

static SpmvStatus build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvPlan *plan, SpmvExec *exec)
{
  SPMV_TRY(rbp_published_init((RbpPublished *)plan, analysis, exec));
  SPMV_SELECT(fill_indices, plan->index_type, plan->scalar_type)((RbpPublished *)plan, &csr->pattern);
  return update_values(plan, csr->values, SPMV_HOST, exec);
}

static SpmvStatus extract_values(const SpmvPlan *plan, void *values, SpmvExec *exec)
{
  (void)exec;
  SPMV_SELECT(extract, plan->index_type, plan->scalar_type)((const RbpPublished *)plan, values);
  return SPMV_SUCCESS;
}

static SpmvStatus mult(const SpmvPlan *plan, const void *alpha, const void *x, const void *beta, void *y, void *work,
                       SpmvExec *exec)
{
  (void)work;
  (void)exec;
  SPMV_SELECT(mult, plan->index_type, plan->scalar_type)((const RbpPublished *)plan, alpha, x, beta, y);
  return SPMV_SUCCESS;
}

static SpmvStatus add_transposed(const SpmvPlan *plan, const void *alpha, const void *x, void *y, SpmvExec *exec)
{
  (void)exec;
  SPMV_SELECT(add_transposed, plan->index_type, plan->scalar_type)((const RbpPublished *)plan, alpha, x, y);
  return SPMV_SUCCESS;
}

const SpmvSlots rbp_published_slots = {
    .analysis_bytes = sizeof(RbpCounts),
    .plan_bytes     = sizeof(RbpPublished),
    .analyze        = analyze,
    .build          = build,
    .update_values  = update_values,
    .extract_values = extract_values,
    .mult           = mult,
    .add_transposed = add_transposed,
    .view           = rbp_published_view,
    .clear          = rbp_published_clear,
};
