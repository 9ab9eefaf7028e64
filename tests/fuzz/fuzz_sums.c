/*
  fuzz_sums.c - sums and copies of matrices of several types, and duplicates
*/
#include "fuzz.h"

/* Another random matrix with the layout of A, of the type under test, plain, or of another format */
static PetscErrorCode Other(Fuzz *f, Mat *X)
{
  FuzzShape s;
  char      type[CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  PetscCall(FuzzDrawType(f, type, NULL));
  PetscCall(FuzzShapeOf(f->A, &s));
  PetscCall(FuzzCreate(f, &s, type, X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Axpy(Fuzz *f)
{
  const PetscReal    factor = FuzzFactor(f);
  const MatStructure how    = FuzzChance(f, 70) ? DIFFERENT_NONZERO_PATTERN : UNKNOWN_NONZERO_PATTERN;
  Mat                X;

  PetscFunctionBeginUser;
  PetscCall(Other(f, &X));
  PetscCall(MatAXPY(f->A, factor, X, how));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AxpySame(Fuzz *f)
{
  const MatStructure how = FuzzChance(f, 50) ? SAME_NONZERO_PATTERN : SUBSET_NONZERO_PATTERN;
  Mat                X;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(f->A, MAT_COPY_VALUES, &X));
  PetscCall(MatScale(X, 0.5));
  PetscCall(MatAXPY(f->A, FuzzFactor(f), X, how));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* X = X + a A, with the packed type on the right-hand side */
static PetscErrorCode AxpyToOther(Fuzz *f)
{
  Mat X;

  PetscFunctionBeginUser;
  PetscCall(Other(f, &X));
  PetscCall(MatAXPY(X, FuzzFactor(f), f->A, DIFFERENT_NONZERO_PATTERN));
  PetscCall(ConfSeeProducts(&f->c, "the sum", X));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Aypx(Fuzz *f)
{
  Mat X;

  PetscFunctionBeginUser;
  PetscCall(Other(f, &X));
  PetscCall(MatAYPX(f->A, FuzzFactor(f), X, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyFrom(Fuzz *f)
{
  Mat X;

  PetscFunctionBeginUser;
  PetscCall(Other(f, &X));
  PetscCall(MatCopy(X, f->A, FuzzChance(f, 50) ? DIFFERENT_NONZERO_PATTERN : UNKNOWN_NONZERO_PATTERN));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyTo(Fuzz *f)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(f->A, MAT_COPY_VALUES, &B));
  PetscCall(ConfSeeProducts(&f->c, "the copy", B));
  PetscCall(MatScale(f->A, FuzzFactor(f)));
  PetscCall(MatCopy(f->A, B, SAME_NONZERO_PATTERN));
  PetscCall(FuzzReplace(f, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With values, without values, or with the pattern shared with the original, which is kept */
static PetscErrorCode Duplicate(Fuzz *f)
{
  const MatDuplicateOption options[] = {MAT_COPY_VALUES, MAT_DO_NOT_COPY_VALUES, MAT_SHARE_NONZERO_PATTERN};
  const MatDuplicateOption how       = options[FuzzBelow(f, 3)];
  Mat                      B;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(f->A, how, &B));
  PetscCall(ConfSeeProducts(&f->c, "duplicate", B));
  if (how != MAT_COPY_VALUES) PetscCall(MatAXPY(B, FuzzFactor(f), f->A, SAME_NONZERO_PATTERN));
  PetscCall(FuzzReplace(f, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FuzzOperation fuzz_sums[] = {
    {"axpy", Axpy, 0},          {"axpy_same", AxpySame, 0}, {"axpy_to_other", AxpyToOther, 0}, {"aypx", Aypx, 0},
    {"copy_from", CopyFrom, 0}, {"copy_to", CopyTo, 0},     {"duplicate", Duplicate, 0},       {NULL, NULL, 0}};
