/*
  petsc_bench.c - times MatMult() of several matrix types on one matrix: the overhead of the plugin over its kernels,
  with PETSc's own GPU types as peers

     petsc_bench -f matrix.petsc -dll_append libpetscpack.so -types aijcusparse,sellcuda,aijrbp -json out.json [-changes]

  MatMult() of a GPU type returns before the product is done, so each batch ends with a wait for the device. The result
  of every type is compared with the product of MATAIJ on the host before it is timed. -first n also times the first n
  products together, with the conversion in the first one. -changes also times changes of the values, each with the
  product after it. Exit status: 0 if all types that this PETSc has were right, 1
  if one was wrong or failed, 2 if this PETSc has none of them.
*/
#include "../copy_vector.h"
#include <json_text.h>
#include <petscmat.h>
#if PetscDefined(HAVE_DEVICE)
  #include <petscdevice.h>
#endif
#include <petsctime.h>

static char help[] = "Times MatMult() of several matrix types on one matrix from a file.\n";

#define MAX_TYPES   16
#define MAX_BATCHES 200
#define CHANGES     4
#define WARM_UP     20 /* products; enough to end a trial of two formats */

typedef struct {
  const char *type;
  PetscBool   present, ok;
  char        error[256];
  PetscReal   error_relative;
  double      convert_us, first_us, median_us, least_us, most_us, change_us[CHANGES], changed_us[CHANGES];
} Record;

/* Waits until the device has done the work enqueued for A; for a host type, no device is touched */
static PetscErrorCode WaitForDevice(Mat A)
{
  VecType   vectors;
  PetscBool cuda = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(MatGetVecType(A, &vectors));
  PetscCall(PetscStrendswith(vectors, "cuda", &cuda));
#if PetscDefined(HAVE_DEVICE)
  if (cuda) {
    PetscDeviceContext context;
    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextSynchronize(context));
  }
#endif
  PetscFunctionReturn(0);
}

/* Converts the host matrix to a type. PETSc converts to MATSELLCUDA only from MATSELL. */
static PetscErrorCode ConvertTo(Mat host, const char *type, Mat *converted)
{
  PetscBool sellcuda;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(type, "sellcuda", &sellcuda));
  PetscCall(MatConvert(host, sellcuda ? MATSELL : type, MAT_INITIAL_MATRIX, converted));
  if (sellcuda) PetscCall(MatConvert(*converted, type, MAT_INPLACE_MATRIX, converted));
  PetscFunctionReturn(0);
}

