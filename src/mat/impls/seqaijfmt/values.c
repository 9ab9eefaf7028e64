/*
  values.c - operations on the values of a sequential matrix, with as little traffic between host and GPU as they need:
  MatGetDiagonal(), MatScale(), MatDiagonalScale() and MatShift().

  Where the values lie in the CSR of the CUDA parent, they are changed there (cuda_values.c), and the plan takes them
  from there at the next product. Else the CSR of the host is changed, and a plan on the GPU in the same way, so that
  nothing is uploaded: what the plan has afterwards has the same bits as the CSR.
*/
#include "seqaijfmt.h"
#include "cuda.h"

/* Whether the plan is on the GPU, has the values that A has now, and may be changed by itself */
PetscBool AIJFmtPlanFollows(Mat A, const Mat_AIJFmt *s)
{
  if (!s->plan || s->plan->space != SPMV_DEVICE || s->plan->format->borrows) return PETSC_FALSE;
  return AIJFmtKeyHolds(A, s, ((PetscObject)A)->state);
}

/* Changes the plan as the CSR of the host was changed. value_state is the state that A will have when PETSc's function
   returns. Where the plan cannot be changed, because the GPU's memory is full, the next product uploads the values. */
static PetscErrorCode ChangePlan(Mat_AIJFmt *s, SpmvChange change, Vec l, Vec r, PetscObjectState value_state)
{
  AIJFmtOperand left, right;
  SpmvStatus    status;

  PetscFunctionBegin;
  PetscCall(AIJFmtCudaStream(&s->exec));
  if (l) PetscCall(AIJFmtOperandGet(s, l, &s->buffer_y, PETSC_FALSE, PETSC_FALSE, &left));
  if (r) PetscCall(AIJFmtOperandGet(s, r, &s->buffer_x, PETSC_FALSE, PETSC_FALSE, &right));
  if (l) change.left = left.data;
  if (r) change.right = right.data;
  status = spmv_change_values(s->plan, &change, &s->exec);
  if (r) PetscCall(AIJFmtOperandRestore(s, &right));
  if (l) PetscCall(AIJFmtOperandRestore(s, &left));
  if (status == SPMV_ERR_MEMORY || status == SPMV_ERR_UNSUPPORTED) PetscFunctionReturn(PETSC_SUCCESS);
  AIJFmtCallSpmv(&s->exec, status);
  s->key.value_state = value_state;
  s->transpose_ready = PETSC_FALSE;
  s->host_changes++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes the CSR of the host by several threads */
static PetscErrorCode ChangeHost(Mat A, Mat_AIJFmt *s, const SpmvChange *change, PetscLogDouble flops_per_nonzero)
{
  PetscScalar *values;
  SpmvPattern  pattern;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetArray(A, &values));
  PetscCall(AIJFmtHostPatternGet(A, &pattern));
  AIJFmtCallSpmv(&s->exec, spmv_host_change(&pattern, AIJFMT_SCALAR, change, values, &s->exec));
  PetscCall(PetscLogFlops(flops_per_nonzero * (PetscLogDouble)pattern.nnz));
  PetscCall(AIJFmtHostPatternRestore(A, &pattern));
  PetscCall(MatSeqAIJRestoreArray(A, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatScale() raises the state once after this function */
static PetscErrorCode MatScale_SeqAIJFmt(Mat A, PetscScalar a)
{
  const SpmvChange    change = {.alpha = &a};
  const AIJFmtParent *host;
  Mat_AIJFmt         *s;
  PetscBool           done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &host));
  PetscCall(AIJFmtStateGet(A, &s));
  if (s) PetscCall(AIJFmtCudaScale(A, s, a, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  if (!s || !AIJFmtPlanFollows(A, s)) {
    PetscCall(host->seq.scale(A, a));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ChangeHost(A, s, &change, 1));
  PetscCall(ChangePlan(s, change, NULL, NULL, ((PetscObject)A)->state + 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The local entries alone count, so the vectors may be parallel, as those of MatDiagonalScale_MPIAIJ(): it calls this
   function of its blocks directly, so that their state is not raised once more as by MatDiagonalScale(). */
static PetscErrorCode MatDiagonalScale_SeqAIJFmt(Mat A, Vec l, Vec r)
{
  const PetscScalar  *left = NULL, *right = NULL;
  const AIJFmtParent *host;
  Mat_AIJFmt         *s;
  PetscInt            rows = A->rmap->n, cols = A->cmap->n;
  PetscBool           done = PETSC_FALSE;
  SpmvChange          change;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &host));
  PetscCall(AIJFmtStateGet(A, &s));
  if (l) PetscCall(VecGetLocalSize(l, &rows));
  if (r) PetscCall(VecGetLocalSize(r, &cols));
  if (rows != A->rmap->n || cols != A->cmap->n) s = NULL; /* that error is the parent's */
  if (s) PetscCall(AIJFmtCudaDiagonalScale(A, s, l, r, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  if (!s || !AIJFmtPlanFollows(A, s)) {
    PetscCall(host->seq.diagonalscale(A, l, r));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (l) PetscCall(VecGetArrayRead(l, &left));
  if (r) PetscCall(VecGetArrayRead(r, &right));
  change = (SpmvChange){.left = left, .right = right};
  PetscCall(ChangeHost(A, s, &change, (l ? 1 : 0) + (r ? 1 : 0)));
  if (r) PetscCall(VecRestoreArrayRead(r, &right));
  if (l) PetscCall(VecRestoreArrayRead(l, &left));
  change = (SpmvChange){.left = NULL};
  PetscCall(ChangePlan(s, change, l, r, ((PetscObject)A)->state + (s->inner ? 0 : 1)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether c is one of n ascending columns */
static PetscBool HasColumn(PetscInt n, const PetscInt col[], PetscInt c)
{
  PetscInt low = 0;

  for (PetscInt high = n; low < high;) {
    const PetscInt middle = low + (high - low) / 2;
    if (col[middle] < c) low = middle + 1;
    else high = middle;
  }
  return low < n && col[low] == c ? PETSC_TRUE : PETSC_FALSE;
}

/* Whether each row that the diagonal crosses has its entry there; found once for each nonzero pattern */
static PetscErrorCode DiagonalIsFull(Mat A, Mat_AIJFmt *s, PetscBool *full)
{
  const PetscInt last = PetscMin(A->rmap->n, A->cmap->n);
  SpmvPattern    pattern;

  PetscFunctionBegin;
  if (s->diagonal_state != A->nonzerostate || !s->diagonal_known) {
    PetscCall(AIJFmtHostPatternGet(A, &pattern));
    const PetscInt *row_ptr = pattern.row_ptr, *col = pattern.col;
    s->diagonal_full = PETSC_TRUE;
    for (PetscInt i = 0; i < last && s->diagonal_full; i++)
      s->diagonal_full = HasColumn(row_ptr[i + 1] - row_ptr[i], col + row_ptr[i], i);
    s->diagonal_state = A->nonzerostate;
    s->diagonal_known = PETSC_TRUE;
    PetscCall(AIJFmtHostPatternRestore(A, &pattern));
  }
  *full = s->diagonal_full;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatShift() raises the state once after this function. Missing diagonal entries are inserted by the parent, which
   changes the pattern. */
static PetscErrorCode MatShift_SeqAIJFmt(Mat A, PetscScalar a)
{
  const SpmvChange    change = {.shift = &a};
  const AIJFmtParent *host;
  Mat_AIJFmt         *s;
  PetscBool           full = PETSC_FALSE, done = PETSC_FALSE, follows;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &host));
  PetscCall(AIJFmtStateGet(A, &s));
  if (s && A->assembled && !A->structure_only) PetscCall(DiagonalIsFull(A, s, &full));
  if (full) PetscCall(AIJFmtCudaShift(A, s, a, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  follows = full ? AIJFmtPlanFollows(A, s) : PETSC_FALSE;
  PetscCall(host->seq.shift(A, a));
  if (follows) PetscCall(ChangePlan(s, change, NULL, NULL, ((PetscObject)A)->state + 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the device, without a CSR there; done: false where the matrix has no plan there */
static PetscErrorCode DeviceDiagonal(Mat A, Mat_AIJFmt *s, Vec d, PetscBool *done)
{
  AIJFmtOperand operand;
  SpmvStatus    status = SPMV_ERR_UNSUPPORTED;
  PetscInt      n;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(VecGetLocalSize(d, &n));
  if (n != A->rmap->n || n == 0 || A->structure_only) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtSyncIfOnDevice(A, s, d));
  if (s->exec.space != SPMV_DEVICE || !s->key_valid) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtCudaStream(&s->exec));
  PetscCall(AIJFmtOperandGet(s, d, &s->buffer_y, PETSC_TRUE, PETSC_FALSE, &operand));
  PetscCall(AIJFmtCudaDiagonal(A, s, operand.data, done));
  if (!*done && s->plan) {
    status = spmv_get_diagonal(s->plan, operand.data, &s->exec);
    *done  = status ? PETSC_FALSE : PETSC_TRUE;
  }
  PetscCall(AIJFmtOperandRestore(s, &operand));
  if (status != SPMV_ERR_UNSUPPORTED) AIJFmtCallSpmv(&s->exec, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetDiagonal_SeqAIJFmt(Mat A, Vec d)
{
  const AIJFmtParent *host;
  Mat_AIJFmt         *s;
  PetscBool           done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s && !A->factortype) PetscCall(DeviceDiagonal(A, s, d, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &host));
  PetscCall(host->seq.getdiagonal(A, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtValuesInstall(Mat A)
{
  PetscFunctionBegin;
  A->ops->scale         = MatScale_SeqAIJFmt;
  A->ops->diagonalscale = MatDiagonalScale_SeqAIJFmt;
  A->ops->shift         = MatShift_SeqAIJFmt;
  A->ops->getdiagonal   = MatGetDiagonal_SeqAIJFmt;
  PetscFunctionReturn(PETSC_SUCCESS);
}
