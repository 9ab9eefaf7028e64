/* incomplete_test.h - what the files of incomplete_test share */
#pragma once

#include <petscksp.h>
#include <petscpack.h>
#include "gen.h"
#include "petsc_test.h"

/* A matrix on the pattern of a shape. Rows are diagonally dominant for factor >= 1; skew makes it unsymmetric; step
   chooses numbers */
typedef struct {
  const char *name;
  int         shape;
  double      factor, skew;
  int         step;
  PetscBool   zero; /* the first diagonal entry is 0 */
  PetscInt    unit; /* block size of the matrix; 0: none is set */
} IncompleteCase;

/* Fills a part of the rows on each process, and assembles */
PetscErrorCode IncompleteFill(const IncompleteCase *, Mat);
PetscErrorCode IncompleteMatrix(MPI_Comm, const IncompleteCase *, MatType, Mat *);

extern char incomplete_name[256]; /* of the case */

/* Counts a check, and prints what if it is not right */
PetscErrorCode IncompleteCheck(PetscBool right, const char what[]);
/* A solver; package may be NULL */
PetscErrorCode IncompleteSolver(Mat A, KSPType, PCType, MatSolverType package, KSP *);
PetscErrorCode IncompleteInfo(KSP, MatIncompleteInfo *);

typedef struct {
  KSPConvergedReason reason;
  PCFailedReason     failed;
  PetscInt           its;
  PetscReal          error; /* backward error of the solution */
} IncompleteResult;
/* Solves for a right-hand side of ones */
PetscErrorCode IncompleteSolve(KSP, IncompleteResult *);
/* Compares with a result of PETSc's package: iterations to one */
PetscErrorCode IncompleteCompare(const IncompleteResult *ours, const IncompleteResult *petsc);

/* incomplete_uses.c */
PetscErrorCode IncompleteTestSolves(void);
PetscErrorCode IncompleteTestHost(void);
PetscErrorCode IncompleteTestScalars(void); /* complex numbers, or those of single precision */
PetscErrorCode IncompleteTestBlocks(void);
/* incomplete_blocks.c */
PetscErrorCode IncompleteTestDivided(void);
/* incomplete_sweeps.c */
PetscErrorCode IncompleteTestSweeps(void);
PetscErrorCode IncompleteTestEngines(void);
/* incomplete_broken.c */
PetscErrorCode IncompleteTestBroken(void);
