/*
  matrix.c - the matrix on the device.

  A matrix of petscpack has a plan there, or gets one, as for MatMult(). With multigrid the solver shares the plan of the
  finest level. For any other AIJ matrix, and for one that petscpack left to the host because it is small, the solver
  makes a plan of its own from the CSR of the host, and keeps it as long as the nonzero pattern stays.
*/
#include "device.h"

PetscErrorCode KSPDevMatrixForget(KSPDevice *s)
{
  KSPDevMatrix *m = &s->matrix;

  PetscFunctionBegin;
  AIJFmtPlanDrop(&m->own, &s->exec);
  spmv_exec_free(&s->exec, SPMV_DEVICE, m->csr_arrays);
  m->csr_arrays = NULL;
  m->serial     = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* crsv is CSR, and takes every pattern */
static PetscErrorCode OwnPlan(KSPDevice *s, Mat A)
{
  const char *const      formats[] = {s->format, "crsv"};
  KSPDevMatrix          *m         = &s->matrix;
  const PetscInt64       serial    = m->own.serial;
  const PetscObjectState values    = m->own.key.value_state;
  SpmvStatus             status;

  PetscFunctionBegin;
  if (!m->own.plan) PetscCall(KSPDevMatrixForget(s)); /* a CSR */
  PetscCall(AIJFmtPlanFromHost(&m->own, A, 2, formats, &s->exec, &status));
  KSPDevTry(s, status);
  if (m->own.serial != serial) m->conversions++;
  else if (m->own.key.value_state != values) m->refreshes++;
  m->call.plan = m->own.plan;
  m->call.work = m->own.work;
  m->serial    = m->own.serial;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* s->matrix.call becomes the product with A, for vectors like x */
PetscErrorCode KSPDevMatrixPlan(KSPDevice *s, Mat A, Vec x)
{
  AIJFmtPlanOnDevice found;

  PetscFunctionBegin;
  found.plan = NULL;
  if (s->pc.kind == SPMV_PC_FUNCTION) PetscCall(MGDevHierarchyPlan(s->multigrid, A, &found));
  if (!found.plan) PetscCall(AIJFmtDevicePlan(A, x, &found));
  if (found.why_host) PetscCall(PetscStrncpy(s->reason, found.why_host, sizeof s->reason));
  else if (found.plan) {
    PetscCall(KSPDevMatrixForget(s));
    s->matrix.call.plan = found.plan;
    s->matrix.call.work = found.work;
    s->matrix.serial    = found.serial;
  } else PetscCall(OwnPlan(s, A));
  if (s->reason[0]) PetscFunctionReturn(PETSC_SUCCESS);
  s->matrix.nonzeros = (PetscInt)s->matrix.call.plan->nnz;
  s->matrix.format   = s->matrix.call.plan->format->name;
  PetscFunctionReturn(PETSC_SUCCESS);
}
