/*
  aggdevice_prolongator.c - the tentative prolongator P0 of a level, from its aggregates and near-null space. It is made
  where the aggregates are, or on the host if device memory does not suffice. On the device, aggdevice_smooth.c takes it
  without a matrix; otherwise it becomes a matrix of the type of the level's.
*/
#include "aggdevice.h"
#include "mat/impls/lists/coo.h"
#include "parallel/processes.h"

/* P0 and the near-null space of the next level, in the space of an exec and on the host */
typedef struct {
  PetscInt     rows, cols, nnz;
  int64_t      bytes[4]; /* of row pointers, columns, values, near-null space */
  char        *block;    /* all four arrays in a row */
  void        *host;     /* the same on the host; equal to block if that is on the host */
  PetscInt    *row_ptr, *col;
  PetscScalar *values, *coarse;
} Tentative;

static int64_t Aligned(int64_t bytes) { return (bytes + 255) / 256 * 256; }

static void SizesGet(const SpmvTentative *t, Tentative *p)
{
  p->rows     = (PetscInt)(t->vertices * t->block_size);
  p->cols     = (PetscInt)(t->found.count * t->columns);
  p->nnz      = (PetscInt)spmv_tentative_nnz(t);
  p->bytes[0] = Aligned((p->rows + 1) * (int64_t)sizeof(PetscInt));
  p->bytes[1] = Aligned(p->nnz * (int64_t)sizeof(PetscInt));
  p->bytes[2] = Aligned(p->nnz * (int64_t)sizeof(PetscScalar));
  p->bytes[3] = Aligned(p->cols * (int64_t)t->columns * (int64_t)sizeof(PetscScalar));
}

/* Makes P0. Meanwhile the near-null space of the host is copied to the space of exec. */
static SpmvStatus Make(SpmvTentative *t, const void *near_null, Tentative *p, SpmvExec *exec)
{
  static const PetscScalar nothing =
      0; /* a process without rows passes no vectors: NULL would mean the vectors of components */

  const int64_t bytes = t->columns * t->vertices * t->block_size * (int64_t)sizeof(PetscScalar);
  void         *memory, *copy = NULL;
  SpmvStatus    status;

  SizesGet(t, p);
  status = spmv_alloc(exec, exec->space, p->bytes[0] + p->bytes[1] + p->bytes[2] + p->bytes[3], "prolongator", &memory);
  if (status) return status;
  p->block = (char *)memory;
  if (exec->space == SPMV_DEVICE) {
    status = spmv_alloc(exec, SPMV_DEVICE, bytes, "near-null space", &copy);
    if (!status) status = spmv_copy(copy, SPMV_DEVICE, near_null, SPMV_HOST, bytes, exec);
  }
  t->near_null = copy ? copy : near_null ? near_null : &nothing;
  if (!status)
    status = spmv_tentative(t, p->block, p->block + p->bytes[0], p->block + p->bytes[0] + p->bytes[1],
                            p->block + p->bytes[0] + p->bytes[1] + p->bytes[2], exec);
  if (!status) status = spmv_stream_wait(exec);
  spmv_scratch_free(exec, exec->space, copy);
  return status;
}

/* If device memory does not suffice, moves the aggregates and all later steps to the host */
static SpmvStatus GoToHost(PC_AggDevice *a, SpmvTentative *t, Tentative *p)
{
  const int64_t bytes = a->vertices * (int64_t)sizeof(int32_t);
  void         *memory;
  SpmvStatus    status;

  spmv_scratch_free(&a->exec, a->exec.space, p->block);
  p->block = NULL;
  status   = spmv_alloc(&a->exec, SPMV_HOST, bytes, "aggregates", &memory);
  if (status) return status;
  status = spmv_copy(memory, SPMV_HOST, a->aggregate, SPMV_DEVICE, bytes, &a->exec);
  if (!status) status = spmv_stream_wait(&a->exec);
  if (status) {
    spmv_exec_free(&a->exec, SPMV_HOST, memory);
    return status;
  }
  spmv_scratch_free(&a->exec, SPMV_DEVICE, a->aggregate);
  a->aggregate = (int32_t *)memory;
  t->aggregate = a->aggregate;
  a->info.levels_device--;
  a->info.levels_host++;
  spmv_exec_init(&a->exec, SPMV_HOST);
  return SPMV_SUCCESS;
}

/* Sets the addresses of the arrays in a block on the device, or in its copy on the host */
static void ArraysSet(Tentative *p, void *block)
{
  char *const start = (char *)block;

  p->row_ptr = (PetscInt *)start;
  p->col     = (PetscInt *)(start + p->bytes[0]);
  p->values  = (PetscScalar *)(start + p->bytes[0] + p->bytes[1]);
  p->coarse  = (PetscScalar *)(start + p->bytes[0] + p->bytes[1] + p->bytes[2]);
}

