/*
  op_reads.c - operations that read a matrix and do not change it
*/
#include "ops.h"

#include <spmv_kernels.h>
#include <stdio.h>

/* ---- values ---- */

enum { ARRAY, ARRAY_READ, ARRAY_WITH_MEMTYPE };

/* Records the n values of an array on the host or on a device */
static PetscErrorCode SeeArray(Conf *c, PetscInt n, const PetscScalar array[], PetscMemType memtype)
{
  PetscScalar *here;
  SpmvExec     exec;
  SpmvStatus   status;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &here));
  if (PetscMemTypeHost(memtype)) PetscCall(PetscArraycpy(here, array, n));
  else {
    spmv_exec_init(&exec, SPMV_DEVICE);
    status = spmv_copy(here, SPMV_HOST, array, SPMV_DEVICE, n * (int64_t)sizeof *array, &exec);
    if (!status) status = spmv_stream_wait(&exec);
    PetscCheck(!status, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", exec.message);
  }
  for (PetscInt k = 0; k < n; k++) PetscCall(ConfSeeReal(c, "array", PetscRealPart(here[k])));
  PetscCall(PetscFree(here));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Arrays(Conf *c)
{
  const int          way  = c->operation->how;
  const PetscScalar *read = NULL;
  const PetscInt    *i, *j;
  Mat                block[3];

  PetscFunctionBeginUser;
  PetscCall(OpBlocks(c->A, block));
  for (int b = 0; block[b]; b++) {
    PetscScalar *array   = NULL;
    PetscMemType memtype = PETSC_MEMTYPE_HOST;
    MatInfo      info;

    PetscCall(MatGetInfo(block[b], MAT_LOCAL, &info));
    if (way == ARRAY) PetscCall(MatSeqAIJGetArray(block[b], &array));
    else if (way == ARRAY_READ) PetscCall(MatSeqAIJGetArrayRead(block[b], &read));
    else PetscCall(MatSeqAIJGetCSRAndMemType(block[b], &i, &j, &array, &memtype));
    PetscCall(SeeArray(c, (PetscInt)info.nz_used, way == ARRAY_READ ? read : array, memtype));
    if (way == ARRAY) PetscCall(MatSeqAIJRestoreArray(block[b], &array));
    if (way == ARRAY_READ) PetscCall(MatSeqAIJRestoreArrayRead(block[b], &read));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Rows(Conf *c) { return ConfSeeRows(c, "rows", c->A); }

static PetscErrorCode Products(Conf *c) { return ConfSeeProducts(c, "products", c->A); }

static PetscErrorCode Values(Conf *c)
{
  PetscInt     low, high, N, *col;
  PetscScalar *value;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(c->A, NULL, &N));
  PetscCall(MatGetOwnershipRange(c->A, &low, &high));
  PetscCall(PetscMalloc2(N, &col, N, &value));
  for (PetscInt j = 0; j < N; j++) col[j] = j;
  for (PetscInt i = low; i < high; i++) {
    PetscCall(MatGetValues(c->A, 1, &i, N, col, value));
    for (PetscInt j = 0; j < N; j++) PetscCall(ConfSeeReal(c, "MatGetValues", PetscRealPart(value[j])));
  }
  PetscCall(PetscFree2(col, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Diagonal(Conf *c)
{
  Vec         d;
  PetscScalar trace;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(c->A, NULL, &d));
  PetscCall(MatGetDiagonal(c->A, d));
  PetscCall(ConfSeeVec(c, "diagonal", d));
  PetscCall(MatGetTrace(c->A, &trace));
  PetscCall(ConfSeeReal(c, "trace", PetscRealPart(trace)));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowExtremes(Conf *c)
{
  PetscErrorCode (*const extremes[])(Mat, Vec, PetscInt[]) = {MatGetRowMaxAbs, MatGetRowMinAbs, MatGetRowMax,
                                                              MatGetRowMin};
  PetscInt m, *index;
  Vec      y;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(c->A, &m, NULL));
  PetscCall(PetscMalloc1(m, &index));
  PetscCall(MatCreateVecs(c->A, NULL, &y));
  for (int e = 0; e < 4; e++) {
    PetscCall(extremes[e](c->A, y, e < 2 || OpChance(c, 50) ? index : NULL));
    PetscCall(ConfSeeVec(c, "extreme of a row", y));
    for (PetscInt i = 0; i < m && e < 2; i++) PetscCall(ConfSeeReal(c, "its column", (PetscReal)index[i]));
  }
  PetscCall(MatGetRowSum(c->A, y));
  PetscCall(ConfSeeVec(c, "row sum", y));
  PetscCall(VecDestroy(&y));
  PetscCall(PetscFree(index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Norms(Conf *c)
{
  const NormType types[] = {NORM_1, NORM_FROBENIUS, NORM_INFINITY};
  PetscReal      norm, *column;
  PetscInt       N;

  PetscFunctionBeginUser;
  for (int k = 0; k < 3; k++) {
    PetscCall(MatNorm(c->A, types[k], &norm));
    PetscCall(ConfSeeReal(c, "norm", norm));
  }
  PetscCall(MatGetSize(c->A, NULL, &N));
  PetscCall(PetscMalloc1(N, &column));
  PetscCall(MatGetColumnNorms(c->A, OpChance(c, 50) ? NORM_2 : NORM_INFINITY, column));
  for (PetscInt j = 0; j < N; j++) PetscCall(ConfSeeReal(c, "column norms", column[j]));
  PetscCall(PetscFree(column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Records the text character by character, without comment lines, which name the type */
static PetscErrorCode ViewText(Conf *c)
{
  PetscViewer viewer;
  FILE       *file;
  char        line[256];

  PetscFunctionBeginUser;
  PetscCall(PetscObjectSetName((PetscObject)c->A, "A"));
  PetscCall(PetscViewerASCIIOpen(c->comm, c->file, &viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_MATLAB));
  PetscCall(MatView(c->A, viewer));
  PetscCall(PetscViewerPopFormat(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscFOpen(c->comm, c->file, "r", &file));
  while (file && fgets(line, sizeof line, file)) /* on the first process */
    for (int k = 0; line[0] != '%' && line[k]; k++) PetscCall(ConfSeeReal(c, "MatView as text", line[k]));
  PetscCall(PetscFClose(c->comm, file));
  PetscCallMPI(MPI_Barrier(c->comm));
  if (!c->rank) (void)remove(c->file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- pattern, symmetry, equality, errors ---- */

/* Without memory and mallocs, which differ between the types */
static PetscErrorCode Info(Conf *c)
{
  MatInfo   info;
  PetscBool yes;

  PetscFunctionBeginUser;
  PetscCall(MatGetInfo(c->A, MAT_GLOBAL_SUM, &info));
  PetscCall(ConfSeeReal(c, "nz_used", info.nz_used));
  PetscCall(MatIsSymmetric(c->A, 0, &yes));
  PetscCall(ConfSeeReal(c, "symmetric", yes));
  PetscCall(MatIsTranspose(c->A, c->A, 0, &yes));
  PetscCall(ConfSeeReal(c, "its own transpose", yes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares with the matrix itself, with a copy, and with a plain copy */
static PetscErrorCode Equal(Conf *c)
{
  Mat       B;
  PetscBool yes;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(c->A, MAT_COPY_VALUES, &B));
  PetscCall(MatEqual(c->A, B, &yes));
  PetscCall(ConfSeeReal(c, "equal to its copy", yes));
  PetscCall(MatScale(B, 2));
  PetscCall(MatEqual(c->A, B, &yes));
  PetscCall(ConfSeeReal(c, "equal to its double", yes));
  PetscCall(MatMultEqual(c->A, B, 2, &yes));
  PetscCall(ConfSeeReal(c, "acts as its double", yes));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowIJ(Conf *c)
{
  const PetscInt  shift     = OpBelow(c, 2);
  const PetscBool symmetric = OpChance(c, 30);
  const PetscInt *i, *j;
  PetscInt        n;
  PetscBool       done;

  PetscFunctionBeginUser;
  PetscCall(MatGetRowIJ(c->A, shift, symmetric, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(ConfSeeReal(c, "rows given", done));
  if (done)
    for (PetscInt k = 0; k < i[n] - shift; k++) PetscCall(ConfSeeReal(c, "column", (PetscReal)j[k]));
  PetscCall(MatRestoreRowIJ(c->A, shift, symmetric, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(MatGetColumnIJ(c->A, shift, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  if (done)
    for (PetscInt k = 0; k < i[n] - shift; k++) PetscCall(ConfSeeReal(c, "row", (PetscReal)j[k]));
  PetscCall(MatRestoreColumnIJ(c->A, shift, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Invalid calls must give the same error */
static PetscErrorCode Refusals(Conf *c)
{
  const PetscInt way = OpBelow(c, 3);
  Mat            B;
  Vec            x;

  PetscFunctionBeginUser;
  if (way == 0) {
    PetscCall(MatCreateVecs(c->A, &x, NULL));
    PetscCall(MatMult(c->A, x, x));
  } else if (way == 1) PetscCall(MatConvert(c->A, "nonsense", MAT_INITIAL_MATRIX, &B));
  else PetscCall(MatGetFactor(c->A, "nonsense", MAT_FACTOR_LU, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const ConfOperation op_reads[] = {
    {"array", Arrays, OP_READS, .how = ARRAY},
    {"array_read", Arrays, OP_READS, .how = ARRAY_READ},
    {"array_with_memtype", Arrays, OP_READS, .how = ARRAY_WITH_MEMTYPE},
    {"rows", Rows, OP_READS, .ways = 1},
    {"values", Values, OP_READS | OP_DENSE, .ways = 1},
    {"products", Products, OP_READS | OP_CHANGES, .ways = 1}, /* between two changes, products refresh packed arrays */
    {"diagonal", Diagonal, OP_READS | OP_SQUARE, .ways = 1},
    {"row_extremes", RowExtremes, OP_READS | OP_NONEMPTY, .ways = 1},
    {"norms", Norms, OP_READS, .ways = 2},
    {"view_text", ViewText, OP_READS | OP_RARE | OP_DENSE, .ways = 1},
    {"info", Info, OP_SQUARE, .ways = 1},
    {"equal", Equal, 0, .ways = 1},
    {"row_ij", RowIJ, OP_SEQUENTIAL, .ways = 2},
    {"refusals", Refusals, OP_RARE | OP_RANDOM_ONLY, .ways = 1},
    {.name = NULL}};
