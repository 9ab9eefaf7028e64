/* values_compare.c - matrices distributed over the processes, and their comparison with plain twins, for
   mat_values.c. */
#include "mat_values.h"

ValuesTest values_test;

PetscErrorCode ValuesTestInit(PetscInt side)
{
  ValuesTest *t = &values_test;

  PetscFunctionBeginUser;
  *t = (ValuesTest){.comm = PETSC_COMM_WORLD, .side = side, .good = PETSC_TRUE, .format = "rbp", .place = "host"};
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-side", &t->side, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-format", t->format, sizeof t->format, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-little_memory", &t->little_memory, NULL));
  PetscCallMPI(MPI_Comm_size(t->comm, &t->size));
  t->plain = t->size > 1 ? MATMPIAIJ : MATSEQAIJ;
  PetscCall(PetscSNPrintf(t->type, sizeof t->type, "%s%s", t->plain, t->format));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Shares of n rows, or columns, as equal as possible */
static PetscErrorCode LocalSize(PetscInt n, PetscInt *local)
{
  const PetscInt first = values_test.first_empty && values_test.size > 1 ? 1 : 0;
  const PetscInt parts = values_test.size - first;
  PetscMPIInt    rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(values_test.comm, &rank));
  *local = rank < first ? 0 : n / parts + (rank - first < n % parts ? 1 : 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ValuesSetSizes(Mat A, PetscInt rows, PetscInt cols)
{
  PetscInt m, n;

  PetscFunctionBeginUser;
  PetscCall(LocalSize(rows, &m));
  PetscCall(LocalSize(cols, &n));
  PetscCall(MatSetSizes(A, m, n, rows, cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix with room for `nonzeros` entries per row. MatShift() of a parallel matrix inserts missing diagonal entries
   by MatSetValues(), so new nonzeros are allowed. */
static PetscErrorCode Create(MatType type, PetscInt rows, PetscInt cols, PetscInt nonzeros, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(values_test.comm, A));
  PetscCall(ValuesSetSizes(*A, rows, cols));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, nonzeros, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, nonzeros, NULL, nonzeros, NULL));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ValuesAssemble(MatType type, PetscBool full, PetscReal scale, Mat *A)
{
  const GenSpec spec = gen_stencil(27, values_test.side, values_test.side, values_test.side);
  int64_t       wide[27];
  PetscInt      col[27], start, end;
  PetscScalar   value[27];

  PetscFunctionBeginUser;
  PetscCall(Create(type, (PetscInt)spec.rows, (PetscInt)spec.cols, 27, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    const int64_t count = spec.row(&spec, i, wide);
    PetscInt      n     = 0;

    for (int64_t k = 0; k < count; k++) {
      if (!full && i % 7 == 3 && wide[k] == i) continue;
      col[n]     = (PetscInt)wide[k];
      value[n++] = wide[k] == i ? 30 * scale : -scale / (PetscReal)(1 + (i + k) % 7);
    }
    PetscCall(MatSetValues(*A, 1, &i, n, col, value, INSERT_VALUES));
  }
  PetscCall(TestAssemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ValuesAssembleP(MatType type, Mat *P)
{
  const PetscInt rows = values_test.side * values_test.side * values_test.side, cols = (rows + 7) / 8;
  PetscInt       start, end;

  PetscFunctionBeginUser;
  PetscCall(Create(type, rows, cols, 2, P));
  PetscCall(MatGetOwnershipRange(*P, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    PetscCall(MatSetValue(*P, i, i / 8, 1 + 0.125 * (PetscReal)(i % 3), INSERT_VALUES));
    if (i % 5 == 0 && i / 8 + 1 < cols) PetscCall(MatSetValue(*P, i, i / 8 + 1, 0.5, INSERT_VALUES));
  }
  PetscCall(TestAssemble(*P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ValuesVector(PetscInt n, PetscInt seed, Mat A, Vec *v)
{
  PetscScalar *a;
  Vec          left;
  PetscInt     cols, start, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, NULL, &cols));
  PetscCall(MatCreateVecs(A, v, &left));
  if (n != cols) {
    PetscCall(VecDestroy(v));
    *v   = left;
    left = NULL;
  }
  PetscCall(VecDestroy(&left));
  PetscCall(VecGetOwnershipRange(*v, &start, &end));
  PetscCall(VecGetArrayWrite(*v, &a));
  for (PetscInt i = start; i < end; i++) a[i - start] = 0.5 + 0.25 * (PetscReal)((i * 7 + seed) % 9);
  PetscCall(VecRestoreArrayWrite(*v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ValuesRequire(PetscBool yes, const char what[])
{
  const ValuesTest *t = &values_test;

  PetscFunctionBeginUser;
  if (!yes) {
    values_test.good = PETSC_FALSE;
    PetscCall(PetscPrintf(t->comm, "FAILED: %s with values on %s%s: %s\n", t->operation, t->place,
                          t->first_empty ? ", first process without rows" : "", what));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ValuesRequirePlace(PetscBool yes, const char what[])
{
  return ValuesRequire(yes || values_test.little_memory, what);
}

PetscErrorCode ValuesDifference(Vec a, Vec b, PetscReal *difference)
{
  const PetscScalar *x, *y;
  PetscReal          most[2] = {0, 0}; /* the largest difference, and the largest entry */
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(b, &n));
  PetscCall(VecGetArrayRead(a, &x));
  PetscCall(VecGetArrayRead(b, &y));
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal d = PetscAbsScalar(x[i] - y[i]);

    if (PetscIsInfOrNanScalar(y[i])) {
      if (PetscIsNanScalar(y[i]) ? !PetscIsNanScalar(x[i]) : x[i] != y[i]) most[0] = PETSC_MAX_REAL;
      continue;
    }
    if (!(d <= most[0])) most[0] = PetscIsInfOrNanReal(d) ? PETSC_MAX_REAL : d; /* a maximum may lose NaN */
    most[1] = PetscMax(most[1], PetscAbsScalar(y[i]));
  }
  PetscCall(VecRestoreArrayRead(b, &y));
  PetscCall(VecRestoreArrayRead(a, &x));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPIU_REAL, MPI_MAX, values_test.comm));
  *difference = most[1] > 0 ? most[0] / most[1] : most[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares y = A x or A^T x with the twin, and the diagonal if the vector has the length of the rows */
static PetscErrorCode CompareProduct(Mat A, Mat twin, PetscBool transposed)
{
  const PetscReal bound = 200 * PETSC_MACHINE_EPSILON;
  Vec             x, y, u, v;
  PetscReal       difference;
  PetscInt        rows, cols;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &rows, &cols));
  PetscCall(ValuesVector(transposed ? rows : cols, 1, A, &x));
  PetscCall(ValuesVector(transposed ? cols : rows, 1, A, &y));
  PetscCall(ValuesVector(transposed ? rows : cols, 1, twin, &u));
  PetscCall(ValuesVector(transposed ? cols : rows, 1, twin, &v));
  PetscCall((transposed ? MatMultTranspose : MatMult)(A, x, y));
  PetscCall((transposed ? MatMultTranspose : MatMult)(twin, u, v));
  PetscCall(ValuesDifference(y, v, &difference));
  PetscCall(ValuesRequire(difference <= bound, transposed ? "transposed product" : "product"));
  if (rows == cols) {
    PetscCall(MatGetDiagonal(A, y));
    PetscCall(MatGetDiagonal(twin, v));
    PetscCall(ValuesDifference(y, v, &difference));
    PetscCall(ValuesRequire(difference <= bound, "diagonal"));
  }
  PetscCall(TestDestroyVecs(&x, &y));
  PetscCall(TestDestroyVecs(&u, &v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ValuesCompare(Mat A, Mat twin, PetscBool exact)
{
  Mat       plain;
  PetscBool equal;

  PetscFunctionBeginUser;
  PetscCall(CompareProduct(A, twin, PETSC_FALSE));
  PetscCall(CompareProduct(A, twin, PETSC_TRUE));
  if (!exact) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatConvert(A, values_test.plain, MAT_INITIAL_MATRIX, &plain));
  PetscCall(MatEqual(plain, twin, &equal));
  PetscCall(ValuesRequire(equal, "values"));
  PetscCall(MatDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each process sets its first entry, and an entry in the first row of the next process and a column of its own, which
   lies in an off-diagonal block there */
PetscErrorCode ValuesChangeOnHost(Mat A, Mat twin)
{
  const PetscInt below  = values_test.side * values_test.side; /* column distance to the next layer of the stencil */
  Mat            both[] = {A, twin};
  PetscInt       rows, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &rows, NULL));
  PetscCall(MatGetOwnershipRange(A, NULL, &end));
  for (int m = 0; m < 2; m++) {
    PetscCall(MatSetValue(both[m], 0, 0, 77, INSERT_VALUES));
    if (end >= below && end < rows) PetscCall(MatSetValue(both[m], end, end - below, 55, INSERT_VALUES));
    PetscCall(TestAssemble(both[m]));
  }
  PetscCall(ValuesCompare(A, twin, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ValuesSetPlace(Mat A)
{
  PetscBool assembled;
  Mat       reader;

  PetscFunctionBeginUser;
  PetscCall(MatAssembled(A, &assembled));
  if (assembled && values_test.place[0] == 'h') {
    PetscCall(MatCreateMAIJ(A, 2, &reader));
    PetscCall(MatDestroy(&reader));
  }
  PetscCall(MatAIJFmtSetOption(A, "device", "gpu"));
  PetscCall(MatAIJFmtSetOption(A, "decline", "false"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
