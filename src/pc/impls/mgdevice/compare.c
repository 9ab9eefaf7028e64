/*
  compare.c - compares a cycle in single precision with PETSc's cycle in double precision, at set-up. When single
  precision makes a cycle useless, it does so for nearly every vector: numbers overflow, or the coarsest level is nearly
  singular.

  Without the comparison, a solver that tests norms of M r may report convergence too early: the part of M r that single
  precision has made far too large dominates the norm, and only that part converges. A solver without norms notices
  nothing at all.
*/
#include "pctypes.h"

/* The largest relative difference between the two cycles; decision 0044 has the differences that were seen */
static const PetscReal most = (PetscReal)0.1;

/* Makes a right-hand side of no particular smoothness in the range of A. Null vectors of a singular matrix, which PETSc
   may not know, would be equally large in both cycles and hide every difference. */
static PetscErrorCode RightHandSide(PC pc, Vec work, Vec b)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(pc, NULL, &A));
  PetscCall(VecSetRandom(work, NULL));
  PetscCall(MatMult(A, work, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b and x: work vectors of the kind for which s has copies on the device. why[0] stays 0 if the cycles agree, or if
   PETSc's result is not a number either. Collective. */
PetscErrorCode MGDevCompare(PC pc, PC_MGDevice *s, Vec b, Vec x, char why[SPMV_MESSAGE_MAX])
{
  PetscReal size, difference;
  Vec       expected;

  PetscFunctionBegin;
  PetscCall(RightHandSide(pc, x, b));
  PetscCall(VecDuplicate(x, &expected));
  PetscCall((*s->parent.apply)(pc, b, expected));
  PetscCall(MGDevCycleOnce(pc, s, b, x));
  PetscCall(VecNorm(expected, NORM_2, &size));
  PetscCall(VecAXPY(x, -1, expected));
  PetscCall(VecNorm(x, NORM_2, &difference));
  PetscCall(VecDestroy(&expected));
  PetscCall(PetscInfo(pc, "the cycle in single precision differs from that of PETSc by %g of its size\n",
                      (double)(difference / size)));
  if (!PetscIsInfOrNanReal(size) && !(difference <= most * size))
    PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX, "the cycle differed from that of PETSc by %g of its size",
                            (double)(difference / size)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
