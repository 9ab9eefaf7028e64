/*
  values.c - operations on the values of a sequential matrix, with little traffic between host and GPU.

  If the values are in the CSR of the CUDA parent, or are to go there (places.c), they are changed there, and the next
  product refreshes the plan from there. Otherwise the CSR on the host is changed, and the same change is applied to a
  plan on the GPU, so that nothing is uploaded. The values in the plan then have the same bits as those on the host.
*/
#include "aijfmt.h"

/* Whether a change on the host can be applied to the plan, too: the plan is on the GPU, has the current values, and
   borrows none */
static PetscBool PlanChangesAlike(Mat A, const Mat_AIJFmt *s)
{
  return AIJFmtPlanOnGpu(s) && !s->cache.plan->format->borrows ? AIJFmtPlacesGet(A, s).plan : PETSC_FALSE;
}

/* The arrays of an SpmvChange as vectors, NULL if the change does not use them. At most one of left, added and
   inserted, which have an entry for each row, is used. */
typedef struct {
  Vec left, right, added, inserted;
} ChangeVectors;

/* Applies to the plan the change that was made on the host. value_state: see AIJFmtPlanWritten(). If the plan cannot be
   changed, for example for lack of memory, the next product uploads the values. */
static PetscErrorCode ChangePlan(Mat_AIJFmt *s, SpmvChange change, const ChangeVectors *v, PetscObjectState value_state)
{
  const Vec  rows   = v->left ? v->left : v->added ? v->added : v->inserted;
  SpmvStatus status = SPMV_SUCCESS;

  PetscFunctionBegin;
  PetscCall(AIJFmtCudaStream(&s->exec));
  if (rows) PetscCall(AIJFmtVectorTry(&s->exec, &s->y, rows, AIJFMT_READ, &status));
  if (status) PetscFunctionReturn(PETSC_SUCCESS);
  if (v->right) PetscCall(AIJFmtVectorTry(&s->exec, &s->x, v->right, AIJFMT_READ, &status));
  if (status && rows) PetscCall(AIJFmtVectorGive(&s->exec, &s->y, &status));
  if (status) PetscFunctionReturn(PETSC_SUCCESS);
  if (v->left) change.left = s->y.data;
  if (v->right) change.right = s->x.data;
  if (v->added) change.added = s->y.data;
  if (v->inserted) change.inserted = s->y.data;
  status = spmv_change_values(s->cache.plan, &change, &s->exec);
  if (v->right) PetscCall(AIJFmtVectorRestore(&s->exec, &s->x));
  if (rows) PetscCall(AIJFmtVectorRestore(&s->exec, &s->y));
  if (status == SPMV_ERR_MEMORY || status == SPMV_ERR_UNSUPPORTED) PetscFunctionReturn(PETSC_SUCCESS);
  AIJFmtCallSpmv(&s->exec, status);
  PetscCall(AIJFmtPlanWritten(s, value_state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes the CSR on the host with several threads */
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

/* An exec for kernels that work on the parent's device arrays */
static PetscErrorCode DeviceExec(const Mat_AIJFmt *s, SpmvExec *exec)
{
  PetscFunctionBegin;
  *exec       = s->exec;
  exec->space = SPMV_DEVICE;
  PetscCall(AIJFmtCudaStream(exec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- MatScale(), MatDiagonalScale(), MatShift(), MatDiagonalSet(): PETSc raises the state once after each ---- */

PetscErrorCode MatScale_SeqAIJFmt(Mat A, PetscScalar a)
{
  const SpmvChange    change = {.alpha = &a};
  const ChangeVectors none   = {.left = NULL};
  Mat_AIJFmt         *s;
  PetscBool           device = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s) PetscCall(AIJFmtDeviceCsrDecide(A, s, "MatScale()", AIJFMT_WANTS_FILLED, &device));
  if (device) AIJFmtAs(A, AIJFMT_PARENT_CUDA, s->parent->seq.scale(A, a));
  else if (s && PlanChangesAlike(A, s)) {
    PetscCall(ChangeHost(A, s, &change, 1));
    PetscCall(ChangePlan(s, change, &none, AIJFmtStateAfter(A)));
  } else AIJFmtHost(scale, A, a);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent needs a device vector: *there is v, or a device copy of its local entries. The caller destroys *copy. */
static PetscErrorCode DeviceVec(Mat A, PetscBool left, Vec v, Vec *there, Vec *copy)
{
  const PetscScalar *array;
  PetscScalar       *to;
  PetscInt           n;
  PetscBool          device = PETSC_TRUE;

  PetscFunctionBegin;
  *copy  = NULL;
  *there = v;
  if (v) PetscCall(AIJFmtVecIsOnDevice(v, &device));
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

static PetscErrorCode DiagonalScaleOnDevice(Mat A, const Mat_AIJFmt *s, Vec l, Vec r)
{
  Vec left, right, copy[2];

  PetscFunctionBegin;
  PetscCall(DeviceVec(A, PETSC_TRUE, l, &left, &copy[0]));
  PetscCall(DeviceVec(A, PETSC_FALSE, r, &right, &copy[1]));
  AIJFmtAs(A, AIJFMT_PARENT_CUDA, s->parent->seq.diagonalscale(A, left, right));
  for (int v = 0; v < 2; v++) PetscCall(VecDestroy(&copy[v]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes host and plan. MatDiagonalScale_MPIAIJ() calls this operation of its blocks directly and does not raise their
   states, so the operation does. MatDiagonalScale() raises the state of its matrix once more: the next product of a
   sequential matrix then refreshes the plan. */
static PetscErrorCode DiagonalScaleBoth(Mat A, Mat_AIJFmt *s, Vec l, Vec r)
{
  const ChangeVectors vectors = {.left = l, .right = r};
  const PetscScalar  *left = NULL, *right = NULL;
  SpmvChange          change;

  PetscFunctionBegin;
  if (l) PetscCall(VecGetArrayRead(l, &left));
  if (r) PetscCall(VecGetArrayRead(r, &right));
  change = (SpmvChange){.left = left, .right = right};
  PetscCall(ChangeHost(A, s, &change, (l ? 1 : 0) + (r ? 1 : 0)));
  if (r) PetscCall(VecRestoreArrayRead(r, &right));
  if (l) PetscCall(VecRestoreArrayRead(l, &left));
  change = (SpmvChange){.left = NULL};
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscCall(ChangePlan(s, change, &vectors, ((PetscObject)A)->state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Only local entries are read, so the vectors may be parallel; MatDiagonalScale_MPIAIJ() passes such vectors */
PetscErrorCode MatDiagonalScale_SeqAIJFmt(Mat A, Vec l, Vec r)
{
  Mat_AIJFmt *s;
  PetscInt    rows = A->rmap->n, cols = A->cmap->n;
  PetscBool   device = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (l) PetscCall(VecGetLocalSize(l, &rows));
  if (r) PetscCall(VecGetLocalSize(r, &cols));
  if (rows != A->rmap->n || cols != A->cmap->n) s = NULL; /* the parent reports wrong sizes */
  if (s) PetscCall(AIJFmtDeviceCsrDecide(A, s, "MatDiagonalScale()", AIJFMT_WANTS_FILLED, &device));
  if (device) PetscCall(DiagonalScaleOnDevice(A, s, l, r));
  else if (s && PlanChangesAlike(A, s)) PetscCall(DiagonalScaleBoth(A, s, l, r));
  else AIJFmtHost(diagonalscale, A, l, r);
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

/* Whether all diagonal entries are in the pattern; computed once for each nonzero state */
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

/* A change of the diagonal: a number or a vector is added to it, or a vector replaces it */
typedef struct {
  const char        *operation; /* for messages */
  const PetscScalar *shift;     /* the number; NULL: use the vector */
  Vec                vector;
  InsertMode         mode;
} DiagonalChange;

static PetscErrorCode DiagonalOnDevice(Mat A, Mat_AIJFmt *s, const DiagonalChange *d)
{
  const int    inserts = d->mode == INSERT_VALUES;
  AIJFmtArrays to      = {.stays = PETSC_TRUE};
  SpmvStatus   status;
  SpmvExec     exec;

  PetscFunctionBegin;
  PetscCall(DeviceExec(s, &exec));
  PetscCall(AIJFmtArraysGet(A, AIJFMT_PATTERN | AIJFMT_VALUES, AIJFMT_UPDATE, &exec, &to, &status));
  if (d->vector) PetscCall(AIJFmtVectorGet(&exec, &s->y, d->vector, AIJFMT_READ));
  if (d->shift) status = spmv_csr_shift(&to.csr.pattern, AIJFMT_SCALAR, d->shift, to.values, &exec);
  else status = spmv_csr_set_diagonal(&to.csr.pattern, AIJFMT_SCALAR, s->y.data, inserts, to.values, &exec);
  if (d->vector) PetscCall(AIJFmtVectorRestore(&exec, &s->y));
  AIJFmtCallSpmv(&exec, status);
  PetscCall(AIJFmtArraysRestore(A, &exec, &to, &status));
  PetscCall(AIJFmtLogGpuFlops(inserts ? 0 : PetscMin(A->rmap->n, A->cmap->n)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The host parent changes its n diagonal entries; with `follows` the plan is changed, too */
static PetscErrorCode DiagonalOnHost(Mat A, Mat_AIJFmt *s, const DiagonalChange *d, PetscBool follows)
{
  const PetscBool     inserts = d->mode == INSERT_VALUES ? PETSC_TRUE : PETSC_FALSE;
  const SpmvChange    change  = {.shift = d->shift};
  const ChangeVectors vectors = {.added = inserts ? NULL : d->vector, .inserted = inserts ? d->vector : NULL};

  PetscFunctionBegin;
  if (d->shift) AIJFmtHost(shift, A, *d->shift);
  else AIJFmtHost(diagonalset, A, d->vector, d->mode);
  if (follows) PetscCall(ChangePlan(s, change, &vectors, AIJFmtStateAfter(A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If diagonal entries are missing, the host parent inserts them, which changes the pattern */
static PetscErrorCode ChangeDiagonal(Mat A, const DiagonalChange *d)
{
  Mat_AIJFmt *s;
  PetscBool   full = PETSC_FALSE, device = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s && A->assembled && !A->structure_only) PetscCall(DiagonalIsFull(A, s, &full));
  if (full) PetscCall(AIJFmtDeviceCsrDecide(A, s, d->operation, AIJFMT_WANTS_FILLED, &device));
  if (device) PetscCall(DiagonalOnDevice(A, s, d));
  else PetscCall(DiagonalOnHost(A, s, d, full ? PlanChangesAlike(A, s) : PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShift_SeqAIJFmt(Mat A, PetscScalar a)
{
  const DiagonalChange change = {.operation = "MatShift()", .shift = &a, .mode = ADD_VALUES};

  PetscFunctionBegin;
  PetscCall(ChangeDiagonal(A, &change));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* d has an entry for each row. Only the diagonal of a square matrix is equally long. */
PetscErrorCode MatDiagonalSet_SeqAIJFmt(Mat A, Vec d, InsertMode mode)
{
  const DiagonalChange change = {.operation = "MatDiagonalSet()", .vector = d, .mode = mode};

  PetscFunctionBegin;
  if (A->rmap->n == A->cmap->n) PetscCall(ChangeDiagonal(A, &change));
  else AIJFmtHost(diagonalset, A, d, mode);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the diagonal ---- */

/* Whether the plan of A is on the device and current; it may be made for vectors like d or, if that is NULL, like those
   that A would make */
static PetscErrorCode PlanIsThere(Mat A, Mat_AIJFmt *s, Vec d, PetscBool *is)
{
  PetscInt n = A->rmap->n;

  PetscFunctionBegin;
  *is = PETSC_FALSE;
  if (d) PetscCall(VecGetLocalSize(d, &n));
  if (n != A->rmap->n || n == 0 || A->structure_only) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtSyncIfOnDevice(A, s, d));
  if (s->exec.space != SPMV_DEVICE || !s->cache.valid) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtCudaStream(&s->exec));
  *is = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the diagonal on the device, from the parent's CSR, from a plan or from shared arrays; a refusal if the values are
   in none of these.
   The parent's own function is wrong for a CSR with mostly empty rows: its device copy stores only the nonempty rows,
   and the function takes the k-th of them for row k. */
static PetscErrorCode DiagonalRead(Mat A, Mat_AIJFmt *s, void *to, SpmvStatus *status)
{
  const unsigned     both = AIJFMT_PATTERN | AIJFMT_VALUES;
  AIJFmtArrays       a    = {.stays = PETSC_FALSE};
  SpmvStatus         got;
  const PetscScalar *shared;

  PetscFunctionBegin;
  *status = SPMV_ERR_UNSUPPORTED;
  a.stays = AIJFmtIsOverCuda(s) && !AIJFmtBoundToCPU(A) && AIJFmtPlacesGet(A, s).device_csr;
  PetscCall(AIJFmtSharedValues(A, s, &shared));
  if (a.stays || (!s->cache.plan && shared)) {
    PetscCall(AIJFmtArraysGet(A, both, AIJFMT_READ, &s->exec, &a, &got));
    *status = got ? got : spmv_csr_diagonal(&a.csr, to, &s->exec);
    PetscCall(AIJFmtArraysRestore(A, &s->exec, &a, NULL));
  } else if (s->cache.plan) *status = spmv_get_diagonal(s->cache.plan, to, &s->exec);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DeviceDiagonal(Mat A, Mat_AIJFmt *s, Vec d, PetscBool *done)
{
  SpmvStatus status;

  PetscFunctionBegin;
  PetscCall(PlanIsThere(A, s, d, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  *done = PETSC_FALSE;
  PetscCall(AIJFmtVectorTry(&s->exec, &s->y, d, AIJFMT_WRITE, &status));
  if (status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DiagonalRead(A, s, s->y.data, &status));
  PetscCall(AIJFmtVectorGive(&s->exec, &s->y, &status));
  if (AIJFmtIsRefusal(status)) PetscFunctionReturn(PETSC_SUCCESS);
  AIJFmtCallSpmv(&s->exec, status);
  *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the diagonal of a sequential matrix to device memory, in the order of the stream; by a vector only if its numbers
   are on the host */
PetscErrorCode AIJFmtDiagonalCopy(SpmvExec *exec, Mat A, void *to, SpmvStatus *status)
{
  PetscBool   is = PETSC_FALSE;
  Mat_AIJFmt *s;
  Vec         work;

  PetscFunctionBegin;
  *status = SPMV_ERR_UNSUPPORTED;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s && !A->factortype) PetscCall(PlanIsThere(A, s, NULL, &is));
  if (is) PetscCall(DiagonalRead(A, s, to, status));
  if (is && !AIJFmtIsRefusal(*status)) AIJFmtCallSpmv(&s->exec, *status);
  if (!*status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(A, NULL, &work));
  PetscCall(MatGetDiagonal(A, work));
  PetscCall(AIJFmtVectorCopy(exec, work, to, status));
  PetscCall(VecDestroy(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetDiagonal_SeqAIJFmt(Mat A, Vec d)
{
  Mat_AIJFmt *s;
  PetscBool   done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s && !A->factortype) PetscCall(DeviceDiagonal(A, s, d, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  AIJFmtHost(getdiagonal, A, d);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- two matrices, and zeros, over the CUDA parent ---- */

static PetscErrorCode ComparePatterns(const SpmvPattern *a, const SpmvPattern *b, PetscBool *same)
{
  PetscFunctionBegin;
  *same = a->nnz == b->nnz ? PETSC_TRUE : PETSC_FALSE;
  if (*same) PetscCall(PetscMemcmp(a->row_ptr, b->row_ptr, (size_t)(a->rows + 1) * sizeof(PetscInt), same));
  if (*same) PetscCall(PetscMemcmp(a->col, b->col, (size_t)a->nnz * sizeof(PetscInt), same));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether both matrices, of equal sizes, have the same pattern. The answer is cached: comparing again in each step of a
   loop would take as long as the operation on the device. */
static PetscErrorCode SamePattern(Mat A, Mat_AIJFmt *s, Mat B, PetscBool *same)
{
  AIJFmtKey key, other;

  PetscFunctionBegin;
  PetscCall(AIJFmtKeyGet(A, &key));
  PetscCall(AIJFmtKeyGet(B, &other));
  if (!s->compared.known || !AIJFmtSameStructure(&s->compared.key, &key) ||
      !AIJFmtSameStructure(&s->compared.other, &other)) {
    PetscCall(ComparePatterns(&key.pattern, &other.pattern, &s->compared.same));
    s->compared.key   = key;
    s->compared.other = other;
    s->compared.known = PETSC_TRUE;
  }
  *same = s->compared.same;
  PetscCall(AIJFmtKeyRestore(B, &other));
  PetscCall(AIJFmtKeyRestore(A, &key));
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

/* Whether the parent's sum on the device is right for these patterns. For a matrix with many empty rows it passes row
   pointers of the nonempty rows to cuSPARSE as if they were all rows, and a sum with a new pattern would get the
   parent's type. */
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

/* The parent adds on the device if both matrices have the same operation axpy */
PetscErrorCode MatAXPY_SeqAIJFmt(Mat Y, PetscScalar a, Mat X, MatStructure structure)
{
  Mat          both[] = {Y, X};
  Mat_AIJFmt  *to, *from;
  MatStructure known  = structure;
  PetscBool    device = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(Y, &to));
  PetscCall(AIJFmtStateGet(X, &from));
  if (to && from && X->ops->axpy == Y->ops->axpy)
    PetscCall(AIJFmtDeviceCsrDecide(Y, to, "MatAXPY()", AIJFMT_WANTS_WITH_PLAN, &device));
  if (device) PetscCall(AddsOnDevice(Y, to, X, &known, &device));
  if (device) PetscCall(AIJFmtDeviceCsrDecide(X, from, "MatAXPY()", AIJFMT_WANTS, &device));
  if (device) AIJFmtAsAll(2, both, AIJFMT_PARENT_CUDA, to->parent->seq.axpy(Y, a, X, known));
  else AIJFmtHost(axpy, Y, a, X, structure);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies values from device to device if those of A are current there. Otherwise the host's function copies; it
   compares the operations of both matrices, which are equal for two matrices of our types. */
PetscErrorCode MatCopy_SeqAIJFmt(Mat A, Mat B, MatStructure structure)
{
  Mat_AIJFmt  *from, *to;
  AIJFmtArrays a = {.parts = 0}, b = {.stays = PETSC_TRUE};
  SpmvStatus   status;
  SpmvExec     exec;
  PetscBool    device = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &from));
  PetscCall(AIJFmtStateGet(B, &to));
  if (from && to && structure == SAME_NONZERO_PATTERN && A->ops->copy == B->ops->copy &&
      AIJFmtPlacesGet(A, from).device_csr)
    PetscCall(SamePattern(A, from, B, &device));
  if (device) PetscCall(AIJFmtDeviceCsrDecide(B, to, "MatCopy()", AIJFMT_WANTS, &device));
  if (!device) {
    AIJFmtHost(copy, A, B, structure);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DeviceExec(to, &exec));
  PetscCall(AIJFmtArraysGet(A, AIJFMT_VALUES, AIJFMT_READ, &exec, &a, &status));
  AIJFmtCallSpmv(&exec, status);
  PetscCall(AIJFmtArraysGet(B, AIJFMT_VALUES, AIJFMT_WRITE, &exec, &b, &status));
  AIJFmtCallSpmv(&exec, spmv_copy(b.values, SPMV_DEVICE, a.csr.values, SPMV_DEVICE,
                                  a.csr.pattern.nnz * (int64_t)sizeof(PetscScalar), &exec));
  PetscCall(AIJFmtArraysRestore(B, &exec, &b, &status));
  PetscCall(AIJFmtArraysRestore(A, &exec, &a, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Zeroes values on the device only if the host's are not current. The parent would zero them whenever it has a CSR on
   the device, and mark that CSR as current: wrong after new nonzeros on the host, when the CSR still has the old
   pattern. And if the host's values are current, the next values are usually written there, too; PETSc would first
   download the zeros, which takes longer than writing them. */
PetscErrorCode MatZeroEntries_SeqAIJFmt(Mat A)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s && !AIJFmtPlacesGet(A, s).host && !s->keeps_host)
    AIJFmtAs(A, AIJFMT_PARENT_CUDA, s->parent->seq.zeroentries(A));
  else {
    AIJFmtHost(zeroentries, A);
    AIJFmtParentCsrStale(A);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- MatStoreValues() and MatRetrieveValues() ---- */

typedef PetscErrorCode ValuesFunction(Mat);

/* The parent copies the host's values without checking that they are current */
PetscErrorCode MatStoreValues_SeqAIJFmt(Mat A)
{
  const AIJFmtParent *parent;

  PetscFunctionBegin;
  PetscCall(AIJFmtHostFetch(A));
  PetscCall(AIJFmtParentOf(A, &parent));
  PetscCall(((ValuesFunction *)parent->composed[AIJFMT_STORE_VALUES][0])(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent writes the host's values without reporting it: PETSc 3.18 does not raise the state, and no version marks
   the device's copy as stale */
PetscErrorCode MatRetrieveValues_SeqAIJFmt(Mat A)
{
  const AIJFmtParent *parent;

  PetscFunctionBegin;
  PetscCall(AIJFmtHostFetch(A)); /* else the device's values would still count as current */
  PetscCall(AIJFmtParentOf(A, &parent));
  PetscCall(((ValuesFunction *)parent->composed[AIJFMT_RETRIEVE_VALUES][0])(A));
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  AIJFmtParentCsrStale(A);
  PetscFunctionReturn(PETSC_SUCCESS);
}
