/*
  op_products.c - products of matrices
*/
#include "ops.h"

typedef PetscErrorCode (*Product)(Mat, Mat, MatReuse, PetscReal, Mat *);

/* A random matrix of any type with few columns, whose rows match the columns (or the rows) of A. The product may be of
   either factor's type. */
static PetscErrorCode Narrow(Conf *c, PetscBool fits_rows, PetscInt columns, Mat *B, PetscBool *own)
{
  OpShape s;
  char    type[CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  PetscCall(OpDrawType(c, type, own));
  PetscCall(OpShapeOf(c->A, &s));
  if (!fits_rows) {
    s.M = s.N;
    s.m = s.n;
  }
  s.N          = columns;
  s.n          = OpSplit(c, columns, 1);
  s.block_size = 1;
  PetscCall(OpCreate(c, &s, type, B));
  PetscCall(MatScale(*B, 0.125));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A new product, and the same product again with other values; if the operation does nothing else, only the rows of a
   new product */
static PetscErrorCode Twice(Conf *c, const char *what, Product product, Mat B, PetscBool own)
{
  Mat C;

  PetscFunctionBeginUser;
  PetscCall(product(c->A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall((c->alone ? ConfSeeRows : own ? ConfSeeMat : ConfSeeProducts)(c, what, C));
  if (!c->alone) {
    PetscCall(MatScale(c->A, OpFactor(c)));
    PetscCall(product(c->A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
    PetscCall((own ? ConfSeeMat : ConfSeeProducts)(c, what, C));
  }
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which products, and how the second factor B fits */
enum { AB, ATB, PTAP, ABT, RART };
static const struct {
  const char *what;
  Product     product;
  PetscBool   fits_rows, transposed; /* B has the rows of A; the transpose of B is the factor */
} products[] = {{"A B", MatMatMult, PETSC_FALSE, PETSC_FALSE},
                {"A^T B", MatTransposeMatMult, PETSC_TRUE, PETSC_FALSE},
                {"P^T A P", MatPtAP, PETSC_FALSE, PETSC_FALSE},
                {"A B^T", MatMatTransposeMult, PETSC_FALSE, PETSC_TRUE},
                {"R A R^T", MatRARt, PETSC_FALSE, PETSC_TRUE}};

/* With a random matrix of few columns, dense if the operation says so */
static PetscErrorCode TimesNarrow(Conf *c)
{
  const int how = c->operation->how;
  Mat       B;
  PetscBool own;

  PetscFunctionBeginUser;
  PetscCall(Narrow(c, products[how].fits_rows, c->way < 0 ? 1 + OpBelow(c, 9) : 4, &B, &own));
  if (c->operation->to) PetscCall(MatConvert(B, c->operation->to, MAT_INPLACE_MATRIX, &B));
  if (products[how].transposed) {
    Mat T;

    PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &T));
    PetscCall(MatDestroy(&B));
    B = T;
  }
  PetscCall(
      Twice(c, products[how].what, products[how].product, B, own && !c->operation->to ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of few rows on the left, also a dense one */
static PetscErrorCode NarrowTimes(Conf *c)
{
  Mat B, T, C;

  PetscFunctionBeginUser;
  PetscCall(Narrow(c, PETSC_TRUE, 4, &B, NULL));
  PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &T));
  if (c->operation->to) PetscCall(MatConvert(T, c->operation->to, MAT_INPLACE_MATRIX, &T));
  PetscCall(MatMatMult(T, c->A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(ConfSeeProducts(c, "B A", C));
  PetscCall(MatScale(c->A, OpFactor(c)));
  PetscCall(MatMatMult(T, c->A, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(ConfSeeProducts(c, "B A", C));
  PetscCall(TestDestroyMats(&B, &T));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A is both factors */
static PetscErrorCode Square(Conf *c)
{
  PetscFunctionBeginUser;
  if (!c->made && !c->alone) PetscCall(MatScale(c->A, 0.125));
  PetscCall(MatMatMult(c->A, c->A, OpReuse(c), PETSC_DEFAULT, &c->made));
  PetscCall(OpSeeMade(c, "A A", PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With a matrix of A's pattern */
static PetscErrorCode TimesOther(Conf *c)
{
  PetscFunctionBeginUser;
  PetscCall(OpOther(c));
  PetscCall(products[c->operation->how].product(c->A, c->other, OpReuse(c), PETSC_DEFAULT, &c->made));
  PetscCall(OpSeeMade(c, products[c->operation->how].what, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ThreeFactors(Conf *c)
{
  Mat B, T, D;

  PetscFunctionBeginUser;
  PetscCall(Narrow(c, PETSC_FALSE, 4, &B, NULL));
  PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &T));
  PetscCall(MatMatMatMult(c->A, B, T, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &D));
  PetscCall(ConfSeeProducts(c, "A B B^T", D));
  PetscCall(TestDestroyMats(&B, &T));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A A^T A, also with a dense second factor: PETSc has no function for that, and makes two products of two while all three
   are in the product */
static PetscErrorCode AroundTranspose(Conf *c)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatTranspose(c->A, MAT_INITIAL_MATRIX, &B));
  if (c->operation->to) PetscCall(MatConvert(B, c->operation->to, MAT_INPLACE_MATRIX, &B));
  PetscCall(MatMatMatMult(c->A, B, c->A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &c->made));
  PetscCall(ConfSeeMat(c, "A A^T A", c->made));
  PetscCall(MatScale(c->operation->to ? c->A : B, 2));
  PetscCall(MatMatMatMult(c->A, B, c->A, MAT_REUSE_MATRIX, PETSC_DEFAULT, &c->made));
  PetscCall(ConfSeeMat(c, "A A^T A again", c->made));
  PetscCall(TestDestroyMats(&c->made, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A has nonzeros right of the diagonal only, so A A has no diagonal entry, and A^T A lacks the first */
static PetscErrorCode ForcedDiagonal(Conf *c)
{
  const PetscBool transposed = OpChance(c, 50);
  Mat             A;
  Vec             diagonal;

  PetscFunctionBeginUser;
  if (c->N < 2) PetscFunctionReturn(PETSC_SUCCESS); /* a parallel product without a nonzero crashes PETSc */
  PetscCall(ConfCreateEmpty(c, &A));
  PetscCall(MatSetType(A, c->type));
  PetscCall(MatSetUp(A));
  for (PetscInt i = c->row_start; i < c->row_start + c->m && i < c->N - 1; i++)
    PetscCall(MatSetValue(A, i, i + 1, (PetscReal)(1 + i % 5), INSERT_VALUES));
  PetscCall(TestAssemble(A));
  PetscCall(ConfCreateVecs(A, 10, &diagonal, NULL));
  PetscCall(MatProductCreate(A, A, NULL, &c->made));
  PetscCall(MatProductSetType(c->made, transposed ? MATPRODUCT_AtB : MATPRODUCT_AB));
  PetscCall(MatProductSetFromOptions(c->made));
  PetscCall(MatSetOption(c->made, MAT_FORCE_DIAGONAL_ENTRIES, PETSC_TRUE));
  PetscCall(MatProductSymbolic(c->made));
  PetscCall(MatProductNumeric(c->made));
  PetscCall(MatSetOption(c->made, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_TRUE));
  PetscCall(MatDiagonalSet(c->made, diagonal, INSERT_VALUES));
  PetscCall(ConfSeeMat(c, "a product with a diagonal", c->made));
  PetscCall(VecDestroy(&diagonal));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MATHYPRE makes the result a MATAIJ, which is of our type with -mat_seqaij_type */
static PetscErrorCode WithHypre(Conf *c)
{
#if defined(PETSC_HAVE_HYPRE)
  char name[CONF_TYPE_MAX];
  Mat  P, C;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(c->A, MATHYPRE, MAT_INITIAL_MATRIX, &P));
  PetscCall(ConfName(c, MATSEQAIJ, name));
  if (ConfIsOurs(c->format)) PetscCall(PetscOptionsSetValue(NULL, "-mat_seqaij_type", name));
  PetscCall(MatPtAP(c->A, P, MAT_INITIAL_MATRIX, 2.0, &C));
  PetscCall(ConfSeeRows(c, "P^T A P with hypre", C));
  PetscCall(MatScale(c->A, 2));
  PetscCall(MatPtAP(c->A, P, MAT_REUSE_MATRIX, 2.0, &C));
  PetscCall(ConfSeeRows(c, "P^T 2A P with hypre", C));
  PetscCall(PetscOptionsClearValue(NULL, "-mat_seqaij_type"));
  PetscCall(TestDestroyMats(&P, &C));
#else
  PetscFunctionBeginUser;
  PetscCall(ConfSeeText(c, "PETSc", "without hypre"));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A Galerkin product with several unknowns per node: the interpolation of one unknown is used for all of them */
static PetscErrorCode PtAPOfBlocks(Conf *c)
{
  const PetscInt unknowns = 2 + OpBelow(c, 2);
  OpShape        s;
  Mat            P, Q;
  char           type[CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  PetscCall(OpDrawType(c, type, NULL));
  PetscCall(OpShapeOf(c->A, &s));
  if (s.block_size % unknowns) PetscFunctionReturn(PETSC_SUCCESS);
  s.M /= unknowns;
  s.m /= unknowns;
  s.N          = 1 + OpBelow(c, 6);
  s.n          = OpSplit(c, s.N, 1);
  s.block_size = 1;
  PetscCall(OpCreate(c, &s, type, &P));
  PetscCall(MatScale(P, 0.125));
  PetscCall(MatCreateMAIJ(P, unknowns, &Q));
  PetscCall(Twice(c, "P^T A P with MATMAIJ", MatPtAP, Q, PETSC_FALSE));
  PetscCall(TestDestroyMats(&P, &Q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

enum { PLAIN_SQUARE = OP_SQUARE | OP_NONEMPTY };

const ConfOperation op_products[] = {
    {"mat_mat", TimesNarrow, OP_NONEMPTY, .ways = 3, .how = AB},
    {"transpose_mat", TimesNarrow, OP_NONEMPTY, .ways = 3, .how = ATB},
    {"mat_transposed", TimesNarrow, OP_NONEMPTY | OP_SEQUENTIAL, .ways = 1, .how = ABT},
    {"ptap", TimesNarrow, PLAIN_SQUARE, .ways = 3, .how = PTAP},
    {"rart", TimesNarrow, PLAIN_SQUARE, .ways = 3, .how = RART},
    {"mat_dense", TimesNarrow, OP_READS | OP_NONEMPTY, .ways = 1, .how = AB, .to = MATDENSE},
    {"transpose_dense", TimesNarrow, OP_NONEMPTY, .ways = 1, .how = ATB, .to = MATDENSE},
    {"mat_dense_transposed", TimesNarrow, OP_SPEC | OP_NONEMPTY | OP_SEQUENTIAL, .ways = 1, .how = ABT, .to = MATDENSE},
    {"left_mat", NarrowTimes, OP_SPEC | OP_NONEMPTY, .ways = 3},
    {"left_dense", NarrowTimes, OP_SPEC | OP_NONEMPTY | OP_SEQUENTIAL, .ways = 1, .to = MATDENSE},
    {"three_factors", ThreeFactors, OP_RARE | OP_NONEMPTY | OP_RANDOM_ONLY, .ways = 1},
    {"around_transpose", AroundTranspose, OP_SPEC | OP_NONEMPTY | OP_HEAVY, .ways = 1},
    {"around_dense", AroundTranspose, OP_SPEC | OP_NONEMPTY | OP_SEQUENTIAL | OP_HEAVY | OP_DENSE, .ways = 1,
     .to = MATDENSE},
    {"square", Square, OP_READS | OP_MAKES | OP_BECOMES | OP_RENEWS | PLAIN_SQUARE | OP_SMALL, .ways = 1},
    {"transpose_other", TimesOther, OP_READS | OP_MAKES | OP_NONEMPTY | OP_SMALL, .how = ATB},
    {"other_transpose", TimesOther, OP_MAKES | OP_NONEMPTY | OP_SEQUENTIAL | OP_SMALL, .how = ABT},
    {"triple", TimesOther, OP_READS | OP_MAKES | PLAIN_SQUARE | OP_SMALL, .how = PTAP},
    {"triple_transposed", TimesOther, OP_SPEC | OP_MAKES | PLAIN_SQUARE | OP_SEQUENTIAL | OP_SMALL, .how = RART},
    {"ptap_maij", PtAPOfBlocks, PLAIN_SQUARE, .ways = 1},
    {"product_diagonal", ForcedDiagonal, OP_SPEC | PLAIN_SQUARE, .ways = 2},
    {"product_hypre", WithHypre, OP_SPEC | PLAIN_SQUARE | OP_HEAVY, .ways = 1},
    {.name = NULL}};
