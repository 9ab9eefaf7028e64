/* processes.c - sums over processes, and what they agree on. */
#include "processes.h"
#include "sys/compat.h"

static SpmvStatus Add(void *ctx, double *sums, int n, SpmvExec *exec)
{
  PetscPackProcesses *p      = (PetscPackProcesses *)ctx;
  const int64_t       bytes  = n * (int64_t)sizeof *sums;
  SpmvStatus          status = spmv_copy(p->sums, SPMV_HOST, sums, exec->space, bytes, exec);

  if (!status) status = spmv_stream_wait(exec);
  if (status) return status;
  if (MPI_Allreduce(MPI_IN_PLACE, p->sums, n, MPI_DOUBLE, MPI_SUM, p->comm))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "MPI_Allreduce() failed");
  return spmv_copy(sums, exec->space, p->sums, SPMV_HOST, bytes, exec);
}

static SpmvStatus Agree(void *ctx, int *end, SpmvExec *exec)
{
  const PetscPackProcesses *p = (const PetscPackProcesses *)ctx;

  if (MPI_Allreduce(MPI_IN_PLACE, end, 1, MPI_INT, MPI_MAX, p->comm))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "MPI_Allreduce() failed");
  return SPMV_SUCCESS;
}

PetscErrorCode PetscPackProcessesOpen(PetscPackProcesses *p, MPI_Comm comm, SpmvExec *exec, SpmvStatus *status)
{
  PetscFunctionBegin;
  *status = spmv_pinned_alloc(exec, SPMV_SUMS_MAX * (int64_t)sizeof *p->sums, (void **)&p->sums);
  if (*status) p->sums = NULL;
  PetscCallMPI(MPI_Comm_dup(comm, &p->comm));
  p->open = PETSC_TRUE;
  p->call = (SpmvProcesses){.ctx = p, .exchange = PetscPackHaloExchange, .add = Add, .agree = Agree};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackProcessesClose(PetscPackProcesses *p)
{
  PetscFunctionBegin;
  spmv_pinned_free(p->sums);
  p->sums = NULL;
  if (p->open) PetscCallMPI(MPI_Comm_free(&p->comm));
  p->open = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackAll(MPI_Comm comm, PetscBool *yes)
{
  int all = *yes ? 1 : 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm));
  *yes = all ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackAgree(MPI_Comm comm, char reason[SPMV_MESSAGE_MAX])
{
  PetscBool all = reason[0] ? PETSC_FALSE : PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PetscPackAll(comm, &all));
  if (!all && !reason[0]) PetscCall(PetscStrncpy(reason, "another process cannot", SPMV_MESSAGE_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}
