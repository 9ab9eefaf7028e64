/* Whether a matrix is symmetric in structure and values. PETSc offers this for some types only, and its functions store
   the answer in the matrix, where it changes the behavior of solvers. */
#include "advise.h"

/* Tolerance, because another order of assembly changes the last bits */
#define ROUNDING (100 * PETSC_MACHINE_EPSILON)

typedef struct {
  int structure, symmetric, skew; /* cleared as soon as an entry proves the contrary */
} Symmetry;

static void CompareRows(PetscInt n, const PetscScalar *a, const PetscScalar *b, Symmetry *found)
{
  for (PetscInt k = 0; k < n; k++) {
    const PetscReal bound = ROUNDING * PetscMax(PetscAbsScalar(a[k]), PetscAbsScalar(b[k]));

    if (!(PetscAbsScalar(a[k] - b[k]) <= bound)) found->symmetric = 0;
    if (!(PetscAbsScalar(a[k] + b[k]) <= bound)) found->skew = 0;
  }
}

static PetscErrorCode CompareWithTranspose(Mat A, Mat T, Symmetry *found)
{
  PetscInt first, end;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  for (PetscInt i = first; i < end && found->structure; i++) {
    PetscInt           n, m;
    const PetscInt    *col, *other;
    const PetscScalar *a, *b;
    PetscBool          same = PETSC_FALSE;

    PetscCall(MatGetRow(A, i, &n, &col, &a));
    PetscCall(MatGetRow(T, i, &m, &other, &b));
    if (n == m) PetscCall(PetscArraycmp(col, other, n, &same));
    if (same) CompareRows(n, a, b, found);
    else *found = (Symmetry){.structure = 0};
    PetscCall(MatRestoreRow(T, i, &m, &other, &b));
    PetscCall(MatRestoreRow(A, i, &n, &col, &a));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode AdviceSymmetryFind(Mat A, AdviceFacts *f)
{
  Symmetry  found = {1, 1, 1};
  PetscBool congruent;
  Mat       T;

  PetscFunctionBegin;
  f->structure = f->values = "not symmetric";
  if (f->rows != f->cols) PetscFunctionReturn(0);
  PetscCall(MatHasCongruentLayouts(A, &congruent));
  if (!congruent) { /* rows and columns of a process have different numbers, so no process can compare its own rows */
    f->structure = f->values = "not known: rows and columns are distributed differently";
    PetscFunctionReturn(0);
  }
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &T));
  PetscCall(CompareWithTranspose(A, T, &found));
  PetscCall(MatDestroy(&T));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &found, 3, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)A)));
  if (found.structure) f->structure = "symmetric";
  if (found.structure && found.symmetric) f->values = "symmetric";
  else if (found.structure && found.skew) f->values = "skew-symmetric";
  PetscFunctionReturn(0);
}
