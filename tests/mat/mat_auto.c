/*
  mat_auto.c - MATAIJAUTO: its choice, when it chooses again and when not, trials, empty matrices; and when a type that
  names a format declines. Every product is compared with that of aij. If the parent type has no products on the GPU,
  choices differ there, and are not compared.
*/
static char help[] = "Tests the choice among the formats.\n\n";

#include "conf.h"

#define PATIENT "1000000" /* products for which any conversion pays */

enum { ROWS = 600, ROW_MAX = 27 };

typedef enum { BLOCKS, SCATTERED, NONE } Kind;

static PetscInt  failed = 0;
static PetscBool on_host, on_gpu;

static PetscErrorCode Expect(PetscBool right, const char *what)
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

static PetscErrorCode Create(MatType type, Kind kind, PetscInt n, Mat *A)
{
  PetscInt low, high, col[ROW_MAX];

  PetscFunctionBeginUser;
  PetscCall(TestCreate(PETSC_COMM_WORLD, type, PETSC_DECIDE, PETSC_DECIDE, n, n, 1, ROW_MAX, A));
  PetscCall(MatGetOwnershipRange(*A, &low, &high));
  for (PetscInt i = low; i < high; i++) {
    const PetscInt count = RowOf(kind, n, i, col);

    for (PetscInt k = 0; k < count; k++) PetscCall(MatSetValue(*A, i, col[k], 1 + i % 7 + k, INSERT_VALUES));
  }
  PetscCall(TestAssemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares A x with the product of a plain matrix with the same entries. All entries are small integers, so sums are
   exact. */
static PetscErrorCode Product(Mat A, const char *what)
{
  Vec       x, y, z;
  Mat       plain;
  PetscInt  low, high;
  PetscReal difference, size;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &plain));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecGetOwnershipRange(x, &low, &high));
  for (PetscInt i = low; i < high; i++) PetscCall(VecSetValue(x, i, i % 11 - 5, INSERT_VALUES));
  PetscCall(TestAssembleVec(x));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(plain, x, z));
  PetscCall(TestDistance(y, z, NORM_INFINITY, &difference, &size));
  PetscCall(Expect(difference == 0, what));
  PetscCall(TestDestroyVecs(&x, &y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Conversion to rbp does not pay for one product: the parent type does it, or a format that borrows the parent's
   arrays */
static PetscErrorCode ExpectCheap(Mat A, const char *what)
{
  const char *format;

  PetscFunctionBeginUser;
  PetscCall(MatAIJAutoGetFormat(A, &format));
  PetscCall(Expect(!on_host || (format && strcmp(format, "rbp")), what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ExpectFormat(Mat A, const char *wanted, const char *what)
{
  const char *format;

  PetscFunctionBeginUser;
  PetscCall(MatAIJAutoGetFormat(A, &format));
  if (wanted) PetscCall(Expect(format && (!on_host || !strcmp(format, wanted)), what));
  else PetscCall(Expect(!format, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes the pattern by an entry in each diagonal block */
static PetscErrorCode AddEntry(Mat A)
{
  PetscInt low, high;

  PetscFunctionBeginUser;
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(A, &low, &high));
  PetscCall(MatSetValue(A, low, high - 1, 1, INSERT_VALUES));
  PetscCall(TestAssemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Choices(void)
{
  MatAIJFmtInfo before, after;
  Mat           A;

  PetscFunctionBeginUser;
  PetscCall(Create(MATAIJAUTO, BLOCKS, ROWS, &A));
  PetscCall(MatAIJFmtSetOption(A, "expected", PATIENT));
  PetscCall(ExpectFormat(A, NULL, "something is chosen before the first product"));
  PetscCall(Product(A, "product of blocks"));
  PetscCall(ExpectFormat(A, "rbp", "blocks are not packed by rbp"));

  PetscCall(MatAIJFmtGetInfo(A, &before));
  if (on_gpu) PetscCall(Expect(before.blocks_on_gpu == before.blocks, "a block is not on the GPU"));
  PetscCall(MatScale(A, 2));
  PetscCall(Product(A, "product with new values"));
  PetscCall(MatAIJFmtGetInfo(A, &after));
  PetscCall(ExpectFormat(A, "rbp", "new values change the choice"));
  PetscCall(Expect(after.conversions == before.conversions, "new values are converted, not refreshed"));

  PetscCall(AddEntry(A));
  PetscCall(Product(A, "product with a new pattern"));
  PetscCall(MatAIJFmtGetInfo(A, &after));
  PetscCall(Expect(after.conversions > before.conversions, "a new pattern is not converted"));
  PetscCall(MatDestroy(&A));

  PetscCall(Create(MATAIJAUTO, BLOCKS, ROWS, &A));
  PetscCall(MatAIJFmtSetOption(A, "expected", "1"));
  PetscCall(Product(A, "a single product"));
  PetscCall(ExpectCheap(A, "a conversion for a single product"));
  PetscCall(MatAIJFmtSetOption(A, "decline", "false"));
  PetscCall(Product(A, "product without the parent type"));
  PetscCall(MatAIJFmtGetInfo(A, &after));
  PetscCall(Expect(after.blocks_declined == 0, "the parent type is chosen where it may not be"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After one product with the first pattern, a matrix expects one product with the second */
static PetscErrorCode Learns(void)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(Create(MATAIJAUTO, BLOCKS, ROWS, &A));
  PetscCall(Product(A, "product of the first pattern"));
  PetscCall(AddEntry(A));
  PetscCall(Product(A, "product of the second pattern"));
  PetscCall(ExpectCheap(A, "the few products of the first pattern are forgotten"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In a trial, the parent type and at most two formats do two products each; values change in between */
static PetscErrorCode Trial(Kind kind)
{
  enum { RUNS = 2, TRIED = 3, PRODUCTS = 10 };
  const char     *format = NULL, *later = NULL;
  const PetscBool parent = on_host || PetscDefined(HAVE_CUDA) ? PETSC_TRUE : PETSC_FALSE;
  MatAIJFmtInfo   info, last;
  PetscMPIInt     size;
  Mat             A;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Create(MATAIJAUTO, kind, ROWS, &A));
  PetscCall(MatAIJFmtSetOption(A, "trial", "2"));
  PetscCall(MatAIJFmtSetOption(A, "expected", PATIENT));
  for (int p = 0; p < PRODUCTS; p++) {
    PetscCall(Product(A, "product of a trial"));
    if (p == 2) PetscCall(MatScale(A, 2));
    if (p == RUNS * TRIED) PetscCall(MatAIJAutoGetFormat(A, &format));
  }
  PetscCall(MatAIJAutoGetFormat(A, &later));
  PetscCall(Expect(format && format == later, "the choice changes after the trial"));
  PetscCall(MatAIJFmtGetInfo(A, &info));
  if (size == 1) PetscCall(Expect(info.products + info.fallbacks == PRODUCTS, "a product is done twice"));
  if (kind == BLOCKS) PetscCall(Expect(info.products >= RUNS, "no format was tried"));
  if (parent) PetscCall(Expect(info.fallbacks >= RUNS, "the parent type was not measured"));
  PetscCall(Expect(info.conversions <= 2 * info.blocks, "more than two conversions"));
  PetscCall(Expect((info.bytes > 0) == (info.blocks_converted > 0), "the loser keeps its memory"));
  PetscCall(AddEntry(A));
  for (int p = 0; p < PRODUCTS; p++) PetscCall(Product(A, "product of a second trial"));
  PetscCall(MatAIJFmtGetInfo(A, &last));
  if (kind == BLOCKS) PetscCall(Expect(last.conversions > info.conversions, "a new pattern has no trial"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A format is not converted if its conversion cannot pay within the expected products */
static PetscErrorCode TrialOfFew(void)
{
  MatAIJFmtInfo info;
  Mat           A;

  PetscFunctionBeginUser;
  PetscCall(Create(MATAIJAUTO, BLOCKS, ROWS, &A));
  PetscCall(MatAIJFmtSetOption(A, "trial", "1"));
  PetscCall(MatAIJFmtSetOption(A, "expected", "2"));
  for (int p = 0; p < 4; p++) PetscCall(Product(A, "product of a short trial"));
  PetscCall(MatAIJFmtGetInfo(A, &info));
  PetscCall(Expect(info.own_bytes == 0, "a conversion that cannot pay"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A type that names a format packs, unless CSR takes fewer bytes or there is nothing to pack; then view and counters
   say so, and a changed option takes effect at the next product */
static PetscErrorCode Declines(void)
{
  MatAIJFmtInfo info;
  Mat           A;

  PetscFunctionBeginUser;
  PetscCall(Create("aijcodsell", BLOCKS, ROWS, &A));
  PetscCall(Product(A, "product of a named type"));
  PetscCall(MatAIJFmtGetInfo(A, &info));
  PetscCall(Expect(info.products > 0 && info.blocks_converted > 0, "a named type does not pack"));
  PetscCall(MatDestroy(&A));

  PetscCall(Create("aijcodsell", SCATTERED, 12, &A));
  PetscCall(Product(A, "product of more bytes than CSR"));
  PetscCall(MatAIJFmtGetInfo(A, &info));
  PetscCall(Expect(info.products == 0 && info.blocks_declined == info.blocks, "more bytes than CSR"));
  PetscCall(MatAIJFmtSetOption(A, "decline", "false"));
  PetscCall(Product(A, "product of a type that insists"));
  PetscCall(MatAIJFmtGetInfo(A, &info));
  PetscCall(Expect(info.products > 0 && info.blocks_declined == 0, "decline false has no effect"));
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
  if (on_host) PetscCall(TrialOfFew());
  PetscCall(Declines());
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(sizes); i++) {
    for (int kind = BLOCKS; kind <= NONE; kind++) {
      PetscCall(Create(MATAIJAUTO, (Kind)kind, sizes[i], &A));
      if (i % 2) PetscCall(MatAIJFmtSetOption(A, "trial", "1"));
      for (int p = 0; p < 4; p++) PetscCall(Product(A, "product of a small matrix"));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " failed\n", failed));
  PetscCall(PetscFinalize());
  return failed ? 1 : 0;
}
