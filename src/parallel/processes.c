/* processes.c - sums over processes, and agreement between them. */
#include "processes.h"
#include "sys/status.h"

static SpmvStatus SumsAdd(void *ctx, double *sums, int n, SpmvExec *exec)
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

/* The worst status and the largest *end of all processes */
static SpmvStatus StatusWorst(MPI_Comm comm, SpmvExec *exec, SpmvStatus mine, int *end)
{
  SpmvFailure *first = exec->failure;
  int          both[2], severity, size = 0;

  if (first && first->status) {
    mine = first->status;
    memcpy(exec->message, first->message, sizeof exec->message);
  }
  if (!MPI_Comm_size(comm, &size) && size == 1) return mine;
  if (mine == SPMV_ERR_PEER) return mine; /* a dead process would never answer; the others notice as this one did */
  severity = mine == SPMV_SUCCESS ? 0 : AIJFmtIsRefusal(mine) ? 1 : 2;
  both[0]  = *end;
  both[1]  = severity;
  if (MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INT, MPI_MAX, comm))
    return spmv_fail(exec, SPMV_ERR_ARGUMENT, "MPI_Allreduce() failed");
  *end = both[0];
  if (both[1] == severity) return mine;
  if (both[1] == 1) return spmv_fail(exec, SPMV_ERR_MEMORY, "another process cannot");
  return spmv_fail(exec, SPMV_ERR_DEVICE, "the device of another process has failed");
}

static SpmvStatus EndAgree(void *ctx, int *end, SpmvExec *exec)
{
  return StatusWorst(((const PetscPackProcesses *)ctx)->comm, exec, SPMV_SUCCESS, end);
}

SpmvStatus PetscPackAgreeStatus(MPI_Comm comm, SpmvExec *exec, SpmvStatus mine)
{
  int end = 0;

  return StatusWorst(comm, exec, mine, &end);
}

PetscErrorCode PetscPackRefuse(MPI_Comm comm, SpmvExec *exec, SpmvStatus *status, char reason[SPMV_MESSAGE_MAX])
{
  PetscFunctionBegin;
  *status = PetscPackAgreeStatus(comm, exec, *status);
  if (!AIJFmtIsRefusal(*status)) AIJFmtCallSpmv(exec, *status);
  else PetscCall(PetscStrncpy(reason, exec->message[0] ? exec->message : spmv_status_text(*status), SPMV_MESSAGE_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackProcessesView(const PetscPackProcesses *p, PetscViewer viewer)
{
  int version;

  PetscFunctionBegin;
  if (!p->open) PetscFunctionReturn(PETSC_SUCCESS);
  if (!p->nccl) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  between the processes: MPI through the host, as %s\n", p->why_mpi));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  version = PetscPackNcclVersion(p->of);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  between the processes: NCCL %d.%d.%d\n", version / 10000,
                                   version / 100 % 100, version % 100));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackProcessesOpen(PetscPackProcesses *p, MPI_Comm comm, SpmvExec *exec, SpmvStatus *status)
{
  PetscFunctionBegin;
  PetscCall(PetscPackNcclGet(comm, exec, &p->of, &p->nccl, p->why_mpi));
  *status = spmv_pinned_alloc(exec, SPMV_SUMS_MAX * (int64_t)sizeof *p->sums, (void **)&p->sums);
  *status = PetscPackAgreeStatus(comm, exec, *status);
  if (*status) {
    PetscCall(PetscPackProcessesClose(p));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Comm_dup(comm, &p->comm));
  p->open = PETSC_TRUE;
  if (p->nccl)
    p->call = (SpmvProcesses){.ctx        = p->nccl,
                              .enqueues   = 1,
                              .begin      = PetscPackHaloBeginNccl,
                              .end        = PetscPackHaloEndNccl,
                              .begin_back = PetscPackHaloBeginBackNccl,
                              .end_back   = PetscPackHaloEndBackNccl,
                              .add        = spmv_nccl_add,
                              .alive      = spmv_nccl_alive};
  else
    p->call = (SpmvProcesses){.ctx        = p,
                              .begin      = PetscPackHaloBegin,
                              .end        = PetscPackHaloEnd,
                              .begin_back = PetscPackHaloBeginBack,
                              .end_back   = PetscPackHaloEndBack,
                              .add        = SumsAdd,
                              .agree      = EndAgree};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackProcessesClose(PetscPackProcesses *p)
{
  PetscFunctionBegin;
  spmv_pinned_free(p->sums);
  p->sums = NULL;
  p->nccl = NULL;
  PetscCall(PetscPackNcclRestore(&p->of));
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

PetscErrorCode PetscPackVote(MPI_Comm comm, PetscBool asks, const char too_small[], const char **why)
{
  int votes[] = {*why ? 1 : 0, asks ? 1 : 0};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, votes, 2, MPI_INT, MPI_MAX, comm));
  if (!*why && votes[0]) *why = "another process cannot make its part";
  else if (!*why && !votes[1]) *why = too_small;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackAgree(MPI_Comm comm, char reason[SPMV_MESSAGE_MAX])
{
  SpmvStatus status = PetscPackDeviceFailed() ? SPMV_ERR_DEVICE : reason[0] ? SPMV_ERR_MEMORY : SPMV_SUCCESS;
  SpmvExec   exec   = {.failure = NULL};

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(exec.message, reason, sizeof exec.message));
  PetscCall(PetscPackRefuse(comm, &exec, &status, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}
