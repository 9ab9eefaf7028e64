/*
  spmv_nccl.h - communication among processes, each with its own GPU, by NVIDIA's library NCCL: sums over processes and
  the exchange of ghost values are operations on a stream. No host waits for them, and CUDA graphs may contain them.

  libnccl.so.2 is opened at run time; building and loading this library does not need it. The caller's MPI only
  broadcasts the id of a communicator.

    spmv_nccl_load(NULL, &version, &exec);
    rank 0: spmv_nccl_id(id, &exec);  broadcast of id
    spmv_nccl_create(id, rank, processes, 50, &exec, &nccl);
    ... spmv_nccl_add(), spmv_nccl_begin() and spmv_nccl_end() serve SpmvProcesses ...
    spmv_nccl_destroy(&nccl);

  Only one thread at a time may use an object, with the device that was current when it was made. All processes of a
  communicator must enqueue the same operations in the same order.
*/
#ifndef SPMV_NCCL_H
#define SPMV_NCCL_H

#include "spmv_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* SPMV_NCCL_LEAST: the oldest supported version, as ncclGetVersion() encodes it: 2.18.0 */
enum { SPMV_NCCL_ID_BYTES = 128, SPMV_NCCL_LEAST = 21800 };

/* Opens the library once per process; later calls return the version of the open library. path names the library file;
   NULL means libnccl.so.2 on the loader's search path. *version is that of ncclGetVersion(), or 0 if it could not be
   called. SPMV_ERR_UNSUPPORTED if the library is missing, lacks a function or is too old, or if there is no device; the
   message says which. */
SPMV_API SpmvStatus spmv_nccl_load(const char *path, int *version, SpmvExec *);

/* Makes the id of a new communicator; only one of its processes calls this */
SPMV_API SpmvStatus spmv_nccl_id(char id[SPMV_NCCL_ID_BYTES], SpmvExec *);

typedef struct SpmvNccl SpmvNccl;

/* Collective over the processes, with ranks 0 .. processes-1; takes up to a second. patience: the seconds without
   progress after which a host that waits for operations gives up, see spmv_nccl_alive(). *nccl is NULL after a
   failure. */
SPMV_API SpmvStatus spmv_nccl_create(const char id[SPMV_NCCL_ID_BYTES], int rank, int processes, double patience,
                                     SpmvExec *, SpmvNccl **nccl);
/* Collective, unless spmv_nccl_alive() gave up. Destroy graphs that contain operations of the object first. Accepts
   NULL and a pointer to NULL. */
SPMV_API void spmv_nccl_destroy(SpmvNccl **);

/* Serves as SpmvProcesses.add. The order of additions depends only on the number of processes, and all processes get
   the same bits. */
SPMV_API SpmvStatus spmv_nccl_add(void *nccl, double *sums, int n, SpmvExec *);

/* Layout of the numbers sent to, or received from, neighbours: those of neighbour i are at first[i] .. first[i+1]-1 of
   one array */
typedef struct {
  int            neighbours;
  const int     *rank;  /* [neighbours], all different, without this process */
  const int64_t *first; /* [neighbours+1] */
} SpmvNeighbours;

/* The exchange of ghost values of one matrix; all arrays belong to the caller */
typedef struct {
  SpmvScalar     scalar_type;
  const int32_t *index;  /* [out.first[out.neighbours]] on the device: the entries of x to send ... */
  void          *packed; /* ... and a send buffer of that length. If index is NULL, it holds what is sent. */
  SpmvNeighbours out, in;
} SpmvNcclHalo;

/* Enqueues the exchange, which fills ghosts with entries of the neighbours' x, on a second stream that first waits for
   the work already in exec->stream. Work enqueued on exec->stream before spmv_nccl_end() overlaps the exchange; it must
   neither change x nor touch ghosts. */
SPMV_API SpmvStatus spmv_nccl_begin(SpmvNccl *, const SpmvNcclHalo *, const void *x, void *ghosts, SpmvExec *);
/* Makes exec->stream wait for the exchange */
SPMV_API SpmvStatus spmv_nccl_end(SpmvNccl *, const SpmvNcclHalo *, SpmvExec *);

/* Serves as SpmvProcesses.alive; waited: the seconds that the host has waited. SPMV_ERR_PEER if NCCL reports an error, or
   if patience is exceeded because a process died or does not take part. Pending operations are then aborted, their
   results are undefined, and every further call for the object fails likewise. */
SPMV_API SpmvStatus spmv_nccl_alive(void *nccl, double waited, SpmvExec *);

#ifdef __cplusplus
}
#endif
#endif
