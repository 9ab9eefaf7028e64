/* factor_matrices.h - the matrices of factor_test: a five-point stencil on a square, in ways that are hard to factor. With complex
   PETSc all values have an imaginary part, unless they are said to be positive definite. */
#pragma once

#include "ksp_problem.h"

enum { SIDE = 8, N = SIDE * SIDE };

typedef struct {
  const char *name;
  PetscReal   diagonal, skew, scale;  /* of a five-point stencil ... */
  PetscReal   row_factor;             /* ... whose rows are multiplied by powers of this, up to 39 */
  PetscInt    zeros;                  /* so many last diagonal entries are 0 */
  PetscBool   neumann, gap, nan, spd; /* zero row sums; an empty row; a NaN; MAT_SPD is set */
  PetscReal   swirl;                  /* complex: imaginary parts of a Hermitian matrix */
} FactorCase;

enum { FACTOR_CASES = 12 };
extern const FactorCase FactorCases[FACTOR_CASES], FactorHermitian;

/* The values times factor, and assembly. The matrix is one of n rows on all processes. */
PetscErrorCode FactorFill(const FactorCase *, PetscReal factor, PetscInt n, Mat);
PetscErrorCode FactorMatrix(const FactorCase *, MatType, PetscInt n, Mat *);
