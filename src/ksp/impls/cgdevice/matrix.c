/*
  matrix.c - the matrix on the device.

  A matrix of petscpack has a plan there, or gets one, as for MatMult(). With multigrid the solver shares the plan of the
  finest level. For any other AIJ matrix, and for one that petscpack left to the host because it is small, the solver
  makes a plan of its own from the CSR of the host, and keeps it as long as the nonzero pattern stays. The persistent
  kernel multiplies by a CSR with 32-bit indices, which is kept as long.
*/
#include "cgdevice.h"

PetscErrorCode CGDevMatrixForget(KSP_CGDevice *s)
{
  CGDevMatrix *m = &s->matrix;

  PetscFunctionBegin;
  AIJFmtPlanDrop(&m->own, &s->exec);
  spmv_exec_free(&s->exec, SPMV_DEVICE, m->csr_arrays);
  m->csr_arrays = NULL;
  m->serial     = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* crsv is CSR, and takes every pattern */
static PetscErrorCode OwnPlan(KSP_CGDevice *s, Mat A)
{
  const char *const      formats[] = {s->format, "crsv"};
  CGDevMatrix           *m         = &s->matrix;
  const PetscInt64       serial    = m->own.serial;
  const PetscObjectState values    = m->own.key.value_state;
  SpmvStatus             status;

  PetscFunctionBegin;
  if (!m->own.plan) PetscCall(CGDevMatrixForget(s)); /* a CSR */
  PetscCall(AIJFmtPlanFromHost(&m->own, A, 2, formats, &s->exec, &status));
  CGDevTry(s, status);
  if (m->own.serial != serial) m->conversions++;
  else if (m->own.key.value_state != values) m->refreshes++;
  m->call.plan = m->own.plan;
  m->call.work = m->own.work;
  m->serial    = m->own.serial;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* s->matrix.call becomes the product with A */
PetscErrorCode CGDevMatrixPlan(KSP ksp, KSP_CGDevice *s, Mat A)
{
  AIJFmtPlanOnDevice found;

  PetscFunctionBegin;
  found.plan = NULL;
  if (s->pc.kind == SPMV_PC_FUNCTION) PetscCall(MGDevHierarchyPlan(s->multigrid, A, &found));
  if (!found.plan) PetscCall(AIJFmtDevicePlan(A, ksp->work[0], &found));
  if (found.why_host) PetscCall(PetscStrncpy(s->reason, found.why_host, sizeof s->reason));
  else if (found.plan) {
    PetscCall(CGDevMatrixForget(s));
    s->matrix.call.plan = found.plan;
    s->matrix.call.work = found.work;
    s->matrix.serial    = found.serial;
  } else PetscCall(OwnPlan(s, A));
  if (s->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  s->matrix.nonzeros = (PetscInt)s->matrix.call.plan->nnz;
  s->matrix.format   = s->matrix.call.plan->format->name;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeCsr(KSP_CGDevice *s, const AIJFmtKey *key, const PetscScalar values[], SpmvStatus *status)
{
  CGDevMatrix *m = &s->matrix;

  PetscFunctionBegin;
  PetscCall(CGDevMatrixForget(s));
  if (key->pattern.nnz > INT32_MAX)
    *status = spmv_fail(&s->exec, SPMV_ERR_UNSUPPORTED, "the persistent kernel needs 32-bit indices");
  else *status = spmv_pattern_check(&key->pattern, &s->exec);
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtUpload(&s->exec, &key->pattern, values, SPMV_I32, &m->csr, &m->csr_arrays, status));
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  m->serial = AIJFmtSerialNext();
  m->conversions++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static SpmvStatus RefreshCsr(KSP_CGDevice *s, const PetscScalar values[])
{
  const int64_t bytes = s->matrix.csr.pattern.nnz * (int64_t)sizeof *values;

  s->matrix.refreshes++;
  return spmv_copy((void *)s->matrix.csr.values, SPMV_DEVICE, values, SPMV_HOST, bytes, &s->exec);
}

/* s->matrix.csr becomes A */
PetscErrorCode CGDevMatrixCsr(KSP_CGDevice *s, Mat A)
{
  CGDevMatrix       *m      = &s->matrix;
  SpmvStatus         status = SPMV_SUCCESS;
  AIJFmtKey          now;
  const PetscScalar *values;
  PetscBool          same;

  PetscFunctionBegin;
  PetscCall(AIJFmtKeyGet(A, ((PetscObject)A)->state, &now));
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
  CGDevTry(s, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}
