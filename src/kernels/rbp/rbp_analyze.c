/*
  rbp_analyze.c - counts the runs and groups of rows of a pattern for Row Block Packing, and prints these counts for
  views. It reads no values and allocates nothing.
*/
#include "rbp.h"
#include <stdio.h>
#include <string.h>

enum { RBP_SHORT_RUN = 256 };

/* Adds `runs` runs of the given length to the counts of units and remaining columns */
static void add_runs(RbpGroupCounts *counts, int64_t length, int64_t runs)
{
  for (int u = 1; u <= RBP_MAX_UNIT; u++) {
    counts->units[u] += runs * (length / u);
    counts->rest[u] += runs * (length % u);
  }
}

#define SPMV_BODY "rbp/rbp_runs.inc"
#define SPMV_INDEX_ONLY
#include "core/instantiate.h"
#define SPMV_BODY "rbp/rbp_count.inc"
#define SPMV_INDEX_ONLY
#include "core/instantiate.h"

static int on_host(const SpmvPattern *p) { return p->space == SPMV_HOST && p->row_ptr && (p->col || p->nnz == 0); }

SpmvStatus rbp_count_runs(const SpmvPattern *p, int64_t min_run, RbpCounts *counts)
{
  memset(counts, 0, sizeof *counts);
  if (!on_host(p) || min_run < 2) return SPMV_ERR_ARGUMENT;
  counts->rows = p->rows;
  counts->nnz  = p->nnz;
  if (p->index_type == SPMV_I64) count_runs_i64(p->row_ptr, p->col, min_run, counts);
  else count_runs_i32(p->row_ptr, p->col, min_run, counts);
  return SPMV_SUCCESS;
}

SpmvStatus rbp_count_groups(const SpmvPattern *p, int max_group, RbpGroupCounts *counts)
{
  memset(counts, 0, sizeof *counts);
  if (!on_host(p) || max_group < 1 || max_group > RBP_MAX_GROUP) return SPMV_ERR_ARGUMENT;
  if (p->index_type == SPMV_I64) count_groups_i64(p->row_ptr, p->col, p->rows, max_group, counts);
  else count_groups_i32(p->row_ptr, p->col, p->rows, max_group, counts);
  return SPMV_SUCCESS;
}

void rbp_view_format(const SpmvPlan *plan, SpmvPrint print, void *ctx)
{
  const char *name = plan->format->options[RBP_OPTION_LAYOUT].choices[rbp_layout_of(&plan->options)];
  char        line[SPMV_MESSAGE_MAX];

  if (plan->space == SPMV_DEVICE) snprintf(line, sizeof line, "layout: %s, on the device", name);
  else snprintf(line, sizeof line, "layout: %s, min_run: %lld", name, (long long)rbp_min_run_of(&plan->options));
  print(ctx, line);
}

void rbp_view_counts(const RbpCounts *c, SpmvPrint print, void *ctx)
{
  char line[SPMV_MESSAGE_MAX];

  snprintf(line, sizeof line, "runs: %lld, mean run: %.2f, longest run: %lld, singles: %lld", (long long)c->runs,
           c->runs ? (double)c->run_values / (double)c->runs : 0.0, (long long)c->longest_run, (long long)c->singles);
  print(ctx, line);
}
