/*
  mat_shared.c - matrices that the GPU makes keep their arrays in memory that the host shares: they stay on the GPU until
  the host reads them. A matrix of ours and one of type aij are made alike; the host reads and writes both in many ways,
  and they must stay equal.

    mat_shared [-type aijrbp] [-scratch mat_shared.bin] -mat_aijfmt_device gpu

  The exit status is 77 if there is no GPU, or it has no such memory.
*/
static const char help[] = "Compares matrices in memory that host and GPU share with those of type aij.\n\n";

#include <petscksp.h>
#include <petscpack.h>
#include <spmv_kernels.h>
#include "cases.h"
#include "petsc_test.h"
#include "rounded_solve.h"
#ifdef SPMV_EMULATED
  #include <spmv_emulator.h>
#endif

enum { ROWS = 40, LONGEST = 4, NO_SHARED_MEMORY = 77, OURS = 0, PLAIN = 1, TWINS = 2 };

static PetscInt failed;
static char     type[64] = "aijrbp", scratch[256] = "mat_shared.bin";

static void Check(PetscBool holds, const char name[], const char what[])
{
  if (holds) return;
  failed++;
  (void)PetscPrintf(PETSC_COMM_SELF, "FAILED %s: %s\n", name, what);
}

static PetscErrorCode Assemble(MatType of, uint64_t seed, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(TestCreate(PETSC_COMM_SELF, of, ROWS, ROWS, ROWS, ROWS, 1, LONGEST + 1, A));
  for (PetscInt row = 0; row < ROWS; row++) {
    PetscCall(MatSetValue(*A, row, row, 64, INSERT_VALUES));
    for (PetscInt k = 0; k < LONGEST; k++) {
      const uint64_t random = gen_hash((uint64_t)row + seed, (uint64_t)k);

      PetscCall(MatSetValue(*A, row, (PetscInt)(random % ROWS), 1 + random % 4, INSERT_VALUES));
    }
  }
  PetscCall(TestAssemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A product of matrices, which the GPU makes if its factors are ours */
static PetscErrorCode Make(MatType of, uint64_t seed, Mat *C)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(Assemble(of, seed, &A));
  PetscCall(MatMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Columns(Mat A, const PetscInt **row_ptr, const PetscInt **col)
{
  PetscInt  rows;
  PetscBool done;

  PetscFunctionBeginUser;
  PetscCall(
      MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, row_ptr, col, &done)); /* the arrays stay with the matrix */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Product(Mat A, Vec *y)
{
  Vec x;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, y));
  PetscCall(VecSet(x, 2));
  PetscCall(MatMult(A, x, *y));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(Mat pair[TWINS], const char name[], const char what[])
{
  Mat       aij;
  Vec       y[TWINS];
  PetscBool same;

  PetscFunctionBeginUser;
  for (int m = 0; m < TWINS; m++) PetscCall(Product(pair[m], &y[m]));
  PetscCall(VecEqual(y[OURS], y[PLAIN], &same));
  Check(same, name, what);
  PetscCall(MatConvert(pair[OURS], MATAIJ, MAT_INITIAL_MATRIX, &aij));
  PetscCall(MatEqual(aij, pair[PLAIN], &same));
  Check(same, name, what);
  for (int m = 0; m < TWINS; m++) PetscCall(VecDestroy(&y[m]));
  PetscCall(MatDestroy(&aij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- what the host does with a matrix ---- */

static PetscErrorCode Nothing(Mat *A, PETSC_UNUSED MatType of) { return MatScale(*A, 1); }

static PetscErrorCode Scale(Mat *A, PETSC_UNUSED MatType of)
{
  PetscFunctionBeginUser;
  PetscCall(MatScale(*A, 3));
  PetscCall(MatShift(*A, 5));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InsertOld(Mat *A, PETSC_UNUSED MatType of)
{
  PetscFunctionBeginUser;
  for (PetscInt row = 0; row < ROWS; row += 3) PetscCall(MatSetValue(*A, row, row, 7, ADD_VALUES));
  PetscCall(TestAssemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc allocates new arrays when a nonzero has no room */
static PetscErrorCode InsertNew(Mat *A, PETSC_UNUSED MatType of)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt col = 0; col < ROWS; col++) PetscCall(MatSetValue(*A, 5, col, 1, INSERT_VALUES));
  PetscCall(TestAssemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Replace(Mat *A, Mat B)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(A));
  *A = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Duplicate(Mat *A, PETSC_UNUSED MatType of)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(*A, MAT_COPY_VALUES, &B));
  PetscCall(Replace(A, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DuplicatePattern(Mat *A, PETSC_UNUSED MatType of)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(*A, MAT_SHARE_NONZERO_PATTERN, &B));
  PetscCall(MatCopy(*A, B, SAME_NONZERO_PATTERN));
  PetscCall(Replace(A, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BecomePlain(Mat *A, PETSC_UNUSED MatType of)
{
  return MatConvert(*A, MATAIJ, MAT_INPLACE_MATRIX, A);
}

static PetscErrorCode TransposeInPlace(Mat *A, PETSC_UNUSED MatType of)
{
  return MatTranspose(*A, MAT_INPLACE_MATRIX, A);
}

static PetscErrorCode AddOther(Mat *A, MatType of)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(Make(of, 99, &B));
  PetscCall(MatAXPY(*A, 2, B, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReplaceHeader(Mat *A, MatType of)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(Make(of, 7, &B));
  PetscCall(MatHeaderReplace(*A, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ZeroRows(Mat *A, PETSC_UNUSED MatType of)
{
  const PetscInt rows[] = {0, 3, 17};

  PetscFunctionBeginUser;
  PetscCall(MatZeroRows(*A, 3, rows, 2, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SubMatrix(Mat *A, PETSC_UNUSED MatType of)
{
  Mat B;
  IS  some;

  PetscFunctionBeginUser;
  PetscCall(ISCreateStride(PETSC_COMM_SELF, ROWS / 2, 1, 2, &some));
  PetscCall(MatCreateSubMatrix(*A, some, some, MAT_INITIAL_MATRIX, &B));
  PetscCall(ISDestroy(&some));
  PetscCall(Replace(A, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Preallocate(Mat *A, PETSC_UNUSED MatType of)
{
  PetscFunctionBeginUser;
  PetscCall(MatSeqAIJSetPreallocation(*A, 1, NULL));
  for (PetscInt row = 0; row < ROWS; row++) PetscCall(MatSetValue(*A, row, ROWS - 1 - row, 3, INSERT_VALUES));
  PetscCall(TestAssemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The GPU makes the pattern of the same matrix three times */
static PetscErrorCode Coordinates(Mat *A, PETSC_UNUSED MatType of)
{
  PetscInt    i[2 * ROWS], j[2 * ROWS];
  PetscScalar v[2 * ROWS];

  PetscFunctionBeginUser;
  for (PetscInt again = 1; again <= 3; again++) {
    for (PetscInt k = 0; k < 2 * ROWS; k++) {
      i[k] = k % ROWS;
      j[k] = (k * again + k / ROWS) % ROWS;
      v[k] = k + again;
    }
    PetscCall(MatSetPreallocationCOO(*A, 2 * ROWS, i, j));
    PetscCall(MatSetValuesCOO(*A, v, INSERT_VALUES));
    PetscCall(MatSetValuesCOO(*A, v, ADD_VALUES));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WriteAndRead(Mat *A, MatType of)
{
  PetscViewer viewer;
  Mat         B;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, scratch, FILE_MODE_WRITE, &viewer));
  PetscCall(MatView(*A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, scratch, FILE_MODE_READ, &viewer));
  PetscCall(MatCreate(PETSC_COMM_SELF, &B));
  PetscCall(MatSetType(B, of));
  PetscCall(MatLoad(B, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(Replace(A, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* LU reads the pattern without a call that could tell us */
static PetscErrorCode Solve(Mat *A, PETSC_UNUSED MatType of)
{
  Vec x;

  PetscFunctionBeginUser;
  PetscCall(RoundedSolve(*A, PCLU, &x));
  PetscCall(MatDiagonalScale(*A, x, NULL)); /* so that the solutions are compared, as integers */
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const struct {
  const char *name;
  PetscErrorCode (*act)(Mat *, MatType);
} actions[] = {
    {"a matrix as it was made", Nothing},
    {"values that are scaled", Scale},
    {"entries that are added to", InsertOld},
    {"new nonzeros", InsertNew},
    {"a duplicate that outlives it", Duplicate},
    {"a duplicate with the shared pattern", DuplicatePattern},
    {"a conversion in place", BecomePlain},
    {"a transpose in place", TransposeInPlace},
    {"a sum with another pattern", AddOther},
    {"MatHeaderReplace()", ReplaceHeader},
    {"rows of zeros", ZeroRows},
    {"a submatrix", SubMatrix},
    {"another preallocation", Preallocate},
    {"lists of coordinates", Coordinates},
    {"a file", WriteAndRead},
    {"a factorization", Solve},
};

static PetscErrorCode Act(size_t k, PetscBool multiply_first)
{
  const char *name = actions[k].name;
  Mat         A[TWINS];
  Vec         y;

  PetscFunctionBeginUser;
  for (int m = 0; m < TWINS; m++) {
    const MatType of = m == OURS ? type : MATAIJ;

    PetscCall(Make(of, 1, &A[m]));
    if (multiply_first) {
      PetscCall(Product(A[m], &y));
      PetscCall(VecDestroy(&y));
    }
    PetscCall((*actions[k].act)(&A[m], of));
  }
  PetscCall(Compare(A, name, "another matrix"));
  for (int m = 0; m < TWINS; m++) PetscCall(MatScale(A[m], 2));
  PetscCall(Compare(A, name, "another matrix after a change"));
  for (int m = 0; m < TWINS; m++) PetscCall(MatDestroy(&A[m]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pattern and, unless PETSc keeps them on the device, the values are read by the GPU without a copy, and by the host
   without a call */
static PetscErrorCode Places(PetscBool *there)
{
  const PetscInt *row_ptr, *col;
  Mat             A[TWINS];
  Vec             y;

  PetscFunctionBeginUser;
  for (int m = 0; m < TWINS; m++) PetscCall(Make(m == OURS ? type : MATAIJ, 1, &A[m]));
  PetscCall(Columns(A[PLAIN], &row_ptr, &col));
  Check(spmv_shared_holds(col) ? PETSC_FALSE : PETSC_TRUE, "aij", "its arrays are shared");
  PetscCall(Columns(A[OURS], &row_ptr, &col));
  *there = spmv_shared_holds(col) ? PETSC_TRUE : PETSC_FALSE;
#ifdef SPMV_EMULATED
  (void)spmv_emulator_moved();
  PetscCall(Product(A[OURS], &y));
  Check(spmv_emulator_moved() == 0, type, "a product brought the arrays to the host");
  Check(col[row_ptr[1]] < ROWS, type, "a wrong column");
  Check(spmv_emulator_moved() == 1, type, "reading the pattern did not bring it to the host");
  PetscCall(VecDestroy(&y));
#else
  PetscCall(Product(A[OURS], &y));
  PetscCall(VecDestroy(&y));
#endif
  PetscCall(Compare(A, type, "another matrix"));
  for (int m = 0; m < TWINS; m++) PetscCall(MatDestroy(&A[m]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#ifdef SPMV_EMULATED
/* The format declines this pattern, so there is no plan to read the diagonal from */
static PetscErrorCode DiagonalWithoutPlan(void)
{
  Vec           diagonal[TWINS];
  Mat           A[TWINS];
  MatAIJFmtInfo info;
  PetscBool     same;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-mat_aijfmt_decline", "1"));
  for (int m = 0; m < TWINS; m++) {
    PetscCall(Make(m == OURS ? MATAIJFOLD : MATAIJ, 1, &A[m]));
    PetscCall(MatCreateVecs(A[m], &diagonal[m], NULL));
    (void)spmv_emulator_moved();
    PetscCall(MatGetDiagonal(A[m], diagonal[m]));
    Check(spmv_emulator_moved() == 0, "aijfold", "the diagonal brought the arrays to the host");
  }
  PetscCall(VecEqual(diagonal[OURS], diagonal[PLAIN], &same));
  Check(same, "aijfold", "another diagonal");
  PetscCall(MatAIJFmtGetInfo(A[OURS], &info));
  Check(info.blocks_declined > 0, "aijfold", "the format has not declined");
  for (int m = 0; m < TWINS; m++) PetscCall(MatDestroy(&A[m]));
  PetscCall(TestDestroyVecs(&diagonal[OURS], &diagonal[PLAIN]));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_aijfmt_decline", "0"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each allocation of device memory that makes a matrix fails: it is the same matrix */
static PetscErrorCode Refused(void)
{
  long refused = 1;
  Mat  A[TWINS];

  PetscFunctionBeginUser;
  for (long before = 0; refused > 0; before++) {
    PetscCall(Make(MATAIJ, 1, &A[PLAIN]));
    (void)spmv_emulator_refuse(SPMV_POINT_DEVICE, before, 1);
    PetscCall(Make(type, 1, &A[OURS]));
    refused = spmv_emulator_refuse(SPMV_POINT_DEVICE, -1, 1);
    PetscCall(Compare(A, "device memory refused", "another matrix"));
    Check(before > 0 || refused > 0 ? PETSC_TRUE : PETSC_FALSE, "device memory refused", "no allocation failed");
    for (int m = 0; m < TWINS; m++) PetscCall(MatDestroy(&A[m]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

int main(int argc, char **argv)
{
  PetscBool there = PETSC_FALSE; /* gcc does not see that it is set whenever the call succeeds */

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof type, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-scratch", scratch, sizeof scratch, NULL));
  spmv_shared_least(0);
  PetscCall(Places(&there));
  for (size_t k = 0; there && k < sizeof actions / sizeof *actions; k++) {
    PetscCall(Act(k, PETSC_FALSE));
    PetscCall(Act(k, PETSC_TRUE));
  }
#ifdef SPMV_EMULATED
  if (there) PetscCall(Refused());
  if (there) PetscCall(DiagonalWithoutPlan());
#endif
  if (!there) PetscCall(PetscPrintf(PETSC_COMM_SELF, "no GPU that shares memory with the host\n"));
  else PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s\n", failed ? "FAILED" : "passed"));
  PetscCall(PetscFinalize());
  return failed ? 1 : there ? 0 : NO_SHARED_MEMORY;
}
