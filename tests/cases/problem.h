/*
  problem.h - one matrix of the table with numbers and reference results, made once and shared by the tests of all
  formats, options, index types and spaces.
*/
#ifndef SPMV_TEST_PROBLEM_H
#define SPMV_TEST_PROBLEM_H

#include "cases.h"
#include "check.h"

enum { PROBLEM_VALUE_SETS = 2 }; /* for build, and for update_values */

typedef struct {
  const CaseMatrix *matrix;
  SpmvScalar        scalar_type;
  GenData           data;
  SpmvPattern       pattern[2];                 /* by SpmvIndex; on the host */
  void             *values[PROBLEM_VALUE_SETS]; /* [nnz] */

  /* By direction: [0] y = A x with x of shape [cols] and y of shape [rows]; [1] y = A^T x with these shapes swapped */
  int64_t        x_length[2], y_length[2];
  void          *x[2], *x_hole[2], *x_poison[2]; /* as in ops.def */
  void          *y[2], *y_poison[2];             /* y before the product */
  CheckReference reference[2][PROBLEM_VALUE_SETS];
  CheckReference reference_hole[2]; /* with x_hole and values[0] */
} Problem;

/* SPMV_SUCCESS or SPMV_ERR_MEMORY; free with problem_free() in both cases */
SpmvStatus problem_init(Problem *problem, const CaseMatrix *matrix, SpmvScalar scalar_type, GenData data,
                        uint64_t seed);
void       problem_free(Problem *problem);

/* x with a fill, and y before the product with a fill */
const void *problem_x(const Problem *problem, int transpose, CaseFill fill);
const void *problem_y(const Problem *problem, int transpose, CaseFill fill);

/* The reference for a product with one of the sets of values; holes exist for set 0 only */
const CheckReference *problem_reference(const Problem *problem, int transpose, int value_set, CaseFill fill);

#endif
