/*
  op_sums.c - sums and copies of matrices of several types, and duplicates
*/
#include "ops.h"

/* c->other is another random matrix with the layout of A, of the type under test, plain, or of another format */
static PetscErrorCode OtherPattern(Conf *c)
{
  OpShape s;
  char    type[CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  if (c->other) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(OpDrawType(c, type, NULL));
  PetscCall(OpShapeOf(c->A, &s));
  PetscCall(OpCreate(c, &s, type, &c->other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sum with a matrix of A's pattern or another one, by MatAXPY() or MatAYPX(), for this MatStructure */
enum { STRUCTURE = 7, SAME = 8, AYPX = 16 };
static PetscErrorCode Sum(Conf *c)
{
  const int how = c->operation->how;

  PetscFunctionBeginUser;
  PetscCall((how & SAME ? OpOther : OtherPattern)(c));
  PetscCall((how & AYPX ? MatAYPX : MatAXPY)(c->A, OpFactor(c), c->other, (MatStructure)(how & STRUCTURE)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AxpySelf(Conf *c) { return MatAXPY(c->A, -1, c->A, SAME_NONZERO_PATTERN); }

/* The sum with A as a summand: in another matrix, or in one of its own pattern */
static PetscErrorCode AxpyToOther(Conf *c)
{
  PetscFunctionBeginUser;
  PetscCall(OtherPattern(c));
  PetscCall(MatAXPY(c->other, OpFactor(c), c->A, DIFFERENT_NONZERO_PATTERN));
  PetscCall(ConfSeeProducts(c, "the sum", c->other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddTo(Conf *c)
{
  PetscFunctionBeginUser;
  PetscCall(OpOther(c));
  PetscCall(MatAXPY(c->other, 2, c->A, SAME_NONZERO_PATTERN));
  PetscCall(ConfSeeRows(c, "MatAXPY", c->other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc moves a new matrix into the old header */
static PetscErrorCode AxpyTranspose(Conf *c)
{
  Mat T;

  PetscFunctionBeginUser;
  PetscCall(MatTranspose(c->A, MAT_INITIAL_MATRIX, &T));
  PetscCall(MatAXPY(c->A, 1, T, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatAXPY(T, 2, c->A, UNKNOWN_NONZERO_PATTERN));
  PetscCall(ConfSeeMat(c, "A^T + 2 (A + A^T)", T));
  PetscCall(MatDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopySame(Conf *c)
{
  PetscFunctionBeginUser;
  PetscCall(OpOther(c));
  PetscCall(MatScale(c->other, 2));
  PetscCall(MatCopy(c->other, c->A, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyFrom(Conf *c)
{
  PetscFunctionBeginUser;
  PetscCall(OtherPattern(c));
  PetscCall(MatCopy(c->other, c->A, OpChance(c, 50) ? UNKNOWN_NONZERO_PATTERN : DIFFERENT_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Duplicate(Conf *c)
{
  PetscFunctionBeginUser;
  if (c->made) PetscCall(MatCopy(c->A, c->made, SAME_NONZERO_PATTERN));
  else PetscCall(MatDuplicate(c->A, MAT_COPY_VALUES, &c->made));
  PetscCall(OpSeeMade(c, "MatDuplicate, MatCopy", PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without values, or with the pattern shared with the original, which is kept */
static PetscErrorCode DuplicatePattern(Conf *c)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(c->A, OpChance(c, 50) ? MAT_DO_NOT_COPY_VALUES : MAT_SHARE_NONZERO_PATTERN, &B));
  PetscCall(ConfSeeProducts(c, "duplicate", B));
  PetscCall(MatAXPY(B, OpFactor(c), c->A, SAME_NONZERO_PATTERN));
  PetscCall(ConfSeeProducts(c, "its source", c->A));
  PetscCall(OpReplace(c, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const ConfOperation op_sums[] = {
    {"axpy", Sum, OP_CONTAINERS, .ways = 3, .how = DIFFERENT_NONZERO_PATTERN, .needs = MATOP_AXPY},
    {"axpy_unknown", Sum, OP_RARE, .ways = 1, .how = UNKNOWN_NONZERO_PATTERN},
    {"axpy_same", Sum, OP_CHANGES | OP_CONTAINERS, .how = SAME | SAME_NONZERO_PATTERN, .needs = MATOP_AXPY},
    {"axpy_subset", Sum, 0, .how = SAME | SUBSET_NONZERO_PATTERN},
    {"axpy_self", AxpySelf, OP_RARE, .ways = 1},
    {"axpy_transpose", AxpyTranspose, OP_SQUARE | OP_NONEMPTY | OP_RARE, .ways = 1},
    {"axpy_to_other", AxpyToOther, 0, .ways = 3},
    {"axpy_to_same", AddTo, OP_READS, .ways = 1},
    {"aypx", Sum, 0, .ways = 1, .how = AYPX | DIFFERENT_NONZERO_PATTERN},
    {"aypx_same", Sum, OP_CONTAINERS, .how = SAME | AYPX | SAME_NONZERO_PATTERN, .needs = MATOP_AXPY},
    {"aypx_subset", Sum, OP_RARE, .how = SAME | AYPX | SUBSET_NONZERO_PATTERN},
    {"copy_same", CopySame, OP_CHANGES | OP_CONTAINERS, .needs = MATOP_COPY},
    {"copy_from", CopyFrom, 0, .ways = 6},
    {"duplicate", Duplicate, OP_READS | OP_MAKES | OP_BECOMES, .ways = 1},
    {"duplicate_pattern", DuplicatePattern, 0, .ways = 2},
    {.name = NULL}};
