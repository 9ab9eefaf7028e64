/*
  halo.c - ghost values by MPI: a kernel packs the entries that others want, the host sends them to those alone, and
  copies to the device what it receives. PETSc's star forest finds out who wants what.
*/
#include "processes.h"
#include "mat/impls/seqaijfmt/plan.h"
#include <petscsf.h>

/* Numbers for one direction: those of neighbour i are at first[i] .. first[i+1]-1 */
typedef struct {
  AIJFmtRanks  neighbours;
  PetscMPIInt *rank;
  PetscInt    *first; /* [neighbours+1] */
  PetscInt     count;
  char        *host; /* [count] numbers, page-locked */
} Messages;

struct PetscPackHaloStruct {
  SpmvScalar   scalar;
  Messages     out, in;
  void        *block;  /* device memory with the two that follow */
  int32_t     *index;  /* [out.count]: the entries of x that others want */
  void        *packed; /* [out.count] */
  MPI_Request *request;
};

static PetscErrorCode Copy(AIJFmtRanks neighbours, const PetscMPIInt rank[], const PetscInt first[], Messages *m)
{
  PetscFunctionBegin;
  m->neighbours = neighbours;
  PetscCall(PetscMalloc2((size_t)neighbours, &m->rank, (size_t)neighbours + 1, &m->first));
  PetscCall(PetscArraycpy(m->rank, rank, (size_t)neighbours));
  m->first[0] = 0;
  for (AIJFmtRanks i = 0; i < neighbours; i++) m->first[i + 1] = first[i + 1];
  m->count = m->first[neighbours];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Who sends what: `wanted` are entries of x of this process, in the order in which they are sent */
static PetscErrorCode Ask(MPI_Comm comm, PetscLayout columns, PetscInt ghosts, const PetscInt ghost[], PetscPackHalo h,
                          int32_t **wanted)
{
  PetscSF            sf;
  AIJFmtRanks        neighbours;
  const PetscMPIInt *rank;
  const PetscInt    *first, *mine, *theirs;

  PetscFunctionBegin;
  PetscCall(PetscSFCreate(comm, &sf));
  PetscCall(PetscSFSetGraphLayout(sf, columns, ghosts, NULL, PETSC_COPY_VALUES, ghost));
  PetscCall(PetscSFSetUp(sf));
  PetscCall(PetscSFGetRootRanks(sf, &neighbours, &rank, &first, &mine, &theirs));
  PetscCall(Copy(neighbours, rank, first, &h->in)); /* ghosts ascend, and so do the owners' columns: all in order */
  PetscCall(PetscSFGetLeafRanks(sf, &neighbours, &rank, &first, &mine));
  PetscCall(Copy(neighbours, rank, first, &h->out));
  PetscCall(PetscMalloc1((size_t)h->out.count, wanted));
  for (PetscInt i = 0; i < h->out.count; i++) (*wanted)[i] = (int32_t)mine[i];
  PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static SpmvStatus Allocate(PetscPackHalo h, const int32_t wanted[], SpmvExec *exec)
{
  const int64_t each    = spmv_scalar_bytes(h->scalar);
  const int64_t bytes[] = {h->out.count * (int64_t)sizeof *h->index, h->out.count * each};
  void **const  array[] = {(void **)&h->index, &h->packed};
  Messages     *both[]  = {&h->out, &h->in};
  SpmvStatus    status  = spmv_alloc_arrays(exec, 2, bytes, "ghost values", array, &h->block);

  for (int i = 0; i < 2 && !status; i++)
    if (both[i]->count > 0) status = spmv_pinned_alloc(exec, both[i]->count * each, (void **)&both[i]->host);
  if (!status && bytes[0] > 0) status = spmv_copy(h->index, SPMV_DEVICE, wanted, SPMV_HOST, bytes[0], exec);
  return status;
}

PetscErrorCode PetscPackHaloCreate(MPI_Comm comm, PetscLayout columns, PetscInt ghosts, const PetscInt ghost[],
                                   SpmvScalar scalar, SpmvExec *exec, PetscPackHalo *halo, SpmvStatus *status)
{
  int32_t      *wanted = NULL; /* gcc does not see that it is set whenever the call succeeds */
  PetscPackHalo h;

  PetscFunctionBegin;
  PetscCall(PetscNew(&h));
  *halo     = h;
  h->scalar = scalar;
  PetscCall(Ask(comm, columns, ghosts, ghost, h, &wanted));
  PetscCall(PetscMalloc1((size_t)h->in.neighbours + (size_t)h->out.neighbours, &h->request));
  *status = Allocate(h, wanted, exec);
  PetscCall(PetscFree(wanted));
  if (*status) PetscCall(PetscPackHaloDestroy(halo, exec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackHaloDestroy(PetscPackHalo *halo, SpmvExec *exec)
{
  PetscPackHalo h = *halo;

  PetscFunctionBegin;
  if (!h) PetscFunctionReturn(PETSC_SUCCESS);
  spmv_exec_free(exec, SPMV_DEVICE, h->block);
  spmv_pinned_free(h->out.host);
  spmv_pinned_free(h->in.host);
  PetscCall(PetscFree2(h->out.rank, h->out.first));
  PetscCall(PetscFree2(h->in.rank, h->in.first));
  PetscCall(PetscFree(h->request));
  PetscCall(PetscFree(*halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Messages between two processes come in the order in which they were sent: one tag serves all. Each is waited for by
   itself: with the headers of MPICH compilers take MPI_STATUSES_IGNORE for an array that MPI_Waitall() overruns. */
static int Transfer(PetscPackHalo h, MPI_Comm comm)
{
  const MPI_Datatype type = h->scalar == AIJFMT_SCALAR ? MPIU_SCALAR : MPI_FLOAT;
  const int64_t      each = spmv_scalar_bytes(h->scalar);
  int                n = 0, failed = 0;

  for (AIJFmtRanks i = 0; i < h->in.neighbours; i++)
    if (MPI_Irecv(h->in.host + h->in.first[i] * each, (int)(h->in.first[i + 1] - h->in.first[i]), type, h->in.rank[i],
                  0, comm, &h->request[n++]))
      return 1;
  for (AIJFmtRanks i = 0; i < h->out.neighbours; i++)
    if (MPI_Isend(h->out.host + h->out.first[i] * each, (int)(h->out.first[i + 1] - h->out.first[i]), type,
                  h->out.rank[i], 0, comm, &h->request[n++]))
      return 1;
  for (int i = 0; i < n; i++) failed |= MPI_Wait(&h->request[i], MPI_STATUS_IGNORE);
  return failed;
}

SpmvStatus PetscPackHaloExchange(void *processes, void *halo, const void *x, void *ghosts, SpmvExec *exec)
{
  const PetscPackProcesses *p    = (const PetscPackProcesses *)processes;
  PetscPackHalo             h    = (PetscPackHalo)halo;
  const int64_t             each = spmv_scalar_bytes(h->scalar), out = h->out.count * each, in = h->in.count * each;
  SpmvStatus                status = SPMV_SUCCESS;

  if (out > 0) status = spmv_gather(h->out.count, h->index, h->scalar, x, h->packed, exec);
  if (!status && out > 0) status = spmv_copy(h->out.host, SPMV_HOST, h->packed, SPMV_DEVICE, out, exec);
  if (!status) status = spmv_stream_wait(exec); /* also for the copy of the exchange before, from h->in.host */
  if (status) return status;
  if (Transfer(h, p->comm)) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "the exchange of ghost values by MPI failed");
  return in > 0 ? spmv_copy(ghosts, SPMV_DEVICE, h->in.host, SPMV_HOST, in, exec) : SPMV_SUCCESS;
}
