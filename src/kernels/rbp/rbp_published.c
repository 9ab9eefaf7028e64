/* rbp_published.c - the formats csr, ell and ellr of the paper on the host: build, refresh, products, view. */
#include "rbp.h"
#include <string.h>

#define SPMV_BODY "rbp/rbp_runs.inc"
#include "core/instantiate.h"
#define SPMV_BODY "rbp/rbp_published.inc"
#include "core/instantiate.h"

static SpmvStatus alloc_arrays(RbpPublished *p, SpmvExec *exec)
{
  struct {
    const char *name;
    void      **array;
  } const array[] = {
      {"val_ptr", &p->val_ptr},         {"col_ptr", &p->col_ptr},
      {"comp_values", &p->comp_values}, {"comp_columns", &p->comp_columns},
      {"row_length", &p->row_length},   {"row_ptr", &p->row_ptr},
      {"values", &p->values},           {"columns", &p->columns},
  };

  for (int i = 0; i < p->rbp.base.memory.count; i++) {
    const SpmvArrayInfo *info = &p->rbp.base.memory.array[i];

    for (size_t k = 0; k < sizeof array / sizeof array[0]; k++)
      if (!strcmp(array[k].name, info->name)) {
        const SpmvStatus status = spmv_alloc(exec, SPMV_HOST, info->bytes, info->name, array[k].array);
        if (status) return status;
      }
  }
  return SPMV_SUCCESS;
}

SpmvStatus rbp_published_build(const SpmvCsr *csr, const SpmvAnalysis *analysis, const RbpCounts *counts,
                               SpmvExec *exec, SpmvPlan **out)
{
  RbpPublished *plan;
  void         *block;
  SpmvStatus    status = spmv_alloc(exec, SPMV_HOST, sizeof *plan, "plan", &block);

  if (status) return status;
  plan = memset(block, 0, sizeof *plan);
  rbp_plan_init(&plan->rbp, csr, analysis, counts, exec);
  status = alloc_arrays(plan, exec);
  if (status) {
    rbp_published_free(plan);
    return status;
  }
  SPMV_SELECT(fill_indices, plan->rbp.base.index_type, plan->rbp.base.scalar_type)(plan, &csr->pattern);
  rbp_published_update(plan, csr->values);
  *out = &plan->rbp.base;
  return SPMV_SUCCESS;
}

void rbp_published_update(RbpPublished *plan, const void *values)
{
  SPMV_SELECT(fill_values, plan->rbp.base.index_type, plan->rbp.base.scalar_type)(plan, values);
}

void rbp_published_mult(const RbpPublished *plan, const void *alpha, const void *x, const void *beta, void *y)
{
  const SpmvScalar scalar = plan->rbp.base.scalar_type;

  if (rbp_is_zero(alpha, scalar)) rbp_scale(plan->rbp.base.rows, scalar, beta, y);
  else SPMV_SELECT(mult, plan->rbp.base.index_type, scalar)(plan, alpha, x, beta, y);
}

void rbp_published_multtranspose(const RbpPublished *plan, const void *alpha, const void *x, const void *beta, void *y)
{
  const SpmvScalar scalar = plan->rbp.base.scalar_type;

  rbp_scale(plan->rbp.base.cols, scalar, beta, y);
  if (!rbp_is_zero(alpha, scalar)) SPMV_SELECT(multtranspose, plan->rbp.base.index_type, scalar)(plan, alpha, x, y);
}

void rbp_published_free(RbpPublished *plan)
{
  void *const         blocks[] = {plan->val_ptr,     plan->col_ptr,      plan->row_length,
                                  plan->comp_values, plan->comp_columns, plan->row_ptr,
                                  plan->columns,     plan->values,       plan};
  const SpmvAllocator host = plan->rbp.base.host, device = plan->rbp.base.device;

  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) spmv_free(&host, &device, SPMV_HOST, blocks[i]);
}
