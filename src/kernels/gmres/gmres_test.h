/* gmres_test.h - for the tests of GMRES: matrices, a textbook implementation, and a solver with all that it needs. */
#pragma once

#include "cg/cg_test.h"
#include <spmv_gmres.h>

/* The matrices of the tests of conjugate gradients, made unsymmetric: the lower triangle outweighs the upper one.
   INDEFINITE changes the sign of every third diagonal entry. SINGULAR has rows that add up to 0, and b in the range of
   A. */
typedef enum { GMRES_CONVECTION, GMRES_INDEFINITE, GMRES_SINGULAR } GmresKind;
CgMatrix gmres_matrix(int i, GmresKind);

/* How a system is solved. block: rows of a block of the preconditioner; 0: none, 1: diagonal. */
typedef struct {
  SpmvGmresMode        mode;
  SpmvScalar           scalar;
  int                  restart;
  SpmvGmresRefine      refine;
  int                  block, right;
  int                  function; /* the preconditioner is a product with the matrix itself */
  int                  guess;    /* the initial guess is not zero */
  double               rtol, absolute, divtol, breakdown;
  double               happy;      /* 0: the default */
  int                  asks_first; /* the solver gives its first norm, then gets tolerances that are not relative */
  int64_t              min_iterations, max_iterations, check_after;
  int64_t              step; /* iterations of each call */
  int                  untested, max_is_success, chunk, own_stream;
  const SpmvProcesses *processes;
} GmresSetup;
/* rtol 1e-8, restart 30, no preconditioner, at most 300 iterations, in one call */
GmresSetup gmres_setup(SpmvGmresMode);

/* The result of a solve; norms [CG_HISTORY] from iteration 0 on */
typedef struct {
  SpmvStatus      status;
  SpmvGmresResult result;
  double         *x, *norms;
  SpmvGmresInfo   info;
} GmresOutcome;
void gmres_outcome_free(GmresOutcome *);

/* A textbook implementation of KSPSolve_GMRES() in double precision with a normalized basis; it ends by the norm or by
   the number of iterations */
GmresOutcome gmres_textbook(const CgMatrix *, const GmresSetup *);

/* A solver, with the matrix and vectors in its space. The hooks allocate the memory of the solver alone; may be
   NULL. */
typedef struct {
  CgEngine   matrix; /* its plan and product */
  GmresSetup setup;
  SpmvExec   exec;
  void      *x, *b, *m;
  SpmvGmres *gmres;
  SpmvStatus status; /* of spmv_gmres_create() */
  /* NULL, or a function that lets a device call of the next solve fail, after `calls` successful ones; `failed`: one
     did */
  int (*fail_after)(long calls);
  long calls;
  int  failed;
} GmresEngine;
void gmres_engine_open(GmresEngine *, const CgMatrix *, const GmresSetup *, Hooks *);
/* gmres_engine_open() with another product, whose context is ctx */
void         gmres_engine_open_by(GmresEngine *, const CgMatrix *, const GmresSetup *, Hooks *, SpmvApply, void *ctx);
void         gmres_engine_close(GmresEngine *);
SpmvStatus   gmres_engine_begin(GmresEngine *, SpmvTest *);
GmresOutcome gmres_engine_solve(GmresEngine *);

/* Opens, solves and closes */
GmresOutcome gmres_solve(const CgMatrix *, const GmresSetup *);
