/*
  conf_convert.c - conversion to and from other types, duplicates and copies
*/
#include "conf.h"

/* Converts in every reuse mode and records source and result */
static PetscErrorCode ConvertAllModes(Conf *c, Mat A, MatType to)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, to, MAT_INITIAL_MATRIX, &B));
  PetscCall(ConfSeeMat(c, "MatConvert initial", B));
  PetscCall(ConfSeeMat(c, "its source", A));
  PetscCall(MatScale(A, 2));
  PetscCall(MatConvert(A, to, MAT_REUSE_MATRIX, &B));
  PetscCall(ConfSeeMat(c, "MatConvert reuse", B));
  PetscCall(MatDestroy(&B));
  PetscCall(MatConvert(A, to, MAT_INPLACE_MATRIX, &A));
  PetscCall(ConfSeeMat(c, "MatConvert in place", A));
  PetscCall(ConfSetValues(c, A, 41));
  PetscCall(ConfSeeMat(c, "MatConvert in place, new values", A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FromPlain(Conf *c)
{
  Mat  A;
  char type[CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  PetscCall(ConfCreatePlain(c, &A));
  PetscCall(ConfName(c, c->base, type));
  PetscCall(ConvertAllModes(c, A, type));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ToPlain(Conf *c)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(ConvertAllModes(c, A, c->base));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RoundTrips(Conf *c)
{
  Mat  A;
  char type[CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  PetscCall(ConfName(c, c->base, type));
  PetscCall(ConfCreate(c, &A));
  for (int k = 0; k < 3; k++) {
    PetscCall(MatConvert(A, c->base, MAT_INPLACE_MATRIX, &A));
    PetscCall(MatScale(A, 2));
    PetscCall(ConfSeeProducts(c, "plain again", A));
    PetscCall(MatConvert(A, type, MAT_INPLACE_MATRIX, &A));
    PetscCall(ConfSeeMat(c, "and back", A));
  }
  PetscCall(MatConvert(A, MATSAME, MAT_INPLACE_MATRIX, &A));
  PetscCall(ConfSeeMat(c, "MATSAME", A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MATIS of a parallel matrix needs entries in the off-diagonal block of every process, so this runs on one process
   only */
static PetscErrorCode ToOtherTypes(Conf *c)
{
  Mat           A, B;
  const MatType other[]        = {MATDENSE, MATBAIJ};
  const MatType product_only[] = {MATSELL, MATIS};

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatConvert(A, other[k], MAT_INITIAL_MATRIX, &B));
    PetscCall(ConfSeeMat(c, other[k], B));
    PetscCall(MatDestroy(&B));
  }
  for (int k = 0; k < (c->sequential ? 2 : 1); k++) {
    PetscCall(MatConvert(A, product_only[k], MAT_INITIAL_MATRIX, &B));
    PetscCall(ConfSeeProducts(c, product_only[k], B));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Guards against a crash: a SELL matrix on several processes needs a converter of its own to our types */
static PetscErrorCode FromOtherTypes(Conf *c)
{
  const MatType other[] = {MATDENSE, MATBAIJ, MATSELL};
  Mat           A, B;
  char          type[CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  PetscCall(ConfName(c, c->base, type));
  for (size_t k = 0; k < sizeof(other) / sizeof(other[0]); k++) {
    PetscCall(ConfCreatePlain(c, &A));
    PetscCall(MatConvert(A, other[k], MAT_INITIAL_MATRIX, &B));
    PetscCall(MatDestroy(&A));
    PetscCall(MatConvert(B, type, MAT_INITIAL_MATRIX, &A));
    PetscCall(ConfSeeMat(c, other[k], A));
    PetscCall(MatDestroy(&A));
    PetscCall(MatConvert(B, type, MAT_INPLACE_MATRIX, &B));
    PetscCall(ConfSeeMat(c, other[k], B));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Duplicate(Conf *c)
{
  Mat                      A, B;
  const MatDuplicateOption how[] = {MAT_COPY_VALUES, MAT_SHARE_NONZERO_PATTERN, MAT_DO_NOT_COPY_VALUES};

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  for (int k = 0; k < 3; k++) {
    PetscCall(MatDuplicate(A, how[k], &B));
    if (how[k] != MAT_COPY_VALUES) PetscCall(ConfSetValues(c, B, 51));
    PetscCall(ConfSeeMat(c, "MatDuplicate", B));
    PetscCall(MatScale(B, 5));
    PetscCall(ConfSeeMat(c, "MatDuplicate scaled", B));
    PetscCall(ConfSeeProducts(c, "its source", A));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatDestroy(&A));
  PetscCall(ConfSeeMat(c, "the copy alone", B));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatCopy() between matrices of the type, of different patterns, and from and to a plain matrix */
static PetscErrorCode Copy(Conf *c)
{
  Mat A, B, plain;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(ConfCreatePlain(c, &plain));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(ConfSetValues(c, A, 61));
  PetscCall(MatCopy(A, B, SAME_NONZERO_PATTERN));
  PetscCall(ConfSeeMat(c, "MatCopy same pattern", B));
  PetscCall(ConfSetValues(c, plain, 62));
  PetscCall(MatCopy(plain, B, DIFFERENT_NONZERO_PATTERN));
  PetscCall(ConfSeeMat(c, "MatCopy from plain", B));
  PetscCall(MatScale(B, 3));
  PetscCall(MatCopy(B, plain, SAME_NONZERO_PATTERN));
  PetscCall(ConfSeeMat(c, "MatCopy to plain", plain));
  PetscCall(MatCopy(A, B, UNKNOWN_NONZERO_PATTERN));
  PetscCall(ConfSeeMat(c, "MatCopy unknown pattern", B));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another matrix replaces this one after a product; the old packed arrays must be dropped */
static PetscErrorCode HeaderReplace(Conf *c)
{
  Mat A, B;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatScale(B, 7));
  PetscCall(MatHeaderReplace(A, &B));
  PetscCall(ConfSeeMat(c, "MatHeaderReplace", A));
  PetscCall(MatScale(A, 2));
  PetscCall(ConfSeeMat(c, "MatHeaderReplace, scaled", A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const ConfOperation conf_convert[] = {{"convert_from_plain", FromPlain, 0},
                                      {"convert_to_plain", ToPlain, 0},
                                      {"convert_round_trip", RoundTrips, 0},
                                      {"convert_to_others", ToOtherTypes, CONF_NONEMPTY | CONF_DENSE},
                                      {"convert_from_others", FromOtherTypes, CONF_NONEMPTY | CONF_DENSE},
                                      {"duplicate", Duplicate, 0},
                                      {"copy", Copy, 0},
                                      {"header_replace", HeaderReplace, 0},
                                      {NULL, NULL, 0}};
