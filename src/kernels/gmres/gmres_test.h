/* gmres_test.h - matrices for the tests of GMRES, a textbook solver for them, and the engine around them. */
#pragma once

#include "cg/cg_test.h"
#include <spmv_gmres.h>

/* Matrices of the tests of conjugate gradients, made unsymmetric: what flows from below outweighs what flows from above.
   An indefinite one has every third diagonal entry with the other sign. A singular one has rows whose sums are 0, and b in
   its range. */
typedef enum { GMRES_CONVECTION, GMRES_INDEFINITE, GMRES_SINGULAR } GmresKind;
CgMatrix gmres_matrix(int i, GmresKind);

/* How a matrix is solved. block: rows of a block of the preconditioner, 0: none, 1: diagonal. */
typedef struct {
  SpmvGmresMode        mode;
  SpmvScalar           scalar;
  int                  restart;
  SpmvGmresRefine      refine;
  int                  block, right;
  int                  function; /* the preconditioner is a product with the matrix itself */
  int                  guess;    /* x is not zero at first */
  double               rtol, divtol, breakdown;
  int64_t              min_iterations, max_iterations, check_after;
  int64_t              step; /* iterations for each call */
  int                  untested, max_is_success, chunk, own_stream;
  const SpmvProcesses *processes;
} GmresSetup;
/* 1e-8, restart 30, no preconditioner, at most 300 iterations, in one call */
GmresSetup gmres_setup(SpmvGmresMode);

/* What came of a solve; norms [CG_HISTORY] from iteration 0 */
typedef struct {
  SpmvStatus      status;
  SpmvGmresResult result;
  double         *x, *norms;
  SpmvGmresInfo   info;
} GmresOutcome;
void gmres_outcome_free(GmresOutcome *);

/* The method as KSPSolve_GMRES() has it, in double precision, with a basis of norm 1; it ends by norm or iterations */
GmresOutcome gmres_textbook(const CgMatrix *, const GmresSetup *);

/* An engine with all that it needs in its space; hooks serve the engine alone, and may be NULL */
typedef struct {
  CgEngine   matrix; /* its plan and product */
  GmresSetup setup;
  SpmvExec   exec;
  void      *x, *b, *m;
  SpmvGmres *gmres;
  SpmvStatus status; /* of making it */
  /* NULL, or what lets a call of the device within the next solve fail, after so many; whether one did */
  int (*fail_after)(long calls);
  long calls;
  int  failed;
} GmresEngine;
void gmres_engine_open(GmresEngine *, const CgMatrix *, const GmresSetup *, Hooks *);
/* The same with another product, which gets `ctx` */
void         gmres_engine_open_by(GmresEngine *, const CgMatrix *, const GmresSetup *, Hooks *, SpmvApply, void *ctx);
void         gmres_engine_close(GmresEngine *);
SpmvStatus   gmres_engine_begin(GmresEngine *, double *first_norm);
GmresOutcome gmres_engine_solve(GmresEngine *);

/* Opens, solves and closes */
GmresOutcome gmres_solve(const CgMatrix *, const GmresSetup *);
