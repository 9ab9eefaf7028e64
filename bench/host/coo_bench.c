/*
  coo_bench - times the assembly of matrix types from a list of entries (COO), against plain CSR assembled by the same
  calls of PETSc.

    coo_bench [-matrix family[:size]] [-types aij,aijcodsell,...] [-repeat 5] [-json out.json]

  Measured for each type: MatSetPreallocationCOO(), MatSetValuesCOO() and the first product, minus a later product. That
  is the time to sort and add the list and, if the type has its own arrays, to convert. Then MatSetValuesCOO() with new
  values, in the same way. The entries are in scattered order. Times and results are compared with those of the first
  type: aij, or aijcusparse on a GPU. Reported is the minimum of the repeats.
*/
#include "host_matrix.h"
#include <json_text.h>
#include <petscpack.h>
#include <petsctime.h>

enum { MAX_TYPES = 12 };

typedef struct {
  PetscCount   n;
  PetscInt     rows, cols;
  PetscInt    *row, *col;
  PetscScalar *value;
} Entries;

typedef struct {
  const char *type;
  double      assembly, refresh, product; /* seconds */
  PetscReal   difference;
} Result;

/* The nonzeros of a matrix in scattered order: a walk with a stride that is coprime to their number */
static PetscErrorCode MakeEntries(const HostMatrix *m, Entries *e)
{
  const int32_t *row_ptr = m->csr.pattern.row_ptr, *col = m->csr.pattern.col;
  const double  *values = m->csr.values;
  PetscCount     stride = 1000003, at = 0;

  PetscFunctionBeginUser;
  e->n    = (PetscCount)m->csr.pattern.nnz;
  e->rows = (PetscInt)m->csr.pattern.rows;
  e->cols = (PetscInt)m->csr.pattern.cols;
  PetscCheck(e->n > 0 && e->n % stride, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "%" PetscInt64_FMT " nonzeros",
             (PetscInt64)e->n);
  PetscCall(PetscMalloc3(e->n, &e->row, e->n, &e->col, e->n, &e->value));
  for (PetscInt i = 0; i < e->rows; i++)
    for (int32_t k = row_ptr[i]; k < row_ptr[i + 1]; k++) {
      e->row[at]   = i;
      e->col[at]   = col[k];
      e->value[at] = values[k];
      at           = (at + stride) % e->n;
    }
  PetscFunctionReturn(0);
}

/* Seconds of a product, including the copy of its result to the host */
static PetscErrorCode TimeProduct(Mat A, Vec x, Vec y, double *seconds)
{
  const PetscScalar *ignored;
  PetscLogDouble     begin, end;

  PetscFunctionBeginUser;
  PetscCall(PetscTime(&begin));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecGetArrayRead(y, &ignored));
  PetscCall(VecRestoreArrayRead(y, &ignored));
  PetscCall(PetscTime(&end));
  *seconds = (double)(end - begin);
  PetscFunctionReturn(0);
}

/* Times one assembly and one change of values; r keeps the minimum times. y_host: the product after the assembly */
static PetscErrorCode MeasureOnce(const Entries *e, PetscBool first, Result *r, PetscScalar *y_host)
{
  Mat                A;
  Vec                x, y;
  PetscInt          *row, *col;
  PetscLogDouble     begin, assembled, again, changed;
  const PetscScalar *result;
  double             made, product, remade;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(e->n, &row, e->n, &col)); /* copies, because PETSc may overwrite them */
  PetscCall(PetscArraycpy(row, e->row, e->n));
  PetscCall(PetscArraycpy(col, e->col, e->n));
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, e->rows, e->cols, e->rows, e->cols));
  PetscCall(MatSetType(A, r->type));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(PetscTime(&begin));
  PetscCall(MatSetPreallocationCOO(A, e->n, row, col));
  PetscCall(MatSetValuesCOO(A, e->value, INSERT_VALUES));
  PetscCall(PetscTime(&assembled));
  PetscCall(TimeProduct(A, x, y, &made));
  PetscCall(VecGetArrayRead(y, &result));
  PetscCall(PetscArraycpy(y_host, result, e->rows));
  PetscCall(VecRestoreArrayRead(y, &result));
  PetscCall(TimeProduct(A, x, y, &product));
  PetscCall(PetscTime(&again));
  PetscCall(MatSetValuesCOO(A, e->value, INSERT_VALUES));
  PetscCall(PetscTime(&changed));
  PetscCall(TimeProduct(A, x, y, &remade));
  if (first || assembled - begin + made - product < r->assembly) r->assembly = assembled - begin + made - product;
  if (first || changed - again + remade - product < r->refresh) r->refresh = changed - again + remade - product;
  if (first || product < r->product) r->product = product;
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFree2(row, col));
  PetscFunctionReturn(0);
}

