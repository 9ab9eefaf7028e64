/*
  pclimit.c - how many rows per process a level of a gamgdevice has at least. PCGAMG moves a level with fewer to fewer
  processes. Its default of 50 rows suits CPUs; on GPUs the messages of a level of some hundred rows take longer than its
  work. PCGAMG keeps no trace of who has set the limit, so its setter is wrapped.
*/
#include "pctypes.h"
#include "parallel/processes.h"
#include "sys/private.h"

enum { LEAST_ROWS = 1000 };

static const char setter[] = "PCGAMGSetProcEqLim_C";

static PetscErrorCode (*set_limit)(PC, PetscInt) = NULL; /* that of PCGAMG */

static PetscErrorCode SetLimit(PC pc, PetscInt rows)
{
  PC_MGDevice *s;

  PetscFunctionBegin;
  PetscCall((*set_limit)(pc, rows));
  PetscCall(MGDevStateGet(pc, &s, NULL));
  if (s && rows > 0) s->limit_set = PETSC_TRUE; /* PCGAMG ignores other numbers */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called for a new PCGAMG, whose destruction removes the composed function */
PetscErrorCode MGDevLimitWatch(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, setter, &set_limit));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, setter, SetLimit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCGAMG writes the option's value without calling the setter */
PetscErrorCode MGDevLimitFromOptions(PC pc, PC_MGDevice *s)
{
  const char *prefix;
  PetscBool   set;

  PetscFunctionBegin;
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscOptionsHasName(((PetscObject)pc)->options, prefix, "-pc_gamg_process_eq_limit", &set));
  if (set) s->limit_set = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the program says itself on how many processes levels lie */
static PetscBool HasFactors(const PC_GAMG *gamg)
{
  for (int i = 0; i < PETSC_MG_MAXLEVELS; i++)
    if (gamg->level_reduction_factors[i] > 0) return PETSC_TRUE;
  return PETSC_FALSE;
}

/* Whether the limit is ours: nobody has set one or factors, and each process has a GPU. A program that wants its coarsest
   level on several processes gets PETSc's limit. Collective. */
static PetscErrorCode IsOurs(PC pc, const PC_MGDevice *s, PetscBool *ours)
{
  char        reason[SPMV_MESSAGE_MAX];
  PetscMPIInt size;
  PetscBool   fits;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  PetscCall(PetscPackIsGamg(pc, ours));
  if (size == 1 || s->limit_set) *ours = PETSC_FALSE;
  if (!*ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscPackGamgFits(&fits));
  PetscCall(MGDevWhyNoDevice(reason));
  if (!fits || reason[0] || PetscPackGamg(pc)->use_parallel_coarse_grid_solver || HasFactors(PetscPackGamg(pc)))
    *ours = PETSC_FALSE;
  PetscCall(PetscPackAll(PetscObjectComm((PetscObject)pc), ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's set-up. PCGAMG has our limit only meanwhile: a later set-up may find no GPU. */
PetscErrorCode MGDevLimitSetUp(PC pc, PC_MGDevice *s)
{
  PetscErrorCode error;
  PetscInt       limit = 0;

  PetscFunctionBegin;
  PetscCall(IsOurs(pc, s, &s->limit_ours));
  if (s->limit_ours) {
    limit = PetscPackGamg(pc)->min_eq_proc;
    PetscCall((*set_limit)(pc, LEAST_ROWS));
  }
  error = (*s->parent.setup)(pc);
  if (s->limit_ours) PetscCall((*set_limit)(pc, limit));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MGDevLimitView(const PC_MGDevice *s, PetscViewer viewer)
{
  PetscFunctionBegin;
  if (s->limit_ours)
    PetscCall(
        PetscViewerASCIIPrintf(viewer, "  at least %d rows a process: petscpack's default on GPUs\n", LEAST_ROWS));
  PetscFunctionReturn(PETSC_SUCCESS);
}
