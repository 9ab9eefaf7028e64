/*
  cgdevice_test.h - what the tests of KSPCGDEVICE have in common: matrices, a solve with all that came of it, and the
  comparison with KSPCG, which must do the same but for the rounding of sums
*/
#pragma once

#include <petscksp.h>
#include <petscpack.h>

/* 3.23 named the type of destructors of contexts */
#if PETSC_VERSION_LT(3, 23, 0)
typedef PetscErrorCode PetscCtxDestroyFn(void **);
#endif

#if PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS 0
#endif

enum { CGDEV_MATRICES = 6, CGDEV_NORMS = 3000 };

/* Symmetric positive definite, of that type, unequally scaled; the block size is that of the unknowns of a node */
PetscErrorCode CGDevTestMatrix(int i, MatType type, Mat *A);
/* New values for a matrix of CGDevTestMatrix(), with the same properties */
PetscErrorCode CGDevTestFill(Mat A, PetscReal scale);

/* How a system is solved. configure may be NULL; it is called when all else is set. */
typedef struct {
  const char     *pc;
  KSPNormType     norm;
  KSPCGDeviceMode mode;
  PetscReal       rtol, divtol;
  PetscInt        max_it;
  PetscBool       guess; /* begin with a vector that is not zero */
  PetscErrorCode (*configure)(KSP);
} CGDevSetup;
/* Jacobi, its norm, graph, 1e-8 (1e-4 in single precision), no limit of divergence, 1000 iterations, from zero */
CGDevSetup CGDevTestSetup(void);

typedef struct {
  PetscInt           iterations, count;
  KSPConvergedReason reason;
  PetscReal          rnorm, norms[CGDEV_NORMS];
  Vec                x;
  KSPCGDeviceInfo    info; /* of KSPCGDEVICE only */
  char               why[256];
} CGDevOutcome;

/* A solver of that type for A, preconditioned by P */
PetscErrorCode CGDevTestCreate(KSPType type, Mat A, Mat P, const CGDevSetup *setup, KSP *ksp);
/* The smooth right-hand side of solves that have no other */
PetscErrorCode CGDevTestRightHandSide(Vec b);
/* A solve; b may be NULL for a smooth right-hand side. Destroy outcome->x. */
PetscErrorCode CGDevTestSolve(KSP ksp, Vec b, const CGDevSetup *setup, CGDevOutcome *outcome);

/* Whether the GPU must do the solves of this run */
PetscBool CGDevTestOnDevice(void);

/* What -ksp_view says, on all processes */
PetscErrorCode CGDevTestView(KSP ksp, char text[], size_t size);

/* Counts what is wrong, with a line of text that begins with name */
PetscErrorCode CGDevTestCheck(PetscBool right, const char name[], const char what[]);
PetscErrorCode CGDevTestAlike(const char name[], const CGDevOutcome *expected, const CGDevOutcome *got);
/* -expect_nccl: whether NCCL serves solves on the device */
PetscErrorCode CGDevTestNccl(const char name[], PetscBool nccl);
/* Solves with KSPCG and plain, and with KSPCGDEVICE and A, and compares. host: a word of the reason to solve on the
   host, NULL where the device must serve */
PetscErrorCode CGDevTestCompare(const char name[], Mat plain, Mat A, Vec b, const CGDevSetup *setup, const char host[]);
/* Prints the counts; the exit status of the program */
int CGDevTestEnd(void);