static PetscErrorCode WriteJson(const char path[], const HostMatrix *m, const Result r[], PetscInt count,
                                PetscInt repeat)
{
  JsonText j = {.lines = 2};
  char     petsc[32];

  PetscFunctionBeginUser;
  json_begin(&j, NULL, '{');
  snprintf(petsc, sizeof petsc, "%d.%d.%d", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR);
  JSON_STRINGS(&j, {"petsc", petsc}, {"matrix", m->name});
  JSON_NUMBERS(&j, {"nonzeros", (double)m->csr.pattern.nnz}, {"repeat", repeat});
  json_begin(&j, "records", '[');
  for (PetscInt i = 0; i < count; i++) {
    json_begin(&j, NULL, '{');
    json_string(&j, "type", r[i].type);
    JSON_NUMBERS(&j, {"assembly_ms", 1e3 * r[i].assembly}, {"refresh_ms", 1e3 * r[i].refresh},
                 {"product_ms", 1e3 * r[i].product}, {"assembly_ratio", r[i].assembly / r[0].assembly},
                 {"refresh_ratio", r[i].refresh / r[0].refresh});
    json_end(&j);
  }
  PetscCheck(!json_save(&j, path), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "cannot write %s", path);
  json_free(&j);
  PetscFunctionReturn(0);
}

/* Types take turns, so that other load on the machine affects all of them alike. *wrong: the number of types whose
   result differs from that of the first */
static PetscErrorCode MeasureAll(const Entries *e, PetscInt repeat, Result r[], PetscInt count, PetscInt *wrong)
{
  PetscScalar *y[2];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(e->rows, &y[0], e->rows, &y[1]));
  for (PetscInt k = 0; k < repeat; k++)
    for (PetscInt i = 0; i < count; i++) {
      PetscCall(MeasureOnce(e, k == 0 ? PETSC_TRUE : PETSC_FALSE, &r[i], y[i > 0]));
      for (PetscInt j = 0; i > 0 && j < e->rows; j++)
        r[i].difference = PetscMax(r[i].difference, PetscAbsScalar(y[1][j] - y[0][j]));
    }
  *wrong = 0;
  for (PetscInt i = 0; i < count; i++) {
    const PetscBool right = r[i].difference <= 1e4 * PETSC_MACHINE_EPSILON ? PETSC_TRUE : PETSC_FALSE;
    *wrong += !right;
    PetscCall(PetscPrintf(PETSC_COMM_SELF,
                          "%-14s assembly %9.2f ms  %5.2fx   refresh %8.2f ms  %5.2fx   product %7.3f ms%s\n",
                          r[i].type, 1e3 * r[i].assembly, r[i].assembly / r[0].assembly, 1e3 * r[i].refresh,
                          r[i].refresh / r[0].refresh, 1e3 * r[i].product, right ? "" : "  WRONG"));
  }
  PetscCall(PetscFree2(y[0], y[1]));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char       name[64] = "stencil27:60", json[PETSC_MAX_PATH_LEN] = "";
  char      *chosen[MAX_TYPES];
  Result     results[MAX_TYPES] = {{0}};
  PetscInt   count = MAX_TYPES, repeat = 5, wrong = 0;
  PetscBool  has_types;
  HostMatrix matrix;
  Entries    entries;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, "Times COO assembly of matrix types.\n"));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-matrix", name, sizeof name, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-json", json, sizeof json, NULL));
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-types", chosen, &count, &has_types));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &repeat, NULL));
  PetscCheck(repeat >= 1, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-repeat needs at least 1");
  if (!has_types) {
    const char *const defaults[] = {MATAIJ, MATAIJRBP, MATAIJFOLD, MATAIJCRSV, MATAIJCODSELL};
    count                        = (PetscInt)PETSC_STATIC_ARRAY_LENGTH(defaults);
    for (PetscInt i = 0; i < count; i++) PetscCall(PetscStrallocpy(defaults[i], &chosen[i]));
  }
  for (PetscInt i = 0; i < count; i++) results[i].type = chosen[i];
  PetscCall(HostMatrixGenerate(name, &matrix));
  PetscCall(MakeEntries(&matrix, &entries));
  PetscCall(MeasureAll(&entries, repeat, results, count, &wrong));
  if (json[0]) PetscCall(WriteJson(json, &matrix, results, count, repeat));
  PetscCall(PetscFree3(entries.row, entries.col, entries.value));
  PetscCall(HostMatrixDestroy(&matrix));
  for (PetscInt i = 0; i < count; i++) PetscCall(PetscFree(chosen[i]));
  PetscCall(PetscFinalize());
  return wrong ? 1 : 0;
}
