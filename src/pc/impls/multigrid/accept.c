/*
  accept.c - decides before any computation whether the cycle on the device does the same as PETSc's. The checks follow
  PCApply() of PCMG and KSPSolve() of the smoothers.
*/
#include "hierarchy.h"

/* PC types that inherit from PCMG have another type name, and may have another apply() */
PetscErrorCode MGDevIsHierarchy(PC pc, PetscBool *is)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCHYPRE, is));
  if (*is) PetscCall(PetscPackIsGamg(pc, is)); /* hypre's own, or a gamgdevice of that name */
  else PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, is, PCMG, PCGAMG, PCMGDEVICE, PCGAMGDEVICE, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What no smoother needs to be known for */
PetscErrorCode MGDevAcceptType(MGDevHierarchy h, PC pc)
{
  const PC_MG *mg  = PetscPackMG(pc);
  const char  *why = NULL;
  PetscBool    fits;

  PetscFunctionBegin;
  PetscCall(PetscPackMGFits(&fits));
  if (!fits) why = PETSCPACK_OTHER_MG;
  else if (pc->failedreason) why = "the set-up of the preconditioner failed";
  else if (!mg->levels) why = "multigrid without levels";
  else if (mg->am != PC_MG_MULTIPLICATIVE) why = "the multigrid is not multiplicative";
  else if (mg->compatibleRelaxation) why = "multigrid with compatible relaxation";
  else if (mg->levels[0]->levels > SPMV_CYCLE_LEVELS) why = "multigrid with more than 16 levels";
  for (PetscInt i = 0; !why && i < mg->levels[0]->levels; i++)
    if (!mg->levels[i]->smoothd) why = "a level that this process has no part of";
  if (why) PetscCall(PetscStrncpy(h->reason, why, sizeof h->reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of the hierarchy must have its values in a CSR, or be of a type that is converted to one */
static PetscErrorCode WhyMatrix(Mat A, const char name[], char why[SPMV_MESSAGE_MAX])
{
  PetscBool   aij = PETSC_FALSE, maij = PETSC_FALSE;
  PetscMPIInt size;

  PetscFunctionBegin;
  if (A) {
    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, size > 1 ? MATMPIAIJ : MATSEQAIJ, &aij));
    PetscCall(MGDevIsMAIJ(A, &maij));
  }
  if (!A) PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX, "there is no %s", name));
  else if (maij) PetscFunctionReturn(PETSC_SUCCESS);
  else if (!aij)
    PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX, "the %s is of type %s, not aij or one that is derived from it", name,
                            ((PetscObject)A)->type_name));
  else if (A->structure_only || !A->assembled)
    PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX, "the %s has no values", name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Features of a KSP beyond a fixed number of steps */
static PetscErrorCode WhySolver(KSP ksp, const char **why)
{
  PetscBool richardson;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPRICHARDSON, &richardson));
  if (ksp->normtype != KSP_NORM_NONE) *why = "the smoother computes norms";
  else if (richardson && ksp->converged != KSPConvergedSkip) *why = "the smoother has a convergence test";
  else if (ksp->pc_side != PC_LEFT) *why = "the preconditioner of the smoother is not on the left";
  else if (ksp->numbermonitors) *why = "the smoother has a monitor";
  else if (ksp->transpose_solve || ksp->guess || ksp->guess_knoll || ksp->calc_sings || ksp->presolve || ksp->postsolve)
    *why = "the smoother does more than its steps";
  else if (ksp->max_it > MGDEV_STEPS_MAX) *why = "the smoother has more than 64 steps";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What M of a smoother is; nothing is computed */
