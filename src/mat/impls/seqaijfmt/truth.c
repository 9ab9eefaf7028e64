/*
  truth.c - where the current values of a sequential matrix are, and how they get to where they are needed.

  Current values can be in three places: on the host, in the CSR arrays of MATSEQAIJ; on the device, in the CSR of the
  CUDA parent; in the plan, the packed arrays. AIJFmtTruthGet() returns which of them are current. Only this file reads
  or writes PETSc's offloadmask. Stale values are never read. The transitions, and which places are current after each
  ("same": as before):

                                                                 host      CSR on the device   plan
    1 the host writes: entries are set, MatLoad(), an operation
      of PETSc on the host                                       yes       no                  no
    2 the device writes: COO from the device, an operation on
      the CSR there, a product of matrices on the GPU            no (b)    yes                 no
    3 a plan on the GPU is made or refreshed: from the CSR on
      the device if only that is current, else from the host   same      same (a)            yes
    4 a plan on the host is made or refreshed, from the host     yes       same (a)            yes
    5 one change is made on the host and in the plan: by
      values.c, by COO whose sums are on the device              yes       no                  yes
    6 something reads the host's values                          yes       same (a)            same
    7 the CUDA parent multiplies, or a format borrows its CSR:
      the parent fills it from the host if it is stale           same      yes (a)             same
    8 MatBindToCPU(A, PETSC_TRUE)                                yes       no                  a plan on the host: same
    9 the plan is dropped: another pattern, an option            same      same (a)            no
   10 the CSR on the device is filled from a plan on the GPU;
      only its pattern comes from the host, if it is missing     same      yes                 same

  (a) "No" if the host is current and the state of the matrix has risen since the plan was made or refreshed: the values
  were then written on the host. Functions of PETSc that write on the device record it in offloadmask; some that write
  on the host do not, for example those behind MatMatTransposeMult().
  (b) "Yes" for a matrix with keeps_host. PETSc reads the host's values directly in numeric products of matrices and in
  MATSEQMAIJ, so the host's values of their factors are kept current, and operations on these factors stay on the host.
*/
#include "seqaijfmt.h"
#include "sys/private.h"

enum { SPARE_BYTES = 64 << 20 /* of device memory that a CSR must leave free */ };

/* The plan may have been made from older values, and offloadmask may say that both CSR are current when only the host's
   is */
AIJFmtTruth AIJFmtTruthGet(Mat A, const Mat_AIJFmt *s)
{
  const PetscOffloadMask where = AIJFmtOffload(A);
  const PetscBool        holds = AIJFmtKeyHolds(&s->cache, A);
  AIJFmtTruth            truth;

  truth.host       = where != PETSC_OFFLOAD_GPU ? PETSC_TRUE : PETSC_FALSE;
  truth.device_csr = where == PETSC_OFFLOAD_GPU || (where == PETSC_OFFLOAD_BOTH && holds) ? PETSC_TRUE : PETSC_FALSE;
  truth.plan       = s->cache.plan && holds ? PETSC_TRUE : PETSC_FALSE;
  return truth;
}

/* Rule (a), called before a plan is made or refreshed: the parent uploads the values again when it next uses its CSR on
   the device */
