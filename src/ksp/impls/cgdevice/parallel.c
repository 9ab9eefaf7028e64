/*
  parallel.c - sums of several processes: by MPI, for which the host waits, or by the GPUs themselves in memory that the
  processes of a host share. The product is that of ../device/matrix.c.
*/
#include "cgdevice.h"

/* ---- sums ---- */

/* Whether the processes, all on one host, have distinct GPUs: then their kernels may wait for each other */
static PetscErrorCode OwnDevices(MPI_Comm comm, PetscMPIInt size, PetscBool *own)
{
  const int64_t mine = spmv_device_place();
  int64_t      *place;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)size, &place));
  PetscCallMPI(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, place, sizeof mine, MPI_BYTE, comm));
  *own = PETSC_TRUE;
  for (PetscMPIInt i = 0; i < size; i++) {
    if (place[i] < 0) *own = PETSC_FALSE;
    for (PetscMPIInt j = 0; j < i; j++)
      if (place[i] == place[j]) *own = PETSC_FALSE;
  }
  PetscCall(PetscFree(place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(PETSC_HAVE_MPI_PROCESS_SHARED_MEMORY)
static PetscErrorCode SharedClose(CGDevParallel *d)
{
  PetscFunctionBegin;
  spmv_cg_shared_close(&d->shared);
  if (d->window != MPI_WIN_NULL) PetscCallMPI(MPI_Win_free(&d->window));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Memory that all processes share, open on each GPU */
static PetscErrorCode SharedOpen(KSP_CGDevice *s, PetscMPIInt rank, PetscMPIInt size, PetscBool *open)
{
  CGDevParallel *d     = &s->parallel;
  const MPI_Aint bytes = (MPI_Aint)(rank == 0 ? spmv_cg_shared_bytes(size) : 0);
  MPI_Aint       there;
  void          *memory;
  int            unit;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, s->all.comm, &memory, &d->window));
  PetscCallMPI(MPI_Win_shared_query(d->window, 0, &there, &unit, &memory));
  if (rank == 0) PetscCall(PetscMemzero(memory, (size_t)bytes));
  PetscCallMPI(MPI_Barrier(s->all.comm));
  d->shared = (SpmvCgShared){.memory = memory, .rank = rank, .processes = size};
  *open     = spmv_cg_shared_open(&d->shared, &s->exec) ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(PetscPackAll(s->all.comm, open));
  if (!*open) PetscCall(SharedClose(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OneHost(MPI_Comm comm, PetscMPIInt size, PetscBool *one)
{
  PetscMPIInt here;
  MPI_Comm    host;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
  PetscCallMPI(MPI_Comm_size(host, &here));
  PetscCallMPI(MPI_Comm_free(&host));
  *one = here == size ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscPackAll(comm, one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums by the GPUs where they can be had and are wanted */
static PetscErrorCode ChooseReduce(KSP_CGDevice *s, PetscMPIInt rank, PetscMPIInt size, PetscBool *shared)
{
  PetscBool own = PETSC_FALSE; /* gcc does not see that it is set whenever the call succeeds */

  PetscFunctionBegin;
  *shared = PETSC_FALSE;
  if (s->reduce == KSP_CGDEVICE_REDUCE_MPI) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(OneHost(s->all.comm, size, shared));
  if (!*shared) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(OwnDevices(s->all.comm, size, &own));
  if (own || s->reduce == KSP_CGDEVICE_REDUCE_SHARED) PetscCall(SharedOpen(s, rank, size, shared));
  else *shared = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
static PetscErrorCode SharedClose(CGDevParallel *d)
{
  (void)d;
  return PETSC_SUCCESS;
}

static PetscErrorCode ChooseReduce(KSP_CGDevice *s, PetscMPIInt rank, PetscMPIInt size, PetscBool *shared)
{
  (void)s;
  (void)rank;
  (void)size;
  *shared = PETSC_FALSE;
  return PETSC_SUCCESS;
}
#endif

/* ---- the engine of several processes ---- */

void CGDevParallelInit(KSP_CGDevice *s)
{
  (void)s;
#if defined(PETSC_HAVE_MPI_PROCESS_SHARED_MEMORY)
  s->parallel.window = MPI_WIN_NULL;
#endif
}

/* Collective where there are several processes */
PetscErrorCode CGDevParallelForget(KSP_CGDevice *s)
{
  PetscFunctionBegin;
  if (s->parallel.open) PetscCall(SharedClose(&s->parallel));
  s->parallel.open = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the engine needs beyond that of one process; how its processes add sums is found out once for each solver */
PetscErrorCode CGDevParallelOptions(KSP_CGDevice *s, SpmvCgOptions *wanted)
{
  CGDevParallel *d = &s->parallel;
  PetscMPIInt    rank, size;
  PetscBool      shared;

  PetscFunctionBegin;
  if (!d->open || d->chosen != s->reduce) {
    PetscCall(CGDevParallelForget(s));
    PetscCallMPI(MPI_Comm_rank(s->all.comm, &rank));
    PetscCallMPI(MPI_Comm_size(s->all.comm, &size));
    PetscCall(ChooseReduce(s, rank, size, &shared));
    d->used    = shared ? KSP_CGDEVICE_REDUCE_SHARED : KSP_CGDEVICE_REDUCE_MPI;
    d->chosen  = s->reduce;
    d->by_gpus = (SpmvProcesses){.ctx = &d->shared, .add = spmv_cg_shared_reduce};
    d->open    = PETSC_TRUE;
  }
  wanted->mode        = SPMV_CG_CHUNK;
  wanted->product     = spmv_operator_product;
  wanted->product_ctx = &s->matrix.call;
  wanted->processes   = d->used == KSP_CGDEVICE_REDUCE_SHARED ? &d->by_gpus : &s->all.call;
  /* the host is never more than one iteration ahead when it waits for sums or ghost values: no use in longer chunks */
  if (wanted->chunk == 0) wanted->chunk = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}
