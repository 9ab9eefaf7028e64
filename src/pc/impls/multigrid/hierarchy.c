/*
  hierarchy.c - a hierarchy on the device from creation to destruction: takes data from PETSc, and decides whether the
  cycle made from it still serves.

    nothing changed                        the cycle serves as it is
    values, steps or the inverse changed   spmv_cycle_renew(): a graph that holds the cycle stays
    a size, a count or an address changed  another cycle, with another serial number
*/
#include "hierarchy.h"

PetscLogEvent MGDev_SetUp, MGDev_Cycle;

PetscErrorCode MGDevRegister(void)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventRegister("MGDevSetUp", PC_CLASSID, &MGDev_SetUp));
  PetscCall(PetscLogEventRegister("MGDevCycle", PC_CLASSID, &MGDev_Cycle));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates an empty hierarchy. exec belongs to the caller; if it is NULL, the hierarchy has its own exec and may outlive
   the caller. */
PetscErrorCode MGDevHierarchyCreate(SpmvExec *exec, MGDevHierarchy *hierarchy)
{
  MGDevHierarchy h;

  PetscFunctionBegin;
  PetscCall(PetscNew(&h));
  PetscCall(PetscNew(&h->now));
  PetscCall(PetscNew(&h->made));
  spmv_exec_init(&h->own_exec, SPMV_DEVICE);
  h->exec       = exec ? exec : &h->own_exec;
  h->references = 1;
  *hierarchy    = h;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SmootherFree(MGDevHierarchy h, MGDevSmoother *s)
{
  PetscFunctionBegin;
  MGDevPointFree(&s->point, h->exec);
  MGDevRoundedFree(h, &s->rounded);
  s->recurrence.id = 0;
  PetscCall(PCFunctionDestroy(&s->function, h->exec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LevelFree(MGDevHierarchy h, MGDevLevel *level)
{
  PetscFunctionBegin;
  PetscCall(MGDevMatrixForget(h, &level->matrix));
  PetscCall(MGDevMatrixForget(h, &level->interpolation));
  PetscCall(MGDevMatrixForget(h, &level->restriction));
  PetscCall(MatDestroy(&level->of_interpolation.aij));
  PetscCall(MatDestroy(&level->of_restriction.aij));
  PetscCall(SmootherFree(h, &level->down));
  PetscCall(SmootherFree(h, &level->up));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits first: kernels that a solver left in the stream may still read memory of the cycle. Ignores errors of the
   device, which the last solve has reported. */
static void CycleDestroy(MGDevHierarchy h)
{
  if (h->info.cycle) (void)spmv_stream_wait(h->exec);
  spmv_cycle_destroy(&h->info.cycle);
  h->info = (MGDevInfo){.set_ups = h->info.set_ups};
}

static PetscErrorCode ForgetLevels(MGDevHierarchy h)
{
  PetscFunctionBegin;
  CycleDestroy(h);
  for (PetscInt i = 0; i < SPMV_CYCLE_LEVELS; i++) PetscCall(LevelFree(h, &h->level[i]));
  PetscCall(MGDevCoarseForget(h));
  MGDevNullSpaceForget(h);
  MGDevRoundedFree(h, &h->single.inverse);
  h->levels = h->rows = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the data on the device; keeps counters. Collective on several processes. */
PetscErrorCode MGDevHierarchyForget(MGDevHierarchy h)
{
  PetscFunctionBegin;
  if (!h) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ForgetLevels(h));
  if (h->holds) spmv_scratch_release();
  h->holds = PETSC_FALSE;
  PetscCall(PetscPackProcessesClose(&h->processes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Drops a reference; the last one frees the hierarchy */
PetscErrorCode MGDevHierarchyDestroy(MGDevHierarchy *hierarchy)
{
  PetscFunctionBegin;
  if (!*hierarchy) PetscFunctionReturn(PETSC_SUCCESS);
  if (--(*hierarchy)->references > 0) {
    *hierarchy = NULL;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MGDevHierarchyForget(*hierarchy));
  PetscCall(PetscFree((*hierarchy)->now));
  PetscCall(PetscFree((*hierarchy)->made));
  PetscCall(PetscFree(*hierarchy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads level i of PETSc's hierarchy, which is not the coarsest, into h->now */
static PetscErrorCode GetLevel(MGDevHierarchy h, PC_MG_Levels **levels, PetscInt i)
{
  const KSP       down = levels[i]->smoothd, up = levels[i]->smoothu;
  MGDevLevel     *mine = &h->level[i];
  SpmvCycleLevel *now  = &h->now->level[i];

  PetscFunctionBegin;
  PetscCall(MGDevLevelPlans(h, levels, i));
  if (!h->reason[0]) PetscCall(MGDevSmootherGet(h, down, &mine->down, &now->down));
  if (h->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (up != down) PetscCall(MGDevSmootherGet(h, up, &mine->up, &now->up));
  else {
    PetscCall(SmootherFree(h, &mine->up));
    now->up = now->down;
  }
  h->now->serial[i][6] = mine->down.function ? PCFunctionGetInfo(mine->down.function).serial : 0;
  h->now->serial[i][7] = mine->up.function ? PCFunctionGetInfo(mine->up.function).serial : 0;
  now->visits          = i == 1 ? 1 : (int)levels[i]->cycles; /* PETSc solves the coarsest level once */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the current hierarchy of PETSc into h->now. Unused bytes are zero: CycleGet_MGDevice() compares by memcmp. */
static PetscErrorCode HierarchyTake_MGDevice(MGDevHierarchy h, PC pc)
{
  const PC_MG      *mg      = PetscPackMG(pc);
  SpmvCycleOptions *options = &h->now->options;
  const PetscInt    levels  = mg->levels[0]->levels;

  PetscFunctionBegin;
  if (levels != h->levels) PetscCall(ForgetLevels(h));
  h->levels = levels;
  PetscCall(PetscMemzero(h->now, sizeof *h->now));
  spmv_cycle_options_init(options);
  options->levels      = (int)levels;
  options->level       = h->now->level;
  options->scalar_type = AIJFMT_SCALAR;
  options->cycles      = (int)mg->cyclesperpcapply;
  if (h->single.on) PetscCall(MGDevSingleScale(h, mg->levels[levels - 1]));
  for (PetscInt i = levels - 1; i > 0 && !h->reason[0]; i--) PetscCall(GetLevel(h, mg->levels, i));
  if (!h->reason[0]) PetscCall(MGDevCoarseGet(h, pc, options));
  if (!h->reason[0]) PetscCall(MGDevNullSpaceGet(h, pc, options));
  if (!h->reason[0] && h->single.on) PetscCall(MGDevSingleOptions(h, options));
  h->now->level[0].rows = h->rows;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes or renews the cycle of h->now */
static PetscErrorCode CycleGet_MGDevice(MGDevHierarchy h)
{
  MGDevMade *const now  = h->now;
  MGDevInfo       *info = &h->info;
  PetscBool        same;

  PetscFunctionBegin;
  h->made->options.level = now->level; /* made and now are swapped, so these addresses always differ: leave them out */
  PetscCall(PetscMemcmp(now, h->made, sizeof *now, &same));
  if (same && info->cycle && !h->renew) PetscFunctionReturn(PETSC_SUCCESS);
  info->set_ups++;
  if (!same || !info->cycle) {
    CycleDestroy(h);
    info->serial = AIJFmtSerialNext();
    info->single = h->single.on;
    MGDevTry(h, spmv_cycle_create(&now->options, h->exec, &info->cycle));
    h->now  = h->made;
    h->made = now;
  }
  MGDevTry(h, spmv_cycle_renew(info->cycle, h->exec));
  spmv_cycle_info(info->cycle, &info->cycle_info);
  h->renew = PETSC_FALSE;
  if (info->set_ups > 1 && !h->holds) {
    spmv_scratch_hold();
    h->holds = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the cycle of PETSc's current hierarchy, in single precision if that is wanted and good enough. The two
   precisions share no data. */
static PetscErrorCode TakeAndMake(MGDevHierarchy h, PC pc)
{
  PetscBool single;

  PetscFunctionBegin;
  PetscCall(MGDevSingleDecide(h, pc, &single));
  if (single != h->single.on) PetscCall(ForgetLevels(h));
  h->single.on = single;
  PetscCall(HierarchyTake_MGDevice(h, pc));
  PetscCall(MGDevAgree(h));
  if (!h->reason[0]) PetscCall(CycleGet_MGDevice(h));
  PetscCall(MGDevAgree(h));
  if (!single || !h->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MGDevHierarchyDecline(h, pc, h->reason));
  h->reason[0] = 0;
  PetscCall(TakeAndMake(h, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As KSPSolve() of the smoothers does. PCSetUp() is needed, too: if Galerkin products keep their matrices, KSPSetUp()
   returns early, and new values reach M only there. */
static PetscErrorCode SolversSetUp_MGDevice(PC pc)
{
  PC_MG_Levels **levels = PetscPackMG(pc)->levels;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < levels[0]->levels; i++) {
    const KSP both[] = {levels[i]->smoothd, levels[i]->smoothu};

    for (int k = 0; k < (i == 0 || both[0] == both[1] ? 1 : 2); k++) {
      PetscCall(KSPSetUp(both[k]));
      PetscCall(PCSetUp(both[k]->pc));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes a hierarchy that has changed, unless there is a reason not to */
static PetscErrorCode HierarchyRenew_MGDevice(MGDevHierarchy h, PC pc)
{
  SpmvStatus status = SPMV_SUCCESS;

  PetscFunctionBegin;
  h->updates++;
  if (!h->reason[0]) PetscCall(MGDevAcceptType(h, pc));
  PetscCall(MGDevAgree(h));
  if (h->several && !h->reason[0] && !h->processes.open) {
    PetscCall(PetscPackProcessesOpen(&h->processes, h->comm, h->exec, &status));
    PetscCall(AIJFmtRefuse(h->exec, status, h->reason));
    PetscCall(MGDevAgree(h)); /* a lost device is an error */
  }
  if (h->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SolversSetUp_MGDevice(pc));
  PetscCall(MGDevAccept(h, pc));
  PetscCall(MGDevAgree(h));
  if (!h->reason[0]) PetscCall(TakeAndMake(h, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the cycle is that of an accepted hierarchy: compares everything that it was made from */
static PetscErrorCode HierarchyHolds_MGDevice(MGDevHierarchy h, PC pc, PetscBool *holds)
{
  const PC_MG   *mg     = PetscPackMG(pc);
  PC_MG_Levels **levels = mg->levels;
  PetscBool      single;

  PetscFunctionBegin;
  *holds = PETSC_FALSE;
  if (!h->info.cycle || h->renew || h->levels != levels[0]->levels) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MGDevSingleDecide(h, pc, &single));
  if (single != h->single.on || h->made->options.cycles != (int)mg->cyclesperpcapply)
    PetscFunctionReturn(PETSC_SUCCESS);
  *holds = PETSC_TRUE;
  PetscCall(MGDevCoarseHolds(h, pc, holds));
  PetscCall(MGDevNullSpaceHolds(h, pc, holds));
  for (PetscInt i = h->levels - 1; i > 0 && *holds; i--) {
    const KSP         down = levels[i]->smoothd, up = levels[i]->smoothu;
    const MGDevLevel *mine = &h->level[i];

    PetscCall(MGDevSmootherHolds(down, &mine->down, holds));
    if (up != down) PetscCall(MGDevSmootherHolds(up, &mine->up, holds));
    else if (mine->up.recurrence.id) *holds = PETSC_FALSE; /* there were two */
    if (i > 1 && h->made->level[i].visits != (int)levels[i]->cycles) *holds = PETSC_FALSE;
    if (*holds) PetscCall(MGDevLevelPlansHold(h, levels, i, holds));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes over the changes that PCSetUp() and the user have made since the last call. If there are none on any process,
   this costs one agreement of all processes. reason: why the hierarchy must be left to PETSc; then all processes have one,
   and nothing is left on the device that the next call could take for complete. */
PetscErrorCode MGDevHierarchyUpdate(MGDevHierarchy h, PC pc, char reason[SPMV_MESSAGE_MAX])
{
  PetscBool   holds = PETSC_FALSE;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MGDev_SetUp, pc, 0, 0, 0));
  PetscCall(PetscStrncpy(h->reason, reason, sizeof h->reason));
  h->comm = PetscObjectComm((PetscObject)pc);
  PetscCallMPI(MPI_Comm_size(h->comm, &size));
  h->several = size > 1 ? PETSC_TRUE : PETSC_FALSE;
  if (!h->reason[0]) PetscCall(MGDevAccept(h, pc));
  if (!h->reason[0]) PetscCall(HierarchyHolds_MGDevice(h, pc, &holds));
  if (h->several) PetscCall(PetscPackAll(h->comm, &holds));
  if (!holds) {
    PetscCall(PetscStrncpy(h->reason, reason, sizeof h->reason));
    PetscCall(HierarchyRenew_MGDevice(h, pc));
  }
  if (h->reason[0]) PetscCall(MGDevHierarchyForget(h));
  PetscCall(PetscLogEventEnd(MGDev_SetUp, pc, 0, 0, 0));
  PetscCall(PetscStrncpy(reason, h->reason, SPMV_MESSAGE_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* single.values is not added: the plan in single precision borrows it, and total_bytes includes borrowed arrays */
static int64_t BlockBytes(const MGDevBlock *b)
{
  int64_t bytes = b->own.plan ? b->own.plan->memory.total_bytes : 0;

  if (b->single.cache.plan) bytes += b->single.cache.plan->memory.total_bytes;
  return bytes;
}

static int64_t LevelBytes(const MGDevLevel *level)
{
  const MGDevMatrix *const matrices[] = {&level->matrix, &level->interpolation, &level->restriction};
  int64_t bytes = level->down.point.bytes + level->up.point.bytes + level->down.rounded.bytes + level->up.rounded.bytes;

  for (int m = 0; m < 3; m++) bytes += BlockBytes(&matrices[m]->block) + BlockBytes(&matrices[m]->ghost_columns);
  return bytes;
}

const MGDevInfo *MGDevHierarchyInfo(MGDevHierarchy h)
{
  static const MGDevInfo none = {.cycle = NULL};

  return h ? &h->info : &none;
}

/* On the device, with those of the cycle */
int64_t MGDevHierarchyBytes(MGDevHierarchy h)
{
  int64_t bytes;

  if (!h || !h->info.cycle) return 0;
  bytes = h->info.cycle_info.bytes + h->single.inverse.bytes;
  for (PetscInt i = 1; i < h->levels; i++) bytes += LevelBytes(&h->level[i]);
  if (h->inverse) bytes += (int64_t)h->rows * h->rows * (int64_t)sizeof(PetscScalar);
  return bytes;
}

/* The plan of A if A is the matrix of the finest level, in double precision, so that a solver can share it. Otherwise
   found->plan is NULL. */
PetscErrorCode MGDevHierarchyPlan(MGDevHierarchy h, Mat A, AIJFmtPlanOnDevice *found)
{
  const MGDevMatrix *finest = &h->level[PetscMax(h->levels - 1, 0)].matrix;

  PetscFunctionBegin;
  *found = h->single.on ? finest->block.doubled : finest->block.found;
  if (h->several || h->levels < 2 || finest->seen.id != ((PetscObject)A)->id)
    *found = (AIJFmtPlanOnDevice){.plan = NULL};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints how many steps of waiting a function for M needs on each level: they take most of its time */
static PetscErrorCode ViewFunctions(MGDevHierarchy h, PetscViewer viewer)
{
  PetscFunctionBegin;
  for (PetscInt i = h->levels - 1; i > 0; i--) {
    const MGDevSmoother *s = &h->level[i].down;
    PCFunctionInfo       of;

    if (!s->function) continue;
    of = PCFunctionGetInfo(s->function);
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "    level %" PetscInt_FMT ": M by %s, whose rows wait for each other %lld and %lld times\n", i,
        of.sweeps ? "sweeps" : "a factor", (long long)of.levels[0], (long long)of.levels[1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints where and how the cycle runs */
PetscErrorCode MGDevHierarchyView(MGDevHierarchy h, PetscViewer viewer)
{
  const PetscInt finest = h->levels - 1;

  PetscFunctionBegin;
  if (!h->info.cycle) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  multigrid on the device: levels %" PetscInt_FMT
                                   ", %s cycles for each call %d, levels in one dense matrix %d\n",
                                   h->levels, finest > 1 && h->made->level[finest].visits > 1 ? "W" : "V",
                                   h->made->options.cycles, h->info.cycle_info.dense));
  PetscCall(PetscViewerASCIIPrintf(viewer, "    coarsest level: rows %" PetscInt_FMT ", %s\n", h->rows,
                                   h->inverse  ? "by its inverse"
                                   : h->factor ? "by its factorization on the GPU"
                                               : "by the solver of PETSc"));
  PetscCall(ViewFunctions(h, viewer));
  if (h->single.wanted)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "    precision of the cycle: %s%s\n",
        h->single.on ? "single" : "double in place of single: ", h->single.on ? "" : h->single.why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Logs the flops of the given number of cycles on the device. Their time belongs to the event of the solver. */
PetscErrorCode MGDevLogCycles(MGDevHierarchy h, PetscLogDouble cycles)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MGDev_Cycle, 0, 0, 0, 0));
  PetscCall(AIJFmtLogGpuFlops(cycles * h->info.cycle_info.flops));
  PetscCall(PetscLogEventEnd(MGDev_Cycle, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
