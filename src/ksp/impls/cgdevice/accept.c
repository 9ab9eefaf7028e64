/* Decides before any computation whether the engine may serve a solve. */
#include "cgdevice.h"

/* The features of KSPCG that the engine does not have */
static PetscErrorCode WhySolver(KSP ksp, const KSP_CGDevice *s, const char **why)
{
  PetscFunctionBegin;
  if (PetscDefined(USE_COMPLEX) || PetscDefined(USE_REAL___FLOAT128) || PetscDefined(USE_REAL___FP16))
    *why = "scalars are neither real double nor real single";
  else if (s->mode == KSP_CGDEVICE_HOST) *why = "-ksp_cgdevice_mode host";
  else if (ksp->transpose_solve) *why = "a transposed solve";
  else if (ksp->calc_sings) *why = "eigenvalues or singular values are estimated";
  else if (s->single_reduction) *why = "-ksp_cg_single_reduction";
  else if (s->radius != 0) *why = "a trust region";
  else if (s->objective < 0) *why = "a target of the objective function";
  else if (ksp->max_it < 1) *why = "no iterations are allowed";
  else if (ksp->pc_side != PC_LEFT) *why = "the preconditioner is not on the left";
  else if (ksp->reason == KSP_DIVERGED_PC_FAILED) *why = "the set-up of the preconditioner failed";
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CGDevAccept(KSP ksp, KSP_CGDevice *s)
{
  char        no_device[SPMV_MESSAGE_MAX];
  const char *why = NULL;
  PetscMPIInt size;
  Mat         A;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  s->several = size > 1 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(WhySolver(ksp, s, &why));
  if (!why && spmv_device_count(no_device) == 0) why = no_device;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  if (!why) PetscCall(KSPDevWhyNullSpace(ksp->pc, A, &why));
  if (!why) PetscCall(KSPDevWhyMatrix(KSPDEV(s), A, &why));
  if (why) PetscCall(PetscStrncpy(s->reason, why, sizeof s->reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}
