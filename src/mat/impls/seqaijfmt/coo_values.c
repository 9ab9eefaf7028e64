/*
  coo_values.c - MatSetValuesCOO() of a matrix whose list the GPU has sorted.

  If the CUDA parent has a CSR on the device, or may make one, values are summed into it (transition 2 of truth.c).
  Otherwise they are summed on the GPU, and the sums are downloaded to the host (transition 1). If the GPU has no memory
  for them, the map moves to the host, and the kernel library sums there.
*/
#include "coo.h"

/* The arrays of one MatSetValuesCOO(), in the space of the map */
typedef struct {
  const void *values[2];           /* of both parts of the list */
  void       *block, *list, *sums; /* block holds list and sums; NULL: not needed */
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
  if (coo->comm != MPI_COMM_NULL) PetscCall(AIJFmtCooMessagesToHost(coo, &host));
  coo->exec = host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes of the sums of the larger block if sums are downloaded to the host, else 0. One buffer serves both blocks. */
static int64_t SumBytes(const Mat_AIJFmt *s, const AIJFmtCoo *coo)
{
  int64_t     most = 0;
  SpmvPattern pattern;

  for (int b = 0; b < 2 && coo->exec.space == SPMV_DEVICE && !AIJFmtIsOverCuda(s); b++) {
    if (!coo->block[b]) continue;
    spmv_coo_pattern(coo->block[b], &pattern);
    most = PetscMax(most, pattern.nnz * (int64_t)sizeof(PetscScalar));
  }
  return most;
}

/* Allocates memory for the values of the list, if they are not in the space of the map, and for the sums */
static SpmvStatus Reserve(const Mat_AIJFmt *s, AIJFmtCoo *coo, SpmvSpace values, AIJFmtCooWork *w)
{
  const int64_t each = 256, list = values == coo->exec.space ? 0 : coo->count * (int64_t)sizeof(PetscScalar);
  const int64_t first = (list + each - 1) / each * each, sums = SumBytes(s, coo);
  SpmvStatus    status;

  w->block = w->list = w->sums = NULL;
  status = spmv_scratch_alloc(&coo->exec, coo->exec.space, first + sums, "values of a COO list", &w->block);
  if (list > 0) w->list = w->block;
  if (sums > 0 && w->block) w->sums = (char *)w->block + first;
  return status;
}

/* Sets w->values[0] to the values of the list in the space of the map. The caller frees w->block. */
static PetscErrorCode WorkGet(Mat A, const Mat_AIJFmt *s, const PetscScalar values[], SpmvSpace space, AIJFmtCooWork *w)
{
  AIJFmtCoo    *coo   = s->coo;
  const int64_t bytes = coo->count * (int64_t)sizeof *values;
  SpmvStatus    status;

  PetscFunctionBegin;
  PetscCall(AIJFmtCooHolds(A, s));
  PetscCall(AIJFmtCudaStream(&coo->exec));
  PetscCheck(values || bytes == 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_NULL,
             "MatSetValuesCOO() has no values for a list of %lld entries", (long long)coo->count);
  status = Reserve(s, coo, space, w);
  if (status == SPMV_ERR_MEMORY && coo->exec.space == SPMV_DEVICE) {
    PetscCall(ToHost(A, coo));
    status = Reserve(s, coo, space, w);
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

/* Transition 2, if the matrix has a CSR on the device or may get one; else *done is false */
static PetscErrorCode AddOnDevice(Mat A, Mat_AIJFmt *s, const SpmvCoo *coo, SpmvExec *exec, const AIJFmtCooWork *w,
                                  PetscBool add, PetscBool *done)
{
  const PetscBool there = AIJFmtTruthGet(A, s).device_csr;
  PetscScalar    *csr;

  PetscFunctionBegin;
  if (exec->space == SPMV_DEVICE) PetscCall(AIJFmtDeviceCsrDecide(A, s, "MatSetValuesCOO()", AIJFMT_WANTS, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  if (there && !add) PetscCall(AIJFmtDeviceValuesOverwrite(A, &csr));
  else PetscCall(AIJFmtDeviceValuesGet(A, &csr));
  AIJFmtCallSpmv(exec, spmv_coo_values(coo, AIJFMT_SCALAR, (const void **)w->values, add, csr, exec));
  PetscCall(AIJFmtDeviceValuesRestore(A, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the sums in `sums` on the device and downloads them to `here` */
static SpmvStatus SumThere(const SpmvCoo *coo, SpmvExec *exec, const AIJFmtCooWork *w, void *sums, PetscBool add,
                           int64_t bytes, PetscScalar here[])
{
  SpmvStatus status = SPMV_SUCCESS;

  if (add) status = spmv_copy(sums, SPMV_DEVICE, here, SPMV_HOST, bytes, exec);
  if (!status) status = spmv_coo_values(coo, AIJFMT_SCALAR, (const void **)w->values, add, sums, exec);
  if (!status) status = spmv_copy(here, SPMV_HOST, sums, SPMV_DEVICE, bytes, exec);
  return status ? status : spmv_stream_wait(exec);
}

/* Transition 1. For the CUDA parent Reserve() allocates no memory for sums, so it is allocated here if the values stay
   on the host. */
static PetscErrorCode AddOnHost(Mat A, const SpmvCoo *coo, SpmvExec *exec, const AIJFmtCooWork *w, PetscBool add)
{
  void        *sums = w->sums, *block = NULL;
  SpmvPattern  pattern;
  PetscScalar *here;
  SpmvStatus   status = SPMV_SUCCESS;
  int64_t      bytes;

  PetscFunctionBegin;
  spmv_coo_pattern(coo, &pattern);
  bytes = pattern.nnz * (int64_t)sizeof *here;
  if (exec->space == SPMV_DEVICE && !sums) {
    AIJFmtCallSpmv(exec, spmv_scratch_alloc(exec, SPMV_DEVICE, bytes, "values by coordinates", &block));
    sums = block;
  }
  if (add) PetscCall(MatSeqAIJGetArray(A, &here));
  else PetscCall(MatSeqAIJGetArrayWrite(A, &here));
  if (exec->space == SPMV_DEVICE) status = SumThere(coo, exec, w, sums, add, bytes, here);
  else status = spmv_coo_values(coo, AIJFMT_SCALAR, (const void **)w->values, add, here, exec);
  if (add) PetscCall(MatSeqAIJRestoreArray(A, &here));
  else PetscCall(MatSeqAIJRestoreArrayWrite(A, &here));
  spmv_scratch_free(exec, SPMV_DEVICE, block);
  AIJFmtCallSpmv(exec, status);
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  if (exec->space == SPMV_HOST) PetscFunctionReturn(PETSC_SUCCESS);
  if (add) PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets or adds the values of one block. w->values: values of this process's entries and of the received entries. */
static PetscErrorCode Add(Mat A, const SpmvCoo *coo, SpmvExec *exec, const AIJFmtCooWork *w, InsertMode mode)
{
  const PetscBool add  = mode == INSERT_VALUES ? PETSC_FALSE : PETSC_TRUE;
  PetscBool       done = PETSC_FALSE;
  int64_t         entries, bytes;
  Mat_AIJFmt     *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateOfAnyType(A, &s));
  spmv_coo_info(coo, &entries, &bytes);
  if (exec->space == SPMV_HOST) {
    PetscCall(AddOnHost(A, coo, exec, w, add));
    PetscCall(PetscLogFlops((PetscLogDouble)entries));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogGpuTimeBegin());
  if (s) PetscCall(AddOnDevice(A, s, coo, exec, w, add, &done));
  if (!done) PetscCall(AddOnHost(A, coo, exec, w, add));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(AIJFmtLogGpuFlops((PetscLogDouble)entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the values of a matrix that has a list. space: where `values` are */
PetscErrorCode AIJFmtCooValues(Mat A, const PetscScalar values[], SpmvSpace space, InsertMode mode)
{
  Mat           blocks[2] = {A, NULL};
  AIJFmtCooWork w;
  AIJFmtCoo    *coo;
  Mat_AIJFmt   *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateOfAnyType(A, &s));
  coo = s->coo;
  PetscCall(WorkGet(A, s, values, space, &w));
  if (coo->comm != MPI_COMM_NULL) {
    PetscCall(AIJFmtCooSend(coo, w.values[0], &w.values[1]));
    PetscCall(AIJFmtBlocksGet(A, blocks));
  }
  for (int b = 0; b < 2; b++)
    if (blocks[b]) PetscCall(Add(blocks[b], coo->block[b], &coo->exec, &w, mode));
  spmv_scratch_free(&coo->exec, coo->exec.space, w.block);
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
