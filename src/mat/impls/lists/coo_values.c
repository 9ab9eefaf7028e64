/*
  coo_values.c - MatSetValuesCOO() of a matrix whose list the GPU has sorted.

  If the CUDA parent has a CSR on the device, or may make one, values are summed into it (transition 2 of places.c).
  Otherwise they are summed on the GPU, and the sums are downloaded to the host (transition 1); a plan on the GPU takes
  them there, so that nothing is uploaded (transition 5). If the GPU has no memory for them, the map moves to the host,
  and the kernel library sums there.
*/
#include "coo.h"

/* The arrays of one MatSetValuesCOO(), in the space of the map */
typedef struct {
  const void *values[2];    /* of both parts of the list */
  void       *list;         /* allocated; NULL: not needed */
  PetscBool   on_device[2]; /* the values of this block are summed into its CSR on the device */
} AIJFmtCooWork;

/* The GPU has no memory for values: moves the map to the host, where all values are summed until the next list */
static PetscErrorCode ToHost(Mat A, AIJFmtCoo *coo)
{
  SpmvExec host;

  PetscFunctionBegin;
  PetscCall(AIJFmtRan(A, AIJFMT_WHY_COO, coo->exec.message));
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

static void CooWorkFree(AIJFmtCoo *coo, AIJFmtCooWork *w) { spmv_scratch_free(&coo->exec, coo->exec.space, w->list); }

/* Allocates memory for the values of the list, if they are not in the space of the map, before anything changes */
static PetscErrorCode CooWorkReserve_AIJFmt(AIJFmtCoo *coo, const Mat blocks[2], SpmvSpace values, AIJFmtCooWork *w,
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
    if (s) PetscCall(AIJFmtNewValuesDecide(blocks[b], s, "MatSetValuesCOO()", &w->on_device[b]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets w->values[0] to the values of the list in the space of the map. The caller calls CooWorkFree(). */
static PetscErrorCode CooWorkGet_AIJFmt(Mat A, const Mat_AIJFmt *s, const Mat blocks[2], const PetscScalar values[],
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
  PetscCall(CooWorkReserve_AIJFmt(coo, blocks, space, w, &status));
  if (status == SPMV_ERR_MEMORY && coo->exec.space == SPMV_DEVICE) {
    PetscCall(ToHost(A, coo));
    PetscCall(CooWorkReserve_AIJFmt(coo, blocks, space, w, &status));
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
static PetscErrorCode CooGoToHost_AIJFmt(Mat A, const Mat_AIJFmt *s, const Mat blocks[2], const PetscScalar values[],
                                         SpmvSpace space, AIJFmtCooWork *w, SpmvStatus status)
{
  PetscFunctionBegin;
  if (status != SPMV_ERR_MEMORY || s->coo->exec.space == SPMV_HOST) AIJFmtCallSpmv(&s->coo->exec, status);
  CooWorkFree(s->coo, w);
  PetscCall(ToHost(A, s->coo));
  PetscCall(CooWorkGet_AIJFmt(A, s, blocks, values, space, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets or adds the values of block b: transition 2, 1, or 5 if a plan on the GPU takes the sums there. w->values: values
   of this process's entries and of the received entries. status: the GPU may refuse; the values are then as before. */
static PetscErrorCode CooAdd(Mat A, int b, AIJFmtCoo *coo, const AIJFmtCooWork *w, InsertMode mode, SpmvStatus *status)
{
  const PetscBool add = mode == INSERT_VALUES ? PETSC_FALSE : PETSC_TRUE;
  const PetscBool gpu = coo->exec.space == SPMV_DEVICE ? PETSC_TRUE : PETSC_FALSE;
  AIJFmtArrays    to  = {.stays = w->on_device[b], .follows = PETSC_TRUE};
  int64_t         entries, bytes;

  PetscFunctionBegin;
  spmv_coo_info(coo->block[b], &entries, &bytes);
  if (gpu) PetscCall(PetscLogGpuTimeBegin());
  PetscCall(AIJFmtArraysGet(A, AIJFMT_VALUES, add ? AIJFMT_UPDATE : AIJFMT_WRITE, &coo->exec, &to, status));
  if (!*status)
    *status = spmv_coo_values(coo->block[b], AIJFMT_SCALAR, (const void **)w->values, add, to.values, &coo->exec);
  PetscCall(AIJFmtArraysRestore(A, &coo->exec, &to, status));
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
  PetscCall(CooWorkGet_AIJFmt(A, s, blocks, values, space, &w));
  if (coo->neighbours) {
    status = AIJFmtCooPack(coo, w.values[0]);
    if (status) PetscCall(CooGoToHost_AIJFmt(A, s, blocks, values, space, &w, status));
    if (status) AIJFmtCallSpmv(&coo->exec, AIJFmtCooPack(coo, w.values[0]));
    PetscCall(AIJFmtCooSend(coo, &w.values[1]));
  }
  for (int b = 0; b < 2; b++) {
    if (!blocks[b]) continue;
    PetscCall(CooAdd(blocks[b], b, coo, &w, mode, &status));
    if (!status) continue;
    PetscCall(CooGoToHost_AIJFmt(A, s, blocks, values, space, &w, status));
    w.values[1] = coo->here[1];
    PetscCall(CooAdd(blocks[b], b, coo, &w, mode, &status));
    AIJFmtCallSpmv(&coo->exec, status);
  }
  CooWorkFree(coo, &w);
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
