/*
  prolongator.c - smooths the diagonal block of a prolongator where the values of A P0 are. PETSc's MatAYPX() with a
  subset of the pattern works row by row on the host, for parallel matrices.
*/
#include "seqaijfmt.h"
#include <spmv_aggregate.h>

static PetscErrorCode OnDevice(Mat S, Mat_AIJFmt *s, Mat P0, PetscReal omega, const void *diagonal, SpmvExec *exec,
                               SpmvStatus *status)
{
  AIJFmtThere  there;
  SpmvCsr      csr;
  PetscScalar *values;

  PetscFunctionBegin;
  PetscCall(AIJFmtThereGet(P0, PETSC_TRUE, exec, &there, status));
  PetscCall(AIJFmtDeviceCsrGet(S, s, &csr));
  PetscCall(AIJFmtDeviceValuesGet(S, &values));
  if (!*status) *status = spmv_prolongator_smooth((double)omega, diagonal, &there.csr, &csr.pattern, values, exec);
  PetscCall(AIJFmtDeviceValuesRestore(S, &values));
  AIJFmtThereRestore(exec, &there);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OnHost(Mat S, Mat P0, PetscReal omega, const void *diagonal, SpmvExec *exec, SpmvStatus *status)
{
  SpmvCsr            from = {.scalar_type = AIJFMT_SCALAR, .values_space = SPMV_HOST};
  SpmvPattern        to   = {.nnz = 0};
  const PetscScalar *values0;
  PetscScalar       *values;

  PetscFunctionBegin;
  PetscCall(AIJFmtHostPatternGet(P0, &from.pattern));
  PetscCall(AIJFmtHostPatternGet(S, &to));
  PetscCall(MatSeqAIJGetArrayRead(P0, &values0));
  PetscCall(MatSeqAIJGetArray(S, &values));
  from.values = values0;
  *status     = spmv_prolongator_smooth((double)omega, diagonal, &from, &to, values, exec);
  PetscCall(MatSeqAIJRestoreArray(S, &values));
  PetscCall(MatSeqAIJRestoreArrayRead(P0, &values0));
  PetscCall(AIJFmtHostPatternRestore(S, &to));
  PetscCall(AIJFmtHostPatternRestore(P0, &from.pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* S becomes P0 - omega D^-1 S, on the device or on the host, where its values are. If that is impossible, reason says
   why, and the values of S are undefined. All matrices are sequential. */
PetscErrorCode AIJFmtProlongatorSmooth(Mat S, Mat P0, PetscReal omega, Vec diagonal, PetscBool *device,
                                       char reason[SPMV_MESSAGE_MAX])
{
  AIJFmtVector staged = {.vec = NULL};
  SpmvStatus   status = SPMV_SUCCESS;
  SpmvExec     exec;
  Mat_AIJFmt  *s;

  PetscFunctionBegin;
  *device = PETSC_FALSE;
  PetscCall(AIJFmtStateGet(S, &s));
  if (s && sizeof(AIJFmtCusparseIndex) == sizeof(PetscInt))
    PetscCall(AIJFmtDeviceCsrDecide(S, s, "the smoothing of a prolongator", AIJFMT_WANTS_FILLED, device));
  spmv_exec_init(&exec, *device ? SPMV_DEVICE : SPMV_HOST);
  if (*device) PetscCall(AIJFmtCudaStream(&exec));
  PetscCall(AIJFmtVectorTry(&exec, &staged, diagonal, AIJFMT_READ, &status));
  if (!status) {
    if (*device) PetscCall(OnDevice(S, s, P0, omega, staged.data, &exec, &status));
    else PetscCall(OnHost(S, P0, omega, staged.data, &exec, &status));
    PetscCall(AIJFmtVectorGive(&exec, &staged, &status));
  }
  AIJFmtVectorFree(&exec, &staged);
  PetscCall(AIJFmtRefuse(&exec, status, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}
