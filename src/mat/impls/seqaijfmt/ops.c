/*
  ops.c - the operations of the parent types, which a matrix of ours calls for all that it does not do itself, and the one
  table of those that it has in their place. They are installed and given back from it.

  PETSc's functions are hidden inside libpetsc. Template matrices of the parent types give the pointers; a matrix at hand
  does not, because it may already be of our type, or hold the operations of MatSetUp()'s hash table.
*/
#include "seqaijfmt.h"

/* ---- the parents ---- */

static const struct {
  MatType seq, mpi;
} parent_types[AIJFMT_PARENT_COUNT] = {
    [AIJFMT_PARENT_HOST] = {MATSEQAIJ, MATMPIAIJ},
    [AIJFMT_PARENT_CUDA] = {MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE},
};

/* When a row of a table counts for a matrix */
typedef PetscBool When(Mat, const Mat_AIJFmt *);

static PetscBool Always(Mat A, const Mat_AIJFmt *s)
{
  (void)A;
  (void)s;
  return PETSC_TRUE;
}

static PetscBool OverCuda(Mat A, const Mat_AIJFmt *s)
{
  (void)A;
  return AIJFmtIsOverCuda(s);
}

/* AIJFmtCudaRebind() goes by whether that operation is ours */
static PetscBool OverCudaNotBound(Mat A, const Mat_AIJFmt *s)
{
  return AIJFmtIsOverCuda(s) && !AIJFmtBoundToCPU(A) ? PETSC_TRUE : PETSC_FALSE;
}

/* Without a GPU a product with a matrix of type MATSEQAIJ finds the same operation in both */
static PetscBool WithGpu(Mat A, const Mat_AIJFmt *s)
{
  (void)A;
  (void)s;
  return spmv_device_count(NULL) > 0 ? PETSC_TRUE : PETSC_FALSE;
}

/* Products of parallel matrices are agreed upon by all processes, also those that see no GPU */
static PetscBool WithKernels(Mat A, const Mat_AIJFmt *s)
{
  (void)A;
  return AIJFmtHasKernels(s);
}

/* Submatrices of a parallel matrix have an operation destroy of their own, which calls the one from before it: it stays
 */
static PetscBool HasDestroyOf(AIJFmtParentKind kind, Mat A, const Mat_AIJFmt *s)
{
  return s->parent->kind == kind && A->ops->destroy == (s->parallel ? &s->parent->mpi : &s->parent->seq)->destroy
             ? PETSC_TRUE
             : PETSC_FALSE;
}

static PetscBool HasDestroyOfHost(Mat A, const Mat_AIJFmt *s) { return HasDestroyOf(AIJFMT_PARENT_HOST, A, s); }
static PetscBool HasDestroyOfCuda(Mat A, const Mat_AIJFmt *s) { return HasDestroyOf(AIJFMT_PARENT_CUDA, A, s); }

/* ---- the tables ---- */

/* An operation in A->ops: its place there, and ours of a sequential and of a parallel matrix; NULL: the parent's stays */
typedef struct {
  size_t         offset;
  AIJFmtFunction ours[2];
  When          *when;
} Operation;

#define OPERATION(name, seq, mpi, when)                                                                                \
  {                                                                                                                    \
    offsetof(struct _MatOps, name), {(AIJFmtFunction)(seq), (AIJFmtFunction)(mpi)}, when                               \
  }

