/*
  there.c - the CSR arrays of a sequential matrix in device memory, for code that reads them once: graphs, products of
  matrices, the conversion to a plan.

  They are the arrays of the CUDA parent if these are current, else a copy of the host's. PCGAMG reads its matrix
  several times in a set-up: for the graph, two products and the plan. So the copy stays until the set-up ends;
  otherwise it is freed after use. The copy never counts as the place of the current values: truth.c does not know it.
*/
#include "seqaijfmt.h"

/* Checks a pattern once; a pattern made by a product of matrices is not checked */
PetscErrorCode AIJFmtPatternCheck(Mat A, const SpmvPattern *here, SpmvExec *exec, SpmvStatus *status)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  *status = SPMV_SUCCESS;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s && s->checked_id == ((PetscObject)A)->id && s->checked_state == A->nonzerostate)
    PetscFunctionReturn(PETSC_SUCCESS);
  *status = spmv_pattern_check(here, exec);
  if (!*status) PetscCall(AIJFmtPatternIsRight(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtPatternIsRight(Mat A)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  s->checked_id    = ((PetscObject)A)->id;
  s->checked_state = A->nonzerostate;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- copies that stay until the set-up ends ---- */

void AIJFmtCopyFree(Mat_AIJFmt *s)
{
  Mat_AIJFmt **link = &aijfmt_process.copied;

  if (!s->copy.block) return;
  spmv_scratch_free(&s->copy.exec, SPMV_DEVICE, s->copy.block);
  s->copy.block = NULL;
  while (*link != s) link = &(*link)->copy.after;
  *link = s->copy.after;
}

/* Set-ups may be nested: a preconditioner may contain another */
void AIJFmtCopiesBegin(void) { aijfmt_process.set_ups++; }

void AIJFmtCopiesEnd(void)
{
  if (--aijfmt_process.set_ups > 0) return;
  while (aijfmt_process.copied) AIJFmtCopyFree(aijfmt_process.copied);
  spmv_scratch_trim();
}

static PetscBool CopyServes(const Mat_AIJFmt *s, const AIJFmtKey *now, PetscBool pattern, PetscBool values)
{
  if (!s->copy.block || !AIJFmtSameStructure(&s->copy.key, now)) return PETSC_FALSE;
  if (pattern && !s->copy.csr.pattern.row_ptr) return PETSC_FALSE;
  return !values || (s->copy.csr.values && s->copy.key.value_state == now->value_state) ? PETSC_TRUE : PETSC_FALSE;
}

/* Finds a copy with the current values. pattern: *csr gets pattern and values, else the values only. */
PetscBool AIJFmtCopyFind(const Mat_AIJFmt *s, const AIJFmtKey *now, PetscBool pattern, SpmvCsr *csr)
{
  if (!CopyServes(s, now, pattern, PETSC_TRUE)) return PETSC_FALSE;
  if (pattern) csr->pattern = s->copy.csr.pattern;
  csr->values       = s->copy.csr.values;
  csr->values_space = SPMV_DEVICE;
  return PETSC_TRUE;
}

static void CopyKeep(Mat_AIJFmt *s, const AIJFmtKey *now, const SpmvExec *exec, AIJFmtThere *there)
{
  AIJFmtCopyFree(s);
  if (!there->block) return; /* no nonzeros: without a block, the copy would never be taken off the list */
  s->copy.exec          = *exec;
  s->copy.csr           = there->csr;
  s->copy.block         = there->block;
  s->copy.key           = *now;
  s->copy.after         = aijfmt_process.copied;
  aijfmt_process.copied = s;
  there->block          = NULL;
}

/* ---- any matrix ---- */

static PetscErrorCode Upload(Mat A, const SpmvPattern *here, PetscBool values, SpmvExec *exec, AIJFmtThere *there,
                             SpmvStatus *status)
{
  const PetscScalar *array = NULL;

  PetscFunctionBegin;
  PetscCall(AIJFmtPatternCheck(A, here, exec, status));
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  if (values) PetscCall(MatSeqAIJGetArrayRead(A, &array));
  PetscCall(AIJFmtUpload(exec, here, array, AIJFMT_INDEX, &there->csr, &there->block, status));
  if (values) PetscCall(MatSeqAIJRestoreArrayRead(A, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pattern of A on the device, and its values if asked for. status: memory may not suffice, or columns may not
   ascend. Call AIJFmtThereRestore() afterwards. */
PetscErrorCode AIJFmtThereGet(Mat A, PetscBool values, SpmvExec *exec, AIJFmtThere *there, SpmvStatus *status)
{
  AIJFmtKey   now;
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  *status = SPMV_SUCCESS;
  *there  = (AIJFmtThere){.block = NULL};
  PetscCall(AIJFmtStateGet(A, &s));
  if (s && AIJFmtTruthGet(A, s).device_csr && !AIJFmtBoundToCPU(A) && sizeof(AIJFmtCusparseIndex) == sizeof(PetscInt)) {
    PetscCall(AIJFmtDeviceCsrGet(A, s, &there->csr));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(AIJFmtKeyGet(A, &now));
  if (s && CopyServes(s, &now, PETSC_TRUE, values)) there->csr = s->copy.csr;
  else {
    PetscCall(Upload(A, &now.pattern, values, exec, there, status));
    if (!*status && s && aijfmt_process.set_ups > 0) CopyKeep(s, &now, exec, there);
  }
  PetscCall(AIJFmtKeyRestore(A, &now));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UploadValues(Mat A, int64_t nonzeros, SpmvExec *exec, AIJFmtThere *there, SpmvStatus *status)
{
  const int64_t      bytes = nonzeros * (int64_t)sizeof(PetscScalar);
  const PetscScalar *here;

  PetscFunctionBegin;
  *status = spmv_scratch_alloc(exec, SPMV_DEVICE, bytes, "values of a matrix", &there->block);
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJGetArrayRead(A, &here));
  *status = spmv_copy(there->block, SPMV_DEVICE, here, SPMV_HOST, bytes, exec);
  PetscCall(MatSeqAIJRestoreArrayRead(A, &here));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Only the values of a matrix of ours. During a set-up the plan gets its new values from the same copy. */
PetscErrorCode AIJFmtThereValuesGet(Mat A, Mat_AIJFmt *s, SpmvExec *exec, AIJFmtThere *there, SpmvStatus *status)
{
  AIJFmtKey now;

  PetscFunctionBegin;
  *status = SPMV_SUCCESS;
  *there  = (AIJFmtThere){.block = NULL};
  if (AIJFmtTruthGet(A, s).device_csr && !AIJFmtBoundToCPU(A)) {
    PetscCall(AIJFmtDeviceCsrGet(A, s, &there->csr));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(AIJFmtKeyGet(A, &now));
  if (!AIJFmtCopyFind(s, &now, PETSC_FALSE, &there->csr)) {
    const PetscBool packed = AIJFmtPlanOnGpu(s) && !s->cache.plan->format->borrows && AIJFmtTruthGet(A, s).plan;

    if (packed) {
      *status = spmv_scratch_alloc(exec, SPMV_DEVICE, now.pattern.nnz * (int64_t)sizeof(PetscScalar),
                                   "values of a matrix", &there->block);
      if (!*status) *status = spmv_extract_values(s->cache.plan, there->block, SPMV_DEVICE, exec);
    } else PetscCall(UploadValues(A, now.pattern.nnz, exec, there, status));
    there->csr = (SpmvCsr){.scalar_type = AIJFMT_SCALAR, .values_space = SPMV_DEVICE, .values = there->block};
    if (!*status && !packed && aijfmt_process.set_ups > 0) CopyKeep(s, &now, exec, there);
  }
  PetscCall(AIJFmtKeyRestore(A, &now));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void AIJFmtThereRestore(SpmvExec *exec, AIJFmtThere *there)
{
  spmv_scratch_free(exec, SPMV_DEVICE, there->block);
  *there = (AIJFmtThere){.block = NULL};
}

/* ---- from the device to a matrix ---- */

/* Copies a pattern on the device into a new sequential matrix whose type and sizes are set, and assembles it; its
   values are set later */
PetscErrorCode AIJFmtPatternFromDevice(Mat A, const SpmvPattern *from, SpmvExec *exec)
{
  PetscInt      *lengths;
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(AIJFmtLengthsFetch(exec, from, &lengths));
  error = MatSeqAIJSetPreallocation(A, 0, lengths);
  PetscCall(PetscFree(lengths));
  PetscCall(error);
  PetscCall(AIJFmtColumnsFetch(exec, from, A));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(AIJFmtPatternIsRight(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same with values. They stay on the device if A has a CSR there; otherwise they are copied to the host. */
PetscErrorCode AIJFmtFromDevice(Mat A, const SpmvCsr *from, SpmvExec *exec)
{
  const int64_t bytes  = from->pattern.nnz * (int64_t)sizeof(PetscScalar);
  PetscBool     device = PETSC_FALSE;
  PetscScalar  *values;
  Mat_AIJFmt   *s;
  SpmvStatus    status;

  PetscFunctionBegin;
  PetscCall(AIJFmtPatternFromDevice(A, &from->pattern, exec));
  PetscCall(AIJFmtStateGet(A, &s));
  if (s) PetscCall(AIJFmtDeviceCsrDecide(A, s, "a matrix made on the GPU", AIJFMT_WANTS, &device));
  if (device) {
    PetscCall(AIJFmtDeviceValuesFirst(A, &values));
    status = spmv_copy(values, SPMV_DEVICE, from->values, from->values_space, bytes, exec);
    PetscCall(AIJFmtDeviceValuesRestore(A, &values));
  } else {
    PetscCall(MatSeqAIJGetArrayWrite(A, &values));
    status = spmv_copy(values, SPMV_HOST, from->values, from->values_space, bytes, exec);
    if (!status) status = spmv_stream_wait(exec);
    PetscCall(MatSeqAIJRestoreArrayWrite(A, &values));
    PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
  }
  AIJFmtCallSpmv(exec, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}
