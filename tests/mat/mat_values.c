/*
  mat_values.c - operations on the values of a matrix whose packed arrays lie on a GPU, against the same with plain AIJ,
  and where the values are afterwards

    mat_values -format rbp [-side 12] [-little_memory]

  Each operation runs with the values on the host and where they go by themselves (-mat_aijfmt_values). Every sequence
  ends with a change that a plan out of date would show. The status is 77 where there is no GPU. With -little_memory the
  numbers alone count, not where they lie: a GPU that is full leaves them to the host.
*/
static const char help[] = "Compares changes of values and products of matrices on a GPU with plain AIJ.\n";

#include "mat_values.h"
#include <spmv_kernels.h>

enum { NO_DEVICE = 77 };

PetscInt           values_side = 12;
static PetscBool   little_memory;
static PetscBool   good = PETSC_TRUE;
static const char *place, *operation;

static PetscErrorCode Require(PetscBool yes, const char what[])
{
  PetscFunctionBeginUser;
  if (!yes) {
    good = PETSC_FALSE;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAILED: %s with values on %s: %s\n", operation, place, what));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of a 27-point stencil, of which every seventh lacks its diagonal entry if that is wanted */
static PetscErrorCode Assemble(MatType type, PetscBool full, PetscReal scale, Mat *A)
{
  const GenSpec spec = gen_stencil(27, values_side, values_side, values_side);
  int64_t       wide[27];
  PetscInt      col[27];
  PetscScalar   value[27];

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, (PetscInt)spec.rows, (PetscInt)spec.cols, (PetscInt)spec.rows, (PetscInt)spec.cols));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 27, NULL));
  for (PetscInt i = 0; i < (PetscInt)spec.rows; i++) {
    const int64_t count = spec.row(&spec, i, wide);
    PetscInt      n     = 0;

    for (int64_t k = 0; k < count; k++) {
      if (!full && i % 7 == 3 && wide[k] == i) continue;
      col[n]     = (PetscInt)wide[k];
      value[n++] = wide[k] == i ? 30 * scale : -scale / (PetscReal)(1 + (i + k) % 7);
    }
    PetscCall(MatSetValues(*A, 1, &i, n, col, value, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Groups of eight rows to one column, and every fifth row to the next one too */
static PetscErrorCode AssembleP(MatType type, Mat *P)
{
  const PetscInt rows = values_side * values_side * values_side, cols = (rows + 7) / 8;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, P));
  PetscCall(MatSetSizes(*P, rows, cols, rows, cols));
  PetscCall(MatSetType(*P, type));
  PetscCall(MatSeqAIJSetPreallocation(*P, 2, NULL));
  for (PetscInt i = 0; i < rows; i++) {
    PetscCall(MatSetValue(*P, i, i / 8, 1 + 0.125 * (PetscReal)(i % 3), INSERT_VALUES));
    if (i % 5 == 0 && i / 8 + 1 < cols) PetscCall(MatSetValue(*P, i, i / 8 + 1, 0.5, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*P, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest difference of two vectors with different types, relative to the largest entry of the second */
static PetscErrorCode Difference(Vec a, Vec b, PetscReal *difference)
{
  const PetscScalar *x, *y;
  PetscReal          largest = 0;
  PetscInt           n;

  PetscFunctionBeginUser;
  *difference = 0;
  PetscCall(VecGetLocalSize(b, &n));
  PetscCall(VecGetArrayRead(a, &x));
  PetscCall(VecGetArrayRead(b, &y));
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal d = PetscAbsScalar(x[i] - y[i]);

    if (PetscIsInfOrNanScalar(y[i])) {
      if (PetscIsNanScalar(y[i]) ? !PetscIsNanScalar(x[i]) : x[i] != y[i]) *difference = PETSC_MAX_REAL;
      continue;
    }
    if (!(d <= *difference)) *difference = d;
    largest = PetscMax(largest, PetscAbsScalar(y[i]));
  }
  PetscCall(VecRestoreArrayRead(b, &y));
  PetscCall(VecRestoreArrayRead(a, &x));
  if (largest > 0) *difference /= largest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares products of A, transposed ones too, its diagonal and then its values with those of the twin. With exact, the
   values must have the same bits. */
static PetscErrorCode Compare(Mat A, Mat twin, PetscBool exact)
{
  const PetscReal bound = 200 * PETSC_MACHINE_EPSILON;
  Vec             x, y, u, v;
  Mat             plain;
  PetscBool       equal;
  PetscReal       difference;
  PetscInt        rows, cols;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &rows, &cols));
  for (int t = 0; t < 2; t++) {
    const PetscInt n = t ? rows : cols, m = t ? cols : rows;

    PetscCall(ValuesVector(n, 1, A, &x));
    PetscCall(ValuesVector(m, 1, A, &y));
    PetscCall(ValuesVector(n, 1, twin, &u));
    PetscCall(ValuesVector(m, 1, twin, &v));
    PetscCall((t ? MatMultTranspose : MatMult)(A, x, y));
    PetscCall((t ? MatMultTranspose : MatMult)(twin, u, v));
    PetscCall(Difference(y, v, &difference));
    PetscCall(Require(difference <= bound, t ? "transposed product" : "product"));
    if (n == m) {
      PetscCall(MatGetDiagonal(A, y));
      PetscCall(MatGetDiagonal(twin, v));
      PetscCall(Difference(y, v, &difference));
      PetscCall(Require(difference <= bound, "diagonal"));
    }
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(VecDestroy(&u));
    PetscCall(VecDestroy(&v));
  }
  if (!exact) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatConvert(A, MATSEQAIJ, MAT_INITIAL_MATRIX, &plain));
  PetscCall(MatEqual(plain, twin, &equal));
  PetscCall(Require(equal, "values"));
  PetscCall(MatDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A change on the host, which has to come through whatever was done before */
static PetscErrorCode ChangeOnHost(Mat A, Mat twin)
{
  Mat both[] = {A, twin};

  PetscFunctionBeginUser;
  for (int m = 0; m < 2; m++) {
    PetscCall(MatSetValue(both[m], 0, 0, 77, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(both[m], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(both[m], MAT_FINAL_ASSEMBLY));
  }
  PetscCall(Compare(A, twin, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A requirement on where values lie */
static PetscErrorCode RequirePlace(PetscBool yes, const char what[])
{
  PetscFunctionBeginUser;
  PetscCall(Require(yes || little_memory ? PETSC_TRUE : PETSC_FALSE, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetPlace(Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(MatAIJFmtSetOption(A, "values", place));
  PetscCall(MatAIJFmtSetOption(A, "device", "gpu"));
  PetscCall(MatAIJFmtSetOption(A, "products", "gpu"));
  PetscCall(MatAIJFmtSetOption(A, "decline", "false"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunOperation(MatType type, int o)
{
  Mat           A, twin, other[2];
  MatAIJFmtInfo before, after;

  PetscFunctionBeginUser;
  operation = values_operations[o].name;
  PetscCall(Assemble(type, values_operations[o].full, 1, &A));
  PetscCall(Assemble(type, values_operations[o].other_full, 1.5, &other[0]));
  PetscCall(Assemble(MATSEQAIJ, values_operations[o].full, 1, &twin));
  PetscCall(Assemble(MATSEQAIJ, values_operations[o].other_full, 1.5, &other[1]));
  PetscCall(SetPlace(A));
  PetscCall(SetPlace(other[0]));
  PetscCall(Compare(A, twin, PETSC_TRUE));
  PetscCall(MatAIJFmtGetInfo(A, &before));
  PetscCall(RequirePlace(before.device_csr_bytes == 0 || before.own_bytes == 0 || place[0] == 'g',
                         "products and diagonals made a CSR on the device"));
  PetscCall(values_operations[o].run(A, other[0]));
  PetscCall(values_operations[o].run(twin, other[1]));
  PetscCall(MatAIJFmtGetInfo(A, &after));
  if (PetscDefined(HAVE_CUDA) && (place[0] == 'g' || (place[0] == 'a' && before.own_bytes > 0)) &&
      values_operations[o].run == ValuesScale)
    PetscCall(RequirePlace(after.blocks_values_on_gpu == 1 && after.device_csr_bytes >= after.csr_bytes,
                           "the values are not on the GPU"));
  PetscCall(Compare(A, twin, values_operations[o].exact));
  PetscCall(MatAIJFmtGetInfo(A, &after));
  if (place[0] == 'h') {
    PetscCall(RequirePlace(after.device_csr_bytes == 0 || after.own_bytes == 0, "there is a CSR on the device"));
    if (values_operations[o].run == ValuesScale && after.own_bytes > 0)
      PetscCall(RequirePlace(after.refreshes == before.refreshes, "the values were uploaded"));
  }
  if (values_operations[o].exact) PetscCall(ChangeOnHost(A, twin));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&twin));
  for (int m = 0; m < 2; m++) PetscCall(MatDestroy(&other[m]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- products of matrices ---- */

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

/* The pattern of a product is that of the host; zeros that the host's parent keeps count */
static PetscErrorCode ComparePattern(Mat C, Mat twin)
{
  MatInfo a, b;

  PetscFunctionBeginUser;
  PetscCall(MatGetInfo(C, MAT_LOCAL, &a));
  PetscCall(MatGetInfo(twin, MAT_LOCAL, &b));
  PetscCall(Require(a.nz_used == b.nz_used, "number of nonzeros"));
  PetscCall(Compare(C, twin, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunProduct(MatType type, int p)
{
  Mat           A[2], P[2], C[2];
  MatAIJFmtInfo info;

  PetscFunctionBeginUser;
  operation = products[p].name;
  for (int m = 0; m < 2; m++) {
    PetscCall(Assemble(m ? MATSEQAIJ : type, PETSC_TRUE, 1, &A[m]));
    PetscCall(AssembleP(m ? MATSEQAIJ : type, &P[m]));
    if (m == 0) {
      PetscCall(SetPlace(A[m]));
      PetscCall(SetPlace(P[m]));
    }
    PetscCall(Multiply(p, A[m], P[m], &C[m]));
  }
  PetscCall(MatAIJFmtGetInfo(C[0], &info));
  if (PetscDefined(HAVE_CUDA)) PetscCall(RequirePlace(info.blocks_values_on_gpu == 1, "the product is not on the GPU"));
  PetscCall(ComparePattern(C[0], C[1]));
  for (int m = 0; m < 2; m++) { /* new values: scaled where they are, with a product in between that packs them */
    PetscCall(MatScale(A[m], 3));
    PetscCall(MatShift(A[m], 0.25));
    PetscCall(MatProductNumeric(C[m]));
  }
  PetscCall(ComparePattern(C[0], C[1]));
  for (int m = 0; m < 2; m++) {
    PetscCall(MatSetValue(P[m], 2, 0, 11, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(P[m], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(P[m], MAT_FINAL_ASSEMBLY));
    if (!products[p].transposed) PetscCall(MatProductNumeric(C[m]));
    PetscCall(MatProductClear(C[m]));
    PetscCall(MatScale(C[m], 2));
  }
  PetscCall(ComparePattern(C[0], C[1]));
  for (int m = 0; m < 2; m++) {
    PetscCall(MatDestroy(&C[m]));
    PetscCall(MatDestroy(&P[m]));
    PetscCall(MatDestroy(&A[m]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Matrices without rows, columns or nonzeros */
static PetscErrorCode RunEmpty(MatType type)
{
  static const PetscInt shape[][3] = {{0, 0, 0}, {3, 0, 2}, {0, 4, 1}, {5, 4, 0}};

  PetscFunctionBeginUser;
  operation = "empty";
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(shape); s++) {
    Mat      A, B, C;
    PetscInt rows, cols;

    PetscCall(MatCreate(PETSC_COMM_SELF, &A));
    PetscCall(MatCreate(PETSC_COMM_SELF, &B));
    PetscCall(MatSetSizes(A, shape[s][0], shape[s][1], shape[s][0], shape[s][1]));
    PetscCall(MatSetSizes(B, shape[s][1], shape[s][2], shape[s][1], shape[s][2]));
    for (int m = 0; m < 2; m++) {
      Mat M = m ? B : A;
      PetscCall(MatSetType(M, type));
      PetscCall(SetPlace(M));
      PetscCall(MatSetUp(M));
      PetscCall(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
    }
    PetscCall(MatScale(A, 2));
    PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatMatMult(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatGetSize(C, &rows, &cols));
    PetscCall(Require(rows == shape[s][0] && cols == shape[s][2], "size of the product"));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&C));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const char *const places[]              = {"host", "auto", "gpu"};
  char                     format[CONF_TYPE_MAX] = "rbp", type[CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-side", &values_side, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-format", format, sizeof format, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-little_memory", &little_memory, NULL));
  PetscCall(PetscSNPrintf(type, sizeof type, "seqaij%s", format));
  if (spmv_device_count(NULL) == 0) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "no GPU\n"));
    PetscCall(PetscFinalize());
    return NO_DEVICE;
  }
  for (size_t v = 0; v < PETSC_STATIC_ARRAY_LENGTH(places); v++) {
    place = places[v];
    for (int o = 0; values_operations[o].name; o++) PetscCall(RunOperation(type, o));
    for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(products); p++) PetscCall(RunProduct(type, (int)p));
    PetscCall(RunEmpty(type));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: values of %s\n", good ? "passed" : "FAILED", type));
  PetscCall(PetscFinalize());
  return good ? 0 : 1;
}