static PetscErrorCode DescribePC(PC pc, MGDevPoint *wanted, char why[SPMV_MESSAGE_MAX])
{
  PetscBool function;

  PetscFunctionBegin;
  PetscCall(PCFunctionIs(pc, &function));
  if (!function) PetscCall(MGDevPointDescribe(pc, wanted, why));
  if (!function) PetscFunctionReturn(PETSC_SUCCESS);
  *wanted = (MGDevPoint){.kind = SPMV_PC_FUNCTION, .block = 1};
  PetscCall(MGDevKeyGet(pc, &wanted->key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* guess: the smoother starts from a nonzero iterate */
static PetscErrorCode WhySmoother(PC pc, PetscInt level, KSP ksp, PetscBool guess, MGDevSmoother *mine,
                                  char why[SPMV_MESSAGE_MAX])
{
  PC_MG_Levels **levels = PetscPackMG(pc)->levels;
  const char    *fault  = NULL;
  PetscBool      known;
  Mat            A, of_smoother;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &known, KSPCHEBYSHEV, KSPRICHARDSON, ""));
  if (!known) {
    PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX, "the smoother is %s, not chebyshev or richardson",
                            ((PetscObject)ksp)->type_name));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MGDevLevelMatrix(levels[level], &A));
  PetscCall(KSPGetOperators(ksp, &of_smoother, NULL));
  PetscCall(WhySolver(ksp, &fault));
  if (!fault && of_smoother != A) fault = "the smoother has another matrix than the residual";
  if (!fault)
    PetscCall(MGDevNullSpaceAccept(pc, ksp, level == levels[0]->levels - 1 ? PETSC_TRUE : PETSC_FALSE, &fault));
  if (!fault && guess && ksp->guess_zero) fault = "the smoother begins at zero where it is called again";
  if (!fault && ksp->pc->failedreason) fault = "the set-up of the smoother's preconditioner failed";
  if (fault) PetscCall(PetscStrncpy(why, fault, SPMV_MESSAGE_MAX));
  else PetscCall(MGDevRecurrenceGet(ksp, &mine->wanted, why));
  mine->coarser = level < levels[0]->levels - 1 ? PETSC_TRUE : PETSC_FALSE;
  if (!why[0] && ksp->max_it > 0) PetscCall(DescribePC(ksp->pc, &mine->wanted_point, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* again: the cycle returns to this level, and continues with the iterate that it left there */
static PetscErrorCode WhyLevel(PC pc, PetscInt i, PetscBool again, MGDevLevel *mine, char why[SPMV_MESSAGE_MAX])
{
  const PC_MG_Levels *level = PetscPackMG(pc)->levels[i];
  Mat                 A;

  PetscFunctionBegin;
  PetscCall(MGDevLevelMatrix(level, &A));
  PetscCall(WhyMatrix(A, "matrix", why));
  if (!why[0]) PetscCall(WhyMatrix(level->interpolate, "interpolation", why));
  if (!why[0]) PetscCall(WhyMatrix(level->restrct, "restriction", why));
  if (!why[0] && level->cr) PetscCall(PetscStrncpy(why, "compatible relaxation", SPMV_MESSAGE_MAX));
  if (!why[0] && level->residual && level->residual != PCMGResidualDefault)
    PetscCall(PetscStrncpy(why, "the residual is a function of the user", SPMV_MESSAGE_MAX));
  if (!why[0]) PetscCall(WhySmoother(pc, i, level->smoothd, again, &mine->down, why));
  if (!why[0] && level->smoothu != level->smoothd)
    PetscCall(WhySmoother(pc, i, level->smoothu, PETSC_TRUE, &mine->up, why));
  if (!why[0] && level->smoothu == level->smoothd && level->smoothu->guess_zero)
    PetscCall(PetscStrncpy(why, "the smoother begins at zero where it is called again", SPMV_MESSAGE_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MGDevAccept(MGDevHierarchy h, PC pc)
{
  const PC_MG *mg = PetscPackMG(pc);
  PetscInt     levels;

  PetscFunctionBegin;
  PetscCall(MGDevAcceptType(h, pc));
  if (h->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  levels = mg->levels[0]->levels;
  for (PetscInt i = levels - 1; i > 0 && !h->reason[0]; i--) {
    const PetscBool again                 = (i < levels - 1 ? mg->levels[i + 1]->cycles : mg->cyclesperpcapply) > 1;
    char            why[SPMV_MESSAGE_MAX] = "";

    PetscCall(WhyLevel(pc, i, again, &h->level[i], why));
    if (why[0]) PetscCall(PetscSNPrintf(h->reason, sizeof h->reason, "level %" PetscInt_FMT ": %s", i, why));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
