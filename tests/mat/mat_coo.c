/*
  mat_coo.c - matrices from lists of coordinates: two matrices, of type aij and of a type of ours, get the same lists
  and values and must have the same entries and products. All values are multiples of 1/8, so sums are exact in any
  order.

    mat_coo [-type aijrbp] -expect "coordinates sorted on the GPU" [-beyond | -no_room] -mat_aijfmt_device gpu

  -expect: text that MatView() must print for each list. -beyond: tests only that an index outside the matrix is an
  error. -no_room: tests only values that are set when the GPU has no memory left.
*/
static char help[] = "Compares matrices from coordinates with those of type aij.\n\n";

#include <petscmat.h>
#include <petscpack.h>
#include <spmv_kernels.h>
#include <string.h>
#include "cases.h"
#include "petsc_test.h"

enum { ROWS = 30 /* per process; the second of three processes has none */, OURS = 0, PLAIN = 1, TWINS = 2 };

/* The entries of one process */
typedef struct {
  const char *name;
  PetscInt    entries;
  PetscInt    negative, remote; /* every n-th entry has a negative index, or a row of any process; 0: none */
  PetscInt    places;           /* bound of the random numbers; a small bound makes entries repeat */
  PetscBool   sorted;
} Shape;

static const Shape shapes[] = {
    {"an empty list", 0, 0, 0, 1, PETSC_FALSE},
    {"one entry", 1, 0, 0, 1, PETSC_FALSE},
    {"own rows", 200, 0, 0, 1000, PETSC_FALSE},
    {"sorted rows", 150, 0, 0, 1000, PETSC_TRUE},
    {"repetitions", 300, 0, 0, 4, PETSC_FALSE},
    {"negative indices", 200, 3, 0, 1000, PETSC_FALSE},
    {"negative indices alone", 40, 1, 0, 1000, PETSC_FALSE},
    {"rows of others", 250, 7, 3, 1000, PETSC_FALSE},
    {"rows of others alone", 90, 0, 1, 5, PETSC_FALSE},
    {"rows of others, repeated", 400, 9, 2, 3, PETSC_FALSE},
};

typedef struct {
  Mat         A[TWINS];
  PetscInt    m, M, begin;
  PetscCount  n;
  PetscInt   *i, *j; /* [n] */
  const char *name;
} Twins;

static PetscInt    failed;
static PetscMPIInt rank, size;
static char        expect[128], type[64] = "aijrbp";
static PetscBool   gpu; /* the GPU sorts */

#define CHECK(condition, ...)                                                                                          \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      failed++;                                                                                                        \
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAILED [%d] line %d: ", (int)rank, __LINE__));                           \
      PetscCall(PetscPrintf(PETSC_COMM_SELF, __VA_ARGS__));                                                            \
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));                                                                   \
    }                                                                                                                  \
  } while (0)

/* ---- matrices, lists and values ---- */

