/*
  pcapply.c - applications of a PC of type mgdevice or gamgdevice: a cycle on the device, and operations built from
  cycles. If there is no cycle, PETSc's operations.
*/
#include "pctypes.h"
#include "sys/totals.h"

/* Counts an application by PETSc. why: the reason if the hierarchy serves. s: NULL for a PC that is not ours */
static PetscErrorCode ByPetsc(PC_MGDevice *s, const char why[])
{
  PetscFunctionBegin;
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  s->applies_petsc++;
  if (s->serves) PetscCall(PetscStrncpy(s->reason, why, sizeof s->reason));
  PetscPackCountApply(PETSCPACK_CYCLE, s->reason);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If a call has failed on a process, PETSc does the cycles of all, until the next solve tries again */
static PetscErrorCode RefuseAll(PC pc, PC_MGDevice *s, SpmvStatus *status)
{
  PetscFunctionBegin;
  PetscCall(PetscPackRefuse(PetscObjectComm((PetscObject)pc), s->hierarchy->exec, status, s->reason));
  if (!*status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(pc, "cycles by PETSc: %s\n", s->reason));
  s->serves = PETSC_FALSE;
  s->finest = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If the vectors are of another kind than at set-up, memory may not suffice for copies of them */
static PetscErrorCode VectorsGet(PC_MGDevice *s, Vec b, Vec x, SpmvStatus *status)
{
  SpmvExec *exec = s->hierarchy->exec;

  PetscFunctionBegin;
  PetscCall(AIJFmtVectorTry(exec, &s->b, b, AIJFMT_READ, status));
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtVectorTry(exec, &s->x, x, AIJFMT_WRITE, status));
  if (*status) PetscCall(AIJFmtVectorGive(exec, &s->b, status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VectorsGive(PC_MGDevice *s, SpmvStatus *status)
{
  PetscFunctionBegin;
  PetscCall(AIJFmtVectorGive(s->hierarchy->exec, &s->x, status));
  PetscCall(AIJFmtVectorGive(s->hierarchy->exec, &s->b, status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cycle on the device, for vectors that are there. On several processes, a call that fails on one goes on, because
   the others wait for its messages. */
static SpmvStatus CycleApply_MGDevice(PC_MGDevice *s)
{
  SpmvExec   *exec    = s->hierarchy->exec;
  SpmvFailure failure = {.status = SPMV_SUCCESS};
  SpmvStatus  status;

  if (s->hierarchy->several) exec->failure = &failure;
  status        = spmv_cycle_apply(s->hierarchy->info.cycle, s->b.data, s->x.data, exec);
  exec->failure = NULL;
  return failure.status ? spmv_fail(exec, failure.status, "%s", failure.message) : status;
}

/* x = cycle(b) on the device. s->reason: why not; then x must be computed anew. */
PetscErrorCode MGDevCycleOnce(PC pc, PC_MGDevice *s, Vec b, Vec x)
{
  const SpmvCycleInfo *info = &s->hierarchy->info.cycle_info;
  SpmvStatus           status, mine;

  PetscFunctionBegin;
  PetscCall(AIJFmtCudaStream(s->hierarchy->exec));
  PetscCall(PetscLogEventBegin(MGDev_Cycle, pc, b, x, 0));
  PetscCall(VectorsGet(s, b, x, &mine));
  status = mine;
  PetscCall(RefuseAll(pc, s, &status));
  if (!status) {
    /* PETSc's coarsest solver has timers of its own, and timers do not nest */
    if (!info->waits) PetscCall(PetscLogGpuTimeBegin());
    status = CycleApply_MGDevice(s);
    if (!info->waits) PetscCall(PetscLogGpuTimeEnd());
    PetscCall(VectorsGive(s, &status));
    PetscCall(RefuseAll(pc, s, &status));
    PetscCall(AIJFmtLogGpuFlops(info->flops));
  } else if (!mine) PetscCall(VectorsGive(s, &status));
  PetscCall(PetscLogEventEnd(MGDev_Cycle, pc, b, x, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver that updates the hierarchy of this PC may have found that it must be forgotten */
static PetscBool CycleServes_MGDevice(const PC_MGDevice *s)
{
  return s && s->serves && MGDevHierarchyInfo(s->hierarchy)->cycle ? PETSC_TRUE : PETSC_FALSE;
}

PetscErrorCode PCApply_MGDevice(PC pc, Vec b, Vec x)
{
  const struct _PCOps *petsc;
  PC_MGDevice         *s;

  PetscFunctionBegin;
  PetscCall(MGDevStateGet(pc, &s, &petsc));
  if (CycleServes_MGDevice(s)) {
    s->reason[0] = 0;
    PetscCall(MGDevCycleOnce(pc, s, b, x));
    if (!s->reason[0]) {
      s->applies_device++;
      PetscPackCountApply(PETSCPACK_CYCLE, "");
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(ByPetsc(s, NULL));
  PetscCall((*petsc->apply)(pc, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApplyTranspose_MGDevice(PC pc, Vec b, Vec x)
{
  const struct _PCOps *petsc;
  PC_MGDevice         *s;

  PetscFunctionBegin;
  PetscCall(MGDevStateGet(pc, &s, &petsc));
  PetscCall(ByPetsc(s, "a transposed application"));
  PetscCall((*petsc->applytranspose)(pc, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Column by column */
PetscErrorCode PCMatApply_MGDevice(PC pc, Mat B, Mat X)
{
  const struct _PCOps *petsc;
  PC_MGDevice         *s;
  PetscInt             columns;
  Vec                  b, x;

  PetscFunctionBegin;
  PetscCall(MGDevStateGet(pc, &s, &petsc));
  if (!CycleServes_MGDevice(s)) {
    PetscCall(ByPetsc(s, NULL));
    PetscCall((*petsc->matapply)(pc, B, X));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetSize(B, NULL, &columns));
  for (PetscInt j = 0; j < columns; j++) {
    PetscCall(MatDenseGetColumnVecRead(B, j, &b));
    PetscCall(MatDenseGetColumnVecWrite(X, j, &x));
    PetscCall(PCApply_MGDevice(pc, b, x));
    PetscCall(MatDenseRestoreColumnVecWrite(X, j, &x));
    PetscCall(MatDenseRestoreColumnVecRead(B, j, &b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Richardson's iteration ---- */

/* The convergence test of PCApplyRichardson_MG(), except that it tests at another point: PETSc tests the norm of the
   residual after the first smoother, this tests it after the previous cycle */
typedef struct {
  PetscReal rtol, abstol, ttol;
} RichardsonTest;

/* *reason is unchanged if the iteration goes on */
static PetscErrorCode RichardsonCheck(RichardsonTest *test, PetscBool first, Vec residual, PetscBool *end,
                                      PCRichardsonConvergedReason *reason)
{
  PetscReal norm;

  PetscFunctionBegin;
  if (first) test->ttol = test->abstol;
  if (first ? test->rtol == 0 : test->ttol == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecNorm(residual, NORM_2, &norm));
  if (first) test->ttol = PetscMax(test->rtol * norm, test->abstol);
  *end = norm <= test->ttol ? PETSC_TRUE : PETSC_FALSE;
  if (*end) *reason = norm < test->abstol ? PCRICHARDSON_CONVERGED_ATOL : PCRICHARDSON_CONVERGED_RTOL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Repeats x += cycle(b - A x). w: a work vector */
static PetscErrorCode RichardsonIterate(PC pc, PC_MGDevice *s, Vec b, Vec x, Vec w, RichardsonTest *test, PetscInt its,
                                        PetscBool zero, PetscInt *done, PCRichardsonConvergedReason *reason)
{
  const PC_MG *mg  = PetscPackMG(pc);
  PetscBool    end = PETSC_FALSE;
  Mat          A;

  PetscFunctionBegin;
  PetscCall(MGDevLevelMatrix(mg->levels[mg->levels[0]->levels - 1], &A));
  if (!s->correction) PetscCall(VecDuplicate(x, &s->correction));
  *reason = PCRICHARDSON_CONVERGED_ITS;
  for (*done = 0; *done < its; ++*done) {
    const PetscBool from_zero = *done == 0 && zero ? PETSC_TRUE : PETSC_FALSE;

    if (!from_zero) {
      PetscCall(MatMult(A, x, w));
      PetscCall(VecAYPX(w, -1, b));
    }
    PetscCall(RichardsonCheck(test, *done == 0 ? PETSC_TRUE : PETSC_FALSE, from_zero ? b : w, &end, reason));
    if (end) break;
    PetscCall(PCApply_MGDevice(pc, from_zero ? b : w, from_zero ? x : s->correction));
    if (!from_zero) PetscCall(VecAXPY(x, 1, s->correction));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApplyRichardson_MGDevice(PC pc, Vec b, Vec x, Vec w, PetscReal rtol, PetscReal abstol, PetscReal dtol,
                                          PetscInt its, PetscBool zero, PetscInt *done,
                                          PCRichardsonConvergedReason *reason)
{
  RichardsonTest       test = {rtol, abstol, 0};
  const struct _PCOps *petsc;
  PC_MGDevice         *s;

  PetscFunctionBegin;
  PetscCall(MGDevStateGet(pc, &s, &petsc));
  if (CycleServes_MGDevice(s) && PetscPackMG(pc)->cyclesperpcapply == 1)
    PetscCall(RichardsonIterate(pc, s, b, x, w, &test, its, zero, done, reason));
  else {
    PetscCall(ByPetsc(s, "several cycles for each application, where Richardson's iteration takes one"));
    PetscCall((*petsc->applyrichardson)(pc, b, x, w, rtol, abstol, dtol, its, zero, done, reason));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
