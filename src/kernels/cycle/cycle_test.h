/* cycle_test.h - for the tests of cycles: hierarchies, a textbook cycle, and a cycle with all that it needs. */
#pragma once

#include "hooks.h"
#include <spmv_cycle.h>

/* Richardson's iteration; three terms with the exact solution as a fixed point; three terms without that property */
typedef enum { CYCLE_RICHARDSON, CYCLE_THREE_TERMS, CYCLE_NO_FIXED_POINT, CYCLE_FACTORS } CycleFactors;

/* A hierarchy and a cycle on it. Level l has nodes[l] points in a row with dofs unknowns each. */
typedef struct {
  SpmvScalar  scalar;
  const char *format; /* of all matrices */
  int         levels, nodes[SPMV_CYCLE_LEVELS], dofs;
  int         steps[2], block[2]; /* down and up; block: rows of a block of M, 0: identity, 1: diagonal */
  int         factors;            /* CycleFactors of the steps */
  int         visits, cycles;
  int         own_restriction; /* the restriction is a plan that differs from P^T; 0: the transposed product of P */
  int         function;        /* on the coarsest level, instead of the inverse */
  int         apply[2];        /* M is a function, which multiplies by the diagonal; down and up */
  int         own_stream;
  int64_t     dense_rows;
  /* A single-precision cycle between vectors in double precision */
  int    outer;
  double size, b_size; /* the magnitude of the entries of the finest matrix, and of b */
  double jump;         /* of the coefficient, in the middle */
} CycleSetup;
/* 4 levels of 3, 5, 9 and 17 nodes with one unknown, format "csr", V cycle, 2 three-term steps with diagonals down
   and up, transposed restriction, inverse, no dense level but the coarsest; numbers near 1 */
CycleSetup cycle_setup(void);
/* Sets the number of levels; the coarsest has `coarsest` nodes, and each finer level 2 n - 1 for n of the coarser
   one */
void cycle_set_levels(CycleSetup *, int levels, int coarsest);

/* Dense matrices, stored by rows */
typedef struct {
  int         rows, cols;
  double     *a, *p, *r; /* [rows][rows], [rows][cols], [cols][rows]; the coarsest level has only a */
  double     *m[2];      /* [rows times block size] */
  SpmvFactors step[2][8];
} CycleLevel;

/* A hierarchy on the host in double precision, and a right-hand side of the finest level */
typedef struct {
  CycleSetup setup;
  CycleLevel level[SPMV_CYCLE_LEVELS];
  double    *inverse, *b;
} CycleCase;
CycleCase cycle_case(const CycleSetup *);
void      cycle_case_free(CycleCase *);
int       cycle_rows(const CycleCase *); /* of the finest level */
/* Changes all values, and no pattern */
void cycle_case_change(CycleCase *);

/* x = cycle(b) by a textbook implementation; cycle_textbook.c */
void cycle_textbook(const CycleCase *, const double *b, double *x);
/* y = A x on the finest level */
void cycle_finest(const CycleCase *, const double *x, double *y);

/* One operator on the device */
typedef struct {
  const double *dense;
  double        factor; /* the plan has `factor` times the matrix */
  int64_t       rows, cols;
  void         *row_ptr, *col, *values;
  int64_t       nnz;
  SpmvPlan     *plan;
  void         *work;
} CycleMatrix;

/* A cycle, with the matrices and vectors on the device */
typedef struct {
  const CycleCase *c;
  Hooks            hooks; /* allocate the memory of the cycle alone */
  SpmvExec         plain, exec;
  CycleMatrix      matrix[SPMV_CYCLE_LEVELS][3], inverse_matrix;
  CycleMatrix      of_m[SPMV_CYCLE_LEVELS][2]; /* of setup.apply */
  SpmvOperator     coarse, m_operator[SPMV_CYCLE_LEVELS][2];
  void            *inverse, *m[SPMV_CYCLE_LEVELS][2], *b, *x;
  SpmvCycleLevel   level[SPMV_CYCLE_LEVELS];
  double           scale; /* of the matrices in plans: *options.matrix_scale, or 1 */
  SpmvCycleOptions options;
  SpmvCycle       *cycle;
  SpmvStatus       status; /* of spmv_cycle_create() and spmv_cycle_renew() */
} CycleEngine;
/* Prepares all but the cycle; then makes the cycle with the hooks, which the test may have set to fail */
void cycle_engine_prepare(CycleEngine *, const CycleCase *);
void cycle_engine_make(CycleEngine *);
/* Prepares and makes */
void cycle_engine_open(CycleEngine *, const CycleCase *);
void cycle_engine_close(CycleEngine *);
/* Passes changed values of the case to plans, M, inverse and steps */
SpmvStatus cycle_engine_renew(CycleEngine *);
/* Vectors of the finest level, from and to double precision */
void cycle_engine_put(CycleEngine *, void *to, const double *from, int64_t n);
void cycle_engine_get(CycleEngine *, const void *from, double *to, int64_t n);
/* x = cycle(b); x is filled with NaN before */
SpmvStatus cycle_engine_apply(CycleEngine *, const double *b, double *x);
/* Fills e->x with NaN */
void cycle_engine_spoil(CycleEngine *);
