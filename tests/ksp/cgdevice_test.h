/*
  cgdevice_test.h - shared by the tests of KSPCGDEVICE: matrices, a solve with all its results, and the comparison with
  KSPCG, whose results must be the same up to the rounding of sums
*/
#pragma once

#include <petscksp.h>
#include <petscpack.h>
#include "petsc_test.h"

/* 3.23 named the type of context destructors */
#if PETSC_VERSION_LT(3, 23, 0)
typedef PetscErrorCode PetscCtxDestroyFn(void **);
#endif

enum { CGDEV_MATRICES = 6, CGDEV_NORMS = 3000 };

/* A symmetric positive definite, badly scaled matrix of that type; the block size is the number of unknowns per node */
PetscErrorCode CGDevTestMatrix(int i, MatType type, Mat *A);
/* New values for a matrix of CGDevTestMatrix(), with the same properties */
PetscErrorCode CGDevTestFill(Mat A, PetscReal scale);
/* A 27-point stencil on a cube with `side` points along an edge and these unknowns per point, times `factor`. Couplings
   are larger by up to (period - 1) `amount`, in turns. */
PetscErrorCode CGDevTestStencil(Mat A, PetscInt side, PetscInt unknowns, PetscReal factor, PetscReal amount,
                                PetscInt period);
/* The coordinates of points on such a cube, or on its first layer, for a matrix with three unknowns per point */
PetscErrorCode CGDevTestPlaces(Mat A, PetscInt side, Vec *points);

/* The settings of a solve. configure may be NULL; it is called after all other settings. */
typedef struct {
  const char   *pc;
  KSPNormType   norm;
  KSPDeviceMode mode;
  PetscReal     rtol, divtol;
  PetscInt      max_it;
  PetscBool     guess; /* start from a nonzero vector */
  PetscInt      restart;
  PCSide        side; /* both are for GMRES, which has a restart that is not 0 */
  PetscErrorCode (*configure)(KSP);
} CGDevSetup;
/* Default settings: Jacobi, its default norm, graph, tolerance 1e-8 (1e-4 in single precision), no divergence limit,
   1000 iterations, zero initial guess */
CGDevSetup CGDevTestSetup(void);

typedef struct {
  PetscInt           iterations, count;
  KSPConvergedReason reason;
  PetscReal          rnorm, norms[CGDEV_NORMS];
  Vec                x;
  KSPDeviceInfo      info; /* of KSPCGDEVICE only */
  char               why[256];
} CGDevOutcome;

/* A solver of that type for A, preconditioned by P */
PetscErrorCode CGDevTestCreate(KSPType type, Mat A, Mat P, const CGDevSetup *setup, KSP *ksp);
/* The smooth right-hand side that solves use by default */
PetscErrorCode CGDevTestRightHandSide(Vec b);
/* A solve; b may be NULL for a smooth right-hand side. Destroy outcome->x. */
PetscErrorCode CGDevTestSolve(KSP ksp, Vec b, const CGDevSetup *setup, CGDevOutcome *outcome);

/* Whether the GPU must do the solves of this run */
PetscBool CGDevTestOnDevice(void);

/* Checks that -ksp_view says a text */
PetscErrorCode CGDevTestSays(KSP ksp, const char name[], const char text[]);
/* Sets an option of this solver only, for settings that have no function */
PetscErrorCode CGDevTestOption(KSP ksp, const char option[], const char value[]);

/* Counts a failure and prints a line that begins with name, unless right */
PetscErrorCode CGDevTestCheck(PetscBool right, const char name[], const char what[]);
PetscErrorCode CGDevTestAlike(const char name[], const CGDevOutcome *expected, const CGDevOutcome *got);
/* Solves by both, compares the results, and destroys the solutions */
PetscErrorCode CGDevTestBoth(const char name[], KSP plain, KSP ksp, Vec b, const CGDevSetup *setup, CGDevOutcome *got);
/* -expect_nccl: whether NCCL serves solves on the device */
PetscErrorCode CGDevTestNccl(const char name[], PetscBool nccl);
/* How often an event of PETSc's log was counted, after PetscLogDefaultBegin() */
PetscErrorCode CGDevTestEvent(const char name[], int *count);
/* Solves with KSPCG and plain, and with KSPCGDEVICE and A, and compares. host: a word of the reason to solve on the
   host; NULL if the device must serve */
PetscErrorCode CGDevTestCompare(const char name[], Mat plain, Mat A, Vec b, const CGDevSetup *setup, const char host[]);
/* Prints the counts, ends PETSc, and returns the exit status of the program */
int CGDevTestEnd(void);
