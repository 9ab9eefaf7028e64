/* factor_test.h - matrices for the tests of incomplete factorizations, and calls whose arrays lie in any space. */
#pragma once

#include "hooks.h"
#include <spmv_factor.h>

/* A square matrix on the host */
typedef struct {
  int32_t n, *row_ptr, *col; /* [n+1], [row_ptr[n]] */
  double *value;
} FactorMatrix;
/* Matrices with a diagonal that dominates, by number: 1 x 1, empty, diagonal, chain, arrows, dense, grid, and then random
   patterns; symmetric: also in their values */
enum { FACTOR_SHAPES = 8 };
FactorMatrix factor_matrix(int number, int symmetric);
/* From a dense matrix by rows, of which zeros off the diagonal are not stored */
FactorMatrix factor_of_dense(int32_t n, const double *);
void         factor_matrix_free(FactorMatrix *);
SpmvPattern  factor_pattern(const FactorMatrix *);
/* n numbers between -1 and 1 */
double *factor_numbers(int32_t n, uint32_t seed);

typedef enum { FACTOR_SOLVE, FACTOR_SOLVE_T, FACTOR_FORWARD, FACTOR_BACKWARD, FACTOR_SYMMETRIC } FactorAction;

/* A factorization with its values and two vectors, in one space. options.kind SPMV_FACTOR_SOR: actions are sweeps. */
typedef struct {
  SpmvExec           exec;
  SpmvScalar         scalar;
  SpmvFactorization *f;
  int32_t            n;
  int64_t            nnz;
  void              *values, *b, *x;
} FactorLife;
/* Allocates the arrays; hooks may be NULL. The first status after which *life is of no use is that of the exec. */
void       factor_open(FactorLife *, SpmvSpace, Hooks *, const FactorMatrix *, SpmvScalar);
SpmvStatus factor_make(FactorLife *, const FactorMatrix *, const SpmvFactorOptions *);
void       factor_set(FactorLife *, const double *values, const double *b, const double *x);
SpmvStatus factor_do(FactorLife *, FactorAction, double omega, int zero_guess);
/* Brings x back, as doubles; free() frees it */
double *factor_x(FactorLife *);
void    factor_close(FactorLife *);

/* With transposes, without shift */
SpmvFactorOptions   factor_options(SpmvFactorKind);
extern const double factor_omegas[2];
/* x after each action, one after the other: solves, plain and transposed; or sweeps in each direction, first from a zero
   guess, then from the x before. free() frees it. */
double *factor_results(const FactorMatrix *, const SpmvFactorOptions *, SpmvScalar, SpmvSpace, const double *values,
                       const double *b, int actions);
/* Equal bits; NaN equals NaN, whose bits differ between processors */
int factor_same(const double *a, const double *b, int32_t n);
