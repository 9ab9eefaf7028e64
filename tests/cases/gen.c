/* From a GenSpec to CSR arrays and numbers. The rows themselves come from gen_mesh.c, gen_shapes.c and gen_random.c. */
#include "gen.h"
#include <stdlib.h>
#include <string.h>

uint64_t gen_hash(uint64_t a, uint64_t b)
{
  /* the finalizer of splitmix64, over both words */
  uint64_t h = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;

  for (int round = 0; round < 2; round++) {
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    h ^= h >> 31;
  }
  return h;
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

/* First pass: row pointers and the number of nonzeros; -1 when a count does not fit */
static int64_t count_rows(const GenSpec *spec, SpmvIndex type, int64_t *row, void *row_ptr)
{
  int64_t nnz = 0;

  store_index(row_ptr, type, 0, 0);
  for (int64_t i = 0; i < spec->rows; i++) {
    nnz += spec->row(spec, i, row);
    if (type == SPMV_I32 && nnz > INT32_MAX) return -1;
    store_index(row_ptr, type, i + 1, nnz);
  }
  return nnz;
}

static void fill_rows(const GenSpec *spec, SpmvIndex type, int64_t *row, void *col)
{
  int64_t at = 0;

  for (int64_t i = 0; i < spec->rows; i++) {
    int64_t length = spec->row(spec, i, row);
    for (int64_t k = 0; k < length; k++) store_index(col, type, at++, row[k]);
  }
}

SpmvStatus gen_pattern(const GenSpec *spec, SpmvIndex index_type, SpmvPattern *pattern)
{
  const size_t size = (size_t)spmv_index_bytes(index_type);
  int64_t     *row;
  void        *row_ptr, *col = NULL;
  int64_t      nnz    = 0;
  SpmvStatus   status = SPMV_SUCCESS;

  memset(pattern, 0, sizeof *pattern);
  if (index_type == SPMV_I32 && (spec->rows >= INT32_MAX || spec->cols > INT32_MAX)) return SPMV_ERR_OVERFLOW;
  row     = malloc((size_t)(spec->cols + 1) * sizeof *row);
  row_ptr = malloc((size_t)(spec->rows + 1) * size);
  if (!row || !row_ptr) status = SPMV_ERR_MEMORY;
  if (!status) {
    nnz = count_rows(spec, index_type, row, row_ptr);
    if (nnz < 0) status = SPMV_ERR_OVERFLOW;
  }
  if (!status) {
    col = malloc(nnz > 0 ? (size_t)nnz * size : 1);
    if (!col) status = SPMV_ERR_MEMORY;
    else fill_rows(spec, index_type, row, col);
  }
  free(row);
  if (status) {
    free(row_ptr);
    return status;
  }
  pattern->rows       = spec->rows;
  pattern->cols       = spec->cols;
  pattern->nnz        = nnz;
  pattern->index_type = index_type;
  pattern->space      = SPMV_HOST;
  pattern->row_ptr    = row_ptr;
  pattern->col        = col;
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
