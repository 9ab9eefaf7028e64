/*
  petsc_bench.c - times MatMult() of several matrix types on one matrix: the overhead of the plugin over its kernels,
  with PETSc's own GPU types as peers

     petsc_bench -f matrix.petsc -dll_append libpetscpack.so -types aijcusparse,sellcuda,aijrbp -json out.json

  MatMult() of a GPU type returns before the product is done, so each batch ends with a wait for the device. The result
  of every type is compared with the product of MATAIJ on the host before it is timed. -first n also times the first n
  products together, with the conversion in the first one. Exit status: 0 if all types that this PETSc has were right, 1
  if one was wrong or failed, 2 if this PETSc has none of them.
*/
#include "../copy_vector.h"
#include <petscmat.h>
#if PetscDefined(HAVE_DEVICE)
  #include <petscdevice.h>
#endif
#include <petsctime.h>

static char help[] = "Times MatMult() of several matrix types on one matrix from a file.\n";

#define MAX_TYPES   16
#define MAX_BATCHES 200
#define WARM_UP     20 /* products; enough to end a trial of two formats */

typedef struct {
  const char *type;
  PetscBool   present, ok;
  char        error[256];
  PetscReal   error_relative;
  double      convert_us, first_us, median_us, least_us, most_us;
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

/* Converts, compares with expected = A x of the host, and times */
static PetscErrorCode MeasureType(Mat host, Vec x_host, Vec expected, const PetscInt counts[3], Record *r)
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
  else PetscCall(PetscSNPrintf(r->error, sizeof r->error, "differs from the host by %g", (double)r->error_relative));
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
static PetscErrorCode MeasureOrRecord(Mat host, Vec x, Vec expected, const PetscInt counts[3], Record *r)
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

static PetscErrorCode WriteJson(const char *path, const char *matrix, Mat A, const Record *r, PetscInt count,
                                const PetscInt counts[3])
{
  FILE       *file;
  MatInfo     info;
  PetscInt    rows, cols;
  PetscMPIInt ranks;

  PetscFunctionBeginUser;
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  PetscCall(MatGetSize(A, &rows, &cols));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(PetscFOpen(PETSC_COMM_WORLD, path, "w", &file));
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file,
                         "{\"petsc\": \"%d.%d.%d\", \"matrix\": \"%s\", \"ranks\": %d, \"rows\": %" PetscInt_FMT
                         ", \"cols\": %" PetscInt_FMT ", \"nnz\": %.0f, \"first\": %" PetscInt_FMT
                         ", \"batch\": %" PetscInt_FMT ", \"records\": [",
                         PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR, matrix, ranks, rows, cols,
                         info.nz_used, counts[0], counts[2]));
  for (PetscInt i = 0; i < count; i++) {
    const char *separator = i ? "," : "";
    if (r[i].ok)
      PetscCall(
          PetscFPrintf(PETSC_COMM_WORLD, file,
                       "%s\n {\"type\": \"%s\", \"ok\": true, \"us\": %.4f, \"least_us\": %.4f, \"most_us\": %.4f, "
                       "\"first_product_us\": %.1f, \"first_us\": %.1f, \"error_relative\": %.3e}",
                       separator, r[i].type, r[i].median_us, r[i].least_us, r[i].most_us, r[i].convert_us,
                       r[i].first_us, (double)r[i].error_relative));
    else
      PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file,
                             "%s\n {\"type\": \"%s\", \"ok\": false, \"present\": %s, \"error\": \"%s\"}", separator,
                             r[i].type, r[i].present ? "true" : "false", r[i].error));
  }
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "\n]}\n"));
  PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
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
  PetscInt  count = MAX_TYPES, counts[3] = {1, 15, 50} /* first, batches, batch */, present = 0, wrong = 0;
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
