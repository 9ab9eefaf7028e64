/*
  factor.h - factors of AIJ matrices of the package cudss.

  A factor is a shell around one of two bodies: a factorization by cuDSS on the device, or the factor of PETSc's own package.
  The symbolic phase chooses; the numeric phase and a solve change to PETSc's package if the device has no right answer.

    MatGetFactor() -> factor_create.c;  MatLUFactorSymbolic() -> factor_symbolic.c;  MatLUFactorNumeric() ->
    factor_numeric.c;  MatSolve() -> factor_solve.c; all of them -> factor_parallel.c, factor_device.c, factor_host.c
*/
#pragma once

#include <spmv_direct.h>
#include "mat/impls/aij/plan.h"

typedef struct {
  SpmvExec          exec;
  SpmvDirect       *direct;                /* the body on the device, or NULL ... */
  SpmvDirectOptions options;               /* ... and how it is made; stronger after pivots that were not good enough */
  MatCuDSSOptions   wanted;                /* as the user has set them */
  PetscBool         judged;                /* a solution with this body was good enough */
  Mat               host;                  /* the factor of PETSc's package or of the one that was asked for, or NULL */
  IS                row, col;              /* orderings that the user named, or NULL */
  MatFactorInfo     info;                  /* as given to the symbolic phase */
  char              why[SPMV_MESSAGE_MAX]; /* why the body is on the host; "" if it is not */
  /* what makes a factor of the package that was asked for, or NULL: PETSc's; one that it has made, or NULL; and the
     setting for which that package has to factor, or "" */
  PetscErrorCode (*former)(Mat, MatFactorType, Mat *);
  Mat  named;
  char keeps[64];
  /* the matrix of the last numeric phase, with a reference, and its state then */
  Mat              matrix;
  PetscObjectState values;
  Mat              aij; /* of a matrix of another type: the conversion that is factored */
  /* of a matrix on several processes: all rows, on the first of them, and vectors of that */
  PetscBool    several;
  PetscInt     wholes; /* 1 on the first process */
  Mat         *whole;
  VecScatter   gather;
  Vec          all_b, all_x;
  AIJFmtVector b, x;
  PetscInt     symbolic, numeric, solves, fallbacks; /* on the device; to PETSc's package after a symbolic phase */
} Mat_CuDSS;

/* cudss.c: options of the process. The second leaves a reason not to use cuDSS, or opens it. */
PETSC_INTERN PetscErrorCode PetscPackCuDSSFromOptions(void);
PETSC_INTERN PetscErrorCode PetscPackCuDSSOpen(SpmvExec *, PetscInt rows, char why[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode PetscPackCuDSSFinalize(void);

/* factor_create.c. *s is NULL for a factor of another package, which Require() makes an error. */
PETSC_INTERN PetscErrorCode MatCuDSSRegister(void);
PETSC_INTERN PetscErrorCode MatCuDSSStateGet(Mat F, Mat_CuDSS **s);
PETSC_INTERN PetscErrorCode MatCuDSSStateRequire(Mat F, Mat_CuDSS **s);
PETSC_INTERN PetscErrorCode MatCuDSSCreate(Mat A, MatFactorType, const char package[], Mat *F);

/* factor_packages.c. Keeps: leaves a reason if a setting of the named package needs that package. */
PETSC_INTERN PetscErrorCode MatCuDSSPackageKeeps(Mat F, Mat_CuDSS *, char why[SPMV_MESSAGE_MAX]);
PETSC_INTERN void           PetscPackReplacePackagesForget(void);

/* factor_symbolic.c */
PETSC_INTERN PetscErrorCode MatLUFactorSymbolic_CuDSS(Mat, Mat, IS, IS, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode MatCholeskyFactorSymbolic_CuDSS(Mat, Mat, IS, const MatFactorInfo *);

/* factor_device.c. Make: makes the body with the values of A, sequential, or leaves a reason in s->why. Drop: forgets it, but
   not the count of its solves. Solve: x = A^-1 b; status: a refusal, after which x is undefined */
PETSC_INTERN PetscErrorCode MatCuDSSMake(Mat A, Mat_CuDSS *);
PETSC_INTERN void           MatCuDSSDrop(Mat_CuDSS *);
PETSC_INTERN PetscErrorCode MatCuDSSSolve(Mat_CuDSS *, PetscBool transposed, Vec b, Vec x, SpmvStatus *);

/* factor_host.c. Within: a PC begins or ends to make a factor. Body: makes that on the host, for the matrix of the symbolic
   phase or one with its pattern, because of s->why. */
PETSC_INTERN void           MatCuDSSWithinPC(PetscBool begin);
PETSC_INTERN PetscBool      MatCuDSSIsWithinPC(void);
PETSC_INTERN PetscErrorCode MatCuDSSHostBody(Mat F, Mat A, Mat_CuDSS *);
PETSC_INTERN PetscErrorCode MatCuDSSHostNumeric(Mat F, Mat A, Mat_CuDSS *, const MatFactorInfo *);

/* factor_parallel.c; collective. Whole: the matrix to factor on this process: A or its conversion, or all rows on the first
   of several processes and NULL on the others. MakeWhole: makes the body of that. Agree: all take over s->why of the
   first. SolveAll: leaves a reason in s->why. */
PETSC_INTERN PetscErrorCode MatCuDSSWhole(Mat A, MatReuse, Mat_CuDSS *, Mat *whole);
PETSC_INTERN PetscErrorCode MatCuDSSForgetWhole(Mat_CuDSS *);
PETSC_INTERN PetscErrorCode MatCuDSSMakeWhole(Mat F, Mat whole, Mat_CuDSS *);
PETSC_INTERN PetscErrorCode MatCuDSSAgree(Mat F, Mat_CuDSS *);
PETSC_INTERN PetscErrorCode MatCuDSSSolveAll(Mat F, Mat_CuDSS *, PetscBool transposed, Vec b, Vec x);

/* factor_numeric.c */
PETSC_INTERN PetscErrorCode MatFactorNumeric_CuDSS(Mat, Mat, const MatFactorInfo *);

/* factor_solve.c */
PETSC_INTERN PetscErrorCode MatSolve_CuDSS(Mat, Vec, Vec);
PETSC_INTERN PetscErrorCode MatSolveAdd_CuDSS(Mat, Vec, Vec, Vec);
PETSC_INTERN PetscErrorCode MatSolveTranspose_CuDSS(Mat, Vec, Vec);
PETSC_INTERN PetscErrorCode MatSolveTransposeAdd_CuDSS(Mat, Vec, Vec, Vec);
PETSC_INTERN PetscErrorCode MatForwardSolve_CuDSS(Mat, Vec, Vec);
PETSC_INTERN PetscErrorCode MatBackwardSolve_CuDSS(Mat, Vec, Vec);
PETSC_INTERN PetscErrorCode MatMatSolve_CuDSS(Mat, Mat, Mat);
PETSC_INTERN PetscErrorCode MatMatSolveTranspose_CuDSS(Mat, Mat, Mat);
