/*
  mult.c - the products of a sequential matrix. All go through Product(): y = op(A) x, or y = op(A) x + z.

  The blocks of a parallel matrix come through here as well, with parallel vectors for the diagonal block: only the
  local entries count, and nothing here may be collective.
*/
#include "seqaijfmt.h"
#include "cuda.h"
#include "mat/interface/totals.h"

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
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &parent));
  PetscCall(CallProduct(&parent->seq, A, kind, x, z, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The product of the parent type with the same arguments; z == NULL means that nothing is added. The CUDA parent
   computes it where the plan would have been on the device and the vectors are there; else the host parent, which takes
   vectors of every kind. */
static PetscErrorCode ParentProduct(Mat A, const Mat_AIJFmt *s, ProductKind kind, Vec x, Vec z, Vec y)
{
  AIJFmtNameGuard guard;
  PetscErrorCode  error;
  PetscBool       device;

  PetscFunctionBegin;
  PetscCall(AIJFmtCudaMultiplies(A, s, x, z, y, &device));
  if (!device) {
    PetscCall(HostParentProduct(A, kind, x, z, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* MatMultTransposeAdd_SeqAIJCUSPARSE() of 3.26 adds what is in y, even where that is not z */
  if (z && z != y) PetscCall(VecCopy(z, y));
  PetscCall(AIJFmtNameGuardBegin(A, s, &guard));
  error = CallProduct(&s->parent->seq, A, kind, x, z ? y : NULL, y);
  PetscCall(AIJFmtNameGuardEnd(A, &guard));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = op(A) x, or y = op(A) x + y when add */
static PetscErrorCode PlanProduct(Mat_AIJFmt *s, ProductKind kind, Vec x, PetscBool add, Vec y)
{
  const PetscBool      device = s->plan->space == SPMV_DEVICE ? PETSC_TRUE : PETSC_FALSE;
  const PetscLogDouble flops  = 2.0 * (PetscLogDouble)s->key.pattern.nnz - (add ? 0 : s->nonzero_rows);
  const PetscScalar    one = 1, beta = add ? 1 : 0;
  AIJFmtOperand        from, to;

  PetscFunctionBegin;
  if (device) PetscCall(AIJFmtCudaStream(&s->exec));
  PetscCall(AIJFmtOperandGet(s, x, &s->buffer_x, PETSC_FALSE, PETSC_FALSE, &from));
  PetscCall(AIJFmtOperandGet(s, y, &s->buffer_y, PETSC_TRUE, add, &to));
  if (device) PetscCall(PetscLogGpuTimeBegin());
  AIJFmtCallSpmv(&s->exec, (kind == PRODUCT ? spmv_mult : spmv_multtranspose)(s->plan, &one, from.data, &beta, to.data,
                                                                              s->work, &s->exec));
  if (device) PetscCall(PetscLogGpuTimeEnd());
  PetscCall(AIJFmtOperandRestore(s, &to));
  PetscCall(AIJFmtOperandRestore(s, &from));
  if (device) PetscCall(AIJFmtLogGpuFlops(flops));
  else PetscCall(PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products without a conversion: where there are no nonzeros y is z, or zero, and where there are no local entries
   nothing is written. Off-diagonal blocks are often empty. */
static PetscErrorCode EmptyProduct(Mat A, ProductKind kind, Vec z, Vec y, PetscBool *empty)
{
  const PetscInt length = kind == PRODUCT ? A->rmap->n : A->cmap->n;
  MatInfo        info;

  PetscFunctionBegin;
  *empty = length == 0 ? PETSC_TRUE : PETSC_FALSE;
  /* y may be parallel, and its state must grow on every process alike: norms are cached by it, and taken together */
  if (*empty) PetscCall(PetscObjectStateIncrease((PetscObject)y));
  if (*empty || !z) PetscFunctionReturn(PETSC_SUCCESS);
  if (A->rmap->n && A->cmap->n) {
    const AIJFmtParent *parent;
    PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &parent));
    PetscCall(parent->seq.getinfo(A, MAT_LOCAL, &info));
    if (info.nz_used > 0) PetscFunctionReturn(PETSC_SUCCESS);
  }
  *empty = PETSC_TRUE;
  if (z != y) PetscCall(VecCopy(z, y));
  else PetscCall(PetscObjectStateIncrease((PetscObject)y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Product(Mat A, ProductKind kind, Vec x, Vec z, Vec y)
{
  const PetscBool transposed = kind == PRODUCT_TRANSPOSED ? PETSC_TRUE : PETSC_FALSE;
  Mat_AIJFmt     *s;
  PetscBool       done, check;
  AIJFmtCheck     reference;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s) {
    PetscCall(HostParentProduct(A, kind, x, z, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(EmptyProduct(A, kind, z, y, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtSync(A, s, x, ((PetscObject)A)->state));
  if (!transposed) PetscCall(AIJFmtTrialBegin(A, s, x));
  done = s->plan ? PETSC_TRUE : PETSC_FALSE;
  if (!done) PetscCall(ParentProduct(A, s, kind, x, z, y));
  else if (transposed) {
    PetscCall(AIJFmtSyncTranspose(A, s, &done));
    if (!done)
      PetscCall(HostParentProduct(A, kind, x, z, y)); /* the parent's on the GPU would need memory there, too */
  }
  if (!done) {
    if (transposed) s->info.fallbacks_transposed++;
    else s->info.fallbacks++;
    PetscPackCountProduct(s, PETSC_FALSE);
    if (!transposed) PetscCall(AIJFmtTrialEnd(s));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  check = AIJFmtClassFlag(s, AIJFMT_CHECK);
  if (check) PetscCall(AIJFmtCheckBegin(A, transposed, x, z, &reference));
  if (z && z != y) PetscCall(VecCopy(z, y));
  PetscCall(PlanProduct(s, kind, x, z ? PETSC_TRUE : PETSC_FALSE, y));
  if (!transposed) PetscCall(AIJFmtTrialEnd(s));
  if (check) PetscCall(AIJFmtCheckEnd(A, y, &reference));
  if (transposed) s->info.products_transposed++;
  else s->info.products++;
  PetscPackCountProduct(s, PETSC_TRUE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_AIJFmt(Mat A, Vec x, Vec y) { return Product(A, PRODUCT, x, NULL, y); }

static PetscErrorCode MatMultAdd_AIJFmt(Mat A, Vec x, Vec z, Vec y) { return Product(A, PRODUCT, x, z, y); }

static PetscErrorCode MatMultTranspose_AIJFmt(Mat A, Vec x, Vec y)
{
  return Product(A, PRODUCT_TRANSPOSED, x, NULL, y);
}

static PetscErrorCode MatMultTransposeAdd_AIJFmt(Mat A, Vec x, Vec z, Vec y)
{
  return Product(A, PRODUCT_TRANSPOSED, x, z, y);
}

/* Scalars are real, so the Hermitian transpose is the transpose */
PetscErrorCode AIJFmtMultInstall(Mat A)
{
  PetscFunctionBegin;
  A->ops->mult                      = MatMult_AIJFmt;
  A->ops->multadd                   = MatMultAdd_AIJFmt;
  A->ops->multtranspose             = MatMultTranspose_AIJFmt;
  A->ops->multtransposeadd          = MatMultTransposeAdd_AIJFmt;
  A->ops->multhermitiantranspose    = MatMultTranspose_AIJFmt;
  A->ops->multhermitiantransposeadd = MatMultTransposeAdd_AIJFmt;
  PetscFunctionReturn(PETSC_SUCCESS);
}
