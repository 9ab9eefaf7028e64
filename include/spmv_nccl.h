/*
  spmv_nccl.h - several processes, each with a GPU of its own, through NVIDIA's library NCCL: sums over the processes and
  the exchange of ghost values as operations on a stream, for which no host waits, and which may be part of CUDA graphs.

  libnccl.so.2 is opened when the program runs; nothing depends on it when this library is built or loaded. The caller's
  MPI only carries the id of a communicator to the other processes.

    spmv_nccl_load(NULL, &version, &exec);
    rank 0: spmv_nccl_id(id, &exec);  and all receive the id
    spmv_nccl_create(id, rank, processes, 50, &exec, &nccl);
    ... spmv_nccl_add(), spmv_nccl_begin() and spmv_nccl_end() serve SpmvProcesses ...
    spmv_nccl_destroy(&nccl);

  All calls for one object come from one thread at a time, with the device that was current when it was made. Every
  process of a communicator enqueues the same operations in the same order.
*/
#ifndef SPMV_NCCL_H
#define SPMV_NCCL_H

#include "spmv_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The oldest version that serves, as ncclGetVersion() counts: 2.18.0 */
enum { SPMV_NCCL_ID_BYTES = 128, SPMV_NCCL_LEAST = 21800 };

/* Opens the library once for the process; later calls give the version of the one that is open. path: of the library, or
   NULL for libnccl.so.2 where the loader finds it. *version: as ncclGetVersion() tells it, 0 where it could not be asked.
   SPMV_ERR_UNSUPPORTED where there is no library, it lacks a function or is too old, or there is no device; the message
   says which. */
SPMV_API SpmvStatus spmv_nccl_load(const char *path, int *version, SpmvExec *);

/* The id of a new communicator, made by one of its processes */
SPMV_API SpmvStatus spmv_nccl_id(char id[SPMV_NCCL_ID_BYTES], SpmvExec *);

typedef struct SpmvNccl SpmvNccl;

/* Collective over the processes, whose ranks are 0 .. processes-1; takes up to a second. patience: the host gives up after
   so many seconds without progress while it waits for operations, see spmv_nccl_alive(). *nccl is NULL after a failure. */
SPMV_API SpmvStatus spmv_nccl_create(const char id[SPMV_NCCL_ID_BYTES], int rank, int processes, double patience,
                                     SpmvExec *, SpmvNccl **nccl);
/* Collective, unless the object was given up. Graphs with its operations must be gone. Accepts NULL and a pointer to NULL. */
SPMV_API void spmv_nccl_destroy(SpmvNccl **);

/* SpmvProcesses.add. The order of additions depends on the number of processes alone, and all processes get the same
   bits. */
SPMV_API SpmvStatus spmv_nccl_add(void *nccl, double *sums, int n, SpmvExec *);

/* Numbers that go to neighbours, or come from them: those of neighbour i are at first[i] .. first[i+1]-1 of one array */
typedef struct {
  int            neighbours;
  const int     *rank;  /* [neighbours], none twice, not this process */
  const int64_t *first; /* [neighbours+1] */
} SpmvNeighbours;

/* What one matrix needs of the vectors of other processes; all arrays are the caller's */
typedef struct {
  SpmvScalar     scalar_type;
  const int32_t *index;  /* [out.first[out.neighbours]] on the device: the entries of x that others want ... */
  void          *packed; /* ... and room for as many numbers */
  SpmvNeighbours out, in;
} SpmvNcclHalo;

/* Enqueues that ghosts gets entries of the x of the neighbours, on a second stream, which follows what is in exec->stream:
   what is enqueued next runs beside the exchange, and must neither change x nor touch ghosts, until spmv_nccl_end() */
SPMV_API SpmvStatus spmv_nccl_begin(SpmvNccl *, const SpmvNcclHalo *, const void *x, void *ghosts, SpmvExec *);
/* exec->stream waits for the exchange */
SPMV_API SpmvStatus spmv_nccl_end(SpmvNccl *, const SpmvNcclHalo *, SpmvExec *);

/* SpmvProcesses.alive, for a host that has waited so many seconds. An error where NCCL knows of one, or where patience
   is at its end because a process died or does not take part: operations under way are given up then, what they should
   have written is lost, and every further call for the object fails. */
SPMV_API SpmvStatus spmv_nccl_alive(void *nccl, double waited, SpmvExec *);

#ifdef __cplusplus
}
#endif
#endif
