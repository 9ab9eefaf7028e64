/*
  fuzz_products.c - products of matrices
*/
#include "fuzz.h"

typedef PetscErrorCode (*Product)(Mat, Mat, MatReuse, PetscReal, Mat *);

/* A random matrix of any type with few columns, whose rows match the columns (or the rows) of A. The product may be of
   either factor's type. */
static PetscErrorCode Narrow(Fuzz *f, PetscBool fits_rows, PetscInt columns, Mat *B, PetscBool *own)
{
  FuzzShape s;
  char      type[CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  PetscCall(FuzzDrawType(f, type, own));
  PetscCall(FuzzShapeOf(f->A, &s));
  if (!fits_rows) {
    s.M = s.N;
    s.m = s.n;
  }
  s.N          = columns;
  s.n          = FuzzSplit(f, columns, 1);
  s.block_size = 1;
  PetscCall(FuzzCreate(f, &s, type, B));
  PetscCall(MatScale(*B, 0.125));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A new product, and the same product again with other values */
static PetscErrorCode Twice(Fuzz *f, const char *what, Product product, Mat B, PetscBool own)
{
  Mat C;

  PetscFunctionBeginUser;
  PetscCall(product(f->A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(own ? ConfSeeMat(&f->c, what, C) : ConfSeeProducts(&f->c, what, C));
  PetscCall(MatScale(f->A, FuzzFactor(f)));
  PetscCall(product(f->A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(own ? ConfSeeMat(&f->c, what, C) : ConfSeeProducts(&f->c, what, C));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TimesNarrow(Fuzz *f, const char *what, Product product, PetscBool fits_rows)
{
  Mat       B;
  PetscBool own;

  PetscFunctionBeginUser;
  PetscCall(Narrow(f, fits_rows, 1 + FuzzBelow(f, 9), &B, &own));
  PetscCall(Twice(f, what, product, B, own));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMat(Fuzz *f) { return TimesNarrow(f, "A B", MatMatMult, PETSC_FALSE); }
static PetscErrorCode TransposeMat(Fuzz *f) { return TimesNarrow(f, "A^T B", MatTransposeMatMult, PETSC_TRUE); }
static PetscErrorCode PtAP(Fuzz *f) { return TimesNarrow(f, "P^T A P", MatPtAP, PETSC_FALSE); }

/* Products with the second factor transposed: A B^T and R A R^T */
static PetscErrorCode TimesTransposed(Fuzz *f, const char *what, Product product)
{
  Mat       B, T;
  PetscBool own;

  PetscFunctionBeginUser;
  PetscCall(Narrow(f, PETSC_FALSE, 1 + FuzzBelow(f, 9), &B, &own));
  PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &T));
  PetscCall(Twice(f, what, product, T, own));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatTransposed(Fuzz *f) { return TimesTransposed(f, "A B^T", MatMatTransposeMult); }
static PetscErrorCode RARt(Fuzz *f) { return TimesTransposed(f, "R A R^T", MatRARt); }

static PetscErrorCode TimesDense(Fuzz *f, const char *what, Product product, PetscBool fits_rows)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(Narrow(f, fits_rows, 1 + FuzzBelow(f, 9), &B, NULL));
  PetscCall(MatConvert(B, MATDENSE, MAT_INPLACE_MATRIX, &B));
  PetscCall(Twice(f, what, product, B, PETSC_FALSE));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDense(Fuzz *f) { return TimesDense(f, "A D", MatMatMult, PETSC_FALSE); }
static PetscErrorCode TransposeDense(Fuzz *f) { return TimesDense(f, "A^T D", MatTransposeMatMult, PETSC_TRUE); }

static PetscErrorCode Square(Fuzz *f)
{
  Mat C;

  PetscFunctionBeginUser;
  PetscCall(MatScale(f->A, 0.125));
  PetscCall(MatMatMult(f->A, f->A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(FuzzReplace(f, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ThreeFactors(Fuzz *f)
{
  Mat B, T, D;

  PetscFunctionBeginUser;
  PetscCall(Narrow(f, PETSC_FALSE, 4, &B, NULL));
  PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &T));
  PetscCall(MatMatMatMult(f->A, B, T, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &D));
  PetscCall(ConfSeeProducts(&f->c, "A B B^T", D));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&T));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A Galerkin product with several unknowns per node: the interpolation of one unknown is used for all of them */
static PetscErrorCode PtAPOfBlocks(Fuzz *f)
{
  const PetscInt unknowns = 2 + FuzzBelow(f, 2);
  FuzzShape      s;
  Mat            P, Q;
  char           type[CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  PetscCall(FuzzDrawType(f, type, NULL));
  PetscCall(FuzzShapeOf(f->A, &s));
  if (s.block_size % unknowns) PetscFunctionReturn(PETSC_SUCCESS);
  s.M /= unknowns;
  s.m /= unknowns;
  s.N          = 1 + FuzzBelow(f, 6);
  s.n          = FuzzSplit(f, s.N, 1);
  s.block_size = 1;
  PetscCall(FuzzCreate(f, &s, type, &P));
  PetscCall(MatScale(P, 0.125));
  PetscCall(MatCreateMAIJ(P, unknowns, &Q));
  PetscCall(Twice(f, "P^T A P with MATMAIJ", MatPtAP, Q, PETSC_FALSE));
  PetscCall(MatDestroy(&P));
  PetscCall(MatDestroy(&Q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FuzzOperation fuzz_products[] = {{"mat_mat", MatMat, 0},
                                       {"transpose_mat", TransposeMat, 0},
                                       {"mat_transposed", MatTransposed, FUZZ_SEQUENTIAL},
                                       {"mat_dense", MatDense, 0},
                                       {"transpose_dense", TransposeDense, 0},
                                       {"three_factors", ThreeFactors, FUZZ_RARE},
                                       {"square", Square, FUZZ_SQUARE | FUZZ_SMALL | FUZZ_RENEWS},
                                       {"ptap", PtAP, FUZZ_SQUARE},
                                       {"rart", RARt, FUZZ_SQUARE},
                                       {"ptap_maij", PtAPOfBlocks, FUZZ_SQUARE | FUZZ_NONEMPTY},
                                       {NULL, NULL, 0}};
