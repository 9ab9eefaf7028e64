/* product_choice.c - which products of matrices run on the GPU, by matproduct.c. */
#include "seqaijfmt.h"
#include "cuda.h"

/* The kind, and the option by which a user chooses an algorithm of the host; known: there is one on the GPU */
PetscErrorCode AIJFmtProductKind(MatProductType type, SpmvSpgemmKind *kind, const char **option, PetscBool *known)
{
  PetscFunctionBegin;
  *known  = PETSC_TRUE;
  *kind   = SPMV_SPGEMM_AB;
  *option = NULL;
  switch (type) {
  case MATPRODUCT_AB:
    *kind   = SPMV_SPGEMM_AB;
    *option = "-matmatmult_via";
    break;
  case MATPRODUCT_AtB:
    *kind   = SPMV_SPGEMM_ATB;
    *option = "-mattransposematmult_via";
    break;
  case MATPRODUCT_PtAP:
    *kind   = SPMV_SPGEMM_PTAP;
    *option = "-matptap_via";
    break;
  case MATPRODUCT_RARt:
    *kind   = SPMV_SPGEMM_RART;
    *option = "-matrart_via";
    break;
  default:
    *known = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether there is a product of that type on the GPU, and the user has chosen no algorithm of the host */
static PetscErrorCode MayChoose(Mat C, PetscBool *may)
{
  const char    *option = NULL; /* gcc does not see that it is set whenever the call succeeds */
  SpmvSpgemmKind kind;
  PetscBool      chosen[2], standard;

  PetscFunctionBegin;
  PetscCall(AIJFmtProductKind(C->product->type, &kind, &option, may));
  if (!*may) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrcmp(C->product->alg, MATPRODUCTALGORITHMDEFAULT, &standard));
  PetscCall(PetscOptionsHasName(((PetscObject)C)->options, ((PetscObject)C)->prefix, option, &chosen[0]));
  PetscCall(
      PetscOptionsHasName(((PetscObject)C)->options, ((PetscObject)C)->prefix, "-mat_product_algorithm", &chosen[1]));
  if (!standard || chosen[0] || chosen[1]) *may = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether A has its pattern. A product has it from the symbolic phase on, before it is assembled. */
static PetscBool HasPattern(Mat A)
{
  return A->assembled || (A->product && A->preallocated) ? PETSC_TRUE : PETSC_FALSE;
}

/* Whether the GPU shall do the product: `auto` leaves small matrices whose values are on the host to the host */
static PetscErrorCode WantsDevice(Mat C, PetscBool *wants)
{
  const Mat factor[] = {C->product->A, C->product->B};
  int64_t   nonzeros = 0;
  PetscBool current  = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MayChoose(C, wants));
  for (int f = 0; f < 2 && *wants; f++) {
    Mat_AIJFmt *s;
    int         where;

    PetscCall(AIJFmtStateGet(factor[f], &s));
    where = s ? (int)s->class_options.value[AIJFMT_DEVICE] : AIJFMT_ON_HOST;
    if (where == AIJFMT_ON_HOST || AIJFmtBoundToCPU(factor[f]) || factor[f]->structure_only || !HasPattern(factor[f])) {
      *wants = PETSC_FALSE;
      break;
    }
    if (where == AIJFMT_ON_GPU || AIJFmtCudaIsCurrent(factor[f], s)) current = PETSC_TRUE;
    PetscCall(AIJFmtNonzeros(factor[f], &nonzeros));
  }
  if (!current && nonzeros < AIJFMT_DEVICE_MIN_NONZEROS) *wants = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called when all factors are of our types, as their common operation productsetfromoptions */
static PetscErrorCode MatProductSetFromOptions_SeqAIJFmt(Mat C)
{
  const AIJFmtParent *host;
  PetscBool           device;

  PetscFunctionBegin;
  PetscCall(WantsDevice(C, &device));
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &host));
  PetscCall(host->seq.productsetfromoptions(C));
  if (device) C->ops->productsymbolic = MatProductSymbolic_AIJFmt;
  else PetscCall(AIJFmtProductKeepHost(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc can split a product of parallel matrices into sequential ones, but for R A R^T */
static PetscErrorCode MatProductSetFromOptions_MPIAIJFmt(Mat C)
{
  const AIJFmtParent *host;
  PetscBool           may, chosen = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MayChoose(C, &may));
  if (may && C->product->type != MATPRODUCT_RARt) PetscCall(AIJFmtParallelProductChoose(C, &chosen));
  if (chosen) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtProductKeepHost(C));
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &host));
  PetscCall(host->mpi.productsetfromoptions(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without a GPU the operation stays the host's, which a product with a matrix of type MATSEQAIJ shares. Products of
   parallel matrices are agreed upon by all processes, also those that see no GPU. */
PetscErrorCode AIJFmtProductsInstall(Mat A, const Mat_AIJFmt *s)
{
  PetscFunctionBegin;
  if (s->parallel) {
    if (AIJFmtHasKernels(s)) A->ops->productsetfromoptions = MatProductSetFromOptions_MPIAIJFmt;
  } else if (spmv_device_count(NULL) > 0) A->ops->productsetfromoptions = MatProductSetFromOptions_SeqAIJFmt;
  PetscFunctionReturn(PETSC_SUCCESS);
}
