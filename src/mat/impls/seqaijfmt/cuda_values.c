/*
  cuda_values.c - operations on values that lie in the CSR of the CUDA parent, on the device.

  offloadmask tells which copy of the values is current: the host's, the device's, or both. Values go to the device when
  the plan is there already, or when they have come there by themselves: by COO, or as the result of a product of
  matrices. Where the memory of the device does not suffice, the host does the operation.
*/
#include "cuda.h"

#if defined(AIJFMT_HAVE_CUDA_PARENT)

enum { SPARE_BYTES = 64 << 20 /* of the device's memory, which a CSR may not take */ };

/* Whether the device has the current values. Where both copies are marked as current and the state has grown since the
   last product, functions of PETSc may have written on the host without marking that. */
PetscBool AIJFmtCudaIsCurrent(Mat A, const Mat_AIJFmt *s)
{
  if (A->offloadmask == PETSC_OFFLOAD_GPU) return PETSC_TRUE;
  return A->offloadmask == PETSC_OFFLOAD_BOTH ? AIJFmtKeyHolds(A, s, ((PetscObject)A)->state) : PETSC_FALSE;
}

/* Whether a CSR of A fits into what is free on the device, with a reason where it does not */
static PetscErrorCode HasMemory(Mat A, Mat_AIJFmt *s, const char operation[], PetscBool *has)
{
  SpmvPattern pattern;
  int64_t     free_bytes, total, bytes;

  PetscFunctionBegin;
  *has = PETSC_TRUE;
  if (s->device_csr) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtHostPatternGet(A, &pattern));
  bytes = spmv_csr_bytes(&pattern, AIJFMT_SCALAR);
  PetscCall(AIJFmtHostPatternRestore(A, &pattern));
  AIJFmtCallSpmv(&s->exec, spmv_device_memory(&free_bytes, &total, &s->exec));
  if (bytes + SPARE_BYTES <= free_bytes) PetscFunctionReturn(PETSC_SUCCESS);
  *has = PETSC_FALSE;
  PetscCall(PetscSNPrintf(s->values_reason, sizeof s->values_reason,
                          "%s: a CSR of %lld bytes does not fit into the %lld that are free on the GPU", operation,
                          (long long)bytes, (long long)free_bytes));
  PetscCall(PetscInfo(A, "values stay on the host: %s\n", s->values_reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How much an operation wants the values on the device, where they are not there yet */
typedef enum {
  WANTS_FROM_SECOND, /* the first time it takes less to change the host's values, and a plan that has these alike */
  WANTS_WITH_PLAN,   /* where the plan is there */
  WANTS              /* in any case */
} Wish;

/* Whether values that are not on the device are brought there */
static PetscBool GoesToDevice(Mat A, const Mat_AIJFmt *s, Wish wish)
{
  if (wish == WANTS) return PETSC_TRUE;
  if (!s->plan || s->plan->space != SPMV_DEVICE) return PETSC_FALSE;
  return wish == WANTS_WITH_PLAN || (s->host_changes > 0 && AIJFmtPlanFollows(A, s)) ? PETSC_TRUE : PETSC_FALSE;
}

/* Whether an operation shall be done on the values on the device. When it is true, the parent brings the values there,
   where they are not. */
static PetscErrorCode OnDevice(Mat A, Mat_AIJFmt *s, const char operation[], Wish wish, PetscBool *device)
{
  PetscBool has;

  PetscFunctionBegin;
  PetscCall(AIJFmtIsCudaParent(s, device));
  if (!*device) PetscFunctionReturn(PETSC_SUCCESS);
  *device = PETSC_FALSE;
  if (s->class_options.value[AIJFMT_DEVICE] == AIJFMT_ON_HOST || s->keeps_host || AIJFmtBoundToCPU(A) ||
      A->structure_only || A->factortype || AIJFmtHashActive(A) || !A->assembled || AIJFmtIsHostProduct(A))
    PetscFunctionReturn(PETSC_SUCCESS);
  if (!AIJFmtCudaIsCurrent(A, s)) {
    if (!GoesToDevice(A, s, wish)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HasMemory(A, s, operation, &has));
    if (!has) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscInfo(A, "values go to the CSR on the GPU for %s\n", operation));
    PetscCall(AIJFmtCudaHostWritten(A));
  }
  PetscCall(PetscSNPrintf(s->values_reason, sizeof s->values_reason, "since %s", operation));
  s->device_csr = PETSC_TRUE;
  *device       = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtCudaScale(Mat A, Mat_AIJFmt *s, PetscScalar a, PetscBool *done)
{
  AIJFmtNameGuard guard;
  PetscErrorCode  error;

  PetscFunctionBegin;
  PetscCall(OnDevice(A, s, "MatScale()", WANTS_FROM_SECOND, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtNameGuardBegin(A, s, &guard));
  error = s->parent->seq.scale(A, a);
  PetscCall(AIJFmtNameGuardEnd(A, &guard));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v, or a copy of its local entries on the device, which the parent wants. *copy: to be destroyed. */
static PetscErrorCode DeviceVec(Mat A, PetscBool left, Vec v, Vec *there, Vec *copy)
{
  const PetscScalar *array;
  PetscScalar       *to;
  PetscInt           n;
  PetscBool          device = PETSC_TRUE;

  PetscFunctionBegin;
  *copy  = NULL;
  *there = v;
  if (v) PetscCall(AIJFmtCudaIsVec(v, &device));
  if (device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(A, left ? NULL : copy, left ? copy : NULL));
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayRead(v, &array));
  PetscCall(VecGetArrayWrite(*copy, &to));
  PetscCall(PetscArraycpy(to, array, n));
  PetscCall(VecRestoreArrayWrite(*copy, &to));
  PetscCall(VecRestoreArrayRead(v, &array));
  *there = *copy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtCudaDiagonalScale(Mat A, Mat_AIJFmt *s, Vec l, Vec r, PetscBool *done)
{
  AIJFmtNameGuard guard;
  PetscErrorCode  error;
  Vec             left, right, copy[2];

  PetscFunctionBegin;
  PetscCall(OnDevice(A, s, "MatDiagonalScale()", WANTS_FROM_SECOND, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceVec(A, PETSC_TRUE, l, &left, &copy[0]));
  PetscCall(DeviceVec(A, PETSC_FALSE, r, &right, &copy[1]));
  PetscCall(AIJFmtNameGuardBegin(A, s, &guard));
  error = s->parent->seq.diagonalscale(A, left, right);
  PetscCall(AIJFmtNameGuardEnd(A, &guard));
  for (int v = 0; v < 2; v++) PetscCall(VecDestroy(&copy[v]));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent's arrays on the device, which it makes, or brings up to date, from those of the host where it must */
PetscErrorCode AIJFmtCudaArraysGet(Mat A, Mat_AIJFmt *s, SpmvCsr *csr)
{
  const AIJFmtCusparseIndex *row_ptr, *col;
  AIJFmtNameGuard            guard;
  PetscErrorCode             error;
  PetscScalar               *values;
  SpmvPattern                host;

  PetscFunctionBegin;
  PetscCall(AIJFmtNameGuardBegin(A, s, &guard));
  error = MatSeqAIJGetCSRAndMemType(A, NULL, NULL, &values, NULL);
  if (!error) error = MatSeqAIJCUSPARSEGetIJ(A, PETSC_FALSE, &row_ptr, &col);
  PetscCall(AIJFmtNameGuardEnd(A, &guard));
  PetscCall(error);
  PetscCall(AIJFmtHostPatternGet(A, &host));
  csr->pattern = host;
  PetscCall(AIJFmtHostPatternRestore(A, &host));
  csr->scalar_type        = AIJFMT_SCALAR;
  csr->values_space       = SPMV_DEVICE;
  csr->values             = values;
  csr->pattern.space      = SPMV_DEVICE;
  csr->pattern.index_type = sizeof(AIJFmtCusparseIndex) == 8 ? SPMV_I64 : SPMV_I32;
  csr->pattern.row_ptr    = row_ptr;
  csr->pattern.col        = col;
  s->device_csr           = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values on the device, to be changed there. AIJFmtCudaValuesRestore() marks them as the current ones. */
static PetscErrorCode ValuesGet(Mat A, Mat_AIJFmt *s, PetscScalar **values)
{
  AIJFmtNameGuard guard;
  PetscErrorCode  error;

  PetscFunctionBegin;
  PetscCall(AIJFmtNameGuardBegin(A, s, &guard));
  error = MatSeqAIJCUSPARSEGetArray(A, values);
  PetscCall(AIJFmtNameGuardEnd(A, &guard));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for a caller that overwrites all of them. done: false where they shall not lie on the device. */
PetscErrorCode AIJFmtCudaValuesGetWrite(Mat A, Mat_AIJFmt *s, const char operation[], PetscScalar **values,
                                        PetscBool *done)
{
  PetscFunctionBegin;
  PetscCall(OnDevice(A, s, operation, WANTS, done));
  if (*done) PetscCall(ValuesGet(A, s, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtCudaValuesRestore(Mat A, Mat_AIJFmt *s, PetscScalar **values)
{
  AIJFmtNameGuard guard;
  PetscErrorCode  error;

  PetscFunctionBegin;
  PetscCall(AIJFmtNameGuardBegin(A, s, &guard));
  error = MatSeqAIJCUSPARSERestoreArray(A, values);
  PetscCall(AIJFmtNameGuardEnd(A, &guard));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How the kernels of the library run on the parent's arrays */
static PetscErrorCode DeviceExec(const Mat_AIJFmt *s, SpmvExec *exec)
{
  PetscFunctionBegin;
  *exec       = s->exec;
  exec->space = SPMV_DEVICE;
  PetscCall(AIJFmtCudaStream(exec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each row must have its diagonal entry */
PetscErrorCode AIJFmtCudaShift(Mat A, Mat_AIJFmt *s, PetscScalar a, PetscBool *done)
{
  PetscScalar *values;
  SpmvCsr      csr;
  SpmvExec     exec;

  PetscFunctionBegin;
  PetscCall(OnDevice(A, s, "MatShift()", WANTS_FROM_SECOND, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceExec(s, &exec));
  PetscCall(AIJFmtCudaArraysGet(A, s, &csr));
  PetscCall(ValuesGet(A, s, &values));
  AIJFmtCallSpmv(&exec, spmv_csr_shift(&csr.pattern, csr.scalar_type, &a, values, &exec));
  PetscCall(AIJFmtCudaValuesRestore(A, s, &values));
  PetscCall(AIJFmtLogGpuFlops(PetscMin(A->rmap->n, A->cmap->n)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonal from the CSR on the device, where that is current, into an array [rows] there. The parent's own function
   is wrong where most rows are empty: the device has the others alone then, and it takes the k-th of these for row k.
 */
PetscErrorCode AIJFmtCudaDiagonal(Mat A, Mat_AIJFmt *s, void *diagonal, PetscBool *done)
{
  SpmvCsr csr;

  PetscFunctionBegin;
  PetscCall(AIJFmtIsCudaParent(s, done));
  if (!*done || AIJFmtBoundToCPU(A) || !AIJFmtCudaIsCurrent(A, s)) {
    *done = PETSC_FALSE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(AIJFmtCudaArraysGet(A, s, &csr));
  AIJFmtCallSpmv(&s->exec, spmv_csr_diagonal(&csr, diagonal, &s->exec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PatternKey(Mat A, AIJFmtKey *key)
{
  PetscFunctionBegin;
  *key = (AIJFmtKey){.id = ((PetscObject)A)->id, .nonzero_state = A->nonzerostate};
  PetscCall(AIJFmtHostPatternGet(A, &key->pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ComparePatterns(const SpmvPattern *a, const SpmvPattern *b, PetscBool *same)
{
  PetscFunctionBegin;
  *same = a->nnz == b->nnz ? PETSC_TRUE : PETSC_FALSE;
  if (*same) PetscCall(PetscMemcmp(a->row_ptr, b->row_ptr, (size_t)(a->rows + 1) * sizeof(PetscInt), same));
  if (*same) PetscCall(PetscMemcmp(a->col, b->col, (size_t)a->nnz * sizeof(PetscInt), same));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether both have the same pattern; the caller knows that their sizes are equal. The answer is kept: to compare
   again in each step of a loop would take as long as all else that is done on the device. */
static PetscErrorCode SamePattern(Mat A, Mat_AIJFmt *s, Mat B, PetscBool *same)
{
  AIJFmtKey key, other;

  PetscFunctionBegin;
  PetscCall(PatternKey(A, &key));
  PetscCall(PatternKey(B, &other));
  if (!s->compared.known || !AIJFmtSameStructure(&s->compared.key, &key) ||
      !AIJFmtSameStructure(&s->compared.other, &other)) {
    PetscCall(ComparePatterns(&key.pattern, &other.pattern, &s->compared.same));
    s->compared.key   = key;
    s->compared.other = other;
    s->compared.known = PETSC_TRUE;
  }
  *same = s->compared.same;
  PetscCall(AIJFmtHostPatternRestore(B, &other.pattern));
  PetscCall(AIJFmtHostPatternRestore(A, &key.pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HasEmptyRow(Mat A, PetscBool *has)
{
  SpmvPattern pattern;

  PetscFunctionBegin;
  *has = PETSC_FALSE;
  PetscCall(AIJFmtHostPatternGet(A, &pattern));
  const PetscInt *row_ptr = pattern.row_ptr;
  for (int64_t i = 0; pattern.nnz > 0 && i < pattern.rows && !*has; i++)
    *has = row_ptr[i] == row_ptr[i + 1] ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(AIJFmtHostPatternRestore(A, &pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the parent adds matrices with these patterns on the device, and rightly: it passes the shorter row pointers
   of a matrix with many empty rows to cuSPARSE as if they were whole, and a new pattern would get the parent's type. */
static PetscErrorCode AddsOnDevice(Mat Y, Mat_AIJFmt *s, Mat X, MatStructure *structure, PetscBool *adds)
{
  PetscBool same = PETSC_FALSE, empty = PETSC_FALSE;

  PetscFunctionBegin;
  if (*structure != SAME_NONZERO_PATTERN) PetscCall(SamePattern(Y, s, X, &same));
  if (same) *structure = SAME_NONZERO_PATTERN;
  *adds = *structure == SAME_NONZERO_PATTERN ? PETSC_TRUE : PETSC_FALSE;
  if (*adds || *structure != SUBSET_NONZERO_PATTERN || PetscDefined(USE_64BIT_INDICES) || Y->cmap->n == 1)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HasEmptyRow(Y, &empty));
  if (!empty) PetscCall(HasEmptyRow(X, &empty));
  *adds = empty ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent adds on the device when both matrices have the same function for it */
static PetscErrorCode MatAXPY_SeqAIJFmt(Mat Y, PetscScalar a, Mat X, MatStructure structure)
{
  const AIJFmtParent *host;
  AIJFmtNameGuard     guard[2];
  PetscErrorCode      error;
  Mat_AIJFmt         *to, *from;
  MatStructure        known  = structure;
  PetscBool           device = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(Y, &to));
  PetscCall(AIJFmtStateGet(X, &from));
  if (to && from && X->ops->axpy == Y->ops->axpy) PetscCall(OnDevice(Y, to, "MatAXPY()", WANTS_WITH_PLAN, &device));
  if (device) PetscCall(AddsOnDevice(Y, to, X, &known, &device));
  if (device) PetscCall(OnDevice(X, from, "MatAXPY()", WANTS, &device));
  if (!device) {
    PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &host));
    PetscCall(host->seq.axpy(Y, a, X, structure));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(AIJFmtNameGuardBegin(Y, to, &guard[0]));
  PetscCall(AIJFmtNameGuardBegin(X, from, &guard[1]));
  error = to->parent->seq.axpy(Y, a, X, known);
  PetscCall(AIJFmtNameGuardEnd(X, &guard[1]));
  PetscCall(AIJFmtNameGuardEnd(Y, &guard[0]));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies values from device to device where those of A are current there. The host's function compares the operations
   of both matrices, which are equal in a pair of ours. */
static PetscErrorCode MatCopy_SeqAIJFmt(Mat A, Mat B, MatStructure structure)
{
  const AIJFmtParent *host;
  Mat_AIJFmt         *from, *to;
  PetscScalar        *values;
  SpmvCsr             csr;
  SpmvExec            exec;
  PetscBool           device = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &from));
  PetscCall(AIJFmtStateGet(B, &to));
  if (from && to && structure == SAME_NONZERO_PATTERN && A->ops->copy == B->ops->copy && AIJFmtCudaIsCurrent(A, from))
    PetscCall(SamePattern(A, from, B, &device));
  if (device) PetscCall(OnDevice(B, to, "MatCopy()", WANTS, &device));
  if (!device) {
    PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &host));
    PetscCall(host->seq.copy(A, B, structure));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DeviceExec(to, &exec));
  PetscCall(AIJFmtCudaArraysGet(A, from, &csr));
  PetscCall(ValuesGet(B, to, &values));
  AIJFmtCallSpmv(&exec, spmv_copy(values, SPMV_DEVICE, csr.values, SPMV_DEVICE,
                                  csr.pattern.nnz * (int64_t)sizeof(PetscScalar), &exec));
  PetscCall(AIJFmtCudaValuesRestore(B, to, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtCudaValuesInstall(Mat A)
{
  PetscFunctionBegin;
  A->ops->axpy = MatAXPY_SeqAIJFmt;
  A->ops->copy = MatCopy_SeqAIJFmt;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
