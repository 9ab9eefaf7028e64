/* check.c - the reference product, and the comparison with it; see check.h. */
#include "check.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

long double check_scalar(SpmvScalar scalar_type, const void *array, int64_t i)
{
  return scalar_type == SPMV_F32 ? (long double)((const float *)array)[i] : (long double)((const double *)array)[i];
}

int64_t check_index(SpmvIndex index_type, const void *array, int64_t i)
{
  return index_type == SPMV_I64 ? ((const int64_t *)array)[i] : ((const int32_t *)array)[i];
}

SpmvStatus check_reference(const SpmvPattern *p, SpmvScalar scalar_type, const void *values, const void *x,
                           int transpose, CheckReference *reference)
{
  const int64_t n = transpose ? p->cols : p->rows;

  reference->n       = n;
  reference->sum     = calloc((size_t)n + 1, sizeof *reference->sum);
  reference->abs_sum = calloc((size_t)n + 1, sizeof *reference->abs_sum);
  reference->terms   = calloc((size_t)n + 1, sizeof *reference->terms);
  if (!reference->sum || !reference->abs_sum || !reference->terms) {
    check_reference_free(reference);
    return SPMV_ERR_MEMORY;
  }
  for (int64_t i = 0; i < p->rows; i++) {
    const int64_t end = check_index(p->index_type, p->row_ptr, i + 1);
    for (int64_t k = check_index(p->index_type, p->row_ptr, i); k < end; k++) {
      const int64_t     j  = check_index(p->index_type, p->col, k);
      const int64_t     to = transpose ? j : i;
      const long double product =
          check_scalar(scalar_type, values, k) * check_scalar(scalar_type, x, transpose ? i : j);
      reference->sum[to] += product;
      reference->abs_sum[to] += fabsl(product);
      reference->terms[to]++;
    }
  }
  return SPMV_SUCCESS;
}

void check_reference_free(CheckReference *reference)
{
  free(reference->sum);
  free(reference->abs_sum);
  free(reference->terms);
  memset(reference, 0, sizeof *reference);
}

int check_vector(const CheckReference *reference, SpmvScalar scalar_type, GenData data, double alpha, double beta,
                 const void *y_before, const void *y, CheckFault *fault)
{
  const long double epsilon = scalar_type == SPMV_F32 ? FLT_EPSILON : DBL_EPSILON;

  for (int64_t i = 0; i < reference->n; i++) {
    long double expected = 0, magnitude = 0;
    if (alpha != 0) {
      expected += alpha * reference->sum[i];
      magnitude += fabs(alpha) * reference->abs_sum[i];
    }
    if (beta != 0) {
      expected += beta * check_scalar(scalar_type, y_before, i);
      magnitude += fabsl(beta * check_scalar(scalar_type, y_before, i));
    }
    const long double got   = check_scalar(scalar_type, y, i);
    const long double bound = data == GEN_EXACT ? 0 : (long double)(reference->terms[i] + 2) * epsilon * magnitude;
    if (isnan(expected) ? isnan(got) : fabsl(got - expected) <= bound) continue;
    *fault = (CheckFault){.row = i, .got = got, .expected = expected, .bound = bound};
    return 0;
  }
  return 1;
}
