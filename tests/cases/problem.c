/* problem.c - numbers and reference results of one matrix; see problem.h. */
#include "problem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED_VALUES = 100, SEED_X = 200, SEED_Y = 300, HOLE_EVERY = 37 };

static void *new_scalars(const Problem *p, int64_t n)
{
  return malloc((size_t)(n + 1) * (size_t)spmv_scalar_bytes(p->scalar_type));
}

static void set_nan(const Problem *p, void *array, int64_t i)
{
  if (p->scalar_type == SPMV_F32) ((float *)array)[i] = NAN;
  else ((double *)array)[i] = NAN;
}

static SpmvStatus new_vectors(Problem *p, int transpose, uint64_t seed)
{
  const int64_t nx = p->x_length[transpose], ny = p->y_length[transpose];

  p->x[transpose]        = new_scalars(p, nx);
  p->x_hole[transpose]   = new_scalars(p, nx);
  p->x_poison[transpose] = new_scalars(p, nx);
  p->y[transpose]        = new_scalars(p, ny);
  p->y_poison[transpose] = new_scalars(p, ny);
  if (!p->x[transpose] || !p->x_hole[transpose] || !p->x_poison[transpose] || !p->y[transpose] ||
      !p->y_poison[transpose])
    return SPMV_ERR_MEMORY;
  gen_values(p->data, seed + SEED_X + (uint64_t)transpose, 0, p->scalar_type, nx, p->x[transpose]);
  memcpy(p->x_hole[transpose], p->x[transpose], (size_t)(nx * spmv_scalar_bytes(p->scalar_type)));
  /* the first entry is a hole, so that a format that reads padding with column 0 is noticed */
  for (int64_t i = 0; i < nx; i += HOLE_EVERY) set_nan(p, p->x_hole[transpose], i);
  for (int64_t i = 0; i < nx; i++) set_nan(p, p->x_poison[transpose], i);
  gen_values(p->data, seed + SEED_Y + (uint64_t)transpose, 0, p->scalar_type, ny, p->y[transpose]);
  for (int64_t i = 0; i < ny; i++) set_nan(p, p->y_poison[transpose], i);
  return SPMV_SUCCESS;
}

static SpmvStatus new_references(Problem *p, int transpose)
{
  const SpmvPattern *pattern = &p->pattern[SPMV_I64];
  SpmvStatus         status  = SPMV_SUCCESS;

  for (int set = 0; set < PROBLEM_VALUE_SETS && !status; set++)
    status = check_reference(pattern, p->scalar_type, p->values[set], p->x[transpose], transpose,
                             &p->reference[transpose][set]);
  if (status) return status;
  return check_reference(pattern, p->scalar_type, p->values[0], p->x_hole[transpose], transpose,
                         &p->reference_hole[transpose]);
}

SpmvStatus problem_init(Problem *p, const CaseMatrix *matrix, SpmvScalar scalar_type, GenData data, uint64_t seed)
{
  const GenSpec spec = matrix->spec();
  SpmvStatus    status;

  memset(p, 0, sizeof *p);
  p->matrix      = matrix;
  p->scalar_type = scalar_type;
  p->data        = data;
  p->x_length[0] = p->y_length[1] = spec.cols;
  p->x_length[1] = p->y_length[0] = spec.rows;
  status                          = gen_pattern(&spec, SPMV_I32, &p->pattern[SPMV_I32]);
  if (!status) status = gen_pattern(&spec, SPMV_I64, &p->pattern[SPMV_I64]);
  for (int set = 0; set < PROBLEM_VALUE_SETS && !status; set++) {
    const int64_t nnz = p->pattern[SPMV_I64].nnz;
    p->values[set]    = new_scalars(p, nnz);
    if (!p->values[set]) status = SPMV_ERR_MEMORY;
    else gen_values(data, seed + SEED_VALUES + (uint64_t)set, spec.zero_percent, scalar_type, nnz, p->values[set]);
  }
  for (int transpose = 0; transpose < 2 && !status; transpose++) {
    status = new_vectors(p, transpose, seed);
    if (!status) status = new_references(p, transpose);
  }
  return status;
}

void problem_free(Problem *p)
{
  for (int index = 0; index < 2; index++) gen_pattern_free(&p->pattern[index]);
  for (int set = 0; set < PROBLEM_VALUE_SETS; set++) free(p->values[set]);
  for (int transpose = 0; transpose < 2; transpose++) {
    free(p->x[transpose]);
    free(p->x_hole[transpose]);
    free(p->x_poison[transpose]);
    free(p->y[transpose]);
    free(p->y_poison[transpose]);
    for (int set = 0; set < PROBLEM_VALUE_SETS; set++) check_reference_free(&p->reference[transpose][set]);
    check_reference_free(&p->reference_hole[transpose]);
  }
  memset(p, 0, sizeof *p);
}

const void *problem_x(const Problem *p, int transpose, CaseFill fill)
{
  return fill == CASE_POISON ? p->x_poison[transpose] : fill == CASE_HOLE ? p->x_hole[transpose] : p->x[transpose];
}

const void *problem_y(const Problem *p, int transpose, CaseFill fill)
{
  return fill == CASE_POISON ? p->y_poison[transpose] : p->y[transpose];
}

const CheckReference *problem_reference(const Problem *p, int transpose, int value_set, CaseFill fill)
{
  return fill == CASE_HOLE ? &p->reference_hole[transpose] : &p->reference[transpose][value_set];
}
