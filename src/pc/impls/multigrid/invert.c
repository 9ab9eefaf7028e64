/*
  invert.c - the inverse of a small dense matrix on the host, by Gauss-Jordan elimination with row pivoting. LAPACK is
  not used, because it would be called through MATSEQDENSE, where a zero pivot is an error.
*/
#include "hierarchy.h"

/* The largest sum of magnitudes of a row */
static PetscReal RowNorm(PetscInt n, const PetscScalar a[])
{
  PetscReal most = 0;

  for (PetscInt i = 0; i < n; i++) {
    PetscReal sum = 0;

    for (PetscInt j = 0; j < n; j++) sum += PetscAbsScalar(a[(size_t)i * n + j]);
    most = PetscMax(most, sum);
  }
  return most;
}

/* Swaps rows i and j */
static void SwapRows(PetscInt n, PetscInt i, PetscInt j, PetscScalar a[])
{
  for (PetscInt k = 0; k < n; k++) {
    const PetscScalar of_i = a[(size_t)i * n + k];

    a[(size_t)i * n + k] = a[(size_t)j * n + k];
    a[(size_t)j * n + k] = of_i;
  }
}

/* Subtracts f times row j from row i */
static void SubtractRow(PetscInt n, PetscInt i, PetscInt j, PetscScalar f, PetscScalar a[])
{
  for (PetscInt k = 0; k < n; k++) a[(size_t)i * n + k] -= f * a[(size_t)j * n + k];
}

static void ScaleRow(PetscInt n, PetscInt i, PetscScalar f, PetscScalar a[])
{
  for (PetscInt k = 0; k < n; k++) a[(size_t)i * n + k] *= f;
}

static PetscReal InverseEliminate_MGDevice(PetscInt n, PetscScalar a[], PetscScalar inverse[])
{
  const PetscReal of_matrix = RowNorm(n, a);
  PetscReal       condition;

  for (PetscInt i = 0; i < n; i++)
    for (PetscInt j = 0; j < n; j++) inverse[(size_t)i * n + j] = i == j ? 1 : 0;
  for (PetscInt c = 0; c < n; c++) {
    PetscInt    pivot = c;
    PetscScalar scale;

    for (PetscInt i = c + 1; i < n; i++)
      if (PetscAbsScalar(a[(size_t)i * n + c]) > PetscAbsScalar(a[(size_t)pivot * n + c])) pivot = i;
    if (!(PetscAbsScalar(a[(size_t)pivot * n + c]) > 0)) return PETSC_MAX_REAL;
    SwapRows(n, c, pivot, a);
    SwapRows(n, c, pivot, inverse);
    scale = (PetscScalar)1 / a[(size_t)c * n + c];
    ScaleRow(n, c, scale, a);
    ScaleRow(n, c, scale, inverse);
    for (PetscInt i = 0; i < n; i++) {
      const PetscScalar f = a[(size_t)i * n + c];

      if (i == c || f == (PetscScalar)0) continue;
      SubtractRow(n, i, c, f, a);
      SubtractRow(n, i, c, f, inverse);
    }
  }
  condition = of_matrix * RowNorm(n, inverse);
  return PetscIsInfOrNanReal(condition) ? PETSC_MAX_REAL : condition;
}

/* Whether all entries of row and column i are 0 */
static PetscBool IsEmpty(PetscInt n, PetscInt i, const PetscScalar a[])
{
  for (PetscInt k = 0; k < n; k++)
    if (a[(size_t)i * n + k] != (PetscScalar)0 || a[(size_t)k * n + i] != (PetscScalar)0) return PETSC_FALSE;
  return PETSC_TRUE;
}

/* The inverse of a, which is overwritten; all matrices by rows. Returns the condition number in the norm of the rows,
   PETSC_MAX_REAL if there is no inverse.

   n is at most MGDEV_ELIMINATION_MAX. A near-null vector for which an aggregate was too small leaves a row and a column
   of zeros: every right-hand side is 0 there, and the solution is set to 0. */
PetscReal MGDevInvert(PetscInt n, PetscScalar a[], PetscScalar inverse[])
{
  PetscBool empty[MGDEV_ELIMINATION_MAX];
  PetscInt  count = 0;
  PetscReal most  = 0, condition;

  for (PetscInt i = 0; i < n * n; i++) most = PetscMax(most, PetscAbsScalar(a[i]));
  for (PetscInt i = 0; i < n; i++) {
    empty[i] = IsEmpty(n, i, a);
    if (empty[i]) count++;
  }
  if (count == n) return PETSC_MAX_REAL;
  for (PetscInt i = 0; i < n; i++)
    if (empty[i]) a[(size_t)i * n + i] = most; /* so large that it does not change the condition number of the rest */
  condition = InverseEliminate_MGDevice(n, a, inverse);
  for (PetscInt i = 0; i < n; i++)
    if (empty[i]) inverse[(size_t)i * n + i] = 0;
  return condition;
}
