/* rbp_published_plan.c - plans of the published layouts, on the host and on a device: bytes, arrays, view. */
#include "rbp_published.h"
#include <stdio.h>

enum { ARRAYS = 8 };

/* a * b * c for counts >= 0, limited so that the sum over all arrays of a plan fits int64_t */
static int64_t saturating_bytes(int64_t a, int64_t b, int64_t c)
{
  const int64_t limit = INT64_MAX / (2 * SPMV_ARRAYS_MAX);
  int64_t       product;

  if (__builtin_mul_overflow(a, b, &product) || __builtin_mul_overflow(product, c, &product)) return limit;
  return product < limit ? product : limit;
}

/* Lists the arrays of the layout; returns their number */
static int list_arrays(RbpPublished *p, SpmvIndex index, SpmvScalar scalar, SpmvPlanArray list[ARRAYS])
{
  const RbpCounts *c  = &p->counts;
  const int64_t    ib = spmv_index_bytes(index), sb = spmv_scalar_bytes(scalar), pointers = (c->rows + 1) * ib;
  const int        is_csr      = p->layout == RBP_CSR;
  const int64_t    run_values  = is_csr ? c->run_values * sb : saturating_bytes(c->rows, c->max_run_values, sb);
  const int64_t    run_columns = is_csr ? 2 * c->runs * ib : saturating_bytes(c->rows, c->max_run_columns, ib);
  int              n           = 0;

  if (is_csr) {
    list[n++] = (SpmvPlanArray){"val_ptr", SPMV_ARRAY_POINTERS, pointers, &p->val_ptr};
    list[n++] = (SpmvPlanArray){"col_ptr", SPMV_ARRAY_POINTERS, pointers, &p->col_ptr};
  }
  list[n++] = (SpmvPlanArray){"comp_values", SPMV_ARRAY_VALUES, run_values, &p->comp_values};
  list[n++] = (SpmvPlanArray){"comp_columns", SPMV_ARRAY_INDICES, run_columns, &p->comp_columns};
  if (p->layout == RBP_ELLR)
    list[n++] = (SpmvPlanArray){"row_length", SPMV_ARRAY_POINTERS, c->rows * ib, &p->row_length};
  list[n++] = (SpmvPlanArray){"row_ptr", SPMV_ARRAY_POINTERS, pointers, &p->row_ptr};
  list[n++] = (SpmvPlanArray){"values", SPMV_ARRAY_VALUES, c->singles * sb, &p->values};
  list[n++] = (SpmvPlanArray){"columns", SPMV_ARRAY_INDICES, c->singles * ib, &p->columns};
  return n;
}

void rbp_published_memory(RbpLayout layout, const RbpCounts *c, SpmvIndex index, SpmvScalar scalar, SpmvMemory *memory)
{
  RbpPublished  plan = {.layout = layout, .counts = *c};
  const int64_t sb   = spmv_scalar_bytes(scalar);
  SpmvPlanArray list[ARRAYS];

  spmv_arrays_report(list, list_arrays(&plan, index, scalar, list), memory);
  if (layout != RBP_CSR) memory->padding_bytes = saturating_bytes(c->rows, c->max_run_values, sb) - c->run_values * sb;
}

SpmvStatus rbp_published_init(RbpPublished *plan, const SpmvAnalysis *analysis, SpmvExec *exec)
{
  SpmvPlanArray list[ARRAYS];

  plan->layout  = rbp_layout_of(&analysis->options);
  plan->min_run = rbp_min_run_of(&analysis->options);
  plan->counts  = *(const RbpCounts *)analysis->data;
  return spmv_arrays_alloc(&plan->base, list, list_arrays(plan, plan->base.index_type, plan->base.scalar_type, list),
                           exec);
}

SpmvStatus rbp_published_copy(RbpPublished *to, RbpPublished *from, SpmvExec *exec)
{
  const SpmvPlan *b = &to->base;
  SpmvPlanArray   there[ARRAYS], here[ARRAYS];
  const int       n = list_arrays(to, b->index_type, b->scalar_type, there);

  (void)list_arrays(from, b->index_type, b->scalar_type, here);
  for (int i = 0; i < n; i++)
    if (there[i].kind != SPMV_ARRAY_VALUES)
      SPMV_TRY(spmv_copy(*there[i].array, b->space, *here[i].array, SPMV_HOST, there[i].bytes, exec));
  return spmv_stream_wait(exec); /* the caller may free `from` */
}

void rbp_published_view(const SpmvPlan *base, SpmvPrint print, void *ctx)
{
  const RbpCounts *c = &((const RbpPublished *)base)->counts;
  char             line[SPMV_MESSAGE_MAX];

  rbp_view_format(base, print, ctx);
  rbp_view_counts(c, print, ctx);
  snprintf(line, sizeof line, "longest row: %lld nonzeros (K), %lld in runs (Kv), %lld ends of runs (Kc)",
           (long long)c->max_row, (long long)c->max_run_values, (long long)c->max_run_columns);
  print(ctx, line);
}

void rbp_published_clear(SpmvPlan *base)
{
  SpmvPlanArray list[ARRAYS];

  spmv_arrays_free(base, list, list_arrays((RbpPublished *)base, base->index_type, base->scalar_type, list));
}
