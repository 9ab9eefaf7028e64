/*
  coo_values.c - MatSetValuesCOO() of a matrix whose list the GPU has sorted.

  If the CUDA parent has a CSR on the device, or may make one, values are summed into it (transition 2 of truth.c).
  Otherwise they are summed on the GPU, and the sums are downloaded to the host (transition 1); a plan on the GPU takes
  them there, so that nothing is uploaded (transition 5). If the GPU has no memory for them, the map moves to the host,
  and the kernel library sums there.
*/
#include "coo.h"

/* The arrays of one MatSetValuesCOO(), in the space of the map */
typedef struct {
  const void *values[2];    /* of both parts of the list */
  void       *list, *sums;  /* allocated; NULL: not needed */
  PetscBool   on_device[2]; /* the values of this block are summed into its CSR on the device */
} AIJFmtCooWork;

/* The GPU has no memory for values: moves the map to the host, where all values are summed until the next list */
static PetscErrorCode ToHost(Mat A, AIJFmtCoo *coo)
{
  Mat_AIJFmt *s;
  SpmvExec    host;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateOfAnyType(A, &s));
  PetscCall(PetscStrncpy(s->coo_reason, coo->exec.message, sizeof s->coo_reason));
  PetscCall(PetscInfo(A, "values by coordinates are summed on the host: %s\n", s->coo_reason));
  spmv_exec_init(&host, SPMV_HOST);
  host.stream = coo->exec.stream;
  for (int b = 0; b < 2; b++) {
    SpmvCoo *here = NULL;

    if (!coo->block[b]) continue;
    AIJFmtCallSpmv(&host, spmv_coo_copy(coo->block[b], &host, &here));
    spmv_coo_destroy(&coo->block[b]);
    coo->block[b] = here;
  }
  if (coo->neighbours) PetscCall(AIJFmtCooMessagesToHost(coo, &host));
  coo->exec = host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes of the sums of the larger block whose sums are downloaded to the host, else 0. One buffer serves both blocks. */
static int64_t SumBytes(const AIJFmtCoo *coo, const AIJFmtCooWork *w)
{
  int64_t     most = 0;
  SpmvPattern pattern;

  for (int b = 0; b < 2 && coo->exec.space == SPMV_DEVICE; b++) {
    if (!coo->block[b] || w->on_device[b]) continue;
    spmv_coo_pattern(coo->block[b], &pattern);
    most = PetscMax(most, pattern.nnz * (int64_t)sizeof(PetscScalar));
  }
  return most;
}

static void WorkFree(AIJFmtCoo *coo, AIJFmtCooWork *w)
{
  spmv_scratch_free(&coo->exec, coo->exec.space, w->list);
  spmv_scratch_free(&coo->exec, coo->exec.space, w->sums);
}

/* Allocates all that the call needs before it changes anything: memory for the values of the list, if they are not in
   the space of the map, and for the sums of blocks whose values do not go to a CSR on the device */
