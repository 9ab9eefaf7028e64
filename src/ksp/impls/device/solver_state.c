/* solver_state.c - refusals of the kernel library, the engine, vectors, and agreement between processes. */
#include "kspdevice.h"

/* Until KSPDevEngineEnd(), a call of the engine that fails on one of several processes goes on, because the others wait
   for its sums and ghost values */
void KSPDevEngineBegin(KSPDevice *s)
{
  s->failure.status = SPMV_SUCCESS;
  s->exec.failure   = s->several ? &s->failure : NULL;
}

/* After a refusal, restores a state from which the parent can start over. The iterations may have changed the solution;
   what they left serves as initial guess if one was given, and if it is finite. */
PetscErrorCode KSPDevEngineEnd(KSP ksp, KSPDevice *s, size_t history)
{
  SpmvStatus status = SPMV_SUCCESS;
  PetscReal  size   = 0;

  PetscFunctionBegin;
  if (!s->reason[0]) PetscCall(PetscPackRefuse(PetscObjectComm((PetscObject)ksp), &s->exec, &status, s->reason));
  s->exec.failure = NULL;
  if (!s->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  ksp->reason       = KSP_CONVERGED_ITERATING;
  ksp->res_hist_len = history;
  if (!ksp->guess_zero) PetscCall(VecNorm(ksp->vec_sol, NORM_INFINITY, &size));
  if (ksp->guess_zero || PetscIsInfOrNanReal(size)) PetscCall(VecZeroEntries(ksp->vec_sol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector of the host's part of a solve. Collective. */
PetscErrorCode KSPDevWork(KSP ksp, KSPDevice *s, int which, Vec *v)
{
  Vec *made;

  PetscFunctionBegin;
  if (!s->work[which]) {
    PetscCall(KSPCreateVecs(ksp, 1, &made, 0, NULL));
    s->work[which] = made[0];
    PetscCall(PetscFree(made));
  }
  *v = s->work[which];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds out where the entries of a vector are. Leaves a reason if memory does not suffice for a copy. */
PetscErrorCode KSPDevVectorPlace(KSPDevice *s, AIJFmtVector *v, Vec vec)
{
  SpmvStatus status;

  PetscFunctionBegin;
  PetscCall(AIJFmtVectorPlace(&s->exec, v, vec, &status));
  KSPDevTry(s, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Afterwards either all processes go on, or all have a reason not to. Collective; called after s->several is set. */
PetscErrorCode KSPDevAgree(KSP ksp, KSPDevice *s)
{
  PetscFunctionBegin;
  if (s->several) PetscCall(PetscPackAgree(PetscObjectComm((PetscObject)ksp), s->reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts multigrid cycles, solves with a factorization, or sweeps */
PetscErrorCode KSPDevCountApplies(KSPDevice *s, int64_t applies)
{
  PetscFunctionBegin;
  if (s->function) {
    PCFunctionCount(s->function, applies);
    PetscCall(AIJFmtLogGpuFlops(PCFunctionGetInfo(s->function).flops * (PetscLogDouble)applies));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  s->cycles += (PetscInt)applies;
  PetscCall(MGDevLogCycles(s->multigrid, (PetscLogDouble)applies));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the number of its graphs */
void KSPDevEngineForget(KSPDevice *s)
{
  KSPDeviceInfo info = {.graphs = 0};

  s->of->info(s, &info);
  s->graphs += info.graphs;
  s->of->unmake(s);
  s->engine_key = (KSPDevEngineKey){.function = 0}; /* that of no engine: each product has serial numbers */
}

PetscErrorCode KSPDevEngineGet(KSPDevice *s, const void *wanted, void *options, size_t bytes)
{
  KSPDevEngineKey now = {.rounded = s->matrix.call.rounded};
  PetscBool       key, same;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(now.product, s->matrix.serial, KSPDEV_PARTS));
  if (s->function) now.function = PCFunctionGetInfo(s->function).serial;
  else if (KSPDevHasCycle(s)) now.function = MGDevHierarchyInfo(s->multigrid)->serial;
  PetscCall(PetscMemcmp(&now, &s->engine_key, sizeof now, &key));
  PetscCall(PetscMemcmp(wanted, options, bytes, &same));
  if (key && same) PetscFunctionReturn(PETSC_SUCCESS);
  KSPDevEngineForget(s);
  KSPDevTry(s, s->of->make(s, wanted));
  s->engine_key = now;
  PetscCall(PetscMemcpy(options, wanted, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDevTellNorms(KSP ksp, KSPDevice *s, int64_t offset, int64_t first, int64_t last)
{
  double norms[KSPDEV_MONITOR_STEP];

  PetscFunctionBegin;
  while (first <= last) {
    const int64_t n = PetscMin(last - first + 1, KSPDEV_MONITOR_STEP);

    AIJFmtCallSpmv(&s->exec, s->of->history(s, first, n, norms));
    for (int64_t i = 0; i < n; i++) PetscCall(KSPDevTellNorm(ksp, (PetscInt)(offset + first + i), (PetscReal)norms[i]));
    first += n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
