/*
  fold_fill.c - copies between CSR and a table on the host. The beginning of the padding gives the length of a table
  row, so a refresh of the values needs neither the CSR's row_ptr nor a permutation.
*/
#include "fold_rows.h"

static int64_t slice_width(const FoldTable *table, int64_t t)
{
  const int64_t *slice_ptr = table->layout.slice_ptr + t / FOLD_LANES;
  return slice_ptr[1] - slice_ptr[0];
}

/* Index of the first entry of table row t, in arrays that begin with slice `begin` */
static int64_t first_entry(const FoldTable *table, int64_t begin, int64_t t)
{
  const int64_t *slice_ptr = table->layout.slice_ptr;
  return (slice_ptr[t / FOLD_LANES] - slice_ptr[begin]) * FOLD_LANES + t % FOLD_LANES;
}

static int is_padding(const FoldTable *table, int64_t e)
{
  return table->column_type == SPMV_I64 ? ((const int64_t *)table->columns)[e] < 0
                                        : ((const int32_t *)table->columns)[e] < 0;
}

/* Number of nonzeros of table row t: padding comes last, so bisection finds its beginning */
static int64_t stored_length(const FoldTable *table, int64_t t)
{
  const int64_t first  = first_entry(table, 0, t);
  int64_t       length = 0, width = slice_width(table, t);

  SPMV_BISECT(length, width, middle, !is_padding(table, first + middle * FOLD_LANES));
  return length;
}

#define SPMV_BODY "fold/fold_fill_index.inc"
#define SPMV_INDEX_ONLY
#include "core/instantiate.h"
#define SPMV_BODY "fold/fold_fill_values.inc"
#include "core/instantiate.h"

FoldRange fold_whole(const FoldTable *table)
{
  return (FoldRange){0, table->sizes.slices, table->columns, table->values};
}

void fold_fill_columns(const FoldTable *table, const FoldRange *range, SpmvIndex index, const void *row_ptr,
                       const void *col)
{
  if (index == SPMV_I64) fill_columns_i64(table, range, row_ptr, col);
  else fill_columns_i32(table, range, row_ptr, col);
}

void fold_fill_values(const FoldTable *table, const FoldRange *range, SpmvIndex index, SpmvScalar scalar,
                      const void *row_ptr, const void *values)
{
  SPMV_SELECT(fill_values, index, scalar)(table, range, row_ptr, values);
}

void fold_unfill(const FoldTable *table, const FoldRange *range, SpmvIndex index, SpmvScalar scalar,
                 const void *row_ptr, void *col, void *values)
{
  SPMV_SELECT(unfill, index, scalar)(table, range, row_ptr, col, values);
}

void fold_recover_row_ptr(const FoldTable *table, SpmvIndex index, void *row_ptr)
{
  if (index == SPMV_I64) recover_i64(table, row_ptr);
  else recover_i32(table, row_ptr);
}