static int CompareReals(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Seconds of one product, measured in batches: those of the slowest rank */
static PetscErrorCode TimeProducts(Mat A, Vec x, Vec y, PetscInt batches, PetscInt batch, Record *r)
{
  double seconds[MAX_BATCHES];

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < WARM_UP; i++) PetscCall(MatMult(A, x, y));
  for (PetscInt b = 0; b < batches; b++) {
    PetscLogDouble begin, end;
    double         spent;
    PetscCall(WaitForDevice(A));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(PetscTime(&begin));
    for (PetscInt i = 0; i < batch; i++) PetscCall(MatMult(A, x, y));
    PetscCall(WaitForDevice(A));
    PetscCall(PetscTime(&end));
    spent = (double)(end - begin) / (double)batch;
    PetscCallMPI(MPI_Allreduce(&spent, &seconds[b], 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  }
  qsort(seconds, (size_t)batches, sizeof seconds[0], CompareReals);
  r->median_us = 1e6 * 0.5 * (seconds[(batches - 1) / 2] + seconds[batches / 2]);
  r->least_us  = 1e6 * seconds[0];
  r->most_us   = 1e6 * seconds[batches - 1];
  PetscFunctionReturn(0);
}

static PetscErrorCode Scale(Mat A, Vec d)
{
  (void)d;
  return MatScale(A, 1.0001);
}
static PetscErrorCode Shift(Mat A, Vec d)
{
  (void)d;
  return MatShift(A, 1e-4);
}
static PetscErrorCode AddDiagonal(Mat A, Vec d) { return MatDiagonalSet(A, d, ADD_VALUES); }
static PetscErrorCode ScaleRows(Mat A, Vec d) { return MatDiagonalScale(A, d, NULL); }

static const struct {
  const char *name;
  PetscErrorCode (*run)(Mat, Vec);
} changes[CHANGES] = {
    {"MatScale", Scale}, {"MatShift", Shift}, {"MatDiagonalSet", AddDiagonal}, {"MatDiagonalScale", ScaleRows}};

/* The medians of each change and of the product after it */
static PetscErrorCode TimeChanges(Mat A, Vec x, Vec y, PetscInt repeats, Record *r)
{
  double seconds[2][MAX_BATCHES];
  Vec    d;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(y, &d));
  PetscCall(VecSet(d, 1.0001));
  for (int c = 0; c < CHANGES; c++) {
    for (PetscInt k = -3; k < repeats; k++) { /* the first ones allocate */
      PetscLogDouble time[3] = {0};
      for (int part = 0; part < 3; part++) {
        if (part == 1) PetscCall(changes[c].run(A, d));
        if (part == 2) PetscCall(MatMult(A, x, y));
        PetscCall(WaitForDevice(A));
        PetscCall(PetscTime(&time[part]));
        if (part && k >= 0) seconds[part - 1][k] = (double)(time[part] - time[part - 1]);
      }
    }
    for (int part = 0; part < 2; part++) {
      PetscCallMPI(
          MPI_Allreduce(MPI_IN_PLACE, seconds[part], (PetscMPIInt)repeats, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
      qsort(seconds[part], (size_t)repeats, sizeof(double), CompareReals);
    }
    r->change_us[c]  = 1e6 * seconds[0][repeats / 2];
    r->changed_us[c] = 1e6 * seconds[1][repeats / 2];
  }
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(0);
}

/* Converts, compares with expected = A x of the host, and times */
static PetscErrorCode MeasureType(Mat host, Vec x_host, Vec expected, const PetscInt counts[4], Record *r)
{
  Mat            A;
  Vec            x, y, difference;
  PetscReal      norm, error;
  PetscLogDouble begin, first, end;

  PetscFunctionBeginUser;
  PetscCall(PetscTime(&begin));
  PetscCall(ConvertTo(host, r->type, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(CopyThroughHost(x_host, x));
  PetscCall(PetscTime(&first));
  PetscCall(MatMult(A, x, y)); /* the first product includes lazy conversions */
  PetscCall(WaitForDevice(A));
  PetscCall(PetscTime(&end));
  r->convert_us = 1e6 * (double)(end - begin);
  for (PetscInt i = 1; i < counts[0]; i++) PetscCall(MatMult(A, x, y));
  PetscCall(WaitForDevice(A));
  PetscCall(PetscTime(&end));
  r->first_us = 1e6 * (double)(end - first);
  PetscCall(VecDuplicate(expected, &difference));
  PetscCall(CopyThroughHost(y, difference));
  PetscCall(VecAXPY(difference, -1, expected));
  PetscCall(VecNorm(difference, NORM_2, &error));
  PetscCall(VecNorm(expected, NORM_2, &norm));
  r->error_relative = norm > 0 ? error / norm : error;
  r->ok             = (PetscBool)(r->error_relative <= 1e3 * PETSC_MACHINE_EPSILON);
  if (r->ok) PetscCall(TimeProducts(A, x, y, counts[1], counts[2], r));
  if (r->ok && counts[3]) PetscCall(TimeChanges(A, x, y, counts[1], r));
  if (!r->ok)
    PetscCall(PetscSNPrintf(r->error, sizeof r->error, "differs from the host by %g", (double)r->error_relative));
  PetscCall(VecDestroy(&difference));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

/* Warm-up calls, so that work done once per process is not measured: starting libraries, and loading kernels, including
   those for a trial of aijauto */
static PetscErrorCode WarmUp(Mat host, const char *type)
{
  Mat A;
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(ConvertTo(host, type, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  for (PetscInt i = 0; i < WARM_UP; i++) PetscCall(MatMult(A, x, y));
  PetscCall(WaitForDevice(A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

/* A failure of a type is recorded, and the other types still run */
static PetscErrorCode MeasureOrRecord(Mat host, Vec x, Vec expected, const PetscInt counts[4], Record *r)
{
  char           name[64];
  PetscErrorCode code;
  PetscErrorCode (*constructor)(Mat) = NULL;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(name, sizeof name, "seq%s", r->type));
  PetscCall(PetscFunctionListFind(MatList, name, &constructor));
  r->present = (PetscBool)(constructor != NULL);
  if (!r->present) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-14s not in this PETSc\n", r->type));
    PetscFunctionReturn(0);
  }
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  code = WarmUp(host, r->type);
  if (!code) code = MeasureType(host, x, expected, counts, r);
  PetscCall(PetscPopErrorHandler());
  if (code) {
    const char *text = NULL;
    PetscCall(PetscErrorMessage(code, &text, NULL));
    PetscCall(PetscSNPrintf(r->error, sizeof r->error, "error %d: %s", (int)code, text ? text : ""));
    r->ok = PETSC_FALSE;
  }
  if (r->ok)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-14s %10.2f us (%.2f .. %.2f)  first product %.0f us\n", r->type,
                          r->median_us, r->least_us, r->most_us, r->convert_us));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-14s FAILED: %s\n", r->type, r->error));
  PetscFunctionReturn(0);
}

static void WriteRecord(JsonText *j, const Record *r, PetscBool with_changes)
{
  json_begin(j, NULL, '{');
  json_string(j, "type", r->type);
  json_bool(j, "ok", r->ok);
  if (r->ok) {
    JSON_NUMBERS(j, {"us", r->median_us}, {"least_us", r->least_us}, {"most_us", r->most_us},
                 {"first_product_us", r->convert_us}, {"first_us", r->first_us},
                 {"error_relative", (double)r->error_relative});
    for (int c = 0; c < CHANGES && with_changes; c++) {
      json_begin(j, changes[c].name, '{');
      JSON_NUMBERS(j, {"change_us", r->change_us[c]}, {"product_us", r->changed_us[c]});
      json_end(j);
    }
  } else {
    json_bool(j, "present", r->present);
    json_string(j, "error", r->error);
  }
  json_end(j);
}

static PetscErrorCode WriteJson(const char *path, const char *matrix, Mat A, const Record *r, PetscInt count,
                                const PetscInt counts[4])
{
  JsonText    j = {.lines = 2};
  char        petsc[32];
  MatInfo     info;
  PetscInt    rows, cols;
  PetscMPIInt rank, ranks;

  PetscFunctionBeginUser;
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  PetscCall(MatGetSize(A, &rows, &cols));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  json_begin(&j, NULL, '{');
  snprintf(petsc, sizeof petsc, "%d.%d.%d", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR);
  JSON_STRINGS(&j, {"petsc", petsc}, {"matrix", matrix});
  JSON_NUMBERS(&j, {"ranks", ranks}, {"rows", rows}, {"cols", cols}, {"nnz", info.nz_used}, {"first", counts[0]},
               {"batch", counts[2]});
  json_begin(&j, "records", '[');
  for (PetscInt i = 0; i < count; i++) WriteRecord(&j, &r[i], counts[3] ? PETSC_TRUE : PETSC_FALSE);
  PetscCheck(rank || !json_save(&j, path), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "cannot write %s", path);
  json_free(&j);
  PetscFunctionReturn(0);
}

/* Loads the matrix as MATAIJ on the host, and makes x with values in [0, 1) and expected = A x */
static PetscErrorCode LoadProblem(const char *path, Mat *A, Vec *x, Vec *expected)
{
  PetscViewer viewer;
  PetscRandom random;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, path, FILE_MODE_READ, &viewer));
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatLoad(*A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(MatCreateVecs(*A, x, expected));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(PetscRandomSetType(random, PETSCRAND48));
  PetscCall(VecSetRandom(*x, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(MatMult(*A, *x, *expected));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char      path[PETSC_MAX_PATH_LEN] = "", json[PETSC_MAX_PATH_LEN] = "";
  char     *chosen[MAX_TYPES];
  Record    records[MAX_TYPES] = {{0}};
  PetscInt  count = MAX_TYPES, counts[4] = {1, 15, 50, 0} /* first, batches, batch, changes */, present = 0, wrong = 0;
  PetscBool has_file, has_types, decides;
  Mat       A;
  Vec       x, expected;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-f", path, sizeof path, &has_file));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-json", json, sizeof json, NULL));
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-types", chosen, &count, &has_types));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-first", &counts[0], NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-batches", &counts[1], NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-batch", &counts[2], NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-changes", &decides));
  counts[3] = decides;
  PetscCheck(has_file, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "no matrix is given: -f file");
  PetscCheck(counts[1] >= 1 && counts[1] <= MAX_BATCHES && counts[2] >= 1, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-batches must be 1 to %d, -batch at least 1", MAX_BATCHES);
  if (!has_types) {
    const char *const defaults[] = {"aijcusparse", "sellcuda", "aijrbp", "aijfold", "aijcrsv", "aijcodsell"};
    count                        = (PetscInt)PETSC_STATIC_ARRAY_LENGTH(defaults);
    for (PetscInt i = 0; i < count; i++) PetscCall(PetscStrallocpy(defaults[i], &chosen[i]));
  }
  /* so that a format is timed even if it would leave its products to the parent type */
  PetscCall(PetscOptionsHasName(NULL, NULL, "-mat_aijfmt_decline", &decides));
  if (!decides) PetscCall(PetscOptionsSetValue(NULL, "-mat_aijfmt_decline", "false"));
  PetscCall(LoadProblem(path, &A, &x, &expected));
  for (PetscInt i = 0; i < count; i++) {
    records[i].type = chosen[i];
    PetscCall(MeasureOrRecord(A, x, expected, counts, &records[i]));
    present += records[i].present;
    wrong += records[i].present && !records[i].ok;
  }
  if (json[0]) PetscCall(WriteJson(json, path, A, records, count, counts));
  for (PetscInt i = 0; i < count; i++) PetscCall(PetscFree(chosen[i]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&expected));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return wrong ? 1 : present ? 0 : 2;
}
