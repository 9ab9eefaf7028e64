/*
  cuda_product.c - products of two parallel matrices of ours on the GPU: A B, A^T B and P^T A P.

  The CUDA parent makes such a product of products of sequential matrices (MatProductSymbolic_MPIAIJBACKEND()): of the
  blocks, of the rows that came from other processes, and of the local rows as one matrix. These are of our types, so
  matproduct.c computes them. Their entries go to the processes that own them and into the product by coordinates. All
  the parent needs to know is that it works for the GPU, which it tells by the type names.
*/
#include "seqaijfmt.h"
#include "cuda.h"

#if defined(AIJFMT_HAVE_CUDA_PARENT)

typedef PetscErrorCode ProductStep(Mat);

static ProductStep *parent_symbolic;

/* Calls a step of the parent with both factors under its own name. They may be the same matrix. */
static PetscErrorCode AsParent(Mat C, ProductStep *step)
{
  const Mat       factor[] = {C->product->A, C->product->B};
  AIJFmtNameGuard guard[2];
  PetscErrorCode  error;

  PetscFunctionBegin;
  for (int f = 0; f < 2; f++) {
    Mat_AIJFmt *s;

    PetscCall(AIJFmtStateGet(factor[f], &s));
    PetscCall(AIJFmtNameGuardBegin(factor[f], s, &guard[f]));
  }
  error = step(C);
  for (int f = 1; f >= 0; f--) PetscCall(AIJFmtNameGuardEnd(factor[f], &guard[f]));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent gives the product its own type, which becomes that of the first factor */
static PetscErrorCode MatProductSymbolic_MPIAIJFmt(Mat C)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateRequire(C->product->A, "MatProductSymbolic()", &s));
  PetscCall(AsParent(C, parent_symbolic));
  PetscCall(AIJFmtInstall(C, s->row, PETSC_TRUE, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a factor allows the product on the GPU, and whether it asks for it: `auto` leaves few values on the host to
   the host */
static PetscErrorCode Vote(Mat A, PetscMPIInt *may, PetscMPIInt *asks)
{
  Mat_AIJFmt *s, *inner;
  Mat         blocks[2];
  PetscBool   cuda;
  int64_t     nonzeros = 0;
  int         where;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  PetscCall(AIJFmtIsCudaParent(s, &cuda));
  where = s ? (int)s->class_options.value[AIJFMT_PRODUCTS] : AIJFMT_ON_HOST;
  if (!cuda || where == AIJFMT_ON_HOST || s->class_options.value[AIJFMT_DEVICE] == AIJFMT_ON_HOST ||
      AIJFmtBoundToCPU(A) || A->structure_only || !A->assembled) {
    *may = 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < 2; b++) {
    PetscCall(AIJFmtStateGet(blocks[b], &inner));
    if (!inner) *may = 0;
    else if (AIJFmtCudaIsCurrent(blocks[b], inner)) *asks = 1;
    PetscCall(AIJFmtNonzeros(blocks[b], &nonzeros));
  }
  if (where == AIJFMT_ON_GPU || nonzeros >= AIJFMT_DEVICE_MIN_NONZEROS) *asks = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the symbolic step of the product where it is to run on the GPU. Collective: all processes agree. */
PetscErrorCode AIJFmtCudaProductChoose(Mat C, PetscBool *chosen)
{
  const AIJFmtParent *cuda;
  PetscMPIInt         may = 1, asks = 0, votes[2];

  PetscFunctionBegin;
  *chosen = PETSC_FALSE;
  PetscCall(Vote(C->product->A, &may, &asks));
  PetscCall(Vote(C->product->B, &may, &asks));
  votes[0] = may;
  votes[1] = -asks;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, votes, 2, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)C)));
  if (!votes[0] || !votes[1]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_CUDA, &cuda));
  PetscCall(AsParent(C, cuda->mpi.productsetfromoptions));
  parent_symbolic         = C->ops->productsymbolic;
  C->ops->productsymbolic = MatProductSymbolic_MPIAIJFmt;
  *chosen                 = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
