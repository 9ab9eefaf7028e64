/*
  mat_transpose.c - MatTranspose(): two matrices, of type aij and of a type of ours, have the same transposes, also with
  new values and with MatTransposeSetPrecursor().

    mat_transpose [-type aijrbp] -gpu -mat_aijfmt_device gpu [-A_view ::ascii_info]

  -gpu: the GPU must make all transposes, in memory that it shares with the host, as if they were large. -refuses: it must
  refuse some.
*/
static char help[] = "Compares transposes with those of type aij.\n\n";

#include <petscmat.h>
#include <petscpack.h>
#include <spmv_kernels.h>
#include "cases.h"
#include "petsc_test.h"

enum { OURS = 0, PLAIN = 1, TWINS = 2 };

/* Rows and columns of each process; the second of three processes has no rows */
typedef struct {
  PetscInt rows, cols, longest;
} Shape;

static const Shape shapes[] = {{30, 30, 5}, {40, 7, 3}, {6, 50, 30}, {1, 1, 1}, {20, 20, 0}, {0, 9, 0}, {200, 150, 9}};

static PetscInt    failed;
static PetscMPIInt rank, size;

static void Check(PetscBool holds, const Shape *s, const char what[])
{
  if (holds) return;
  failed++;
  (void)PetscPrintf(PETSC_COMM_SELF, "FAILED [%d] %d x %d: %s\n", (int)rank, (int)s->rows, (int)s->cols, what);
}

static PetscErrorCode Create(MatType type, const Shape *s, Mat *A)
{
  PetscInt begin, end, cols;

  PetscFunctionBeginUser;
  PetscCall(TestCreate(PETSC_COMM_WORLD, type, size == 3 && rank == 1 ? 0 : s->rows, s->cols, PETSC_DETERMINE,
                       PETSC_DETERMINE, 1, s->longest, A));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  PetscCall(MatGetSize(*A, NULL, &cols));
  for (PetscInt row = begin; row < end; row++)
    for (PetscInt k = 0; k < s->longest - row % 3; k++) {
      const uint64_t random = gen_hash((uint64_t)row, (uint64_t)k);

      PetscCall(MatSetValue(*A, row, (PetscInt)(random % (uint64_t)cols), 1 + random % 64, INSERT_VALUES));
    }
  PetscCall(TestAssemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const Shape *s, Mat ours, Mat plain, const char what[])
{
  Mat       aij;
  Vec       x, y[TWINS];
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(ours, MATAIJ, MAT_INITIAL_MATRIX, &aij));
  PetscCall(MatEqual(aij, plain, &same));
  Check(same, s, what);
  PetscCall(MatCreateVecs(plain, &x, &y[0]));
  PetscCall(VecDuplicate(y[0], &y[1]));
  PetscCall(VecSet(x, 2));
  PetscCall(MatMult(ours, x, y[0]));
  PetscCall(MatMult(plain, x, y[1]));
  PetscCall(VecEqual(y[0], y[1], &same));
  Check(same, s, what);
  PetscCall(TestDestroyVecs(&x, &y[0]));
  PetscCall(VecDestroy(&y[1]));
  PetscCall(MatDestroy(&aij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A precursor from elsewhere gets the values, whether or not it has the map of a transpose */
static PetscErrorCode Precursors(const Shape *s, Mat A, Mat T, Mat plain, MatType type)
{
  Mat other[2];

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(T, MAT_DO_NOT_COPY_VALUES, &other[0]));
  PetscCall(MatConvert(plain, type, MAT_INITIAL_MATRIX, &other[1]));
  PetscCall(MatZeroEntries(other[1]));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatTransposeSetPrecursor(A, other[k]));
    PetscCall(MatTranspose(A, MAT_REUSE_MATRIX, &other[k]));
    PetscCall(Compare(s, other[k], plain, k ? "a converted precursor" : "a duplicate as precursor"));
    PetscCall(MatDestroy(&other[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The columns of T, or of its diagonal block, are in shared memory */
static PetscErrorCode Shared(const Shape *s, Mat T)
{
  const PetscInt *row_ptr, *col;
  PetscInt        rows;
  PetscBool       done;

  PetscFunctionBeginUser;
  if (size > 1) PetscCall(MatMPIAIJGetSeqAIJ(T, &T, NULL, NULL));
  PetscCall(MatGetRowIJ(T, 0, PETSC_FALSE, PETSC_FALSE, &rows, &row_ptr, &col, &done));
  Check(done && (row_ptr[rows] == 0 || spmv_shared_holds(col)) ? PETSC_TRUE : PETSC_FALSE, s, "not in shared memory");
  PetscCall(MatRestoreRowIJ(T, 0, PETSC_FALSE, PETSC_FALSE, &rows, &row_ptr, &col, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Transposes(const Shape *s, MatType type, PetscBool gpu, PetscBool refuses)
{
  Mat           A[TWINS], T[TWINS];
  MatAIJFmtInfo info;

  PetscFunctionBeginUser;
  for (int m = 0; m < TWINS; m++) {
    PetscCall(Create(m == OURS ? type : MATAIJ, s, &A[m]));
    PetscCall(MatTranspose(A[m], MAT_INITIAL_MATRIX, &T[m]));
  }
  if (gpu) PetscCall(Shared(s, T[OURS]));
  PetscCall(Compare(s, T[OURS], T[PLAIN], "a new transpose"));
  for (int again = 0; again < 2; again++) {
    for (int m = 0; m < TWINS; m++) {
      PetscCall(MatScale(A[m], 3));
      PetscCall(MatTranspose(A[m], MAT_REUSE_MATRIX, &T[m]));
    }
    PetscCall(Compare(s, T[OURS], T[PLAIN], "new values"));
  }
  PetscCall(MatAIJFmtGetInfo(A[OURS], &info));
  Check(info.transposes == (gpu ? 3 * size : 0) || refuses, s, "another number of transposes by the GPU");
  /* without a GPU a sequential matrix keeps the parent's operation; the parent transposes blocks, too, which count */
  if (spmv_device_count(NULL) > 0)
    Check(info.transposes + info.fallbacks_transpose >= 3 * size, s, "a transpose that is not counted");
  Check(!refuses || info.fallbacks_transpose > 0 || s->rows < 200, s, "no fallback");
  PetscCall(Precursors(s, A[OURS], T[OURS], T[PLAIN], type));
  PetscCall(MatViewFromOptions(A[OURS], NULL, "-A_view"));
  for (int m = 0; m < TWINS; m++) PetscCall(TestDestroyMats(&A[m], &T[m]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char      type[64] = "aijrbp";
  PetscBool gpu = PETSC_FALSE, refuses = PETSC_FALSE;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof type, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-gpu", &gpu, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-refuses", &refuses, NULL));
  if (gpu) spmv_shared_least(0);
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) PetscCall(Transposes(&shapes[k], type, gpu, refuses));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d checks failed\n", (int)failed));
  PetscCall(PetscFinalize());
  return failed ? 1 : 0;
}
