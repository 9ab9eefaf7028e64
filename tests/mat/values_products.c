/* values_products.c - products of matrices on a GPU compared with those of plain AIJ, for mat_values.c. */
#include "mat_values.h"

static const struct {
  const char    *name;
  MatProductType type;
  PetscBool      transposed; /* the second factor is P^T */
} products[] = {
    {"A_P", MATPRODUCT_AB, PETSC_FALSE},
    {"At_P", MATPRODUCT_AtB, PETSC_FALSE},
    {"Pt_A_P", MATPRODUCT_PtAP, PETSC_FALSE},
    {"R_A_Rt", MATPRODUCT_RARt, PETSC_TRUE},
};

static PetscErrorCode Multiply(int p, Mat A, Mat P, Mat *C)
{
  Mat second;

  PetscFunctionBeginUser;
  if (products[p].transposed) PetscCall(MatTranspose(P, MAT_INITIAL_MATRIX, &second));
  else {
    PetscCall(PetscObjectReference((PetscObject)P));
    second = P;
  }
  PetscCall(MatProductCreate(A, second, NULL, C));
  PetscCall(MatProductSetType(*C, products[p].type));
  PetscCall(MatProductSetFromOptions(*C));
  PetscCall(MatProductSymbolic(*C));
  PetscCall(MatProductNumeric(*C));
  PetscCall(MatDestroy(&second));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The product must have the host's pattern, including zeros that the host parent keeps */
static PetscErrorCode ComparePattern(Mat C, Mat twin)
{
  MatInfo a, b;

  PetscFunctionBeginUser;
  PetscCall(MatGetInfo(C, MAT_GLOBAL_SUM, &a));
  PetscCall(MatGetInfo(twin, MAT_GLOBAL_SUM, &b));
  PetscCall(ValuesRequire(a.nz_used == b.nz_used, "number of nonzeros"));
  PetscCall(ValuesCompare(C, twin, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Requires that the GPU has made the pattern of the product; if PETSc has CUDA, the values are there too, in the blocks
   that a kernel has written. R A R^T of parallel matrices is the host's. */
static PetscErrorCode RequireOnGpu(int p, Mat A, Mat C)
{
  MatAIJFmtInfo info;

  PetscFunctionBeginUser;
  if (values_test.size > 1 && products[p].transposed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJFmtGetInfo(A, &info));
  PetscCall(ValuesRequirePlace(info.patterns > 0, "the GPU has not made the product's pattern"));
  if (!PetscDefined(HAVE_CUDA)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJFmtGetInfo(C, &info));
  PetscCall(ValuesRequirePlace(info.blocks_values_on_gpu >= 1, "the product is not on the GPU"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int ValuesProductCount(void) { return (int)PETSC_STATIC_ARRAY_LENGTH(products); }

PetscErrorCode ValuesRunProduct(int p)
{
  Mat A[2], P[2], C[2];

  PetscFunctionBeginUser;
  values_test.operation = products[p].name;
  for (int m = 0; m < 2; m++) {
    PetscCall(ValuesAssemble(m ? values_test.plain : values_test.type, PETSC_TRUE, 1, &A[m]));
    PetscCall(ValuesAssembleP(m ? values_test.plain : values_test.type, &P[m]));
    if (m == 0) {
      PetscCall(ValuesSetPlace(A[m]));
      PetscCall(ValuesSetPlace(P[m]));
    }
    PetscCall(Multiply(p, A[m], P[m], &C[m]));
  }
  PetscCall(RequireOnGpu(p, A[0], C[0]));
  PetscCall(ComparePattern(C[0], C[1]));
  for (int m = 0; m < 2; m++) { /* new values: scaled in place, with a product in between that packs them */
    PetscCall(MatScale(A[m], 3));
    PetscCall(MatShift(A[m], 0.25));
    PetscCall(MatProductNumeric(C[m]));
  }
  PetscCall(ComparePattern(C[0], C[1]));
  for (int m = 0; m < 2; m++) { /* an entry in one row, which processes that do not own the row send */
    PetscCall(MatSetValue(P[m], 2, 0, 11, INSERT_VALUES));
    PetscCall(TestAssemble(P[m]));
    if (!products[p].transposed) PetscCall(MatProductNumeric(C[m]));
    PetscCall(MatProductClear(C[m]));
    PetscCall(MatScale(C[m], 2));
  }
  PetscCall(ComparePattern(C[0], C[1]));
  for (int m = 0; m < 2; m++) {
    PetscCall(TestDestroyMats(&C[m], &P[m]));
    PetscCall(MatDestroy(&A[m]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ValuesRunEmpty(void)
{
  static const PetscInt shape[][3] = {{0, 0, 0}, {3, 0, 2}, {0, 4, 1}, {5, 4, 0}};

  PetscFunctionBeginUser;
  values_test.operation = "empty";
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(shape); s++) {
    Mat      A, B, C;
    PetscInt rows, cols;

    PetscCall(MatCreate(values_test.comm, &A));
    PetscCall(MatCreate(values_test.comm, &B));
    PetscCall(ValuesSetSizes(A, shape[s][0], shape[s][1]));
    PetscCall(ValuesSetSizes(B, shape[s][1], shape[s][2]));
    for (int m = 0; m < 2; m++) {
      Mat M = m ? B : A;
      PetscCall(MatSetType(M, values_test.type));
      PetscCall(ValuesSetPlace(M));
      PetscCall(MatSetUp(M));
      PetscCall(TestAssemble(M));
    }
    PetscCall(MatScale(A, 2));
    PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatMatMult(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatGetSize(C, &rows, &cols));
    PetscCall(ValuesRequire(rows == shape[s][0] && cols == shape[s][2], "size of the product"));
    PetscCall(TestDestroyMats(&A, &B));
    PetscCall(MatDestroy(&C));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
