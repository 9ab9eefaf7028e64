/*
  cuda_host_copy.c - operations of PETSc that read or write the values of the host without asking for them, or without
  saying so: they would take old values for current ones where the current ones are on the device.
*/
#include "cuda.h"

#if defined(AIJFMT_HAVE_CUDA_PARENT)

/* Functions of PETSc that read the host's values without asking for them get current ones */
PetscErrorCode AIJFmtCudaFetch(Mat A)
{
  const PetscScalar *values;

  PetscFunctionBegin;
  if (A->offloadmask != PETSC_OFFLOAD_GPU) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJGetArrayRead(A, &values));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetColumnReductions_SeqAIJFmt(Mat A, PetscInt type, PetscReal *reductions)
{
  const AIJFmtParent *host;

  PetscFunctionBegin;
  PetscCall(AIJFmtCudaFetch(A));
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &host));
  PetscCall(host->seq.getcolumnreductions(A, type, reductions));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The host's function writes the host's values and does not mark them as the current ones: neither before its assembly,
   at which the matrix may be converted, nor after it */
static PetscErrorCode MatLoad_SeqAIJFmt(Mat A, PetscViewer viewer)
{
  const AIJFmtParent *parent;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentOf(A, &parent));
  PetscCall(AIJFmtCudaHostWritten(A));
  PetscCall(parent->seq.load(A, viewer));
  PetscCall(AIJFmtCudaHostWritten(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatEliminateZeros_SeqAIJFmt(Mat A, PetscBool keep)
{
  const AIJFmtParent *host;

  PetscFunctionBegin;
  PetscCall(AIJFmtCudaFetch(A));
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &host));
  PetscCall(host->seq.eliminatezeros(A, keep));
  PetscCall(AIJFmtCudaHostWritten(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent zeroes the values on the device whenever there are any, and takes these for current then. After new
   nonzeros on the host they are those of another pattern. And where the host's values are current, they were written
   there, and what comes after the zeros will be too: to fetch them from the device would take longer than to write
   them. So the device's are zeroed only where they alone are current. */
static PetscErrorCode MatZeroEntries_SeqAIJFmt(Mat A)
{
  const AIJFmtParent *parent;
  Mat_AIJFmt         *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s && A->offloadmask == PETSC_OFFLOAD_GPU && !s->keeps_host) {
    AIJFmtNameGuard guard;
    PetscErrorCode  error;

    PetscCall(AIJFmtNameGuardBegin(A, s, &guard));
    error = s->parent->seq.zeroentries(A);
    PetscCall(AIJFmtNameGuardEnd(A, &guard));
    PetscCall(error);
  } else {
    PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &parent));
    PetscCall(parent->seq.zeroentries(A));
    PetscCall(AIJFmtCudaHostWritten(A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtCudaHostCopyInstall(Mat A)
{
  PetscFunctionBegin;
  A->ops->getcolumnreductions = MatGetColumnReductions_SeqAIJFmt;
  A->ops->eliminatezeros      = MatEliminateZeros_SeqAIJFmt;
  A->ops->load                = MatLoad_SeqAIJFmt;
  if (!AIJFmtBoundToCPU(A)) A->ops->zeroentries = MatZeroEntries_SeqAIJFmt; /* AIJFmtCudaRebind() goes by it */
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
