/* cg_test.h - for the tests of conjugate gradients: matrices, a textbook implementation, and a solver with all that it
   needs. */
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

/* Positive definite: negative off-diagonal entries, diagonally dominant, with unequally scaled unknowns */
CgMatrix cg_matrix(int i);
void     cg_matrix_free(CgMatrix *);
double  *cg_diagonal(const CgMatrix *, int row); /* pointer to the diagonal entry of a row */

/* How a system is solved. block: rows of a block of the preconditioner; 0: none, 1: diagonal. */
typedef struct {
  SpmvCgMode           mode;
  SpmvScalar           scalar;
  int                  rounded; /* the values of the matrix are rounded to single precision */
  SpmvCgNorm           norm;
  int                  block;
  double               rtol, absolute, divtol;
  int                  asks_first; /* the solver gives its first norm, then gets tolerances that are not relative */
  int64_t              min_iterations, max_iterations, check_after;
  int64_t              step; /* iterations of each call */
  int                  max_is_success, chunk, own_stream, single_reduction;
  int64_t              history; /* norms that the solver keeps; 0: CG_HISTORY */
  const SpmvProcesses *processes;
  const double        *m; /* a diagonal preconditioner to use instead of the inverse of the diagonal */
} CgSetup;
/* A single reduction in two modes, beside those of SpmvCgMode */
enum { CG_SINGLE_CHUNK = SPMV_CG_PERSISTENT + 1, CG_SINGLE_GRAPH };
void cg_set_mode(CgSetup *, int mode);
/* rtol 1e-9, no test of divergence, at most 1000 iterations, in one call */
CgSetup cg_setup(int mode, SpmvCgNorm, int block);

/* The result of a solve; norms [CG_HISTORY] from iteration 0 on */
typedef struct {
  SpmvStatus   status;
  SpmvCgResult result;
  double      *x, *norms;
  SpmvCgInfo   info;
} CgOutcome;
void cg_outcome_free(CgOutcome *);

/* The textbook method with the tests of KSPSolve_CG(), in double precision */
CgOutcome cg_textbook(const CgMatrix *, const CgSetup *);

/* x equals that of another implementation, up to `tolerance` times its largest entry */
void cg_check_x(const CgMatrix *, const double *got, const double *expected, double tolerance);

/* Parts of the textbook method, in double precision: scalar product, norm of r or z = M r, M with blocks of `block` rows (0: none), z = M r, w = A p */
double  cg_dot(int n, const double *x, const double *y);
double  cg_norm(SpmvCgNorm, int n, const double *r, const double *z);
double *cg_preconditioner(const CgMatrix *, int block);
void    cg_apply(const double *m, int block, int n, const double *r, double *z);
void    cg_multiply(const CgMatrix *, const double *p, double *w);

/* A solver, with the matrix and vectors in its space. The hooks allocate the memory of the solver alone; may be
   NULL. */
typedef struct {
  const CgMatrix *matrix;
  CgSetup         setup;
  SpmvExec        plain, exec;
  SpmvPlan       *plan;
  void           *work, *x, *r, *m, *row_ptr, *col, *values;
  SpmvOperator    product;
  SpmvCsr         csr;
  SpmvCg         *cg;
  SpmvStatus      status; /* of spmv_cg_create() */
} CgEngine;
void cg_engine_open(CgEngine *, const CgMatrix *, const CgSetup *, Hooks *);
/* cg_engine_open() with another product, whose context is ctx */
void cg_engine_open_by(CgEngine *, const CgMatrix *, const CgSetup *, Hooks *, SpmvApply, void *ctx);
void cg_engine_close(CgEngine *);
/* The values of the matrix have changed */
void      cg_engine_renew(CgEngine *);
CgOutcome cg_engine_solve(CgEngine *);
/* Copies n numbers to the space and scalar type of the solver, and back, which frees them */
void *cg_put(CgEngine *, const double *from, int64_t n);
void  cg_get(CgEngine *, const void *from, double *to, int64_t n);
void  cg_release(CgEngine *, void *block);

/* Solves with a rounded matrix: whenever the norm has fallen by the factor `drop` (0: never), r is replaced by b - A x.
   Ends when the norm of b - A x, returned in norms[0], is small enough. */
CgOutcome cg_engine_refine(CgEngine *, double drop, int restart, int *corrections);

/* Opens, solves and closes */
CgOutcome cg_solve(const CgMatrix *, const CgSetup *);

/* ---- functions of the caller of a solver ---- */

/* A simulated second process, which adds 0 to all sums, or fails to. It ends when it has been asked `most` times, or when
   this process does. The ctx of cg_add_alone() may be NULL. */
typedef struct {
  int asked, most, ends, fails;
} CgOther;
SpmvStatus cg_add_alone(void *other, double *sums, int n, SpmvExec *exec);
SpmvStatus cg_agree(void *other, int *end, SpmvExec *exec);

/* Simulates two processes with the same rows: sums are doubled, so only the norms change. It only enqueues. */
typedef struct {
  int calls, sums;
} CgTwice;
SpmvStatus cg_add_twice(void *twice, double *sums, int n, SpmvExec *exec);

/* A product that does nothing; calls points to an int, or is NULL */
SpmvStatus cg_count_calls(void *calls, const void *p, void *w, SpmvExec *exec);

/* A product by a plan that fails in its n-th call */
typedef struct {
  SpmvOperator *plan;
  int           calls, fail_at;
} FailingProduct;
SpmvStatus cg_failing_product(void *failing, const void *p, void *w, SpmvExec *exec);

/* Lets allocation number 1, 2, ... of a solver fail until no allocation is left to fail. attempt() opens, solves and
   closes with the hooks, returns the status of the solve, and sets *made if the solver was created. */
void cg_fail_each_allocation(SpmvSpace fault, SpmvStatus (*attempt)(void *ctx, Hooks *, int *made), void *ctx);
