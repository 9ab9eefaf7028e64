/*
  aggdevice_prolongator.c - the tentative prolongator P0 of a level, from its aggregates and near-null space. It is made
  where the aggregates are, or on the host if device memory does not suffice. On the device, aggdevice_smooth.c takes it
  without a matrix; otherwise it becomes a matrix of the type of the level's.
*/
#include "aggdevice.h"
#include "mat/impls/aij/aijfmt.h"
#include "parallel/processes.h"

/* P0, in the space of an exec and on the host, and the near-null space of the next level, in the space of the exec */
typedef struct {
  PetscInt     rows, cols, nnz;
  int64_t      bytes[3]; /* of row pointers, columns, values */
  char        *block;    /* all three arrays in a row */
  void        *host;     /* the same on the host; equal to block if that is on the host */
  PetscInt    *row_ptr, *col;
  PetscScalar *values;
  void        *coarse; /* the near-null space */
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
}

/* Makes P0 */
static SpmvStatus Make(const SpmvTentative *t, Tentative *p, SpmvExec *exec)
{
  const int64_t coarse = p->cols * (int64_t)t->columns * (int64_t)sizeof(PetscScalar);
  void         *memory;
  SpmvStatus    status;

  status = spmv_alloc(exec, exec->space, p->bytes[0] + p->bytes[1] + p->bytes[2], "prolongator", &memory);
  if (status) return status;
  p->block = (char *)memory;
  status   = spmv_alloc(exec, exec->space, coarse, "near-null space of the next level", &p->coarse);
  if (!status)
    status = spmv_tentative(t, p->block, p->block + p->bytes[0], p->block + p->bytes[0] + p->bytes[1], p->coarse, exec);
  return status;
}

