/*
  check.c - -mat_aijfmt_check: compares every product with that of the parent type.

  Both results may differ from the exact one by rounding: in any order of summation, the error of a sum of k terms is at
  most k eps times the sum of their magnitudes. Two results of a row may therefore differ by 2 (k + 2) eps (|A| |x| +
  |z|): k products, one addition of z, and one spare rounding.
*/
#include "aijfmt.h"
#include <float.h>

/* Computes bound[i] from the CSR arrays; on entry bound[i] is |z| */
static PetscErrorCode ComputeBound(Mat A, PetscBool transposed, Vec x, PetscInt n, PetscReal bound[])
{
  const PetscInt    *row_ptr, *col;
  const PetscScalar *values, *entries;
  const PetscReal    smallest = PetscDefined(USE_REAL_SINGLE) ? FLT_MIN : (PetscReal)DBL_MIN;
  PetscInt           rows, *terms;
  PetscBool          done;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(n, &terms));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &row_ptr, &col, &done));
  PetscCall(MatSeqAIJGetArrayRead(A, &values));
  PetscCall(VecGetArrayRead(x, &entries));
  for (PetscInt i = 0; row_ptr && i < rows; i++) {
    for (PetscInt k = row_ptr[i]; k < row_ptr[i + 1]; k++) {
      const PetscInt to = transposed ? col[k] : i, from = transposed ? i : col[k];
      bound[to] += PetscAbsScalar(values[k]) * PetscAbsScalar(entries[from]);
      terms[to]++;
    }
  }
  PetscCall(VecRestoreArrayRead(x, &entries));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &values));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &row_ptr, &col, &done));
  for (PetscInt i = 0; i < n; i++)
    bound[i] = 2 * ((PetscReal)terms[i] + 2) * (PETSC_MACHINE_EPSILON * bound[i] + smallest);
  PetscCall(PetscFree(terms));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the bounds, and a sequential vector with the entries of z, in which the caller puts the parent's result: y may be
   parallel, but only this process may be in the call */
PetscErrorCode AIJFmtCheckBegin(Mat A, PetscBool transposed, Vec x, Vec z, AIJFmtCheck *check)
{
  const PetscScalar *addend;
  PetscScalar       *sum;

  PetscFunctionBegin;
  check->n = transposed ? A->cmap->n : A->rmap->n;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, check->n, &check->reference));
  PetscCall(PetscCalloc1(check->n, &check->bound));
  if (z) {
    PetscCall(VecGetArrayRead(z, &addend));
    PetscCall(VecGetArrayWrite(check->reference, &sum));
    for (PetscInt i = 0; i < check->n; i++) {
      sum[i]          = addend[i];
      check->bound[i] = PetscAbsScalar(addend[i]);
    }
    PetscCall(VecRestoreArrayWrite(check->reference, &sum));
    PetscCall(VecRestoreArrayRead(z, &addend));
  }
  PetscCall(ComputeBound(A, transposed, x, check->n, check->bound));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Equal up to the bound. If the sums overflow or meet a NaN, both results must be infinite or NaN. */
static PetscBool ProductAgrees_AIJFmt(PetscScalar ours, PetscScalar theirs, PetscReal bound)
{
  if (ours == theirs || PetscAbsScalar(ours - theirs) <= bound) return PETSC_TRUE;
  return PetscIsInfOrNanScalar(ours) && PetscIsInfOrNanScalar(theirs) ? PETSC_TRUE : PETSC_FALSE;
}

PetscErrorCode AIJFmtCheckEnd(Mat A, Vec y, AIJFmtCheck *check)
{
  const PetscScalar *ours, *theirs;
  PetscInt           row   = 0;
  PetscReal          value = 0, expected = 0, bound = 0;
  PetscBool          agrees = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(y, &ours));
  PetscCall(VecGetArrayRead(check->reference, &theirs));
  for (row = 0; row < check->n; row++) {
    agrees = ProductAgrees_AIJFmt(ours[row], theirs[row], check->bound[row]);
    if (agrees) continue;
    value    = PetscRealPart(ours[row]);
    expected = PetscRealPart(theirs[row]);
    bound    = check->bound[row];
    break;
  }
  PetscCall(VecRestoreArrayRead(check->reference, &theirs));
  PetscCall(VecRestoreArrayRead(y, &ours));
  PetscCall(VecDestroy(&check->reference));
  PetscCall(PetscFree(check->bound));
  PetscCheck(agrees, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "-mat_aijfmt_check: a product of type %s gives %.17g in local entry %" PetscInt_FMT
             ", the parent type gives %.17g: the difference %g exceeds the rounding bound %g",
             ((PetscObject)A)->type_name, (double)value, row, (double)expected, (double)PetscAbsReal(value - expected),
             (double)bound);
  PetscFunctionReturn(PETSC_SUCCESS);
}
