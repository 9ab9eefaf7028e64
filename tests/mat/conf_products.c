/*
  conf_products.c - matrix-matrix products
*/
#include "conf.h"

static PetscErrorCode CreateDense(Conf *c, PetscInt m, PetscInt M, PetscInt n, PetscInt N, uint64_t seed, Mat *D)
{
  PetscScalar *value;
  PetscInt     low, lda;

  PetscFunctionBeginUser;
  PetscCall(MatCreateDense(c->comm, m, n, M, N, NULL, D));
  PetscCall(MatGetOwnershipRange(*D, &low, NULL));
  PetscCall(MatDenseGetLDA(*D, &lda));
  PetscCall(MatDenseGetArrayWrite(*D, &value));
  for (PetscInt j = 0; j < N; j++) {
    for (PetscInt i = 0; i < m; i++)
      value[i + j * lda] = (PetscReal)(gen_hash(seed + (uint64_t)j, (uint64_t)(low + i)) % 5) - 2;
  }
  PetscCall(MatDenseRestoreArrayWrite(*D, &value));
  PetscCall(MatAssemblyBegin(*D, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*D, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef PetscErrorCode (*Product)(Mat, Mat, MatReuse, PetscReal, Mat *);

/* A product, and then the same product with new values of A in the same pattern */
static PetscErrorCode SeeProduct(Conf *c, const char *what, Product product, Mat A, Mat B)
{
  Mat C;

  PetscFunctionBeginUser;
  PetscCall(product(A, B, MAT_INITIAL_MATRIX, 2.0, &C));
  PetscCall(ConfSeeMat(c, what, C));
  PetscCall(MatScale(A, 2));
  PetscCall(product(A, B, MAT_REUSE_MATRIX, 2.0, &C));
  PetscCall(ConfSeeMat(c, what, C));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WithSparse(Conf *c)
{
  Mat A, B, plain;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(ConfCreatePlain(c, &plain));
  PetscCall(SeeProduct(c, "A B", MatMatMult, A, B));
  PetscCall(SeeProduct(c, "A plain", MatMatMult, A, plain));
  PetscCall(SeeProduct(c, "plain A", MatMatMult, plain, A));
  PetscCall(SeeProduct(c, "P^T A P", MatPtAP, A, B));
  if (c->sequential) PetscCall(SeeProduct(c, "R A R^T", MatRARt, A, B));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Also for rectangular matrices. A B^T and R A R^T run on one process only: PETSc has no parallel ones. */
static PetscErrorCode TransposeTimesSparse(Conf *c)
{
  Mat A, B;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(SeeProduct(c, "A^T B", MatTransposeMatMult, A, B));
  if (c->sequential) PetscCall(SeeProduct(c, "A B^T", MatMatTransposeMult, A, B));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WithDense(Conf *c)
{
  Mat A, right, left;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(CreateDense(c, c->n, c->N, PETSC_DECIDE, 4, 5, &right));
  PetscCall(CreateDense(c, c->m, c->M, PETSC_DECIDE, 4, 6, &left));
  PetscCall(SeeProduct(c, "A dense", MatMatMult, A, right));
  PetscCall(SeeProduct(c, "A^T dense", MatTransposeMatMult, A, left));
  PetscCall(MatDestroy(&left));
  PetscCall(MatDestroy(&right));
  if (c->sequential) {
    PetscCall(CreateDense(c, 4, 4, c->N, c->N, 7, &right));
    PetscCall(SeeProduct(c, "A dense^T", MatMatTransposeMult, A, right));
    PetscCall(MatDestroy(&right));
    PetscCall(CreateDense(c, 4, 4, c->M, c->M, 8, &left));
    PetscCall(SeeProduct(c, "dense A", MatMatMult, left, A));
    PetscCall(MatDestroy(&left));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ThreeFactors(Conf *c)
{
  Mat A, B, C;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatMatMatMult(A, B, A, MAT_INITIAL_MATRIX, 2.0, &C));
  PetscCall(ConfSeeMat(c, "A A^T A", C));
  PetscCall(MatScale(B, 2));
  PetscCall(MatMatMatMult(A, B, A, MAT_REUSE_MATRIX, 2.0, &C));
  PetscCall(ConfSeeMat(c, "A 2A^T A", C));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc has no function for these factors, and makes two products of two while all three are in the product */
static PetscErrorCode DenseBetween(Conf *c)
{
  Mat A, B, C;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(CreateDense(c, c->N, c->N, c->M, c->M, 9, &B));
  PetscCall(MatMatMatMult(A, B, A, MAT_INITIAL_MATRIX, 2.0, &C));
  PetscCall(ConfSeeMat(c, "A dense A", C));
  PetscCall(MatScale(A, 2));
  PetscCall(MatMatMatMult(A, B, A, MAT_REUSE_MATRIX, 2.0, &C));
  PetscCall(ConfSeeMat(c, "2A dense 2A", C));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A has nonzeros right of the diagonal only, so A A has no diagonal entry, and A^T A lacks the first */
static PetscErrorCode ForcedDiagonal(Conf *c)
{
  const MatProductType type[] = {MATPRODUCT_AB, MATPRODUCT_AtB};
  char                 name[CONF_TYPE_MAX];
  Mat                  A, C;
  Vec                  diagonal;

  PetscFunctionBeginUser;
  if (c->N < 2) PetscFunctionReturn(PETSC_SUCCESS); /* a parallel product without a nonzero crashes PETSc */
  PetscCall(ConfCreateEmpty(c, &A));
  PetscCall(ConfName(c, c->base, name));
  PetscCall(MatSetType(A, name));
  PetscCall(MatSetUp(A));
  for (PetscInt i = c->row_start; i < c->row_start + c->m && i < c->N - 1; i++)
    PetscCall(MatSetValue(A, i, i + 1, (PetscReal)(1 + i % 5), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(ConfCreateVecs(A, 10, &diagonal, NULL));
  for (int t = 0; t < 2; t++) {
    PetscCall(MatProductCreate(A, A, NULL, &C));
    PetscCall(MatProductSetType(C, type[t]));
    PetscCall(MatProductSetFromOptions(C));
    PetscCall(MatSetOption(C, MAT_FORCE_DIAGONAL_ENTRIES, PETSC_TRUE));
    PetscCall(MatProductSymbolic(C));
    PetscCall(MatProductNumeric(C));
    PetscCall(MatSetOption(C, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_TRUE));
    PetscCall(MatDiagonalSet(C, diagonal, INSERT_VALUES));
    PetscCall(ConfSeeMat(c, t ? "A^T A with a diagonal" : "A A with a diagonal", C));
    PetscCall(MatDestroy(&C));
  }
  PetscCall(VecDestroy(&diagonal));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MATHYPRE makes the result a MATAIJ, which is of our type with -mat_seqaij_type */
static PetscErrorCode WithHypre(Conf *c)
{
#if defined(PETSC_HAVE_HYPRE)
  char name[CONF_TYPE_MAX];
  Mat  A, P, C;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &A));
  PetscCall(MatConvert(A, MATHYPRE, MAT_INITIAL_MATRIX, &P));
  PetscCall(ConfName(c, MATSEQAIJ, name));
  if (ConfIsOurs(c->format)) PetscCall(PetscOptionsSetValue(NULL, "-mat_seqaij_type", name));
  PetscCall(MatPtAP(A, P, MAT_INITIAL_MATRIX, 2.0, &C));
  PetscCall(ConfSeeRows(c, "P^T A P with hypre", C));
  PetscCall(MatScale(A, 2));
  PetscCall(MatPtAP(A, P, MAT_REUSE_MATRIX, 2.0, &C));
  PetscCall(ConfSeeRows(c, "P^T 2A P with hypre", C));
  PetscCall(PetscOptionsClearValue(NULL, "-mat_seqaij_type"));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&P));
  PetscCall(MatDestroy(&C));
#else
  PetscFunctionBeginUser;
  PetscCall(ConfSeeText(c, "PETSc", "without hypre"));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

const ConfOperation conf_products[] = {
    {"product_sparse", WithSparse, CONF_SQUARE | CONF_NONEMPTY | CONF_HEAVY},
    {"product_transpose", TransposeTimesSparse, CONF_NONEMPTY | CONF_HEAVY},
    {"product_dense", WithDense, CONF_NONEMPTY},
    {"product_three", ThreeFactors, CONF_NONEMPTY | CONF_HEAVY},
    {"product_dense_between", DenseBetween, CONF_SEQUENTIAL | CONF_NONEMPTY | CONF_HEAVY | CONF_DENSE},
    {"product_diagonal", ForcedDiagonal, CONF_SQUARE | CONF_NONEMPTY},
    {"product_hypre", WithHypre, CONF_SQUARE | CONF_NONEMPTY | CONF_HEAVY},
    {NULL, NULL, 0}};
