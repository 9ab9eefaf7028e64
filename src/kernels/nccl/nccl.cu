/*
  nccl.cu - a communicator of NCCL: sums on the caller's stream, exchanges on a separate stream.

  All processes must run the operations of a communicator in the same order, also those on different streams. They do: a
  sum needs the result of a product, and the product its exchange.
*/
#include "device/launch.cuh"
#include "device/object.h"
#include "library.h"
#include <cstring>
#include <pthread.h>

struct SpmvNccl {
  SpmvObject   object;
  void        *comm;       /* an ncclComm_t; nullptr after it was given up */
  cudaStream_t side;       /* for exchanges */
  cudaEvent_t  fork, join; /* from and to the caller's stream */
  double       patience;   /* seconds without progress until the communicator is given up */
};

namespace
{
SpmvStatus check_loaded(SpmvExec *exec)
{
  if (spmv_nccl_library()) return SPMV_SUCCESS;
  return spmv_fail(exec, SPMV_ERR_ARGUMENT, "NCCL was not loaded: spmv_nccl_load()");
}

SpmvStatus check_usable(const SpmvNccl *nccl, SpmvExec *exec)
{
  if (nccl->comm) return SPMV_SUCCESS;
  return spmv_fail(exec, SPMV_ERR_PEER, "NCCL: the communicator was given up after an earlier error");
}

int type_of(SpmvScalar scalar) { return scalar == SPMV_F32 ? SPMV_NCCL_FLOAT : SPMV_NCCL_DOUBLE; }

SpmvStatus prepare(SpmvNccl *nccl, const char *id, int rank, int processes, SpmvExec *exec)
{
  const SpmvNcclLibrary *library = spmv_nccl_library();
  SpmvNcclId             copy;
  int                    least, greatest;

  memcpy(copy.bytes, id, sizeof copy.bytes);
  /* with the highest priority, because the thread blocks of a message would wait for the end of the product beside
     it */
  SPMV_CUDA(exec, cudaDeviceGetStreamPriorityRange(&least, &greatest));
  SPMV_CUDA(exec, cudaStreamCreateWithPriority(&nccl->side, cudaStreamNonBlocking, greatest));
  SPMV_CUDA(exec, cudaEventCreateWithFlags(&nccl->fork, cudaEventDisableTiming));
  SPMV_CUDA(exec, cudaEventCreateWithFlags(&nccl->join, cudaEventDisableTiming));
  const SpmvStatus status =
      spmv_nccl_status(library->CommInitRank(&nccl->comm, processes, copy, rank), "ncclCommInitRank", exec);
  if (status) nccl->comm = nullptr;
  return status;
}

/* The sends and receives of one exchange. They must be one group: single calls would wait for their peers one by one,
   and deadlock. */
SpmvStatus enqueue_messages(const SpmvNccl *nccl, const SpmvNcclHalo *h, void *ghosts, SpmvExec *exec)
{
  const SpmvNcclLibrary *library = spmv_nccl_library();
  const int64_t          each    = spmv_scalar_bytes(h->scalar_type);
  const int              type    = type_of(h->scalar_type);
  int                    result  = library->GroupStart();

  for (int i = 0; i < h->out.neighbours && !result; i++)
    result =
        library->Send((const char *)h->packed + h->out.first[i] * each, (size_t)(h->out.first[i + 1] - h->out.first[i]),
                      type, h->out.rank[i], nccl->comm, nccl->side);
  for (int i = 0; i < h->in.neighbours && !result; i++)
    result = library->Recv((char *)ghosts + h->in.first[i] * each, (size_t)(h->in.first[i + 1] - h->in.first[i]), type,
                           h->in.rank[i], nccl->comm, nccl->side);
  const int ended = library->GroupEnd();
  return spmv_nccl_status(result ? result : ended, "ncclSend() and ncclRecv", exec);
}

bool is_empty(const SpmvNcclHalo *h) { return h->out.neighbours == 0 && h->in.neighbours == 0; }

void *abort_communicator(void *comm)
{
  (void)spmv_nccl_library()->CommAbort(comm);
  return nullptr;
}

/* Aborts the communicator in another thread. ncclCommAbort() ends its kernels, then waits until graphs with its
   operations are destroyed, which the calling thread may have to do. */
void give_up(SpmvNccl *nccl)
{
  pthread_t other;

  if (pthread_create(&other, nullptr, abort_communicator, nccl->comm) == 0) (void)pthread_detach(other);
  nccl->comm = nullptr;
}
} // namespace

