/*
  mat_auto.c - MATAIJAUTO: what it chooses with given numbers of the machine, when it chooses again and when not,
  trials, empty matrices; mat_decline.c has the types that name a format. Every product is compared with that of aij. On
  a GPU without a parent type there, choices differ, and are not compared.
*/
#include "mat_auto.h"

static char help[] = "Tests the choice among the formats.\n\n";

enum { ROWS = 600, PATIENT = 1000000 /* products for which any conversion pays */ };

static PetscInt  failed = 0;
static PetscBool on_host, on_gpu;

PetscErrorCode AutoExpect(PetscBool right, const char *what)
{
  PetscMPIInt everywhere = right ? 1 : 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &everywhere, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD));
  if (!everywhere) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAILED %s\n", what));
  failed += everywhere ? 0 : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt RowOf(Kind kind, PetscInt n, PetscInt i, PetscInt col[ROW_MAX])
{
  PetscInt count = 0;

  if (kind == BLOCKS)
    for (PetscInt j = PetscMax(0, i / 3 * 3 - 12); j < PetscMin(n, i / 3 * 3 + 15); j++) col[count++] = j;
  if (kind == SCATTERED)
    for (PetscInt k = 0; k < 2 + i % 5; k++) col[count++] = (i * 7919 + k * k * 104729 + k * 131) % n;
  return count;
}

