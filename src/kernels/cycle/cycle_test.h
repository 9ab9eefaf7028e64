/* cycle_test.h - hierarchies for the tests of cycles, a textbook cycle for them, and the object around them. */
#pragma once

#include "hooks.h"
#include <spmv_cycle.h>

/* Richardson's iteration; three terms with the exact solution as a fixed point; and without one */
typedef enum { CYCLE_RICHARDSON, CYCLE_THREE_TERMS, CYCLE_NO_FIXED_POINT, CYCLE_FACTORS } CycleFactors;

/* What is to be made, and how it is done. Level l has nodes[l] points in a row with dofs unknowns each. */
typedef struct {
  SpmvScalar  scalar;
  const char *format; /* of all matrices */
  int         levels, nodes[SPMV_CYCLE_LEVELS], dofs;
  int         steps[2], block[2]; /* down and up; rows of a block of M, 0: identity, 1: diagonal */
  int         factors;            /* of the steps: CycleFactors */
  int         visits, cycles;
  int         own_restriction; /* a plan that is not P^T; otherwise the transposed product of P */
  int         function;        /* on the coarsest level, in place of the inverse */
  int         own_stream;
  int64_t     dense_rows;
  /* A single-precision cycle between vectors in double precision */
  int    outer;
  double size, b_size; /* of the numbers of the finest matrix, and of b */
  double jump;         /* of the coefficients, in the middle */
} CycleSetup;
/* 4 levels of 3, 5, 9 and 17 nodes with one unknown, in CSR by "csr": V cycle, 2 three-term steps with diagonals down
   and up, transposed restriction, inverse, no level but the coarsest is dense; numbers near 1 */
CycleSetup cycle_setup(void);
/* The same with so many levels, each of twice as many nodes, less one, as the one before */
void cycle_set_levels(CycleSetup *, int levels, int coarsest);

/* Dense matrices, stored by rows */
typedef struct {
  int         rows, cols;
  double     *a, *p, *r; /* [rows][rows], [rows][cols], [cols][rows]; the coarsest level has a alone */
  double     *m[2];      /* [rows] times rows of a block */
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
/* Other values everywhere, with the same patterns */
void cycle_case_change(CycleCase *);

/* x = cycle(b) as books have it; cycle_textbook.c */
void cycle_textbook(const CycleCase *, const double *b, double *x);
/* y = A x on the finest level */
void cycle_finest(const CycleCase *, const double *x, double *y);

/* One operator in its space */
typedef struct {
  const double *dense;
  double        factor; /* the plan has this times the matrix */
  int64_t       rows, cols;
  void         *row_ptr, *col, *values;
  int64_t       nnz;
  SpmvPlan     *plan;
  void         *work;
} CycleMatrix;

/* A cycle with all that it needs in its space */
typedef struct {
  const CycleCase *c;
  Hooks            hooks; /* of the cycle alone */
  SpmvExec         plain, exec;
  CycleMatrix      matrix[SPMV_CYCLE_LEVELS][3], inverse_matrix;
  SpmvOperator     coarse;
  void            *inverse, *m[SPMV_CYCLE_LEVELS][2], *b, *x;
  SpmvCycleLevel   level[SPMV_CYCLE_LEVELS];
  double           scale; /* of matrices in plans: that of the options, or 1 */
  SpmvCycleOptions options;
  SpmvCycle       *cycle;
  SpmvStatus       status; /* of making and renewing it */
} CycleEngine;
/* All but the cycle itself; then that, with the hooks, which may have been told to fail */
void cycle_engine_prepare(CycleEngine *, const CycleCase *, SpmvSpace);
void cycle_engine_make(CycleEngine *);
/* Both */
void cycle_engine_open(CycleEngine *, const CycleCase *, SpmvSpace);
void cycle_engine_close(CycleEngine *);
/* The case has other values: plans, M, inverse and steps get them */
SpmvStatus cycle_engine_renew(CycleEngine *);
/* Vectors of the finest level, from and to double precision */
void cycle_engine_put(CycleEngine *, void *to, const double *from, int64_t n);
void cycle_engine_get(CycleEngine *, const void *from, double *to, int64_t n);
/* x = cycle(b), with what is not a number in x before */
SpmvStatus cycle_engine_apply(CycleEngine *, const double *b, double *x);
/* Puts what is not a number into e->x */
void cycle_engine_spoil(CycleEngine *);