static PetscErrorCode Create(MatType which, PetscInt bs, Mat *A)
{
  const PetscInt m = size == 3 && rank == 1 ? 0 : ROWS;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, m, m, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSize(*A, bs));
  PetscCall(MatSetType(*A, which));
  PetscCall(MatSetFromOptions(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TwinsCreate(PetscInt bs, Twins *t)
{
  PetscFunctionBeginUser;
  PetscCall(Create(type, bs, &t->A[OURS]));
  PetscCall(Create(MATAIJ, bs, &t->A[PLAIN]));
  PetscCall(MatSetUp(t->A[OURS])); /* a list must also work after MatSetUp(), as for insertion without preallocation */
  PetscCall(MatGetOwnershipRange(t->A[OURS], &t->begin, NULL));
  PetscCall(MatGetSize(t->A[OURS], &t->M, NULL));
  PetscCall(MatGetLocalSize(t->A[OURS], &t->m, NULL));
  t->i = t->j = NULL;
  t->n        = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TwinsDestroy(Twins *t)
{
  PetscFunctionBeginUser;
  for (int m = 0; m < TWINS; m++) PetscCall(MatDestroy(&t->A[m]));
  PetscCall(PetscFree2(t->i, t->j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Draw(Twins *t, const Shape *s, uint64_t seed)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree2(t->i, t->j));
  t->name = s->name;
  t->n    = s->entries;
  PetscCall(PetscMalloc2(t->n, &t->i, t->n, &t->j));
  for (PetscCount k = 0; k < t->n; k++) {
    const uint64_t at     = gen_hash(seed * 3 + (uint64_t)rank, (uint64_t)k);
    const PetscInt random = (PetscInt)(at / 64 % (uint64_t)s->places);

    t->i[k] = t->m ? t->begin + (s->sorted ? (PetscInt)k * t->m / s->entries : random % t->m) : -1;
    if (s->remote && k % s->remote == 0) t->i[k] = (random * 7 + (PetscInt)k) % t->M;
    t->j[k] = (random * 11 + (PetscInt)(at % 3) * 13) % t->M;
    if (s->negative && k % s->negative == 0) *(at & 1 ? &t->i[k] : &t->j[k]) = -1 - (PetscInt)(at % 5);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc overwrites the indices, so each matrix gets a copy */
static PetscErrorCode Preallocate(const Twins *t, Mat A)
{
  PetscInt *i, *j;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(t->n, &i, t->n, &j));
  PetscCall(PetscArraycpy(i, t->i, t->n));
  PetscCall(PetscArraycpy(j, t->j, t->n));
  PetscCall(MatSetPreallocationCOO(A, t->n, i, j));
  PetscCall(PetscFree2(i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetValues(const Twins *t, Mat A, uint64_t seed, InsertMode mode)
{
  PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(t->n, &values));
  for (PetscCount k = 0; k < t->n; k++)
    values[k] = ((PetscReal)(gen_hash(seed + 100 * (uint64_t)rank, (uint64_t)k) % 41) - 20) / 8;
  PetscCall(MatSetValuesCOO(A, values, mode));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetBoth(const Twins *t, uint64_t seed, InsertMode mode)
{
  PetscFunctionBeginUser;
  for (int m = 0; m < TWINS; m++) PetscCall(SetValues(t, t->A[m], seed, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- comparisons ---- */

static PetscErrorCode CompareRows(const Twins *t, const char what[])
{
  PetscFunctionBeginUser;
  for (PetscInt row = t->begin; row < t->begin + t->m; row++) {
    const PetscInt    *col[TWINS];
    const PetscScalar *value[TWINS];
    PetscInt           n[TWINS];

    for (int m = 0; m < TWINS; m++) PetscCall(MatGetRow(t->A[m], row, &n[m], &col[m], &value[m]));
    CHECK(n[0] == n[1], "%s, %s: row %d has %d entries, and %d with aij", t->name, what, (int)row, (int)n[0],
          (int)n[1]);
    for (PetscInt k = 0; n[0] == n[1] && k < n[0]; k++)
      CHECK(col[0][k] == col[1][k] && value[0][k] == value[1][k], "%s, %s: (%d, %d) is %g, and (%d, %d) %g with aij",
            t->name, what, (int)row, (int)col[0][k], (double)PetscRealPart(value[0][k]), (int)row, (int)col[1][k],
            (double)PetscRealPart(value[1][k]));
    for (int m = 0; m < TWINS; m++) PetscCall(MatRestoreRow(t->A[m], row, &n[m], &col[m], &value[m]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareProducts(const Twins *t, const char what[])
{
  Vec       x[TWINS], y[TWINS];
  PetscReal difference, size_of_y;

  PetscFunctionBeginUser;
  for (int m = 0; m < TWINS; m++) {
    PetscCall(MatCreateVecs(t->A[m], &x[m], &y[m]));
    for (PetscInt i = t->begin; i < t->begin + t->m; i++) PetscCall(VecSetValue(x[m], i, i % 5 - 2, INSERT_VALUES));
    PetscCall(TestAssembleVec(x[m]));
    PetscCall(MatMult(t->A[m], x[m], y[m]));
  }
  PetscCall(TestDistance(y[OURS], y[PLAIN], NORM_INFINITY, &difference, &size_of_y));
  CHECK(difference == 0, "%s, %s: the product differs by %g", t->name, what, (double)difference);
  for (int m = 0; m < TWINS; m++) PetscCall(TestDestroyVecs(&x[m], &y[m]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const Twins *t, const char what[])
{
  PetscFunctionBeginUser;
  PetscCall(CompareRows(t, what));
  PetscCall(CompareProducts(t, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that MatView() prints the expected text about the list */
static PetscErrorCode CheckView(const Twins *t, const char what[])
{
  char text[TEST_VIEW];

  PetscFunctionBeginUser;
  PetscCall(TestView((PetscObject)t->A[OURS], PETSC_VIEWER_ASCII_INFO, text));
  CHECK(strstr(text, expect), "%s, %s: MatView() does not say \"%s\"", t->name, what, expect);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- uses of a list ---- */

/* Inserts and adds values for one list, also after other changes of the values */
static PetscErrorCode CheckValues(Twins *t)
{
  PetscFunctionBeginUser;
  for (int m = 0; m < TWINS; m++) PetscCall(Preallocate(t, t->A[m]));
  PetscCall(SetBoth(t, 1, INSERT_VALUES));
  PetscCall(Compare(t, "inserted"));
  PetscCall(CheckView(t, "inserted"));
  PetscCall(SetBoth(t, 2, ADD_VALUES));
  PetscCall(CompareRows(t, "added"));
  PetscCall(SetBoth(t, 3, ADD_VALUES));
  PetscCall(Compare(t, "added twice"));
  for (int m = 0; m < TWINS; m++) PetscCall(MatScale(t->A[m], 2));
  PetscCall(SetBoth(t, 4, ADD_VALUES));
  PetscCall(Compare(t, "added after MatScale()"));
  PetscCall(SetBoth(t, 5, INSERT_VALUES));
  PetscCall(CompareProducts(t, "inserted again"));
  for (int m = 0; m < TWINS; m++) PetscCall(MatZeroEntries(t->A[m]));
  PetscCall(SetBoth(t, 6, ADD_VALUES));
  PetscCall(Compare(t, "added after MatZeroEntries()"));
  for (int m = 0; m < TWINS; m++) PetscCall(Preallocate(t, t->A[m]));
  PetscCall(SetBoth(t, 7, ADD_VALUES));
  PetscCall(Compare(t, "added to a new pattern"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With a host parent the plan takes the sums on the GPU: the next product uploads nothing. A plan of crsv takes no values
   from an array that does not stay. */
static PetscErrorCode CheckPlanTakes(Twins *t)
{
  static const InsertMode modes[] = {INSERT_VALUES, ADD_VALUES};
  MatAIJFmtInfo           before, set, after;
  PetscBool               crsv;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(type, MATAIJCRSV, &crsv));
  if (!gpu || crsv || PetscDefined(HAVE_CUDA)) PetscFunctionReturn(PETSC_SUCCESS);
  for (int m = 0; m < TWINS; m++) PetscCall(Preallocate(t, t->A[m]));
  PetscCall(SetBoth(t, 1, INSERT_VALUES));
  PetscCall(CompareProducts(t, "before the plan takes values"));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatAIJFmtGetInfo(t->A[OURS], &before));
    PetscCall(SetBoth(t, 2 + (uint64_t)k, modes[k]));
    PetscCall(MatAIJFmtGetInfo(t->A[OURS], &set));
    PetscCall(CompareProducts(t, "the plan takes values"));
    PetscCall(MatAIJFmtGetInfo(t->A[OURS], &after));
    CHECK(set.blocks_on_gpu > 0 && set.refreshes == before.refreshes + set.blocks_on_gpu &&
              set.blocks_values_packed == set.blocks_on_gpu && set.blocks_values_on_host == set.blocks,
          "%s: %g of %g plans took the values, and %g have them", t->name, set.refreshes - before.refreshes,
          set.blocks_on_gpu, set.blocks_values_packed);
    CHECK(after.refreshes == set.refreshes && after.conversions == before.conversions,
          "%s: the product made %g refreshes and %g conversions", t->name, after.refreshes - set.refreshes,
          after.conversions - before.conversions);
  }
  PetscCall(MatScale(t->A[OURS], 2));
  PetscCall(MatScale(t->A[PLAIN], 2));
  PetscCall(Compare(t, "after MatScale() of values that the plan took"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A duplicate takes values after its original is destroyed, and so does the original before. With lists sorted by PETSc
   this works from 3.20 on. */
static PetscErrorCode CheckDuplicates(Twins *t)
{
  static const MatDuplicateOption options[] = {MAT_COPY_VALUES, MAT_DO_NOT_COPY_VALUES};
  Mat                             D;

  PetscFunctionBeginUser;
  if (!gpu && PETSC_VERSION_LT(3, 20, 0)) PetscFunctionReturn(PETSC_SUCCESS);
  for (int n = 0; n < 2; n++) {
    for (int m = 0; m < TWINS; m++) PetscCall(Preallocate(t, t->A[m]));
    PetscCall(SetBoth(t, 1, INSERT_VALUES));
    PetscCall(MatDuplicate(t->A[OURS], options[n], &D));
    PetscCall(SetBoth(t, 2, ADD_VALUES));
    PetscCall(Compare(t, "the original of a duplicate"));
    PetscCall(MatDestroy(&t->A[OURS]));
    t->A[OURS] = D;
    PetscCall(SetBoth(t, 3, INSERT_VALUES));
    PetscCall(Compare(t, "a duplicate"));
    PetscCall(CheckView(t, "a duplicate"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix keeps its list when it is converted to its parent type and back to our type */
static PetscErrorCode CheckConversions(Twins *t)
{
  const char *const parent = gpu && PetscDefined(HAVE_CUDA) ? "aijcusparse" : MATAIJ;
  Mat               C;

  PetscFunctionBeginUser;
  for (int m = 0; m < TWINS; m++) PetscCall(Preallocate(t, t->A[m]));
  PetscCall(SetBoth(t, 1, INSERT_VALUES));
  if (gpu || PETSC_VERSION_GE(3, 20, 0)) { /* MatConvert() makes a duplicate first */
    PetscCall(MatConvert(t->A[OURS], parent, MAT_INITIAL_MATRIX, &C));
    PetscCall(MatDestroy(&t->A[OURS]));
    t->A[OURS] = C;
  } else PetscCall(MatConvert(t->A[OURS], parent, MAT_INPLACE_MATRIX, &t->A[OURS]));
  PetscCall(SetBoth(t, 2, ADD_VALUES));
  PetscCall(Compare(t, "converted to the parent type"));
  PetscCall(MatConvert(t->A[OURS], type, MAT_INPLACE_MATRIX, &t->A[OURS]));
  PetscCall(SetBoth(t, 3, ADD_VALUES));
  PetscCall(Compare(t, "converted back"));
  PetscCall(MatConvert(t->A[OURS], parent, MAT_INPLACE_MATRIX, &t->A[OURS]));
  PetscCall(SetBoth(t, 4, INSERT_VALUES));
  PetscCall(Compare(t, "the parent type again"));
  for (int m = 0; m < TWINS; m++) PetscCall(Preallocate(t, t->A[m]));
  PetscCall(SetBoth(t, 5, INSERT_VALUES));
  PetscCall(Compare(t, "a list of the converted matrix"));
  PetscCall(MatConvert(t->A[OURS], type, MAT_INPLACE_MATRIX, &t->A[OURS]));
  PetscCall(SetBoth(t, 6, ADD_VALUES));
  PetscCall(Compare(t, "converted with a list of PETSc's"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckOptions(Twins *t)
{
  PetscFunctionBeginUser;
  for (int m = 0; m < TWINS; m++) PetscCall(MatSetOption(t->A[m], MAT_IGNORE_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(CheckValues(t));
  for (int m = 0; m < TWINS; m++) {
    PetscCall(MatSetOption(t->A[m], MAT_IGNORE_OFF_PROC_ENTRIES, PETSC_FALSE));
    PetscCall(Preallocate(t, t->A[m]));
    PetscCall(SetValues(t, t->A[m], 1, INSERT_VALUES));
  }
  PetscCall(Compare(t, "entries of others again"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Properties set between the list and the values are known as long as with aij */
static PetscErrorCode CheckKnowledge(Twins *t)
{
  PetscBool known[TWINS], symmetric[TWINS] = {PETSC_FALSE, PETSC_FALSE}, off[TWINS];

  PetscFunctionBeginUser;
  for (int m = 0; m < TWINS; m++) {
    PetscCall(Preallocate(t, t->A[m]));
    PetscCall(MatSetOption(t->A[m], MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(SetValues(t, t->A[m], 1, INSERT_VALUES));
    PetscCall(MatIsSymmetricKnown(t->A[m], &known[m], &symmetric[m]));
    PetscCall(MatGetOption(t->A[m], MAT_NO_OFF_PROC_ENTRIES, &off[m]));
  }
  CHECK(known[0] == known[1] && symmetric[0] == symmetric[1], "%s: symmetric %d %d, and %d %d with aij", t->name,
        (int)known[0], (int)symmetric[0], (int)known[1], (int)symmetric[1]);
  CHECK(off[0] == off[1], "%s: MAT_NO_OFF_PROC_ENTRIES differs", t->name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lists with local indices, mapped to the own rows and the first row of the next process */
static PetscErrorCode CheckLocal(Twins *t)
{
  ISLocalToGlobalMapping map;
  PetscInt              *global, n = t->m + 1;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &global));
  for (PetscInt k = 0; k < n; k++) global[k] = (t->begin + n - 1 - k) % t->M;
  PetscCall(ISLocalToGlobalMappingCreate(PETSC_COMM_WORLD, 1, n, global, PETSC_OWN_POINTER, &map));
  for (int m = 0; m < TWINS; m++) {
    PetscInt *i, *j;

    PetscCall(PetscMalloc2(t->n, &i, t->n, &j));
    for (PetscCount k = 0; k < t->n; k++) {
      i[k] = k % 9 == 8 ? -1 : (PetscInt)(k * 5) % n;
      j[k] = (PetscInt)(k * 3 + k / 7) % n;
    }
    PetscCall(MatSetLocalToGlobalMapping(t->A[m], map, map));
    PetscCall(MatSetPreallocationCOOLocal(t->A[m], t->n, i, j));
    PetscCall(PetscFree2(i, j));
  }
  PetscCall(ISLocalToGlobalMappingDestroy(&map));
  PetscCall(SetBoth(t, 1, INSERT_VALUES));
  PetscCall(SetBoth(t, 2, ADD_VALUES));
  PetscCall(Compare(t, "local numbers"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckBlockSizes(void)
{
  static const Shape rows_of_others = {"blocks of 3", 240, 11, 4, 1000, PETSC_FALSE};
  Twins              t;
  Mat                block[TWINS];
  PetscInt           bs[TWINS];
  PetscBool          parallel;

  PetscFunctionBeginUser;
  PetscCall(TwinsCreate(3, &t));
  PetscCall(Draw(&t, &rows_of_others, 77));
  PetscCall(CheckValues(&t));
  for (int m = 0; m < TWINS; m++) {
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)t.A[m], MATMPIAIJ, &parallel));
    block[m] = t.A[m];
    if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(t.A[m], &block[m], NULL, NULL));
    PetscCall(MatGetBlockSize(t.A[m], &bs[m]));
    CHECK(bs[m] == 3, "matrix %d has blocks of %d", m, (int)bs[m]);
    PetscCall(MatGetBlockSize(block[m], &bs[m]));
  }
  CHECK(bs[OURS] == 3, "the diagonal block has blocks of %d", (int)bs[OURS]);
  PetscCall(TwinsDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatSetValuesCOO() after a change of the pattern must fail: the map would write to wrong nonzeros */
static PetscErrorCode CheckAnotherPattern(Twins *t)
{
  PetscScalar   *values;
  PetscErrorCode error;

  PetscFunctionBeginUser;
  PetscCall(Preallocate(t, t->A[OURS]));
  PetscCall(SetValues(t, t->A[OURS], 1, INSERT_VALUES));
  PetscCall(MatSetOption(t->A[OURS], MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(t->A[OURS], MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt k = 0; k < t->m; k++) PetscCall(MatSetValue(t->A[OURS], t->begin + k, t->begin, 1, INSERT_VALUES));
  PetscCall(TestAssemble(t->A[OURS]));
  if (t->m == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1(t->n, &values));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  error = MatSetValuesCOO(t->A[OURS], values, INSERT_VALUES);
  PetscCall(PetscPopErrorHandler());
  CHECK(error == PETSC_ERR_ARG_WRONGSTATE, "values for another pattern give error %d", (int)error);
  PetscCall(PetscFree(values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates all device memory in blocks; *count becomes their number */
static PetscErrorCode TakeMemory(SpmvExec *exec, void *block[], int most, int *count)
{
  PetscFunctionBeginUser;
  spmv_exec_init(exec, SPMV_DEVICE);
  *count = 0;
  for (int64_t bytes = (int64_t)1 << 24; bytes >= 256; bytes /= 2)
    while (*count < most && !spmv_alloc(exec, SPMV_DEVICE, bytes, "all that there is", &block[*count])) ++*count;
  PetscCheck(*count < most, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the device has more memory than this test takes");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The GPU first has no memory for values, and then has memory again */
static PetscErrorCode CheckNoRoom(void)
{
  enum { BLOCKS = 100 };
  Twins    t;
  SpmvExec exec;
  void    *block[BLOCKS];
  int      count = 0;

  PetscFunctionBeginUser;
  PetscCall(TwinsCreate(1, &t));
  PetscCall(Draw(&t, &shapes[7], 60));
  for (int m = 0; m < TWINS; m++) PetscCall(Preallocate(&t, t.A[m]));
  PetscCall(SetBoth(&t, 1, INSERT_VALUES));
  PetscCall(CompareRows(&t, "with room"));
  PetscCall(TakeMemory(&exec, block, BLOCKS, &count));
  PetscCall(SetBoth(&t, 2, ADD_VALUES));
  PetscCall(SetBoth(&t, 3, ADD_VALUES));
  PetscCall(Compare(&t, "without room"));
  PetscCall(CheckView(&t, "without room"));
  PetscCall(SetBoth(&t, 4, INSERT_VALUES));
  PetscCall(CompareRows(&t, "without room, inserted"));
  for (int b = 0; b < count; b++) spmv_exec_free(&exec, SPMV_DEVICE, block[b]);
  PetscCall(SetBoth(&t, 5, ADD_VALUES));
  PetscCall(Compare(&t, "with room again"));
  for (int m = 0; m < TWINS; m++) PetscCall(Preallocate(&t, t.A[m]));
  PetscCall(SetBoth(&t, 6, ADD_VALUES));
  PetscCall(Compare(&t, "another list, with room again"));
  PetscCall(TwinsDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs alone (-beyond) and without -malloc_dump, because PETSc leaks memory after this error */
static PetscErrorCode CheckBeyond(void)
{
  Twins          t;
  PetscInt       i[] = {0, 1}, j[] = {0, 0};
  PetscErrorCode error;

  PetscFunctionBeginUser;
  PetscCall(TwinsCreate(1, &t));
  j[1] = t.M;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  error = MatSetPreallocationCOO(t.A[OURS], 2, i, j);
  PetscCall(PetscPopErrorHandler());
  CHECK(error == PETSC_ERR_ARG_OUTOFRANGE, "a column beyond the matrix gives error %d", (int)error);
  PetscCall(TwinsDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckAll(void)
{
  Twins t;

  PetscFunctionBeginUser;
  PetscCall(TwinsCreate(1, &t));
  /* the same two matrices take all lists, one after the other */
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
    PetscCall(Draw(&t, &shapes[s], 10 + s));
    PetscCall(CheckValues(&t));
    PetscCall(CheckPlanTakes(&t));
    PetscCall(CheckKnowledge(&t));
    PetscCall(CheckDuplicates(&t));
  }
  PetscCall(CheckLocal(&t));
  PetscCall(TwinsDestroy(&t));
  for (size_t s = 2; s < sizeof shapes / sizeof *shapes; s += 5) {
    PetscCall(TwinsCreate(1, &t));
    PetscCall(Draw(&t, &shapes[s], 30 + s));
    PetscCall(CheckOptions(&t));
    PetscCall(CheckConversions(&t));
    PetscCall(TwinsDestroy(&t));
  }
  PetscCall(CheckBlockSizes());
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool beyond = PETSC_FALSE, no_room = PETSC_FALSE;
  Twins     t;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof type, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-expect", expect, sizeof expect, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-beyond", &beyond, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-no_room", &no_room, NULL));
  PetscCall(PetscStrcmp(expect, "coordinates sorted on the GPU", &gpu));
  if (beyond) PetscCall(CheckBeyond());
  else if (no_room) PetscCall(CheckNoRoom());
  else PetscCall(CheckAll());
  if (gpu && !beyond) {
    PetscCall(TwinsCreate(1, &t));
    PetscCall(Draw(&t, &shapes[2], 50));
    PetscCall(CheckAnotherPattern(&t));
    PetscCall(TwinsDestroy(&t));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  if (!failed) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "all lists of coordinates of type %s\n", type));
  PetscCall(PetscFinalize());
  return failed ? 1 : 0;
}
