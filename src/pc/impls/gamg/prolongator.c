/*
  prolongator.c - smooths the diagonal block of a prolongator where the values of A P0 are. PETSc's MatAYPX() with a
  subset of the pattern works row by row on the host, for parallel matrices.
*/
#include "gamg.h"
#include "mat/impls/aij/aijfmt.h"
#include <spmv_aggregate.h>

static PetscErrorCode Smooth(Mat S, Mat P0, PetscReal omega, const void *diagonal, PetscBool device, SpmvExec *exec,
                             SpmvStatus *status)
{
  const unsigned both = AIJFMT_PATTERN | AIJFMT_VALUES;
  AIJFmtArrays   from = {.parts = 0}, to = {.stays = device};

  PetscFunctionBegin;
  PetscCall(AIJFmtArraysGet(P0, both, AIJFMT_READ, exec, &from, status));
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtArraysGet(S, both, AIJFMT_UPDATE, exec, &to, status));
  if (!*status) *status = spmv_prolongator_smooth((double)omega, diagonal, &from.csr, &to.csr.pattern, to.values, exec);
  PetscCall(AIJFmtArraysRestore(S, exec, &to, status));
  PetscCall(AIJFmtArraysRestore(P0, exec, &from, NULL));
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
    PetscCall(Smooth(S, P0, omega, staged.data, *device, &exec, &status));
    PetscCall(AIJFmtVectorGive(&exec, &staged, &status));
  }
  AIJFmtVectorFree(&exec, &staged);
  PetscCall(AIJFmtRefuse(&exec, status, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}
