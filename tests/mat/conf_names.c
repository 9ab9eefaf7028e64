/*
  conf_names.c - functions of PETSc that compare whole type names: they must treat a packed type as AIJ
*/
#include "conf.h"

#include <petscis.h>

static PetscErrorCode SeeIS(Conf *c, const char *what, IS is)
{
  const PetscInt *index;
  PetscInt        n;

  PetscFunctionBeginUser;
  PetscCall(ISGetLocalSize(is, &n));
  PetscCall(ISGetIndices(is, &index));
  for (PetscInt i = 0; i < n; i++) PetscCall(ConfSeeReal(c, what, (PetscReal)index[i]));
  PetscCall(ISRestoreIndices(is, &index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ordering must consist of global row numbers, also on several processes; the matrix is permuted by it */
static PetscErrorCode OrderAndPermute(Conf *c)
{
  const MatOrderingType types[] = {MATORDERINGNATURAL, MATORDERINGRCM, MATORDERINGROWLENGTH};
  Mat                   A, P;
  IS                    rows, cols;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
    PetscCall(MatGetOrdering(A, types[t], &rows, &cols));
    PetscCall(SeeIS(c, types[t], rows));
    PetscCall(SeeIS(c, types[t], cols));
    PetscCall(MatPermute(A, rows, cols, &P));
    PetscCall(ConfSeeMat(c, "MatPermute", P));
    PetscCall(MatDestroy(&P));
    PetscCall(ISDestroy(&rows));
    PetscCall(ISDestroy(&cols));
  }
  PetscCall(ConfSeeMat(c, "its source", A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SeeColoring(Conf *c, Mat A, MatColoringType type, PetscInt distance)
{
  MatColoring            coloring;
  ISColoring             colors;
  const ISColoringValue *color;
  PetscInt               n, count;

  PetscFunctionBeginUser;
  PetscCall(MatColoringCreate(A, &coloring));
  PetscCall(MatColoringSetType(coloring, type));
  PetscCall(MatColoringSetDistance(coloring, distance));
  PetscCall(MatColoringApply(coloring, &colors));
  PetscCall(ISColoringGetColors(colors, &n, &count, &color));
  PetscCall(ConfSeeReal(c, type, (PetscReal)count));
  for (PetscInt i = 0; i < n; i++) PetscCall(ConfSeeReal(c, type, (PetscReal)color[i]));
  PetscCall(ISColoringDestroy(&colors));
  PetscCall(MatColoringDestroy(&coloring));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Color(Conf *c)
{
  Mat A, T;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &T));
  PetscCall(MatAXPY(A, 1, T, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatDestroy(&T));
  PetscCall(SeeColoring(c, A, MATCOLORINGJP, 1));
  PetscCall(SeeColoring(c, A, MATCOLORINGJP, 2));
  PetscCall(SeeColoring(c, A, MATCOLORINGGREEDY, 1));
  PetscCall(SeeColoring(c, A, MATCOLORINGPOWER, 2));
  PetscCall(ConfSeeMat(c, "colored", A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Kronecker(Conf *c)
{
  Conf small = *c;
  Mat  A, B, C;

  PetscFunctionBeginUser;
  small.spec = gen_dense(2, 3);
  PetscCall(ConfSetUp(&small, &small.spec, CONF_EVEN));
  PetscCall(ConfCreate(c, &A));
  PetscCall(ConfCreate(&small, &B));
  PetscCall(MatSeqAIJKron(A, B, MAT_INITIAL_MATRIX, &C));
  PetscCall(ConfSeeProducts(c, "MatSeqAIJKron", C)); /* is of type AIJ, as PETSc makes it */
  PetscCall(MatScale(A, 2));
  PetscCall(MatSeqAIJKron(A, B, MAT_REUSE_MATRIX, &C));
  PetscCall(ConfSeeProducts(c, "MatSeqAIJKron again", C));
  PetscCall(ConfSeeMat(c, "its factor", B));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const ConfOperation conf_names[] = {{"order_and_permute", OrderAndPermute, CONF_SQUARE | CONF_NONEMPTY | CONF_HEAVY},
                                    {"color", Color, CONF_SQUARE | CONF_NONEMPTY | CONF_HEAVY},
                                    {"kronecker", Kronecker, CONF_NONEMPTY | CONF_SEQUENTIAL | CONF_HEAVY},
                                    {NULL, NULL, 0}};
