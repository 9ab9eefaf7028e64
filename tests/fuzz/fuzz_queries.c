/*
  fuzz_queries.c - queries that do not change a matrix
*/
#include "fuzz.h"

static PetscErrorCode Norms(Fuzz *f)
{
  const NormType types[] = {NORM_1, NORM_FROBENIUS, NORM_INFINITY};
  PetscReal      norm, *column;
  PetscInt       N;

  PetscFunctionBeginUser;
  for (int k = 0; k < 3; k++) {
    PetscCall(MatNorm(f->A, types[k], &norm));
    PetscCall(ConfSeeReal(&f->c, "norm", norm));
  }
  PetscCall(MatGetSize(f->A, NULL, &N));
  PetscCall(PetscMalloc1(N, &column));
  PetscCall(MatGetColumnNorms(f->A, FuzzChance(f, 50) ? NORM_2 : NORM_INFINITY, column));
  PetscCall(FuzzSeeReals(f, "column norms", N, column));
  PetscCall(PetscFree(column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowExtremes(Fuzz *f)
{
  PetscErrorCode (*const extremes[])(Mat, Vec, PetscInt[]) = {MatGetRowMaxAbs, MatGetRowMinAbs, MatGetRowMax,
                                                              MatGetRowMin};
  const PetscInt way                                       = FuzzBelow(f, 4);
  PetscInt       m, *index;
  Vec            y;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(f->A, &m, NULL));
  PetscCall(PetscMalloc1(m, &index));
  PetscCall(MatCreateVecs(f->A, NULL, &y));
  PetscCall(extremes[way](f->A, y, way < 2 || FuzzChance(f, 50) ? index : NULL));
  PetscCall(ConfSeeVec(&f->c, "extreme of a row", y));
  for (PetscInt i = 0; i < m && way < 2; i++) PetscCall(ConfSeeReal(&f->c, "its column", (PetscReal)index[i]));
  PetscCall(MatGetRowSum(f->A, y));
  PetscCall(ConfSeeVec(&f->c, "row sum", y));
  PetscCall(VecDestroy(&y));
  PetscCall(PetscFree(index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Diagonal(Fuzz *f)
{
  Vec         d;
  PetscScalar trace;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(f->A, NULL, &d));
  PetscCall(MatGetDiagonal(f->A, d));
  PetscCall(ConfSeeVec(&f->c, "diagonal", d));
  PetscCall(MatGetTrace(f->A, &trace));
  PetscCall(ConfSeeReal(&f->c, "trace", PetscRealPart(trace)));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without memory and mallocs, which differ between the types */
static PetscErrorCode Info(Fuzz *f)
{
  MatInfo   info;
  PetscBool yes;

  PetscFunctionBeginUser;
  PetscCall(MatGetInfo(f->A, MAT_GLOBAL_SUM, &info));
  PetscCall(ConfSeeReal(&f->c, "nz_used", info.nz_used));
  PetscCall(MatIsSymmetric(f->A, 0, &yes));
  PetscCall(ConfSeeReal(&f->c, "symmetric", yes));
  PetscCall(MatIsTranspose(f->A, f->A, 0, &yes));
  PetscCall(ConfSeeReal(&f->c, "its own transpose", yes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares with the matrix itself, with a copy, and with a plain copy */
static PetscErrorCode Equal(Fuzz *f)
{
  Mat       B;
  PetscBool yes;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(f->A, MAT_COPY_VALUES, &B));
  PetscCall(MatEqual(f->A, B, &yes));
  PetscCall(ConfSeeReal(&f->c, "equal to its copy", yes));
  PetscCall(MatScale(B, 2));
  PetscCall(MatEqual(f->A, B, &yes));
  PetscCall(ConfSeeReal(&f->c, "equal to its double", yes));
  PetscCall(MatMultEqual(f->A, B, 2, &yes));
  PetscCall(ConfSeeReal(&f->c, "acts as its double", yes));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowIJ(Fuzz *f)
{
  const PetscInt  shift     = FuzzBelow(f, 2);
  const PetscBool symmetric = FuzzChance(f, 30);
  const PetscInt *i, *j;
  PetscInt        n;
  PetscBool       done;

  PetscFunctionBeginUser;
  PetscCall(MatGetRowIJ(f->A, shift, symmetric, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(ConfSeeReal(&f->c, "rows given", done));
  if (done)
    for (PetscInt k = 0; k < i[n] - shift; k++) PetscCall(ConfSeeReal(&f->c, "column", (PetscReal)j[k]));
  PetscCall(MatRestoreRowIJ(f->A, shift, symmetric, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(MatGetColumnIJ(f->A, shift, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  if (done)
    for (PetscInt k = 0; k < i[n] - shift; k++) PetscCall(ConfSeeReal(&f->c, "row", (PetscReal)j[k]));
  PetscCall(MatRestoreColumnIJ(f->A, shift, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Invalid calls must give the same error */
static PetscErrorCode Refusals(Fuzz *f)
{
  const PetscInt way = FuzzBelow(f, 3);
  Mat            B;
  Vec            x;

  PetscFunctionBeginUser;
  if (way == 0) {
    PetscCall(MatCreateVecs(f->A, &x, NULL));
    PetscCall(MatMult(f->A, x, x));
  } else if (way == 1) PetscCall(MatConvert(f->A, "nonsense", MAT_INITIAL_MATRIX, &B));
  else PetscCall(MatGetFactor(f->A, "nonsense", MAT_FACTOR_LU, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FuzzOperation fuzz_queries[] = {{"norms", Norms, 0},
                                      {"row_extremes", RowExtremes, FUZZ_NONEMPTY},
                                      {"diagonal", Diagonal, FUZZ_SQUARE},
                                      {"info", Info, FUZZ_SQUARE},
                                      {"equal", Equal, 0},
                                      {"row_ij", RowIJ, FUZZ_SEQUENTIAL},
                                      {"refusals", Refusals, FUZZ_RARE},
                                      {NULL, NULL, 0}};
