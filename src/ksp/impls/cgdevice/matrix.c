/*
  matrix.c - the matrix on the device.

  A matrix of petscpack has a plan there, or gets one, as for MatMult(). For any other AIJ matrix, and one that
  petscpack left to the host because it is small, this solver makes a plan of its own from the CSR of the host, and
  keeps it while the nonzero pattern stays. The persistent kernel multiplies by a CSR with 32-bit indices, which is
  kept likewise.
*/
#include "cgdevice.h"

PetscErrorCode CGDevProductForget(KSP_CGDevice *s)
{
  CGDevProduct *p = &s->product;

  PetscFunctionBegin;
  if (p->own) {
    spmv_exec_free(&s->exec, SPMV_DEVICE, p->work);
    spmv_destroy(&p->own);
  }
  spmv_exec_free(&s->exec, SPMV_DEVICE, (void *)p->csr.pattern.row_ptr);
  spmv_exec_free(&s->exec, SPMV_DEVICE, (void *)p->csr.pattern.col);
  spmv_exec_free(&s->exec, SPMV_DEVICE, (void *)p->csr.values);
  PetscCall(PetscMemzero(&p->csr, sizeof p->csr));
  p->work   = NULL;
  p->id     = 0;
  p->serial = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool SamePattern(const CGDevProduct *p, Mat A)
{
  return p->id == ((PetscObject)A)->id && p->nonzero == A->nonzerostate ? PETSC_TRUE : PETSC_FALSE;
}

/* Says of which matrix the plan or the CSR is that was just made */
static void Remember(CGDevProduct *p, Mat A)
{
  p->id      = ((PetscObject)A)->id;
  p->nonzero = A->nonzerostate;
  p->values  = ((PetscObject)A)->state;
  p->serial  = -++p->serials;
  p->plans++;
}

static SpmvStatus Analyze(KSP_CGDevice *s, const char name[], const SpmvPattern *pattern, SpmvAnalysis *analysis)
{
  const SpmvFormat *format = spmv_format_find(name);
  SpmvOptions       options;

  spmv_options_init(&options, format);
  return spmv_analyze(format, pattern, AIJFMT_SCALAR, &options, &s->exec, analysis);
}

/* The plan of the format that was asked for, or of crsv, which is CSR, where that format declines */
static SpmvStatus Build(KSP_CGDevice *s, const SpmvCsr *csr)
{
  SpmvAnalysis analysis;
  SpmvStatus   status = spmv_pattern_check(&csr->pattern, &s->exec);

  if (!status) status = Analyze(s, s->format, &csr->pattern, &analysis);
  if (status) return status;
  if (!analysis.accepted) {
    spmv_analysis_clear(&analysis, &s->exec);
    status = Analyze(s, "crsv", &csr->pattern, &analysis);
    if (status) return status;
  }
  status = spmv_build(csr, &analysis, &s->exec, &s->product.own);
  spmv_analysis_clear(&analysis, &s->exec);
  if (!status) status = spmv_alloc(&s->exec, SPMV_DEVICE, s->product.own->memory.work_bytes, "work", &s->product.work);
  if (status) spmv_destroy(&s->product.own);
  return status;
}

/* Brings the plan of this solver up to date with the CSR of the host */
static SpmvStatus UpdateOwn(KSP_CGDevice *s, Mat A, const SpmvCsr *csr, PetscBool same)
{
  CGDevProduct *p = &s->product;
  SpmvStatus    status;

  if (same) {
    status = spmv_update_values(p->own, csr->values, SPMV_HOST, &s->exec);
    if (status) return status;
    p->values = ((PetscObject)A)->state;
    p->refreshes++;
    return SPMV_SUCCESS;
  }
  status = Build(s, csr);
  if (status) return status;
  Remember(p, A);
  (void)memcpy(p->format, s->format, sizeof p->format);
  return SPMV_SUCCESS;
}

static PetscErrorCode OwnPlan(KSP_CGDevice *s, Mat A)
{
  CGDevProduct      *p   = &s->product;
  SpmvCsr            csr = {.scalar_type = AIJFMT_SCALAR, .values_space = SPMV_HOST};
  const PetscScalar *values;
  PetscBool          same;
  SpmvStatus         status;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(p->format, s->format, &same));
  same = p->own && same ? SamePattern(p, A) : PETSC_FALSE;
  if (!same || p->values != ((PetscObject)A)->state) {
    if (!same) PetscCall(CGDevProductForget(s));
    PetscCall(AIJFmtHostPatternGet(A, &csr.pattern));
    PetscCall(MatSeqAIJGetArrayRead(A, &values));
    csr.values = values;
    status     = UpdateOwn(s, A, &csr, same);
    PetscCall(MatSeqAIJRestoreArrayRead(A, &values));
    PetscCall(AIJFmtHostPatternRestore(A, &csr.pattern));
    CGDevTry(s, status);
  }
  p->call.plan = p->own;
  p->call.work = p->work;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* s->product.call becomes the product with A */
PetscErrorCode CGDevProductPlan(KSP ksp, KSP_CGDevice *s, Mat A)
{
  AIJFmtPlanOnDevice found;

  PetscFunctionBegin;
  PetscCall(AIJFmtDevicePlan(A, ksp->work[0], &found));
  if (found.why_host) PetscCall(PetscStrncpy(s->reason, found.why_host, sizeof s->reason));
  else if (found.plan) {
    PetscCall(CGDevProductForget(s));
    s->product.call.plan = found.plan;
    s->product.call.work = found.work;
    s->product.serial    = found.serial;
  } else PetscCall(OwnPlan(s, A));
  if (!s->reason[0]) s->product.nonzeros = (PetscInt)s->product.call.plan->nnz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static SpmvStatus Upload(SpmvExec *exec, const void *from, int64_t bytes, const char name[], const void **to)
{
  void            *block;
  const SpmvStatus status = spmv_alloc(exec, SPMV_DEVICE, bytes, name, &block);

  if (status) return status;
  *to = block;
  return spmv_copy(block, SPMV_DEVICE, from, SPMV_HOST, bytes, exec);
}

/* Uploads n indices with 32 bits each, which their values fit */
static PetscErrorCode UploadIndices(KSP_CGDevice *s, const PetscInt from[], int64_t n, const char name[],
                                    const void **to)
{
  int32_t   *narrow = NULL;
  SpmvStatus status;

  PetscFunctionBegin;
  if (sizeof(PetscInt) > sizeof(int32_t)) {
    PetscCall(PetscMalloc1((size_t)n, &narrow));
    for (int64_t i = 0; i < n; i++) narrow[i] = (int32_t)from[i];
  }
  status = Upload(&s->exec, narrow ? (const void *)narrow : (const void *)from, n * (int64_t)sizeof(int32_t), name, to);
  PetscCall(PetscFree(narrow));
  CGDevTry(s, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes s->product.csr; what was allocated before a refusal is freed with the rest */
static PetscErrorCode CsrMake(KSP_CGDevice *s, Mat A, const SpmvPattern *pattern, const PetscScalar values[])
{
  SpmvCsr *csr = &s->product.csr;

  PetscFunctionBegin;
  if (pattern->nnz > INT32_MAX) {
    PetscCall(PetscStrncpy(s->reason, "the persistent kernel needs 32-bit indices", sizeof s->reason));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  CGDevTry(s, spmv_pattern_check(pattern, &s->exec));
  PetscCall(UploadIndices(s, pattern->row_ptr, pattern->rows + 1, "row_ptr", &csr->pattern.row_ptr));
  if (!s->reason[0]) PetscCall(UploadIndices(s, pattern->col, pattern->nnz, "col", &csr->pattern.col));
  if (s->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  CGDevTry(s, Upload(&s->exec, values, pattern->nnz * (int64_t)sizeof(PetscScalar), "values", &csr->values));
  csr->pattern.rows       = pattern->rows;
  csr->pattern.cols       = pattern->cols;
  csr->pattern.nnz        = pattern->nnz;
  csr->pattern.index_type = SPMV_I32;
  csr->pattern.space = csr->values_space = SPMV_DEVICE;
  csr->scalar_type                       = AIJFMT_SCALAR;
  Remember(&s->product, A);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* s->product.csr becomes A */
PetscErrorCode CGDevProductCsr(KSP ksp, KSP_CGDevice *s, Mat A)
{
  CGDevProduct      *p    = &s->product;
  const PetscBool    same = p->csr.values ? SamePattern(p, A) : PETSC_FALSE;
  SpmvPattern        pattern;
  const PetscScalar *values;

  PetscFunctionBegin;
  (void)ksp;
  if (same && p->values == ((PetscObject)A)->state) PetscFunctionReturn(PETSC_SUCCESS);
  if (!same) PetscCall(CGDevProductForget(s));
  PetscCall(AIJFmtHostPatternGet(A, &pattern));
  PetscCall(MatSeqAIJGetArrayRead(A, &values));
  if (same) {
    AIJFmtCallSpmv(&s->exec, spmv_copy((void *)p->csr.values, SPMV_DEVICE, values, SPMV_HOST,
                                       pattern.nnz * (int64_t)sizeof(PetscScalar), &s->exec));
    p->values = ((PetscObject)A)->state;
    p->refreshes++;
  } else PetscCall(CsrMake(s, A, &pattern, values));
  p->nonzeros = (PetscInt)pattern.nnz;
  PetscCall(MatSeqAIJRestoreArrayRead(A, &values));
  PetscCall(AIJFmtHostPatternRestore(A, &pattern));
  if (s->reason[0]) PetscCall(CGDevProductForget(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
