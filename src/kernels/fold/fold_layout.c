/* fold_layout.c - computes the table rows, slices and owners of a table from the row lengths of a CSR on the host. */
#include "fold_rows.h"
#include <stdio.h>
#include <string.h>

static int smaller(int64_t a, int64_t b) { return (int)(a < b ? a : b); }

/* A length as counted in the histogram, and as compared in sorts */
static int capped(int64_t length) { return smaller(length, FOLD_LONG); }

static int sort_length(int64_t length) { return smaller(length, FOLD_UNSORTED); }

static void count_slice(FoldHistogram *h, FoldOrder order, int64_t longest)
{
  h->slice[order][capped(longest)]++;
  if (longest >= FOLD_LONG) h->long_slice_sum[order] += longest;
}

/* order[] = 0 .. n-1 by length, descending; equal lengths keep their order */
static void sort_descending(const int *length, int n, uint16_t *order)
{
  int first[FOLD_UNSORTED + 1] = {0}, before = 0;

  for (int i = 0; i < n; i++) first[length[i]]++;
  for (int l = FOLD_UNSORTED; l >= 0; l--) {
    const int count = first[l];
    first[l]        = before;
    before += count;
  }
  for (int i = 0; i < n; i++) order[first[length[i]]++] = (uint16_t)i;
}

#define SPMV_BODY "fold/fold_layout.inc"
#define SPMV_INDEX_ONLY
#include "core/instantiate.h"

void fold_count(const void *row_ptr, int64_t rows, SpmvIndex index, FoldHistogram *h)
{
  memset(h, 0, sizeof *h);
  h->rows = rows;
  if (index == SPMV_I64) {
    h->nnz = ((const int64_t *)row_ptr)[rows];
    count_i64(row_ptr, rows, h);
  } else {
    h->nnz = ((const int32_t *)row_ptr)[rows];
    count_i32(row_ptr, rows, h);
  }
}

void fold_count_sorted(const void *row_ptr, int64_t rows, SpmvIndex index, FoldHistogram *h)
{
  if (index == SPMV_I64) count_sorted_i64(row_ptr, rows, h);
  else count_sorted_i32(row_ptr, rows, h);
}

static void write_layout(const void *row_ptr, SpmvIndex index, const FoldSizes *s, FoldLayout *layout)
{
  for (int64_t first = 0; layout->order && first < s->rows; first += FOLD_WINDOW) {
    const int64_t n = s->rows - first < FOLD_WINDOW ? s->rows - first : FOLD_WINDOW;
    if (index == SPMV_I64) sort_window_i64((const int64_t *)row_ptr + first, n, layout->order + first);
    else sort_window_i32((const int32_t *)row_ptr + first, n, layout->order + first);
  }
  if (index == SPMV_I64) {
    list_owners_i64(row_ptr, s, layout);
    position_slices_i64(row_ptr, s, layout);
  } else {
    list_owners_i32(row_ptr, s, layout);
    position_slices_i32(row_ptr, s, layout);
  }
}

SpmvStatus fold_layout_alloc(const FoldSizes *s, SpmvExec *exec, FoldLayout *layout)
{
  SpmvStatus status = spmv_alloc(exec, SPMV_HOST, fold_slice_ptr_bytes(s), "slice_ptr", (void **)&layout->slice_ptr);

  if (!status) status = spmv_alloc(exec, SPMV_HOST, fold_order_bytes(s), "order", (void **)&layout->order);
  if (!status) status = spmv_alloc(exec, SPMV_HOST, fold_owner_bytes(s), "owner", (void **)&layout->owner);
  if (!status) status = spmv_alloc(exec, SPMV_HOST, fold_full_ptr_bytes(s), "full_ptr", (void **)&layout->full_ptr);
  return status;
}

SpmvStatus fold_lay_out(const void *row_ptr, SpmvIndex index, SpmvExec *exec, FoldSizes *s, FoldLayout *layout)
{
  SpmvStatus status;

  memset(layout, 0, sizeof *layout);
  if (index == SPMV_I64) count_folded_i64(row_ptr, s);
  else count_folded_i32(row_ptr, s);
  s->table_rows = s->rows + s->full_pieces + s->folded;
  s->slices     = (s->table_rows + FOLD_LANES - 1) / FOLD_LANES;
  status        = fold_layout_alloc(s, exec, layout);
  if (status) {
    fold_layout_free(&exec->host, &exec->device, SPMV_HOST, layout);
    return status;
  }
  write_layout(row_ptr, index, s, layout);
  s->steps = layout->slice_ptr[s->slices];
  return SPMV_SUCCESS;
}

void fold_layout_free(const SpmvAllocator *host, const SpmvAllocator *device, SpmvSpace space, FoldLayout *layout)
{
  spmv_free(host, device, space, layout->slice_ptr);
  spmv_free(host, device, space, layout->order);
  spmv_free(host, device, space, layout->owner);
  spmv_free(host, device, space, layout->full_ptr);
  memset(layout, 0, sizeof *layout);
}

