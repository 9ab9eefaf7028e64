/*
  mat_fresh.c - functions of PETSc that read a matrix made on the GPU, as the first call that anybody makes with it: its
  arrays are on the GPU, and the parent type has not assembled it. Each function is also called with the matrix of type
  aij, and must give the same numbers. On the emulated GPU the test counts which functions bring arrays to the host.

    mat_fresh [-type aijrbp] -mat_aijfmt_device gpu

  The exit status is 77 if there is no GPU, or it shares no memory with the host.
*/
static const char help[] = "Reads matrices that the GPU has just made.\n\n";

#include <petscksp.h>
#include <petscpack.h>
#include <spmv_kernels.h>
#include "cases.h"
#include "petsc_test.h"
#include "rounded_solve.h"
#ifdef SPMV_EMULATED
  #include <spmv_emulator.h>
#endif

enum { ROWS = 40, LONGEST = 4, MOST = 4 * ROWS, NO_SHARED_MEMORY = 77, OURS = 0, PLAIN = 1, TWINS = 2 };

/* Numbers that a function of PETSc has read in a matrix */
typedef struct {
  PetscScalar number[MOST];
  int         count;
} Numbers;

static PetscInt failed;
static char     type[64] = "aijrbp";

static void Check(PetscBool holds, const char name[], const char what[])
{
  if (holds) return;
  failed++;
  (void)PetscPrintf(PETSC_COMM_SELF, "FAILED %s: %s\n", name, what);
}

static void Add(Numbers *to, PetscScalar number)
{
  if (to->count < MOST) to->number[to->count++] = number;
}

static PetscErrorCode AddVector(Numbers *to, Vec v)
{
  const PetscScalar *entry;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayRead(v, &entry));
  for (PetscInt i = 0; i < n; i++) Add(to, entry[i]);
  PetscCall(VecRestoreArrayRead(v, &entry));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The product with a vector stands for the whole matrix, which is then destroyed */
