/*
  parallel.c - what concerns parallel matrices: their two sequential blocks, products of two of them, and MatHeaderMerge(),
  which matrices of one process meet as well.
*/
#include "seqaijfmt.h"

/* ---- blocks ---- */

/* The diagonal and the off-diagonal block; NULL before preallocation */
PetscErrorCode AIJFmtBlocksGet(Mat A, Mat blocks[2])
{
  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives the diagonal block the block sizes of the matrix, by which preconditioners invert its point blocks: the
   preallocation of MATMPIAIJCUSPARSE (3.26) leaves them 1 */
PetscErrorCode AIJFmtBlocksSetSizes(Mat A)
{
  PetscInt rows, cols, rows_there, cols_there;
  Mat      blocks[2];

  PetscFunctionBegin;
  PetscCall(AIJFmtBlocksGet(A, blocks));
  PetscCall(MatGetBlockSizes(A, &rows, &cols));
  PetscCall(MatGetBlockSizes(blocks[0], &rows_there, &cols_there));
  if (rows != rows_there || cols != cols_there) PetscCall(MatSetBlockSizes(blocks[0], rows, cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Hands a change of options on to the blocks that are ours already; the others get them at assembly */
PetscErrorCode AIJFmtBlocksCopyOptions(Mat A, const Mat_AIJFmt *outer)
{
  Mat blocks[2];

  PetscFunctionBegin;
  PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < 2; b++) {
    Mat_AIJFmt *inner = NULL;

    if (blocks[b]) PetscCall(AIJFmtStateGet(blocks[b], &inner));
    if (inner && inner->row == outer->row) PetscCall(AIJFmtStateCopyOptions(outer, inner));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the blocks ours, with the options of the matrix around them */
PetscErrorCode AIJFmtBlocksInstall(Mat A, const Mat_AIJFmt *outer)
{
  Mat blocks[2];

  PetscFunctionBegin;
  PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < 2; b++)
    if (blocks[b]) PetscCall(AIJFmtInstall(blocks[b], outer->row, PETSC_FALSE, outer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtBlocksStrip(Mat A)
{
  Mat blocks[2];

  PetscFunctionBegin;
  PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < 2; b++)
    if (blocks[b]) PetscCall(AIJFmtStrip(blocks[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  ---- options survive MatHeaderMerge() ----

  MatTranspose() in place and MatAXPY() with another pattern make a new matrix C of the same type, and MatHeaderMerge(A,
  &C) moves its inside into A: the state that came with C, in the matrix and in its blocks, has the options that a new
  matrix begins with. MatHeaderMerge() gives two occasions to hand on those of A, in this order:

    the operation destroy of A    called without a type name, while A still has its composed objects before PETSc 3.20
    the header of C is destroyed  the destructor of an options handler runs when A is whole again
*/

/* Reads nothing, because MatSetFromOptions_AIJFmt() does that. PETSc requires this function of a handler. */
static PetscErrorCode HandleNothing(PetscObject object, AIJFmtOptionItems items, void *ctx)
{
  (void)object;
  (void)items;
  (void)ctx;
  return PETSC_SUCCESS;
}

/* A header that MatHeaderMerge() emptied has no composed objects; one that is destroyed for good has our container */
static PetscErrorCode HeaderDestroyed(PetscObject object, void *ctx)
{
  Mat         A = aijfmt_process.merging.A;
  Mat_AIJFmt *s, options;

  PetscFunctionBegin;
  (void)ctx;
  AIJFmtListHeaderFreed(object);
  if (!A || object->olist) PetscFunctionReturn(PETSC_SUCCESS);
  aijfmt_process.merging.A = NULL;
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  if (aijfmt_process.merging.have_options) {
    options.format_options = aijfmt_process.merging.format_options;
    options.class_options  = aijfmt_process.merging.class_options;
    PetscCall(AIJFmtStateCopyOptions(&options, s));
  }
  if (s->parallel) PetscCall(AIJFmtBlocksCopyOptions(A, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(Mat A, AIJFmtParentKind kind, PetscBool parallel)
{
  const AIJFmtParent *parent;

  PetscFunctionBegin;
  if (!((PetscObject)A)->type_name) {
    Mat_AIJFmt *s;

    PetscCall(AIJFmtStateOfAnyType(A, &s));
    aijfmt_process.merging.A            = A;
    aijfmt_process.merging.have_options = s ? PETSC_TRUE : PETSC_FALSE;
    if (s) {
      aijfmt_process.merging.format_options = s->format_options;
      aijfmt_process.merging.class_options  = s->class_options;
    }
  }
  PetscCall(AIJFmtParentGet(kind, &parent));
  PetscCall((parallel ? &parent->mpi : &parent->seq)->destroy(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The state may be gone when these run, so each names its parent */
PetscErrorCode MatDestroy_SeqAIJFmt_Host(Mat A) { return Destroy(A, AIJFMT_PARENT_HOST, PETSC_FALSE); }
PetscErrorCode MatDestroy_MPIAIJFmt_Host(Mat A) { return Destroy(A, AIJFMT_PARENT_HOST, PETSC_TRUE); }
PetscErrorCode MatDestroy_SeqAIJFmt_CUDA(Mat A) { return Destroy(A, AIJFMT_PARENT_CUDA, PETSC_FALSE); }
PetscErrorCode MatDestroy_MPIAIJFmt_CUDA(Mat A) { return Destroy(A, AIJFMT_PARENT_CUDA, PETSC_TRUE); }

/* Adds the options handler to the header of a matrix, once */
PetscErrorCode AIJFmtMergeWatch(Mat A)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectAddOptionsHandler((PetscObject)A, HandleNothing, HeaderDestroyed, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  ---- products of two parallel matrices on the GPU: A B, A^T B and P^T A P ----

  PETSc can make such a product of products of sequential matrices (MatProductSymbolic_MPIAIJBACKEND()): of the blocks,
  of the rows that came from other processes, and of the local rows as one matrix. These are of our types, so matmat.c
  computes them. Their entries go to the processes that own them and into the product by coordinates. With the CUDA
  parent all of that stays on the GPU; it asks for type names to know that it may.
*/

/* Calls a step of the CUDA parent with both factors under its own name. They may be the same matrix. */
static PetscErrorCode AsCudaParent(Mat C, PetscErrorCode (*step)(Mat))
{
  const Mat       factor[] = {C->product->A, C->product->B};
  AIJFmtNameGuard guard[2];
  PetscErrorCode  error;

  PetscFunctionBegin;
  for (int f = 0; f < 2; f++) PetscCall(AIJFmtNameGuardBegin(factor[f], AIJFMT_PARENT_CUDA, &guard[f]));
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
  PetscCall(AsCudaParent(C, aijfmt_process.symbolic_cuda));
  PetscCall(AIJFmtInstall(C, s->row, PETSC_TRUE, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a factor allows the product on the GPU, and whether it asks for it. `auto` asks where values are on the GPU
   or many; without CUDA in PETSc it never does, because all values would travel there and back for each product. */
static PetscErrorCode Vote(Mat A, PetscMPIInt *may, PetscMPIInt *asks, PetscMPIInt *cuda)
{
  Mat_AIJFmt *s;
  Mat         blocks[2];
  int64_t     nonzeros = 0, all = 0;
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
  if (!AIJFmtIsOverCuda(s)) {
    *cuda = 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (s->keeps_host) *may = 0; /* that parent needs a CSR on the GPU */
  PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < 2; b++) {
    Mat_AIJFmt *inner;

    PetscCall(AIJFmtStateGet(blocks[b], &inner));
    if (inner && AIJFmtTruthGet(blocks[b], inner).device_csr) *asks = 1;
    PetscCall(AIJFmtNonzeros(blocks[b], &nonzeros));
    all += nonzeros;
  }
  if (all >= AIJFMT_DEVICE_MIN_NONZEROS) *asks = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the symbolic step of the product where it is to run on the GPU. Collective: all processes agree. */
PetscErrorCode AIJFmtParallelMatMatChoose(Mat C, PetscBool *chosen)
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
  aijfmt_process.symbolic_cuda = C->ops->productsymbolic;
  C->ops->productsymbolic      = MatProductSymbolic_MPIAIJFmt;
  PetscFunctionReturn(PETSC_SUCCESS);
}
