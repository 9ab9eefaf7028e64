/*
  check.h - the reference product for all formats, and the comparison with it.

  The reference is the textbook loop over CSR in long double. With exact data, results must be equal. With random data
  they may differ by

      (terms + 2) eps (|alpha| (|A| |x|)_i + |beta| |y_i|)

  which bounds the rounding errors of any order of summation; terms is the number of nonzeros that contribute to y_i.
*/
#ifndef SPMV_CHECK_H
#define SPMV_CHECK_H

#include "gen.h"

/* A x (or A^T x), |A| |x| and the number of nonzeros, for each of n results */
typedef struct {
  int64_t      n;
  long double *sum, *abs_sum;
  int64_t     *terms;
} CheckReference;

/* x has shape [cols] (transpose: [rows]). Allocates the arrays of reference, to be freed by check_reference_free().
   Returns SPMV_SUCCESS or SPMV_ERR_MEMORY. */
SpmvStatus check_reference(const SpmvPattern *pattern, SpmvScalar scalar_type, const void *values, const void *x,
                           int transpose, CheckReference *reference);
void       check_reference_free(CheckReference *reference);

typedef struct {
  int64_t     row;
  long double got, expected, bound;
} CheckFault;

/* Compares y with alpha times the reference (not read if alpha is 0) plus beta times y_before (not read if beta is 0).
   Returns 1 if all entries are right, else 0 and the first fault. NaN is right where NaN is expected. */
int check_vector(const CheckReference *reference, SpmvScalar scalar_type, GenData data, double alpha, double beta,
                 const void *y_before, const void *y, CheckFault *fault);

/* Entry i of an array of scalars, and entry i of an array of indices */
long double check_scalar(SpmvScalar scalar_type, const void *array, int64_t i);
int64_t     check_index(SpmvIndex index_type, const void *array, int64_t i);

#endif