static PetscErrorCode Reserve(AIJFmtCoo *coo, const Mat blocks[2], SpmvSpace values, AIJFmtCooWork *w,
                              SpmvStatus *status)
{
  const SpmvSpace space = coo->exec.space;
  Mat_AIJFmt     *s;

  PetscFunctionBegin;
  *w      = (AIJFmtCooWork){.list = NULL};
  *status = SPMV_SUCCESS;
  if (values != space)
    *status = spmv_scratch_alloc(&coo->exec, space, coo->count * (int64_t)sizeof(PetscScalar), "values of a COO list",
                                 &w->list);
  for (int b = 0; b < 2 && !*status && space == SPMV_DEVICE; b++) {
    if (!blocks[b]) continue;
    PetscCall(AIJFmtStateOfAnyType(blocks[b], &s));
    if (s) PetscCall(AIJFmtDeviceCsrDecide(blocks[b], s, "MatSetValuesCOO()", AIJFMT_WANTS, &w->on_device[b]));
  }
  if (!*status) *status = spmv_scratch_alloc(&coo->exec, space, SumBytes(coo, w), "sums of a COO list", &w->sums);
  if (*status) WorkFree(coo, w);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets w->values[0] to the values of the list in the space of the map. The caller calls WorkFree(). */
static PetscErrorCode WorkGet(Mat A, const Mat_AIJFmt *s, const Mat blocks[2], const PetscScalar values[],
                              SpmvSpace space, AIJFmtCooWork *w)
{
  AIJFmtCoo    *coo    = s->coo;
  const int64_t bytes  = coo->count * (int64_t)sizeof *values;
  SpmvStatus    status = SPMV_SUCCESS;
  PetscBool     holds  = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(AIJFmtCooHolds(A, s, &holds));
  PetscCheck(holds, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "the nonzero pattern has changed since MatSetPreallocationCOO(): call it again before MatSetValuesCOO()");
  PetscCall(AIJFmtCudaStream(&coo->exec));
  PetscCheck(values || bytes == 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_NULL,
             "MatSetValuesCOO() has no values for a list of %lld entries", (long long)coo->count);
  PetscCall(Reserve(coo, blocks, space, w, &status));
  if (status == SPMV_ERR_MEMORY && coo->exec.space == SPMV_DEVICE) {
    PetscCall(ToHost(A, coo));
    PetscCall(Reserve(coo, blocks, space, w, &status));
  }
  AIJFmtCallSpmv(&coo->exec, status);
  w->values[0] = w->list ? w->list : values;
  w->values[1] = NULL;
  if (!w->list) PetscFunctionReturn(PETSC_SUCCESS);
  AIJFmtCallSpmv(&coo->exec, spmv_copy(w->list, coo->exec.space, values, space, bytes, &coo->exec));
  if (space == SPMV_DEVICE) {
    AIJFmtCallSpmv(&coo->exec, spmv_stream_wait(&coo->exec));
    PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
  } else PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The GPU has refused to pack or to sum, on this process alone perhaps: the map goes to the host before the others wait
   for a message or for the assembly */
static PetscErrorCode GoToHost(Mat A, const Mat_AIJFmt *s, const Mat blocks[2], const PetscScalar values[],
                               SpmvSpace space, AIJFmtCooWork *w, SpmvStatus status)
{
  PetscFunctionBegin;
  if (status != SPMV_ERR_MEMORY || s->coo->exec.space == SPMV_HOST) AIJFmtCallSpmv(&s->coo->exec, status);
  WorkFree(s->coo, w);
  PetscCall(ToHost(A, s->coo));
  PetscCall(WorkGet(A, s, blocks, values, space, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Transition 2 */
static PetscErrorCode AddOnDevice(Mat A, const Mat_AIJFmt *s, const SpmvCoo *coo, SpmvExec *exec,
                                  const AIJFmtCooWork *w, PetscBool add, SpmvStatus *status)
{
  PetscScalar *csr;

  PetscFunctionBegin;
  if (AIJFmtTruthGet(A, s).device_csr && !add) PetscCall(AIJFmtDeviceValuesOverwrite(A, &csr));
  else PetscCall(AIJFmtDeviceValuesGet(A, &csr));
  *status = spmv_coo_values(coo, AIJFMT_SCALAR, (const void **)w->values, add, csr, exec);
  PetscCall(AIJFmtDeviceValuesRestore(A, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the sums on the device and downloads them to `here` */
static SpmvStatus SumThere(const SpmvCoo *coo, SpmvExec *exec, const AIJFmtCooWork *w, PetscBool add, int64_t bytes,
                           PetscScalar here[])
{
  SpmvStatus status = SPMV_SUCCESS;

  if (add) status = spmv_copy(w->sums, SPMV_DEVICE, here, SPMV_HOST, bytes, exec);
  if (!status) status = spmv_coo_values(coo, AIJFMT_SCALAR, (const void **)w->values, add, w->sums, exec);
  if (!status) status = spmv_copy(here, SPMV_HOST, w->sums, SPMV_DEVICE, bytes, exec);
  return status ? status : spmv_stream_wait(exec);
}

/* Transition 1, or 5 if there is a plan on the GPU, which takes the sums there */
static PetscErrorCode AddOnHost(Mat A, const SpmvCoo *coo, SpmvExec *exec, const AIJFmtCooWork *w, PetscBool add,
                                SpmvStatus *status)
{
  SpmvPattern  pattern;
  PetscScalar *here;
  Mat_AIJFmt  *s;
  int64_t      bytes;

  PetscFunctionBegin;
  spmv_coo_pattern(coo, &pattern);
  bytes = pattern.nnz * (int64_t)sizeof *here;
  if (add) PetscCall(MatSeqAIJGetArray(A, &here));
  else PetscCall(MatSeqAIJGetArrayWrite(A, &here));
  if (exec->space == SPMV_DEVICE) *status = SumThere(coo, exec, w, add, bytes, here);
  else *status = spmv_coo_values(coo, AIJFMT_SCALAR, (const void **)w->values, add, here, exec);
  if (add) PetscCall(MatSeqAIJRestoreArray(A, &here));
  else PetscCall(MatSeqAIJRestoreArrayWrite(A, &here));
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  if (exec->space == SPMV_HOST || *status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtStateGet(A, &s));
  if (s) PetscCall(AIJFmtPlanTake(A, s, w->sums));
  if (add) PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets or adds the values of block b. w->values: values of this process's entries and of the received entries. status:
   the GPU may refuse; the values are then as they were. */
static PetscErrorCode Add(Mat A, int b, AIJFmtCoo *coo, const AIJFmtCooWork *w, InsertMode mode, SpmvStatus *status)
{
  const PetscBool add = mode == INSERT_VALUES ? PETSC_FALSE : PETSC_TRUE;
  const PetscBool gpu = coo->exec.space == SPMV_DEVICE ? PETSC_TRUE : PETSC_FALSE;
  int64_t         entries, bytes;
  Mat_AIJFmt     *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateOfAnyType(A, &s));
  spmv_coo_info(coo->block[b], &entries, &bytes);
  if (gpu) PetscCall(PetscLogGpuTimeBegin());
  if (w->on_device[b]) PetscCall(AddOnDevice(A, s, coo->block[b], &coo->exec, w, add, status));
  else PetscCall(AddOnHost(A, coo->block[b], &coo->exec, w, add, status));
  if (gpu) PetscCall(PetscLogGpuTimeEnd());
  if (gpu) PetscCall(AIJFmtLogGpuFlops((PetscLogDouble)entries));
  else PetscCall(PetscLogFlops((PetscLogDouble)entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the values of a matrix that has a list. space: where `values` are */
PetscErrorCode AIJFmtCooValues(Mat A, const PetscScalar values[], SpmvSpace space, InsertMode mode)
{
  Mat           blocks[2] = {A, NULL};
  SpmvStatus    status    = SPMV_SUCCESS;
  AIJFmtCooWork w;
  AIJFmtCoo    *coo;
  Mat_AIJFmt   *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateOfAnyType(A, &s));
  coo = s->coo;
  if (coo->neighbours) PetscCall(AIJFmtBlocksGet(A, blocks));
  PetscCall(WorkGet(A, s, blocks, values, space, &w));
  if (coo->neighbours) {
    status = AIJFmtCooPack(coo, w.values[0]);
    if (status) PetscCall(GoToHost(A, s, blocks, values, space, &w, status));
    if (status) AIJFmtCallSpmv(&coo->exec, AIJFmtCooPack(coo, w.values[0]));
    PetscCall(AIJFmtCooSend(coo, &w.values[1]));
  }
  for (int b = 0; b < 2; b++) {
    if (!blocks[b]) continue;
    PetscCall(Add(blocks[b], b, coo, &w, mode, &status));
    if (!status) continue;
    PetscCall(GoToHost(A, s, blocks, values, space, &w, status));
    w.values[1] = coo->here[1];
    PetscCall(Add(blocks[b], b, coo, &w, mode, &status));
    AIJFmtCallSpmv(&coo->exec, status);
  }
  WorkFree(coo, &w);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetValuesCOO_AIJFmt(Mat A, const PetscScalar values[], InsertMode mode)
{
  SpmvSpace   space = SPMV_HOST; /* gcc does not see that it is set whenever the call succeeds */
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateOfAnyType(A, &s));
  if (!s || !s->coo) PetscCall(AIJFmtCooValuesByParent(A, values, mode));
  else {
    PetscCall(AIJFmtCooSpaceOf(values, &space));
    PetscCall(AIJFmtCooValues(A, values, space, mode));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
