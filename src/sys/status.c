/* status.c - a status of the kernel library as an error of PETSc, or as a reason. */
#include "status.h"

PetscErrorCode AIJFmtErrorCode(SpmvStatus status)
{
  switch (status) {
  case SPMV_SUCCESS:
    return PETSC_SUCCESS;
  case SPMV_ERR_ARGUMENT:
    return PETSC_ERR_ARG_WRONG;
  case SPMV_ERR_OPTION:
    return PETSC_ERR_ARG_OUTOFRANGE;
  case SPMV_ERR_MATRIX:
    return PETSC_ERR_ARG_WRONGSTATE;
  case SPMV_ERR_MEMORY:
    return PETSC_ERR_MEM;
  case SPMV_ERR_OVERFLOW:
  case SPMV_ERR_UNSUPPORTED:
    return PETSC_ERR_SUP;
  case SPMV_ERR_DEVICE:
    return PETSC_ERR_GPU;
  case SPMV_ERR_PEER:
    return PETSC_ERR_MPI;
  default:
    return PETSC_ERR_PLIB;
  }
}

static PetscBool device_failed = PETSC_FALSE;

PetscErrorCode AIJFmtRefuse(const SpmvExec *exec, SpmvStatus status, char reason[SPMV_MESSAGE_MAX])
{
  PetscFunctionBegin;
  if (status == SPMV_ERR_DEVICE && PetscGlobalSize > 1) device_failed = PETSC_TRUE;
  if (AIJFmtIsRefusal(status) || (status == SPMV_ERR_DEVICE && device_failed))
    PetscCall(PetscStrncpy(reason, exec->message[0] ? exec->message : spmv_status_text(status), SPMV_MESSAGE_MAX));
  else AIJFmtCallSpmv(exec, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool PetscPackDeviceFailed(void)
{
  const PetscBool failed = device_failed;

  device_failed = PETSC_FALSE;
  return failed;
}
