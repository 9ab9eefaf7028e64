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

static void SmootherFree(MGDevHierarchy h, MGDevSmoother *s)
{
  MGDevPointFree(&s->point, h->exec);
  MGDevRoundedFree(h, &s->rounded);
  s->recurrence.id = 0;
}

static PetscErrorCode LevelFree(MGDevHierarchy h, MGDevLevel *level)
{
  PetscFunctionBegin;
  PetscCall(MGDevMatrixForget(h, &level->matrix));
  PetscCall(MGDevMatrixForget(h, &level->interpolation));
  PetscCall(MGDevMatrixForget(h, &level->restriction));
  PetscCall(MatDestroy(&level->of_interpolation.aij));
  PetscCall(MatDestroy(&level->of_restriction.aij));
  SmootherFree(h, &level->down);
  SmootherFree(h, &level->up);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits first: kernels that a solver left in the stream may still read memory of the cycle. Ignores errors of the
   device, which the last solve has reported. */
static void CycleDestroy(MGDevHierarchy h)
{
  if (h->cycle) (void)spmv_stream_wait(h->exec);
  spmv_cycle_destroy(&h->cycle);
}

static PetscErrorCode ForgetLevels(MGDevHierarchy h)
{
  PetscFunctionBegin;
  CycleDestroy(h);
  for (PetscInt i = 0; i < SPMV_CYCLE_LEVELS; i++) PetscCall(LevelFree(h, &h->level[i]));
  PetscCall(MGDevCoarseForget(h));
  MGDevNullSpaceForget(h);
  MGDevRoundedFree(h, &h->single.inverse);
  h->single.scale_id = 0;
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

PetscErrorCode MGDevAgree(MGDevHierarchy h)
{
  PetscFunctionBegin;
  if (h->several) PetscCall(PetscPackAgree(h->comm, h->reason));
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
    SmootherFree(h, &mine->up);
    now->up = now->down;
  }
  now->visits = i == 1 ? 1 : (int)levels[i]->cycles; /* PETSc solves the coarsest level once */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleScale(MGDevHierarchy h, const PC_MG_Levels *finest)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(MGDevLevelMatrix(finest, &A));
  PetscCall(MGDevSingleScale(h, A, finest->smoothd->work[0])); /* a work vector that is unused between two solves */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the current hierarchy of PETSc into h->now. Unused bytes are zero, so that GetCycle() can compare by memcmp. */
static PetscErrorCode Take(MGDevHierarchy h, PC pc)
{
  const PC_MG      *mg      = (const PC_MG *)pc->data;
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
  if (h->single.on) PetscCall(SingleScale(h, mg->levels[levels - 1]));
  for (PetscInt i = levels - 1; i > 0 && !h->reason[0]; i--) PetscCall(GetLevel(h, mg->levels, i));
  if (!h->reason[0]) PetscCall(MGDevCoarseGet(h, pc, options));
  if (!h->reason[0]) PetscCall(MGDevNullSpaceGet(h, pc, options));
  if (!h->reason[0] && h->single.on) PetscCall(MGDevSingleOptions(h, options));
  h->now->level[0].rows = h->rows;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets up the communication between the processes of the PC */
static PetscErrorCode Together(MGDevHierarchy h, PC pc)
{
  PetscMPIInt size;
  SpmvStatus  status = SPMV_SUCCESS;

  PetscFunctionBegin;
  h->comm = PetscObjectComm((PetscObject)pc);
  PetscCallMPI(MPI_Comm_size(h->comm, &size));
  h->several = size > 1 ? PETSC_TRUE : PETSC_FALSE;
  if (h->several && !h->processes.open) PetscCall(PetscPackProcessesOpen(&h->processes, h->comm, h->exec, &status));
  MGDevTry(h, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes or renews the cycle of h->now */
static PetscErrorCode GetCycle(MGDevHierarchy h)
{
  MGDevMade *const now = h->now;
  PetscBool        same;

  PetscFunctionBegin;
  h->made->options.level = now->level; /* made and now are swapped, so these addresses always differ: leave them out */
  PetscCall(PetscMemcmp(now, h->made, sizeof *now, &same));
  if (same && h->cycle && !h->renew) PetscFunctionReturn(PETSC_SUCCESS);
  h->set_ups++;
  if (!same || !h->cycle) {
    CycleDestroy(h);
    h->serial = AIJFmtSerialNext();
    MGDevTry(h, spmv_cycle_create(&now->options, h->exec, &h->cycle));
    h->now  = h->made;
    h->made = now;
  }
  MGDevTry(h, spmv_cycle_renew(h->cycle, h->exec));
  h->renew = PETSC_FALSE;
  if (h->set_ups > 1 && !h->holds) {
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
  PetscCall(Take(h, pc));
  PetscCall(MGDevAgree(h));
  if (!h->reason[0]) PetscCall(GetCycle(h));
  PetscCall(MGDevAgree(h));
  if (!single || !h->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MGDevHierarchyDecline(h, pc, h->reason));
  h->reason[0] = 0;
  PetscCall(TakeAndMake(h, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes over the changes that PCSetUp() has made since the last call, if any. reason: why the hierarchy must be left to
   PETSc; then all processes have one, and nothing is left on the device that the next call could take for complete. */
PetscErrorCode MGDevHierarchyUpdate(MGDevHierarchy h, PC pc, char reason[SPMV_MESSAGE_MAX])
{
  PetscFunctionBegin;
  h->reason[0] = 0;
  PetscCall(PetscLogEventBegin(MGDev_SetUp, pc, 0, 0, 0));
  PetscCall(Together(h, pc)); /* the same reason on all processes */
  if (!h->reason[0]) PetscCall(MGDevAccept(h, pc));
  PetscCall(MGDevAgree(h));
  if (!h->reason[0]) PetscCall(TakeAndMake(h, pc));
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

  for (int m = 0; m < 3; m++) bytes += BlockBytes(&matrices[m]->block) + BlockBytes(&matrices[m]->others);
  return bytes;
}

PetscErrorCode MGDevHierarchyInfo(MGDevHierarchy h, MGDevInfo *info)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(info, sizeof *info));
  if (!h) PetscFunctionReturn(PETSC_SUCCESS);
  info->set_ups = h->set_ups;
  if (!h->cycle) PetscFunctionReturn(PETSC_SUCCESS);
  spmv_cycle_info(h->cycle, &info->cycle_info);
  info->cycle  = h->cycle;
  info->serial = h->serial;
  info->single = h->single.on;
  info->bytes  = info->cycle_info.bytes + h->single.inverse.bytes;
  for (PetscInt i = 1; i < h->levels; i++) info->bytes += LevelBytes(&h->level[i]);
  if (h->inverse) info->bytes += (int64_t)h->rows * h->rows * (int64_t)sizeof(PetscScalar);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The plan of A if A is the matrix of the finest level, in double precision, so that a solver can share it. Otherwise
   found->plan is NULL. */
PetscErrorCode MGDevHierarchyPlan(MGDevHierarchy h, Mat A, AIJFmtPlanOnDevice *found)
{
  const MGDevMatrix *finest = &h->level[PetscMax(h->levels - 1, 0)].matrix;

  PetscFunctionBegin;
  *found = h->single.on ? finest->block.doubled : finest->block.found;
  if (h->several || h->levels < 2 || finest->id != ((PetscObject)A)->id) *found = (AIJFmtPlanOnDevice){.plan = NULL};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints where and how the cycle runs */
PetscErrorCode MGDevHierarchyView(MGDevHierarchy h, PetscViewer viewer)
{
  const PetscInt finest = h->levels - 1;
  MGDevInfo      info;

  PetscFunctionBegin;
  if (!h->cycle) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MGDevHierarchyInfo(h, &info));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  multigrid on the device: levels %" PetscInt_FMT
                                   ", %s cycles for each call %d, levels in one dense matrix %d\n",
                                   h->levels, finest > 1 && h->made->level[finest].visits > 1 ? "W" : "V",
                                   h->made->options.cycles, info.cycle_info.dense));
  PetscCall(PetscViewerASCIIPrintf(viewer, "    coarsest level: rows %" PetscInt_FMT ", %s\n", h->rows,
                                   h->inverse ? "by its inverse" : "by the solver of PETSc"));
  if (h->single.wanted)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "    precision of the cycle: %s%s\n",
        h->single.on ? "single" : "double in place of single: ", h->single.on ? "" : h->single.why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Logs the flops of the given number of cycles on the device. Their time belongs to the event of the solver. */
PetscErrorCode MGDevLogCycles(MGDevHierarchy h, PetscLogDouble cycles)
{
  MGDevInfo info;

  PetscFunctionBegin;
  PetscCall(MGDevHierarchyInfo(h, &info));
  PetscCall(PetscLogEventBegin(MGDev_Cycle, 0, 0, 0, 0));
  PetscCall(AIJFmtLogGpuFlops(cycles * info.cycle_info.flops));
  PetscCall(PetscLogEventEnd(MGDev_Cycle, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
