/*
  incomplete.h - ILU and ICC of AIJ matrices of the package petscpack, and sweeps of SOR.

  A factor is a shell around one of two bodies: a factorization on the device, or the factor of PETSc's own package. The
  symbolic phase chooses; a numeric phase or a solve that the device refuses is PETSc's.

    MatGetFactor() -> incomplete_create.c;  symbolic and numeric phases -> incomplete_factor.c, fill and orders ->
    incomplete_fill.c, blocks of rows -> incomplete_blocks.c;  MatSolve() and its relatives -> incomplete_solve.c;  MatSOR() -> sor.c

  What solvers apply on the device is a MatIncompleteApply: a solve with a factor, or sweeps.
*/
#pragma once

#include <spmv_factor.h>
#include "mat/impls/aij/plan.h"

typedef struct {
  SpmvExec           exec;
  SpmvFactorization *device; /* NULL: the symbolic phase chose the host */
  SpmvFactorOptions  options;
  PetscInt64         serial;                /* of device; CUDA graphs rely on its addresses */
  PetscBool          asked;                 /* the device is asked for, even if the host is expected to be faster */
  PetscInt           blocks;                /* of rows; options has those of the last symbolic phase */
  Mat                host;                  /* the factor of PETSc's package, or NULL, ... */
  Mat                cut;                   /* ... and of several blocks the matrix that it factors */
  char               why[SPMV_MESSAGE_MAX]; /* why solves are the host's; "" if they are not */
  IS                 row, col;              /* as given to the symbolic phase, ... */
  MatFactorInfo      info;                  /* ... and the last phase */
  Mat                matrix;                /* of the last numeric phase, with a reference, ... */
  PetscObjectState   values;                /* ... and its state then */
  AIJFmtVector       b, x;
  PetscInt           analyses, numeric, solves, solves_host;
} Mat_Incomplete;

/* z = M r on the device. Compared bytewise: all padding is zero. */
typedef struct {
  Mat_Incomplete *of; /* NULL: none */
  PetscInt64      serial;
  double          omega; /* of sweeps, ... */
  int             sweep; /* ... an SpmvSorSweep, ... */
  int             sweeps;
  int             guess;      /* the first sweep begins with z */
  int             transposed; /* of a solve */
} MatIncompleteApply;

/* incomplete_create.c. *s is NULL for a factor of another package. */
PETSC_INTERN PetscErrorCode MatIncompleteRegister(void);
PETSC_INTERN PetscErrorCode MatIncompleteStateGet(Mat F, Mat_Incomplete **s);
PETSC_INTERN void           MatIncompleteFree(Mat_Incomplete *); /* what is on the device */

/* incomplete_blocks.c. Read: reads the option, and sets s->options for the matrix. Cut: A, or if there are several blocks
   s->cut with the values of A */
PETSC_INTERN PetscErrorCode MatIncompleteBlocksRead(Mat F, Mat A, Mat_Incomplete *s);
PETSC_INTERN PetscErrorCode MatIncompleteCut(Mat A, Mat_Incomplete *s, Mat *cut);

/* incomplete_fill.c. Gets the pattern of s->host, the symbolic factor of PETSc's package, or leaves a reason; order: of
   rows and columns, or NULL. Restore frees it. */
PETSC_INTERN PetscErrorCode MatIncompleteFillGet(const Mat_Incomplete *s, IS order, SpmvFactorFill *,
                                                 char why[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode MatIncompleteFillRestore(SpmvFactorFill *);

/* incomplete_factor.c. WhyHost: a reason that is known before the symbolic phase. Make: analyses and factors A again, for
   transposed solves if the options say so, F is NULL for sweeps; Numeric: factors A again. HostNumeric: PETSc's package factors A. The first three
   leave a reason. */
PETSC_INTERN PetscErrorCode MatIncompleteWhyHost(Mat A, MatFactorShiftType, PetscBool *asked,
                                                 char why[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode MatIncompleteMake(Mat F, Mat A, Mat_Incomplete *);
PETSC_INTERN PetscErrorCode MatIncompleteNumeric(Mat A, Mat_Incomplete *);
PETSC_INTERN PetscErrorCode MatIncompleteHostNumeric(Mat F, Mat A, Mat_Incomplete *, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode MatILUFactorSymbolic_Incomplete(Mat, Mat, IS, IS, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode MatICCFactorSymbolic_Incomplete(Mat, Mat, IS, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode MatFactorNumeric_Incomplete(Mat, Mat, const MatFactorInfo *);

/* incomplete_solve.c */
PETSC_INTERN PetscErrorCode MatSolve_Incomplete(Mat, Vec, Vec);
PETSC_INTERN PetscErrorCode MatSolveTranspose_Incomplete(Mat, Vec, Vec);
PETSC_INTERN PetscErrorCode MatForwardSolve_Incomplete(Mat, Vec, Vec);
PETSC_INTERN PetscErrorCode MatBackwardSolve_Incomplete(Mat, Vec, Vec);
PETSC_INTERN void           MatIncompleteApplyOf(Mat_Incomplete *, MatIncompleteApply *);
/* An SpmvApply, whose context is a MatIncompleteApply, its flops, and a call for vectors, which leaves a reason if the device
   refuses: then x is undefined, but unchanged if it is a guess */
PETSC_INTERN SpmvStatus     MatIncompleteFunction(void *apply, const void *r, void *z, SpmvExec *);
PETSC_INTERN PetscLogDouble MatIncompleteFlops(const MatIncompleteApply *);
PETSC_INTERN PetscErrorCode MatIncompleteOnDevice(MatIncompleteApply *, Vec b, Vec x, char why[SPMV_MESSAGE_MAX]);

/* sor.c. Get: brings the data on the device up to date for the matrix as it is, or leaves a reason. small: also if the matrix
   is small. A: of any sequential AIJ type */
PETSC_INTERN PetscErrorCode MatSweepsGet(Mat A, PetscReal omega, MatSORType, PetscReal shift, PetscInt its,
                                         PetscInt lits, PetscBool small, MatIncompleteApply *,
                                         char why[SPMV_MESSAGE_MAX]);
PETSC_INTERN PetscErrorCode MatSOR_Incomplete(Mat, Vec, PetscReal, MatSORType, PetscReal, PetscInt, PetscInt, Vec);