/* Copies arrays on the device to p->host. Collective; an error on all processes if one fails. */
static PetscErrorCode Download(PC_AggDevice *a, MPI_Comm comm, const void *from, int64_t bytes, Tentative *p)
{
  SpmvStatus status = SPMV_SUCCESS;

  PetscFunctionBegin;
  if (a->exec.space == SPMV_DEVICE) {
    PetscCall(PetscMalloc(bytes, &p->host));
    status = spmv_copy(p->host, SPMV_HOST, from, SPMV_DEVICE, bytes, &a->exec);
    if (!status) status = spmv_stream_wait(&a->exec);
    PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
  }
  status = PetscPackAgreeStatus(comm, &a->exec, status);
  AIJFmtCallSpmv(&a->exec, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies all arrays to the host */
static PetscErrorCode Fetch(PC_AggDevice *a, MPI_Comm comm, Tentative *p)
{
  PetscFunctionBegin;
  p->host = p->block;
  PetscCall(Download(a, comm, p->block, p->bytes[0] + p->bytes[1] + p->bytes[2] + p->bytes[3], p));
  ArraysSet(p, p->host);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FreeAll(PC_AggDevice *a, Tentative *p)
{
  PetscFunctionBegin;
  if (p->host != p->block) PetscCall(PetscFree(p->host));
  spmv_scratch_free(&a->exec, a->exec.space, p->block);
  p->block = NULL;
  p->host  = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix with the sizes of P0 and no type; NULL if no process has an aggregate */
static PetscErrorCode SizesToMatrix(Mat A, const Tentative *p, PetscInt columns, Mat *P)
{
  PetscInt rows_of_block, all;

  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(A, &rows_of_block));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), P));
  PetscCall(MatSetSizes(*P, p->rows, p->cols, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSizes(*P, rows_of_block, columns));
  PetscCall(PetscLayoutSetUp((*P)->rmap));
  PetscCall(PetscLayoutSetUp((*P)->cmap));
  PetscCall(MatGetSize(*P, NULL, &all));
  if (all == 0) PetscCall(MatDestroy(P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills the matrix from the arrays on the host */
static PetscErrorCode FromHost(Tentative *p, Mat P)
{
  PetscInt    first, last;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)P), &size));
  PetscCall(MatGetOwnershipRangeColumn(P, &first, &last));
  for (PetscInt k = 0; k < p->nnz && first > 0; k++) p->col[k] += first;
  if (size > 1) PetscCall(MatMPIAIJSetPreallocationCSR(P, p->row_ptr, p->col, p->values));
  else PetscCall(MatSeqAIJSetPreallocationCSR(P, p->row_ptr, p->col, p->values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the near-null space of this level by that of the next one */
static PetscErrorCode SetNearNull(PC_GAMG *gamg, const Tentative *p, PetscInt columns)
{
  const PetscInt n = p->cols * columns;

  PetscFunctionBegin;
  PetscCall(PetscFree(gamg->data));
  PetscCall(PetscMalloc1(n, &gamg->data));
  for (PetscInt i = 0; i < n; i++) gamg->data[i] = PetscRealPart(p->coarse[i]);
  gamg->data_cell_rows = columns;
  gamg->data_sz        = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether aggdevice_smooth.c takes P0 on the device, without a matrix */
static PetscErrorCode StaysOnDevice(PC pc, const PC_AggDevice *a, Mat A, PetscBool *stays)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  *stays = size == 1 && a->exec.space == SPMV_DEVICE && a->options.smooths > 0 && !AIJFmtGamgFilters(PetscPackGamg(pc))
               ? PETSC_TRUE
               : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P0 on the device */
static SpmvCsr CsrThere(const Tentative *p)
{
  return (SpmvCsr){.pattern      = {.rows       = p->rows,
                                    .cols       = p->cols,
                                    .nnz        = p->nnz,
                                    .index_type = AIJFMT_INDEX,
                                    .space      = SPMV_DEVICE,
                                    .row_ptr    = p->row_ptr,
                                    .col        = p->col},
                   .scalar_type  = AIJFMT_SCALAR,
                   .values_space = SPMV_DEVICE,
                   .values       = p->values};
}

/* Copies only the near-null space of the next level to the host */
static PetscErrorCode FetchNearNull(PC_AggDevice *a, MPI_Comm comm, Tentative *p, PetscInt columns)
{
  PetscFunctionBegin;
  PetscCall(Download(a, comm, p->coarse, p->cols * (int64_t)columns * (int64_t)sizeof(PetscScalar), p));
  p->coarse = (PetscScalar *)p->host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Leaves P0 to aggdevice_smooth.c */
static PetscErrorCode Leave(PC_AggDevice *a, PC_GAMG *gamg, Tentative *p, PetscInt columns)
{
  PetscFunctionBegin;
  ArraysSet(p, p->block);
  a->p0_block = p->block;
  a->p0       = CsrThere(p);
  p->block    = NULL;
  PetscCall(FetchNearNull(a, PETSC_COMM_SELF, p, columns));
  PetscCall(SetNearNull(gamg, p, columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills the matrix of several processes on the GPU. Collective; *filled is false if one of them cannot. */
static PetscErrorCode FromDevice(PC_AggDevice *a, Tentative *p, Mat P, PetscBool *filled)
{
  char        reason[SPMV_MESSAGE_MAX] = "";
  PetscMPIInt size;
  SpmvCsr     there;

  PetscFunctionBegin;
  *filled = PETSC_FALSE;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)P), &size));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  if (a->exec.space == SPMV_HOST) PetscCall(PetscStrncpy(reason, "the aggregates are on the host", sizeof reason));
  PetscCall(PetscPackAgree(PetscObjectComm((PetscObject)P), reason));
  if (reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  ArraysSet(p, p->block);
  there = CsrThere(p);
  PetscCall(AIJFmtParallelFromDevice(P, &there, &a->exec, reason));
  *filled = reason[0] ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes P0 a matrix of the type of A */
static PetscErrorCode ToMatrix(PC_AggDevice *a, Mat A, Tentative *p, PetscInt columns, Mat P)
{
  const MPI_Comm comm   = PetscObjectComm((PetscObject)A);
  PetscBool      filled = PETSC_FALSE; /* gcc does not see that it is set whenever the call succeeds */

  PetscFunctionBegin;
  PetscCall(MatSetType(P, ((PetscObject)A)->type_name));
  PetscCall(MatBindToCPU(P, AIJFmtBoundToCPU(A)));
  PetscCall(FromDevice(a, p, P, &filled));
  if (filled) PetscCall(FetchNearNull(a, comm, p, columns));
  else {
    PetscCall(Fetch(a, comm, p));
    PetscCall(FromHost(p, P));
  }
  a->p0_local = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Prolongator(PC pc, PC_AggDevice *a, Mat A, Mat *P)
{
  PC_GAMG       *gamg    = PetscPackGamg(pc);
  const PetscInt columns = gamg->data_cell_cols;
  Tentative      p       = {.block = NULL};
  PetscInt       block_size;
  PetscBool      stays = PETSC_FALSE; /* gcc does not see that it is set whenever the call succeeds */
  SpmvTentative  t;
  SpmvStatus     status;

  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(A, &block_size));
  PetscCheck(A->rmap->n == a->vertices * block_size, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "a graph of %" PetscInt_FMT " vertices for %" PetscInt_FMT " rows in blocks of %" PetscInt_FMT,
             a->vertices, A->rmap->n, block_size);
  t      = (SpmvTentative){.vertices    = a->vertices,
                           .found       = a->found,
                           .aggregate   = a->aggregate,
                           .block_size  = (int)block_size,
                           .columns     = (int)columns,
                           .index_type  = AIJFMT_INDEX,
                           .scalar_type = AIJFMT_SCALAR};
  status = Make(&t, gamg->data, &p, &a->exec);
  if (status == SPMV_ERR_MEMORY && a->exec.space == SPMV_DEVICE) {
    status = GoToHost(a, &t, &p);
    if (!status) status = Make(&t, gamg->data, &p, &a->exec);
  }
  status = PetscPackAgreeStatus(PetscObjectComm((PetscObject)A), &a->exec, status);
  AIJFmtCallSpmv(&a->exec, status);
  PetscCall(StaysOnDevice(pc, a, A, &stays));
  PetscCall(SizesToMatrix(A, &p, columns, P));
  if (*P && stays) PetscCall(Leave(a, gamg, &p, columns));
  else if (*P) {
    PetscCall(ToMatrix(a, A, &p, columns, *P));
    PetscCall(SetNearNull(gamg, &p, columns));
  }
  PetscCall(FreeAll(a, &p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if AIJFMT_GAMG_PROLONGATOR_HAS_GRAPH
PetscErrorCode AggDevProlongator(PC pc, Mat A, Mat G, PetscCoarsenData *lists, Mat *P)
#else
PetscErrorCode AggDevProlongator(PC pc, Mat A, PetscCoarsenData *lists, Mat *P)
#endif
{
  PC_AggDevice *a;

  PetscFunctionBegin;
  PetscCall(AggDevGet(pc, &a));
  PetscCall(AggDevForgetTentative(a));
  a->p0_local = PETSC_FALSE;
  if (!a->ours) {
#if AIJFMT_GAMG_PROLONGATOR_HAS_GRAPH
    PetscCall((*a->agg.ops.prolongator)(pc, A, G, lists, P));
#else
    PetscCall((*a->agg.ops.prolongator)(pc, A, lists, P));
#endif
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *P = NULL;
  PetscCall(PetscLogEventBegin(AggDev_Prolongator, pc, A, 0, 0));
  PetscCall(Prolongator(pc, a, A, P));
  PetscCall(AggDevForgetLevel(a));
  PetscCall(PetscLogEventEnd(AggDev_Prolongator, pc, A, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