PetscErrorCode AIJFmtTruthSettle(Mat A, const Mat_AIJFmt *s)
{
  PetscFunctionBegin;
  if (AIJFmtIsOverCuda(s) && AIJFmtOffload(A) == PETSC_OFFLOAD_BOTH) AIJFmtOffloadSet(A, PETSC_OFFLOAD_CPU);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The CUDA parent uploads the values before it next uses its CSR on the device */
static void MarkDeviceCsrStale(Mat A)
{
  if (AIJFmtOffload(A) != PETSC_OFFLOAD_UNALLOCATED) AIJFmtOffloadSet(A, PETSC_OFFLOAD_CPU);
}

/* Transition 1: a function of PETSc that does not set offloadmask has written the values on the host, or is about to */
PetscErrorCode AIJFmtHostWritten(Mat A)
{
  PetscFunctionBegin;
  MarkDeviceCsrStale(A);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Transition 5: the same change was applied to the values on the host and in the plan. value_state: the state that the
   matrix has, or AIJFmtStateAfter() */
PetscErrorCode AIJFmtPlanWritten(Mat_AIJFmt *s, PetscObjectState value_state)
{
  PetscFunctionBegin;
  s->cache.key.value_state = value_state;
  s->cache.transpose_ready = PETSC_FALSE;
  s->joint_changes++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Transition 6, for functions of PETSc that read the host's values directly */
PetscErrorCode AIJFmtHostFetch(Mat A)
{
  const PetscScalar *values;

  PetscFunctionBegin;
  if (AIJFmtOffload(A) != PETSC_OFFLOAD_GPU) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJGetArrayRead(A, &values));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets keeps_host: the host's values of A stay current. A may be of any type. */
PetscErrorCode AIJFmtHostKeep(Mat A)
{
  Mat         block[2] = {A, NULL};
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s && s->parallel) PetscCall(AIJFmtBlocksGet(A, block));
  for (int b = 0; s && b < 2; b++) {
    Mat_AIJFmt *inner = NULL;

    if (block[b]) PetscCall(AIJFmtStateGet(block[b], &inner));
    if (!inner) continue;
    inner->keeps_host = PETSC_TRUE;
    PetscCall(AIJFmtHostFetch(block[b]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For a product of matrices on the host, whose numeric phases may read the host's values of the factors directly. Those
   of A B^T and of A^T times a dense matrix do. */
PetscErrorCode AIJFmtHostKeepFactors(Mat C)
{
  const Mat factor[] = {C->product->A, C->product->B, C->product->C};

  PetscFunctionBegin;
  for (int f = 0; f < 3; f++)
    if (factor[f]) PetscCall(AIJFmtHostKeep(factor[f]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- to the CSR on the device ---- */

/* Whether A is a product that PETSc computes on the host, which does not mark the device's values as stale */
static PetscBool IsHostMatMat(Mat A)
{
  return A->product && A->ops->productnumeric && A->ops->productnumeric != aijfmt_process.numeric_gpu ? PETSC_TRUE
                                                                                                      : PETSC_FALSE;
}

/* Whether a CSR of A fits into the free device memory; if not, the reason of values says so */
static PetscErrorCode HasMemory(Mat A, Mat_AIJFmt *s, const char operation[], PetscBool *has)
{
  SpmvPattern pattern;
  int64_t     free_bytes, total, bytes;

  PetscFunctionBegin;
  *has = PETSC_TRUE;
  if (s->device_csr_used) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtHostPatternGet(A, &pattern));
  bytes = spmv_csr_bytes(&pattern, AIJFMT_SCALAR);
  PetscCall(AIJFmtHostPatternRestore(A, &pattern));
  AIJFmtCallSpmv(&s->exec, spmv_device_memory(&free_bytes, &total, &s->exec));
  if (bytes + SPARE_BYTES <= free_bytes) PetscFunctionReturn(PETSC_SUCCESS);
  *has = PETSC_FALSE;
  PetscCall(PetscSNPrintf(
      s->why[AIJFMT_WHY_VALUES], SPMV_MESSAGE_MAX,
      "on the host in %s, because a CSR of %lld bytes does not fit into the %lld that are free on the GPU", operation,
      (long long)bytes, (long long)free_bytes));
  PetscCall(PetscInfo(A, "values changed %s\n", s->why[AIJFMT_WHY_VALUES]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether there is a plan on the GPU with the current values, from which the CSR on the device can be filled */
static PetscBool PlanHasValues(Mat A, const Mat_AIJFmt *s)
{
  const SpmvPlan *plan = AIJFmtPlanOnGpu(s);

  return plan && !plan->format->borrows && plan->nnz > 0 ? AIJFmtTruthGet(A, s).plan : PETSC_FALSE;
}

/* Records that the parent has a CSR of this pattern on the device */
static void RememberDeviceCsr(Mat A, Mat_AIJFmt *s)
{
  s->device_csr_used  = PETSC_TRUE;
  s->device_csr_known = PETSC_TRUE;
  s->device_csr_state = A->nonzerostate;
}

static PetscBool HasDeviceCsr(Mat A, const Mat_AIJFmt *s)
{
  return s->device_csr_known && s->device_csr_state == A->nonzerostate ? PetscPackCusparseCsrExists(A) : PETSC_FALSE;
}

/* Whether transition 10 is possible. It is not if the parent has made a CSR that this class has not seen: its pattern
   may be an old one. */
static PetscBool IsFillable(Mat A, const Mat_AIJFmt *s)
{
  return HasDeviceCsr(A, s) || !PetscPackCusparseCsrExists(A) ? PlanHasValues(A, s) : PETSC_FALSE;
}

/* Transition 10. The values do not change, so the state is kept and the plan stays current. *filled is false if memory
   is short; the parent then uploads. */
static PetscErrorCode Fill(Mat A, Mat_AIJFmt *s, PetscBool *filled)
{
  const PetscObjectState state = ((PetscObject)A)->state;
  PetscScalar           *values;
  SpmvStatus             status;

  PetscFunctionBegin;
  PetscCall(AIJFmtCudaStream(&s->exec));
  if (HasDeviceCsr(A, s)) PetscCall(AIJFmtDeviceValuesOverwrite(A, &values));
  else PetscCall(AIJFmtDeviceValuesFirst(A, &values));
  status = spmv_extract_values(s->cache.plan, values, SPMV_DEVICE, &s->exec);
  PetscCall(AIJFmtDeviceValuesRestore(A, &values));
  PetscCall(PetscObjectStateSet((PetscObject)A, state));
  AIJFmtOffloadSet(A, status ? PETSC_OFFLOAD_CPU : PETSC_OFFLOAD_BOTH);
  if (status != SPMV_ERR_MEMORY) AIJFmtCallSpmv(&s->exec, status);
  RememberDeviceCsr(A, s);
  *filled = status ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether an operation runs on the device CSR although that is stale and must be updated first */
static PetscBool GoesToDevice(Mat A, const Mat_AIJFmt *s, AIJFmtWish wish)
{
  if (wish == AIJFMT_WANTS) return PETSC_TRUE;
  if (!AIJFmtPlanOnGpu(s)) return PETSC_FALSE;
  if (wish == AIJFMT_WANTS_WITH_PLAN) return PETSC_TRUE;
  return IsFillable(A, s) || s->joint_changes > 0 ? PlanHasValues(A, s) : PETSC_FALSE;
}

/* Updates a stale device CSR for an operation: from the plan, or else the parent uploads the values on first use */
static PetscErrorCode BringValues(Mat A, Mat_AIJFmt *s, const char operation[])
{
  PetscBool filled = PETSC_FALSE;

  PetscFunctionBegin;
  if (IsFillable(A, s)) PetscCall(Fill(A, s, &filled));
  PetscCall(PetscInfo(A, "values go to the CSR on the GPU for %s, from %s\n", operation,
                      filled ? "the packed arrays there" : "the host"));
  if (!filled) MarkDeviceCsrStale(A);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before transition 2: decides whether an operation runs on the device CSR. If it does, a stale device CSR is filled
   from the plan, or else by the parent when the operation asks for the arrays. */
PetscErrorCode AIJFmtDeviceCsrDecide(Mat A, Mat_AIJFmt *s, const char operation[], AIJFmtWish wish, PetscBool *device)
{
  PetscBool has;

  PetscFunctionBegin;
  *device = PETSC_FALSE;
  if (!AIJFmtIsOverCuda(s)) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->class_options.value[AIJFMT_DEVICE] == AIJFMT_ON_HOST || s->keeps_host || AIJFmtBoundToCPU(A) ||
      A->structure_only || A->factortype || AIJFmtHashActive(A) || !A->assembled || IsHostMatMat(A))
    PetscFunctionReturn(PETSC_SUCCESS);
  if (!AIJFmtTruthGet(A, s).device_csr) {
    if (!GoesToDevice(A, s, wish)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HasMemory(A, s, operation, &has));
    if (!has) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(BringValues(A, s, operation));
  } else RememberDeviceCsr(A, s);
  PetscCall(PetscSNPrintf(s->why[AIJFMT_WHY_VALUES], SPMV_MESSAGE_MAX, "on the GPU since %s", operation));
  s->device_csr_used = PETSC_TRUE;
  *device            = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the CSR on the device ---- */

static PetscErrorCode ArraysGet(Mat A, SpmvCsr *csr)
{
  const AIJFmtCusparseIndex *row_ptr, *col;
  PetscScalar               *values;

  PetscFunctionBegin;
  PetscCall(AIJFmtCusparseGetValues(A, &values));
  PetscCall(AIJFmtCusparseGetIJ(A, &row_ptr, &col));
  csr->values          = values;
  csr->pattern.row_ptr = row_ptr;
  csr->pattern.col     = col;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent's device arrays; the parent makes or updates them from the host's first, if necessary */
PetscErrorCode AIJFmtDeviceCsrGet(Mat A, Mat_AIJFmt *s, SpmvCsr *csr)
{
  AIJFmtNameGuard guard;
  PetscErrorCode  error;
  SpmvPattern     host;

  PetscFunctionBegin;
  PetscCall(AIJFmtHostPatternGet(A, &host));
  *csr = (SpmvCsr){.pattern = host, .scalar_type = AIJFMT_SCALAR, .values_space = SPMV_DEVICE};
  PetscCall(AIJFmtHostPatternRestore(A, &host));
  csr->pattern.space      = SPMV_DEVICE;
  csr->pattern.index_type = sizeof(AIJFmtCusparseIndex) == 8 ? SPMV_I64 : SPMV_I32;
  PetscCall(AIJFmtNameGuardBegin(A, AIJFMT_PARENT_CUDA, &guard));
  error = ArraysGet(A, csr);
  PetscCall(AIJFmtNameGuardEnd(A, &guard));
  PetscCall(error);
  RememberDeviceCsr(A, s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The device array of values, to be changed. AIJFmtDeviceValuesRestore() marks these values as current. */
PetscErrorCode AIJFmtDeviceValuesGet(Mat A, PetscScalar **values)
{
  AIJFmtNameGuard guard;
  PetscErrorCode  error;

  PetscFunctionBegin;
  *values = NULL;
  PetscCall(AIJFmtNameGuardBegin(A, AIJFMT_PARENT_CUDA, &guard));
  error = AIJFmtCusparseGetArray(A, values);
  PetscCall(AIJFmtNameGuardEnd(A, &guard));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Like AIJFmtDeviceValuesGet(), for a caller that overwrites all values of an existing device CSR: stale values are not
   uploaded first */
PetscErrorCode AIJFmtDeviceValuesOverwrite(Mat A, PetscScalar **values)
{
  AIJFmtNameGuard guard;
  PetscErrorCode  error;

  PetscFunctionBegin;
  *values = NULL;
  PetscCall(AIJFmtNameGuardBegin(A, AIJFMT_PARENT_CUDA, &guard));
  error = AIJFmtCusparseGetArrayWrite(A, values);
  PetscCall(AIJFmtNameGuardEnd(A, &guard));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtDeviceValuesRestore(Mat A, PetscScalar **values)
{
  AIJFmtNameGuard guard;
  PetscErrorCode  error;

  PetscFunctionBegin;
  PetscCall(AIJFmtNameGuardBegin(A, AIJFMT_PARENT_CUDA, &guard));
  error = AIJFmtCusparseRestoreArray(A, values);
  PetscCall(AIJFmtNameGuardEnd(A, &guard));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the CSR arrays that a plan reads ---- */

/* Transitions 3 and 4: the CSR arrays for a plan in s->exec.space. With the CUDA parent, a plan on the device
   takes its values from the device CSR if only that is current; a format that borrows always takes pattern and values
   there, and the parent updates a stale device CSR first (transition 7). Everything else comes from the host. */
PetscErrorCode AIJFmtCsrGet(Mat A, Mat_AIJFmt *s, const SpmvPattern *pattern, AIJFmtCsr *from)
{
  const PetscBool borrows = AIJFmtPlanOptions(s)->format->borrows ? PETSC_TRUE : PETSC_FALSE;
  SpmvCsr         there;

  PetscFunctionBegin;
  *from = (AIJFmtCsr){.csr = {.pattern = *pattern, .scalar_type = AIJFMT_SCALAR, .values_space = SPMV_HOST}};
  if (AIJFmtIsOverCuda(s) && !AIJFmtBoundToCPU(A) && s->exec.space == SPMV_DEVICE &&
      (borrows || !AIJFmtTruthGet(A, s).host)) {
    PetscCall(AIJFmtDeviceCsrGet(A, s, &there));
    from->csr.values       = there.values;
    from->csr.values_space = SPMV_DEVICE;
    if (borrows) from->csr.pattern = there.pattern;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatSeqAIJGetArrayRead(A, &from->host_values));
  from->csr.values = from->host_values;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtCsrRestore(Mat A, AIJFmtCsr *from)
{
  PetscFunctionBegin;
  if (from->host_values) PetscCall(MatSeqAIJRestoreArrayRead(A, &from->host_values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  ---- MATSEQMAIJ ----

  Every product of a MATSEQMAIJ reads the host's values of its source matrix directly, so these must be current. To
  notice MatCreateMAIJ(), our creator of the type wraps PETSc's. At that time the new matrix has no pointer to its
  source yet, but MatCreateMAIJ() has already referenced the source, whose sizes match. So we search the list of all
  matrices whose values may be on the device only.
*/

void AIJFmtListAdd(Mat_AIJFmt *s)
{
  if (s->listed || s->parallel) return;
  s->listed = PETSC_TRUE;
  s->before = NULL;
  s->after  = aijfmt_process.listed;
  if (s->after) s->after->before = s;
  aijfmt_process.listed = s;
}

void AIJFmtListRemove(Mat_AIJFmt *s)
{
  if (!s->listed) return;
  if (s->after) s->after->before = s->before;
  if (s->before) s->before->after = s->after;
  else aijfmt_process.listed = s->after;
  s->listed = PETSC_FALSE;
}

/* A header is being freed. A state that has moved to another header learns that at its next use. */
void AIJFmtListHeaderFreed(PetscObject header)
{
  for (Mat_AIJFmt *s = aijfmt_process.listed; s; s = s->after)
    if ((PetscObject)s->self == header) s->self = NULL;
}

static PetscErrorCode MatCreate_SeqMAIJ_AIJFmt(Mat B)
{
  PetscInt dof;

  PetscFunctionBegin;
  PetscCall(aijfmt_process.create_maij(B));
  PetscCall(PetscLayoutGetBlockSize(B->rmap, &dof));
  for (Mat_AIJFmt *s = aijfmt_process.listed; s; s = s->after) {
    const Mat A = s->self;

    if (A && ((PetscObject)A)->refct > 1 && dof * A->rmap->n == B->rmap->n && dof * A->cmap->n == B->cmap->n)
      PetscCall(AIJFmtHostKeep(A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The blocks of a parallel MATMAIJ are of this type too */
PetscErrorCode AIJFmtMAIJRegister(void)
{
  PetscErrorCode (*create)(Mat);

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(MatList, MATSEQMAIJ, &create));
  if (!create || create == MatCreate_SeqMAIJ_AIJFmt) PetscFunctionReturn(PETSC_SUCCESS);
  aijfmt_process.create_maij = create;
  PetscCall(MatRegister(MATSEQMAIJ, MatCreate_SeqMAIJ_AIJFmt));
  PetscFunctionReturn(PETSC_SUCCESS);
}
