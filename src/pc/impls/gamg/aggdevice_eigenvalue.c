/*
  aggdevice_eigenvalue.c - the largest eigenvalue of D^-1 A, by which prolongators are smoothed: the estimate of agg's
  solver with its options, on the device, or by that solver.
*/
#include "aggdevice.h"
#include "pc/impls/estimate/estimate.h"
#include <petsc/private/kspimpl.h>

/* Creates the solver that estimates the eigenvalues */
static PetscErrorCode EstimatorCreate(PC pc, Mat A, KSP *solver)
{
  const char *prefix;
  PetscBool   known, spd;
  PC          jacobi;

  PetscFunctionBegin;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), solver));
  PetscCall(AIJFmtKSPNest(*solver, pc));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(KSPSetOptionsPrefix(*solver, prefix));
  PetscCall(KSPAppendOptionsPrefix(*solver, "pc_gamg_esteig_"));
  PetscCall(MatIsSPDKnown(A, &known, &spd));
  if (known && spd) PetscCall(KSPSetType(*solver, KSPCG));
  PetscCall(KSPSetErrorIfNotConverged(*solver, pc->erroriffailure));
  PetscCall(KSPSetNormType(*solver, KSP_NORM_NONE));
  PetscCall(KSPSetInitialGuessNonzero(*solver, PETSC_FALSE));
  PetscCall(KSPSetOperators(*solver, A, A));
  PetscCall(KSPGetPC(*solver, &jacobi));
  PetscCall(PCSetType(jacobi, PCJACOBI));
  PetscCall(KSPSetTolerances(*solver, (*solver)->rtol, (*solver)->abstol, (*solver)->divtol, 10));
  PetscCall(KSPSetFromOptions(*solver));
  PetscCall(KSPSetComputeSingularValues(*solver, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EstimateByPetsc(PC pc, Mat A, PetscReal *least, PetscReal *largest)
{
  Vec b, x;
  KSP solver;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(AIJFmtKSPNoise(A, b));
  PetscCall(EstimatorCreate(pc, A, &solver));
  PetscCall(KSPSolve(solver, b, x));
  PetscCall(KSPCheckSolve(solver, pc, x));
  PetscCall(KSPComputeExtremeSingularValues(solver, largest, least));
  PetscCall(KSPDestroy(&solver));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the device, as agg's solver with its options, or leaves a reason */
static PetscErrorCode EstimateThere(PC pc, PC_AggDevice *a, Mat A, const void *diagonal, SpmvExtremes *found,
                                    char why[SPMV_MESSAGE_MAX])
{
  SpmvExtremesOptions o     = {.preconditioner = SPMV_PC_DIAGONAL, .m = diagonal, .inverse = 1, .tolerance = 1e-12};
  PetscInt            steps = 10;
  PetscBool           known, spd, set;
  const char         *of_pc;
  char                prefix[256], type[64];

  PetscFunctionBegin;
  PetscCall(PCGetOptionsPrefix(pc, &of_pc));
  PetscCall(PetscSNPrintf(prefix, sizeof prefix, "%spc_gamg_esteig_", of_pc ? of_pc : ""));
  PetscCall(PetscOptionsGetInt(((PetscObject)pc)->options, prefix, "-ksp_max_it", &steps, NULL));
  PetscCall(PetscOptionsGetString(((PetscObject)pc)->options, prefix, "-ksp_type", type, sizeof type, &set));
  PetscCall(MatIsSPDKnown(A, &known, &spd));
  if (!set) PetscCall(PetscStrncpy(type, known && spd ? KSPCG : KSPGMRES, sizeof type));
  o.steps = (int)PetscMin(steps, SPMV_EXTREMES_STEPS + 1);
  o.kind  = !strcmp(type, KSPCG) || !strcmp(type, KSPCGDEVICE) ? SPMV_EXTREMES_LANCZOS : SPMV_EXTREMES_SINGULAR;
  if (o.kind == SPMV_EXTREMES_SINGULAR && strcmp(type, KSPGMRES) && strcmp(type, KSPGMRESDEVICE))
    PetscCall(PetscStrncpy(why, "the method is neither cg nor gmres", SPMV_MESSAGE_MAX));
  else PetscCall(PetscPackEstimateWhyNot((PetscObject)pc, A, A, &o, why));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (!diagonal && A->rmap->n > 0) PetscCall(PetscStrncpy(why, "the diagonal is not on the device", SPMV_MESSAGE_MAX));
  PetscCall(PetscPackEstimate((PetscObject)pc, A, &o, &a->exec, found, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Estimate(PC pc, PC_AggDevice *a, Mat A, const void *diagonal, PetscReal *least,
                               PetscReal *largest)
{
  char         why[SPMV_MESSAGE_MAX] = "";
  SpmvExtremes found;

  PetscFunctionBegin;
  PetscCall(EstimateThere(pc, a, A, diagonal, &found, why));
  if (why[0]) {
    PetscCall(PetscInfo(pc, "eigenvalues estimated by PETSc: %s\n", why));
    PetscCall(PetscStrncpy(a->estimate_reason, why, sizeof a->estimate_reason));
    a->info.estimates_petsc++;
    PetscCall(EstimateByPetsc(pc, A, least, largest));
  } else {
    a->info.estimates_device++;
    *least   = (PetscReal)found.least;
    *largest = (PetscReal)found.largest;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Estimates the largest eigenvalue. Both extreme eigenvalues are passed to the smoothers of the cycle if PCGAMG wants
   that. */
PetscErrorCode AggDevLargestGet(PC pc, PC_AggDevice *a, Mat A, const void *diagonal, PetscReal *largest)
{
  PC_MG    *mg    = (PC_MG *)pc->data;
  PC_GAMG  *gamg  = (PC_GAMG *)mg->innerctx;
  PetscReal least = gamg->emin;
  const int level = (int)gamg->current_level;

  PetscFunctionBegin;
  *largest = gamg->emax;
  if (!(*largest > 0)) PetscCall(Estimate(pc, a, A, diagonal, &least, largest));
  mg->min_eigen_DinvA[level] = gamg->use_sa_esteig ? least : 0;
  mg->max_eigen_DinvA[level] = gamg->use_sa_esteig ? *largest : 0;
  PetscCheck(*largest != 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_PLIB,
             "the largest eigenvalue of level %d is estimated as zero", level);
  PetscFunctionReturn(PETSC_SUCCESS);
}
