/*
  parallel.c - solves on several processes: each runs the engine on its rows, on its GPU. A product is MatMult(), which
  sends ghost values while the diagonal block is multiplied; sums are added over the processes by MPI, for which the
  host waits, or by the GPUs themselves in memory that the processes of a host share. p and w are work vectors of KSPCG.
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
  PetscCallMPI(MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, d->all.comm, &memory, &d->window));
  PetscCallMPI(MPI_Win_shared_query(d->window, 0, &there, &unit, &memory));
  if (rank == 0) PetscCall(PetscMemzero(memory, (size_t)bytes));
  PetscCallMPI(MPI_Barrier(d->all.comm));
  d->shared = (SpmvCgShared){.memory = memory, .rank = rank, .processes = size};
  *open     = spmv_cg_shared_open(&d->shared, &s->exec) ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(PetscPackAll(d->all.comm, open));
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
  CGDevParallel *d   = &s->parallel;
  PetscBool      own = PETSC_FALSE; /* gcc does not see that it is set whenever the call succeeds */

  PetscFunctionBegin;
  *shared = PETSC_FALSE;
  if (s->reduce == KSP_CGDEVICE_REDUCE_MPI) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(OneHost(d->all.comm, size, shared));
  if (!*shared) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(OwnDevices(d->all.comm, size, &own));
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

/* ---- products ---- */

/* w = A p by PETSc, in the vectors that p and w are the entries of */
static PetscErrorCode Multiply(KSP_CGDevice *s)
{
  CGDevParallel *d = &s->parallel;

  PetscFunctionBegin;
  PetscCall(AIJFmtVectorBegin(&d->p)); /* the engine has changed it: a copy on the host is old */
  PetscCall(AIJFmtVectorEnd(&d->p));
  PetscCall(AIJFmtVectorFetch(&s->exec, &d->p));
  PetscCall(MatMult(d->A, d->p.vec, d->w.vec));
  PetscCall(AIJFmtVectorSend(&s->exec, &d->w));
  PetscCall(AIJFmtVectorBegin(&d->w)); /* the engine will read it there */
  PetscCall(AIJFmtVectorEnd(&d->w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static SpmvStatus Product(void *ctx, const void *p, void *w, SpmvExec *exec)
{
  (void)p;
  (void)w;
  return Multiply((KSP_CGDevice *)ctx) ? spmv_fail(exec, SPMV_ERR_ARGUMENT, "MatMult() failed") : SPMV_SUCCESS;
}

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
  CGDevParallel *d = &s->parallel;

  PetscFunctionBegin;
  AIJFmtVectorFree(&s->exec, &d->p);
  AIJFmtVectorFree(&s->exec, &d->w);
  if (d->all.open) PetscCall(SharedClose(d));
  PetscCall(PetscPackProcessesClose(&d->all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Once for each solver: how its processes add sums. Leaves a reason where there is no memory for them. */
static PetscErrorCode Open(KSP ksp, KSP_CGDevice *s)
{
  CGDevParallel *d = &s->parallel;
  PetscMPIInt    rank, size;
  PetscBool      shared;
  SpmvStatus     status;

  PetscFunctionBegin;
  if (d->all.open && d->chosen == s->reduce) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CGDevParallelForget(s));
  PetscCall(PetscPackProcessesOpen(&d->all, PetscObjectComm((PetscObject)ksp), &s->exec, &status));
  PetscCall(KSPDevRefuse(KSPDEV(s), status));
  PetscCallMPI(MPI_Comm_rank(d->all.comm, &rank));
  PetscCallMPI(MPI_Comm_size(d->all.comm, &size));
  PetscCall(ChooseReduce(s, rank, size, &shared));
  d->used   = shared ? KSP_CGDEVICE_REDUCE_SHARED : KSP_CGDEVICE_REDUCE_MPI;
  d->chosen = s->reduce;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the entries of p or w are on the device */
static PetscErrorCode PlaceOnDevice(KSP_CGDevice *s, AIJFmtVector *v, Vec vec)
{
  PetscFunctionBegin;
  PetscCall(KSPDevVectorPlace(KSPDEV(s), v, vec));
  if (s->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtVectorBegin(v));
  PetscCall(AIJFmtVectorEnd(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the engine needs beyond that of one process */
PetscErrorCode CGDevParallelOptions(KSP ksp, KSP_CGDevice *s, Mat A, SpmvCgOptions *wanted)
{
  CGDevParallel *d = &s->parallel;

  PetscFunctionBegin;
  PetscCall(Open(ksp, s));
  d->A = A;
  if (s->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PlaceOnDevice(s, &d->p, ksp->work[2]));
  if (!s->reason[0]) PetscCall(PlaceOnDevice(s, &d->w, ksp->work[1]));
  s->matrix.nonzeros  = 0; /* MatMult() logs its own operations */
  wanted->mode        = SPMV_CG_CHUNK;
  wanted->p           = d->p.data;
  wanted->w           = d->w.data;
  wanted->product     = Product;
  wanted->product_ctx = s;
  d->by_gpus          = (SpmvProcesses){.ctx = &d->shared, .add = spmv_cg_shared_reduce};
  wanted->processes   = d->used == KSP_CGDEVICE_REDUCE_SHARED ? &d->by_gpus : &d->all.call;
  /* the host is never more than one iteration ahead when it waits for sums or ghost values: no use in longer chunks */
  if (wanted->chunk == 0) wanted->chunk = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}