/* Scalars are real, so the Hermitian transpose is the transpose */
static const Operation operations[] = {
    OPERATION(duplicate, MatDuplicate_AIJFmt, MatDuplicate_AIJFmt, Always),
    OPERATION(setfromoptions, MatSetFromOptions_AIJFmt, MatSetFromOptions_AIJFmt, Always),
    OPERATION(view, MatView_AIJFmt, MatView_AIJFmt, Always),
    OPERATION(convert, MatConvert_AIJFmt_Any, MatConvert_AIJFmt_Any, Always),
    OPERATION(convertfrom, MatConvertFrom_AIJFmt, MatConvertFrom_AIJFmt, Always),
    OPERATION(assemblyend, MatAssemblyEnd_SeqAIJFmt, MatAssemblyEnd_MPIAIJFmt, Always),
    OPERATION(destroy, MatDestroy_SeqAIJFmt_Host, MatDestroy_MPIAIJFmt_Host, HasDestroyOfHost),
    OPERATION(destroy, MatDestroy_SeqAIJFmt_CUDA, MatDestroy_MPIAIJFmt_CUDA, HasDestroyOfCuda),
    OPERATION(getinfo, MatGetInfo_SeqAIJFmt, NULL, Always),
    OPERATION(transposesymbolic, MatTransposeSymbolic_SeqAIJFmt, NULL, Always),
    OPERATION(mult, MatMult_AIJFmt, NULL, Always),
    OPERATION(multadd, MatMultAdd_AIJFmt, NULL, Always),
    OPERATION(multtranspose, MatMultTranspose_AIJFmt, NULL, Always),
    OPERATION(multtransposeadd, MatMultTransposeAdd_AIJFmt, NULL, Always),
    OPERATION(multhermitiantranspose, MatMultTranspose_AIJFmt, NULL, Always),
    OPERATION(multhermitiantransposeadd, MatMultTransposeAdd_AIJFmt, NULL, Always),
    OPERATION(scale, MatScale_SeqAIJFmt, NULL, Always),
    OPERATION(diagonalscale, MatDiagonalScale_SeqAIJFmt, NULL, Always),
    OPERATION(shift, MatShift_SeqAIJFmt, NULL, Always),
    OPERATION(getdiagonal, MatGetDiagonal_SeqAIJFmt, NULL, Always),
    OPERATION(productsetfromoptions, MatProductSetFromOptions_SeqAIJFmt, NULL, WithGpu),
    OPERATION(productsetfromoptions, NULL, MatProductSetFromOptions_MPIAIJFmt, WithKernels),
    OPERATION(axpy, MatAXPY_SeqAIJFmt, NULL, OverCuda),
    OPERATION(copy, MatCopy_SeqAIJFmt, NULL, OverCuda),
    OPERATION(zeroentries, MatZeroEntries_SeqAIJFmt, NULL, OverCudaNotBound),
    OPERATION(bindtocpu, MatBindToCPU_SeqAIJFmt, NULL, OverCuda),
    OPERATION(getcolumnreductions, MatGetColumnReductions_SeqAIJFmt, NULL, OverCuda),
    OPERATION(load, MatLoad_SeqAIJFmt, NULL, OverCuda),
#if AIJFMT_HAVE_CUDA_PARENT
    OPERATION(eliminatezeros, MatEliminateZeros_SeqAIJFmt, NULL, OverCuda),
#endif
    OPERATION(norm, NULL, MatNorm_MPIAIJFmt, OverCuda),
};

/* A function composed on a matrix. adds: also where the parent has none */
typedef struct {
  const char    *name;
  AIJFmtFunction ours[2];
  When          *when;
  PetscBool      adds;
} Composed;

#define COMPOSED(name, seq, mpi, when, adds)                                                                           \
  {                                                                                                                    \
    name, {(AIJFmtFunction)(seq), (AIJFmtFunction)(mpi)}, when, adds                                                   \
  }

static const Composed composed[AIJFMT_COMPOSED_COUNT] = {
    [AIJFMT_RETRIEVE_VALUES] = COMPOSED("MatRetrieveValues_C", MatRetrieveValues_SeqAIJFmt, NULL, Always, PETSC_FALSE),
    [AIJFMT_STORE_VALUES]    = COMPOSED("MatStoreValues_C", MatStoreValues_SeqAIJFmt, NULL, OverCuda, PETSC_FALSE),
    [AIJFMT_KRON]            = COMPOSED("MatSeqAIJKron_C", MatSeqAIJKron_AIJFmt, NULL, Always, PETSC_FALSE),
    [AIJFMT_PREALLOCATE_COO] = COMPOSED("MatSetPreallocationCOO_C", MatSetPreallocationCOO_AIJFmt,
                                        MatSetPreallocationCOO_AIJFmt, OverCuda, PETSC_FALSE),
    [AIJFMT_SET_VALUES_COO] =
        COMPOSED("MatSetValuesCOO_C", MatSetValuesCOO_SeqAIJFmt, MatSetValuesCOO_MPIAIJFmt, OverCuda, PETSC_FALSE),
    [AIJFMT_COPY_SUB_ARRAY] =
        COMPOSED("MatSeqAIJCopySubArray_C", MatSeqAIJCopySubArray_SeqAIJFmt, NULL, OverCuda, PETSC_FALSE),
    [AIJFMT_MERGE_LOCAL] =
        COMPOSED("MatMPIAIJGetLocalMatMerge_C", NULL, MatMPIAIJGetLocalMatMerge_MPIAIJFmt, OverCuda, PETSC_FALSE),
    [AIJFMT_ANY_PRODUCT] = COMPOSED("MatProductSetFromOptions_anytype_C", MatProductSetFromOptions_AIJFmt,
                                    MatProductSetFromOptions_AIJFmt, Always, PETSC_TRUE),
};

