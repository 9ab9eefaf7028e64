/* fold_mult.c - products on the host: the sums of a slice, then y; further pieces of a row are added in their order. */
#include "fold_rows.h"
#include "fold_slice.h"

#define SPMV_BODY "fold/fold_mult.inc"
#include "core/instantiate.h"

void fold_host_mult(SpmvIsa isa, const FoldPlan *plan, const void *alpha, const void *x, const void *beta, void *y)
{
  const FoldTable *table  = &plan->table;
  const SpmvScalar scalar = plan->base.scalar_type;

  SPMV_SELECT(mult, table->column_type, scalar)
  (table, fold_slice_sums(isa, table->column_type, scalar), alpha, x, beta, y);
}

void fold_host_add_transposed(const FoldPlan *plan, const void *alpha, const void *x, void *y)
{
  SPMV_SELECT(add_transposed, plan->table.column_type, plan->base.scalar_type)(&plan->table, alpha, x, y);
}
