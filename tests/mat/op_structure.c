/*
  op_structure.c - transposes, permutations, orderings and colorings
*/
#include "ops.h"

static PetscErrorCode TransposeInPlace(Conf *c) { return MatTranspose(c->A, MAT_INPLACE_MATRIX, &c->A); }

static PetscErrorCode Transpose(Conf *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatTranspose(c->A, OpReuse(c), &c->made));
  PetscCall(OpSeeMade(c, "MatTranspose", PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Matrices that use A only through its products */
static PetscErrorCode Virtual(Conf *c)
{
  Mat T, N;
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateTranspose(c->A, &T));
  PetscCall(ConfSeeProducts(c, "virtual transpose", T));
  PetscCall(MatDestroy(&T));
  PetscCall(MatCreateNormal(c->A, &N));
  PetscCall(ConfCreateVecs(N, OpNext(c), &x, &y));
  PetscCall(MatMult(N, x, y));
  PetscCall(ConfSeeVec(c, "A^T A", y));
  PetscCall(TestDestroyVecs(&x, &y));
  PetscCall(MatDestroy(&N));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every process permutes its own rows, or all rows move to the next process: each owner names the rows that it wants */
static PetscErrorCode Permute(Conf *c)
{
  const uint64_t seed = OpNext(c);
  PetscInt       low, high, n, *index;
  Mat            B;
  IS             is;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(c->A, &low, &high));
  n = high - low;
  PetscCall(PetscMalloc1(n, &index));
  for (PetscInt i = 0; i < n; i++) index[i] = low + i;
  for (PetscInt i = n - 1; i > 0; i--) {
    const PetscInt other = (PetscInt)(gen_hash(seed, (uint64_t)(low + i)) % (uint64_t)(i + 1)), was = index[i];

    index[i]     = index[other];
    index[other] = was;
  }
  PetscCall(ISCreateGeneral(c->comm, n, index, PETSC_OWN_POINTER, &is));
  PetscCall(ISSetPermutation(is));
  PetscCall(MatPermute(c->A, is, is, &B));
  PetscCall(ISDestroy(&is));
  PetscCall(MatConvert(B, c->type, MAT_INPLACE_MATRIX, &B)); /* a parallel AIJ makes plain AIJ from any type */
  PetscCall(OpReplace(c, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ordering, and the matrix permuted by it. Reverse Cuthill-McKee and similar orderings work on one process only; on
   several, plain AIJ calls them with the matrix of all processes. */
static PetscErrorCode Ordering(Conf *c)
{
  const MatOrderingType types[] = {MATORDERINGNATURAL, MATORDERINGRCM, MATORDERINGROWLENGTH,
                                   MATORDERINGND,      MATORDERING1WD, MATORDERINGQMD};
  Mat                   B;
  IS                    rows, cols;

  PetscFunctionBeginUser;
  PetscCall(MatGetOrdering(c->A, types[OpBelow(c, 6)], &rows, &cols));
  PetscCall(OpSeeIS(c, "rows in order", rows));
  PetscCall(OpSeeIS(c, "columns in order", cols));
  PetscCall(MatPermute(c->A, rows, cols, &B));
  PetscCall(ConfSeeMat(c, "in order", B));
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

static PetscErrorCode SeeColoring(Conf *c, MatColoringType type, PetscInt distance)
{
  MatColoring coloring;
  ISColoring  colors;
  IS         *is;
  PetscInt    count;

  PetscFunctionBeginUser;
  PetscCall(MatColoringCreate(c->A, &coloring));
  PetscCall(MatColoringSetType(coloring, type));
  PetscCall(MatColoringSetDistance(coloring, distance));
  if (!c->spec.row) PetscCall(MatColoringSetWeightType(coloring, MAT_COLORING_WEIGHT_LEXICAL));
  PetscCall(MatColoringApply(coloring, &colors));
  PetscCall(ISColoringGetIS(colors, PETSC_USE_POINTER, &count, &is));
  for (PetscInt k = 0; k < count; k++) PetscCall(OpSeeIS(c, type, is[k]));
  PetscCall(ISColoringRestoreIS(colors, PETSC_USE_POINTER, &is));
  PetscCall(ISColoringDestroy(&colors));
  PetscCall(MatColoringDestroy(&coloring));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without MATCOLORINGID, which writes before its arrays if columns are empty, and without SL and LF, which go through
   the columns by inodes and read past an empty row (docs/notebook) */
static PetscErrorCode Coloring(Conf *c)
{
  const MatColoringType types[] = {MATCOLORINGNATURAL, MATCOLORINGGREEDY, MATCOLORINGSL, MATCOLORINGLF};
  const PetscInt        drawn   = OpBelow(c, 4);
  PetscBool             empty;

  PetscFunctionBeginUser;
  PetscCall(HasEmptyRow(c->A, &empty));
  PetscCall(SeeColoring(c, types[c->size > 1 ? 1 : empty ? drawn % 2 : drawn], 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The graph of entries, or of blocks of A's block size, full or not */
static PetscErrorCode Graph(Conf *c)
{
  const PetscBool symmetrize = OpChance(c, 60), scale = OpChance(c, 50);
  const PetscReal filter = OpChance(c, 50) ? -1 : c->way < 0 ? 0.1 * (PetscReal)OpBelow(c, 5) : 0.5;
  Mat             G;

  PetscFunctionBeginUser;
#if PETSC_VERSION_LT(3, 21, 0)
  PetscCall(MatCreateGraph(c->A, symmetrize, scale, filter, &G));
#else
  PetscCall(MatCreateGraph(c->A, symmetrize, scale, filter, 0, NULL, &G));
#endif
  PetscCall(ConfSeeMat(c, "graph", G));
  PetscCall(MatDestroy(&G));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Colorings of the graph of A + A^T that work with several processes */
static PetscErrorCode ColorSymmetric(Conf *c)
{
  const MatColoringType types[] = {MATCOLORINGJP, MATCOLORINGPOWER, MATCOLORINGGREEDY};
  const PetscInt        way     = OpBelow(c, 3);
  Mat                   T;

  PetscFunctionBeginUser;
  PetscCall(MatTranspose(c->A, MAT_INITIAL_MATRIX, &T));
  PetscCall(MatAXPY(c->A, 1, T, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatDestroy(&T));
  PetscCall(SeeColoring(c, types[way], way == 2 ? 1 : 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Kronecker(Conf *c)
{
  Conf small = *c;
  Mat  B;

  PetscFunctionBeginUser;
  small.spec = gen_dense(2, 3);
  PetscCall(ConfSetUp(&small, &small.spec, CONF_EVEN));
  PetscCall(ConfCreate(&small, &B));
  PetscCall(MatSeqAIJKron(c->A, B, OpReuse(c), &c->made));
  PetscCall(ConfSeeProducts(c, "MatSeqAIJKron", c->made)); /* is of type AIJ, as PETSc makes it */
  PetscCall(ConfSeeMat(c, "its factor", B));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const ConfOperation op_structure[] = {
    {"transpose_in_place", TransposeInPlace, OP_CONTAINERS, .ways = 2, .needs = MATOP_TRANSPOSE},
    {"transpose", Transpose, OP_READS | OP_MAKES, .ways = 1},
    {"virtual", Virtual, OP_RARE | OP_NONEMPTY, .ways = 1},
    {"permute", Permute, OP_SQUARE | OP_RENEWS, .ways = 1},
    {"ordering", Ordering, OP_SQUARE | OP_NONEMPTY | OP_HEAVY, .ways = 3},
    {"coloring", Coloring, OP_SQUARE | OP_NONEMPTY | OP_RANDOM_ONLY, .ways = 1},
    {"color_symmetric", ColorSymmetric, OP_SPEC | OP_SQUARE | OP_NONEMPTY | OP_HEAVY, .ways = 3},
    {"graph", Graph, OP_SQUARE, .ways = 4},
    {"kronecker", Kronecker, OP_SPEC | OP_MAKES | OP_NONEMPTY | OP_SEQUENTIAL | OP_HEAVY, .ways = 1},
    {.name = NULL}};
