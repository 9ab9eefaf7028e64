/* rbp_host_build.c - converts CSR to the packed host layout of rbp_host.h: sizes, arrays, and refreshes of the
   values. */
#include "rbp_host.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A group of rows, as an element of the sort of its window */
typedef struct {
  int64_t begin, end; /* CSR positions of its first row */
  int64_t units, singles;
  int     row, rows; /* first row in the window, number of rows */
} RbpGroup;

/* Longer groups first; equal groups in the order of their rows */
static int compare_groups(const void *a_, const void *b_)
{
  const RbpGroup *a = a_, *b = b_;

  if (a->rows != b->rows) return a->rows < b->rows ? 1 : -1;
  if (a->units != b->units) return a->units < b->units ? 1 : -1;
  if (a->singles != b->singles) return a->singles < b->singles ? 1 : -1;
  return a->row < b->row ? -1 : a->row > b->row;
}

/* Skips the sort if the groups are in order, as in windows of a structured mesh */
static void sort_groups(RbpGroup *group, int64_t count)
{
  for (int64_t i = 1; i < count; i++)
    if (compare_groups(&group[i - 1], &group[i]) > 0) {
      qsort(group, (size_t)count, sizeof *group, compare_groups);
      return;
    }
}

#define SPMV_BODY "rbp/rbp_runs.inc"
#define SPMV_INDEX_ONLY
#include "core/instantiate.h"
#define SPMV_BODY "rbp/rbp_host_layout.inc"
#define SPMV_INDEX_ONLY
#include "core/instantiate.h"
#define SPMV_BODY "rbp/rbp_host_head.inc"
#include "core/instantiate.h"
#define SPMV_BODY "rbp/rbp_host_update.inc"
#include "core/instantiate.h"

int rbp_choose_unit(const RbpGroupCounts *c, int64_t min_run)
{
  int     best      = 1;
  int64_t best_cost = c->columns;

  for (int64_t u = min_run; u <= RBP_MAX_UNIT; u++) {
    const int64_t cost = c->units[u] + 2 * c->rest[u]; /* a single costs a start, and lanes with different numbers of
                                                          singles have tails */
    if (cost < best_cost) {
      best      = (int)u;
      best_cost = cost;
    }
  }
  return best;
}

static SpmvStatus layout(const SpmvPattern *p, SpmvExec *exec, RbpHostSizes *sizes, RbpHostPacked *plan)
{
  const int64_t window = p->rows < RBP_WINDOW ? p->rows : RBP_WINDOW;
  void         *groups;

  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, window * (int64_t)sizeof(RbpGroup), "groups of a window", &groups));
  if (p->index_type == SPMV_I64) layout_i64(p, groups, sizes, plan);
  else layout_i32(p, groups, sizes, plan);
  spmv_exec_free(exec, SPMV_HOST, groups);
  return SPMV_SUCCESS;
}

SpmvStatus rbp_host_measure(const SpmvPattern *p, SpmvExec *exec, RbpHostSizes *sizes)
{
  *sizes = (RbpHostSizes){.unit = sizes->unit};
  return layout(p, exec, sizes, NULL);
}

enum { ARRAYS = 6 };

static void list_arrays(RbpHostPacked *p, int64_t nnz, SpmvIndex index, SpmvScalar scalar, SpmvPlanArray list[ARRAYS])
{
  const RbpHostSizes *s              = &p->sizes;
  const int64_t       ib             = spmv_index_bytes(index);
  const SpmvPlanArray arrays[ARRAYS] = {
      {"values", SPMV_ARRAY_VALUES, nnz * spmv_scalar_bytes(scalar), &p->values},
      {"narrow", SPMV_ARRAY_INDICES, s->narrow_entries * (int64_t)sizeof *p->narrow, (void **)&p->narrow},
      {"wide", SPMV_ARRAY_INDICES, s->wide_entries * ib, &p->wide},
      {"tail_columns", SPMV_ARRAY_INDICES, s->tail_entries * ib, &p->tail_columns},
      {"group_row", SPMV_ARRAY_INDICES, s->groups * (int64_t)sizeof *p->group_row, (void **)&p->group_row},
      {"slice_head", SPMV_ARRAY_POINTERS, s->head_entries * ib, &p->slice_head},
  };

  memcpy(list, arrays, sizeof arrays);
}

void rbp_host_memory(const RbpHostSizes *s, int64_t nnz, SpmvIndex index, SpmvScalar scalar, SpmvMemory *memory)
{
  RbpHostPacked plan = {.sizes = *s};
  SpmvPlanArray list[ARRAYS];

  list_arrays(&plan, nnz, index, scalar, list);
  spmv_arrays_report(list, ARRAYS, memory);
}

SpmvStatus rbp_host_build(const SpmvCsr *csr, const RbpCounts *counts, const RbpHostSizes *sizes, RbpHostPacked *plan,
                          SpmvExec *exec)
{
  RbpHostSizes  written = {.unit = sizes->unit};
  SpmvPlanArray list[ARRAYS];

  plan->counts = *counts;
  plan->sizes  = *sizes;
  list_arrays(plan, plan->base.nnz, plan->base.index_type, plan->base.scalar_type, list);
  SPMV_TRY(spmv_arrays_alloc(&plan->base, list, ARRAYS, exec));
  SPMV_TRY(layout(&csr->pattern, exec, &written, plan));
  return rbp_host_update(&plan->base, csr->values, SPMV_HOST, exec);
}

SpmvStatus rbp_host_update(SpmvPlan *plan, const void *values, SpmvSpace values_space, SpmvExec *exec)
{
  (void)values_space;
  (void)exec;
  if (plan->nnz > 0) SPMV_SELECT(update, plan->index_type, plan->scalar_type)((RbpHostPacked *)plan, values);
  return SPMV_SUCCESS;
}

SpmvStatus rbp_host_extract(const SpmvPlan *plan, void *values, SpmvExec *exec)
{
  (void)exec;
  SPMV_SELECT(extract, plan->index_type, plan->scalar_type)((const RbpHostPacked *)plan, values);
  return SPMV_SUCCESS;
}

void rbp_host_clear(SpmvPlan *base)
{
  SpmvPlanArray list[ARRAYS];

  list_arrays((RbpHostPacked *)base, base->nnz, base->index_type, base->scalar_type, list);
  spmv_arrays_free(base, list, ARRAYS);
}

void rbp_host_view(const RbpHostPacked *plan, SpmvPrint print, void *ctx)
{
  const RbpHostSizes *s = &plan->sizes;
  char                line[SPMV_MESSAGE_MAX];

  snprintf(line, sizeof line, "groups of rows with equal columns: %lld, mean rows: %.2f", (long long)s->groups,
           s->groups ? (double)plan->base.rows / (double)s->groups : 0.0);
  print(ctx, line);
  snprintf(line, sizeof line, "columns per unit: %d, slices of %d groups: %lld", s->unit, RBP_LANES,
           (long long)s->slices);
  print(ctx, line);
  snprintf(line, sizeof line, "starts: %lld in 16 bits, %lld in full, %lld in tails", (long long)s->narrow_entries,
           (long long)s->wide_entries, (long long)s->tail_entries);
  print(ctx, line);
}