PetscErrorCode AutoCreate(MatType type, Kind kind, PetscInt n, Mat *A)
{
  PetscInt low, high, col[ROW_MAX];

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, ROW_MAX, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, ROW_MAX, NULL, ROW_MAX, NULL));
  PetscCall(MatGetOwnershipRange(*A, &low, &high));
  for (PetscInt i = low; i < high; i++) {
    const PetscInt count = RowOf(kind, n, i, col);

    for (PetscInt k = 0; k < count; k++) PetscCall(MatSetValue(*A, i, col[k], 1 + i % 7 + k, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A x as a plain matrix with the same entries has it. The entries are small integers, so the sums are exact. */
PetscErrorCode AutoProduct(Mat A, const char *what)
{
  Vec       x, y, z;
  Mat       plain;
  PetscInt  low, high;
  PetscReal difference;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &plain));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecGetOwnershipRange(x, &low, &high));
  for (PetscInt i = low; i < high; i++) PetscCall(VecSetValue(x, i, i % 11 - 5, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(plain, x, z));
  PetscCall(VecAXPY(z, -1, y));
  PetscCall(VecNorm(z, NORM_INFINITY, &difference));
  PetscCall(AutoExpect((PetscBool)(difference == 0), what));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The conversion to rbp does not pay for one product: the parent type, or a format that borrows its arrays, does that
 */
static PetscErrorCode ExpectCheap(Mat A, const char *what)
{
  const char *format;
  PetscBool   packed = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(MatAIJAutoGetFormat(A, &format));
  if (format) PetscCall(PetscStrcmp(format, "rbp", &packed));
  PetscCall(AutoExpect((PetscBool)(!packed || !on_host), what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ExpectFormat(Mat A, const char *wanted, const char *what)
{
  const char *format;
  PetscBool   same = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(MatAIJAutoGetFormat(A, &format));
  if (format && wanted) PetscCall(PetscStrcmp(format, wanted, &same));
  if (!wanted) same = format ? PETSC_FALSE : PETSC_TRUE;
  if (!on_host && format && wanted) same = PETSC_TRUE;
  PetscCall(AutoExpect(same, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another pattern, by an entry in each diagonal block */
PetscErrorCode AutoAddEntry(Mat A)
{
  PetscInt low, high;

  PetscFunctionBeginUser;
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(A, &low, &high));
  PetscCall(MatSetValue(A, low, high - 1, 1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Choices(void)
{
  MatAIJFmtInfo before, after;
  Mat           A;

  PetscFunctionBeginUser;
  PetscCall(AutoCreate(MATAIJAUTO, BLOCKS, ROWS, &A));
  PetscCall(MatAIJFmtSetOptionNumber(A, "expected", PATIENT));
  PetscCall(ExpectFormat(A, NULL, "something is chosen before the first product"));
  PetscCall(AutoProduct(A, "product of blocks"));
  PetscCall(ExpectFormat(A, "rbp", "blocks are not packed by rbp"));

  PetscCall(MatAIJFmtGetInfo(A, &before));
  if (on_gpu) PetscCall(AutoExpect((PetscBool)(before.blocks_on_gpu == before.blocks), "a block is not on the GPU"));
  PetscCall(MatScale(A, 2));
  PetscCall(AutoProduct(A, "product with new values"));
  PetscCall(MatAIJFmtGetInfo(A, &after));
  PetscCall(ExpectFormat(A, "rbp", "new values change the choice"));
  PetscCall(
      AutoExpect((PetscBool)(after.conversions == before.conversions), "new values are converted, not refreshed"));

  PetscCall(AutoAddEntry(A));
  PetscCall(AutoProduct(A, "product with a new pattern"));
  PetscCall(MatAIJFmtGetInfo(A, &after));
  PetscCall(AutoExpect((PetscBool)(after.conversions > before.conversions), "a new pattern is not converted"));
  PetscCall(MatDestroy(&A));

  PetscCall(AutoCreate(MATAIJAUTO, BLOCKS, ROWS, &A));
  PetscCall(MatAIJFmtSetOption(A, "expected", "1"));
  PetscCall(AutoProduct(A, "a single product"));
  PetscCall(ExpectCheap(A, "a conversion for a single product"));
  PetscCall(MatAIJFmtSetOption(A, "decline", "false"));
  PetscCall(AutoProduct(A, "product without the parent type"));
  PetscCall(MatAIJFmtGetInfo(A, &after));
  PetscCall(AutoExpect((PetscBool)(after.blocks_declined == 0), "the parent type is chosen where it may not be"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One product with the first pattern lets a matrix expect one with the second */
static PetscErrorCode Learns(void)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(AutoCreate(MATAIJAUTO, BLOCKS, ROWS, &A));
  PetscCall(AutoProduct(A, "product of the first pattern"));
  PetscCall(AutoAddEntry(A));
  PetscCall(AutoProduct(A, "product of the second pattern"));
  PetscCall(ExpectCheap(A, "the few products of the first pattern are forgotten"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In a trial three candidates do two products each; values change in between, and then pattern and all */
static PetscErrorCode Trial(Kind kind)
{
  enum { RUNS = 2, TRIED = 3, PRODUCTS = 10 };
  const char   *format = NULL, *later = NULL;
  MatAIJFmtInfo info;
  PetscMPIInt   size;
  Mat           A;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(AutoCreate(MATAIJAUTO, kind, ROWS, &A));
  PetscCall(MatAIJFmtSetOptionNumber(A, "trial", RUNS));
  for (int p = 0; p < PRODUCTS; p++) {
    PetscCall(AutoProduct(A, "product of a trial"));
    if (p == 2) PetscCall(MatScale(A, 2));
    if (p == RUNS * TRIED) PetscCall(MatAIJAutoGetFormat(A, &format));
  }
  PetscCall(MatAIJAutoGetFormat(A, &later));
  PetscCall(AutoExpect((PetscBool)(format && format == later), "the choice changes after the trial"));
  PetscCall(MatAIJFmtGetInfo(A, &info));
  if (size == 1)
    PetscCall(AutoExpect((PetscBool)(info.products + info.fallbacks == PRODUCTS), "a product is done twice"));
  PetscCall(AutoExpect((PetscBool)(info.conversions <= (TRIED + 1) * info.blocks), "too many conversions"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const PetscInt sizes[]    = {0, 1, 2, 60};
  char                  device[16] = "host";
  Mat                   A;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_aijfmt_device", device, sizeof device, NULL));
  PetscCall(PetscStrcmp(device, "host", &on_host));
  PetscCall(PetscStrcmp(device, "gpu", &on_gpu));
  PetscCall(Choices());
  if (on_host) PetscCall(Learns());
  PetscCall(Trial(BLOCKS));
  PetscCall(Trial(SCATTERED));
  PetscCall(AutoDeclines(on_host));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(sizes); i++) {
    for (int kind = BLOCKS; kind <= NONE; kind++) {
      PetscCall(AutoCreate(MATAIJAUTO, (Kind)kind, sizes[i], &A));
      if (i % 2) PetscCall(MatAIJFmtSetOption(A, "trial", "1"));
      for (int p = 0; p < 4; p++) PetscCall(AutoProduct(A, "product of a small matrix"));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " failed\n", failed));
  PetscCall(PetscFinalize());
  return failed ? 1 : 0;
}
