/*
  conf_factors.c - PETSc's own factorizations, solves and relaxation
*/
#include "conf.h"

/* A diagonally dominant square matrix, symmetric if asked, so that every factorization exists */
static PetscErrorCode CreateDominant(Conf *c, PetscBool symmetric, Mat *A)
{
  Mat T;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  if (symmetric) {
    PetscCall(MatTranspose(*A, MAT_INITIAL_MATRIX, &T));
    PetscCall(MatAXPY(*A, 1, T, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatDestroy(&T));
    PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  }
  PetscCall(MatShift(*A, 1000 * (PetscReal)c->N));
  PetscCall(ConfSeeProducts(c, "dominant", *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SeeSolves(Conf *c, const char *what, Mat F, Mat A)
{
  Vec x, b;

  PetscFunctionBeginUser;
  PetscCall(ConfCreateVecs(A, 111, &x, &b));
  PetscCall(MatSolve(F, b, x));
  PetscCall(ConfSeeVec(c, what, x));
  PetscCall(MatSolveTranspose(F, b, x));
  PetscCall(ConfSeeVec(c, what, x));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FactorAndSolve(Conf *c, MatFactorType how, const char *what)
{
  Mat           A, F;
  IS            rows, cols;
  MatFactorInfo info;
  PetscBool     symmetric = (how == MAT_FACTOR_CHOLESKY || how == MAT_FACTOR_ICC) ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(CreateDominant(c, symmetric, &A));
  PetscCall(MatGetOrdering(A, MATORDERINGNATURAL, &rows, &cols));
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill = 5;
  PetscCall(MatGetFactor(A, MATSOLVERPETSC, how, &F));
  if (how == MAT_FACTOR_LU) PetscCall(MatLUFactorSymbolic(F, A, rows, cols, &info));
  if (how == MAT_FACTOR_ILU) PetscCall(MatILUFactorSymbolic(F, A, rows, cols, &info));
  if (how == MAT_FACTOR_CHOLESKY) PetscCall(MatCholeskyFactorSymbolic(F, A, rows, &info));
  if (how == MAT_FACTOR_ICC) PetscCall(MatICCFactorSymbolic(F, A, rows, &info));
  for (int k = 0; k < 2; k++) { /* new values, same symbolic factor */
    if (symmetric) PetscCall(MatCholeskyFactorNumeric(F, A, &info));
    else PetscCall(MatLUFactorNumeric(F, A, &info));
    PetscCall(SeeSolves(c, what, F, A));
    PetscCall(MatScale(A, 2));
    PetscCall(ConfSeeProducts(c, what, A));
  }
  PetscCall(MatDestroy(&F));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LU(Conf *c) { return FactorAndSolve(c, MAT_FACTOR_LU, "LU"); }
static PetscErrorCode ILU(Conf *c) { return FactorAndSolve(c, MAT_FACTOR_ILU, "ILU"); }
static PetscErrorCode Cholesky(Conf *c) { return FactorAndSolve(c, MAT_FACTOR_CHOLESKY, "Cholesky"); }
static PetscErrorCode ICC(Conf *c) { return FactorAndSolve(c, MAT_FACTOR_ICC, "ICC"); }

/* The factor replaces the contents of the matrix's own header */
static PetscErrorCode LUInPlace(Conf *c)
{
  Mat           A;
  Vec           x, b;
  IS            rows, cols;
  MatFactorInfo info;

  PetscFunctionBeginUser;
  PetscCall(CreateDominant(c, PETSC_FALSE, &A));
  PetscCall(ConfCreateVecs(A, 112, &x, &b));
  PetscCall(MatGetOrdering(A, MATORDERINGNATURAL, &rows, &cols));
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill = 5;
  PetscCall(MatLUFactor(A, rows, cols, &info));
  PetscCall(MatSolve(A, b, x));
  PetscCall(ConfSeeVec(c, "MatLUFactor", x));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Relaxation(Conf *c)
{
  Mat              A;
  Vec              x, b;
  const MatSORType how[] = {SOR_LOCAL_FORWARD_SWEEP, SOR_LOCAL_BACKWARD_SWEEP, SOR_LOCAL_SYMMETRIC_SWEEP};

  PetscFunctionBeginUser;
  PetscCall(CreateDominant(c, PETSC_FALSE, &A));
  PetscCall(ConfCreateVecs(A, 113, &x, &b));
  for (int k = 0; k < 6; k++) {
    PetscCall(MatSOR(A, b, 1.1, how[k % 3], 0, 2, 1, x));
    PetscCall(ConfSeeVec(c, "MatSOR", x));
    PetscCall(MatScale(A, 2));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const ConfOperation conf_factors[] = {
    {"lu", LU, CONF_SQUARE | CONF_NONEMPTY | CONF_SEQUENTIAL | CONF_HEAVY},
    {"ilu", ILU, CONF_SQUARE | CONF_NONEMPTY | CONF_SEQUENTIAL},
    {"cholesky", Cholesky, CONF_SQUARE | CONF_NONEMPTY | CONF_SEQUENTIAL | CONF_HEAVY},
    {"icc", ICC, CONF_SQUARE | CONF_NONEMPTY | CONF_SEQUENTIAL},
    {"lu_in_place", LUInPlace, CONF_SQUARE | CONF_NONEMPTY | CONF_SEQUENTIAL | CONF_HEAVY},
    {"sor", Relaxation, CONF_SQUARE | CONF_NONEMPTY},
    {NULL, NULL, 0}};
