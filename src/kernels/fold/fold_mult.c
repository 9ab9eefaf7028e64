/* fold_mult.c - products on the host: sums of a slice, then y; the further pieces of a row are added in their order. */
#include "fold_rows.h"
#include "fold_slice.h"

#define SPMV_BODY "fold/fold_scale.inc"
#include "core/instantiate.h"
#define SPMV_BODY "fold/fold_mult.inc"
#include "core/instantiate.h"

static int is_zero(const void *value, SpmvScalar scalar)
{
  return scalar == SPMV_F32 ? *(const float *)value == 0 : *(const double *)value == 0;
}

static void scale(int64_t n, SpmvScalar scalar, const void *beta, void *y)
{
  SPMV_SELECT(scale, SPMV_I32, scalar)(n, beta, y);
}

void fold_host_mult(SpmvIsa isa, const FoldPlan *plan, const void *alpha, const void *x, const void *beta, void *y)
{
  const FoldTable *table  = &plan->table;
  const SpmvScalar scalar = plan->base.scalar_type;

  if (is_zero(alpha, scalar)) {
    scale(plan->base.rows, scalar, beta, y);
    return;
  }
  SPMV_SELECT(mult, table->column_type, scalar)
  (table, fold_slice_sums(isa, table->column_type, scalar), alpha, x, beta, y);
}

void fold_host_multtranspose(const FoldPlan *plan, const void *alpha, const void *x, const void *beta, void *y)
{
  const SpmvScalar scalar = plan->base.scalar_type;

  scale(plan->base.cols, scalar, beta, y);
  if (is_zero(alpha, scalar)) return;
  SPMV_SELECT(multtranspose, plan->table.column_type, scalar)(&plan->table, alpha, x, y);
}
