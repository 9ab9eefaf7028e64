/*
  vectors.c - the entries of vectors in the memory of a plan, and the copy of any array to the host.

  A plan on the host takes the array of VecGetArray(). A plan on the GPU takes device pointers as they are; entries on
  the host are copied back and forth. Each product gets its vectors and restores them; the copies go through page-locked
  memory, which the copy engine reads and writes without the processor. A solver has its vectors for a whole solve and
  says when to copy; it copies too rarely to be worth locking memory.
*/
#include "aijfmt.h"

/* Whether the entries of a vector are on the device and may be used there */
PetscErrorCode AIJFmtVecIsOnDevice(Vec v, PetscBool *is)
{
  PetscBool bound;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)v, is, VECSEQCUDA, VECMPICUDA, ""));
  PetscCall(VecBoundToCPU(v, &bound));
  if (bound) *is = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void AIJFmtVectorFree(SpmvExec *exec, AIJFmtVector *v)
{
  spmv_pinned_free(v->pinned);
  spmv_exec_free(exec, SPMV_DEVICE, v->device);
  v->pinned = v->device = NULL;
  v->bytes              = 0;
}

/* Allocates the copy of the entries. Without page-locked memory, the entries are copied from and to the array of the
   vector, which is slower. */
static SpmvStatus VectorReserve_AIJFmt(SpmvExec *exec, AIJFmtVector *v, PetscBool pinned)
{
  const int64_t bytes = (int64_t)v->n * (int64_t)sizeof(PetscScalar);
  SpmvStatus    status;

  if (bytes <= v->bytes) return SPMV_SUCCESS;
  AIJFmtVectorFree(exec, v);
  if (pinned) (void)spmv_pinned_alloc(exec, bytes, &v->pinned);
  status = spmv_alloc(exec, SPMV_DEVICE, bytes, "vector", &v->device);
  if (!status) v->bytes = bytes;
  return status;
}

