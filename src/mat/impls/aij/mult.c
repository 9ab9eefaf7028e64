/*
  mult.c - the products of a sequential matrix with a vector. All go through MultAny(): y = op(A) x, or y = op(A) x + z.

  The blocks of a parallel matrix also come through here, with parallel vectors for the diagonal block: only local
  entries are used, and nothing here may be collective.
*/
#include "aijfmt.h"
#include "sys/totals.h"

typedef enum { PRODUCT, PRODUCT_TRANSPOSED } ProductKind;

static PetscErrorCode CallProduct(const struct _MatOps *ops, Mat A, ProductKind kind, Vec x, Vec z, Vec y)
{
  PetscFunctionBegin;
  if (kind == PRODUCT) {
    if (z) PetscCall(ops->multadd(A, x, z, y));
    else PetscCall(ops->mult(A, x, y));
  } else {
    if (z) PetscCall(ops->multtransposeadd(A, x, z, y));
    else PetscCall(ops->multtranspose(A, x, y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HostParentProduct(Mat A, ProductKind kind, Vec x, Vec z, Vec y)
{
  const AIJFmtParent *parent;

  PetscFunctionBegin;
  PetscCall(AIJFmtInodesFind(A, "a product on the host"));
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &parent));
  PetscCall(CallProduct(&parent->seq, A, kind, x, z, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a matrix without a plan is multiplied by the CUDA parent, with its CSR on the device: yes if a plan would have
   been on the device and all vectors are there. The parent first uploads the values if
   AIJFmtParentCsrStaleIfBoth() has marked its CSR as stale. */
static PetscErrorCode CudaMultiplies(Mat A, const Mat_AIJFmt *s, Vec x, Vec z, Vec y, PetscBool *device)
{
  const Vec vector[] = {x, y, z};

  PetscFunctionBegin;
  *device = AIJFmtIsOverCuda(s);
  if (s->exec.space != SPMV_DEVICE || AIJFmtBoundToCPU(A) || A->structure_only) *device = PETSC_FALSE;
  for (int v = 0; *device && v < 3; v++)
    if (vector[v]) PetscCall(AIJFmtVecIsOnDevice(vector[v], device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The product by the parent type with the same arguments; nothing is added if z is NULL. The host parent takes all
   vector types. */
static PetscErrorCode ParentProduct(Mat A, Mat_AIJFmt *s, ProductKind kind, Vec x, Vec z, Vec y)
{
  PetscBool device;

  PetscFunctionBegin;
  PetscCall(CudaMultiplies(A, s, x, z, y, &device));
  if (!device) {
    PetscCall(HostParentProduct(A, kind, x, z, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(AIJFmtSharedToCsr(A, s, "a product by the parent type"));
  /* MatMultTransposeAdd_SeqAIJCUSPARSE() of 3.26 adds the contents of y, even if y is not z */
  if (z && z != y) PetscCall(VecCopy(z, y));
  AIJFmtAs(A, AIJFMT_PARENT_CUDA, CallProduct(&s->parent->seq, A, kind, x, z ? y : NULL, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = op(A) x, or y = op(A) x + y when add. status: the GPU may lack memory for copies of the vectors or for a kernel; a
   y on the host is then unchanged. */
static PetscErrorCode PlanProduct(Mat_AIJFmt *s, ProductKind kind, Vec x, PetscBool add, Vec y, SpmvStatus *status)
{
  const PetscBool      device = AIJFmtPlanOnGpu(s) ? PETSC_TRUE : PETSC_FALSE;
  const PetscLogDouble flops  = 2.0 * (PetscLogDouble)s->cache.key.pattern.nnz - (add ? 0 : s->nonzero_rows);
  const PetscScalar    one = 1, beta = add ? 1 : 0;

  PetscFunctionBegin;
  if (device) PetscCall(AIJFmtCudaStream(&s->exec));
  PetscCall(AIJFmtVectorTry(&s->exec, &s->x, x, AIJFMT_READ, status));
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtVectorTry(&s->exec, &s->y, y, add ? AIJFMT_UPDATE : AIJFMT_WRITE, status));
  if (!*status) {
    if (device) PetscCall(PetscLogGpuTimeBegin());
    *status = (kind == PRODUCT ? spmv_mult : spmv_multtranspose)(s->cache.plan, &one, s->x.data, &beta, s->y.data,
                                                                 s->cache.work, &s->exec);
    if (device) PetscCall(PetscLogGpuTimeEnd());
    /* a kernel that ran before the failure may have added to a y on the GPU */
    if (*status && add && !s->y.staged) AIJFmtCallSpmv(&s->exec, *status);
    PetscCall(AIJFmtVectorGive(&s->exec, &s->y, status));
  }
  PetscCall(AIJFmtVectorGive(&s->exec, &s->x, status));
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  if (device) PetscCall(AIJFmtLogGpuFlops(flops));
  else PetscCall(PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Handles products that need no plan; empty off-diagonal blocks are frequent. If y has no local entries, nothing is
   written. If the matrix has no nonzeros and z is given, y = z. done: one of these two cases applied. */
static PetscErrorCode FinishWithoutPlan(Mat A, ProductKind kind, Vec z, Vec y, PetscBool *done)
{
  const PetscInt length = kind == PRODUCT ? A->rmap->n : A->cmap->n;
  MatInfo        info;

  PetscFunctionBegin;
  *done = length == 0 ? PETSC_TRUE : PETSC_FALSE;
  /* y may be parallel, and its state must grow on all processes alike: norms are cached by state and computed
     collectively */
  if (*done) PetscCall(PetscObjectStateIncrease((PetscObject)y));
  if (*done || !z) PetscFunctionReturn(PETSC_SUCCESS);
  if (A->rmap->n && A->cmap->n) {
    AIJFmtHost(getinfo, A, MAT_LOCAL, &info);
    if (info.nz_used > 0) PetscFunctionReturn(PETSC_SUCCESS);
  }
  *done = PETSC_TRUE;
  if (z != y) PetscCall(VecCopy(z, y));
  else PetscCall(PetscObjectStateIncrease((PetscObject)y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void MultCount(Mat_AIJFmt *s, PetscBool transposed, PetscBool by_plan)
{
  const PetscPackPlace place = !by_plan             ? PETSCPACK_BY_PETSC
                               : AIJFmtPlanOnGpu(s) ? PETSCPACK_ON_GPU
                                                    : PETSCPACK_ON_HOST;

  if (by_plan && transposed) s->info.products_transposed++;
  else if (by_plan) s->info.products++;
  else if (transposed) s->info.fallbacks_transposed++;
  else s->info.fallbacks++;
  PetscPackCountProduct(place, s->cache.key.pattern.nnz,
                        by_plan                         ? s->why[AIJFMT_WHY_SPACE]
                        : s->why[AIJFMT_WHY_PARENT][0]  ? s->why[AIJFMT_WHY_PARENT]
                        : s->why[AIJFMT_WHY_PRODUCT][0] ? s->why[AIJFMT_WHY_PRODUCT]
                                                        : s->why[AIJFMT_WHY_TRANSPOSED]);
}

/* A product with a matrix, by its plan or by the parent type. With -mat_aijfmt_check, results of the plan are compared
   with the parent's. */
static PetscErrorCode MultAny(Mat A, ProductKind kind, Vec x, Vec z, Vec y)
{
  const PetscBool transposed = kind == PRODUCT_TRANSPOSED ? PETSC_TRUE : PETSC_FALSE;
  Mat_AIJFmt     *s;
  PetscBool       done, ready = PETSC_TRUE, check;
  SpmvStatus      status = SPMV_ERR_MEMORY;
  AIJFmtCheck     reference;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s) {
    PetscCall(HostParentProduct(A, kind, x, z, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(FinishWithoutPlan(A, kind, z, y, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtSync(A, s, x));
  if (!transposed) PetscCall(AIJFmtTrialBegin(A, s, x));
  if (s->cache.plan && transposed) PetscCall(AIJFmtSyncTranspose(A, s, &ready));
  if (s->cache.plan && ready) {
    check = AIJFmtClassFlag(s, AIJFMT_CHECK);
    if (check) {
      PetscCall(AIJFmtCheckBegin(A, transposed, x, z, &reference));
      PetscCall(HostParentProduct(A, kind, x, z ? reference.reference : NULL, reference.reference));
    }
    if (z && z != y) PetscCall(VecCopy(z, y));
    PetscCall(PlanProduct(s, kind, x, z ? PETSC_TRUE : PETSC_FALSE, y, &status));
    PetscCall(AIJFmtRefuse(&s->exec, status, s->why[AIJFMT_WHY_PRODUCT]));
    if (!status) s->why[AIJFMT_WHY_PRODUCT][0] = 0;
    else PetscCall(HostParentProduct(A, kind, x, z, y));
    if (check) PetscCall(AIJFmtCheckEnd(A, y, &reference));
  } else if (!s->cache.plan) PetscCall(ParentProduct(A, s, kind, x, z, y));
  /* the device has too little memory for the plan of A^T, hence also for the transpose that the CUDA parent would
     make: the host multiplies */
  else PetscCall(HostParentProduct(A, kind, x, z, y));
  MultCount(s, transposed, status ? PETSC_FALSE : PETSC_TRUE);
  if (!transposed) PetscCall(AIJFmtTrialEnd(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMult_AIJFmt(Mat A, Vec x, Vec y) { return MultAny(A, PRODUCT, x, NULL, y); }

PetscErrorCode MatMultAdd_AIJFmt(Mat A, Vec x, Vec z, Vec y) { return MultAny(A, PRODUCT, x, z, y); }

PetscErrorCode MatMultTranspose_AIJFmt(Mat A, Vec x, Vec y) { return MultAny(A, PRODUCT_TRANSPOSED, x, NULL, y); }

PetscErrorCode MatMultTransposeAdd_AIJFmt(Mat A, Vec x, Vec z, Vec y)
{
  return MultAny(A, PRODUCT_TRANSPOSED, x, z, y);
}
