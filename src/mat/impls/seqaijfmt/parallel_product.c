/*
  parallel_product.c - products of two parallel matrices of ours on the GPU: A B, A^T B and P^T A P.

  PETSc can make such a product of products of sequential matrices (MatProductSymbolic_MPIAIJBACKEND()): of the blocks,
  of the rows that came from other processes, and of the local rows as one matrix. These are of our types, so
  matproduct.c computes them. Their entries go to the processes that own them and into the product by coordinates. With
  the CUDA parent all of that stays on the GPU; it asks for type names to know that it may.
*/
#include "seqaijfmt.h"
#include "cuda.h"

typedef PetscErrorCode ProductStep(Mat);

static ProductStep *cuda_symbolic;

/* Calls a step of the CUDA parent with both factors under its own name. They may be the same matrix. */
static PetscErrorCode AsCudaParent(Mat C, ProductStep *step)
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

/* The CUDA parent gives the product its own type, which becomes that of the first factor */
static PetscErrorCode MatProductSymbolic_MPIAIJFmt(Mat C)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateRequire(C->product->A, "MatProductSymbolic()", &s));
  PetscCall(AsCudaParent(C, cuda_symbolic));
  PetscCall(AIJFmtInstall(C, s->row, PETSC_TRUE, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a factor allows the product on the GPU, and whether it asks for it. `auto` asks where values are on the GPU
   or many; without CUDA in PETSc it never does, because all values would travel there and back for each product. */
static PetscErrorCode Vote(Mat A, PetscMPIInt *may, PetscMPIInt *asks, PetscMPIInt *cuda)
{
  Mat_AIJFmt *s;
  Mat         blocks[2];
  PetscBool   cuda_parent;
  int64_t     nonzeros = 0;
  int         where;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  where = s ? (int)s->class_options.value[AIJFMT_DEVICE] : AIJFMT_ON_HOST;
  if (where == AIJFMT_ON_HOST || AIJFmtBoundToCPU(A) || A->structure_only || !A->assembled ||
      spmv_device_count(NULL) == 0) {
    *may = 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (where == AIJFMT_ON_GPU) *asks = 1;
  PetscCall(AIJFmtIsCudaParent(s, &cuda_parent));
  if (!cuda_parent) {
    *cuda = 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (s->keeps_host) *may = 0; /* that parent needs a CSR on the GPU */
  PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < 2; b++) {
    Mat_AIJFmt *inner;

    PetscCall(AIJFmtStateGet(blocks[b], &inner));
    if (inner && AIJFmtCudaIsCurrent(blocks[b], inner)) *asks = 1;
    PetscCall(AIJFmtNonzeros(blocks[b], &nonzeros));
  }
  if (nonzeros >= AIJFMT_DEVICE_MIN_NONZEROS) *asks = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the symbolic step of the product where it is to run on the GPU. Collective: all processes agree. */
PetscErrorCode AIJFmtParallelProductChoose(Mat C, PetscBool *chosen)
{
  const AIJFmtParent *parent;
  PetscMPIInt         may = 1, asks = 0, cuda = 1, votes[3];

  PetscFunctionBegin;
  *chosen = PETSC_FALSE;
  PetscCall(Vote(C->product->A, &may, &asks, &cuda));
  PetscCall(Vote(C->product->B, &may, &asks, &cuda));
  votes[0] = may;
  votes[1] = -asks;
  votes[2] = cuda;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, votes, 3, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)C)));
  if (!votes[0] || !votes[1]) PetscFunctionReturn(PETSC_SUCCESS);
  *chosen = PETSC_TRUE;
  if (!votes[2]) {
    PetscCall(MatProductSetAlgorithm(C, "backend"));
    PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &parent));
    PetscCall(parent->mpi.productsetfromoptions(C));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_CUDA, &parent));
  PetscCall(AsCudaParent(C, parent->mpi.productsetfromoptions));
  cuda_symbolic           = C->ops->productsymbolic;
  C->ops->productsymbolic = MatProductSymbolic_MPIAIJFmt;
  PetscFunctionReturn(PETSC_SUCCESS);
}
