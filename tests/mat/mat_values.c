/*
  mat_values.c - operations on the values of a matrix whose packed arrays lie on a GPU, against the same with plain AIJ,
  and where the values are afterwards

    mat_values -format rbp [-side 12]

  Each operation runs with the values on the host and where they go by themselves (-mat_aijfmt_values). Every sequence
  ends with a change that a plan out of date would show. The status is 77 where there is no GPU.
*/
static const char help[] = "Compares changes of values and products of matrices on a GPU with plain AIJ.\n";

#include "conf.h"
#include <spmv_kernels.h>

enum { NO_DEVICE = 77 };

static PetscInt    side = 12;
static PetscBool   good = PETSC_TRUE;
static const char *place, *operation;

static PetscErrorCode Require(PetscBool yes, const char what[])
{
  PetscFunctionBeginUser;
  if (!yes) {
    good = PETSC_FALSE;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAILED: %s with values on %s: %s\n", operation, place, what));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of a 27-point stencil, of which every seventh lacks its diagonal entry if that is wanted */
static PetscErrorCode Assemble(MatType type, PetscBool full, PetscReal scale, Mat *A)
{
  const GenSpec spec = gen_stencil(27, side, side, side);
  int64_t       wide[27];
  PetscInt      col[27];
  PetscScalar   value[27];

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, (PetscInt)spec.rows, (PetscInt)spec.cols, (PetscInt)spec.rows, (PetscInt)spec.cols));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 27, NULL));
  for (PetscInt i = 0; i < (PetscInt)spec.rows; i++) {
    const int64_t count = spec.row(&spec, i, wide);
    PetscInt      n     = 0;

    for (int64_t k = 0; k < count; k++) {
      if (!full && i % 7 == 3 && wide[k] == i) continue;
      col[n]     = (PetscInt)wide[k];
      value[n++] = col[n] == i ? 30 * scale : -scale / (PetscReal)(1 + (i + k) % 7);
    }
    PetscCall(MatSetValues(*A, 1, &i, n, col, value, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Groups of eight rows to one column, and every fifth row to the next one too */
static PetscErrorCode AssembleP(MatType type, Mat *P)
{
  const PetscInt rows = side * side * side, cols = (rows + 7) / 8;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, P));
  PetscCall(MatSetSizes(*P, rows, cols, rows, cols));
  PetscCall(MatSetType(*P, type));
  PetscCall(MatSeqAIJSetPreallocation(*P, 2, NULL));
  for (PetscInt i = 0; i < rows; i++) {
    PetscCall(MatSetValue(*P, i, i / 8, 1 + 0.125 * (PetscReal)(i % 3), INSERT_VALUES));
    if (i % 5 == 0 && i / 8 + 1 < cols) PetscCall(MatSetValue(*P, i, i / 8 + 1, 0.5, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*P, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Vector(PetscInt n, PetscInt seed, Mat A, Vec *v)
{
  PetscScalar *a;
  Vec          left;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, v, &left));
  if (n != A->cmap->n) {
    PetscCall(VecDestroy(v));
    *v   = left;
    left = NULL;
  }
  PetscCall(VecDestroy(&left));
  PetscCall(VecGetArrayWrite(*v, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = 0.5 + 0.25 * (PetscReal)((i * 7 + seed) % 9);
  PetscCall(VecRestoreArrayWrite(*v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest difference of two vectors with different types, relative to the largest entry of the second */
static PetscErrorCode Difference(Vec a, Vec b, PetscReal *difference)
{
  const PetscScalar *x, *y;
  PetscReal          largest = 0;
  PetscInt           n;

  PetscFunctionBeginUser;
  *difference = 0;
  PetscCall(VecGetLocalSize(b, &n));
  PetscCall(VecGetArrayRead(a, &x));
  PetscCall(VecGetArrayRead(b, &y));
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal d = PetscAbsScalar(x[i] - y[i]);

    if (PetscIsInfOrNanScalar(y[i])) {
      if (PetscIsNanScalar(y[i]) ? !PetscIsNanScalar(x[i]) : x[i] != y[i]) *difference = PETSC_MAX_REAL;
      continue;
    }
    if (!(d <= *difference)) *difference = d;
    largest = PetscMax(largest, PetscAbsScalar(y[i]));
  }
  PetscCall(VecRestoreArrayRead(b, &y));
  PetscCall(VecRestoreArrayRead(a, &x));
  if (largest > 0) *difference /= largest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares products of A, transposed ones too, its diagonal and then its values with those of the twin. With exact, the
   values must have the same bits. */
static PetscErrorCode Compare(Mat A, Mat twin, PetscBool exact)
{
  const PetscReal bound = 200 * PETSC_MACHINE_EPSILON;
  Vec             x, y, u, v;
  Mat             plain;
  PetscBool       equal;
  PetscReal       difference;

  PetscFunctionBeginUser;
  for (int t = 0; t < 2; t++) {
    const PetscInt n = t ? A->rmap->n : A->cmap->n, m = t ? A->cmap->n : A->rmap->n;

    PetscCall(Vector(n, 1, A, &x));
    PetscCall(Vector(m, 1, A, &y));
    PetscCall(Vector(n, 1, twin, &u));
    PetscCall(Vector(m, 1, twin, &v));
    PetscCall((t ? MatMultTranspose : MatMult)(A, x, y));
    PetscCall((t ? MatMultTranspose : MatMult)(twin, u, v));
    PetscCall(Difference(y, v, &difference));
    PetscCall(Require(difference <= bound, t ? "transposed product" : "product"));
    if (n == m) {
      PetscCall(MatGetDiagonal(A, y));
      PetscCall(MatGetDiagonal(twin, v));
      PetscCall(Difference(y, v, &difference));
      PetscCall(Require(difference <= bound, "diagonal"));
    }
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(VecDestroy(&u));
    PetscCall(VecDestroy(&v));
  }
  if (!exact) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatConvert(A, MATSEQAIJ, MAT_INITIAL_MATRIX, &plain));
  PetscCall(MatEqual(plain, twin, &equal));
  PetscCall(Require(equal, "values"));
  PetscCall(MatDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A change on the host, which has to come through whatever was done before */
static PetscErrorCode ChangeOnHost(Mat A, Mat twin)
{
  Mat both[] = {A, twin};

  PetscFunctionBeginUser;
  for (int m = 0; m < 2; m++) {
    PetscCall(MatSetValue(both[m], 0, 0, 77, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(both[m], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(both[m], MAT_FINAL_ASSEMBLY));
  }
  PetscCall(Compare(A, twin, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- operations: each is done to A and to its twin; other is a matrix of the same type as the first ---- */

typedef PetscErrorCode Operation(Mat A, Mat other);

static PetscErrorCode Scale(Mat A, Mat other)
{
  PetscFunctionBeginUser;
  (void)other;
  PetscCall(MatScale(A, 1.0 / 3));
  PetscCall(MatScale(A, 7));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiagonalScale(Mat A, Mat other)
{
  Vec l, r;

  PetscFunctionBeginUser;
  (void)other;
  PetscCall(Vector(A->rmap->n, 3, A, &l));
  PetscCall(Vector(A->cmap->n, 5, A, &r));
  PetscCall(MatDiagonalScale(A, l, NULL));
  PetscCall(MatDiagonalScale(A, l, r));
  PetscCall(MatDiagonalScale(A, NULL, r));
  PetscCall(VecDestroy(&l));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vectors are not those of the matrix: on the host where it makes CUDA vectors */
static PetscErrorCode DiagonalScaleByHostVectors(Mat A, Mat other)
{
  Vec l;

  PetscFunctionBeginUser;
  (void)other;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, A->rmap->n, &l));
  PetscCall(VecSet(l, 3));
  PetscCall(MatDiagonalScale(A, l, l));
  PetscCall(VecDestroy(&l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Shift(Mat A, Mat other)
{
  PetscFunctionBeginUser;
  (void)other;
  PetscCall(MatShift(A, 1.0 / 7));
  PetscCall(MatScale(A, 3));
  PetscCall(MatShift(A, -2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NotFinite(Mat A, Mat other)
{
  PetscFunctionBeginUser;
  (void)other;
  PetscCall(MatSetValue(A, 1, 1, 1e300 * 1e300, INSERT_VALUES));
  PetscCall(MatSetValue(A, 2, 2, 0.0 / (PetscReal)(A->rmap->n - A->rmap->n), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatScale(A, 2));
  PetscCall(MatShift(A, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddSame(Mat A, Mat other)
{
  PetscFunctionBeginUser;
  PetscCall(MatAXPY(A, 2, other, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The other has fewer nonzeros where its diagonal is not full */
static PetscErrorCode AddSubset(Mat A, Mat other)
{
  PetscFunctionBeginUser;
  PetscCall(MatAXPY(A, 2, other, SUBSET_NONZERO_PATTERN));
  PetscCall(MatAYPX(A, 0.5, other, SUBSET_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddDifferent(Mat A, Mat other)
{
  PetscFunctionBeginUser;
  PetscCall(MatAXPY(A, 2, other, DIFFERENT_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Copy(Mat A, Mat other)
{
  PetscFunctionBeginUser;
  PetscCall(MatScale(other, 5));
  PetscCall(MatCopy(other, A, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Zero(Mat A, Mat other)
{
  PetscFunctionBeginUser;
  PetscCall(MatScale(A, 5));
  PetscCall(MatZeroEntries(A));
  PetscCall(MatShift(A, 2));
  PetscCall(MatAXPY(A, 1, other, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What one does after another: a read on the host in between */
static PetscErrorCode Mixed(Mat A, Mat other)
{
  const PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(MatScale(A, 3));
  PetscCall(MatSeqAIJGetArrayRead(A, &values));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &values));
  PetscCall(MatScale(A, 0.5));
  PetscCall(MatAXPY(A, 4, other, SAME_NONZERO_PATTERN));
  PetscCall(MatSetValue(A, 1, 1, 5, ADD_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatShift(A, 3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const struct {
  const char *name;
  Operation  *run;
  PetscBool   full, other_full; /* diagonals */
  PetscBool   exact;            /* the operation rounds in the same way everywhere */
} operations[] = {
    {"scale", Scale, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
    {"diagonal_scale", DiagonalScale, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
    {"diagonal_scale_host_vectors", DiagonalScaleByHostVectors, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
    {"shift", Shift, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
    {"shift_missing_diagonal", Shift, PETSC_FALSE, PETSC_TRUE, PETSC_TRUE},
    {"scale_missing_diagonal", Scale, PETSC_FALSE, PETSC_TRUE, PETSC_TRUE},
    {"not_finite", NotFinite, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE},
    {"add_same", AddSame, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE},
    {"add_subset", AddSubset, PETSC_TRUE, PETSC_FALSE, PETSC_FALSE},
    {"add_different", AddDifferent, PETSC_FALSE, PETSC_TRUE, PETSC_FALSE},
    {"add_different_same", AddDifferent, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE},
    {"copy", Copy, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
    {"zero", Zero, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE},
    {"mixed", Mixed, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE},
};
