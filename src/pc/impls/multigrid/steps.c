/*
  steps.c - the steps of a smoother, x_(k+1) = current x_k + before x_(k-1) + correction M (b - A x_k), chosen so that
  they give the same polynomial as KSPSolve() of that solver.
*/
#include "hierarchy.h"
#include <math.h>

/* The same as KSPSolve_Chebyshev_FirstKind() of PETSc */
static void StepsFirstKind_MGDevice(const MGDevRecurrence *r, SpmvFactors step[])
{
  const double scale = 2 / ((double)r->emax + (double)r->emin), mu = 1 / (1 - scale * (double)r->emin);
  double       before = 1, now = mu;

  for (PetscInt k = 0; k < r->steps; k++) {
    const double next = 2 * mu * now - before, omega = 2 * mu * now / next;

    step[k] = k == 0 ? (SpmvFactors){.current = 1, .correction = scale}
                     : (SpmvFactors){.current = omega, .before = 1 - omega, .correction = omega * scale};
    if (k == 0) continue;
    before = now;
    now    = next;
  }
}

/* PETSc stores the direction d_(k+1) = a d_k + c M r_k; here it is x_(k+1) - x_k */
static void StepsFourthKind_MGDevice(const MGDevRecurrence *r, SpmvFactors step[])
{
  const double scale = 1 / (double)r->emax;

  for (PetscInt k = 0; k < r->steps; k++) {
    const double i = (double)k, a = k == 0 ? 0 : (2 * i - 1) / (2 * i + 3);

    step[k] = (SpmvFactors){.current = 1 + a, .before = -a, .correction = scale * (8 * i + 4) / (2 * i + 3)};
  }
}

/* The error after all steps of the optimised fourth kind, at the eigenvalue t emax of M A */
static double ErrorOptimizedFourth_MGDevice(const MGDevRecurrence *r, double t)
{
  double x = 0, residual = 1, d = 0;

  for (PetscInt k = 0; k < r->steps; k++) {
    const double i = (double)k;

    d = (k == 0 ? 0 : (2 * i - 1) / (2 * i + 3)) * d + (8 * i + 4) / (2 * i + 3) * residual;
    x += (double)r->beta[k] * d;
    residual -= t * d;
  }
  return 1 - t * x;
}

/* Finds the zeros of ErrorOptimizedFourth_MGDevice(), which all lie between 0 and 1 and are farther apart than the
   spacing of the grid; returns their number */
static PetscInt ErrorZeros_MGDevice(const MGDevRecurrence *r, double zero[])
{
  enum { GRID = 4096, HALVINGS = 60 };
  PetscInt found = 0;

  for (int g = 0; g < GRID && found < r->steps; g++) {
    double       low = (double)g / GRID, high = (double)(g + 1) / GRID;
    const double sign = ErrorOptimizedFourth_MGDevice(r, low);

    if (sign * ErrorOptimizedFourth_MGDevice(r, high) > 0) continue;
    for (int i = 0; i < HALVINGS; i++) {
      const double middle = (low + high) / 2;

      if (sign * ErrorOptimizedFourth_MGDevice(r, middle) > 0) low = middle;
      else high = middle;
    }
    zero[found++] = high;
  }
  return found;
}

/* Moves to place k the zero that is farthest from those before it, by the product of the distances: this order (Leja)
   keeps rounding errors from growing */
static void ZeroChoose_MGDevice(double zero[], PetscInt k, PetscInt count)
{
  PetscInt best    = k;
  double   largest = -1, swap;

  for (PetscInt i = k; i < count; i++) {
    double product = zero[i];

    for (PetscInt j = 0; j < k; j++) product *= fabs(zero[i] - zero[j]);
    if (product <= largest) continue;
    largest = product;
    best    = i;
  }
  swap       = zero[k];
  zero[k]    = zero[best];
  zero[best] = swap;
}

/* PETSc weights the directions of the fourth kind, but computes the residual of the unweighted sum: no three-term
   recurrence gives both. But the polynomial is the product of 1 - t/zero over its zeros, which is Richardson's
   iteration. */
static PetscBool OptimizedFourth(const MGDevRecurrence *r, SpmvFactors step[])
{
  double zero[MGDEV_STEPS_MAX];

  if (ErrorZeros_MGDevice(r, zero) < r->steps) return PETSC_FALSE;
  for (PetscInt k = 0; k < r->steps; k++) {
    ZeroChoose_MGDevice(zero, k, r->steps);
    step[k] = (SpmvFactors){.current = 1, .correction = 1 / (zero[k] * (double)r->emax)};
  }
  return PETSC_TRUE;
}

/* Returns false if the numbers give no valid steps */
PetscBool MGDevSteps(const MGDevRecurrence *r, SpmvFactors step[])
{
  PetscBool made = PETSC_TRUE;

  if (r->kind == MGDEV_FIRST) StepsFirstKind_MGDevice(r, step);
  else if (r->kind == MGDEV_FOURTH) StepsFourthKind_MGDevice(r, step);
  else if (r->kind == MGDEV_OPT_FOURTH) made = OptimizedFourth(r, step);
  else
    for (PetscInt k = 0; k < r->steps; k++) step[k] = (SpmvFactors){.current = 1, .correction = (double)r->scale};
  for (PetscInt k = 0; made && k < r->steps; k++)
    if (!isfinite(step[k].current) || !isfinite(step[k].before) || !isfinite(step[k].correction)) made = PETSC_FALSE;
  return made;
}
