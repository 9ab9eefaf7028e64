/* factor_matrices.c - see factor_matrices.h */
#include "factor_matrices.h"

const FactorCase FactorCases[FACTOR_CASES] = {
    {.name = "positive definite", .diagonal = 4.1, .scale = 1, .row_factor = 1},
    {.name = "known to be positive definite", .diagonal = 4.1, .scale = 1, .row_factor = 1, .spd = PETSC_TRUE},
    {.name = "convection", .diagonal = 4, .skew = 0.9, .scale = 1, .row_factor = 1},
    {.name = "small values", .diagonal = 4, .scale = 1e-12, .row_factor = 1},
    {.name = "large values", .diagonal = 4, .scale = 1e12, .row_factor = 1},
    {.name = "scaled rows", .diagonal = 4, .scale = 1, .row_factor = 1.8},
    {.name = "indefinite", .diagonal = 1.03, .scale = 1, .row_factor = 1},
    {.name = "wrongly said to be positive definite", .diagonal = 1.03, .scale = 1, .row_factor = 1, .spd = PETSC_TRUE},
    {.name = "zeros on the diagonal", .diagonal = 4, .scale = 1, .row_factor = 1, .zeros = 9},
    {.name = "singular", .scale = 1, .row_factor = 1, .neumann = PETSC_TRUE},
    {.name = "an empty row", .diagonal = 4, .scale = 1, .row_factor = 1, .gap = PETSC_TRUE},
    {.name = "not a number", .diagonal = 4, .scale = 1, .row_factor = 1, .nan = PETSC_TRUE},
};

const FactorCase FactorHermitian = {.diagonal = 4.5, .scale = 1, .row_factor = 1, .swirl = 0.3};

PetscErrorCode FactorFill(const FactorCase *c, PetscReal factor, PetscInt n, Mat A)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatZeroEntries(A));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    const PetscInt  x = i % SIDE, y = i / SIDE, col[] = {i - SIDE, i - 1, i + 1, i + SIDE};
    const PetscReal s        = c->scale * factor * PetscPowReal(c->row_factor, (PetscReal)(i * 7 % 40));
    const PetscBool in[]     = {y > 0, x > 0, x < SIDE - 1, y < SIDE - 1};
    PetscScalar     off[]    = {-s, -s * (1 + c->skew), -s * (1 - c->skew), -s};
    PetscScalar     diagonal = i >= n - c->zeros ? 0 : s * c->diagonal;
    PetscScalar     turn = 1; /* complex: a symmetric matrix that is not Hermitian, unless it is said to be definite */

#if defined(PETSC_USE_COMPLEX)
    if (!c->spd && c->swirl == 0) turn = PetscCMPLX(1, 0.3);
    off[1] += PetscCMPLX(0, c->swirl);
    off[2] -= PetscCMPLX(0, c->swirl);
#endif
    for (int k = 0; k < 4; k++) {
      if (!in[k] || col[k] >= n) continue;
      if (c->neumann) diagonal -= off[k];
      PetscCall(MatSetValue(A, i, col[k], c->gap && i == n / 2 ? 0 : turn * off[k], INSERT_VALUES));
    }
    if (c->gap && i == n / 2) diagonal = 0;
    if (c->nan && i == n / 2) diagonal = NAN;
    PetscCall(MatSetValue(A, i, i, turn * diagonal, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  if (c->spd) PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorMatrix(const FactorCase *c, MatType type, PetscInt n, Mat *A)
{
  PetscBool upper;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 5, NULL, 5, NULL));
  PetscCall(MatSeqSBAIJSetPreallocation(*A, 1, 5, NULL));
  PetscCall(PetscStrcmp(type, MATSBAIJ, &upper));
  if (upper) PetscCall(MatSetOption(*A, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
  PetscCall(FactorFill(c, 1, n, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
