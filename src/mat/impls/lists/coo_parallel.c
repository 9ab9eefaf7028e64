/*
  coo_parallel.c - lists of coordinates of parallel matrices.

  Off-process entries are in rows that another process owns. Their rows and columns are sent to the owner once, in
  MatSetPreallocationCOO(). Their values are sent in each MatSetValuesCOO(): packed on the GPU in the same order, then
  sent from the host. So each process has a list of two parts, its own entries and the received ones, from which the
  kernel library makes the patterns of the diagonal and the off-diagonal block. Either all processes sort on the GPU, or
  PETSc sorts on all.
*/
#include "coo.h"
#include "parallel/processes.h"

/* ---- the list ---- */

/* Records MAT_IGNORE_OFF_PROC_ENTRIES, which MatGetOption() does not return */
PetscErrorCode MatSetOption_MPIAIJFmt(Mat A, MatOption option, PetscBool flag)
{
  const AIJFmtParent *parent;
  Mat_AIJFmt         *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentOf(A, &parent));
  PetscCall(parent->mpi.setoption(A, option, flag));
  PetscCall(AIJFmtStateGet(A, &s));
  if (s && option == MAT_IGNORE_OFF_PROC_ENTRIES)
    s->off_process = flag ? AIJFMT_OFF_PROCESS_IGNORED : AIJFMT_OFF_PROCESS_SENT;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Page-locked memory for messages with so many values, or rows and columns, of off-process entries */
static SpmvStatus MessageAlloc(AIJFmtCoo *coo, int64_t items, void **here)
{
  const size_t each = PetscMax(sizeof(PetscScalar), 2 * sizeof(PetscInt));

  return items > 0 ? spmv_pinned_alloc(&coo->exec, items * (int64_t)each, here) : SPMV_SUCCESS;
}

/* Copies the rows, then the columns, of the off-process entries to the host */
static SpmvStatus OthersFetch(AIJFmtCoo *coo, const SpmvCooPart *other)
{
  const int64_t bytes  = other->count * (int64_t)sizeof(PetscInt);
  SpmvStatus    status = MessageAlloc(coo, other->count, &coo->here[0]);
  char         *to     = (char *)coo->here[0];

  if (!status && bytes > 0) status = spmv_copy(to, SPMV_HOST, other->i, SPMV_DEVICE, bytes, &coo->exec);
  if (!status && bytes > 0) status = spmv_copy(to + bytes, SPMV_HOST, other->j, SPMV_DEVICE, bytes, &coo->exec);
  return status ? status : spmv_stream_wait(&coo->exec);
}