SpmvStatus fold_analyze_rows(const void *row_ptr, const SpmvPattern *p, SpmvScalar scalar, SpmvSpace space,
                             FoldGiven given, SpmvExec *exec, FoldSizes *sizes, FoldLayout *layout)
{
  FoldHistogram *h;
  void          *block;
  SpmvStatus     status = spmv_alloc(exec, SPMV_HOST, sizeof *h, "histogram", &block);

  if (status) return status;
  h = block;
  fold_count(row_ptr, p->rows, p->index_type, h);
  const int try_sorted = fold_sorting_may_pay(h, scalar, space, given);
  if (try_sorted) fold_count_sorted(row_ptr, p->rows, p->index_type, h);
  fold_choose(h, try_sorted, scalar, space, given, sizes);
  spmv_exec_free(exec, SPMV_HOST, block);
  return fold_lay_out(row_ptr, p->index_type, exec, sizes, layout);
}

/* ---- bytes ---- */

/* a * b for counts >= 0, limited so that the sum over all arrays of a plan fits int64_t: the analysis must be able to
   report absurd padding, so that the matrix is declined */
static int64_t saturating(int64_t a, int64_t b)
{
  const int64_t limit = INT64_MAX / (2 * SPMV_ARRAYS_MAX);
  int64_t       product;

  return __builtin_mul_overflow(a, b, &product) || product > limit ? limit : product;
}

SpmvIndex fold_column_type(int64_t cols) { return cols > INT32_MAX ? SPMV_I64 : SPMV_I32; }

int64_t fold_slice_ptr_bytes(const FoldSizes *s) { return (s->slices + 1) * 8; }

int64_t fold_order_bytes(const FoldSizes *s) { return s->order == FOLD_SORTED ? s->rows : 0; }

int64_t fold_owner_bytes(const FoldSizes *s) { return s->folded * 8; }

int64_t fold_full_ptr_bytes(const FoldSizes *s) { return s->cut_often ? (s->cut_often + 1) * 8 : 0; }

int64_t fold_columns_bytes(const FoldSizes *s, SpmvIndex column_type)
{
  return saturating(s->steps, FOLD_LANES * spmv_index_bytes(column_type));
}

int64_t fold_values_bytes(const FoldSizes *s, SpmvScalar scalar)
{
  return saturating(s->steps, FOLD_LANES * spmv_scalar_bytes(scalar));
}

enum { ARRAYS = 6 };

static void list_arrays(FoldTable *t, SpmvScalar scalar, SpmvPlanArray list[ARRAYS])
{
  const FoldSizes    *s              = &t->sizes;
  FoldLayout         *layout         = &t->layout;
  const SpmvPlanArray arrays[ARRAYS] = {
      {"values", SPMV_ARRAY_VALUES, fold_values_bytes(s, scalar), &t->values},
      {"columns", SPMV_ARRAY_INDICES, fold_columns_bytes(s, t->column_type), &t->columns},
      {"slice_ptr", SPMV_ARRAY_POINTERS, fold_slice_ptr_bytes(s), (void **)&layout->slice_ptr},
      {"order", SPMV_ARRAY_INDICES, fold_order_bytes(s), (void **)&layout->order},
      {"owner", SPMV_ARRAY_POINTERS, fold_owner_bytes(s), (void **)&layout->owner},
      {"full_ptr", SPMV_ARRAY_POINTERS, fold_full_ptr_bytes(s), (void **)&layout->full_ptr},
  };

  memcpy(list, arrays, sizeof arrays);
}

void fold_memory(const FoldSizes *s, SpmvIndex column_type, SpmvScalar scalar, SpmvMemory *m)
{
  FoldTable     table = {.sizes = *s, .column_type = column_type};
  SpmvPlanArray list[ARRAYS];

  list_arrays(&table, scalar, list);
  spmv_arrays_report(list, ARRAYS, m);
  m->padding_bytes = fold_values_bytes(s, scalar) - s->nnz * spmv_scalar_bytes(scalar);
}

SpmvStatus fold_make_table(FoldPlan *plan, const FoldSizes *s, const FoldLayout *from, SpmvIndex column_type,
                           SpmvExec *exec)
{
  const SpmvSpace space = plan->base.space;
  FoldTable      *table = &plan->table;
  SpmvPlanArray   list[ARRAYS];

  table->sizes       = *s;
  table->column_type = column_type;
  list_arrays(table, plan->base.scalar_type, list);
  SPMV_TRY(spmv_arrays_alloc(&plan->base, list, ARRAYS, exec));
  return fold_copy_layout(s, &table->layout, space, from, space, exec);
}

SpmvStatus fold_copy_layout(const FoldSizes *s, FoldLayout *to, SpmvSpace to_space, const FoldLayout *from,
                            SpmvSpace from_space, SpmvExec *exec)
{
  SPMV_TRY(spmv_copy(to->slice_ptr, to_space, from->slice_ptr, from_space, fold_slice_ptr_bytes(s), exec));
  SPMV_TRY(spmv_copy(to->order, to_space, from->order, from_space, fold_order_bytes(s), exec));
  SPMV_TRY(spmv_copy(to->owner, to_space, from->owner, from_space, fold_owner_bytes(s), exec));
  return spmv_copy(to->full_ptr, to_space, from->full_ptr, from_space, fold_full_ptr_bytes(s), exec);
}

void fold_clear_table(SpmvPlan *base)
{
  FoldPlan     *plan = (FoldPlan *)base;
  SpmvPlanArray list[ARRAYS];

  list_arrays(&plan->table, base->scalar_type, list);
  spmv_arrays_free(base, list, ARRAYS);
}
