/*
  rbp_analyze.c - what a pattern holds for Row Block Packing: runs, groups of rows, and the bytes of the published
  formats. It reads no values and allocates nothing.
*/
#include "rbp.h"
#include <stdio.h>
#include <string.h>

enum { RBP_SHORT_RUN = 256 };

/* Counts `runs` runs of a length among the units and what they leave over */
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

/* The host arrays of a pattern; 0 when it has none */
static int host_arrays(const SpmvPattern *p, const void **row_ptr, const void **col)
{
  *row_ptr = p->space == SPMV_HOST ? p->row_ptr : p->host_row_ptr;
  *col     = p->space == SPMV_HOST ? p->col : p->host_col;
  return *row_ptr && (*col || p->nnz == 0);
}

SpmvStatus rbp_count_runs(const SpmvPattern *p, int64_t min_run, RbpCounts *counts)
{
  const void *row_ptr, *col;

  memset(counts, 0, sizeof *counts);
  if (!host_arrays(p, &row_ptr, &col) || min_run < 2) return SPMV_ERR_ARGUMENT;
  counts->rows = p->rows;
  counts->nnz  = p->nnz;
  if (p->index_type == SPMV_I64) count_runs_i64(row_ptr, col, min_run, counts);
  else count_runs_i32(row_ptr, col, min_run, counts);
  return SPMV_SUCCESS;
}

SpmvStatus rbp_count_groups(const SpmvPattern *p, int max_group, RbpGroupCounts *counts)
{
  const void *row_ptr, *col;

  memset(counts, 0, sizeof *counts);
  if (!host_arrays(p, &row_ptr, &col) || max_group < 1 || max_group > RBP_MAX_GROUP) return SPMV_ERR_ARGUMENT;
  if (p->index_type == SPMV_I64) count_groups_i64(row_ptr, col, p->rows, max_group, counts);
  else count_groups_i32(row_ptr, col, p->rows, max_group, counts);
  return SPMV_SUCCESS;
}

/* a * b * c for counts >= 0, or a bound that keeps the sum over all arrays of a plan inside int64_t */
static int64_t saturating_bytes(int64_t a, int64_t b, int64_t c)
{
  const int64_t limit = INT64_MAX / (2 * SPMV_ARRAYS_MAX);
  int64_t       product;

  if (__builtin_mul_overflow(a, b, &product) || __builtin_mul_overflow(product, c, &product)) return limit;
  return product < limit ? product : limit;
}

void rbp_published_memory(RbpFormat format, const RbpCounts *c, SpmvIndex index, SpmvScalar scalar, SpmvMemory *memory)
{
  const int64_t ib = spmv_index_bytes(index), sb = spmv_scalar_bytes(scalar), pointers = (c->rows + 1) * ib;

  if (format == RBP_CSR) {
    spmv_memory_add(memory, "val_ptr", SPMV_ARRAY_POINTERS, pointers);
    spmv_memory_add(memory, "col_ptr", SPMV_ARRAY_POINTERS, pointers);
    spmv_memory_add(memory, "comp_values", SPMV_ARRAY_VALUES, c->run_values * sb);
    spmv_memory_add(memory, "comp_columns", SPMV_ARRAY_INDICES, 2 * c->runs * ib);
  } else {
    const int64_t padded = saturating_bytes(c->rows, c->max_run_values, sb);

    spmv_memory_add(memory, "comp_values", SPMV_ARRAY_VALUES, padded);
    spmv_memory_add(memory, "comp_columns", SPMV_ARRAY_INDICES, saturating_bytes(c->rows, c->max_run_columns, ib));
    if (format == RBP_ELLR) spmv_memory_add(memory, "row_length", SPMV_ARRAY_POINTERS, c->rows * ib);
    memory->padding_bytes = padded - c->run_values * sb;
  }
  spmv_memory_add(memory, "row_ptr", SPMV_ARRAY_POINTERS, pointers);
  spmv_memory_add(memory, "values", SPMV_ARRAY_VALUES, c->singles * sb);
  spmv_memory_add(memory, "columns", SPMV_ARRAY_INDICES, c->singles * ib);
}

void rbp_decide(const RbpCounts *c, const char *format_name, SpmvAnalysis *analysis)
{
  const SpmvMemory *m = &analysis->memory;

  analysis->accepted = m->total_bytes < m->csr_bytes;
  if (analysis->accepted) return;
  snprintf(analysis->reason, sizeof analysis->reason,
           "rbp %s would take %lld bytes, not less than the %lld of CSR: %lld of %lld nonzeros lie in runs",
           format_name, (long long)m->total_bytes, (long long)m->csr_bytes, (long long)c->run_values,
           (long long)c->nnz);
}
