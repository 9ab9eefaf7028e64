/* aggdevice_state.c - the state of a PCGAMG of type aggdevice, and what it keeps of a level. */
#include "aggdevice.h"
#include "sys/compose.h"

static const char key[] = "petscpack_aggdevice";

PetscErrorCode AggDevGet(PC pc, PC_AggDevice **a)
{
  PetscFunctionBegin;
  PetscCall(PetscPackStateQuery((PetscObject)pc, key, (void **)a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AggDevForgetLevel(PC_AggDevice *a)
{
  PetscFunctionBegin;
  spmv_scratch_free(&a->exec, a->exec.space, a->aggregate);
  a->aggregate = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AggDevForgetGraph(PC_AggDevice *a)
{
  PetscFunctionBegin;
  spmv_graph_destroy(&a->graph);
  PetscCall(PetscFree(a->beyond));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AggDevForgetTentative(PC_AggDevice *a)
{
  PetscFunctionBegin;
  spmv_scratch_free(&a->exec, a->exec.space, a->p0_block);
  a->p0_block = NULL;
  a->p0_there = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The stream of a set-up may no longer exist */
static PetscErrorCode Free(void *context)
{
  PC_AggDevice *a = (PC_AggDevice *)context;

  PetscFunctionBegin;
  spmv_exec_free(&a->exec, a->exec.space, a->aggregate);
  spmv_exec_free(&a->exec, a->exec.space, a->p0_block);
  spmv_exec_free(&a->near_exec, a->near_exec.space, a->near);
  PetscCall(AggDevForgetGraph(a));
  PetscCall(PetscFree(context));
  PetscFunctionReturn(PETSC_SUCCESS);
}
AIJFMT_CONTAINER_DESTRUCTOR(Destructor, Free)

/* NULL: frees the state */
PetscErrorCode AggDevCompose(PC pc, PC_AggDevice *a)
{
  PetscFunctionBegin;
  if (!a) PetscCall(PetscObjectCompose((PetscObject)pc, key, NULL));
  else PetscCall(PetscPackStateCompose((PetscObject)pc, key, a, Destructor));
  PetscFunctionReturn(PETSC_SUCCESS);
}
