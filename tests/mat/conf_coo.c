/*
  conf_coo.c - assembly from coordinates, and its mixture with MatSetValues()
*/
#include "conf.h"

PetscErrorCode ConfCoordinates(Conf *c, PetscCount *count, PetscInt **rows, PetscInt **cols)
{
  PetscInt    *col, found, last = PetscMin(c->row_start + c->m + 1, c->M);
  PetscScalar *value;
  PetscCount   n = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(c->N, &col, c->N, &value));
  for (PetscInt i = c->row_start; i < last; i++) {
    PetscCall(ConfRow(c, i, 0, &found, col, value));
    n += 2 * found;
  }
  PetscCall(PetscMalloc2(n, rows, n, cols));
  n = 0;
  for (PetscInt i = c->row_start; i < last; i++) {
    PetscCall(ConfRow(c, i, 0, &found, col, value));
    for (PetscInt k = 0; k < 2 * found; k++, n++) {
      (*rows)[n] = k >= found && k % 5 == 0 ? -1 : i;
      (*cols)[n] = col[k % found];
    }
  }
  *count = n;
  PetscCall(PetscFree2(col, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetCOO(Mat A, PetscCount count, uint64_t seed, InsertMode mode)
{
  PetscScalar *value;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(count, &value));
  for (PetscCount k = 0; k < count; k++) value[k] = (PetscReal)(gen_hash(seed, (uint64_t)k) % 9) - 4;
  PetscCall(MatSetValuesCOO(A, value, mode));
  PetscCall(PetscFree(value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FromCOO(Conf *c)
{
  Mat        A;
  char       type[CONF_TYPE_MAX];
  PetscCount count;
  PetscInt  *rows, *cols;

  PetscFunctionBeginUser;
  PetscCall(ConfName(c, c->base, type));
  PetscCall(ConfCreateEmpty(c, &A));
  PetscCall(MatSetType(A, type));
  PetscCall(ConfCoordinates(c, &count, &rows, &cols));
  PetscCall(MatSetPreallocationCOO(A, count, rows, cols));
  PetscCall(PetscFree2(rows, cols));
  PetscCall(SetCOO(A, count, 1, INSERT_VALUES));
  PetscCall(ConfSeeMat(c, "COO insert", A));
  PetscCall(SetCOO(A, count, 2, ADD_VALUES));
  PetscCall(ConfSeeMat(c, "COO add", A));
  PetscCall(MatScale(A, 3));
  PetscCall(ConfSeeMat(c, "scaled on the host", A));
  PetscCall(SetCOO(A, count, 3, INSERT_VALUES));
  PetscCall(ConfSeeMat(c, "COO after the host", A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* COO on a matrix that was assembled by MatSetValues(); a duplicate of it must be independent */
static PetscErrorCode COOAfterSetValues(Conf *c)
{
  Mat        A, B;
  PetscCount count;
  PetscInt  *rows, *cols;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(ConfCoordinates(c, &count, &rows, &cols));
  PetscCall(MatSetPreallocationCOO(A, count, rows, cols));
  PetscCall(PetscFree2(rows, cols));
  PetscCall(SetCOO(A, count, 4, INSERT_VALUES));
  PetscCall(ConfSeeMat(c, "COO over an old pattern", A));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatScale(A, 2));
  PetscCall(SetCOO(A, count, 5, ADD_VALUES));
  PetscCall(ConfSeeProducts(c, "COO after MatScale", A));
  PetscCall(ConfSeeMat(c, "duplicate of COO", B));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const ConfOperation conf_coo[] = {
    {"coo", FromCOO, 0}, {"coo_after_set_values", COOAfterSetValues, CONF_NONEMPTY}, {NULL, NULL, 0}};
