/*
  compare.c - a cycle in single precision against that of PETSc in double precision, at set-up. What single precision makes
  worthless it does so for nearly every vector: numbers that overflow, and a coarsest level that is nearly singular.

  A solver that tests norms of M r would take a part of the solution that is far too large for all of it, and call that
  converged; and one that computes no norms sees nothing of it.
*/
#include "pctypes.h"

/* The part of the size by which the two may differ; decision 0044 has what was seen */
static const PetscReal most = (PetscReal)0.1;

/* Of no particular smoothness, and in the range of A: null vectors of a singular matrix, of which PETSc may not know, would
   be as large in both cycles, and hide the rest */
static PetscErrorCode RightHandSide(PC pc, Vec work, Vec b)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(pc, NULL, &A));
  PetscCall(VecSetRandom(work, NULL));
  PetscCall(MatMult(A, work, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b and x: vectors to work with, of the kind for which s has copies on the device. why[0] stays 0 where the two are alike,
   and where that of PETSc is no number either. Collective. */
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
