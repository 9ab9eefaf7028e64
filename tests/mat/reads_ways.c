/* reads_ways.c - ways to read the values of a matrix through functions of PETSc, for mat_reads.c. */
#include "mat_reads.h"

#include <spmv_kernels.h>
#include <stdio.h>

/* ---- values of the matrix itself ---- */

typedef enum { ARRAY, ARRAY_READ, ARRAY_WITH_MEMTYPE } ArrayWay;

/* Records the n values of an array on the host or on a device */
static PetscErrorCode SeeValues(Conf *c, PetscInt n, const PetscScalar array[], PetscMemType memtype)
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

/* Records the array of values of a block */
static PetscErrorCode SeeArray(Conf *c, Mat block, ArrayWay way)
{
  const PetscScalar *read = NULL;
  const PetscInt    *i, *j;
  PetscScalar       *array   = NULL;
  PetscMemType       memtype = PETSC_MEMTYPE_HOST;
  MatInfo            info;

  PetscFunctionBeginUser;
  PetscCall(MatGetInfo(block, MAT_LOCAL, &info));
  if (way == ARRAY) PetscCall(MatSeqAIJGetArray(block, &array));
  else if (way == ARRAY_READ) PetscCall(MatSeqAIJGetArrayRead(block, &read));
  else PetscCall(MatSeqAIJGetCSRAndMemType(block, &i, &j, &array, &memtype));
  PetscCall(SeeValues(c, (PetscInt)info.nz_used, read ? read : array, memtype));
  if (way == ARRAY) PetscCall(MatSeqAIJRestoreArray(block, &array));
  else if (way == ARRAY_READ) PetscCall(MatSeqAIJRestoreArrayRead(block, &read));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SeeArrays(Conf *c, Mat A, ArrayWay way)
{
  Mat       block[2] = {A, NULL};
  PetscBool parallel;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  for (int b = 0; b < 2 && block[b]; b++) PetscCall(SeeArray(c, block[b], way));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Array(Conf *c, Reads *r, Mat *kept)
{
  (void)kept;
  return SeeArrays(c, r->A, ARRAY);
}

static PetscErrorCode ArrayRead(Conf *c, Reads *r, Mat *kept)
{
  (void)kept;
  return SeeArrays(c, r->A, ARRAY_READ);
}

static PetscErrorCode ArrayWithMemtype(Conf *c, Reads *r, Mat *kept)
{
  (void)kept;
  return SeeArrays(c, r->A, ARRAY_WITH_MEMTYPE);
}

static PetscErrorCode Rows(Conf *c, Reads *r, Mat *kept)
{
  (void)kept;
  return ConfSeeRows(c, "rows", r->A);
}

static PetscErrorCode Values(Conf *c, Reads *r, Mat *kept)
{
  PetscInt    *col;
  PetscScalar *value;

  PetscFunctionBeginUser;
  (void)kept;
  PetscCall(PetscMalloc2(c->N, &col, c->N, &value));
  for (PetscInt j = 0; j < c->N; j++) col[j] = j;
  for (PetscInt i = c->row_start; i < c->row_start + c->m; i++) {
    PetscCall(MatGetValues(r->A, 1, &i, c->N, col, value));
    for (PetscInt j = 0; j < c->N; j++) PetscCall(ConfSeeReal(c, "MatGetValues", PetscRealPart(value[j])));
  }
  PetscCall(PetscFree2(col, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Diagonal(Conf *c, Reads *r, Mat *kept)
{
  Vec d;

  PetscFunctionBeginUser;
  (void)kept;
  PetscCall(MatCreateVecs(r->A, NULL, &d));
  PetscCall(MatGetDiagonal(r->A, d));
  PetscCall(ConfSeeVec(c, "MatGetDiagonal", d));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Extremes(Conf *c, Reads *r, Mat *kept)
{
  PetscErrorCode (*const extreme[])(Mat, Vec, PetscInt[]) = {MatGetRowMax, MatGetRowMaxAbs, MatGetRowMin,
                                                             MatGetRowMinAbs};
  Vec y;

  PetscFunctionBeginUser;
  (void)kept;
  PetscCall(MatCreateVecs(r->A, NULL, &y));
  for (int e = 0; e < 4; e++) {
    PetscCall(extreme[e](r->A, y, NULL));
    PetscCall(ConfSeeVec(c, "extremes of rows", y));
  }
  PetscCall(MatGetRowSum(r->A, y));
  PetscCall(ConfSeeVec(c, "sums of rows", y));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Norms(Conf *c, Reads *r, Mat *kept)
{
  const NormType type[] = {NORM_1, NORM_FROBENIUS, NORM_INFINITY};
  PetscReal     *norm;

  PetscFunctionBeginUser;
  (void)kept;
  PetscCall(PetscMalloc1(c->N, &norm));
  for (int t = 0; t < 3; t++) {
    PetscCall(MatNorm(r->A, type[t], norm));
    PetscCall(ConfSeeReal(c, "MatNorm", *norm));
  }
  PetscCall(MatGetColumnNorms(r->A, NORM_INFINITY, norm));
  for (PetscInt j = 0; j < c->N; j++) PetscCall(ConfSeeReal(c, "norms of columns", norm[j]));
  PetscCall(PetscFree(norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Products(Conf *c, Reads *r, Mat *kept)
{
  (void)kept;
  return ConfSeeProducts(c, "products", r->A);
}

/* An SOR sweep, and the inverted diagonal blocks, which PETSc caches in the matrix until its state rises */
static PetscErrorCode Sweep(Conf *c, Reads *r, Mat *kept)
{
  const PetscScalar *inverse;
  PetscInt           n;
  Vec                x, y;

  PetscFunctionBeginUser;
  (void)kept;
  PetscCall(MatShift(r->A, 100)); /* so that no diagonal entry is zero after any change */
  PetscCall(ConfCreateVecs(r->A, 71, &x, &y));
  PetscCall(MatSOR(r->A, y, 1, SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS, 0, 1, 1, x));
  PetscCall(ConfSeeVec(c, "MatSOR", x));
  PetscCall(MatInvertBlockDiagonal(r->A, &inverse));
  PetscCall(VecGetLocalSize(x, &n));
  for (PetscInt i = 0; i < n; i++) PetscCall(ConfSeeReal(c, "MatInvertBlockDiagonal", PetscRealPart(inverse[i])));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor(Conf *c, Reads *r, Mat *kept)
{
  MatFactorInfo info;
  Mat           F;
  IS            rows, cols;
  Vec           x, y;

  PetscFunctionBeginUser;
  (void)kept;
  PetscCall(MatShift(r->A, 100));
  PetscCall(ConfCreateVecs(r->A, 73, &x, &y));
  PetscCall(MatGetOrdering(r->A, MATORDERINGNATURAL, &rows, &cols));
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill = 1;
  PetscCall(MatGetFactor(r->A, MATSOLVERPETSC, MAT_FACTOR_ILU, &F));
  PetscCall(MatILUFactorSymbolic(F, r->A, rows, cols, &info));
  PetscCall(MatLUFactorNumeric(F, r->A, &info));
  PetscCall(MatSolve(F, y, x));
  PetscCall(ConfSeeVec(c, "MatSolve", x));
  PetscCall(MatDestroy(&F));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- views ---- */

static PetscErrorCode ViewBinary(Conf *c, Reads *r, Mat *kept)
{
  PetscViewer viewer;
  Mat         B;

  PetscFunctionBeginUser;
  (void)kept;
  PetscCall(PetscViewerBinaryOpen(c->comm, r->file, FILE_MODE_WRITE, &viewer));
  PetscCall(PetscViewerBinarySetSkipInfo(viewer, PETSC_TRUE));
  PetscCall(MatView(r->A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscViewerBinaryOpen(c->comm, r->file, FILE_MODE_READ, &viewer));
  PetscCall(ConfCreateEmpty(c, &B));
  PetscCall(MatSetType(B, MATAIJ));
  PetscCall(MatLoad(B, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(ConfSeeRows(c, "MatView to a binary file", B));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Records the text character by character, without comment lines, which name the type */
static PetscErrorCode ViewText(Conf *c, Reads *r, Mat *kept)
{
  PetscViewer viewer;
  FILE       *file;
  char        line[256];

  PetscFunctionBeginUser;
  (void)kept;
  PetscCall(PetscObjectSetName((PetscObject)r->A, "A"));
  PetscCall(PetscViewerASCIIOpen(c->comm, r->file, &viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_MATLAB));
  PetscCall(MatView(r->A, viewer));
  PetscCall(PetscViewerPopFormat(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscFOpen(c->comm, r->file, "r", &file));
  while (file && fgets(line, sizeof line, file)) /* on the first process */
    for (int k = 0; line[0] != '%' && line[k]; k++) PetscCall(ConfSeeReal(c, "MatView as text", line[k]));
  PetscCall(PetscFClose(c->comm, file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- other matrices, made before the change and refilled after it, or made after it ---- */

static MatReuse Reuse(const Mat *kept) { return kept && *kept ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX; }
static Mat      Before(const Mat *kept) { return kept ? *kept : NULL; }

/* Records B, then keeps or destroys it */
static PetscErrorCode SeeOther(Conf *c, const char *what, Mat B, Mat *kept)
{
  PetscFunctionBeginUser;
  PetscCall(ConfSeeRows(c, what, B));
  if (kept) *kept = B;
  else PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Duplicate(Conf *c, Reads *r, Mat *kept)
{
  Mat B = Before(kept);

  PetscFunctionBeginUser;
  if (B) PetscCall(MatCopy(r->A, B, SAME_NONZERO_PATTERN));
  else PetscCall(MatDuplicate(r->A, MAT_COPY_VALUES, &B));
  PetscCall(SeeOther(c, "MatDuplicate, MatCopy", B, kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ConvertToPlain(Conf *c, Reads *r, Mat *kept)
{
  Mat B = Before(kept);

  PetscFunctionBeginUser;
  PetscCall(MatConvert(r->A, MATAIJ, Reuse(kept), &B));
  PetscCall(SeeOther(c, "MatConvert", B, kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ConvertToDense(Conf *c, Reads *r, Mat *kept)
{
  Mat B = Before(kept);

  PetscFunctionBeginUser;
  PetscCall(MatConvert(r->A, MATDENSE, Reuse(kept), &B));
  PetscCall(SeeOther(c, "MatConvert", B, kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Submatrix(Conf *c, Reads *r, Mat *kept)
{
  Mat B = Before(kept);
  IS  some;

  PetscFunctionBeginUser;
  PetscCall(ISCreateStride(c->comm, (c->m + 1) / 2, c->row_start, 2, &some));
  PetscCall(MatCreateSubMatrix(r->A, some, some, Reuse(kept), &B));
  PetscCall(ISDestroy(&some));
  PetscCall(SeeOther(c, "MatCreateSubMatrix", B, kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Submatrices(Conf *c, Reads *r, Mat *kept)
{
  Mat *B;
  IS   some;

  PetscFunctionBeginUser;
  (void)kept;
  PetscCall(ISCreateStride(PETSC_COMM_SELF, (c->M + 1) / 2, 0, 2, &some));
  PetscCall(MatCreateSubMatrices(r->A, 1, &some, &some, MAT_INITIAL_MATRIX, &B));
  PetscCall(ConfSeeRows(c, "MatCreateSubMatrices", B[0]));
  PetscCall(MatDestroySubMatrices(1, &B));
  PetscCall(ISDestroy(&some));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Transpose(Conf *c, Reads *r, Mat *kept)
{
  Mat B = Before(kept);

  PetscFunctionBeginUser;
  PetscCall(MatTranspose(r->A, Reuse(kept), &B));
  PetscCall(SeeOther(c, "MatTranspose", B, kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef PetscErrorCode ProductFunction(Mat, Mat, MatReuse, PetscReal, Mat *);

static PetscErrorCode SeeProduct(Conf *c, const char *what, ProductFunction *multiply, Mat left, Mat right, Mat *kept)
{
  Mat B = Before(kept);

  PetscFunctionBeginUser;
  PetscCall(multiply(left, right, Reuse(kept), PETSC_DEFAULT, &B));
  PetscCall(SeeOther(c, what, B, kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The changed matrix is both factors */
static PetscErrorCode MatMat(Conf *c, Reads *r, Mat *kept)
{
  return SeeProduct(c, "MatMatMult", MatMatMult, r->A, r->A, kept);
}

static PetscErrorCode TransposedMatMat(Conf *c, Reads *r, Mat *kept)
{
  return SeeProduct(c, "MatTransposeMatMult", MatTransposeMatMult, r->A, r->other, kept);
}

static PetscErrorCode Triple(Conf *c, Reads *r, Mat *kept)
{
  return SeeProduct(c, "MatPtAP", MatPtAP, r->A, r->other, kept);
}

/* Makes the product anew each time: a refill would need the same dense factor */
static PetscErrorCode MatDense(Conf *c, Reads *r, Mat *kept)
{
  Mat      D, B = NULL;
  PetscInt start, end;

  PetscFunctionBeginUser;
  (void)kept;
  PetscCall(MatCreateDense(c->comm, c->n, PETSC_DECIDE, c->N, 2, NULL, &D));
  PetscCall(MatGetOwnershipRange(D, &start, &end));
  for (PetscInt i = start; i < end; i++)
    for (PetscInt j = 0; j < 2; j++) PetscCall(MatSetValue(D, i, j, (PetscReal)(i % 5) - (PetscReal)j, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(D, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(D, MAT_FINAL_ASSEMBLY));
  PetscCall(MatMatMult(r->A, D, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &B));
  PetscCall(SeeOther(c, "MatMatMult with a dense matrix", B, NULL));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddTo(Conf *c, Reads *r, Mat *kept)
{
  PetscFunctionBeginUser;
  (void)kept;
  PetscCall(MatAXPY(r->other, 2, r->A, SAME_NONZERO_PATTERN));
  PetscCall(ConfSeeRows(c, "MatAXPY", r->other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StoreValues(Conf *c, Reads *r, Mat *kept)
{
  PetscFunctionBeginUser;
  (void)kept;
  PetscCall(MatSetOption(r->A, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
  PetscCall(MatStoreValues(r->A));
  PetscCall(MatScale(r->A, 7));
  PetscCall(MatRetrieveValues(r->A));
  PetscCall(ConfSeeProducts(c, "MatRetrieveValues", r->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A MATMAIJ has no values of its own: its products read those of r->A */
static PetscErrorCode Maij(Conf *c, Reads *r, Mat *kept)
{
  Mat B = Before(kept);
  Vec x, y;

  PetscFunctionBeginUser;
  if (!B) PetscCall(MatCreateMAIJ(r->A, 2, &B));
  PetscCall(ConfCreateVecs(B, 75, &x, &y));
  PetscCall(MatMult(B, x, y));
  PetscCall(ConfSeeVec(c, "MATMAIJ", y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  if (kept) *kept = B;
  else PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LocalMat(Conf *c, Reads *r, Mat *kept)
{
  Mat B = Before(kept);

  PetscFunctionBeginUser;
  PetscCall(MatMPIAIJGetLocalMat(r->A, Reuse(kept), &B));
  PetscCall(SeeOther(c, "MatMPIAIJGetLocalMat", B, kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const ReadsWay reads_ways[] = {
    {"array", Array, PETSC_FALSE, 0},
    {"array_read", ArrayRead, PETSC_FALSE, 0},
    {"array_with_memtype", ArrayWithMemtype, PETSC_FALSE, 0},
    {"rows", Rows, PETSC_FALSE, 0},
    {"values", Values, PETSC_FALSE, 0},
    {"diagonal", Diagonal, PETSC_FALSE, 0},
    {"extremes", Extremes, PETSC_FALSE, 0},
    {"norms", Norms, PETSC_FALSE, 0},
    {"products", Products, PETSC_FALSE, 0},
    {"sweep", Sweep, PETSC_FALSE, 0},
    {"factor", Factor, PETSC_FALSE, CONF_SEQUENTIAL},
    {"view_binary", ViewBinary, PETSC_FALSE, 0},
    {"view_text", ViewText, PETSC_FALSE, 0},
    {"duplicate", Duplicate, PETSC_TRUE, 0},
    {"convert_plain", ConvertToPlain, PETSC_TRUE, 0},
    {"convert_dense", ConvertToDense, PETSC_TRUE, 0},
    {"submatrix", Submatrix, PETSC_TRUE, 0},
    {"submatrices", Submatrices, PETSC_FALSE, 0},
    {"transpose", Transpose, PETSC_TRUE, 0},
    {"matmat", MatMat, PETSC_TRUE, 0},
    {"transposed_matmat", TransposedMatMat, PETSC_TRUE, 0},
    {"triple", Triple, PETSC_TRUE, 0},
    {"dense_product", MatDense, PETSC_FALSE, 0},
    {"add_to", AddTo, PETSC_FALSE, 0},
    {"store_values", StoreValues, PETSC_FALSE, 0},
    {"maij", Maij, PETSC_TRUE, 0},
    {"local_mat", LocalMat, PETSC_TRUE, READS_PARALLEL},
    {NULL, NULL, PETSC_FALSE, 0},
};