static PetscErrorCode AddMatrix(Numbers *to, Mat *A)
{
  Vec          x, y;
  PetscScalar *entry;
  PetscInt     n;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(*A, &x, &y));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArray(x, &entry));
  for (PetscInt i = 0; i < n; i++) entry[i] = 1 + i % 7;
  PetscCall(VecRestoreArray(x, &entry));
  PetscCall(MatMult(*A, x, y));
  PetscCall(AddVector(to, y));
  PetscCall(TestDestroyVecs(&x, &y));
  PetscCall(MatDestroy(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two rows have the same columns, so that PETSc finds inodes */
static PetscErrorCode Assemble(MatType of, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(TestCreate(PETSC_COMM_SELF, of, ROWS, ROWS, ROWS, ROWS, 1, 2 * LONGEST + 2, A));
  for (PetscInt row = 0; row < ROWS; row++) {
    const PetscInt pair = row - row % 2;

    for (PetscInt k = 0; k < 2 * LONGEST; k++) {
      const uint64_t random = gen_hash((uint64_t)pair, (uint64_t)(k / 2));
      const PetscInt col    = (PetscInt)(random % (ROWS / 2)) * 2 + k % 2;

      PetscCall(MatSetValue(*A, row, col, (PetscScalar)(1 + (random + (uint64_t)row) % 4), INSERT_VALUES));
    }
    PetscCall(MatSetValue(*A, row, pair + 1 - row % 2, 1, INSERT_VALUES));
    PetscCall(MatSetValue(*A, row, row, 64, INSERT_VALUES));
  }
  PetscCall(TestAssemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A product of matrices, which the GPU makes if its factors are ours */
static PetscErrorCode Make(MatType of, Mat *C)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(Assemble(of, &A));
  PetscCall(MatMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- calls that leave the arrays where they are ---- */

static PetscErrorCode Nothing(PETSC_UNUSED Mat A, PETSC_UNUSED Numbers *n) { return PETSC_SUCCESS; }

static PetscErrorCode Info(Mat A, Numbers *n)
{
  MatInfo   info;
  PetscBool plain;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &plain, MATSEQAIJ, MATSEQAIJCUSPARSE, ""));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  Add(n, info.nz_used);
  Add(n, info.nz_allocated);
  Add(n, info.nz_unneeded);
  /* PETSc says 0 */
  Check(plain || info.memory >= info.nz_used * (double)sizeof(PetscInt) ? PETSC_TRUE : PETSC_FALSE, "MatGetInfo()",
        "the memory of the arrays is not in it");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Diagonal(Mat A, Numbers *n)
{
  Vec d;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &d, NULL));
  PetscCall(MatGetDiagonal(A, d));
  PetscCall(AddVector(n, d));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Product(Mat A, Numbers *n)
{
  PetscFunctionBeginUser;
  PetscCall(PetscObjectReference((PetscObject)A));
  PetscCall(AddMatrix(n, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowLengths(Mat A, Numbers *n)
{
  const PetscInt *row_ptr, *col;
  PetscInt        rows;
  PetscBool       done;

  PetscFunctionBeginUser;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &row_ptr, &col, &done));
  for (PetscInt i = 0; i < rows; i++) Add(n, row_ptr[i + 1]);
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &row_ptr, &col, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- calls that read them ---- */

static PetscErrorCode Array(Mat A, Numbers *n)
{
  const PetscScalar *value;

  PetscFunctionBeginUser;
  PetscCall(MatSeqAIJGetArrayRead(A, &value));
  for (int k = 0; k < ROWS; k++) Add(n, value[k]);
  PetscCall(MatSeqAIJRestoreArrayRead(A, &value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Row(Mat A, Numbers *n)
{
  const PetscScalar *value;
  const PetscInt    *col;
  PetscInt           length;

  PetscFunctionBeginUser;
  PetscCall(MatGetRow(A, 7, &length, &col, &value));
  for (PetscInt k = 0; k < length; k++) {
    Add(n, col[k]);
    Add(n, value[k]);
  }
  PetscCall(MatRestoreRow(A, 7, &length, &col, &value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Values(Mat A, Numbers *n)
{
  const PetscInt rows[] = {3, 4, 39}, cols[] = {0, 3, 4, 38, 39};
  PetscScalar    value[15];

  PetscFunctionBeginUser;
  PetscCall(MatGetValues(A, 3, rows, 5, cols, value));
  for (int k = 0; k < 15; k++) Add(n, value[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Norms(Mat A, Numbers *n)
{
  const NormType types[] = {NORM_1, NORM_INFINITY, NORM_FROBENIUS};
  PetscReal      norm;

  PetscFunctionBeginUser;
  for (int k = 0; k < 3; k++) {
    PetscCall(MatNorm(A, types[k], &norm));
    Add(n, norm);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TransposedProduct(Mat A, Numbers *n)
{
  Mat T;

  PetscFunctionBeginUser;
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &T));
  PetscCall(AddMatrix(n, &T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Symmetric(Mat A, Numbers *n)
{
  PetscBool is;

  PetscFunctionBeginUser;
  PetscCall(MatIsSymmetric(A, 0, &is));
  Add(n, is ? 1 : 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Duplicate(Mat A, Numbers *n)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(AddMatrix(n, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Convert(Mat A, MatType to, Numbers *n)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, to, MAT_INITIAL_MATRIX, &B));
  PetscCall(AddMatrix(n, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Plain(Mat A, Numbers *n) { return Convert(A, MATSEQAIJ, n); }
static PetscErrorCode Dense(Mat A, Numbers *n) { return Convert(A, MATSEQDENSE, n); }
static PetscErrorCode Blocks(Mat A, Numbers *n) { return Convert(A, MATSEQBAIJ, n); }
static PetscErrorCode Permuted(Mat A, Numbers *n) { return Convert(A, MATSEQAIJPERM, n); }

static PetscErrorCode InPlace(Mat A, Numbers *n)
{
  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATSEQAIJ, MAT_INPLACE_MATRIX, &A));
  PetscCall(Product(A, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SubMatrix(Mat A, Numbers *n)
{
  Mat B;
  IS  some;

  PetscFunctionBeginUser;
  PetscCall(ISCreateStride(PETSC_COMM_SELF, ROWS / 2, 1, 2, &some));
  PetscCall(MatCreateSubMatrix(A, some, some, MAT_INITIAL_MATRIX, &B));
  PetscCall(ISDestroy(&some));
  PetscCall(AddMatrix(n, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Overlap(Mat A, Numbers *n)
{
  IS              some;
  const PetscInt *index;
  PetscInt        size;

  PetscFunctionBeginUser;
  PetscCall(ISCreateStride(PETSC_COMM_SELF, 2, 1, 2, &some));
  PetscCall(MatIncreaseOverlap(A, 1, &some, 1));
  PetscCall(ISSort(some));
  PetscCall(ISGetLocalSize(some, &size));
  PetscCall(ISGetIndices(some, &index));
  for (PetscInt k = 0; k < size; k++) Add(n, index[k]);
  PetscCall(ISRestoreIndices(some, &index));
  PetscCall(ISDestroy(&some));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Text(Mat A, Numbers *n)
{
  char        text[TEST_VIEW];
  const char *rows;

  PetscFunctionBeginUser;
  PetscCall(TestView((PetscObject)A, PETSC_VIEWER_DEFAULT, text));
  rows = strstr(text, "row 0");
  for (int k = 0; rows && rows[k]; k++) Add(n, rows[k]);
  Check(rows ? PETSC_TRUE : PETSC_FALSE, "MatView()", "no rows");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Sum(Mat A, Numbers *n)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(Assemble(MATAIJ, &B));
  PetscCall(MatAXPY(B, 2, A, DIFFERENT_NONZERO_PATTERN));
  PetscCall(AddMatrix(n, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Equal(Mat A, Numbers *n)
{
  Mat       B;
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(Make(MATAIJ, &B));
  PetscCall(MatEqual(B, A, &same));
  Add(n, same ? 1 : 0);
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TimesDense(Mat A, Numbers *n)
{
  Mat B, C;

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, ROWS, 3, NULL, &B));
  for (PetscInt i = 0; i < ROWS; i++)
    for (PetscInt j = 0; j < 3; j++) PetscCall(MatSetValue(B, i, j, i % 5 + j, INSERT_VALUES));
  PetscCall(TestAssemble(B));
  PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatDestroy(&B));
  PetscCall(AddMatrix(n, &C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TimesPlain(Mat A, Numbers *n)
{
  Mat B, C;

  PetscFunctionBeginUser;
  PetscCall(Assemble(MATAIJ, &B));
  PetscCall(MatPtAP(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(AddMatrix(n, &C));
  PetscCall(MatMatTransposeMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(AddMatrix(n, &C));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Mat A, PCType factor, Numbers *n)
{
  Vec x;

  PetscFunctionBeginUser;
  PetscCall(RoundedSolve(A, factor, &x));
  PetscCall(AddVector(n, x));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatSOR(), which relaxes the two rows of an inode together */
static PetscErrorCode Relax(Mat A, Numbers *n) { return Solve(A, PCSOR, n); }

static PetscErrorCode LU(Mat A, Numbers *n) { return Solve(A, PCLU, n); }
static PetscErrorCode ILU(Mat A, Numbers *n) { return Solve(A, PCILU, n); }
static PetscErrorCode PointBlocks(Mat A, Numbers *n) { return Solve(A, PCPBJACOBI, n); }

static PetscErrorCode Order(Mat A, Numbers *n)
{
  const PetscInt *index;
  IS              rows, cols;

  PetscFunctionBeginUser;
  PetscCall(MatGetOrdering(A, MATORDERINGRCM, &rows, &cols));
  PetscCall(ISGetIndices(rows, &index));
  for (PetscInt k = 0; k < ROWS; k++) Add(n, index[k]);
  PetscCall(ISRestoreIndices(rows, &index));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InodeSizes(Mat A, Numbers *n)
{
  PetscInt count, *size, limit;

  PetscFunctionBeginUser;
  PetscCall(MatInodeGetInodeSizes(A, &count, &size, &limit));
  Add(n, count);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Stored(Mat A, Numbers *n)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
  PetscCall(MatStoreValues(A));
  PetscCall(MatScale(A, 3));
  PetscCall(MatRetrieveValues(A));
  PetscCall(Product(A, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Inserted(Mat A, Numbers *n)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt col = 0; col < ROWS; col++) PetscCall(MatSetValue(A, 5, col, 1, INSERT_VALUES));
  PetscCall(TestAssemble(A));
  PetscCall(Product(A, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ZeroRows(Mat A, Numbers *n)
{
  const PetscInt rows[] = {0, 3, 17};

  PetscFunctionBeginUser;
  PetscCall(MatZeroRows(A, 3, rows, 2, NULL, NULL));
  PetscCall(Product(A, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef enum { STAYS, MOVES } Arrays;

static const struct {
  const char *name;
  PetscErrorCode (*read)(Mat, Numbers *);
  Arrays arrays; /* whether they move to the host */
} reads[] = {
    {"MatDestroy()", Nothing, STAYS},
    {"MatGetInfo()", Info, STAYS},
    {"MatGetDiagonal()", Diagonal, STAYS},
    {"MatMult()", Product, STAYS},
    {"the row pointers", RowLengths, STAYS},
    {"MatTranspose()", TransposedProduct, STAYS},
    {"MatSeqAIJGetArrayRead()", Array, MOVES},
    {"MatGetRow()", Row, MOVES},
    {"MatGetValues()", Values, MOVES},
    {"MatNorm()", Norms, MOVES},
    {"MatIsSymmetric()", Symmetric, MOVES},
    {"MatDuplicate()", Duplicate, MOVES},
    {"MatConvert() to seqaij", Plain, MOVES},
    {"MatConvert() to seqdense", Dense, MOVES},
    {"MatConvert() to seqbaij", Blocks, MOVES},
    {"MatConvert() to seqaijperm", Permuted, MOVES},
    {"MatConvert() in place", InPlace, MOVES},
    {"MatCreateSubMatrix()", SubMatrix, MOVES},
    {"MatIncreaseOverlap()", Overlap, MOVES},
    {"MatView()", Text, MOVES},
    {"MatAXPY()", Sum, MOVES},
    {"MatEqual()", Equal, MOVES},
    {"MatMatMult() with a dense matrix", TimesDense, MOVES},
    {"products with a matrix of type aij", TimesPlain, MOVES},
    {"MatSOR()", Relax, MOVES},
    {"LU", LU, MOVES},
    {"ILU", ILU, MOVES},
    {"blocks of the diagonal", PointBlocks, MOVES},
    {"MatGetOrdering()", Order, MOVES},
    {"MatInodeGetInodeSizes()", InodeSizes, MOVES},
    {"MatStoreValues()", Stored, MOVES},
    {"new nonzeros", Inserted, MOVES},
    {"MatZeroRows()", ZeroRows, MOVES},
};

static PetscErrorCode Compare(size_t k)
{
  const char *name = reads[k].name;
  Numbers     numbers[TWINS];
  PetscBool   same;
  Mat         A;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(numbers, sizeof numbers));
  for (int m = TWINS - 1; m >= 0; m--) { /* ours last, so that what moves is counted for it alone */
#ifdef SPMV_EMULATED
    (void)spmv_emulator_moved();
#endif
    PetscCall(Make(m == OURS ? type : MATAIJ, &A));
#ifdef SPMV_EMULATED
    Check(spmv_emulator_moved() == 0, name, "making the matrix brought arrays to the host");
#endif
    PetscCall(reads[k].read(A, &numbers[m]));
    PetscCall(MatDestroy(&A));
  }
#ifdef SPMV_EMULATED
  {
    const long moved = spmv_emulator_moved();

    Check(reads[k].arrays == MOVES ? moved > 0 : moved == 0, name,
          moved ? "it brought arrays to the host" : "it read no array of the host");
    Check(reads[k].read != Array || moved == 1, name, "the arrays moved more than once");
  }
#endif
  PetscCall(PetscMemcmp(&numbers[OURS], &numbers[PLAIN], sizeof numbers[OURS], &same));
  Check(same, name, "other numbers");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first relaxation has the parent look for inodes, and the view says so */
static PetscErrorCode Views(void)
{
  char    text[TEST_VIEW];
  Numbers n = {.count = 0};
  Mat     A;

  PetscFunctionBeginUser;
  PetscCall(Make(type, &A));
  PetscCall(TestView((PetscObject)A, PETSC_VIEWER_ASCII_INFO, text));
  Check(strstr(text, "for the inodes of") ? PETSC_FALSE : PETSC_TRUE, "MatView()", "inodes before a read");
  PetscCall(Relax(A, &n));
  PetscCall(TestView((PetscObject)A, PETSC_VIEWER_ASCII_INFO, text));
  Check(strstr(text, "for the inodes of: MatSOR()") ? PETSC_TRUE : PETSC_FALSE, "MatView()", "no word about inodes");
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HasSharedMemory(PetscBool *has)
{
  const PetscInt *row_ptr, *col;
  PetscInt        rows;
  PetscBool       done;
  Mat             A;

  PetscFunctionBeginUser;
  PetscCall(Make(type, &A));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &row_ptr, &col, &done));
  *has = spmv_shared_holds(col) ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &row_ptr, &col, &done));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool has = PETSC_FALSE; /* gcc does not see that it is set whenever the call succeeds */

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof type, NULL));
  spmv_shared_least(0);
  /* PETSc's types with CUDA, on which ours are based there, have no inodes */
  if (PetscDefined(HAVE_CUDA)) PetscCall(PetscOptionsSetValue(NULL, "-mat_no_inode", NULL));
  PetscCall(HasSharedMemory(&has));
  for (size_t k = 0; has && k < sizeof reads / sizeof *reads; k++) PetscCall(Compare(k));
  if (has) PetscCall(Views());
  if (!has) PetscCall(PetscPrintf(PETSC_COMM_SELF, "no GPU that shares memory with the host\n"));
  else PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s\n", failed ? "FAILED" : "passed"));
  PetscCall(PetscFinalize());
  return failed ? 1 : has ? 0 : NO_SHARED_MEMORY;
}
