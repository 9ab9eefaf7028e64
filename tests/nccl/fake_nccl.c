/*
  fake_nccl.c - a replacement of libnccl.so.2 for the emulated GPU. It has the functions that petscpack opens, with
  NCCL's arguments and meaning. Operations run in stream order and may be captured in graphs.

  With FAKE_NCCL_MPI the processes are those of MPI_COMM_WORLD; without it there is one process, which may send to
  itself. FAKE_NCCL_VERSION is the version that it reports; with FAKE_NCCL_WITHOUT_ABORT it lacks ncclCommAbort().

  The environment variable SPMV_FAKE_NCCL_FAIL names a function that fails, or is "asynchronous" for an asynchronous
  error.
*/
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>
#ifdef FAKE_NCCL_MPI
  #include <mpi.h>
#endif
#ifndef FAKE_NCCL_VERSION
  #define FAKE_NCCL_VERSION 22800
#endif
#define PUBLIC __attribute__((visibility("default")))

enum { SUCCESS = 0, SYSTEM_ERROR = 2, INVALID = 4, FLOAT = 7, DOUBLE = 8, SUM = 0, MOST = 64 };

typedef struct {
  char bytes[128];
} Id;

typedef struct {
  const void *from;
  void       *to;
  size_t      bytes;
  int         rank; /* of the peer; -1: a sum over all processes */
} Message;

/* The messages of a group; kept until the communicator is destroyed, because graphs may repeat them */
typedef struct Work {
  struct Work *next;
  struct Comm *comm;
  int          count;
  Message      message[MOST];
} Work;

typedef struct Comm {
  int   processes, rank;
  Work *all;
#ifdef FAKE_NCCL_MPI
  MPI_Comm mpi;
#endif
} Comm;

static Work        *group; /* the open group, or NULL */
static cudaStream_t group_stream;
static int          depth;

static int fails(const char *function)
{
  const char *which = getenv("SPMV_FAKE_NCCL_FAIL");

  return which && !strcmp(which, function);
}

static void get(void *to, const void *from, size_t bytes)
{
  (void)cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, NULL);
}
static void put(void *to, const void *from, size_t bytes)
{
  (void)cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, NULL);
}

#ifdef FAKE_NCCL_MPI
static void sum(const Comm *c, double *values, size_t n)
{
  MPI_Allreduce(MPI_IN_PLACE, values, (int)n, MPI_DOUBLE, MPI_SUM, c->mpi);
}
static void transfer(const Comm *c, const Message *m, int count, char *host[])
{
  MPI_Request request[MOST];

  for (int i = 0; i < count; i++)
    if (m[i].to) MPI_Irecv(host[i], (int)m[i].bytes, MPI_BYTE, m[i].rank, 0, c->mpi, &request[i]);
    else MPI_Isend(host[i], (int)m[i].bytes, MPI_BYTE, m[i].rank, 0, c->mpi, &request[i]);
  for (int i = 0; i < count; i++) MPI_Wait(&request[i], MPI_STATUS_IGNORE);
}
#else
static void sum(const Comm *c, double *values, size_t n)
{
  (void)c;
  (void)values;
  (void)n;
}
/* Receive number i gets send number i */
static void transfer(const Comm *c, const Message *m, int count, char *host[])
{
  int from = 0;

  (void)c;
  for (int i = 0; i < count; i++) {
    if (!m[i].to) continue;
    while (m[from].to) from++;
    memcpy(host[i], host[from++], m[i].bytes);
  }
}
#endif

/* The host function that runs the messages in stream order */
static void run(void *data)
{
  const Work *w = data;
  char       *host[MOST];

  for (int i = 0; i < w->count; i++) {
    host[i] = malloc(w->message[i].bytes);
    if (w->message[i].from) get(host[i], w->message[i].from, w->message[i].bytes);
  }
  if (w->message[0].rank < 0) sum(w->comm, (double *)(void *)host[0], w->message[0].bytes / sizeof(double));
  else transfer(w->comm, w->message, w->count, host);
  for (int i = 0; i < w->count; i++) {
    if (w->message[i].to) put(w->message[i].to, host[i], w->message[i].bytes);
    free(host[i]);
  }
}

