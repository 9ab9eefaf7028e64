/* solve.c - a solve: by the engine if it may serve and gets the data that it needs, else by KSPCG. */
#include "cgdevice.h"
#include "sys/totals.h"

/* Frees the device data of a solver; keeps options and counters */
PetscErrorCode CGDevForget(KSP_CGDevice *s)
{
  PetscFunctionBegin;
  PetscCall(CGDevEngineForget(s));
  PetscCall(KSPDevMatrixForget(KSPDEV(s)));
  PetscCall(CGDevRoundedForget(s));
  PetscCall(KSPDevPCForget(KSPDEV(s)));
  AIJFmtVectorFree(&s->exec, &s->x);
  AIJFmtVectorFree(&s->exec, &s->r);
  PetscCall(KSPDevProcessesForget(KSPDEV(s)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrepareEngine(KSP ksp, KSP_CGDevice *s)
{
  PetscFunctionBegin;
  s->exec.space   = SPMV_DEVICE;
  s->exec.failure = NULL;
  PetscCall(AIJFmtCudaStream(&s->exec));
  PetscCall(KSPDevPCGet(ksp, KSPDEV(s), ksp->work[2], ksp->work[1]));
  PetscCall(CGDevMixedBegin(ksp, s));
  if (!s->reason[0]) PetscCall(CGDevEngineGet(ksp, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Prepare(KSP ksp, KSP_CGDevice *s)
{
  PetscFunctionBegin;
  PetscCall(PrepareEngine(ksp, s));
  if (!s->reason[0]) PetscCall(KSPDevVectorPlace(KSPDEV(s), &s->x, ksp->vec_sol));
  if (!s->reason[0]) PetscCall(KSPDevVectorPlace(KSPDEV(s), &s->r, ksp->work[0]));
  PetscCall(KSPDevAgree(ksp, KSPDEV(s)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the device data first: KSPCG may need device memory too, and the device may be full */
static PetscErrorCode SolveOnHost(KSP ksp, KSP_CGDevice *s)
{
  PetscFunctionBegin;
  PetscCall(PetscInfo(ksp, "solved by KSPCG: %s\n", s->reason));
  PetscCall(CGDevForget(s));
  s->used          = KSP_CGDEVICE_HOST;
  s->residual_away = s->value_unknown = PETSC_FALSE;
  s->solves_host++;
  PetscCall(MGDevSolveWatched(ksp, s->parent.solve));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With multigrid, the plans of all levels, the cycle and the engine are made here, so that the first solve does not pay
   for them. They need the hierarchy, and KSPSetUp() calls PCSetUp() only after this function: hence PCSetUp() here. If
   the device cannot serve, all is forgotten here, and KSPSolve() tries again and reports the reason. */
PetscErrorCode KSPSetUp_CGDevice(KSP ksp)
{
  KSP_CGDevice *s;
  PetscBool     multigrid;

  PetscFunctionBegin;
  PetscCall(CGDevStateGet(ksp, &s));
  if (ksp->setupstage == KSP_SETUP_NEW) PetscCall(s->parent.setup(ksp));
  PetscCall(MGDevIsHierarchy(ksp->pc, &multigrid));
  if (!multigrid) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSetErrorIfFailure(ksp->pc, ksp->errorifnotconverged));
  PetscCall(PCSetUp(ksp->pc));
  if (ksp->pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  s->reason[0] = 0;
  PetscCall(CGDevAccept(ksp, s));
  PetscCall(KSPDevAgree(ksp, KSPDEV(s)));
  if (!s->reason[0]) {
    PetscCall(PetscLogEventBegin(KSP_CGDeviceSetUp, ksp, 0, 0, 0));
    PetscCall(PrepareEngine(ksp, s));
    PetscCall(KSPDevAgree(ksp, KSPDEV(s)));
    PetscCall(PetscLogEventEnd(KSP_CGDeviceSetUp, ksp, 0, 0, 0));
  }
  if (s->reason[0]) PetscCall(CGDevForget(s));
  s->reason[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSolve_CGDevice(KSP ksp)
{
  KSP_CGDevice *s;

  PetscFunctionBegin;
  PetscCall(CGDevStateGet(ksp, &s));
  s->reason[0] = 0;
  PetscCall(CGDevAccept(ksp, s));
  PetscCall(KSPDevAgree(ksp, KSPDEV(s)));
  if (!s->reason[0]) {
    PetscCall(PetscLogEventBegin(KSP_CGDeviceSetUp, ksp, 0, 0, 0));
    PetscCall(Prepare(ksp, s));
    PetscCall(PetscLogEventEnd(KSP_CGDeviceSetUp, ksp, 0, 0, 0));
  }
  if (!s->reason[0]) {
    s->residual_away = PETSC_FALSE;
    s->value_unknown = PETSC_TRUE;
    PetscCall(CGDevIterate(ksp, s));
  }
  if (s->reason[0]) PetscCall(SolveOnHost(ksp, s));
  else s->solves_device++;
  PetscPackCountSolve(ksp->its, s->reason);
  PetscFunctionReturn(PETSC_SUCCESS);
}