static PetscErrorCode CopyToDevice(SpmvExec *exec, AIJFmtVector *v, const PetscScalar array[], SpmvStatus *status)
{
  const size_t bytes = (size_t)v->n * sizeof *array;
  const void  *from  = v->pinned ? v->pinned : array;

  PetscFunctionBegin;
  if (v->pinned) PetscCall(PetscMemcpy(v->pinned, array, bytes));
  *status = spmv_copy(v->device, SPMV_DEVICE, from, SPMV_HOST, (int64_t)bytes, exec);
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies an array to the host, and waits for it if it was on the device */
PetscErrorCode AIJFmtFetch(SpmvExec *exec, const void *from, SpmvSpace space, int64_t bytes, void *to,
                           SpmvStatus *status)
{
  PetscFunctionBegin;
  *status = spmv_copy(to, SPMV_HOST, from, space, bytes, exec);
  if (space == SPMV_HOST) PetscFunctionReturn(PETSC_SUCCESS);
  if (!*status) *status = spmv_stream_wait(exec);
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the entries to the host and waits for the stream */
static PetscErrorCode CopyToHost(SpmvExec *exec, AIJFmtVector *v, PetscScalar array[], SpmvStatus *status)
{
  const size_t bytes = (size_t)v->n * sizeof *array;
  void        *to    = v->pinned ? v->pinned : array;

  PetscFunctionBegin;
  PetscCall(AIJFmtFetch(exec, v->device, SPMV_DEVICE, (int64_t)bytes, to, status));
  if (!*status && v->pinned) PetscCall(PetscMemcpy(array, v->pinned, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- a product ---- */

static PetscErrorCode VectorArrayGet_AIJFmt(AIJFmtVector *v, PetscBool device)
{
  const PetscScalar *read;

  PetscFunctionBegin;
  v->memtype = PETSC_MEMTYPE_HOST;
  if (v->access == AIJFMT_READ) {
    if (device) PetscCall(VecGetArrayReadAndMemType(v->vec, &read, &v->memtype));
    else PetscCall(VecGetArrayRead(v->vec, &read));
    v->array = (PetscScalar *)read;
  } else if (v->access == AIJFMT_UPDATE) {
    if (device) PetscCall(VecGetArrayAndMemType(v->vec, &v->array, &v->memtype));
    else PetscCall(VecGetArray(v->vec, &v->array));
  } else {
    if (device) PetscCall(VecGetArrayWriteAndMemType(v->vec, &v->array, &v->memtype));
    else PetscCall(VecGetArrayWrite(v->vec, &v->array));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestoreArray(AIJFmtVector *v, PetscBool device)
{
  PetscFunctionBegin;
  if (v->access == AIJFMT_READ) {
    const PetscScalar *read = v->array;
    if (device) PetscCall(VecRestoreArrayReadAndMemType(v->vec, &read));
    else PetscCall(VecRestoreArrayRead(v->vec, &read));
  } else if (v->access == AIJFMT_UPDATE) {
    if (device) PetscCall(VecRestoreArrayAndMemType(v->vec, &v->array));
    else PetscCall(VecRestoreArray(v->vec, &v->array));
  } else {
    if (device) PetscCall(VecRestoreArrayWriteAndMemType(v->vec, &v->array));
    else PetscCall(VecRestoreArrayWrite(v->vec, &v->array));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets v->data to the entries of vec in exec->space. status: the device may not have or fill a copy; then the
   vector is unchanged and need not be restored. */
PetscErrorCode AIJFmtVectorTry(SpmvExec *exec, AIJFmtVector *v, Vec vec, AIJFmtAccess access, SpmvStatus *status)
{
  const PetscBool device = exec->space == SPMV_DEVICE ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  v->vec    = vec;
  v->access = access;
  *status   = SPMV_SUCCESS;
  PetscCall(VecGetLocalSize(vec, &v->n));
  PetscCall(VectorArrayGet_AIJFmt(v, device));
  v->staged = device && PetscMemTypeHost(v->memtype) ? PETSC_TRUE : PETSC_FALSE;
  v->data   = v->array;
  if (!v->staged) PetscFunctionReturn(PETSC_SUCCESS);
  *status = VectorReserve_AIJFmt(exec, v, PETSC_TRUE);
  v->data = v->device;
  if (!*status && access != AIJFMT_WRITE) PetscCall(CopyToDevice(exec, v, v->array, status));
  if (*status) PetscCall(RestoreArray(v, device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same; too little memory is an error */
PetscErrorCode AIJFmtVectorGet(SpmvExec *exec, AIJFmtVector *v, Vec vec, AIJFmtAccess access)
{
  SpmvStatus status;

  PetscFunctionBegin;
  PetscCall(AIJFmtVectorTry(exec, v, vec, access, &status));
  AIJFmtCallSpmv(exec, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives the entries back. For a staged vector it waits for the stream: its page-locked copy must not be reused
   earlier. After a failed product, *status, a vector of the host stays as it is. */
PetscErrorCode AIJFmtVectorGive(SpmvExec *exec, AIJFmtVector *v, SpmvStatus *status)
{
  PetscFunctionBegin;
  if (v->staged && !*status && v->access != AIJFMT_READ) PetscCall(CopyToHost(exec, v, v->array, status));
  else if (v->staged) {
    const SpmvStatus waited = spmv_stream_wait(exec);
    if (!*status) *status = waited;
  }
  PetscCall(RestoreArray(v, exec->space == SPMV_DEVICE ? PETSC_TRUE : PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same after a success */
PetscErrorCode AIJFmtVectorRestore(SpmvExec *exec, AIJFmtVector *v)
{
  SpmvStatus status = SPMV_SUCCESS;

  PetscFunctionBegin;
  PetscCall(AIJFmtVectorGive(exec, v, &status));
  AIJFmtCallSpmv(exec, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the entries of vec from where they are to device memory, in the order of the stream */
PetscErrorCode AIJFmtVectorCopy(SpmvExec *exec, Vec vec, void *to, SpmvStatus *status)
{
  const PetscScalar *array;
  PetscMemType       memtype;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(vec, &n));
  PetscCall(VecGetArrayReadAndMemType(vec, &array, &memtype));
  *status = spmv_copy(to, SPMV_DEVICE, array, PetscMemTypeHost(memtype) ? SPMV_HOST : SPMV_DEVICE,
                      n * (int64_t)sizeof *array, exec);
  PetscCall(VecRestoreArrayReadAndMemType(vec, &array));
  if (PetscMemTypeHost(memtype)) PetscCall(PetscLogCpuToGpu((PetscLogDouble)n * sizeof *array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- a solver places a vector once, sends it, encloses each run of the engine in Begin and End, and fetches the
   entries that the host needs. A vector on the device needs Begin and End only. ---- */

static PetscErrorCode VectorPlace_AIJFmt(SpmvExec *exec, AIJFmtVector *v, Vec vec, PetscBool pinned, SpmvStatus *status)
{
  const PetscScalar *read;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(vec, &v->n));
  PetscCall(VecGetArrayReadAndMemType(vec, &read, &v->memtype));
  PetscCall(VecRestoreArrayReadAndMemType(vec, &read));
  v->vec    = vec;
  v->array  = NULL;
  v->staged = PetscMemTypeHost(v->memtype) ? PETSC_TRUE : PETSC_FALSE;
  *status   = v->staged ? VectorReserve_AIJFmt(exec, v, pinned) : SPMV_SUCCESS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds out where the entries of vec are, and allocates their copy if needed. status: result of the allocation */
PetscErrorCode AIJFmtVectorPlace(SpmvExec *exec, AIJFmtVector *v, Vec vec, SpmvStatus *status)
{
  PetscFunctionBegin;
  PetscCall(VectorPlace_AIJFmt(exec, v, vec, PETSC_FALSE, status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same with memory of the host that the device can reach */
PetscErrorCode AIJFmtVectorPlacePinned(SpmvExec *exec, AIJFmtVector *v, Vec vec, SpmvStatus *status)
{
  PetscFunctionBegin;
  PetscCall(VectorPlace_AIJFmt(exec, v, vec, PETSC_TRUE, status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Until AIJFmtVectorEnd(), the solver works on v->data. Between an End and the next Begin the caller of PETSc may read
   the vector, but must not move its entries. */
PetscErrorCode AIJFmtVectorBegin(AIJFmtVector *v)
{
  PetscScalar *before = v->array;
  PetscMemType memtype;

  PetscFunctionBegin;
  v->data = v->device;
  if (v->staged) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayAndMemType(v->vec, &v->array, &memtype));
  PetscCheck(PetscMemTypeDevice(memtype) && (!before || before == v->array), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "A monitor or convergence test moved the array of the solution or the residual of a solve on the device: "
             "read it, but leave it in place");
  v->data = v->array;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtVectorEnd(AIJFmtVector *v)
{
  PetscScalar *array = v->array;

  PetscFunctionBegin;
  if (!v->staged) PetscCall(VecRestoreArrayAndMemType(v->vec, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the entries of a host vector to the device */
PetscErrorCode AIJFmtVectorSend(SpmvExec *exec, AIJFmtVector *v)
{
  const PetscScalar *array;
  SpmvStatus         status;

  PetscFunctionBegin;
  if (!v->staged) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayRead(v->vec, &array));
  PetscCall(CopyToDevice(exec, v, array, &status));
  PetscCall(VecRestoreArrayRead(v->vec, &array));
  AIJFmtCallSpmv(exec, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the entries on the device back to a host vector */
PetscErrorCode AIJFmtVectorFetch(SpmvExec *exec, AIJFmtVector *v)
{
  PetscScalar *array;
  SpmvStatus   status;

  PetscFunctionBegin;
  if (!v->staged) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayWrite(v->vec, &array));
  PetscCall(CopyToHost(exec, v, array, &status));
  PetscCall(VecRestoreArrayWrite(v->vec, &array));
  AIJFmtCallSpmv(exec, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}
