/* solve_facts.c - facts about a solver after its solves: the levels of its multigrid, the counters of KSPCGDEVICE. */
#include "solve_bench.h"

static PetscErrorCode CountNonzeros(Mat A, double *nonzeros)
{
  MatInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  *nonzeros = (double)info.nz_used;
  PetscFunctionReturn(0);
}

/* PETSc counts levels from the coarsest on, the record from the finest on */
static PetscErrorCode RecordLevel(PC pc, PetscInt number, Level *level)
{
  KSP smoother;
  Mat A, P;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetSmoother(pc, number, &smoother));
  PetscCall(KSPGetOperators(smoother, &A, NULL));
  PetscCall(MatGetSize(A, &level->rows, NULL));
  PetscCall(CountNonzeros(A, &level->nonzeros));
  PetscCall(KSPGetTolerances(smoother, NULL, NULL, NULL, &level->steps));
  level->interpolation = 0;
  if (number == 0) PetscFunctionReturn(0);
  PetscCall(PCMGGetInterpolation(pc, number, &P));
  PetscCall(CountNonzeros(P, &level->interpolation));
  PetscFunctionReturn(0);
}

PetscErrorCode OpFacts(void *run_)
{
  Run          *run  = run_;
  Cell         *cell = run->cell;
  KSPDeviceInfo info;
  PC            pc;
  PetscInt      levels = 0;
  PetscBool     multigrid;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(run->ksp, &pc));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &multigrid, PCMG, PCGAMG, PCMGDEVICE, PCGAMGDEVICE, ""));
  if (multigrid) PetscCall(PCMGGetLevels(pc, &levels));
  for (cell->levels = 0; cell->levels < PetscMin(levels, MAX_LEVELS); cell->levels++)
    PetscCall(RecordLevel(pc, levels - 1 - cell->levels, &cell->level[cell->levels]));
  PetscCall(PetscObjectTypeCompare((PetscObject)run->ksp, KSPCGDEVICE, &cell->has_counters));
  if (!cell->has_counters) PetscFunctionReturn(0);
  PetscCall(KSPDeviceGetInfo(run->ksp, &info));
  PetscCall(PetscStrncpy(cell->reason, info.reason, sizeof cell->reason)); /* the solver destroys its text */
  cell->counters        = info;
  cell->counters.reason = cell->reason;
  PetscFunctionReturn(0);
}
