/*
  chebyshev.c - KSPCHEBYSHEV of PETSc with estimates on the device. KSPSetUp() runs a KSP of its own for the eigenvalues
  when its matrices have changed; ours runs first, and if it has estimated, PETSc's finds the eigenvalues of these matrices
  and goes on.

  Each KSPSetUp_Chebyshev() makes three work vectors. A smoother of our cycle needs none, so they are made when PETSc
  smooths. Their readers in PETSc 3.18 to 3.26: KSPSolve_Chebyshev() or, from 3.19 on, KSPSolve_Chebyshev_FirstKind() and
  _FourthKind(); the estimate in KSPSetUp_Chebyshev(), which has them whenever it may run; and KSPReset() and
  KSPSetWorkVecs(), which free them. KSPBuildResidual(), KSPBuildSolution() and views take vectors of their own.
*/
#include "estimate.h"
#include <petsc/private/kspimpl.h>
#include <petscpack.h>
#include "pc/impls/point/point.h"
#include "sys/compose.h"
#include "sys/private.h"

/* PETSc's creator, and its operations; from 3.19 on the set-up chooses the solve */
static PetscErrorCode (*petsc_create)(KSP), (*petsc_setup)(KSP), (*petsc_solve)(KSP), (*petsc_view)(KSP, PetscViewer);

typedef struct {
  PetscErrorCode (*solve)(KSP); /* PETSc's for this solver */
  KSPChebyshevDeviceInfo info;
  char                   reason[SPMV_MESSAGE_MAX]; /* returned in info.reason */
} Estimates;

static const char estimates_key[] = "PetscPackChebyshevEstimates";

static PetscErrorCode EstimatesFree(void *state) { return PetscFree(state); }
AIJFMT_CONTAINER_DESTRUCTOR(EstimatesDestroy, EstimatesFree)

static PetscErrorCode EstimatesGet(KSP ksp, Estimates **e)
{
  PetscFunctionBegin;
  PetscCall(PetscPackStateQuery((PetscObject)ksp, estimates_key, (void **)e));
  if (*e) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(e));
  PetscCall(PetscPackStateCompose((PetscObject)ksp, estimates_key, *e, EstimatesDestroy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a program has changed the solver; options are looked at elsewhere */
static PetscBool Changed(KSP estimator)
{
  return estimator->converged != KSPConvergedDefault || estimator->numbermonitors || estimator->presolve ||
                 estimator->postsolve || !estimator->guess_zero || estimator->pc_side == PC_RIGHT ||
                 (estimator->normtype != KSP_NORM_DEFAULT && estimator->normtype != KSP_NORM_PRECONDITIONED)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Gives the solver its type and options, as KSPSetUp() of KSPCHEBYSHEV does, and describes it */
static PetscErrorCode Describe(KSP ksp, KSP estimator, Mat P, SpmvExtremesOptions *o, char why[SPMV_MESSAGE_MAX])
{
  const char *prefix;
  PetscBool   known, spd, typed, cg, gmres;

  PetscFunctionBegin;
  PetscCall(KSPGetOptionsPrefix(estimator, &prefix));
  PetscCall(MatIsSPDKnown(P, &known, &spd));
  PetscCall(PetscOptionsHasName(NULL, prefix, "-ksp_type", &typed));
  if (known && spd && !typed) PetscCall(KSPSetType(estimator, KSPCG));
  PetscCall(AIJFmtEstimatorSetFromOptions(ksp, estimator));
  if (!((PetscObject)estimator)->type_name) PetscCall(KSPSetType(estimator, KSPGMRES));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)estimator, &cg, KSPCG, KSPCGDEVICE, ""));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)estimator, &gmres, KSPGMRES, KSPGMRESDEVICE, ""));
  if (!cg && !gmres) PetscCall(PetscStrncpy(why, "the method is neither cg nor gmres", SPMV_MESSAGE_MAX));
  else if (Changed(estimator))
    PetscCall(PetscStrncpy(why, "the program has changed the solver for estimates", SPMV_MESSAGE_MAX));
  *o = (SpmvExtremesOptions){.kind      = cg ? SPMV_EXTREMES_LANCZOS : SPMV_EXTREMES_REAL,
                             .steps     = (int)PetscMin(estimator->max_it, SPMV_EXTREMES_STEPS + 1),
                             .tolerance = (double)estimator->rtol};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Leaves a reason if PETSc must estimate */
