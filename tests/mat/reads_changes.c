/* reads_changes.c - changes of the values of a matrix, for mat_reads.c. */
#include "mat_reads.h"

static PetscErrorCode Scale(Conf *c, Reads *r)
{
  (void)c;
  return MatScale(r->A, 3);
}

static PetscErrorCode Shift(Conf *c, Reads *r)
{
  (void)c;
  return MatShift(r->A, 0.5);
}

static PetscErrorCode DiagonalScale(Conf *c, Reads *r)
{
  Vec x, y;

  PetscFunctionBeginUser;
  (void)c;
  PetscCall(ConfCreateVecs(r->A, 31, &x, &y));
  PetscCall(MatDiagonalScale(r->A, y, x));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Zero(Conf *c, Reads *r)
{
  (void)c;
  return MatZeroEntries(r->A);
}

static PetscErrorCode Add(Conf *c, Reads *r)
{
  (void)c;
  return MatAXPY(r->A, 2, r->other, SAME_NONZERO_PATTERN);
}

static PetscErrorCode Copy(Conf *c, Reads *r)
{
  (void)c;
  return MatCopy(r->other, r->A, SAME_NONZERO_PATTERN);
}

static PetscErrorCode SetDiagonal(Reads *r, InsertMode mode)
{
  Vec d;

  PetscFunctionBeginUser;
  PetscCall(ConfCreateVecs(r->A, 41, NULL, &d));
  PetscCall(MatDiagonalSet(r->A, d, mode));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddDiagonal(Conf *c, Reads *r)
{
  (void)c;
  return SetDiagonal(r, ADD_VALUES);
}

static PetscErrorCode InsertDiagonal(Conf *c, Reads *r)
{
  (void)c;
  return SetDiagonal(r, INSERT_VALUES);
}

static PetscErrorCode SetValues(Conf *c, Reads *r) { return ConfSetValues(c, r->A, 55); }

/* Adds to a diagonal entry in an own row, and to the one in the first row of the next process */
static PetscErrorCode AddValues(Conf *c, Reads *r)
{
  const PetscInt next = (c->row_start + c->m) % c->M;

  PetscFunctionBeginUser;
  if (c->m > 0) PetscCall(MatSetValue(r->A, c->row_start, c->row_start, 4, ADD_VALUES));
  PetscCall(MatSetValue(r->A, next, next, 8, ADD_VALUES));
  PetscCall(MatAssemblyBegin(r->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(r->A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetCoordinates(Reads *r, InsertMode mode)
{
  PetscFunctionBeginUser;
  for (PetscCount k = 0; k < r->count; k++) r->value[k] = (PetscReal)(k % 13) - 4;
  PetscCall(MatSetValuesCOO(r->A, r->value, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InsertCoordinates(Conf *c, Reads *r)
{
  (void)c;
  return SetCoordinates(r, INSERT_VALUES);
}

static PetscErrorCode AddCoordinates(Conf *c, Reads *r)
{
  (void)c;
  return SetCoordinates(r, ADD_VALUES);
}

/* Changes nothing, but a product between two changes refreshes the packed arrays */
static PetscErrorCode Multiply(Conf *c, Reads *r)
{
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(ConfCreateVecs(r->A, 61, &x, &y));
  PetscCall(MatMult(r->A, x, y));
  PetscCall(ConfSeeVec(c, "product in between", y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const ReadsChange reads_changes[] = {
    {"scale", Scale},
    {"shift", Shift},
    {"diagonal_scale", DiagonalScale},
    {"zero", Zero},
    {"add", Add},
    {"copy", Copy},
    {"add_diagonal", AddDiagonal},
    {"insert_diagonal", InsertDiagonal},
    {"set_values", SetValues},
    {"add_values", AddValues},
    {"insert_coo", InsertCoordinates},
    {"add_coo", AddCoordinates},
    {"multiply", Multiply},
    {NULL, NULL},
};