/* Finds the off-process entries and the processes with which they are exchanged. Collective. */
static PetscErrorCode FindOthers(Mat A, const Mat_AIJFmt *s, const SpmvCooList *list, AIJFmtCoo *coo,
                                 char reason[SPMV_MESSAGE_MAX])
{
  const MPI_Comm comm  = PetscObjectComm((PetscObject)A);
  SpmvCooPart    other = {.count = 0};

  PetscFunctionBegin;
  if (!reason[0] && s->off_process != AIJFMT_OFF_PROCESS_IGNORED) {
    PetscCall(AIJFmtCooRefuse(&coo->exec, spmv_coo_others(list, &coo->exec, &coo->others), reason));
    if (!reason[0]) spmv_coo_others_part(coo->others, &other);
  }
  if (other.count != (int64_t)(PetscInt)other.count)
    PetscCall(PetscSNPrintf(reason, SPMV_MESSAGE_MAX, "%lld entries with rows of other processes are too many",
                            (long long)other.count));
  else if (other.count > 0 && A->nooffprocentries)
    PetscCall(PetscStrncpy(reason, "MAT_NO_OFF_PROC_ENTRIES is set, and there are such entries", SPMV_MESSAGE_MAX));
  else if (other.count > 0 && s->off_process == AIJFMT_OFF_PROCESS_UNKNOWN)
    PetscCall(PetscStrncpy(reason,
                           "it has entries with rows of other processes, and got its type by a conversion: "
                           "PETSc does not tell whether MAT_IGNORE_OFF_PROC_ENTRIES is set",
                           SPMV_MESSAGE_MAX));
  else if (!reason[0]) PetscCall(AIJFmtCooRefuse(&coo->exec, OthersFetch(coo, &other), reason));
  PetscCall(PetscPackAgree(comm, reason));
  if (reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
      PetscPackNeighboursToOwners(A->rmap, (PetscInt)other.count, (const PetscInt *)coo->here[0], &coo->neighbours));
  coo->bytes[0] = PetscPackItems(&coo->neighbours->out) * (int64_t)sizeof(PetscScalar);
  coo->bytes[1] = PetscPackItems(&coo->neighbours->in) * (int64_t)sizeof(PetscScalar);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates the other buffers for off-process entries */
static SpmvStatus MessagesAlloc(AIJFmtCoo *coo)
{
  void **const     array[] = {&coo->there[0], &coo->there[1]};
  const SpmvStatus status =
      spmv_alloc_arrays(&coo->exec, SPMV_DEVICE, 2, coo->bytes, "values for other processes", array, &coo->values);

  return status ? status : MessageAlloc(coo, PetscPackItems(&coo->neighbours->in), &coo->here[1]);
}

/* All processes go on, or all have a reason not to. Collective. */
static PetscErrorCode SortAgree(Mat A, AIJFmtCoo *coo, SpmvStatus status, char reason[SPMV_MESSAGE_MAX])
{
  PetscFunctionBegin;
  /* ignored entries may be in any row, even outside the matrix: PETSc then gets the list */
  if (coo->others) PetscCall(AIJFmtCooRefuse(&coo->exec, status, reason));
  else PetscCall(AIJFmtRefuse(&coo->exec, status, reason));
  PetscCall(PetscPackAgree(PetscObjectComm((PetscObject)A), reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings a part of a list from the host to the device. The caller frees *block, which is NULL for an empty part. */
static SpmvStatus CooPartUpload_AIJFmt(AIJFmtCoo *coo, SpmvCooPart *part, void **block)
{
  const int64_t bytes = part->count * (int64_t)sizeof(PetscInt), both[] = {bytes, bytes};
  const void   *from[]  = {part->i, part->j};
  void         *to[2]   = {NULL};
  void **const  array[] = {&to[0], &to[1]};
  SpmvStatus    status  = spmv_alloc_arrays(&coo->exec, SPMV_DEVICE, 2, both, "COO list", array, block);

  for (int a = 0; a < 2 && !status && bytes > 0; a++)
    status = spmv_copy(to[a], coo->exec.space, from[a], SPMV_HOST, bytes, &coo->exec);
  part->i = to[0];
  part->j = to[1];
  return status;
}

/* Makes the patterns of both blocks from a list on the device. Collective. */
static PetscErrorCode SortBlocks(Mat A, const SpmvCooList *list, AIJFmtCoo *coo, char reason[SPMV_MESSAGE_MAX])
{
  const int64_t sent = PetscPackItems(&coo->neighbours->out), received = PetscPackItems(&coo->neighbours->in);
  SpmvCooList   there = *list;
  PetscInt     *i, *i2, *j2;
  void         *block = NULL;
  SpmvStatus    status;

  PetscFunctionBegin;
  PetscCall(SortAgree(A, coo, MessagesAlloc(coo), reason));
  if (reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  i  = (PetscInt *)coo->here[0];
  i2 = (PetscInt *)coo->here[1];
  j2 = i2 ? i2 + received : NULL;
  PetscCall(PetscPackExchange(coo->neighbours, MPIU_INT, i, i2));
  PetscCall(PetscPackExchange(coo->neighbours, MPIU_INT, i ? i + sent : NULL, j2));
  PetscCall(PetscLogGpuTimeBegin());
  there.part[1] = (SpmvCooPart){.count = received, .i = i2, .j = j2};
  status        = CooPartUpload_AIJFmt(coo, &there.part[1], &block);
  for (there.outside = 0; there.outside < 2 && !status; there.outside++)
    status = spmv_coo_create(&there, &coo->exec, &coo->block[there.outside]);
  spmv_scratch_free(&coo->exec, coo->exec.space, block);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(SortAgree(A, coo, status, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes *coo, or sets the reason why PETSc must sort the list. Collective. */
static PetscErrorCode CooSort_MPIAIJFmt(Mat A, Mat_AIJFmt *s, PetscCount n, const PetscInt i[], const PetscInt j[],
                                        SpmvSpace space, AIJFmtCoo **coo, char reason[SPMV_MESSAGE_MAX])
{
  SpmvCooList list  = {.part       = {{.count = n, .i = i, .j = j}},
                       .index_type = AIJFMT_INDEX,
                       .space      = space,
                       .all_rows   = A->rmap->N,
                       .all_cols   = A->cmap->N,
                       .first_row  = A->rmap->rstart,
                       .rows       = A->rmap->n,
                       .first_col  = A->cmap->rstart,
                       .own_cols   = A->cmap->n};
  void       *block = NULL;

  PetscFunctionBegin;
  PetscCall(AIJFmtCooFree(&s->coo));
  PetscCall(AIJFmtCooCreate(n, coo));
  if (list.space == SPMV_HOST) {
    PetscCall(AIJFmtCooRefuse(&(*coo)->exec, CooPartUpload_AIJFmt(*coo, &list.part[0], &block), reason));
    PetscCall(PetscLogCpuToGpu(2.0 * (PetscLogDouble)n * (PetscLogDouble)sizeof *i));
    list.space = SPMV_DEVICE;
  }
  PetscCall(FindOthers(A, s, &list, *coo, reason));
  if (!reason[0]) PetscCall(SortBlocks(A, &list, *coo, reason));
  spmv_scratch_free(&(*coo)->exec, SPMV_DEVICE, block);
  if (reason[0]) PetscCall(AIJFmtCooFree(coo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the blocks ---- */

/* Gives both blocks their patterns; zeroes: and values of 0, else there is memory for values that the host shares */
static PetscErrorCode BlocksFill(Mat A, AIJFmtCoo *coo, PetscBool zeroes)
{
  SpmvPattern pattern[2];
  Mat         blocks[2];

  PetscFunctionBegin;
  for (int b = 0; b < 2; b++) spmv_coo_pattern(coo->block[b], &pattern[b]);
  PetscCall(AIJFmtBlocksFromDevice(A, pattern, zeroes ? PETSC_FALSE : PETSC_TRUE, &coo->exec));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_TRUE));
  PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < 2; b++) PetscCall(AIJFmtCooReady(blocks[b], zeroes));
  A->assembled     = PETSC_FALSE;
  A->was_assembled = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives A the pattern of a list whose arrays lie in `space`, and keeps the map; zeroes: and values of 0. Collective; on
   failure all processes have a reason, and A is unchanged. */
PetscErrorCode AIJFmtCooParallel(Mat A, Mat_AIJFmt *s, PetscCount n, const PetscInt i[], const PetscInt j[],
                                 SpmvSpace space, PetscBool zeroes, char reason[SPMV_MESSAGE_MAX])
{
  AIJFmtCoo *coo = NULL; /* gcc does not see that it is set whenever the call succeeds */

  PetscFunctionBegin;
  PetscCall(CooSort_MPIAIJFmt(A, s, n, i, j, space, &coo, reason));
  if (reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BlocksFill(A, coo, zeroes));
  PetscCall(AIJFmtCooPatternDone(A, s, coo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- matrices that are made from a list on the device, without the functions of PETSc for lists ---- */

/* Allocates the rows and columns of n entries on the device; AIJFmtCooMake() frees them */
SpmvStatus AIJFmtCooListAlloc(int64_t n, SpmvExec *exec, PetscInt *list[2])
{
  void            *block;
  const SpmvStatus status =
      spmv_scratch_alloc(exec, SPMV_DEVICE, 2 * n * (int64_t)sizeof(PetscInt), "coordinates of a matrix", &block);

  list[0] = (PetscInt *)block;
  list[1] = block ? list[0] + n : NULL;
  return status;
}

/* The same as MatSetPreallocationCOO() for a new matrix C, whose type and sizes are set, but its values are undefined until
   AIJFmtCooFill(). list: of AIJFmtCooListAlloc(), written with that status. Collective; on failure all processes have a
   reason. */
PetscErrorCode AIJFmtCooMake(Mat C, PetscCount n, PetscInt *list[2], SpmvExec *exec, SpmvStatus status,
                             char reason[SPMV_MESSAGE_MAX])
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtRefuse(exec, status, reason));
  PetscCall(PetscPackAgree(PetscObjectComm((PetscObject)C), reason));
  if (!reason[0]) {
    PetscCall(PetscLayoutSetUp(C->rmap));
    PetscCall(PetscLayoutSetUp(C->cmap));
    PetscCall(AIJFmtStateRequire(C, "a matrix from a list", &s));
    PetscCall((s->parallel ? AIJFmtCooParallel : AIJFmtCooSequential)(C, s, n, list[0], list[1], SPMV_DEVICE,
                                                                      PETSC_FALSE, reason));
  }
  spmv_scratch_free(exec, SPMV_DEVICE, list[0]);
  if (reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  C->preallocated = PETSC_TRUE;
  C->nonzerostate++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same as MatSetValuesCOO() with INSERT_VALUES, and frees the values: scratch memory of the device, written with that
   status. Collective; on failure all processes have a reason. */
PetscErrorCode AIJFmtCooFill(Mat C, void *values, SpmvExec *exec, SpmvStatus status, char reason[SPMV_MESSAGE_MAX])
{
  PetscFunctionBegin;
  PetscCall(AIJFmtRefuse(exec, status, reason));
  PetscCall(PetscPackAgree(PetscObjectComm((PetscObject)C), reason));
  if (!reason[0]) {
    PetscCall(AIJFmtCooValues(C, (const PetscScalar *)values, SPMV_DEVICE, INSERT_VALUES));
    PetscCall(AIJFmtAssembleBlocks(C));
  }
  spmv_scratch_free(exec, SPMV_DEVICE, values);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- values ---- */

/* Moves the off-process map to the host. The buffers on the host then serve for packing, too. */
PetscErrorCode AIJFmtCooMessagesToHost(AIJFmtCoo *coo, SpmvExec *host)
{
  SpmvCooOthers *here = NULL;

  PetscFunctionBegin;
  if (coo->others) AIJFmtCallSpmv(host, spmv_coo_others_copy(coo->others, host, &here));
  spmv_coo_others_destroy(&coo->others);
  coo->others = here;
  spmv_exec_free(&coo->exec, SPMV_DEVICE, coo->values);
  coo->values = NULL;
  for (int way = 0; way < 2; way++) coo->there[way] = coo->here[way];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Packs the values of off-process entries */
SpmvStatus AIJFmtCooPack(AIJFmtCoo *coo, const void *values)
{
  const PetscBool device = coo->exec.space == SPMV_DEVICE ? PETSC_TRUE : PETSC_FALSE;
  const int64_t   bytes  = coo->bytes[0];
  SpmvExec       *exec   = &coo->exec;
  SpmvStatus      status = SPMV_SUCCESS;

  if (bytes > 0) status = spmv_coo_gather(coo->others, AIJFMT_SCALAR, values, coo->there[0], exec);
  if (bytes > 0 && device && !status)
    status = spmv_copy(coo->here[0], SPMV_HOST, coo->there[0], SPMV_DEVICE, bytes, exec);
  /* also waits for the upload from here[1] of the previous call, before the buffer is overwritten */
  return device && !status ? spmv_stream_wait(exec) : status;
}

/* Exchanges the packed values. *received: the received values, in the space of the map. */
PetscErrorCode AIJFmtCooSend(AIJFmtCoo *coo, const void **received)
{
  const PetscBool device = coo->exec.space == SPMV_DEVICE ? PETSC_TRUE : PETSC_FALSE;
  const int64_t  *bytes  = coo->bytes;
  SpmvExec       *exec   = &coo->exec;

  PetscFunctionBegin;
  if (bytes[0] > 0 && device) PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes[0]));
  PetscCall(PetscPackExchange(coo->neighbours, MPIU_SCALAR, coo->here[0], coo->here[1]));
  if (bytes[1] > 0 && device) {
    AIJFmtCallSpmv(exec, spmv_copy(coo->there[1], SPMV_DEVICE, coo->here[1], SPMV_HOST, bytes[1], exec));
    PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes[1]));
  }
  *received = coo->there[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}
