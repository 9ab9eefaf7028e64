/*
  solve_from_elements.c - a cell that assembles from element matrices: all from the list of entries to the first
  solution, then steps with new values.

  Rows, columns and values of the list are computed on the device if PETSc can have them there, else on the host.
  Computing the values is the application's work: it has a phase of its own, which belongs to no sum.
*/
#include "solve_bench.h"
#include "solve_element.h"

/* Brings the elements to the device */
static PetscErrorCode OpElements(void *run_)
{
  Run            *run = run_;
  const Elements *e   = &run->p->elements;

  PetscFunctionBeginUser;
  run->entries = (PetscCount)e->count * ELEMENT_ENTRIES;
  if (!DeviceHasElements()) PetscFunctionReturn(0);
  run->there.count = e->count;
  PetscCall(DeviceCopy(e->node, (size_t)e->count * ELEMENT_NODES * sizeof *e->node, (void **)&run->there.node));
  PetscCall(DeviceCopy(e->point, (size_t)run->p->all_rows * sizeof *e->point, (void **)&run->there.point));
  PetscFunctionReturn(0);
}

static PetscErrorCode OpList(void *run_)
{
  Run         *run   = run_;
  const size_t bytes = (size_t)run->entries * sizeof *run->coo_row;

  PetscFunctionBeginUser;
  if (run->there.point) {
    PetscCall(DeviceCopy(NULL, bytes, (void **)&run->device_row));
    PetscCall(DeviceCopy(NULL, bytes, (void **)&run->device_col));
    PetscCall(DeviceElementsList(&run->there, run->device_row, run->device_col));
  } else {
    PetscCall(PetscMalloc2(run->entries, &run->coo_row, run->entries, &run->coo_col));
    ElementsList(&run->p->elements, run->coo_row, run->coo_col);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode OpPattern(void *run_)
{
  Run *run = run_;

  PetscFunctionBeginUser;
  PetscCall(AssembleByCOO(run->p, run->cell->type, run->entries, run->device_row ? run->device_row : run->coo_row,
                          run->device_col ? run->device_col : run->coo_col, &run->A));
  PetscFunctionReturn(0);
}

/* The values of run->step */
static PetscErrorCode OpElementValues(void *run_)
{
  Run   *run = run_;
  double scale[2];

  PetscFunctionBeginUser;
  ProblemScale(run->p, run->step, scale);
  if (run->there.point) {
    PetscCall(DeviceCopy(NULL, (size_t)run->entries * sizeof *run->values, (void **)&run->device_values));
    PetscCall(DeviceElementsValues(&run->there, scale, run->device_values));
  } else {
    if (!run->values) PetscCall(PetscMalloc1(run->entries, &run->values));
    ElementsValues(&run->p->elements, scale, run->values);
  }
  PetscFunctionReturn(0);
}

/* Times all up to the first solution; *seconds is their sum without the phase of the values */
static PetscErrorCode FirstSolution(Run *run, double *seconds)
{
  Cell    *cell = run->cell;
  Phase   *phase;
  PetscInt values;

  PetscFunctionBeginUser;
  PetscCall(CellTime(cell, "list", 1, 1, OpList, run, &phase));
  PetscCall(CellTime(cell, "pattern", 1, 1, OpPattern, run, &phase));
  PetscCall(OpFreeList(run));
  values = cell->phases;
  PetscCall(CellTime(cell, "element_values", 1, 1, OpElementValues, run, &phase));
  PetscCall(CellTime(cell, "first_values", 1, 1, OpWriteCOO, run, &phase));
  PetscCall(CellTime(cell, "solver", 1, 1, OpMakeSolver, run, &phase));
  PetscCall(CellTime(cell, "setup", 1, 1, OpSetUp, run, &phase));
  PetscCall(TimeSolve(run, "first_solve", 1, OpSolve));
  *seconds = 0;
  for (PetscInt i = 0; i < cell->phases; i++) *seconds += i == values ? 0 : cell->phase[i].seconds[0];
  PetscFunctionReturn(0);
}

static PetscErrorCode Steps(Run *run, double before)
{
  NewtonLoop *loop = &run->cell->loop[run->cell->loops++];

  PetscFunctionBeginUser;
  loop->by           = "elements";
  loop->assembly     = before;
  loop->device_bytes = -1;
  for (run->step = 1; run->step <= run->settings->steps && !loop->error[0]; run->step++) {
    PetscCall(Guard(OpElementValues, run, loop->error));
    if (!loop->error[0]) PetscCall(LoopStep(run, OpWriteCOO, loop));
  }
  run->step--;
  if (!loop->error[0]) PetscCall(Guard(OpResidual, run, loop->error));
  loop->residual = loop->error[0] ? -1 : run->residual;
  if (run->cell->base_bytes >= 0) loop->device_bytes = DeviceUsed() - run->cell->base_bytes;
  PetscFunctionReturn(0);
}

/* All up to the solution of a step with new values */
static PetscErrorCode OpWhole(void *run)
{
  static const Operation all[] = {OpElements, OpList,       OpPattern, OpFreeList, OpElementValues,
                                  OpWriteCOO, OpMakeSolver, OpSetUp,   OpSolve,    OpElementValues,
                                  OpWriteCOO, OpSetUp,      OpSolve,   NULL};

  PetscFunctionBeginUser;
  for (const Operation *operation = all; *operation; operation++) PetscCall((*operation)(run));
  PetscCall(DeviceWait());
  PetscFunctionReturn(0);
}

/* Does a part of the cell again, after what goes before it, while a thread looks at the memory, as that would disturb the
   times. Memory that is kept for others would count. */
PetscErrorCode MeasurePeak(const Problem *p, const Settings *s, Cell *cell, Operation before, Operation part)
{
  Run        run = {.p = p, .settings = s, .cell = cell};
  double     base, most;
  PetscInt64 keep;

  PetscFunctionBeginUser;
  PetscCall(PetscPackGetDeviceKeep(&keep));
  PetscCall(PetscPackSetDeviceKeep(0));
  base = DeviceUsed();
  if (before) PetscCall(Guard(before, &run, cell->error));
  PetscCall(DevicePeakBegin());
  if (!cell->error[0]) PetscCall(Guard(part, &run, cell->error));
  PetscCall(DevicePeakEnd(&most));
  if (most >= 0 && !cell->error[0]) cell->peak_bytes = most - base;
  PetscCall(RunDestroy(&run));
  PetscCall(PetscPackSetDeviceKeep(keep));
  PetscFunctionReturn(0);
}

PetscErrorCode MeasureFromElements(const Problem *p, const Settings *s, Cell *cell)
{
  Run        run = {.p = p, .settings = s, .cell = cell};
  PetscInt64 own, all;
  double     first = 0; /* gcc does not see that it is set whenever the call succeeds */

  PetscFunctionBeginUser;
  PetscCall(Guard(OpElements, &run, cell->error));
  own = (PetscInt64)run.entries;
  PetscCallMPI(MPI_Allreduce(&own, &all, 1, MPIU_INT64, MPI_SUM, PETSC_COMM_WORLD));
  cell->from_elements = PETSC_TRUE;
  cell->entries       = (PetscCount)all;
  cell->on_device     = run.there.point ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(FirstSolution(&run, &first));
  PetscCall(TimeSolve(&run, "solve", s->repeat, OpSolve));
  if (!cell->error[0]) PetscCall(Steps(&run, first));
  if (!cell->error[0]) PetscCall(Guard(OpFacts, &run, cell->error));
  PetscCall(RunDestroy(&run));
  if (s->peak && !cell->error[0]) PetscCall(MeasurePeak(p, s, cell, NULL, OpWhole));
  PetscFunctionReturn(0);
}
