/*
  halo.c - ghost values: a kernel packs the entries of x that other processes need, and each entry goes only to those
  processes. NCCL sends from the device on a stream. With MPI, values are copied to the host, sent, and copied to the
  device of the receiver.
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

/* ---- by MPI ---- */

static SpmvStatus ExchangeFailed(SpmvExec *exec)
{
  return spmv_fail(exec, SPMV_ERR_ARGUMENT, "the exchange of ghost values by MPI failed");
}

SpmvStatus PetscPackHaloBegin(void *processes, void *halo, const void *x, void *ghosts, SpmvExec *exec)
{
  PetscPackHalo      h      = (PetscPackHalo)halo;
  const MPI_Datatype type   = h->scalar == AIJFMT_SCALAR ? MPIU_SCALAR : MPI_FLOAT;
  const int64_t      out    = h->items[0] * spmv_scalar_bytes(h->scalar);
  SpmvStatus         status = SPMV_SUCCESS;

  (void)processes;
  (void)ghosts;
  if (out > 0) status = spmv_gather(h->items[0], h->index, h->scalar, x, h->packed, exec);
  if (!status && out > 0) status = spmv_copy(h->host[0], SPMV_HOST, h->packed, SPMV_DEVICE, out, exec);
  if (!status) status = spmv_stream_wait(exec); /* host[0] is filled, and the last copy from host[1] has ended */
  if (!status && PetscPackExchangeBegin(h->neighbours, type, h->host[0], h->host[1])) status = ExchangeFailed(exec);
  return status;
}

SpmvStatus PetscPackHaloEnd(void *processes, void *halo, void *ghosts, SpmvExec *exec)
{
  PetscPackHalo h  = (PetscPackHalo)halo;
  const int64_t in = h->items[1] * spmv_scalar_bytes(h->scalar);

  (void)processes;
  if (PetscPackExchangeEnd(h->neighbours)) return ExchangeFailed(exec);
  return in > 0 ? spmv_copy(ghosts, SPMV_DEVICE, h->host[1], SPMV_HOST, in, exec) : SPMV_SUCCESS;
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