extern "C" SpmvStatus spmv_nccl_id(char id[SPMV_NCCL_ID_BYTES], SpmvExec *exec)
{
  const SpmvNcclLibrary *library = spmv_nccl_library();
  SpmvNcclId             made;

  exec->message[0] = '\0';
  memset(id, 0, SPMV_NCCL_ID_BYTES);
  SPMV_TRY(check_loaded(exec));
  SPMV_TRY(spmv_nccl_status(library->GetUniqueId(&made), "ncclGetUniqueId", exec));
  memcpy(id, made.bytes, sizeof made.bytes);
  return SPMV_SUCCESS;
}

extern "C" SpmvStatus spmv_nccl_create(const char id[SPMV_NCCL_ID_BYTES], int rank, int processes, double patience,
                                       SpmvExec *exec, SpmvNccl **out)
{
  SPMV_TRY(spmv_object_create(check_loaded(exec), sizeof(SpmvNccl), "communicator of NCCL", exec, out));
  (*out)->patience = patience;
  SPMV_OBJECT_MADE(prepare(*out, id, rank, processes, exec), spmv_nccl_destroy, out);
}

extern "C" void spmv_nccl_destroy(SpmvNccl **out)
{
  if (!out || !*out) return;
  SpmvNccl *nccl = *out;

  if (nccl->comm) (void)spmv_nccl_library()->CommDestroy(nccl->comm);
  if (nccl->fork) (void)cudaEventDestroy(nccl->fork);
  if (nccl->join) (void)cudaEventDestroy(nccl->join);
  if (nccl->side) (void)cudaStreamDestroy(nccl->side);
  spmv_object_destroy(out);
}

extern "C" SpmvStatus spmv_nccl_add(void *ctx, double *sums, int n, SpmvExec *exec)
{
  const SpmvNccl *nccl = (const SpmvNccl *)ctx;

  SPMV_TRY(check_usable(nccl, exec));
  return spmv_nccl_status(
      spmv_nccl_library()->AllReduce(sums, sums, (size_t)n, SPMV_NCCL_DOUBLE, SPMV_NCCL_SUM, nccl->comm, exec->stream),
      "ncclAllReduce", exec);
}

extern "C" SpmvStatus spmv_nccl_begin(SpmvNccl *nccl, const SpmvNcclHalo *h, const void *x, void *ghosts,
                                      SpmvExec *exec)
{
  SpmvExec on_side = *exec;

  SPMV_TRY(check_usable(nccl, exec));
  if (is_empty(h)) return SPMV_SUCCESS;
  on_side.stream = nccl->side;
  SPMV_CUDA(exec, cudaEventRecord(nccl->fork, (cudaStream_t)exec->stream));
  SPMV_CUDA(exec, cudaStreamWaitEvent(nccl->side, nccl->fork, 0));
  SpmvStatus status = SPMV_SUCCESS;
  if (h->index) status = spmv_gather(h->out.first[h->out.neighbours], h->index, h->scalar_type, x, h->packed, &on_side);
  if (!status) status = enqueue_messages(nccl, h, ghosts, &on_side);
  if (status) memcpy(exec->message, on_side.message, sizeof exec->message);
  /* also after a failure: a capture whose forked stream was not joined cannot be ended */
  SPMV_CUDA(exec, cudaEventRecord(nccl->join, nccl->side));
  return status;
}

extern "C" SpmvStatus spmv_nccl_end(SpmvNccl *nccl, const SpmvNcclHalo *h, SpmvExec *exec)
{
  if (is_empty(h)) return SPMV_SUCCESS;
  SPMV_CUDA(exec, cudaStreamWaitEvent((cudaStream_t)exec->stream, nccl->join, 0));
  return SPMV_SUCCESS;
}

extern "C" SpmvStatus spmv_nccl_alive(void *ctx, double waited, SpmvExec *exec)
{
  SpmvNccl *nccl   = (SpmvNccl *)ctx;
  int       result = SPMV_NCCL_SUCCESS;

  SPMV_TRY(check_usable(nccl, exec));
  SpmvStatus status =
      spmv_nccl_status(spmv_nccl_library()->CommGetAsyncError(nccl->comm, &result), "ncclCommGetAsyncError", exec);
  if (!status) status = spmv_nccl_status(result, "ncclCommGetAsyncError", exec);
  if (!status && waited >= nccl->patience)
    status = spmv_fail(exec, SPMV_ERR_PEER,
                       "NCCL: no progress for %.0f s: another process has died, or does not call this solve", waited);
  if (!status) return SPMV_SUCCESS;
  give_up(nccl);
  return SPMV_ERR_PEER;
}