/* Puts our operations over those of the parent; A has its type name already */
PetscErrorCode AIJFmtOperationsInstall(Mat A, const Mat_AIJFmt *s)
{
  PetscFunctionBegin;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(operations); i++) {
    const Operation *row = &operations[i];

    if (row->ours[s->parallel] && row->when(A, s))
      memcpy((char *)A->ops + row->offset, &row->ours[s->parallel], sizeof row->ours[0]);
  }
  for (int i = 0; i < AIJFMT_COMPOSED_COUNT; i++) {
    const Composed *row = &composed[i];
    AIJFmtFunction  now = NULL;

    if (!row->ours[s->parallel] || !row->when(A, s)) continue;
    if (!row->adds) PetscCall(PetscObjectQueryFunction((PetscObject)A, row->name, &now));
    if (row->adds || now) PetscCall(PetscObjectComposeFunction((PetscObject)A, row->name, row->ours[s->parallel]));
  }
  PetscCall(AIJFmtTripleProductsCompose(A, s, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives back what is still ours */
PetscErrorCode AIJFmtOperationsRemove(Mat A, const Mat_AIJFmt *s)
{
  const struct _MatOps *parent = s->parallel ? &s->parent->mpi : &s->parent->seq;
  AIJFmtFunction        now;

  PetscFunctionBegin;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(operations); i++) {
    const Operation *row = &operations[i];

    memcpy(&now, (const char *)A->ops + row->offset, sizeof now);
    if (row->ours[s->parallel] && now == row->ours[s->parallel])
      memcpy((char *)A->ops + row->offset, (const char *)parent + row->offset, sizeof now);
  }
  for (int i = 0; i < AIJFMT_COMPOSED_COUNT; i++) {
    PetscCall(PetscObjectQueryFunction((PetscObject)A, composed[i].name, &now));
    if (now && now == composed[i].ours[s->parallel])
      PetscCall(PetscObjectComposeFunction((PetscObject)A, composed[i].name, s->parent->composed[i][s->parallel]));
  }
  PetscCall(AIJFmtTripleProductsCompose(A, s, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the parents' operations ---- */

/* The operations of a matrix of exactly that type. Its options database is empty, so that -mat_seqaij_type does not
   change its type and -help does not print its options. */
static PetscErrorCode TakeOperations(AIJFmtParent *parent, PetscBool parallel, PetscOptions none)
{
  struct _MatOps *operation = parallel ? &parent->mpi : &parent->seq;
  Mat template;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, &template));
  PetscCall(PetscObjectSetOptions((PetscObject) template, none));
  PetscCall(MatSetSizes(template, 0, 0, 0, 0));
  PetscCall(MatSetType(template, parallel ? parent->mpi_type : parent->seq_type));
  *operation = *template->ops;
  for (int i = 0; i < AIJFMT_COMPOSED_COUNT; i++)
    PetscCall(PetscObjectQueryFunction((PetscObject) template, composed[i].name, &parent->composed[i][parallel]));
  PetscCall(MatDestroy(&template));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtParentGet(AIJFmtParentKind kind, const AIJFmtParent **parent)
{
  AIJFmtParent *p = &aijfmt_process.parent[kind];
  PetscOptions  none;

  PetscFunctionBegin;
  if (!aijfmt_process.parent_known[kind]) {
    *p = (AIJFmtParent){.kind = kind, .seq_type = parent_types[kind].seq, .mpi_type = parent_types[kind].mpi};
    PetscCall(PetscOptionsCreate(&none));
    PetscCall(TakeOperations(p, PETSC_FALSE, none));
    PetscCall(TakeOperations(p, PETSC_TRUE, none));
    PetscCall(PetscOptionsDestroy(&none));
    aijfmt_process.parent_known[kind] = PETSC_TRUE;
  }
  *parent = p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent of that very type name, or NULL */
PetscErrorCode AIJFmtParentFind(MatType type, const AIJFmtParent **parent)
{
  PetscFunctionBegin;
  *parent = NULL;
  for (int kind = 0; kind < AIJFMT_PARENT_COUNT; kind++) {
    PetscBool seq, mpi;

    PetscCall(PetscStrcmp(type, parent_types[kind].seq, &seq));
    PetscCall(PetscStrcmp(type, parent_types[kind].mpi, &mpi));
    if (seq || mpi) PetscCall(AIJFmtParentGet((AIJFmtParentKind)kind, parent));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent of a matrix of ours. A matrix may have operations of ours without a state: during MatHeaderMerge(), and in
   a subclass that PETSc made of a matrix of ours, as it does with -mat_seqaij_type. Then it is the host parent. */
PetscErrorCode AIJFmtParentOf(Mat A, const AIJFmtParent **parent)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s) *parent = s->parent;
  else PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, parent));
  PetscFunctionReturn(PETSC_SUCCESS);
}
