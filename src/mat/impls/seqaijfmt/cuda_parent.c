/*
  cuda_parent.c - what products and conversions ask of the CUDA parent: its name, its stream, and the two copies of a
  matrix that it keeps, on the host and on the device. offloadmask tells which of them is current, as far as PETSc's
  functions tell it.
*/
#include "cuda.h"
#include <petsc/private/vecimpl.h>

#if defined(AIJFMT_HAVE_CUDA_PARENT)
  #include <petscdevice_cuda.h>

PetscErrorCode AIJFmtIsCudaParent(const Mat_AIJFmt *s, PetscBool *is)
{
  const AIJFmtParent *cuda;

  PetscFunctionBegin;
  *is = PETSC_FALSE;
  if (spmv_device_count(NULL) == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_CUDA, &cuda));
  *is = s && s->parent == cuda ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtNameGuardBegin(Mat A, const Mat_AIJFmt *s, AIJFmtNameGuard *guard)
{
  PetscBool cuda;
  char     *name;

  PetscFunctionBegin;
  guard->saved = NULL;
  PetscCall(AIJFmtIsCudaParent(s, &cuda));
  if (!cuda) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrallocpy(s->parallel ? s->parent->mpi_type : s->parent->seq_type, &name));
  guard->saved                = ((PetscObject)A)->type_name;
  ((PetscObject)A)->type_name = name;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtNameGuardEnd(Mat A, AIJFmtNameGuard *guard)
{
  PetscFunctionBegin;
  if (!guard->saved) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree(((PetscObject)A)->type_name));
  ((PetscObject)A)->type_name = guard->saved;
  guard->saved                = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtCudaStream(SpmvExec *exec)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  exec->stream = (void *)stream;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values on the host were written by a function that did not say so */
PetscErrorCode AIJFmtCudaHostWritten(Mat A)
{
  PetscFunctionBegin;
  if (A->offloadmask != PETSC_OFFLOAD_UNALLOCATED) A->offloadmask = PETSC_OFFLOAD_CPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called when the values have changed since the last product. Where both copies are marked as current, the host's one
   is: functions of PETSc that write on the device mark it, while some that write on the host do not, as those behind
   MatMatTransposeMult(). The parent then copies the values to the device again when it needs them. */
PetscErrorCode AIJFmtCudaValuesChanged(Mat A, const Mat_AIJFmt *s)
{
  PetscBool cuda;

  PetscFunctionBegin;
  PetscCall(AIJFmtIsCudaParent(s, &cuda));
  if (cuda && A->offloadmask == PETSC_OFFLOAD_BOTH) A->offloadmask = PETSC_OFFLOAD_CPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a vector is one of the device, and may be used there */
PetscErrorCode AIJFmtCudaIsVec(Vec v, PetscBool *is)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)v, is, VECSEQCUDA, VECMPICUDA, ""));
  if (v->boundtocpu) *is = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the CUDA parent's own product, with its CSR on the device, serves a matrix without a plan. It takes vectors
   on the device only. AIJFmtCudaValuesChanged() has made sure that the CSR there is current. */
PetscErrorCode AIJFmtCudaMultiplies(Mat A, const Mat_AIJFmt *s, Vec x, Vec z, Vec y, PetscBool *device)
{
  const Vec vector[] = {x, y, z};

  PetscFunctionBegin;
  PetscCall(AIJFmtIsCudaParent(s, device));
  if (s->exec.space != SPMV_DEVICE || AIJFmtBoundToCPU(A) || A->structure_only) *device = PETSC_FALSE;
  for (int v = 0; *device && v < 3; v++) {
    if (vector[v]) PetscCall(AIJFmtCudaIsVec(vector[v], device));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points csr to device arrays of the parent, for a plan on the device: values that are current there, or both values and
   pattern for a format that borrows them, which the parent copies to the device where they are old. done: values are
   set. The pattern of formats that do not borrow stays on the host, where it is known to be. */
PetscErrorCode AIJFmtCudaCsr(Mat A, Mat_AIJFmt *s, SpmvCsr *csr, PetscBool *done)
{
  const PetscBool borrows = AIJFmtPlanOptions(s)->format->borrows ? PETSC_TRUE : PETSC_FALSE;
  PetscBool       cuda;
  SpmvCsr         there;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(AIJFmtIsCudaParent(s, &cuda));
  if (!cuda || AIJFmtBoundToCPU(A) || s->exec.space != SPMV_DEVICE || !(borrows || A->offloadmask == PETSC_OFFLOAD_GPU))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtCudaArraysGet(A, s, &there));
  csr->values       = there.values;
  csr->values_space = SPMV_DEVICE;
  if (borrows) csr->pattern = there.pattern;
  *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
