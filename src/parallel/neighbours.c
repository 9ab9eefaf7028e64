/* neighbours.c - finds the neighbours of a process, and exchanges items with them by MPI. */
#include "neighbours.h"
#include "sys/compat.h"

/* Makes the arrays of both directions, with the ranks. The caller sets first[..][1] and the following offsets. */
static PetscErrorCode NeighboursCreate(MPI_Comm comm, const int count[2], const int *const rank[2],
                                       PetscPackNeighbours *neighbours)
{
  const size_t        out = (size_t)count[0], in = (size_t)count[1];
  PetscPackNeighbours n;

  PetscFunctionBegin;
  PetscCall(PetscNew(&n));
  *neighbours = n;
  PetscCall(PetscMalloc4(out + in, &n->rank, out + 1, &n->first[0], in + 1, &n->first[1], out + in, &n->request));
  PetscCall(PetscArraycpy(n->rank, rank[0], out));
  PetscCall(PetscArraycpy(n->rank + out, rank[1], in));
  n->first[0][0] = n->first[1][0] = 0;
  n->out                          = (SpmvNeighbours){count[0], n->rank, n->first[0]};
  n->in                           = (SpmvNeighbours){count[1], n->rank + out, n->first[1]};
  PetscCall(PetscCommDuplicate(comm, &n->comm, &n->tag));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackNeighboursDestroy(PetscPackNeighbours *neighbours)
{
  PetscPackNeighbours n = *neighbours;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree4(n->rank, n->first[0], n->first[1], n->request));
  PetscCall(PetscCommDestroy(&n->comm));
  PetscCall(PetscFree(*neighbours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the owners of ascending numbers, and how many of the numbers each has. rank, items: [processes] */
static PetscErrorCode OwnersFind(PetscLayout layout, PetscInt n, const PetscInt number[], PetscMPIInt *owners,
                                 PetscMPIInt rank[], PetscInt items[])
{
  const PetscInt *range;

  PetscFunctionBegin;
  *owners = 0;
  PetscCall(PetscLayoutGetRanges(layout, &range));
  for (PetscInt first = 0, end; first < n; (*owners)++, first = end) {
    PetscCall(PetscLayoutFindOwner(layout, number[first], &rank[*owners]));
    for (PetscInt beyond = n, middle = end = first + 1; end < beyond; middle = end + (beyond - end) / 2) {
      if (number[middle] < range[rank[*owners] + 1]) end = middle + 1;
      else beyond = middle;
    }
    items[*owners] = end - first;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackNeighboursToOwners(PetscLayout layout, PetscInt n, const PetscInt number[],
                                           PetscPackNeighbours *neighbours)
{
  PetscMPIInt *rank[2], count[2];
  PetscInt    *items[2];

  PetscFunctionBegin;
  PetscCall(PetscMalloc2((size_t)layout->size, &rank[0], (size_t)layout->size, &items[0]));
  PetscCall(OwnersFind(layout, n, number, &count[0], rank[0], items[0]));
  PetscCall(PetscCommBuildTwoSided(layout->comm, 1, MPIU_INT, count[0], rank[0], items[0], &count[1], &rank[1],
                                   (void *)&items[1]));
  PetscCall(PetscSortMPIIntWithIntArray(count[1], rank[1], items[1]));
  PetscCall(NeighboursCreate(layout->comm, count, (const int *const *)rank, neighbours));
  for (int way = 0; way < 2; way++) {
    int64_t *first = (*neighbours)->first[way];

    for (int k = 0; k < count[way]; k++) first[k + 1] = first[k] + items[way][k];
  }
  PetscCall(PetscFree2(rank[0], items[0]));
  PetscCall(PetscFree(rank[1]));
  PetscCall(PetscFree(items[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackNeighboursFromOwners(PetscLayout layout, PetscInt n, const PetscInt number[],
                                             PetscPackNeighbours *neighbours, PetscInt **wanted)
{
  SpmvNeighbours asked;

  PetscFunctionBegin;
  PetscCall(PetscPackNeighboursToOwners(layout, n, number, neighbours));
  asked = (*neighbours)->in;
  PetscCall(PetscMalloc1((size_t)PetscPackItems(&asked), wanted));
  PetscCall(PetscPackExchange(*neighbours, MPIU_INT, number, *wanted));
  for (int64_t k = 0; k < PetscPackItems(&asked); k++) (*wanted)[k] -= layout->rstart;
  (*neighbours)->in  = (*neighbours)->out;
  (*neighbours)->out = asked;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackNeighboursOfParts(PetscPackNeighbours whole, const PetscInt out[], const PetscInt in[],
                                          PetscPackNeighbours *parts)
{
  const SpmvNeighbours *of[]     = {&whole->out, &whole->in};
  const int             count[]  = {whole->out.neighbours, whole->in.neighbours};
  const int *const      rank[]   = {whole->out.rank, whole->in.rank};
  const PetscInt       *length[] = {out, in};

  PetscFunctionBegin;
  PetscCall(NeighboursCreate(whole->comm, count, rank, parts));
  for (int way = 0; way < 2; way++)
    for (int k = 0; k < count[way]; k++) {
      int64_t *first = (*parts)->first[way];

      first[k + 1] = first[k];
      for (int64_t item = of[way]->first[k]; item < of[way]->first[k + 1]; item++) first[k + 1] += length[way][item];
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MessageLength(const SpmvNeighbours *n, int k, PetscMPIInt *length)
{
  const int64_t items = n->first[k + 1] - n->first[k];

  PetscFunctionBegin;
  PetscCheck(items <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%lld items for one process are too many for MPI", (long long)items);
  *length = (PetscMPIInt)items;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MPI keeps the order of messages between two processes, so one tag serves all exchanges of an object */
PetscErrorCode PetscPackExchangeBegin(PetscPackNeighbours n, MPI_Datatype type, const void *from, void *to)
{
  MPI_Request *request = n->request;
  PetscMPIInt  bytes, length;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Type_size(type, &bytes));
  for (int k = 0; k < n->in.neighbours; k++) {
    PetscCall(MessageLength(&n->in, k, &length));
    PetscCallMPI(
        MPI_Irecv((char *)to + n->in.first[k] * bytes, length, type, n->in.rank[k], n->tag, n->comm, request++));
  }
  for (int k = 0; k < n->out.neighbours; k++) {
    PetscCall(MessageLength(&n->out, k, &length));
    PetscCallMPI(MPI_Isend((const char *)from + n->out.first[k] * bytes, length, type, n->out.rank[k], n->tag, n->comm,
                           request++));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Not MPI_Waitall(): with MPICH's headers, compilers report that it overruns MPI_STATUSES_IGNORE */
PetscErrorCode PetscPackExchangeEnd(PetscPackNeighbours n)
{
  PetscFunctionBegin;
  for (int k = 0; k < n->in.neighbours + n->out.neighbours; k++)
    PetscCallMPI(MPI_Wait(&n->request[k], MPI_STATUS_IGNORE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackExchange(PetscPackNeighbours n, MPI_Datatype type, const void *from, void *to)
{
  PetscFunctionBegin;
  PetscCall(PetscPackExchangeBegin(n, type, from, to));
  PetscCall(PetscPackExchangeEnd(n));
  PetscFunctionReturn(PETSC_SUCCESS);
}
