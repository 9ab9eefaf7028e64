/* cg_test.h - matrices for the tests of conjugate gradients, a textbook solver for them, and the engine around them. */
#pragma once

#include "gen.h"
#include "hooks.h"
#include <spmv_cg.h>

enum { CG_MATRICES = 7, CG_HISTORY = 4000 };

/* A symmetric matrix on the host, and a right-hand side [rows] */
typedef struct {
  const char *name;
  SpmvPattern pattern;
  double     *values, *b;
} CgMatrix;

/* Positive definite: off-diagonal entries are negative, the diagonal outweighs them, unknowns are scaled unequally */
CgMatrix cg_matrix(int i);
void     cg_matrix_free(CgMatrix *);
double  *cg_diagonal(const CgMatrix *, int row); /* pointer to the diagonal entry of a row */

/* How a matrix is solved. block: rows of a block of the preconditioner, 0: none, 1: diagonal. */
typedef struct {
  SpmvCgMode           mode;
  SpmvScalar           scalar;
  int                  rounded; /* the values of the matrix are rounded to single precision */
  SpmvCgNorm           norm;
  int                  block;
  double               rtol, divtol;
  int64_t              min_iterations, max_iterations, check_after;
  int64_t              step; /* iterations for each call */
  int                  max_is_success, chunk, own_stream;
  const SpmvProcesses *processes;
  const double        *m; /* of a diagonal preconditioner, in place of the inverse of the diagonal */
} CgSetup;
/* 1e-9, no divergence, at most 1000 iterations, in one call */
CgSetup cg_setup(SpmvCgMode, SpmvCgNorm, int block);

/* What came of a solve; norms [CG_HISTORY] from iteration 0 */
typedef struct {
  SpmvStatus   status;
  SpmvCgResult result;
  double      *x, *norms;
  SpmvCgInfo   info;
} CgOutcome;
void cg_outcome_free(CgOutcome *);

/* The method as books and KSPSolve_CG() have it, in double precision */
CgOutcome cg_textbook(const CgMatrix *, const CgSetup *);

/* What textbooks do, in double precision: M by blocks of so many rows (0: none), z = M r, w = A p */
double *cg_preconditioner(const CgMatrix *, int block);
void    cg_apply(const double *m, int block, int n, const double *r, double *z);
void    cg_multiply(const CgMatrix *, const double *p, double *w);

/* An engine with all that it needs in its space; hooks serve the engine alone, and may be NULL */
typedef struct {
  const CgMatrix *matrix;
  CgSetup         setup;
  SpmvExec        plain, exec;
  SpmvPlan       *plan;
  void           *work, *x, *r, *m, *row_ptr, *col, *values;
  SpmvOperator    product;
  SpmvCsr         csr;
  SpmvCg         *cg;
  SpmvStatus      status; /* of making it */
} CgEngine;
void cg_engine_open(CgEngine *, const CgMatrix *, const CgSetup *, Hooks *);
void cg_engine_close(CgEngine *);
/* The values of the matrix have changed */
void      cg_engine_renew(CgEngine *);
CgOutcome cg_engine_solve(CgEngine *);
/* n numbers in its space and its scalar type, and back; frees them */
void *cg_put(CgEngine *, const double *from, int64_t n);
void  cg_get(CgEngine *, const void *from, double *to, int64_t n);
void  cg_release(CgEngine *, void *block);

/* The same where the matrix is rounded: whenever the norm has fallen by `drop` (0: never), b - A x takes the
   place of r. Ends when its norm, which is norms[0] then, is small enough. */
CgOutcome cg_engine_refine(CgEngine *, double drop, int restart, int *corrections);

/* Opens, solves and closes */
CgOutcome cg_solve(const CgMatrix *, const CgSetup *);

/* A product by a plan that fails in its n-th call */
typedef struct {
  SpmvOperator *plan;
  int           calls, fail_at;
} FailingProduct;
SpmvStatus cg_failing_product(void *failing, const void *p, void *w, SpmvExec *exec);

/* Lets allocation number 1, 2, ... of an engine fail until none fails any more. attempt opens, solves and closes with the
   hooks, and tells how the solve ended and whether there was an engine. */
void cg_fail_each_allocation(SpmvSpace fault, SpmvStatus (*attempt)(void *ctx, Hooks *, int *made), void *ctx);
