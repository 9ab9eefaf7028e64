/* cg_persistent_csr.c - the CSR with 32-bit indices that the persistent kernel multiplies by; kept while the pattern is
   unchanged. */
#include "cgdevice.h"

static PetscErrorCode MakeCsr(KSP_CGDevice *s, const AIJFmtKey *key, const PetscScalar values[], SpmvStatus *status)
{
  KSPDevMatrix *m = &s->matrix;

  PetscFunctionBegin;
  PetscCall(KSPDevMatrixForget(KSPDEV(s)));
  if (key->pattern.nnz > INT32_MAX)
    *status = spmv_fail(&s->exec, SPMV_ERR_UNSUPPORTED, "the persistent kernel needs 32-bit indices");
  else *status = spmv_pattern_check(&key->pattern, &s->exec);
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtUpload(&s->exec, &key->pattern, values, SPMV_I32, &m->csr, &m->csr_arrays, status));
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  m->serial[0] = AIJFmtSerialNext();
  m->conversions++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static SpmvStatus RefreshCsr(KSP_CGDevice *s, const PetscScalar values[])
{
  const int64_t bytes = s->matrix.csr.pattern.nnz * (int64_t)sizeof *values;

  s->matrix.refreshes++;
  return spmv_copy((void *)s->matrix.csr.values, SPMV_DEVICE, values, SPMV_HOST, bytes, &s->exec);
}

/* Sets s->matrix.csr to A */
PetscErrorCode CGDevMatrixCsr(KSP_CGDevice *s, Mat A)
{
  KSPDevMatrix      *m      = &s->matrix;
  SpmvStatus         status = SPMV_SUCCESS;
  AIJFmtKey          now;
  const PetscScalar *values;
  PetscBool          same;

  PetscFunctionBegin;
  PetscCall(AIJFmtKeyGet(A, &now));
  same = m->csr_arrays ? AIJFmtSameStructure(&m->csr_key, &now) : PETSC_FALSE;
  if (!same || m->csr_key.value_state != now.value_state) {
    PetscCall(MatSeqAIJGetArrayRead(A, &values));
    if (same) status = RefreshCsr(s, values);
    else PetscCall(MakeCsr(s, &now, values, &status));
    PetscCall(MatSeqAIJRestoreArrayRead(A, &values));
    if (!status) m->csr_key = now;
  }
  m->nonzeros = (PetscInt)now.pattern.nnz;
  PetscCall(AIJFmtKeyRestore(A, &now));
  KSPDevTry(s, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}
