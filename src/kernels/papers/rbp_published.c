/* rbp_published.c - the slots of the layouts csr, ell and ellr on the host. */
#include "rbp_published.h"
#include <string.h>

#define SPMV_BODY "rbp/rbp_runs.inc"
#include "core/instantiate.h"
#define SPMV_BODY "papers/rbp_published.inc"
#include "core/instantiate.h"

SpmvStatus rbp_published_analyze(const SpmvPattern *pattern, SpmvAnalysis *analysis, SpmvExec *exec)
{
  (void)exec;
  SPMV_TRY(rbp_count_runs(pattern, rbp_min_run_of(&analysis->options), analysis->data));
  rbp_published_memory(rbp_layout_of(&analysis->options), analysis->data, pattern->index_type, analysis->scalar_type,
                       &analysis->memory);
  return SPMV_SUCCESS;
}

SpmvStatus rbp_published_upload(RbpPublished *to, const SpmvAnalysis *analysis, const SpmvPattern *p, SpmvExec *exec)
{
  RbpPublished here = {.base = to->base};

  here.base.space   = SPMV_HOST;
  here.base.arrays  = NULL;
  SpmvStatus status = rbp_published_init(&here, analysis, exec);
  if (!status) {
    SPMV_SELECT(fill_indices, p->index_type, to->base.scalar_type)(&here, p);
    status = rbp_published_copy(to, &here, exec);
  }
  rbp_published_clear(&here.base);
  return status;
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

static const SpmvSlots host_slots = {
    .analysis_bytes = sizeof(RbpCounts),
    .plan_bytes     = sizeof(RbpPublished),
    .analyze        = rbp_published_analyze,
    .build          = build,
    .update_values  = update_values,
    .extract_values = extract_values,
    .mult           = mult,
    .add_transposed = add_transposed,
    .view           = rbp_published_view,
    .clear          = rbp_published_clear,
};

const SpmvPaper spmv_paper_rbp = {"rbp", &host_slots, SPMV_DEVICE_SLOTS(rbp_published_device_slots)};
