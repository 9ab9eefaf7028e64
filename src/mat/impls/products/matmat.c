/*
  matmat.c - products of two sequential matrices of ours on the GPU: A B, A^T B, P^T A P and R A R^T by the kernels of
  src/kernels/spgemm; and the decision which of them run there. Products of parallel matrices are in matmat_parallel.c.

  The symbolic phase gives the product its pattern on the host, as every MATSEQAIJ has it. The numeric phase reads the
  values where they are current: in the CSR of the CUDA parent, in a plan on the GPU, or on the host. It leaves the
  result on the GPU if the product has a CSR there (places.c), else on the host. The host parent does everything else:
  other types and kinds of products, algorithms chosen by the user, products for which GPU memory does not suffice.
*/
#include "matmat.h"

/* Data of the Mat_Product, kept for the numeric phase */
typedef struct {
  SpmvExec          exec;
  SpmvSpgemm       *product;
  AIJFmtFactor      factor[2];
  AIJFmtKeptScratch scratch;
} Data;

static PetscErrorCode ProductDataFree_SeqAIJFmt(void *ctx)
{
  Data *d = (Data *)ctx;

  PetscFunctionBegin;
  if (d) spmv_spgemm_destroy(&d->product);
  if (d) AIJFmtScratchLeave(&d->scratch);
  PetscCall(PetscFree(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AIJFMT_PRODUCT_DESTRUCTOR(ProductDataDestroy_SeqAIJFmt, ProductDataFree_SeqAIJFmt)

/* ---- symbolic ---- */

/* The kind of a product, and the option by which a user chooses an algorithm of the host. known: the GPU has this
   kind */
static PetscErrorCode KindOf(MatProductType type, SpmvSpgemmKind *kind, const char **option, PetscBool *known)
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

/* Makes d->product for the current factors */
static PetscErrorCode ProductSymbolic_SeqAIJFmt(Mat C, Data *d, SpmvStatus *status)
{
  const Mat      factor[] = {C->product->A, C->product->B};
  AIJFmtArrays   a[2]     = {{.parts = 0}, {.parts = 0}};
  SpmvSpgemmKind kind     = SPMV_SPGEMM_AB;
  const char    *option;
  PetscBool      known;

  PetscFunctionBegin;
  spmv_spgemm_destroy(&d->product);
  PetscCall(AIJFmtCudaStream(&d->exec));
  PetscCall(KindOf(C->product->type, &kind, &option, &known));
  *status = SPMV_SUCCESS;
  for (int f = 0; f < 2 && !*status; f++) {
    PetscCall(AIJFmtArraysGet(factor[f], AIJFMT_PATTERN, AIJFMT_READ, &d->exec, &a[f], status));
    d->factor[f] = AIJFmtFactorOf(factor[f]);
  }
  if (!*status)
    *status =
        spmv_spgemm_symbolic_blocks(kind, &a[0].csr.pattern, &a[1].csr.pattern,
                                    (SpmvBlocks[]){a[0].blocks, a[1].blocks}, AIJFMT_SCALAR, &d->exec, &d->product);
  for (int f = 0; f < 2; f++) PetscCall(AIJFmtArraysRestore(factor[f], &d->exec, &a[f], NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the block sizes as PETSc's products do */
PetscErrorCode AIJFmtProductBlockSizes(Mat C)
{
  PetscInt a[2], b[2], rows, cols;

  PetscFunctionBegin;
  PetscCall(MatGetBlockSizes(C->product->A, &a[0], &a[1]));
  PetscCall(MatGetBlockSizes(C->product->B, &b[0], &b[1]));
  switch (C->product->type) {
  case MATPRODUCT_AB:
    rows = a[0];
    cols = b[1];
    break;
  case MATPRODUCT_AtB:
    rows = a[1];
    cols = b[1];
    break;
  case MATPRODUCT_PtAP:
    rows = cols = b[1];
    break;
  default:
    rows = cols = b[0];
  }
  PetscCall(MatSetBlockSizes(C, rows, cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives C its pattern and the type of the first factor. C is assembled by the numeric phase only. If PETSc asks for the
   structure alone, C is complete here, and of the type that PETSc documents. */
static PetscErrorCode SetPattern(Mat C, Data *d)
{
  SpmvPattern p;

  PetscFunctionBegin;
  spmv_spgemm_pattern(d->product, &p);
  PetscCall(MatSetSizes(C, (PetscInt)p.rows, (PetscInt)p.cols, (PetscInt)p.rows, (PetscInt)p.cols));
  PetscCall(AIJFmtProductBlockSizes(C));
  if (C->structure_only) PetscCall(MatSetType(C, MATSEQAIJ));
  else PetscCall(AIJFmtSetTypeLike(C->product->A, C));
  PetscCall(AIJFmtPatternFromDevice(C, &p, PETSC_TRUE, &d->exec));
  PetscCall(AIJFmtBlocksSet(C, spmv_spgemm_blocks(d->product)));
  PetscCall(MatSetOption(C, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_TRUE));
  if (!C->structure_only) C->assembled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- numeric ---- */

/* Computes the values of C from those of its factors */
static PetscErrorCode ProductCompute_SeqAIJFmt(Mat C, Data *d, const AIJFmtArrays factor[2], SpmvStatus *status)
{
  AIJFmtArrays to = {.stays = PETSC_FALSE};
  Mat_AIJFmt  *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateRequire(C, "MatProductNumeric()", &s));
  PetscCall(AIJFmtNewValuesDecide(C, s, "a product of matrices", &to.stays));
  PetscCall(AIJFmtArraysGet(C, AIJFMT_VALUES, AIJFMT_WRITE, &d->exec, &to, status));
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  *status = spmv_spgemm_numeric(d->product, factor[0].csr.values, factor[1].csr.values, to.values, &d->exec);
  PetscCall(AIJFmtArraysRestore(C, &d->exec, &to, status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The functions of the host parent for matrices such as A */
static PetscErrorCode HostOperations(Mat A, const struct _MatOps **host)
{
  const AIJFmtParent *parent;
  PetscBool           parallel;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &parent));
  PetscCall(PetscStrbeginswith(((PetscObject)A)->type_name, MATMPIAIJ, &parallel));
  *host = parallel ? &parent->mpi : &parent->seq;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The host parent computes the product; C takes over its values */
PetscErrorCode AIJFmtProductNumericByHost(Mat C, const char reason[])
{
  const struct _MatOps *host;
  Mat_Product          *product = C->product;
  Mat                   D;

  PetscFunctionBegin;
  PetscCall(AIJFmtRan(product->A, AIJFMT_WHY_NUMERIC, reason));
  PetscCall(HostOperations(product->A, &host));
  PetscCall(MatProductCreate(product->A, product->B, NULL, &D));
  PetscCall(MatProductSetType(D, product->type));
  PetscCall(MatProductSetFill(D, product->fill));
  PetscCall(host->productsetfromoptions(D));
  PetscCall(AIJFmtHostKeepFactors(D));
  PetscCall(MatProductSymbolic(D));
  PetscCall(MatProductNumeric(D));
  PetscCall(MatCopy(D, C, SAME_NONZERO_PATTERN));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AIJFmtFactor AIJFmtFactorOf(Mat A) { return (AIJFmtFactor){((PetscObject)A)->id, A->nonzerostate}; }

/* Whether the factors are those of the symbolic phase, with unchanged patterns */
PetscBool AIJFmtFactorsSame(const AIJFmtFactor before[2], const Mat factor[2])
{
  for (int f = 0; f < 2; f++)
    if (before[f].id != ((PetscObject)factor[f])->id || before[f].nonzero_state != factor[f]->nonzerostate)
      return PETSC_FALSE;
  return PETSC_TRUE;
}

/* A product that is computed a second time will probably be computed again, so its scratch memory is kept */
void AIJFmtScratchKeep(AIJFmtKeptScratch *k)
{
  if (k->computed && !k->holds) {
    spmv_scratch_hold();
    k->holds = PETSC_TRUE;
  }
  k->computed = PETSC_TRUE;
}

void AIJFmtScratchLeave(AIJFmtKeptScratch *k)
{
  if (k->holds) spmv_scratch_release();
  k->holds = PETSC_FALSE;
}

/* Repeats the symbolic phase: MatProductReplaceMats() may have replaced a factor, or nonzeros were inserted again.
   PETSc requires the pattern of the product to stay the same. */
static PetscErrorCode ProductRenew_SeqAIJFmt(Mat C, Data *d, SpmvStatus *status)
{
  SpmvPattern pattern;
  int64_t     nonzeros = 0;

  PetscFunctionBegin;
  PetscCall(ProductSymbolic_SeqAIJFmt(C, d, status));
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtNonzeros(C, &nonzeros));
  spmv_spgemm_pattern(d->product, &pattern);
  PetscCheck(
      pattern.nnz == nonzeros, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
      "the product has %lld nonzeros, and had %lld in the symbolic phase: the pattern of a factor has changed, so "
      "use MAT_INITIAL_MATRIX",
      (long long)pattern.nnz, (long long)nonzeros);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatProductNumeric_AIJFmt(Mat C)
{
  Data        *d        = (Data *)C->product->data;
  const Mat    factor[] = {C->product->A, C->product->B};
  AIJFmtArrays v[2]     = {{.parts = 0}, {.parts = 0}};
  SpmvStatus   status   = SPMV_SUCCESS;
  int64_t      bytes, scratch;
  double       flops;

  PetscFunctionBegin;
  C->assembled = C->was_assembled = PETSC_TRUE;
  PetscCall(AIJFmtCudaStream(&d->exec));
  AIJFmtScratchKeep(&d->scratch);
  if (!d->product || !AIJFmtFactorsSame(d->factor, factor)) PetscCall(ProductRenew_SeqAIJFmt(C, d, &status));
  for (int f = 0; f < 2 && !status; f++)
    PetscCall(AIJFmtArraysGet(factor[f], AIJFMT_VALUES, AIJFMT_READ, &d->exec, &v[f], &status));
  PetscCall(PetscLogGpuTimeBegin());
  if (!status) PetscCall(ProductCompute_SeqAIJFmt(C, d, v, &status));
  PetscCall(PetscLogGpuTimeEnd());
  for (int f = 0; f < 2; f++) PetscCall(AIJFmtArraysRestore(factor[f], &d->exec, &v[f], NULL));
  if (status == SPMV_ERR_MEMORY) {
    PetscCall(AIJFmtProductNumericByHost(C, d->exec.message));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  AIJFmtCallSpmv(&d->exec, status);
  PetscCall(AIJFmtRan(C->product->A, AIJFMT_WHY_NUMERIC, ""));
  spmv_spgemm_info(d->product, &bytes, &scratch, &flops);
  PetscCall(AIJFmtLogGpuFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Leaves the symbolic phase to the host parent. free_data frees what C has got for a product on the GPU, if anything. */
PetscErrorCode AIJFmtProductSymbolicByHost(Mat C, PetscErrorCode (*free_data)(void *), const char reason[])
{
  void *const           data = C->product->data;
  const struct _MatOps *host;

  PetscFunctionBegin;
  PetscCall(AIJFmtRan(C->product->A, AIJFMT_WHY_PATTERN, reason));
  C->product->data    = NULL;
  C->product->destroy = NULL;
  if (free_data) PetscCall(free_data(data));
  PetscCall(HostOperations(C->product->A, &host));
  PetscCall(host->productsetfromoptions(C));
  PetscCall(AIJFmtHostKeepFactors(C));
  PetscCall((*C->ops->productsymbolic)(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductSymbolic_AIJFmt(Mat C)
{
  SpmvStatus status;
  Data      *d;

  PetscFunctionBegin;
  if (C->force_diagonals) {
    PetscCall(AIJFmtProductSymbolicByHost(C, NULL, AIJFMT_FORCED_DIAGONAL));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscNew(&d));
  C->product->data    = d; /* from here on C frees d, whatever fails */
  C->product->destroy = ProductDataDestroy_SeqAIJFmt;
  spmv_exec_init(&d->exec, SPMV_DEVICE);
  PetscCall(ProductSymbolic_SeqAIJFmt(C, d, &status));
  if (AIJFmtIsRefusal(status)) {
    char reason[SPMV_MESSAGE_MAX];

    PetscCall(PetscStrncpy(reason, d->exec.message, sizeof reason));
    PetscCall(AIJFmtProductSymbolicByHost(C, ProductDataFree_SeqAIJFmt, reason));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  AIJFmtCallSpmv(&d->exec, status);
  PetscCall(SetPattern(C, d));
  if (C->structure_only) spmv_spgemm_destroy(&d->product); /* there will be no numeric phase */
  PetscCall(AIJFmtRan(C->product->A, AIJFMT_WHY_PATTERN, ""));
  C->ops->productnumeric = MatProductNumeric_AIJFmt;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- which products run here ---- */

/* Why the user or the type of the product leaves it to the host, or NULL */
PetscErrorCode AIJFmtProductWhyNot(Mat C, const char **why)
{
  const char    *option = NULL; /* gcc does not see that it is set whenever the call succeeds */
  SpmvSpgemmKind kind;
  PetscBool      known, chosen[2], standard;

  PetscFunctionBegin;
  *why = NULL;
  PetscCall(KindOf(C->product->type, &kind, &option, &known));
  if (!known) *why = "the GPU has no such product";
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrcmp(C->product->alg, MATPRODUCTALGORITHMDEFAULT, &standard));
  PetscCall(PetscOptionsHasName(((PetscObject)C)->options, ((PetscObject)C)->prefix, option, &chosen[0]));
  PetscCall(
      PetscOptionsHasName(((PetscObject)C)->options, ((PetscObject)C)->prefix, "-mat_product_algorithm", &chosen[1]));
  if (!standard || chosen[0] || chosen[1]) *why = "an algorithm was chosen, which is of the host";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether A has its pattern. A product has one after the symbolic phase, before it is assembled. */
static PetscBool HasPattern(Mat A)
{
  return A->assembled || (A->product && A->preallocated) ? PETSC_TRUE : PETSC_FALSE;
}

/* `auto` leaves small matrices with values on the host to the host */
static PetscErrorCode WhyNot(Mat C, const char **why)
{
  const Mat factor[] = {C->product->A, C->product->B};
  int64_t   nonzeros = 0, all = 0;
  PetscBool there, asks       = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(AIJFmtProductWhyNot(C, why));
  for (int f = 0; f < 2 && !*why; f++) {
    Mat_AIJFmt *s;

    PetscCall(AIJFmtStateGet(factor[f], &s));
    *why = AIJFmtWhyNotDevice(factor[f], s, PETSC_FALSE);
    if (!*why && !HasPattern(factor[f])) *why = "a factor has no pattern";
    if (*why) break;
    PetscCall(AIJFmtSizeGet(factor[f], &nonzeros, &there));
    all += nonzeros;
    if (AIJFmtAsksDevice(s, all, there)) asks = PETSC_TRUE;
  }
  if (!*why && !asks) *why = AIJFMT_PRODUCT_SMALL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc calls this when all factors are of our types, as their common operation productsetfromoptions */
PetscErrorCode MatProductSetFromOptions_SeqAIJFmt(Mat C)
{
  const AIJFmtParent *host;
  const char         *why;

  PetscFunctionBegin;
  PetscCall(WhyNot(C, &why));
  if (aijfmt_process.squared && C->product->A == aijfmt_process.squared && C->product->B == C->product->A)
    PetscCall(MatSetOption(C, MAT_STRUCTURE_ONLY, PETSC_TRUE)); /* see gamg.c */
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &host));
  PetscCall(host->seq.productsetfromoptions(C));
  if (why) {
    PetscCall(AIJFmtRan(C->product->A, AIJFMT_WHY_PATTERN, why));
    PetscCall(AIJFmtHostKeepFactors(C));
  } else C->ops->productsymbolic = MatProductSymbolic_AIJFmt;
  PetscFunctionReturn(PETSC_SUCCESS);
}
