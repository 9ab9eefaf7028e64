/* gen.c - makes CSR arrays and numbers from a GenSpec. The other gen_*.c files make its rows. */
#include "gen.h"
#include "parallel.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

uint64_t gen_hash(uint64_t a, uint64_t b)
{
  return gen_scramble(gen_scramble(a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u));
}

double gen_uniform(uint64_t a, uint64_t b) { return (double)(gen_hash(a, b) >> 11) * 0x1p-53; }

GenSpec gen_with_zeros(GenSpec spec, int percent)
{
  spec.zero_percent = percent;
  return spec;
}

static void store_index(void *array, SpmvIndex type, int64_t i, int64_t value)
{
  if (type == SPMV_I64) ((int64_t *)array)[i] = value;
  else ((int32_t *)array)[i] = (int32_t)value;
}

/* A pattern that several threads fill: first the lengths of rows, then their columns */
typedef struct {
  const GenSpec *spec;
  SpmvIndex      type;
  int64_t       *row_ptr; /* [rows+1] */
  void          *col;     /* NULL in the first pass */
  atomic_int     failed;
} Layout;

/* A row function may write more columns than it keeps, so it writes to a buffer, from which the row is copied to col */
static void layout_rows(void *layout_, int64_t begin, int64_t end)
{
  Layout  *l   = layout_;
  int64_t *row = malloc((size_t)(l->spec->cols + 1) * sizeof *row);

  if (!row) atomic_store(&l->failed, 1);
  for (int64_t i = begin; row && i < end; i++) {
    const int64_t length = l->spec->row(l->spec, i, row);
    if (!l->col) l->row_ptr[i + 1] = length;
    else
      for (int64_t k = 0; k < length; k++) store_index(l->col, l->type, l->row_ptr[i] + k, row[k]);
  }
  free(row);
}

/* Turns lengths into pointers; returns the number of nonzeros, or -1 if it does not fit the index type */
static int64_t sum_lengths(const Layout *l)
{
  l->row_ptr[0] = 0;
  for (int64_t i = 0; i < l->spec->rows; i++) {
    l->row_ptr[i + 1] += l->row_ptr[i];
    if (l->type == SPMV_I32 && l->row_ptr[i + 1] > INT32_MAX) return -1;
  }
  return l->row_ptr[l->spec->rows];
}

/* Allocates and fills col; *nnz becomes the number of nonzeros */
static SpmvStatus layout(Layout *l, int64_t *nnz)
{
  gen_parallel(l->spec->rows, layout_rows, l);
  if (atomic_load(&l->failed)) return SPMV_ERR_MEMORY;
  *nnz = sum_lengths(l);
  if (*nnz < 0) return SPMV_ERR_OVERFLOW;
  l->col = malloc(*nnz > 0 ? (size_t)*nnz * (size_t)spmv_index_bytes(l->type) : 1);
  if (!l->col) return SPMV_ERR_MEMORY;
  gen_parallel(l->spec->rows, layout_rows, l);
  return atomic_load(&l->failed) ? SPMV_ERR_MEMORY : SPMV_SUCCESS;
}

/* Converts the row pointers to the index type of the pattern: returns `wide` itself, or frees it */
static void *row_ptr_of_type(int64_t *wide, SpmvIndex type, int64_t rows)
{
  void *narrow;

  if (type == SPMV_I64) return wide;
  narrow = malloc((size_t)(rows + 1) * sizeof(int32_t));
  for (int64_t i = 0; narrow && i <= rows; i++) store_index(narrow, type, i, wide[i]);
  free(wide);
  return narrow;
}

SpmvStatus gen_pattern(const GenSpec *spec, SpmvIndex index_type, SpmvPattern *pattern)
{
  Layout     l = {.spec = spec, .type = index_type};
  int64_t    nnz;
  void      *row_ptr = NULL;
  SpmvStatus status;

  memset(pattern, 0, sizeof *pattern);
  if (index_type == SPMV_I32 && (spec->rows >= INT32_MAX || spec->cols > INT32_MAX)) return SPMV_ERR_OVERFLOW;
  l.row_ptr = malloc((size_t)(spec->rows + 1) * sizeof *l.row_ptr);
  status    = l.row_ptr ? layout(&l, &nnz) : SPMV_ERR_MEMORY;
  if (status) free(l.row_ptr);
  else row_ptr = row_ptr_of_type(l.row_ptr, index_type, spec->rows);
  if (!status && !row_ptr) status = SPMV_ERR_MEMORY;
  if (status) {
    free(l.col);
    return status;
  }
  pattern->rows       = spec->rows;
  pattern->cols       = spec->cols;
  pattern->nnz        = nnz;
  pattern->index_type = index_type;
  pattern->space      = SPMV_HOST;
  pattern->row_ptr    = row_ptr;
  pattern->col        = l.col;
  return SPMV_SUCCESS;
}

void gen_pattern_free(SpmvPattern *pattern)
{
  free((void *)pattern->row_ptr);
  free((void *)pattern->col);
  memset(pattern, 0, sizeof *pattern);
}

void gen_values(GenData data, uint64_t seed, int zero_percent, SpmvScalar scalar_type, int64_t n, void *values)
{
  for (int64_t i = 0; i < n; i++) {
    const uint64_t h     = gen_hash(seed, (uint64_t)i);
    double         value = data == GEN_EXACT ? (double)(h % 9) - 4 : 2 * gen_uniform(seed, (uint64_t)i) - 1;

    if ((int)((h >> 32) % 100) < zero_percent) value = 0;
    if (scalar_type == SPMV_F32) ((float *)values)[i] = (float)value;
    else ((double *)values)[i] = value;
  }
}
