/*
  halo.c - ghost values: a kernel packs the entries of x that other processes need, and each entry goes only to those
  processes. NCCL sends from the device on a stream. With MPI, values are copied to the host, sent, and copied to the
  device of the receiver. The way back sends ghosts to the owners, which receive where they pack, and add.
*/
#include "neighbours.h"
#include "processes.h"
#include "sys/status.h"

struct PetscPackHaloStruct {
  SpmvScalar          scalar;
  PetscPackNeighbours neighbours;
  int64_t             items[2]; /* to send and to receive */
  void               *host[2];  /* page-locked buffers for them; NULL if NCCL serves */
  void               *block;    /* device memory of the three arrays below */
  int32_t            *index;    /* [items[0]]: the entries of x that other processes need */
  void               *packed;   /* [items[0]] */
  void               *ghosts;   /* [items[1]] */
};

static SpmvStatus HaloAllocate(const PetscPackProcesses *p, PetscPackHalo h, const int32_t index[], SpmvExec *exec)
{
  const int64_t each    = spmv_scalar_bytes(h->scalar);
  const int64_t bytes[] = {h->items[0] * (int64_t)sizeof *h->index, h->items[0] * each, h->items[1] * each};
  void **const  array[] = {(void **)&h->index, &h->packed, &h->ghosts};
  SpmvStatus    status  = spmv_alloc_arrays(exec, SPMV_DEVICE, 3, bytes, "ghost values", array, &h->block);

  for (int way = 0; way < 2 && !status && !p->nccl; way++)
    if (h->items[way] > 0) status = spmv_pinned_alloc(exec, h->items[way] * each, &h->host[way]);
  if (!status && bytes[0] > 0) status = spmv_copy(h->index, SPMV_DEVICE, index, SPMV_HOST, bytes[0], exec);
  return status ? status : spmv_stream_wait(exec);
}

