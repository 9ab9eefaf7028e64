/* refused_matrices.c - the matrices of refused_points, and operations on matrices of type MATAIJRBP. */
#include "refused.h"

/* ---- the problem: five points on a square, without boundary values if it is singular ---- */

PetscErrorCode RefusedFill(Mat A, PetscReal scale, PetscReal shift)
{
  PetscInt low, high;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &low, &high));
  for (PetscInt r = low; r < high; r++) {
    const PetscInt i = r % SIDE, j = r / SIDE;
    const PetscInt next[] = {i > 0 ? r - 1 : -1, i < SIDE - 1 ? r + 1 : -1, j > 0 ? r - SIDE : -1,
                             j < SIDE - 1 ? r + SIDE : -1};
    PetscReal sum = shift;

    for (int k = 0; k < 4; k++) {
      if (next[k] < 0) continue;
      sum += 1;
      PetscCall(MatSetValue(A, r, next[k], -scale, INSERT_VALUES));
    }
    PetscCall(MatSetValue(A, r, r, scale * sum, INSERT_VALUES));
  }
  PetscCall(TestAssemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(const char type[], PetscInt columns, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(TestCreate(PETSC_COMM_WORLD, type, PETSC_DECIDE, PETSC_DECIDE, SIDE * SIDE, columns, 1, 5, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RefusedMatrix(const char type[], PetscBool null, Mat *A)
{
  MatNullSpace space;

  PetscFunctionBeginUser;
  PetscCall(Create(type, SIDE * SIDE, A));
  PetscCall(RefusedFill(*A, 1, null ? 0 : (PetscReal)0.1));
  PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  if (!null) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &space));
  PetscCall(MatSetNullSpace(*A, space));
  PetscCall(MatNullSpaceDestroy(&space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two neighbours make a column */
static PetscErrorCode Pairs(const char type[], Mat *P)
{
  PetscInt low, high;

  PetscFunctionBeginUser;
  PetscCall(Create(type, SIDE * SIDE / 2, P));
  PetscCall(MatGetOwnershipRange(*P, &low, &high));
  for (PetscInt r = low; r < high; r++) PetscCall(MatSetValue(*P, r, r / 2, 1 + r % 3, INSERT_VALUES));
  PetscCall(TestAssemble(*P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries that sum up to zero, as the right-hand side of a singular system must */
PetscErrorCode RefusedValues(Vec v)
{
  PetscInt  low, high;
  PetscReal sign = 1;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &low, &high));
  for (PetscInt i = low; i < high; i++) {
    sign = i % 2 ? -1 : 1;
    PetscCall(VecSetValue(v, i, sign * (1 + (PetscReal)((i / 2) % 7)), INSERT_VALUES));
  }
  PetscCall(TestAssembleVec(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- operations on matrices ---- */

/* A matrix, the data of an operation, and its result */
typedef struct {
  Mat A, P, C;
  Vec x, y;
} Operands;

static PetscErrorCode OperandsMake(const char type[], Operands *o)
{
  PetscFunctionBeginUser;
  *o = (Operands){.C = NULL};
  PetscCall(RefusedMatrix(type, PETSC_FALSE, &o->A));
  PetscCall(Pairs(type, &o->P));
  PetscCall(MatCreateVecs(o->A, &o->x, &o->y));
  PetscCall(RefusedValues(o->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OperandsFree(Operands *o)
{
  PetscFunctionBeginUser;
  PetscCall(TestDestroyMats(&o->A, &o->P));
  PetscCall(MatDestroy(&o->C));
  PetscCall(TestDestroyVecs(&o->x, &o->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonal twice, the neighbour on one side, and the transposed entry, which may be in a row of another process */
static PetscErrorCode List(Mat A)
{
  PetscInt low, high, n = 0, *i, *j;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &low, &high));
  PetscCall(PetscMalloc2(4 * (high - low), &i, 4 * (high - low), &j));
  for (PetscInt r = low; r < high; r++)
    for (int k = 0; k < 4; k++) {
      const PetscInt next = (r + 1) % (SIDE * SIDE);

      i[n]   = k == 3 ? next : r;
      j[n++] = k == 2 ? next : r;
    }
  PetscCall(MatSetPreallocationCOO(A, n, i, j));
  PetscCall(PetscFree2(i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ListValues(Mat A)
{
  PetscInt     low, high;
  PetscScalar *v;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &low, &high));
  PetscCall(PetscMalloc1(4 * (high - low), &v));
  for (PetscInt k = 0; k < 4 * (high - low); k++) v[k] = 1 + (PetscReal)((4 * low + k) % 11);
  PetscCall(MatSetValuesCOO(A, v, INSERT_VALUES));
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The steps before that in which points fail */
static PetscErrorCode Prepare(Operation what, Operands *o)
{
  PetscFunctionBeginUser;
  if (what == NEW_VALUES) PetscCall(MatMult(o->A, o->x, o->y));
  if (what == COO_VALUES) PetscCall(List(o->A));
  if (what == PTAP_VALUES) PetscCall(MatPtAP(o->A, o->P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &o->C));
  if (what == NEW_VALUES || what == PTAP_VALUES) PetscCall(RefusedFill(o->A, 3, (PetscReal)0.1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Operate(Operation what, Operands *o)
{
  PetscFunctionBeginUser;
  switch (what) {
  case MULT:
  case NEW_VALUES:
    PetscCall(MatMult(o->A, o->x, o->y));
    break;
  case MULT_TRANSPOSED:
    PetscCall(MatMultTranspose(o->A, o->x, o->y));
    break;
  case DIAGONAL:
    PetscCall(MatGetDiagonal(o->A, o->y));
    break;
  case COO:
    PetscCall(List(o->A));
    PetscCall(ListValues(o->A));
    break;
  case COO_VALUES:
    PetscCall(ListValues(o->A));
    break;
  case AB:
    PetscCall(MatMatMult(o->A, o->P, o->C ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, PETSC_DEFAULT, &o->C));
    break;
  default:
    PetscCall(MatPtAP(o->A, o->P, o->C ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, PETSC_DEFAULT, &o->C));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vector that was computed, or the product of the matrix that was computed */
static PetscErrorCode Result(Operation what, const Operands *o, Vec *result)
{
  const Mat C = what == COO || what == COO_VALUES ? o->A : o->C;
  Vec       x;

  PetscFunctionBeginUser;
  if (!C || what == MULT) {
    PetscCall(VecDuplicate(o->y, result));
    PetscCall(VecCopy(o->y, *result));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatCreateVecs(C, &x, result));
  PetscCall(RefusedValues(x));
  PetscCall(MatMult(C, x, *result));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckResult(Operation what, const Operands *o, const Operands *plain)
{
  Vec got, expected;

  PetscFunctionBeginUser;
  PetscCall(Result(what, o, &got));
  PetscCall(Result(what, plain, &expected));
  PetscCall(RefusedAlike(got, expected, 100 * PETSC_MACHINE_EPSILON, "a wrong result"));
  PetscCall(TestDestroyVecs(&got, &expected));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RefusedOperate(const Action *a, long point)
{
  const Operation what = (Operation)a->part;
  PetscErrorCode  error;
  PetscBool       failed;
  MatAIJFmtInfo   before, after;
  Operands        o, plain;

  PetscFunctionBeginUser;
  PetscCall(OperandsMake(a->type, &o));
  PetscCall(OperandsMake(MATAIJ, &plain));
  PetscCall(Prepare(what, &o));
  PetscCall(Prepare(what, &plain));
  PetscCall(Operate(what, &plain));
  PetscCall(MatAIJFmtGetInfo(o.A, &before));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  RefusedArm(point);
  error = Operate(what, &o);
  PetscCall(RefusedDisarm());
  PetscCall(PetscPopErrorHandler());
  PetscCall(RefusedError(error, &failed));
  if (!failed) {
    PetscCall(MatAIJFmtGetInfo(o.A, &after));
    if (what == MULT || what == NEW_VALUES)
      PetscCall(RefusedCheck(after.products + after.fallbacks - before.products - before.fallbacks ==
                                 (refused.size > 1 ? 2 * refused.size : 1),
                             "the product was not counted"));
    PetscCall(CheckResult(what, &o, &plain));
    PetscCall(Operate(what, &o));
    PetscCall(CheckResult(what, &o, &plain));
  }
  PetscCall(OperandsFree(&o));
  PetscCall(OperandsFree(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}
