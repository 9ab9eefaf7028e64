/* rbp_sliced_build.c - CSR to the packed host layout of rbp_sliced.h: measuring, building, refreshing the values. */
#include "rbp_sliced.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A group of rows while its window is sorted */
typedef struct {
  int64_t begin, end; /* positions of its first row in the CSR */
  int64_t units, singles;
  int     row, rows; /* first row in the window, number of rows */
} RbpGroup;

/* Longer ones first, and the order of the rows among equals */
static int compare_groups(const void *a_, const void *b_)
{
  const RbpGroup *a = a_, *b = b_;

  if (a->rows != b->rows) return a->rows < b->rows ? 1 : -1;
  if (a->units != b->units) return a->units < b->units ? 1 : -1;
  if (a->singles != b->singles) return a->singles < b->singles ? 1 : -1;
  return a->row < b->row ? -1 : a->row > b->row;
}

/* Windows of a structured mesh are sorted already */
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
#define SPMV_BODY "rbp/rbp_sliced_layout.inc"
#define SPMV_INDEX_ONLY
#include "core/instantiate.h"
#define SPMV_BODY "rbp/rbp_sliced_head.inc"
#include "core/instantiate.h"
#define SPMV_BODY "rbp/rbp_sliced_update.inc"
#include "core/instantiate.h"

int rbp_choose_unit(const RbpGroupCounts *c, int64_t min_run)
{
  int     best      = 1;
  int64_t best_cost = c->columns;

  for (int64_t u = min_run; u <= RBP_MAX_UNIT; u++) {
    const int64_t cost = c->units[u] + 2 * c->rest[u]; /* a single costs a start and makes lanes uneven */
    if (cost < best_cost) {
      best      = (int)u;
      best_cost = cost;
    }
  }
  return best;
}

static SpmvStatus layout(const SpmvPattern *p, SpmvExec *exec, RbpSlicedSizes *sizes, RbpSliced *plan)
{
  const int64_t window = p->rows < RBP_WINDOW ? p->rows : RBP_WINDOW;
  void         *groups;
  SpmvStatus    status = spmv_alloc(exec, SPMV_HOST, window * (int64_t)sizeof(RbpGroup), "groups of a window", &groups);

  if (status) return status;
  if (p->index_type == SPMV_I64) layout_i64(p, groups, sizes, plan);
  else layout_i32(p, groups, sizes, plan);
  spmv_exec_free(exec, SPMV_HOST, groups);
  return SPMV_SUCCESS;
}

SpmvStatus rbp_sliced_measure(const SpmvPattern *p, SpmvExec *exec, RbpSlicedSizes *sizes)
{
  *sizes = (RbpSlicedSizes){.unit = sizes->unit};
  return layout(p, exec, sizes, NULL);
}

void rbp_sliced_memory(const RbpSlicedSizes *s, int64_t nnz, SpmvIndex index, SpmvScalar scalar, SpmvMemory *memory)
{
  const int64_t ib = spmv_index_bytes(index);

  spmv_memory_add(memory, "values", SPMV_ARRAY_VALUES, nnz * spmv_scalar_bytes(scalar));
  spmv_memory_add(memory, "narrow", SPMV_ARRAY_INDICES, s->narrow_entries * (int64_t)sizeof(uint16_t));
  spmv_memory_add(memory, "wide", SPMV_ARRAY_INDICES, s->wide_entries * ib);
  spmv_memory_add(memory, "tail_columns", SPMV_ARRAY_INDICES, s->tail_entries * ib);
  spmv_memory_add(memory, "group_row", SPMV_ARRAY_INDICES, s->groups * (int64_t)sizeof(uint16_t));
  spmv_memory_add(memory, "slice_head", SPMV_ARRAY_POINTERS, s->head_entries * ib);
}

static SpmvStatus alloc_arrays(RbpSliced *plan, SpmvExec *exec)
{
  const RbpSlicedSizes *s  = &plan->sizes;
  const int64_t         ib = spmv_index_bytes(plan->rbp.base.index_type);
  const struct {
    void      **array;
    int64_t     bytes;
    const char *name;
  } want[] = {
      {&plan->slice_head, s->head_entries * ib, "slice_head"},
      {(void **)&plan->group_row, s->groups * (int64_t)sizeof(uint16_t), "group_row"},
      {(void **)&plan->narrow, s->narrow_entries * (int64_t)sizeof(uint16_t), "narrow"},
      {&plan->wide, s->wide_entries * ib, "wide"},
      {&plan->tail_columns, s->tail_entries * ib, "tail_columns"},
      {&plan->values, plan->rbp.base.nnz * spmv_scalar_bytes(plan->rbp.base.scalar_type), "values"},
  };

  for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
    const SpmvStatus status = spmv_alloc(exec, SPMV_HOST, want[i].bytes, want[i].name, want[i].array);
    if (status) return status;
  }
  return SPMV_SUCCESS;
}

SpmvStatus rbp_sliced_build(const SpmvCsr *csr, const SpmvAnalysis *analysis, const RbpCounts *counts,
                            const RbpSlicedSizes *sizes, SpmvExec *exec, SpmvPlan **out)
{
  RbpSlicedSizes written = {.unit = sizes->unit};
  RbpSliced     *plan;
  void          *block;
  SpmvStatus     status = spmv_alloc(exec, SPMV_HOST, sizeof *plan, "plan", &block);

  if (status) return status;
  plan = memset(block, 0, sizeof *plan);
  rbp_plan_init(&plan->rbp, csr, analysis, counts, exec);
  plan->sizes = *sizes;
  status      = alloc_arrays(plan, exec);
  if (!status) status = layout(&csr->pattern, exec, &written, plan);
  if (status) {
    rbp_sliced_free(plan);
    return status;
  }
  rbp_sliced_update(plan, csr->values);
  *out = &plan->rbp.base;
  return SPMV_SUCCESS;
}

void rbp_sliced_update(RbpSliced *plan, const void *values)
{
  if (plan->rbp.base.nnz > 0) SPMV_SELECT(update, plan->rbp.base.index_type, plan->rbp.base.scalar_type)(plan, values);
}

void rbp_sliced_free(RbpSliced *plan)
{
  void *const         blocks[] = {plan->slice_head,   plan->group_row, plan->narrow, plan->wide,
                                  plan->tail_columns, plan->values,    plan};
  const SpmvAllocator host = plan->rbp.base.host, device = plan->rbp.base.device;

  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) spmv_free(&host, &device, SPMV_HOST, blocks[i]);
}

void rbp_sliced_view(const RbpSliced *plan, SpmvPrint print, void *ctx)
{
  const RbpSlicedSizes *s = &plan->sizes;
  char                  line[SPMV_MESSAGE_MAX];

  snprintf(line, sizeof line, "groups of rows with equal columns: %lld, mean rows: %.2f", (long long)s->groups,
           s->groups ? (double)plan->rbp.base.rows / (double)s->groups : 0.0);
  print(ctx, line);
  snprintf(line, sizeof line, "columns a unit: %d, slices of %d groups: %lld", s->unit, RBP_LANES,
           (long long)s->slices);
  print(ctx, line);
  snprintf(line, sizeof line, "starts: %lld in 16 bits, %lld in full, %lld in tails", (long long)s->narrow_entries,
           (long long)s->wide_entries, (long long)s->tail_entries);
  print(ctx, line);
}