static PetscErrorCode Estimate(KSP ksp, KSP estimator, Mat A, Mat P, char why[SPMV_MESSAGE_MAX])
{
  MGDevPoint          m = {.values = NULL}, wanted;
  PetscBool           renewed;
  SpmvExtremesOptions o;
  SpmvExtremes        found;
  SpmvExec            exec, scratch;

  PetscFunctionBegin;
  PetscCall(Describe(ksp, estimator, P, &o, why));
  if (!why[0]) PetscCall(MGDevPointDescribe(ksp->pc, &wanted, why));
  if (!why[0]) PetscCall(PetscPackEstimateWhyNot((PetscObject)ksp, A, P, &o, why));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  spmv_exec_init(&exec, SPMV_DEVICE);
  PetscCall(AIJFmtCudaStream(&exec));
  scratch = spmv_scratch_exec(&exec);
  PetscCall(MGDevPointGet(&m, &wanted, ksp->pc, &scratch, &renewed, why));
  o.preconditioner = m.kind;
  o.block_size     = (int)m.block;
  o.m              = m.values;
  PetscCall(PetscPackEstimate((PetscObject)ksp, A, &o, &exec, &found, why));
  MGDevPointFree(&m, &scratch);
  if (!why[0]) PetscCall(PetscPackChebyshevEstimated(ksp, A, P, (PetscReal)found.least, (PetscReal)found.largest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSolve_Chebyshev_Estimate(KSP ksp)
{
  Estimates *e;

  PetscFunctionBegin;
  PetscCall(EstimatesGet(ksp, &e));
  if (!ksp->work) PetscCall(KSPSetWorkVecs(ksp, ksp->nwork));
  PetscCall((*e->solve)(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's set-up, whose work vectors are duplicates of the solution if there is one: here of an empty vector */
static PetscErrorCode SetUpWithoutVectors(KSP ksp)
{
  const Vec      solution = ksp->vec_sol;
  PetscErrorCode error;
  Vec            empty;

  PetscFunctionBegin;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, 0, &empty));
  ksp->vec_sol = empty;
  error        = (*petsc_setup)(ksp);
  ksp->vec_sol = solution;
  PetscCall(error);
  PetscCall(VecDestroy(&empty));
  PetscCall(VecDestroyVecs(ksp->nwork, &ksp->work)); /* ksp->nwork stays */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetUp_Chebyshev_Estimate(KSP ksp)
{
  PetscBool  estimates;
  char       why[SPMV_MESSAGE_MAX] = "";
  KSP        estimator             = NULL;
  Mat        A, P;
  Estimates *e;

  PetscFunctionBegin;
  PetscCall(KSPGetOperators(ksp, &A, &P));
  if (spmv_device_count(NULL) == 0) {
    PetscCall((*petsc_setup)(ksp));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(EstimatesGet(ksp, &e));
  PetscCall(PetscPackChebyshevEstimator(ksp, A, P, &estimates, &estimator));
  if (estimator) {
    PetscCall(Estimate(ksp, estimator, A, P, why));
    if (why[0]) {
      PetscCall(PetscInfo(ksp, "eigenvalues estimated by PETSc: %s\n", why));
      PetscCall(PetscStrncpy(e->reason, why, sizeof e->reason));
      e->info.petsc++;
    } else e->info.device++;
    estimates = why[0] ? PETSC_TRUE : PETSC_FALSE;
  }
  ksp->ops->solve = petsc_solve;
  if (estimates) PetscCall((*petsc_setup)(ksp));
  else PetscCall(SetUpWithoutVectors(ksp));
  e->solve        = ksp->ops->solve;
  ksp->ops->solve = KSPSolve_Chebyshev_Estimate;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPView_Chebyshev_Estimate(KSP ksp, PetscViewer viewer)
{
  KSPChebyshevDeviceInfo info;
  PetscBool              ascii;

  PetscFunctionBegin;
  PetscCall((*petsc_view)(ksp, viewer));
  PetscCall(KSPChebyshevDeviceGetInfo(ksp, &info));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii || info.device + info.petsc == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "  estimates of eigenvalues on the device %" PetscInt_FMT ", by PETSc %" PetscInt_FMT "%s%s\n",
      info.device, info.petsc, info.petsc ? "; last by PETSc: " : "", info.reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCreate_Chebyshev_Estimate(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall((*petsc_create)(ksp));
  petsc_setup     = ksp->ops->setup;
  petsc_solve     = ksp->ops->solve;
  petsc_view      = ksp->ops->view;
  ksp->ops->setup = KSPSetUp_Chebyshev_Estimate;
  ksp->ops->view  = KSPView_Chebyshev_Estimate;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPChebyshevDeviceGetInfo - Gets where the eigenvalues of a `KSPCHEBYSHEV` were estimated

  Not Collective

  Input Parameter:
. ksp - the solver; one of another type is accepted

  Output Parameter:
. info - estimates on the device and by a solver of PETSc, as far as there is a device, and the reason for the last one by
         PETSc

  Level: advanced

  Note:
  With a matrix of petscpack on the device, on one process or several, `PCNONE`, `PCJACOBI` or `PCPBJACOBI`, and no option
  with `esteig_` in its name but `ksp_type` `cg` or `gmres` and `ksp_max_it`, the device does the iterations of PETSc's
  solver.

.seealso: `KSPCHEBYSHEV`, `KSPChebyshevEstEigSet()`, `PCGAMGAggDeviceGetInfo()`
@*/
PetscErrorCode KSPChebyshevDeviceGetInfo(KSP ksp, KSPChebyshevDeviceInfo *info)
{
  Estimates *e;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscAssertPointer(info, 2);
  *info = (KSPChebyshevDeviceInfo){.reason = ""};
  PetscCall(PetscPackStateQuery((PetscObject)ksp, estimates_key, (void **)&e));
  if (!e) PetscFunctionReturn(PETSC_SUCCESS);
  *info        = e->info;
  info->reason = e->reason;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackChebyshevRegister(void)
{
  PetscErrorCode (*create)(KSP);

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(KSPList, KSPCHEBYSHEV, &create));
  if (!create || create == KSPCreate_Chebyshev_Estimate) PetscFunctionReturn(PETSC_SUCCESS);
  petsc_create = create;
  PetscCall(KSPRegister(KSPCHEBYSHEV, KSPCreate_Chebyshev_Estimate));
  PetscFunctionReturn(PETSC_SUCCESS);
}
