/*
  fuzz_structure.c - transposes, permutations, orderings and colorings
*/
#include "fuzz.h"

static PetscErrorCode TransposeInPlace(Fuzz *f) { return MatTranspose(f->A, MAT_INPLACE_MATRIX, &f->A); }

static PetscErrorCode TransposeReuse(Fuzz *f)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatTranspose(f->A, MAT_INITIAL_MATRIX, &B));
  PetscCall(ConfSeeMat(&f->c, "transpose", B));
  PetscCall(MatScale(f->A, FuzzFactor(f)));
  PetscCall(MatTranspose(f->A, MAT_REUSE_MATRIX, &B));
  PetscCall(ConfSeeMat(&f->c, "transpose again", B));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Matrices that use A only through its products */
static PetscErrorCode Virtual(Fuzz *f)
{
  Mat T, N;
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateTranspose(f->A, &T));
  PetscCall(ConfSeeProducts(&f->c, "virtual transpose", T));
  PetscCall(MatDestroy(&T));
  PetscCall(MatCreateNormal(f->A, &N));
  PetscCall(ConfCreateVecs(N, FuzzNext(f), &x, &y));
  PetscCall(MatMult(N, x, y));
  PetscCall(ConfSeeVec(&f->c, "A^T A", y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&N));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every process permutes its own rows, or all rows move to the next process: each owner names the rows that it wants */
static PetscErrorCode Permute(Fuzz *f)
{
  const uint64_t seed = FuzzNext(f);
  PetscInt       low, high, n, *index;
  Mat            B;
  IS             is;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(f->A, &low, &high));
  n = high - low;
  PetscCall(PetscMalloc1(n, &index));
  for (PetscInt i = 0; i < n; i++) index[i] = low + i;
  for (PetscInt i = n - 1; i > 0; i--) {
    const PetscInt other = (PetscInt)(gen_hash(seed, (uint64_t)(low + i)) % (uint64_t)(i + 1)), was = index[i];

    index[i]     = index[other];
    index[other] = was;
  }
  PetscCall(ISCreateGeneral(f->c.comm, n, index, PETSC_OWN_POINTER, &is));
  PetscCall(ISSetPermutation(is));
  PetscCall(MatPermute(f->A, is, is, &B));
  PetscCall(ISDestroy(&is));
  PetscCall(MatConvert(B, f->type, MAT_INPLACE_MATRIX, &B)); /* a parallel AIJ makes plain AIJ from any type */
  PetscCall(FuzzReplace(f, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ordering, and the matrix permuted by it. Reverse Cuthill-McKee and similar orderings work on one process only; on
   several, plain AIJ calls them with the matrix of all processes. */
static PetscErrorCode Ordering(Fuzz *f)
{
  const MatOrderingType types[] = {MATORDERINGNATURAL, MATORDERINGRCM, MATORDERINGND,
                                   MATORDERING1WD,     MATORDERINGQMD, MATORDERINGROWLENGTH};
  Mat                   B;
  IS                    rows, cols;

  PetscFunctionBeginUser;
  PetscCall(MatGetOrdering(f->A, types[FuzzBelow(f, 6)], &rows, &cols));
  PetscCall(FuzzSeeIS(f, "rows in order", rows));
  PetscCall(FuzzSeeIS(f, "columns in order", cols));
  PetscCall(MatPermute(f->A, rows, cols, &B));
  PetscCall(ConfSeeMat(&f->c, "in order", B));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HasEmptyRow(Mat A, PetscBool *has)
{
  PetscInt low, high, count;

  PetscFunctionBeginUser;
  *has = PETSC_FALSE;
  PetscCall(MatGetOwnershipRange(A, &low, &high));
  for (PetscInt i = low; i < high; i++) {
    PetscCall(MatGetRow(A, i, &count, NULL, NULL));
    if (!count) *has = PETSC_TRUE;
    PetscCall(MatRestoreRow(A, i, &count, NULL, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without MATCOLORINGID, which writes before its arrays if columns are empty, and without SL and LF, which go through
   the columns by inodes and read past an empty row (docs/notebook) */
static PetscErrorCode Coloring(Fuzz *f)
{
  const MatColoringType types[] = {MATCOLORINGNATURAL, MATCOLORINGGREEDY, MATCOLORINGSL, MATCOLORINGLF};
  const PetscInt        drawn   = FuzzBelow(f, 4);
  PetscBool             empty;
  PetscInt              way;
  MatColoring           coloring;
  ISColoring            colors;
  IS                   *is;
  PetscInt              count;

  PetscFunctionBeginUser;
  PetscCall(HasEmptyRow(f->A, &empty));
  way = f->c.size > 1 ? 1 : empty ? drawn % 2 : drawn;
  PetscCall(MatColoringCreate(f->A, &coloring));
  PetscCall(MatColoringSetType(coloring, types[way]));
  PetscCall(MatColoringSetDistance(coloring, 2));
  PetscCall(MatColoringSetWeightType(coloring, MAT_COLORING_WEIGHT_LEXICAL));
  PetscCall(MatColoringApply(coloring, &colors));
  PetscCall(ISColoringGetIS(colors, PETSC_USE_POINTER, &count, &is));
  for (PetscInt k = 0; k < count; k++) PetscCall(FuzzSeeIS(f, "color", is[k]));
  PetscCall(ISColoringRestoreIS(colors, PETSC_USE_POINTER, &is));
  PetscCall(ISColoringDestroy(&colors));
  PetscCall(MatColoringDestroy(&coloring));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The graph of entries, or of blocks of A's block size, full or not */
static PetscErrorCode Graph(Fuzz *f)
{
  const PetscBool symmetrize = FuzzChance(f, 60), scale = FuzzChance(f, 50);
  const PetscReal filter = FuzzChance(f, 50) ? -1 : 0.1 * (PetscReal)FuzzBelow(f, 5);
  Mat             G;

  PetscFunctionBeginUser;
#if PETSC_VERSION_LT(3, 21, 0)
  PetscCall(MatCreateGraph(f->A, symmetrize, scale, filter, &G));
#else
  PetscCall(MatCreateGraph(f->A, symmetrize, scale, filter, 0, NULL, &G));
#endif
  PetscCall(ConfSeeMat(&f->c, "graph", G));
  PetscCall(MatDestroy(&G));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FuzzOperation fuzz_structure[] = {{"transpose_in_place", TransposeInPlace, 0},
                                        {"transpose_reuse", TransposeReuse, 0},
                                        {"virtual", Virtual, FUZZ_RARE},
                                        {"permute", Permute, FUZZ_SQUARE | FUZZ_RENEWS},
                                        {"ordering", Ordering, FUZZ_SQUARE | FUZZ_NONEMPTY},
                                        {"coloring", Coloring, FUZZ_SQUARE | FUZZ_NONEMPTY},
                                        {"graph", Graph, FUZZ_SQUARE},
                                        {NULL, NULL, 0}};
