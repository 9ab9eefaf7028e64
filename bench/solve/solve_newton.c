/* solve_newton.c - Newton-like steps: new values of the same pattern, PCSetUp(), solve. */
#include "solve_bench.h"
#include <petsctime.h>
#include <string.h>

PetscErrorCode OpWriteCOO(void *run_)
{
  Run *run = run_;

  PetscFunctionBeginUser;
  PetscCall(MatSetValuesCOO(run->A, run->device_values ? run->device_values : run->values, INSERT_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode OpAssembleCOO(void *run_)
{
  Run *run = run_;

  PetscFunctionBeginUser;
  PetscCall(AssembleByCOO(run->p, run->cell->type, run->entries, run->coo_row, run->coo_col, &run->A));
  PetscCall(OpWriteCOO(run));
  PetscFunctionReturn(0);
}

static PetscErrorCode OpToDevice(void *run_)
{
  Run *run = run_;

  PetscFunctionBeginUser;
  PetscCall(DeviceCopy(run->values, (size_t)run->entries * sizeof *run->values, (void **)&run->device_values));
  PetscFunctionReturn(0);
}

/* Computes the values of a step, on the host or on the device; not timed, as it is the application's work */
static PetscErrorCode MakeValues(Run *run, PetscInt step, PetscBool on_device, char error[TEXT])
{
  PetscFunctionBeginUser;
  run->step = step;
  PetscCall(ProblemValues(run->p, step, run->values));
  if (on_device) PetscCall(Guard(OpToDevice, run, error));
  PetscFunctionReturn(0);
}

static PetscErrorCode FillCOO(Run *run)
{
  const Problem *p = run->p;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(run->entries, &run->coo_row, run->entries, &run->coo_col));
  for (PetscInt i = 0; i < p->rows; i++)
    for (PetscInt k = p->row_ptr[i]; k < p->row_ptr[i + 1]; k++) run->coo_row[k] = p->first_row + i;
  PetscCall(PetscArraycpy(run->coo_col, p->col, p->row_ptr[p->rows]));
  PetscFunctionReturn(0);
}

PetscErrorCode LoopStep(Run *run, Operation write, NewtonLoop *loop)
{
  const PetscInt     i = loop->count;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(TimeGuarded(write, run, 1, &loop->values[i], loop->error));
  if (!loop->error[0]) PetscCall(TimeGuarded(OpSetUp, run, 1, &loop->setup[i], loop->error));
  if (!loop->error[0]) PetscCall(TimeGuarded(OpSolve, run, 1, &loop->solve[i], loop->error));
  if (loop->error[0]) PetscFunctionReturn(0);
  PetscCall(KSPGetIterationNumber(run->ksp, &loop->iterations[i]));
  PetscCall(KSPGetConvergedReason(run->ksp, &reason));
  if (reason < 0) PetscCall(PetscSNPrintf(loop->error, TEXT, "step %d did not converge: %d", (int)i + 1, (int)reason));
  else loop->count++;
  if (run->cell->save) PetscCall(run->cell->save(run->cell->save_context));
  PetscFunctionReturn(0);
}

PetscErrorCode MeasureLoop(const Problem *p, const Settings *s, Cell *cell, NewtonLoop *loop)
{
  Run             run       = {.p = p, .settings = s, .cell = cell, .entries = p->row_ptr[p->rows]};
  const PetscBool set       = !strcmp(loop->by, "setvalues") ? PETSC_TRUE : PETSC_FALSE;
  const PetscBool on_device = !strcmp(loop->by, "coo_device") ? PETSC_TRUE : PETSC_FALSE;
  PetscLogDouble  begin, now;
  double          spent = 0, longest = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(p->row_ptr[p->rows], &run.values));
  if (!set) PetscCall(FillCOO(&run));
  PetscCall(MakeValues(&run, 0, on_device, loop->error));
  if (!loop->error[0]) PetscCall(TimeGuarded(set ? OpAssemble : OpAssembleCOO, &run, 1, &loop->assembly, loop->error));
  if (!loop->error[0]) PetscCall(Guard(OpMakeSolver, &run, loop->error));
  PetscCall(PetscTime(&begin));
  while (!loop->error[0] && loop->count < s->steps && longest < s->loop_seconds) {
    PetscCall(MakeValues(&run, loop->count + 1, on_device, loop->error));
    if (!loop->error[0]) PetscCall(LoopStep(&run, set ? OpWriteValues : OpWriteCOO, loop));
    PetscCall(PetscTime(&now));
    spent = (double)(now - begin);
    PetscCallMPI(MPI_Allreduce(&spent, &longest, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  }
  if (!loop->error[0]) {
    PetscCall(Guard(OpResidual, &run, loop->error));
    loop->residual = run.residual;
    if (cell->base_bytes >= 0) loop->device_bytes = DeviceUsed() - cell->base_bytes;
  }
  PetscCall(RunDestroy(&run));
  PetscFunctionReturn(0);
}
