/*
  halo.c - ghost values: a kernel packs the entries of x that other processes need, and each entry goes only to those
  processes. NCCL sends from the device on a stream. With MPI, values are copied to the host, sent, and copied to the
  device of the receiver. PetscSF finds the senders and receivers.
*/
#include "processes.h"
#include "mat/impls/seqaijfmt/plan.h"
#include <petscsf.h>

/* Entries for one direction: those of neighbour i are at first[i] .. first[i+1]-1 */
typedef struct {
  int      neighbours;
  int     *rank;
  int64_t *first; /* [neighbours+1] */
  char    *host;  /* page-locked buffer for all entries; NULL if NCCL serves */
} Messages;

struct PetscPackHaloStruct {
  SpmvScalar   scalar;
  Messages     out, in;
  void        *block;  /* device memory of the three arrays below */
  int32_t     *index;  /* [count of out]: the entries of x that other processes need */
  void        *packed; /* [count of out] */
  void        *ghosts; /* [count of in] */
  MPI_Request *request;
};

static int64_t Count(const Messages *m) { return m->first[m->neighbours]; }

static PetscErrorCode Copy(AIJFmtRanks neighbours, const PetscMPIInt rank[], const PetscInt first[], Messages *m)
{
  PetscFunctionBegin;
  m->neighbours = (int)neighbours;
  PetscCall(PetscMalloc2((size_t)neighbours, &m->rank, (size_t)neighbours + 1, &m->first));
  m->first[0] = 0;
  for (AIJFmtRanks i = 0; i < neighbours; i++) {
    m->rank[i]      = rank[i];
    m->first[i + 1] = first[i + 1];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds out who sends which entries. wanted: local indices of the entries of x to send, ordered as in h->out */
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
  PetscCall(Copy(neighbours, rank, first, &h->in)); /* no index needed: ghosts are sorted, hence also by owner */
  PetscCall(PetscSFGetLeafRanks(sf, &neighbours, &rank, &first, &mine));
  PetscCall(Copy(neighbours, rank, first, &h->out));
  PetscCall(PetscMalloc1((size_t)Count(&h->out), wanted));
  for (int64_t i = 0; i < Count(&h->out); i++) (*wanted)[i] = (int32_t)mine[i];
  PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static SpmvStatus Allocate(const PetscPackProcesses *p, PetscPackHalo h, const int32_t wanted[], SpmvExec *exec)
{
  const int64_t each    = spmv_scalar_bytes(h->scalar);
  const int64_t bytes[] = {Count(&h->out) * (int64_t)sizeof *h->index, Count(&h->out) * each, Count(&h->in) * each};
  void **const  array[] = {(void **)&h->index, &h->packed, &h->ghosts};
  Messages     *both[]  = {&h->out, &h->in};
  SpmvStatus    status  = spmv_alloc_arrays(exec, 3, bytes, "ghost values", array, &h->block);

  for (int i = 0; i < 2 && !status && !p->nccl; i++)
    if (Count(both[i]) > 0) status = spmv_pinned_alloc(exec, Count(both[i]) * each, (void **)&both[i]->host);
  if (!status && bytes[0] > 0) status = spmv_copy(h->index, SPMV_DEVICE, wanted, SPMV_HOST, bytes[0], exec);
  return status ? status : spmv_stream_wait(exec);
}

PetscErrorCode PetscPackHaloCreate(const PetscPackProcesses *p, PetscLayout columns, PetscInt ghosts,
                                   const PetscInt ghost[], SpmvScalar scalar, SpmvExec *exec, PetscPackHalo *halo,
                                   SpmvStatus *status)
{
  int32_t      *wanted = NULL; /* gcc does not see that it is set whenever the call succeeds */
  PetscPackHalo h;

  PetscFunctionBegin;
  PetscCall(PetscNew(&h));
  *halo     = h;
  h->scalar = scalar;
  PetscCall(Ask(p->comm, columns, ghosts, ghost, h, &wanted));
  PetscCall(PetscMalloc1((size_t)h->in.neighbours + (size_t)h->out.neighbours, &h->request));
  *status = PetscPackAgreeStatus(p->comm, exec, Allocate(p, h, wanted, exec));
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

void *PetscPackHaloGhosts(PetscPackHalo h) { return h->ghosts; }

/* ---- by MPI ---- */

/* MPI does not reorder messages between two processes, so one tag serves all exchanges */
static int Post(PetscPackHalo h, MPI_Comm comm)
{
  const MPI_Datatype type = h->scalar == AIJFMT_SCALAR ? MPIU_SCALAR : MPI_FLOAT;
  const int64_t      each = spmv_scalar_bytes(h->scalar);
  int                n    = 0;

  for (int i = 0; i < h->in.neighbours; i++)
    if (MPI_Irecv(h->in.host + h->in.first[i] * each, (int)(h->in.first[i + 1] - h->in.first[i]), type, h->in.rank[i],
                  0, comm, &h->request[n++]))
      return 1;
  for (int i = 0; i < h->out.neighbours; i++)
    if (MPI_Isend(h->out.host + h->out.first[i] * each, (int)(h->out.first[i + 1] - h->out.first[i]), type,
                  h->out.rank[i], 0, comm, &h->request[n++]))
      return 1;
  return 0;
}

SpmvStatus PetscPackHaloBegin(void *processes, void *halo, const void *x, void *ghosts, SpmvExec *exec)
{
  const PetscPackProcesses *p      = (const PetscPackProcesses *)processes;
  PetscPackHalo             h      = (PetscPackHalo)halo;
  const int64_t             out    = Count(&h->out) * spmv_scalar_bytes(h->scalar);
  SpmvStatus                status = SPMV_SUCCESS;

  (void)ghosts;
  if (out > 0) status = spmv_gather(Count(&h->out), h->index, h->scalar, x, h->packed, exec);
  if (!status && out > 0) status = spmv_copy(h->out.host, SPMV_HOST, h->packed, SPMV_DEVICE, out, exec);
  if (!status) status = spmv_stream_wait(exec); /* h->out.host is filled, and the last copy from h->in.host has ended */
  if (status) return status;
  return Post(h, p->comm) ? spmv_fail(exec, SPMV_ERR_ARGUMENT, "the exchange of ghost values by MPI failed")
                          : SPMV_SUCCESS;
}

/* MPI_Wait() in a loop instead of MPI_Waitall(): with MPICH's headers, compilers report that MPI_Waitall() overruns
   MPI_STATUSES_IGNORE */
SpmvStatus PetscPackHaloEnd(void *processes, void *halo, void *ghosts, SpmvExec *exec)
{
  PetscPackHalo h      = (PetscPackHalo)halo;
  const int64_t in     = Count(&h->in) * spmv_scalar_bytes(h->scalar);
  int           failed = 0;

  (void)processes;
  for (int i = 0; i < h->in.neighbours + h->out.neighbours; i++) failed |= MPI_Wait(&h->request[i], MPI_STATUS_IGNORE);
  if (failed) return spmv_fail(exec, SPMV_ERR_ARGUMENT, "the exchange of ghost values by MPI failed");
  return in > 0 ? spmv_copy(ghosts, SPMV_DEVICE, h->in.host, SPMV_HOST, in, exec) : SPMV_SUCCESS;
}

/* ---- by NCCL ---- */

static SpmvNcclHalo ForNccl(const struct PetscPackHaloStruct *h)
{
  return (SpmvNcclHalo){.scalar_type = h->scalar,
                        .index       = h->index,
                        .packed      = h->packed,
                        .out         = {h->out.neighbours, h->out.rank, h->out.first},
                        .in          = {h->in.neighbours, h->in.rank, h->in.first}};
}

SpmvStatus PetscPackHaloBeginNccl(void *nccl, void *halo, const void *x, void *ghosts, SpmvExec *exec)
{
  const SpmvNcclHalo h = ForNccl((PetscPackHalo)halo);

  return spmv_nccl_begin((SpmvNccl *)nccl, &h, x, ghosts, exec);
}

SpmvStatus PetscPackHaloEndNccl(void *nccl, void *halo, void *ghosts, SpmvExec *exec)
{
  const SpmvNcclHalo h = ForNccl((PetscPackHalo)halo);

  (void)ghosts;
  return spmv_nccl_end((SpmvNccl *)nccl, &h, exec);
}
