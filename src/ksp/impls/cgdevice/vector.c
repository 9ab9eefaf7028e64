/*
  vector.c - the entries of the solution and the residual where the engine can work on them: those of a CUDA vector in
  place, those of a vector of the host in a buffer on the device.
*/
#include "cgdevice.h"

PetscErrorCode CGDevVectorForget(KSP_CGDevice *s, CGDevVector *v)
{
  PetscFunctionBegin;
  spmv_exec_free(&s->exec, SPMV_DEVICE, v->buffer);
  v->buffer = NULL;
  v->bytes  = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds out where the entries are, and allocates the buffer that they need */
PetscErrorCode CGDevVectorPrepare(KSP_CGDevice *s, CGDevVector *v, Vec vec)
{
  const PetscScalar *read;
  PetscMemType       memtype;
  PetscInt           n;
  int64_t            bytes;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(vec, &n));
  PetscCall(VecGetArrayReadAndMemType(vec, &read, &memtype));
  PetscCall(VecRestoreArrayReadAndMemType(vec, &read));
  v->vec    = vec;
  v->array  = NULL;
  v->staged = PetscMemTypeHost(memtype) ? PETSC_TRUE : PETSC_FALSE;
  bytes     = (int64_t)n * (int64_t)sizeof(PetscScalar);
  if (!v->staged || bytes <= v->bytes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CGDevVectorForget(s, v));
  CGDevTry(s, spmv_alloc(&s->exec, SPMV_DEVICE, bytes, "vector", &v->buffer));
  v->bytes = bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From here to CGDevVectorEnd() the engine works on v->data. The caller of PETSc may look at the vector between two
   such times, but must not move its entries. */
PetscErrorCode CGDevVectorBegin(CGDevVector *v)
{
  PetscScalar *before = v->array;
  PetscMemType memtype;

  PetscFunctionBegin;
  v->data = v->buffer;
  if (v->staged) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayAndMemType(v->vec, &v->array, &memtype));
  PetscCheck(PetscMemTypeDevice(memtype) && (!before || before == v->array), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "A monitor or convergence test moved the solution or the residual of a solve on the device");
  v->data = v->array;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CGDevVectorEnd(CGDevVector *v)
{
  PetscScalar *array = v->array;

  PetscFunctionBegin;
  if (!v->staged) PetscCall(VecRestoreArrayAndMemType(v->vec, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the entries of a vector of the host to its buffer */
PetscErrorCode CGDevVectorSend(KSP_CGDevice *s, CGDevVector *v)
{
  const PetscScalar *array;
  PetscInt           n;

  PetscFunctionBegin;
  if (!v->staged) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(v->vec, &n));
  PetscCall(VecGetArrayRead(v->vec, &array));
  AIJFmtCallSpmv(&s->exec, spmv_copy(v->buffer, SPMV_DEVICE, array, SPMV_HOST,
                                     (int64_t)n * (int64_t)sizeof(PetscScalar), &s->exec));
  PetscCall(VecRestoreArrayRead(v->vec, &array));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)n * sizeof(PetscScalar)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the entries back to a vector of the host */
PetscErrorCode CGDevVectorFetch(KSP_CGDevice *s, CGDevVector *v)
{
  PetscScalar *array;
  PetscInt     n;

  PetscFunctionBegin;
  if (!v->staged) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(v->vec, &n));
  PetscCall(VecGetArrayWrite(v->vec, &array));
  AIJFmtCallSpmv(&s->exec, spmv_copy(array, SPMV_HOST, v->buffer, SPMV_DEVICE,
                                     (int64_t)n * (int64_t)sizeof(PetscScalar), &s->exec));
  AIJFmtCallSpmv(&s->exec, spmv_stream_wait(&s->exec));
  PetscCall(VecRestoreArrayWrite(v->vec, &array));
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)n * sizeof(PetscScalar)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