PetscErrorCode PetscPackHaloCreate(const PetscPackProcesses *p, PetscLayout columns, PetscInt ghosts,
                                   const PetscInt ghost[], SpmvScalar scalar, SpmvExec *exec, PetscPackHalo *halo,
                                   SpmvStatus *status)
{
  PetscInt     *wanted = NULL; /* gcc does not see that it is set whenever the call succeeds */
  int32_t      *index;
  PetscPackHalo h;

  PetscFunctionBegin;
  PetscCall(PetscNew(&h));
  *halo     = h;
  h->scalar = scalar;
  PetscCall(PetscPackNeighboursFromOwners(columns, ghosts, ghost, &h->neighbours, &wanted));
  h->items[0] = PetscPackItems(&h->neighbours->out);
  h->items[1] = ghosts;
  PetscCall(PetscMalloc1((size_t)h->items[0], &index));
  for (int64_t k = 0; k < h->items[0]; k++) index[k] = (int32_t)wanted[k];
  *status = PetscPackAgreeStatus(p->comm, exec, HaloAllocate(p, h, index, exec));
  PetscCall(PetscFree(index));
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
  for (int way = 0; way < 2; way++) spmv_pinned_free(h->host[way]);
  PetscCall(PetscPackNeighboursDestroy(&h->neighbours));
  PetscCall(PetscFree(*halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void *PetscPackHaloGhosts(PetscPackHalo h) { return h->ghosts; }

/* Adds what the neighbours have sent back. Two of them may add to the same entry: one launch for each fixes the order. */
static SpmvStatus PackedAdd(PetscPackHalo h, void *y, SpmvExec *exec)
{
  const SpmvNeighbours *from   = &h->neighbours->out;
  SpmvStatus            status = SPMV_SUCCESS;

  for (int k = 0; k < from->neighbours && !status; k++)
    status = spmv_scatter_add(from->first[k + 1] - from->first[k], h->index + from->first[k], h->scalar,
                              (const char *)h->packed + from->first[k] * spmv_scalar_bytes(h->scalar), y, exec);
  return status;
}

/* ---- by MPI ---- */

static SpmvStatus ExchangeFailed(SpmvExec *exec)
{
  return spmv_fail(exec, SPMV_ERR_ARGUMENT, "the exchange of ghost values by MPI failed");
}

/* Sends the items of host[way], which are `from` on the device; the other buffer receives */
static SpmvStatus HostBegin(PetscPackHalo h, int way, const void *from, SpmvExec *exec)
{
  const MPI_Datatype               type   = h->scalar == AIJFMT_SCALAR ? MPIU_SCALAR : MPI_FLOAT;
  const int64_t                    bytes  = h->items[way] * spmv_scalar_bytes(h->scalar);
  struct PetscPackNeighboursStruct n      = *h->neighbours;
  SpmvStatus                       status = SPMV_SUCCESS;

  if (way) {
    n.out = h->neighbours->in;
    n.in  = h->neighbours->out;
  }
  if (bytes > 0) status = spmv_copy(h->host[way], SPMV_HOST, from, SPMV_DEVICE, bytes, exec);
  if (!status) status = spmv_stream_wait(exec); /* host[way] is filled, and the last copy from the other has ended */
  if (!status && PetscPackExchangeBegin(&n, type, h->host[way], h->host[!way])) status = ExchangeFailed(exec);
  return status;
}

/* Copies the items that host[way] has received to the device */
static SpmvStatus HostEnd(PetscPackHalo h, int way, void *to, SpmvExec *exec)
{
  const int64_t bytes = h->items[way] * spmv_scalar_bytes(h->scalar);

  if (PetscPackExchangeEnd(h->neighbours)) return ExchangeFailed(exec);
  return bytes > 0 ? spmv_copy(to, SPMV_DEVICE, h->host[way], SPMV_HOST, bytes, exec) : SPMV_SUCCESS;
}

SpmvStatus PetscPackHaloBegin(void *processes, void *halo, const void *x, void *ghosts, SpmvExec *exec)
{
  PetscPackHalo h      = (PetscPackHalo)halo;
  SpmvStatus    status = SPMV_SUCCESS;

  (void)processes;
  (void)ghosts;
  if (h->items[0] > 0) status = spmv_gather(h->items[0], h->index, h->scalar, x, h->packed, exec);
  return status ? status : HostBegin(h, 0, h->packed, exec);
}

SpmvStatus PetscPackHaloEnd(void *processes, void *halo, void *ghosts, SpmvExec *exec)
{
  (void)processes;
  return HostEnd((PetscPackHalo)halo, 1, ghosts, exec);
}

SpmvStatus PetscPackHaloBeginBack(void *processes, void *halo, const void *ghosts, SpmvExec *exec)
{
  (void)processes;
  return HostBegin((PetscPackHalo)halo, 1, ghosts, exec);
}

SpmvStatus PetscPackHaloEndBack(void *processes, void *halo, void *y, SpmvExec *exec)
{
  PetscPackHalo    h      = (PetscPackHalo)halo;
  const SpmvStatus status = HostEnd(h, 0, h->packed, exec);

  (void)processes;
  return status ? status : PackedAdd(h, y, exec);
}

/* ---- by NCCL ---- */

static SpmvNcclHalo ForNccl(const struct PetscPackHaloStruct *h)
{
  return (SpmvNcclHalo){.scalar_type = h->scalar,
                        .index       = h->index,
                        .packed      = h->packed,
                        .out         = h->neighbours->out,
                        .in          = h->neighbours->in};
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

SpmvStatus PetscPackHaloBeginBackNccl(void *nccl, void *halo, const void *ghosts, SpmvExec *exec)
{
  PetscPackHalo      h    = (PetscPackHalo)halo;
  const SpmvNcclHalo back = {
      .scalar_type = h->scalar, .packed = h->ghosts, .out = h->neighbours->in, .in = h->neighbours->out};

  (void)ghosts; /* h->ghosts, which need no packing */
  return spmv_nccl_begin((SpmvNccl *)nccl, &back, NULL, h->packed, exec);
}

SpmvStatus PetscPackHaloEndBackNccl(void *nccl, void *halo, void *y, SpmvExec *exec)
{
  const SpmvStatus status = PetscPackHaloEndNccl(nccl, halo, NULL, exec);

  return status ? status : PackedAdd((PetscPackHalo)halo, y, exec);
}
