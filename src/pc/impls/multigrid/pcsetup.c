/*
  pcsetup.c - the hierarchy of a PC of type mgdevice or gamgdevice: copied to the device when PETSc has set it up, so
  that the first solve does not pay for it, and updated before each solve.
*/
#include "pctypes.h"

/* The cycle needs real numbers and a GPU. reason: "" if there are */
PetscErrorCode MGDevWhyNoDevice(char reason[SPMV_MESSAGE_MAX])
{
  PetscFunctionBegin;
  if (PetscDefined(USE_COMPLEX) || PetscDefined(USE_REAL___FLOAT128) || PetscDefined(USE_REAL___FP16))
    PetscCall(PetscStrncpy(reason, "scalars are neither real double nor real single", SPMV_MESSAGE_MAX));
  else if (spmv_device_count(reason) > 0) reason[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates copies of b and x on the device if the vectors of the finest smoother are on the host, so that no application
   needs memory */
static PetscErrorCode ReserveVectors(PC pc, PC_MGDevice *s, Vec b, Vec x)
{
  SpmvExec  *exec = s->hierarchy->exec;
  SpmvStatus status;

  PetscFunctionBegin;
  PetscCall(AIJFmtVectorPlacePinned(exec, &s->b, b, &status));
  if (!status) PetscCall(AIJFmtVectorPlacePinned(exec, &s->x, x, &status));
  PetscCall(AIJFmtRefuse(exec, status, s->reason));
  if (s->hierarchy->several) PetscCall(PetscPackAgree(PetscObjectComm((PetscObject)pc), s->reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- a cycle in single precision against PETSc's ----

   When single precision makes a cycle useless, it does so for nearly every vector: numbers overflow, or the coarsest level
   is nearly singular. A solver that tests norms of M r may then report convergence too early: the part of M r that single
   precision has made far too large dominates the norm, and only that part converges. One without norms notices nothing. */

/* The largest relative difference between the two cycles; decision 0044 has the differences that were seen */
static const PetscReal most_different = (PetscReal)0.1;

/* b and x: work vectors of the kind for which s has copies on the device. why[0] stays 0 if the cycles agree, or if
   PETSc's result is not a number either. Collective. */
static PetscErrorCode CycleCompare_MGDevice(PC pc, PC_MGDevice *s, Vec b, Vec x, char why[SPMV_MESSAGE_MAX])
{
  PetscReal size, difference;
  Vec       expected;
  Mat       A;

  PetscFunctionBegin;
  /* A right-hand side of no particular smoothness in the range of A: null vectors of a singular matrix, which PETSc may
     not know, would be equally large in both cycles and hide every difference */
  PetscCall(PCGetOperators(pc, NULL, &A));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(A, x, b));
  PetscCall(VecDuplicate(x, &expected));
  PetscCall((*s->parent.apply)(pc, b, expected));
  PetscCall(MGDevCycleOnce(pc, s, b, x));
  PetscCall(VecNorm(expected, NORM_2, &size));
  PetscCall(VecAXPY(x, -1, expected));
  PetscCall(VecNorm(x, NORM_2, &difference));
  PetscCall(VecDestroy(&expected));
  PetscCall(PetscInfo(pc, "the cycle in single precision differs from that of PETSc by %g of its size\n",
                      (double)(difference / size)));
  if (!PetscIsInfOrNanReal(size) && !(difference <= most_different * size))
    PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX, "the cycle differed from that of PETSc by %g of its size",
                            (double)(difference / size)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- updates ---- */

/* Prepares a new hierarchy before it serves. Not repeated at each solve, because the vectors made for it take GPU
   memory if PETSc's vectors are on the GPU. */
static PetscErrorCode HierarchyPrepare(PC pc, PC_MGDevice *s)
{
  const PC_MG *mg                    = PetscPackMG(pc);
  char         why[SPMV_MESSAGE_MAX] = "";
  Vec          b, x;
  Mat          A;

  PetscFunctionBegin;
  PetscCall(MGDevLevelMatrix(mg->levels[mg->levels[0]->levels - 1], &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(ReserveVectors(pc, s, b, x));
  if (!s->reason[0] && s->hierarchy->info.single && s->compare) PetscCall(CycleCompare_MGDevice(pc, s, b, x, why));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  if (!why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MGDevHierarchyDecline(s->hierarchy, pc, why));
  s->reason[0] = 0;
  PetscCall(MGDevHierarchyUpdate(s->hierarchy, pc, s->reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's Richardson iteration would not call PCApply(). PCMGSetType() installs it again in each set-up, so each set-up
   replaces it. */
static void TakeRichardson(PC pc, PC_MGDevice *s)
{
  if (!pc->ops->applyrichardson || pc->ops->applyrichardson == PCApplyRichardson_MGDevice) return;
  s->parent.applyrichardson = pc->ops->applyrichardson;
  pc->ops->applyrichardson  = PCApplyRichardson_MGDevice;
}

/* The state of the values on the finest level, whose matrix PCSetUp() may not check */
static PetscErrorCode FinestState(PC pc, PetscObjectState *state)
{
  const PC_MG *mg = PetscPackMG(pc);
  Mat          A  = NULL;
  PetscBool    fits;

  PetscFunctionBegin;
  PetscCall(PetscPackMGFits(&fits));
  if (fits && mg->levels) PetscCall(MGDevLevelMatrix(mg->levels[mg->levels[0]->levels - 1], &A));
  *state = A ? ((PetscObject)A)->state : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective: afterwards either s->serves, or there is a reason */
PetscErrorCode MGDevStateUpdate(PC pc, PC_MGDevice *s)
{
  PetscFunctionBegin;
  TakeRichardson(pc, s);
  s->reason[0] = 0;
  PetscCall(MGDevWhyNoDevice(s->reason));
  if (!s->reason[0]) PetscCall(AIJFmtCudaStream(s->hierarchy->exec));
  PetscCall(MGDevHierarchyUpdate(s->hierarchy, pc, s->reason));
  if (!s->reason[0] && (!s->serves || s->prepared != s->hierarchy->updates)) PetscCall(HierarchyPrepare(pc, s));
  s->prepared = s->hierarchy->updates;
  if (s->reason[0]) {
    PetscCall(PetscInfo(pc, "cycles by PETSc: %s\n", s->reason));
    PetscCall(MGDevStateForget(s));
  }
  s->serves = s->reason[0] ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(FinestState(pc, &s->finest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetUp_MGDevice(PC pc)
{
  PC_MGDevice *s;

  PetscFunctionBegin;
  PetscCall(MGDevStateGet(pc, &s, NULL));
  PetscCall(MGDevLimitSetUp(pc, s));
  PetscCall(MGDevStateUpdate(pc, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Updates the hierarchy before a solve: the matrix may have new values, and smoothers other options. PCSetUp() costs no
   time if nothing changed. A solve of one application, as within a field split, skips the check of the hierarchy, which
   needs an agreement of several processes. */
PetscErrorCode PCPreSolve_MGDevice(PC pc, KSP ksp, Vec b, Vec x)
{
  PetscObjectState finest = 0; /* gcc does not see that it is set whenever the call succeeds */
  PetscBool        once;
  PC_MGDevice     *s;

  PetscFunctionBegin;
  PetscCall(MGDevStateGet(pc, &s, NULL));
  (void)b;
  (void)x;
  PetscCall(AIJFmtPCPreSolve(pc, ksp));
  if (!s) PetscFunctionReturn(PETSC_SUCCESS); /* PETSc's types have no such operation */
  PetscCall(PCSetUp(pc));
  PetscCall(FinestState(pc, &finest));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPPREONLY, &once));
  if (!once || finest != s->finest) PetscCall(MGDevStateUpdate(pc, s));
  PetscCall(MGDevWatchNext(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For a solver that makes the cycle part of its iterations, within KSPSolve(). *hierarchy is NULL for a PC of another
   type; otherwise it is the hierarchy of the PC, with a reference for the caller, or there is a reason. */
PetscErrorCode MGDevOfPC(PC pc, MGDevHierarchy *hierarchy, char reason[SPMV_MESSAGE_MAX])
{
  PC_MGDevice *s;

  PetscFunctionBegin;
  *hierarchy = NULL;
  PetscCall(MGDevStateGet(pc, &s, NULL));
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  if (!s->serves) PetscCall(PetscStrncpy(reason, s->reason, SPMV_MESSAGE_MAX));
  *hierarchy = s->hierarchy;
  s->hierarchy->references++;
  PetscFunctionReturn(PETSC_SUCCESS);
}
