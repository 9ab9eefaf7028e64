/* cg_persistent_csr.c - the CSR with 32-bit indices that the persistent kernel multiplies by; kept while the pattern is
   unchanged. */
#include "cgdevice.h"

/* Copies the arrays of a new pattern */
static SpmvStatus CsrKeep(KSP_CGDevice *s, const SpmvCsr *from)
{
  KSPDevMatrix *m       = &s->matrix;
  const int64_t bytes[] = {(from->pattern.rows + 1) * 4, from->pattern.nnz * 4,
                           from->pattern.nnz * (int64_t)sizeof(PetscScalar)};
  void *to[3], **const arrays[] = {&to[0], &to[1], &to[2]};
  const void *const source[] = {from->pattern.row_ptr, from->pattern.col, from->values};
  SpmvStatus        status   = spmv_alloc_arrays(&s->exec, SPMV_DEVICE, 3, bytes, "CSR", arrays, &m->csr_arrays);

  for (int i = 0; i < 3 && !status; i++)
    status = spmv_copy(to[i], SPMV_DEVICE, source[i], SPMV_DEVICE, bytes[i], &s->exec);
  m->csr                 = *from;
  m->csr.pattern.row_ptr = to[0];
  m->csr.pattern.col     = to[1];
  m->csr.values          = to[2];
  m->serial[0]           = AIJFmtSerialNext();
  m->conversions++;
  return status;
}

static SpmvStatus CsrRefresh(KSP_CGDevice *s, const void *values)
{
  const int64_t bytes = s->matrix.csr.pattern.nnz * (int64_t)sizeof(PetscScalar);

  s->matrix.refreshes++;
  return spmv_copy((void *)s->matrix.csr.values, SPMV_DEVICE, values, SPMV_DEVICE, bytes, &s->exec);
}

static PetscErrorCode CsrUpdate(KSP_CGDevice *s, Mat A, PetscBool same, SpmvStatus *status)
{
  AIJFmtArrays a = {.narrow = PETSC_TRUE};

  PetscFunctionBegin;
  PetscCall(AIJFmtArraysGet(A, AIJFMT_VALUES | (same ? 0 : AIJFMT_PATTERN), AIJFMT_READ, &s->exec, &a, status));
  if (!*status) *status = same ? CsrRefresh(s, a.csr.values) : CsrKeep(s, &a.csr);
  PetscCall(AIJFmtArraysRestore(A, &s->exec, &a, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets s->matrix.csr to A */
PetscErrorCode CGDevMatrixCsr(KSP_CGDevice *s, Mat A)
{
  KSPDevMatrix *m      = &s->matrix;
  SpmvStatus    status = SPMV_SUCCESS;
  AIJFmtKey     now;
  PetscBool     same;

  PetscFunctionBegin;
  PetscCall(AIJFmtKeyGet(A, &now));
  same = m->csr_arrays ? AIJFmtSameStructure(&m->csr_key, &now) : PETSC_FALSE;
  if (!same) PetscCall(KSPDevMatrixForget(KSPDEV(s)));
  if (!same && now.pattern.nnz > INT32_MAX)
    status = spmv_fail(&s->exec, SPMV_ERR_UNSUPPORTED, "the persistent kernel needs 32-bit indices");
  else if (!same || m->csr_key.value_state != now.value_state) PetscCall(CsrUpdate(s, A, same, &status));
  if (!status) m->csr_key = now;
  m->nonzeros = (PetscInt)now.pattern.nnz;
  PetscCall(AIJFmtKeyRestore(A, &now));
  KSPDevTry(s, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}