static Work *new_work(Comm *c)
{
  Work *w = calloc(1, sizeof *w);

  w->comm = c;
  w->next = c->all;
  c->all  = w;
  return w;
}

static int enqueue(Work *w, cudaStream_t stream)
{
  return w->count == 0 || cudaLaunchHostFunc(stream, run, w) == cudaSuccess ? SUCCESS : SYSTEM_ERROR;
}

PUBLIC int ncclGetVersion(int *version)
{
  if (fails("ncclGetVersion")) return SYSTEM_ERROR;
  *version = FAKE_NCCL_VERSION;
  return SUCCESS;
}
PUBLIC const char *ncclGetErrorString(int result)
{
  return result == SUCCESS ? "no error" : "a fault that was asked for";
}

PUBLIC int ncclGetUniqueId(Id *id)
{
  if (fails("ncclGetUniqueId")) return SYSTEM_ERROR;
  memset(id, 42, sizeof *id);
  return SUCCESS;
}

PUBLIC int ncclCommInitRank(Comm **comm, int processes, Id id, int rank)
{
  if (fails("ncclCommInitRank")) return SYSTEM_ERROR;
  if (id.bytes[0] != 42 || id.bytes[127] != 42) return INVALID;
  *comm              = calloc(1, sizeof **comm);
  (*comm)->processes = processes;
  (*comm)->rank      = rank;
#ifdef FAKE_NCCL_MPI
  int size, here;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &here);
  if (size != processes || here != rank) return INVALID;
  MPI_Comm_dup(MPI_COMM_WORLD, &(*comm)->mpi);
#endif
  return SUCCESS;
}

PUBLIC int ncclCommDestroy(Comm *comm)
{
  for (Work *w = comm->all, *next; w; w = next) {
    next = w->next;
    free(w);
  }
#ifdef FAKE_NCCL_MPI
  MPI_Comm_free(&comm->mpi);
#endif
  free(comm);
  return SUCCESS;
}
PUBLIC int ncclCommGetAsyncError(Comm *comm, int *result)
{
  (void)comm;
  *result = fails("asynchronous") ? SYSTEM_ERROR : SUCCESS;
  return SUCCESS;
}
#ifndef FAKE_NCCL_WITHOUT_ABORT
PUBLIC int ncclCommAbort(Comm *comm)
{
  #ifdef FAKE_NCCL_MPI
  (void)comm; /* freeing it would take messages to processes that may not answer */
  return SUCCESS;
  #else
  return ncclCommDestroy(comm);
  #endif
}
#endif

PUBLIC int ncclGroupStart(void)
{
  depth++;
  return SUCCESS;
}

PUBLIC int ncclGroupEnd(void)
{
  Work *w = group;

  if (--depth > 0 || !w) return SUCCESS;
  group = NULL;
  return enqueue(w, group_stream);
}

static int add_message(Message m, Comm *comm, cudaStream_t stream)
{
  if (depth == 0) return INVALID; /* petscpack sends in groups only */
  if (!group) group = new_work(comm);
  if (group->count == MOST || m.rank < 0 || m.rank >= comm->processes) return INVALID;
  group->message[group->count++] = m;
  group_stream                   = stream;
  return SUCCESS;
}

PUBLIC int ncclSend(const void *from, size_t n, int type, int rank, Comm *comm, cudaStream_t stream)
{
  if (fails("ncclSend")) return SYSTEM_ERROR;
  return add_message((Message){from, NULL, n * (type == FLOAT ? 4 : 8), rank}, comm, stream);
}
PUBLIC int ncclRecv(void *to, size_t n, int type, int rank, Comm *comm, cudaStream_t stream)
{
  if (fails("ncclRecv")) return SYSTEM_ERROR;
  return add_message((Message){NULL, to, n * (type == FLOAT ? 4 : 8), rank}, comm, stream);
}

PUBLIC int ncclAllReduce(const void *from, void *to, size_t n, int type, int operation, Comm *comm, cudaStream_t stream)
{
  if (fails("ncclAllReduce")) return SYSTEM_ERROR;
  if (type != DOUBLE || operation != SUM) return INVALID;
  Work *w       = new_work(comm);
  w->message[0] = (Message){from, to, n * sizeof(double), -1};
  w->count      = 1;
  return enqueue(w, stream);
}
