/* product.c - the plans of the blocks of a matrix, and the exchange of ghost values, for products on the device. */
#include "product.h"

/* The plan of a block, if `looks`, for vectors that A would make; own: for a block without one, or NULL */
static PetscErrorCode PlanGet(Mat A, PetscBool looks, AIJFmtPlanCache *own, SpmvExec *exec, AIJFmtPlanOnDevice *found,
                              char why[SPMV_MESSAGE_MAX])
{
  static const char *const formats[] = {"crsv"};
  SpmvStatus               status;

  PetscFunctionBegin;
  *found = (AIJFmtPlanOnDevice){.plan = NULL};
  if (looks) PetscCall(AIJFmtDevicePlan(A, NULL, found));
  if (found->why_host) PetscCall(PetscStrncpy(why, found->why_host, SPMV_MESSAGE_MAX));
  else if (!found->plan && !own) PetscCall(PetscStrncpy(why, "the matrix has no plan on the device", SPMV_MESSAGE_MAX));
  else if (!found->plan) {
    PetscCall(AIJFmtPlanFromHost(own, A, 1, formats, exec, &status));
    PetscCall(AIJFmtRefuse(exec, status, why));
    found->plan = own->plan;
    found->work = own->work;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Opens the communication between the processes. Collective. */
static PetscErrorCode HaloGet(PetscPackProduct *p, Mat A, Mat block, const PetscInt ghost[], SpmvExec *exec,
                              char why[SPMV_MESSAGE_MAX])
{
  SpmvStatus status;

  PetscFunctionBegin;
  PetscCall(PetscPackAgree(PetscObjectComm((PetscObject)A), why));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscPackProcessesOpen(&p->all, PetscObjectComm((PetscObject)A), exec, &status));
  if (!status)
    PetscCall(PetscPackHaloCreate(&p->all, A->cmap, block->cmap->n, ghost, AIJFMT_SCALAR, exec, &p->halo, &status));
  PetscCall(AIJFmtRefuse(exec, status, why));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  p->call.halo      = p->halo;
  p->call.ghosts    = PetscPackHaloGhosts(p->halo);
  p->call.processes = &p->all.call;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackProductGet(Mat A, PetscBool own, PetscPackProduct *p, SpmvExec *exec,
                                   char why[SPMV_MESSAGE_MAX])
{
  AIJFmtPlanOnDevice found = {.plan = NULL};
  Mat                block = A, others = NULL;
  const PetscInt    *ghost  = NULL;
  PetscBool          blocks = PETSC_TRUE;
  PetscMPIInt        size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  if (size > 1) PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &blocks));
  if (!blocks && !why[0]) PetscCall(PetscStrncpy(why, "the matrix is not of type mpiaij", SPMV_MESSAGE_MAX));
  if (size > 1 && blocks) PetscCall(MatMPIAIJGetSeqAIJ(A, &block, &others, &ghost));
  if (!why[0]) /* a process that has no rows has no plan */
    PetscCall(PlanGet(block, !own, own || block->rmap->n == 0 ? &p->own[0] : NULL, exec, &found, why));
  p->call.plan = found.plan;
  p->call.work = found.work;
  if (!why[0] && others && others->cmap->n > 0) {
    PetscCall(PlanGet(others, !own, &p->own[1], exec, &found, why));
    p->call.ghost_plan = found.plan;
    p->call.ghost_work = found.work;
  }
  if (!why[0] && spmv_operator_waits(&p->call))
    PetscCall(PetscStrncpy(why, "the plan is partly on the host", SPMV_MESSAGE_MAX));
  if (others) PetscCall(HaloGet(p, A, others, ghost, exec, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackProductFree(PetscPackProduct *p, SpmvExec *exec)
{
  PetscFunctionBegin;
  for (int b = 0; b < 2; b++) AIJFmtPlanDrop(&p->own[b], exec);
  PetscCall(PetscPackHaloDestroy(&p->halo, exec));
  PetscCall(PetscPackProcessesClose(&p->all));
  PetscCall(PetscMemzero(p, sizeof *p));
  PetscFunctionReturn(PETSC_SUCCESS);
}
