/*
  solver_pc.c - the preconditioner on the device: the numbers of a point or point-block preconditioner, or a function, which
  is a multigrid cycle or a solve with a factor. They are kept until they change.
*/
#include "kspdevice.h"
#include <math.h>

/* Forgets the hierarchy; one that belongs to the PC stays on the device */
static PetscErrorCode ForgetHierarchy(KSPDevice *s)
{
  PetscFunctionBegin;
  if (s->of_pc) PetscCall(MGDevHierarchyDestroy(&s->multigrid));
  else PetscCall(MGDevHierarchyForget(s->multigrid));
  s->of_pc = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDevPCForget(KSPDevice *s)
{
  PetscFunctionBegin;
  MGDevPointFree(&s->pc, &s->exec);
  PetscCall(PCFunctionDestroy(&s->function, &s->exec));
  PetscCall(ForgetHierarchy(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void BecomeFunction(KSPDevice *s)
{
  if (s->pc.kind != SPMV_PC_FUNCTION) MGDevPointFree(&s->pc, &s->exec);
  s->pc.kind  = SPMV_PC_FUNCTION;
  s->pc.block = 1;
}

KSPDevFunction KSPDevFunctionGet(KSPDevice *s)
{
  const MGDevInfo *of = MGDevHierarchyInfo(s->multigrid);

  if (s->function)
    return (KSPDevFunction){
        .apply = PCFunctionApply, .ctx = s->function, .waits = PCFunctionGetInfo(s->function).waits};
  return (KSPDevFunction){.apply = spmv_cycle_function, .ctx = of->cycle, .waits = of->cycle_info.waits};
}

/* Gets the cycle that does the same as PCApply(), from the PC if it has one. A reason is one on all processes. */
static PetscErrorCode CycleGet_KSPDevice(KSP ksp, KSPDevice *s)
{
  MGDevHierarchy of_pc;

  PetscFunctionBegin;
  PetscCall(MGDevOfPC(ksp->pc, &of_pc, s->reason));
  if (of_pc || s->of_pc) PetscCall(MGDevHierarchyDestroy(&s->multigrid));
  s->of_pc = of_pc ? PETSC_TRUE : PETSC_FALSE;
  if (of_pc) s->multigrid = of_pc;
  else if (!s->multigrid) {
    PetscCall(MGDevHierarchyCreate(&s->exec, &s->multigrid));
    PetscCall(MGDevHierarchySetFromOptions(s->multigrid, ksp->pc));
  }
  BecomeFunction(s);
  if (!of_pc) PetscCall(MGDevHierarchyUpdate(s->multigrid, ksp->pc, s->reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PointGet_KSPDevice(KSP ksp, KSPDevice *s)
{
  PetscBool  renewed;
  MGDevPoint wanted;

  PetscFunctionBegin;
  PetscCall(ForgetHierarchy(s));
  PetscCall(MGDevPointDescribe(ksp->pc, &wanted, s->reason));
  if (!s->reason[0] && ksp->pc->failedreason)
    PetscCall(PetscStrncpy(s->reason, "the set-up of the preconditioner failed", sizeof s->reason));
  PetscCall(MGDevPointGet(&s->pc, &wanted, ksp->pc, &s->exec, &renewed, s->reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factors or sweeps on the device, perhaps of blocks. On several processes all have a function afterwards, or none. */
static PetscErrorCode FunctionGet_KSPDevice(KSP ksp, KSPDevice *s)
{
  PetscBool local;

  PetscFunctionBegin;
  PetscCall(PCFunctionGet(ksp->pc, PETSC_FALSE, &s->exec, &s->function, s->reason));
  PetscCall(PCFunctionIs(ksp->pc, &local));
  if (!local || !s->several) PetscFunctionReturn(PETSC_SUCCESS);
  if (!s->function && !s->reason[0])
    PetscCall(PetscStrncpy(s->reason, "the preconditioner of this process is not on the GPU", sizeof s->reason));
  PetscCall(KSPDevAgree(ksp, s));
  if (s->reason[0]) PetscCall(PCFunctionDestroy(&s->function, &s->exec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDevPCGet(KSP ksp, KSPDevice *s)
{
  PetscBool multigrid;

  PetscFunctionBegin;
  PetscCall(MGDevIsHierarchy(ksp->pc, &multigrid));
  PetscCall(FunctionGet_KSPDevice(ksp, s));
  if (s->function) {
    PetscCall(ForgetHierarchy(s));
    BecomeFunction(s);
  } else if (multigrid) PetscCall(CycleGet_KSPDevice(ksp, s));
  else if (!s->reason[0]) PetscCall(PointGet_KSPDevice(ksp, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void KSPDevSingleCheck(KSP ksp, KSPDevice *s, int64_t iteration, double norm)
{
  const char *why;

  if (!s->single || ksp->normtype == KSP_NORM_NONE || !isfinite(norm)) return;
  why = MGDevNormsTell(&s->norms, (PetscInt)iteration, (PetscReal)norm);
  if (!why || ksp->reason) return;
  s->fault    = why;
  ksp->reason = KSP_DIVERGED_BREAKDOWN;
}