/* Makes P0 from the near-null space of this level */
static PetscErrorCode MakeFromNear(PC pc, PC_AggDevice *a, Mat A, SpmvTentative *t, Tentative *p, SpmvStatus *status)
{
  void *copy;

  PetscFunctionBegin;
  SizesGet(t, p);
  PetscCall(AggDevNearGet(pc, a, A, &t->near_null, &copy, status));
  if (!*status) *status = Make(t, p, &a->exec);
  spmv_scratch_free(&a->exec, a->exec.space, copy);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If device memory does not suffice, moves the aggregates and all later steps to the host */
static SpmvStatus GoToHost(PC_AggDevice *a, SpmvTentative *t, Tentative *p)
{
  const int64_t bytes = a->vertices * (int64_t)sizeof(int32_t);
  void         *memory;
  SpmvStatus    status;

  spmv_scratch_free(&a->exec, a->exec.space, p->block);
  spmv_scratch_free(&a->exec, a->exec.space, p->coarse);
  p->block  = NULL;
  p->coarse = NULL;
  status    = spmv_alloc(&a->exec, SPMV_HOST, bytes, "aggregates", &memory);
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
}

/* Copies P0 to the host. Collective; an error on all processes if one fails. */
static PetscErrorCode Fetch(PC_AggDevice *a, MPI_Comm comm, Tentative *p)
{
  const int64_t bytes  = p->bytes[0] + p->bytes[1] + p->bytes[2];
  SpmvStatus    status = SPMV_SUCCESS;

  PetscFunctionBegin;
  p->host = p->block;
  if (a->exec.space == SPMV_DEVICE) {
    PetscCall(PetscMalloc(bytes, &p->host));
    PetscCall(AIJFmtFetch(&a->exec, p->block, SPMV_DEVICE, bytes, p->host, &status));
  }
  status = PetscPackAgreeStatus(comm, &a->exec, status);
  AIJFmtCallSpmv(&a->exec, status);
  ArraysSet(p, p->host);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FreeAll(PC_AggDevice *a, Tentative *p)
{
  PetscFunctionBegin;
  if (p->host != p->block) PetscCall(PetscFree(p->host));
  spmv_scratch_free(&a->exec, a->exec.space, p->block);
  spmv_scratch_free(&a->exec, a->exec.space, p->coarse);
  p->block  = NULL;
  p->coarse = NULL;
  p->host   = NULL;
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

/* Whether all processes can make a matrix like A from what they have on the device */
static PetscErrorCode DeviceMakesMatrix(const PC_AggDevice *a, Mat A, PetscBool *makes)
{
  Mat_AIJFmt *s;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(AIJFmtStateGet(A, &s));
  *makes = a->exec.space == SPMV_DEVICE && (size == 1 || s) ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscPackAll(PetscObjectComm((PetscObject)A), makes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether aggdevice_smooth.c takes P0 on the device, without a matrix */
static PetscErrorCode StaysOnDevice(PC pc, const PC_AggDevice *a, Mat A, PetscBool *stays)
{
  const PetscInt smooths = a->options.smooths;
  PetscMPIInt    size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(DeviceMakesMatrix(a, A, stays));
  if (smooths == 0 || (size > 1 && smooths > 1) || AIJFmtGamgFilters(PetscPackGamg(pc))) *stays = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives P the type of A */
PetscErrorCode AggDevSetTypeLike(Mat A, Mat P)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s) PetscCall(AIJFmtSetTypeLike(A, P));
  else PetscCall(MatSetType(P, ((PetscObject)A)->type_name));
  PetscCall(MatBindToCPU(P, AIJFmtBoundToCPU(A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P0 on the device */
static SpmvCsr CsrThere(const Tentative *p)
{
  return AIJFmtCsrOnDevice(p->rows, p->cols, p->nnz, p->row_ptr, p->col, p->values);
}

/* Leaves P0 to aggdevice_smooth.c */
static void Leave(PC_AggDevice *a, Tentative *p)
{
  ArraysSet(p, p->block);
  a->p0_there = PETSC_TRUE;
  a->p0_block = p->block;
  a->p0       = CsrThere(p);
  p->block    = NULL;
}

/* P becomes P0, whose local rows are on the device. Collective. */
PetscErrorCode AggDevTentativeToMatrix(Mat P, const SpmvCsr *p0, SpmvExec *exec)
{
  SpmvCsr   nothing = *p0; /* in the columns of other processes; on the host */
  PetscInt *row_ptr;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1((size_t)p0->pattern.rows + 1, &row_ptr));
  nothing.pattern.nnz     = 0;
  nothing.pattern.row_ptr = row_ptr;
  nothing.pattern.space   = SPMV_HOST;
  PetscCall(AggDevToMatrix(P, p0, &nothing, exec));
  PetscCall(PetscFree(row_ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes P0 a matrix of the type of A */
static PetscErrorCode ToMatrix(PC_AggDevice *a, Mat A, Tentative *p, Mat P)
{
  PetscBool   makes = PETSC_FALSE; /* gcc does not see that it is set whenever the call succeeds */
  PetscMPIInt size;
  SpmvCsr     there;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(AggDevSetTypeLike(A, P));
  if (size > 1) PetscCall(DeviceMakesMatrix(a, A, &makes));
  if (makes) {
    ArraysSet(p, p->block);
    there = CsrThere(p);
    PetscCall(AggDevTentativeToMatrix(P, &there, &a->exec));
  } else {
    PetscCall(Fetch(a, PetscObjectComm((PetscObject)A), p));
    PetscCall(FromHost(p, P));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Prolongator(PC pc, PC_AggDevice *a, Mat A, Mat *P)
{
  const PetscInt columns = PetscPackGamg(pc)->data_cell_cols;
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
  t            = (SpmvTentative){.vertices    = a->vertices,
                                 .found       = a->found,
                                 .aggregate   = a->aggregate,
                                 .block_size  = (int)block_size,
                                 .columns     = (int)columns,
                                 .index_type  = AIJFMT_INDEX,
                                 .scalar_type = AIJFMT_SCALAR,
                                 .counted     = 1};
  a->p0_blocks = (SpmvBlocks){t.block_size, t.columns};
  PetscCall(MakeFromNear(pc, a, A, &t, &p, &status));
  if (status == SPMV_ERR_MEMORY && a->exec.space == SPMV_DEVICE) {
    status = GoToHost(a, &t, &p);
    if (!status) PetscCall(MakeFromNear(pc, a, A, &t, &p, &status));
  }
  status = PetscPackAgreeStatus(PetscObjectComm((PetscObject)A), &a->exec, status);
  AIJFmtCallSpmv(&a->exec, status);
  PetscCall(StaysOnDevice(pc, a, A, &stays));
  PetscCall(SizesToMatrix(A, &p, columns, P));
  if (*P && stays) Leave(a, &p);
  else if (*P) PetscCall(ToMatrix(a, A, &p, *P));
  if (*P) PetscCall(AggDevNearLeave(pc, a, &p.coarse, columns, p.cols * columns));
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
  if (!a->ours) {
    PetscCall(AggDevDataToHost(pc, a));
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
