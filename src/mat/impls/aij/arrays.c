/*
  arrays.c - the CSR arrays of a sequential matrix, in the memory where a kernel reads or writes them. All other files
  of the class, and solvers, get them here.

  On the device they are found in this order: the host's own arrays, if the device shares them (shared.c); the CSR
  of the CUDA parent, if it is current; a copy that stays until a set-up ends; the plan, unpacked; else they are
  uploaded. PCGAMG reads its matrix several
  times in a set-up: for the graph, two products and the plan. Hence that copy; it never counts as the place of the
  current values, and places.c does not know it.

  Values written on the device stay in the parent's CSR if AIJFmtDeviceCsrDecide() says so, or in shared arrays.
  Otherwise they are copied to the host, where every matrix has room for them.
*/
#include "aijfmt.h"
#include "sys/private.h"

/* ---- copies that stay until the set-up ends ---- */

/* Set-ups may be nested: a preconditioner may contain another */
void AIJFmtCopiesBegin(void) { aijfmt_process.set_ups++; }

PetscErrorCode AIJFmtCopiesEnd(void)
{
  SpmvExec exec;

  PetscFunctionBegin;
  if (--aijfmt_process.set_ups > 0) PetscFunctionReturn(PETSC_SUCCESS);
  while (aijfmt_process.copied) AIJFmtCopyFree(aijfmt_process.copied);
  spmv_scratch_trim();
  if (!aijfmt_process.reads_shared) PetscFunctionReturn(PETSC_SUCCESS);
  aijfmt_process.reads_shared = PETSC_FALSE;
  spmv_exec_init(&exec, SPMV_DEVICE);
  PetscCall(AIJFmtCudaStream(&exec));
  AIJFmtCallSpmv(&exec, spmv_stream_wait(&exec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool CopyServes(const Mat_AIJFmt *s, const AIJFmtKey *now, PetscBool pattern, PetscBool values)
{
  if (!s->copy.block || !AIJFmtSameStructure(&s->copy.key, now)) return PETSC_FALSE;
  if (pattern && !s->copy.csr.pattern.row_ptr) return PETSC_FALSE;
  return !values || (s->copy.csr.values && s->copy.key.value_state == now->value_state) ? PETSC_TRUE : PETSC_FALSE;
}

static void CopyKeep(Mat_AIJFmt *s, const AIJFmtKey *now, const SpmvExec *exec, AIJFmtArrays *a)
{
  AIJFmtCopyFree(s);
  if (!a->block) return; /* no nonzeros: without a block, the copy would never be taken off the list */
  s->copy.exec          = *exec;
  s->copy.csr           = a->csr;
  s->copy.block         = a->block;
  s->copy.key           = *now;
  s->copy.after         = aijfmt_process.copied;
  aijfmt_process.copied = s;
  a->block              = NULL;
}

/* ---- the CSR of the CUDA parent, which makes or updates it from the host's arrays first, if necessary ---- */

/* Whether the parent has a CSR of this pattern, and this class has seen it */
PetscBool AIJFmtParentHasCsr(Mat A, const Mat_AIJFmt *s)
{
  return s->device_csr_known && s->device_csr_state == A->nonzerostate ? PetscPackCusparseCsrExists(A) : PETSC_FALSE;
}

/* Records that the parent has a CSR of this pattern on the device */
void AIJFmtParentCsrSeen(Mat A, Mat_AIJFmt *s)
{
  s->device_csr_used  = PETSC_TRUE;
  s->device_csr_known = PETSC_TRUE;
  s->device_csr_state = A->nonzerostate;
}

static PetscErrorCode ArraysOfParent(Mat A, PetscBool exists, AIJFmtArrays *a)
{
  const AIJFmtCusparseIndex *row_ptr, *col;
  PetscScalar               *values;

  PetscFunctionBegin;
  if (a->access == AIJFMT_READ) AIJFmtAs(A, AIJFMT_PARENT_CUDA, AIJFmtCusparseGetValues(A, &values));
  else if (a->access == AIJFMT_WRITE && exists)
    AIJFmtAs(A, AIJFMT_PARENT_CUDA, AIJFmtCusparseGetArrayWrite(A, &values));
  else AIJFmtAs(A, AIJFMT_PARENT_CUDA, AIJFmtCusparseGetArray(A, &values));
  a->csr.values = a->values = values;
  if (!(a->parts & AIJFMT_PATTERN)) PetscFunctionReturn(PETSC_SUCCESS);
  AIJFmtAs(A, AIJFMT_PARENT_CUDA, AIJFmtCusparseGetIJ(A, &row_ptr, &col));
  a->csr.pattern.row_ptr = row_ptr;
  a->csr.pattern.col     = col;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If the parent has no CSR yet and all its values will be overwritten, it need not upload the host's. They are two thirds
   of all bytes; for a new product they are meaningless, in memory that was never touched. The parent skips them if its
   field for them is NULL (3.20 to 3.26); PETSc has no function that sets it, so it is NULL during the call. *field: NULL
   if the values must be uploaded. */
static PetscErrorCode ArraysSkipValues(Mat A, const AIJFmtArrays *a, PetscScalar ***field)
{
  PetscBool known;

  PetscFunctionBegin;
  PetscCall(PetscPackSeqAIJValues(A, field, &known));
  if (a->access != AIJFMT_WRITE || (!a->fresh && PetscPackCusparseCsrExists(A)) || !known) *field = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ArraysGetParent(Mat A, Mat_AIJFmt *s, AIJFmtArrays *a)
{
  const PetscBool exists = a->fresh ? PETSC_FALSE : AIJFmtParentHasCsr(A, s);
  PetscErrorCode  error;
  PetscScalar   **field, *here = NULL;

  PetscFunctionBegin;
  a->of_parent              = PETSC_TRUE;
  a->csr.values_space       = SPMV_DEVICE;
  a->csr.pattern.space      = SPMV_DEVICE;
  a->csr.pattern.index_type = sizeof(AIJFmtCusparseIndex) == 8 ? SPMV_I64 : SPMV_I32;
  PetscCall(ArraysSkipValues(A, a, &field));
  if (field) {
    here   = *field;
    *field = NULL;
  }
  error = ArraysOfParent(A, exists, a);
  if (field) *field = here;
  PetscCall(error);
  AIJFmtParentCsrSeen(A, s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- on the host ---- */

static PetscErrorCode ArraysGetHost(Mat A, AIJFmtArrays *a)
{
  PetscFunctionBegin;
  if (!(a->parts & AIJFMT_VALUES)) PetscFunctionReturn(PETSC_SUCCESS);
  if (a->access == AIJFMT_READ) PetscCall(MatSeqAIJGetArrayRead(A, &a->here));
  else if (a->access == AIJFMT_WRITE) PetscCall(MatSeqAIJGetArrayWrite(A, &a->values));
  else PetscCall(MatSeqAIJGetArray(A, &a->values));
  a->csr.values = a->access == AIJFMT_READ ? a->here : a->values;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Transition 5 of places.c: the values were set on the host from an array on the device, and a plan on the GPU takes
   them from there. If there is no such plan or no memory, the next product takes the values from the host. */
static PetscErrorCode ArraysToPlan(Mat A, Mat_AIJFmt *s, const void *values)
{
  SpmvCsr    from = {.scalar_type = AIJFMT_SCALAR, .values = values, .values_space = SPMV_DEVICE};
  AIJFmtKey  now;
  PetscBool  same, moved;
  SpmvStatus status;

  PetscFunctionBegin;
  if (!AIJFmtPlanOnGpu(s) || s->cache.plan->format->borrows) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtKeyGet(A, &now));
  from.pattern = now.pattern;
  same         = AIJFmtSameStructure(&s->cache.key, &now);
  PetscCall(AIJFmtKeyRestore(A, &now));
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtCudaStream(&s->exec));
  status = AIJFmtPlanRefresh(&s->cache, &from, &s->exec, &moved);
  if (status == SPMV_ERR_MEMORY) PetscFunctionReturn(PETSC_SUCCESS);
  AIJFmtCallSpmv(&s->exec, status);
  s->cache.key.value_state = AIJFmtStateAfter(A);
  s->info.refreshes++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* is_there: the device has the same values, for a plan that `follows`, in `there` */
static PetscErrorCode ArraysRestoreHost(Mat A, AIJFmtArrays *a, PetscBool is_there, const void *there)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  if (a->access == AIJFMT_WRITE) PetscCall(MatSeqAIJRestoreArrayWrite(A, &a->values));
  else PetscCall(MatSeqAIJRestoreArray(A, &a->values));
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscCall(AIJFmtStateGet(A, &s));
  if (s && a->follows && is_there) PetscCall(ArraysToPlan(A, s, there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- in memory that the host and the device share ---- */

/* Gets them for the device without a copy. *serves is false if an array is elsewhere. */
static PetscErrorCode ArraysGetShared(Mat A, const Mat_AIJFmt *s, AIJFmtArrays *a, PetscBool *serves)
{
  const PetscBool    values = a->parts & AIJFMT_VALUES ? PETSC_TRUE : PETSC_FALSE;
  const PetscScalar *shared;

  PetscFunctionBegin;
  *serves = PETSC_FALSE;
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  if (values && AIJFmtIsOverCuda(s)) {
    if (a->access != AIJFMT_WRITE && !AIJFmtPlacesGet(A, s).host) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(AIJFmtSharedArray(A, &shared));
    if (!shared) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(AIJFmtSharedPattern(A, &a->csr.pattern, serves));
  if (!*serves) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ArraysGetHost(A, a));
  a->csr.values_space = SPMV_DEVICE;
  a->shared           = values;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- copies on the device ---- */

static PetscErrorCode ArraysUpload(Mat A, const SpmvPattern *here, SpmvExec *exec, AIJFmtArrays *a, SpmvStatus *status)
{
  const PetscScalar *array = NULL;

  PetscFunctionBegin;
  PetscCall(AIJFmtPatternCheck(A, here, exec, status));
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  if (a->parts & AIJFMT_VALUES) PetscCall(MatSeqAIJGetArrayRead(A, &array));
  PetscCall(AIJFmtUpload(exec, here, array, a->narrow ? SPMV_I32 : AIJFMT_INDEX, &a->csr, &a->block, status));
  if (a->parts & AIJFMT_VALUES) PetscCall(MatSeqAIJRestoreArrayRead(A, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Unpacks the plan of A, which has the current values, on the device. *done is false if that is impossible. */
static PetscErrorCode ArraysUnpack(Mat A, const Mat_AIJFmt *s, SpmvExec *exec, AIJFmtArrays *a, PetscBool *done)
{
  const SpmvPattern *p       = &a->csr.pattern;
  const int64_t      bytes[] = {(p->rows + 1) * (int64_t)sizeof(PetscInt), p->nnz * (int64_t)sizeof(PetscInt),
                                p->nnz * (int64_t)sizeof(PetscScalar)};
  void *to[3], **const arrays[] = {&to[0], &to[1], &to[2]};
  SpmvCsr    csr = a->csr;
  SpmvStatus status;

  PetscFunctionBegin;
  *done = AIJFmtPlanHasValues(A, s);
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  status              = spmv_alloc_arrays(exec, SPMV_DEVICE, 3, bytes, "CSR", arrays, &a->block);
  csr.pattern.space   = SPMV_DEVICE;
  csr.values_space    = SPMV_DEVICE;
  csr.pattern.row_ptr = to[0];
  csr.pattern.col     = to[1];
  csr.values          = to[2];
  if (!status) status = spmv_csr_of_plan(s->cache.plan, &csr, exec);
  *done = status ? PETSC_FALSE : PETSC_TRUE;
  if (*done) a->csr = csr;
  else if (a->block) {
    spmv_exec_free(exec, SPMV_DEVICE, a->block);
    a->block = NULL;
  }
  if (!AIJFmtIsRefusal(status)) AIJFmtCallSpmv(exec, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Memory for the values alone */
static SpmvStatus ArraysAllocate(SpmvExec *exec, AIJFmtArrays *a)
{
  const int64_t    bytes  = a->csr.pattern.nnz * (int64_t)sizeof(PetscScalar);
  const SpmvStatus status = spmv_scratch_alloc(exec, SPMV_DEVICE, bytes, "values of a matrix", &a->block);

  a->copied              = PETSC_TRUE;
  a->csr.pattern.row_ptr = a->csr.pattern.col = NULL; /* those are on the host */
  a->csr.values_space                         = SPMV_DEVICE;
  a->csr.values = a->values = (PetscScalar *)a->block;
  return status;
}

static PetscErrorCode ArraysUploadValues(Mat A, SpmvExec *exec, AIJFmtArrays *a, SpmvStatus *status)
{
  const int64_t      bytes = a->csr.pattern.nnz * (int64_t)sizeof(PetscScalar);
  const PetscScalar *here;

  PetscFunctionBegin;
  *status = ArraysAllocate(exec, a);
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJGetArrayRead(A, &here));
  *status = spmv_copy(a->block, SPMV_DEVICE, here, SPMV_HOST, bytes, exec);
  PetscCall(MatSeqAIJRestoreArrayRead(A, &here));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ArraysRead(Mat A, Mat_AIJFmt *s, SpmvExec *exec, AIJFmtArrays *a, SpmvStatus *status)
{
  const PetscBool pattern = a->parts & AIJFMT_PATTERN ? PETSC_TRUE : PETSC_FALSE;
  PetscBool       keep    = s && aijfmt_process.set_ups > 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscBool       done    = PETSC_FALSE;
  AIJFmtKey       now;

  PetscFunctionBegin;
  PetscCall(AIJFmtKeyGet(A, &now));
  if (s && CopyServes(s, &now, pattern, a->parts & AIJFMT_VALUES ? PETSC_TRUE : PETSC_FALSE)) {
    a->csr = s->copy.csr;
    keep   = PETSC_FALSE;
  } else if (pattern) {
    if (s) PetscCall(ArraysUnpack(A, s, exec, a, &done));
    if (!done) PetscCall(ArraysUpload(A, &now.pattern, exec, a, status));
  } else if (s && AIJFmtPlanHasValues(A, s)) {
    *status = ArraysAllocate(exec, a);
    if (!*status) *status = spmv_extract_values(s->cache.plan, a->block, SPMV_DEVICE, exec);
    keep = PETSC_FALSE;
  } else PetscCall(ArraysUploadValues(A, exec, a, status));
  if (!*status && keep) CopyKeep(s, &now, exec, a);
  PetscCall(AIJFmtKeyRestore(A, &now));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies written values to the host */
static PetscErrorCode ArraysDownload(Mat A, SpmvExec *exec, AIJFmtArrays *a, SpmvStatus *status)
{
  const int64_t bytes = a->csr.pattern.nnz * (int64_t)sizeof(PetscScalar);

  PetscFunctionBegin;
  a->access = AIJFMT_WRITE;
  PetscCall(MatSeqAIJGetArrayWrite(A, &a->values));
  PetscCall(AIJFmtFetch(exec, a->block, SPMV_DEVICE, bytes, a->values, status));
  PetscCall(ArraysRestoreHost(A, a, *status ? PETSC_FALSE : PETSC_TRUE, a->block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- any matrix ---- */

/*
  Gets arrays of A in exec->space, or on the device if a->stays. A is sequential, of any AIJ type.

  parts   AIJFMT_PATTERN, AIJFMT_VALUES or both
  access  AIJFMT_READ; AIJFMT_UPDATE; AIJFMT_WRITE: all values are overwritten. Values that are written on the device are
          got without the pattern, unless they stay there.
  a       in: stays, fresh, follows, narrow; the rest is overwritten. out: csr, and values if they are written
  status  a refusal: memory may not suffice, or columns may not ascend. There is nothing to restore then.
*/
PetscErrorCode AIJFmtArraysGet(Mat A, unsigned parts, AIJFmtAccess access, SpmvExec *exec, AIJFmtArrays *a,
                               SpmvStatus *status)
{
  const PetscBool narrows = a->narrow && parts & AIJFMT_PATTERN && AIJFMT_INDEX != SPMV_I32 ? PETSC_TRUE : PETSC_FALSE;
  const PetscBool indices = sizeof(AIJFmtCusparseIndex) == sizeof(PetscInt) || !(parts & AIJFMT_PATTERN);
  PetscBool       shared  = PETSC_FALSE;
  Mat_AIJFmt     *s;
  AIJFmtKey       now;

  PetscFunctionBegin;
  *status            = SPMV_SUCCESS;
  *a                 = (AIJFmtArrays){.parts   = parts,
                                      .access  = access,
                                      .stays   = a->stays,
                                      .fresh   = a->fresh,
                                      .follows = a->follows,
                                      .narrow  = a->narrow};
  a->csr.scalar_type = AIJFMT_SCALAR;
  PetscCall(AIJFmtHostPatternGet(A, &a->csr.pattern)); /* the arrays stay with the matrix */
  if (a->stays) PetscCall(AIJFmtStateOfAnyType(A, &s));
  else PetscCall(AIJFmtStateGet(A, &s));
  if (!a->stays && !narrows && exec->space == SPMV_DEVICE) PetscCall(ArraysGetShared(A, s, a, &shared));
  if (a->stays) PetscCall(ArraysGetParent(A, s, a));
  else if (narrows) PetscCall(ArraysUpload(A, &a->csr.pattern, exec, a, status));
  else if (shared) *status = SPMV_SUCCESS;
  else if (exec->space == SPMV_HOST) PetscCall(ArraysGetHost(A, a));
  else if (access == AIJFMT_WRITE) *status = ArraysAllocate(exec, a);
  else if (access == AIJFMT_UPDATE) PetscCall(ArraysUploadValues(A, exec, a, status));
  else if (s && indices && AIJFmtPlacesGet(A, s).device_csr && !AIJFmtBoundToCPU(A))
    PetscCall(ArraysGetParent(A, s, a));
  else PetscCall(ArraysRead(A, s, exec, a, status));
  if ((parts & AIJFMT_PATTERN) && s && s->blocks.rows && !*status) {
    PetscCall(AIJFmtKeyGet(A, &now));
    if (AIJFmtSameStructure(&s->blocks_key, &now)) a->blocks = s->blocks;
    PetscCall(AIJFmtKeyRestore(A, &now));
  }
  if (*status) {
    spmv_scratch_free(exec, SPMV_DEVICE, a->block);
    *a = (AIJFmtArrays){.parts = 0};
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives the arrays back. status: NULL if they were only read. If it is a failure, the values are those from before,
   unless they stay where they were written. */
PetscErrorCode AIJFmtArraysRestore(Mat A, SpmvExec *exec, AIJFmtArrays *a, SpmvStatus *status)
{
  PetscFunctionBegin;
  /* The host may write to them from now on. PCGAMG writes to no matrix that it has made a graph or a product of. */
  if (a->shared && a->access == AIJFMT_READ && aijfmt_process.set_ups > 0) aijfmt_process.reads_shared = PETSC_TRUE;
  else if (a->shared) AIJFmtCallSpmv(exec, spmv_stream_wait(exec));
  if (a->here) PetscCall(MatSeqAIJRestoreArrayRead(A, &a->here));
  if (a->parts && a->access != AIJFMT_READ) {
    if (a->of_parent)
      AIJFmtAs(A, AIJFMT_PARENT_CUDA, AIJFmtCusparseRestoreArray(A, &a->values)); /* marks them as current */
    else if (!a->copied)
      PetscCall(ArraysRestoreHost(A, a, a->shared && !*status ? PETSC_TRUE : PETSC_FALSE, a->csr.values));
    else if (!*status) PetscCall(ArraysDownload(A, exec, a, status));
  }
  if (a->block) spmv_scratch_free(exec, SPMV_DEVICE, a->block);
  *a = (AIJFmtArrays){.parts = 0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays that a plan in s->exec.space is made from: transitions 3 and 4 of places.c. Nothing is copied, so each
   array may be on the host or on the device. A plan on the device takes values from the parent's CSR if only that is
   current; a format that borrows always takes pattern and values there (transition 7). */
PetscErrorCode AIJFmtArraysForPlan(Mat A, Mat_AIJFmt *s, const AIJFmtKey *now, PetscBool pattern, AIJFmtArrays *a)
{
  const PetscBool borrows = AIJFmtPlanOptions(s)->format->borrows ? PETSC_TRUE : PETSC_FALSE;
  const PetscBool device  = s->exec.space == SPMV_DEVICE ? PETSC_TRUE : PETSC_FALSE;
  PetscBool       shares;

  PetscFunctionBegin;
  *a     = (AIJFmtArrays){.parts = AIJFMT_VALUES | (borrows ? AIJFMT_PATTERN : 0), .access = AIJFMT_READ};
  a->csr = (SpmvCsr){.pattern = now->pattern, .scalar_type = AIJFMT_SCALAR, .values_space = SPMV_HOST};
  if (device && AIJFmtIsOverCuda(s) && !AIJFmtBoundToCPU(A) && (borrows || !AIJFmtPlacesGet(A, s).host)) {
    PetscCall(ArraysGetParent(A, s, a));
    if (!borrows) a->csr.pattern = now->pattern;
  } else PetscCall(ArraysGetHost(A, a));
  if (device && !borrows && spmv_shared_holds(a->csr.values)) {
    a->shared           = PETSC_TRUE;
    a->csr.values_space = SPMV_DEVICE;
  }
  if (device && !borrows) PetscCall(AIJFmtSharedPattern(A, &a->csr.pattern, &shares));
  if (!device || borrows || !CopyServes(s, now, pattern, PETSC_TRUE)) PetscFunctionReturn(PETSC_SUCCESS);
  if (pattern) a->csr.pattern = s->copy.csr.pattern;
  a->csr.values       = s->copy.csr.values;
  a->csr.values_space = SPMV_DEVICE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
