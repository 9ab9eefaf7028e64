/*
  mat_operations.c - the one table of operations and composed functions with which our types replace those of the parent
  type, and the registration of the types. create.c installs the rows of the table and restores the parent's operations.
*/
#include "mat/impls/incomplete/incomplete.h"
#include "mat/impls/lists/coo.h"
#include "mat/impls/products/matmat.h"
#include "pc/impls/gamg/gamg.h"
#include "plugin.h"

/* PETSc converts a matrix that keeps the parent's name as one of the parent type */
static PetscBool WithName(PETSC_UNUSED Mat A, const Mat_AIJFmt *s)
{
  return AIJFmtKeepsName(s) ? PETSC_FALSE : PETSC_TRUE;
}

static PetscBool OverCuda(PETSC_UNUSED Mat A, const Mat_AIJFmt *s) { return AIJFmtIsOverCuda(s); }

static PetscBool OverHost(Mat A, const Mat_AIJFmt *s) { return OverCuda(A, s) ? PETSC_FALSE : PETSC_TRUE; }

/* For zeroentries: a matrix bound to the host keeps the parent's operation. From it AIJFmtCudaRebind() recognizes
   whether the parent's operations for the host or for the device are installed. */
static PetscBool OverCudaNotBound(Mat A, const Mat_AIJFmt *s)
{
  return AIJFmtIsOverCuda(s) && !AIJFmtBoundToCPU(A) ? PETSC_TRUE : PETSC_FALSE;
}

/* Without a GPU our types keep the parent's operation. A product with a MATSEQAIJ is then one of two equal types to
   PETSc, which compares the operation productsetfromoptions of both factors. */
static PetscBool WithGpu(PETSC_UNUSED Mat A, PETSC_UNUSED const Mat_AIJFmt *s)
{
  return spmv_device_count(NULL) > 0 ? PETSC_TRUE : PETSC_FALSE;
}

/* All processes must agree on products of parallel matrices, so processes without a GPU take part */
static PetscBool WithKernels(PETSC_UNUSED Mat A, const Mat_AIJFmt *s) { return AIJFmtHasKernels(s); }

/* In a parallel matrix all processes must agree on who sorts a list of coordinates, so processes without a GPU take
   part */
static PetscBool WithCoordinates(Mat A, const Mat_AIJFmt *s)
{
  return AIJFmtIsOverCuda(s) || (s->parallel ? WithKernels(A, s) : WithGpu(A, s)) ? PETSC_TRUE : PETSC_FALSE;
}

/* A submatrix of a parallel matrix has a `destroy` of its own, which calls the one that it has replaced. It must stay,
   so ours replaces only the parent's. */
static PetscBool HasDestroyOf(AIJFmtParentKind kind, Mat A, const Mat_AIJFmt *s)
{
  return s->parent->kind == kind && A->ops->destroy == (s->parallel ? &s->parent->mpi : &s->parent->seq)->destroy
             ? PETSC_TRUE
             : PETSC_FALSE;
}

static PetscBool HasDestroyOfHost(Mat A, const Mat_AIJFmt *s) { return HasDestroyOf(AIJFMT_PARENT_HOST, A, s); }
static PetscBool HasDestroyOfCuda(Mat A, const Mat_AIJFmt *s) { return HasDestroyOf(AIJFMT_PARENT_CUDA, A, s); }

#define OPERATION(name, seq, mpi, when)                                                                                \
  {                                                                                                                    \
    offsetof(struct _MatOps, name), {(AIJFmtFunction)(seq), (AIJFmtFunction)(mpi)}, when                               \
  }

/* Scalars are real, so the Hermitian transpose is the transpose */
static const AIJFmtOperation operations[] = {
    OPERATION(duplicate, MatDuplicate_AIJFmt, MatDuplicate_AIJFmt, NULL),
    OPERATION(setfromoptions, MatSetFromOptions_AIJFmt, MatSetFromOptions_AIJFmt, NULL),
    OPERATION(view, MatView_AIJFmt, MatView_AIJFmt, NULL),
    OPERATION(convert, MatConvert_AIJFmt_Any, MatConvert_AIJFmt_Any, WithName),
    OPERATION(convertfrom, MatConvertFrom_AIJFmt, MatConvertFrom_AIJFmt, WithName),
    OPERATION(assemblyend, MatAssemblyEnd_SeqAIJFmt, MatAssemblyEnd_MPIAIJFmt, NULL),
    OPERATION(destroy, MatDestroy_SeqAIJFmt_Host, MatDestroy_MPIAIJFmt_Host, HasDestroyOfHost),
    OPERATION(destroy, MatDestroy_SeqAIJFmt_CUDA, MatDestroy_MPIAIJFmt_CUDA, HasDestroyOfCuda),
    OPERATION(getinfo, MatGetInfo_SeqAIJFmt, NULL, NULL),
    OPERATION(transposesymbolic, MatTransposeSymbolic_SeqAIJFmt, NULL, NULL),
    OPERATION(transpose, MatTranspose_AIJFmt, NULL, WithGpu),
    OPERATION(transpose, NULL, MatTranspose_AIJFmt, WithKernels),
    OPERATION(mult, MatMult_AIJFmt, NULL, NULL),
    OPERATION(multadd, MatMultAdd_AIJFmt, NULL, NULL),
    OPERATION(multtranspose, MatMultTranspose_AIJFmt, NULL, NULL),
    OPERATION(multtransposeadd, MatMultTransposeAdd_AIJFmt, NULL, NULL),
    OPERATION(multhermitiantranspose, MatMultTranspose_AIJFmt, NULL, NULL),
    OPERATION(multhermitiantransposeadd, MatMultTransposeAdd_AIJFmt, NULL, NULL),
    OPERATION(scale, MatScale_SeqAIJFmt, NULL, NULL),
    OPERATION(diagonalscale, MatDiagonalScale_SeqAIJFmt, NULL, NULL),
    OPERATION(shift, MatShift_SeqAIJFmt, NULL, NULL),
    OPERATION(diagonalset, MatDiagonalSet_SeqAIJFmt, NULL, NULL),
    OPERATION(sor, MatSOR_Incomplete, NULL, WithGpu),
    OPERATION(getdiagonal, MatGetDiagonal_SeqAIJFmt, NULL, NULL),
    OPERATION(productsetfromoptions, MatProductSetFromOptions_SeqAIJFmt, NULL, WithGpu),
    OPERATION(productsetfromoptions, NULL, MatProductSetFromOptions_MPIAIJFmt, WithKernels),
    OPERATION(creategraph, MatCreateGraph_SeqAIJFmt, NULL, WithGpu),
    OPERATION(creategraph, NULL, MatCreateGraph_MPIAIJFmt, WithKernels),
    OPERATION(axpy, MatAXPY_SeqAIJFmt, NULL, OverCuda),
    OPERATION(copy, MatCopy_SeqAIJFmt, NULL, OverCuda),
    OPERATION(zeroentries, MatZeroEntries_SeqAIJFmt, NULL, OverCudaNotBound),
    OPERATION(bindtocpu, MatBindToCPU_SeqAIJFmt, NULL, OverCuda),
    OPERATION(bindtocpu, MatBindToCPU_SeqAIJFmt_Host, NULL, OverHost),
    OPERATION(getcolumnreductions, MatGetColumnReductions_SeqAIJFmt, NULL, OverCuda),
    OPERATION(load, MatLoad_SeqAIJFmt, NULL, OverCuda),
#if AIJFMT_HAVE_CUDA_PARENT
    OPERATION(eliminatezeros, MatEliminateZeros_SeqAIJFmt, NULL, OverCuda),
#endif
    OPERATION(norm, NULL, MatNorm_MPIAIJFmt, OverCuda),
    OPERATION(setoption, NULL, MatSetOption_MPIAIJFmt, WithCoordinates),
};

#define COMPOSED(seq, mpi, when, adds)                                                                                 \
  {                                                                                                                    \
    {(AIJFmtFunction)(seq), (AIJFmtFunction)(mpi)}, when, adds                                                         \
  }

static const AIJFmtComposition composed[AIJFMT_COMPOSED_COUNT] = {
    [AIJFMT_RETRIEVE_VALUES] = COMPOSED(MatRetrieveValues_SeqAIJFmt, NULL, NULL, PETSC_FALSE),
    [AIJFMT_STORE_VALUES]    = COMPOSED(MatStoreValues_SeqAIJFmt, NULL, OverCuda, PETSC_FALSE),
    [AIJFMT_KRON]            = COMPOSED(MatSeqAIJKron_AIJFmt, NULL, NULL, PETSC_FALSE),
    [AIJFMT_PREALLOCATE_COO] =
        COMPOSED(MatSetPreallocationCOO_AIJFmt, MatSetPreallocationCOO_AIJFmt, WithCoordinates, PETSC_FALSE),
    [AIJFMT_SET_VALUES_COO] = COMPOSED(MatSetValuesCOO_AIJFmt, MatSetValuesCOO_AIJFmt, WithCoordinates, PETSC_FALSE),
    [AIJFMT_COPY_SUB_ARRAY] = COMPOSED(MatSeqAIJCopySubArray_SeqAIJFmt, NULL, OverCuda, PETSC_FALSE),
    [AIJFMT_MERGE_LOCAL]    = COMPOSED(NULL, MatMPIAIJGetLocalMatMerge_MPIAIJFmt, OverCuda, PETSC_FALSE),
    [AIJFMT_INODE_SIZES]    = COMPOSED(MatInodeGetInodeSizes_SeqAIJFmt, NULL, WithGpu, PETSC_FALSE),
    [AIJFMT_ANY_PRODUCT] = COMPOSED(MatProductSetFromOptions_AIJFmt, MatProductSetFromOptions_AIJFmt, NULL, PETSC_TRUE),
};

/* ---- creators, which MatSetType() calls, and their registration ---- */

enum {
#define SPMV_FORMAT(name, TYPE, summary) ROW_##TYPE,
#include "mat/impls/aij/types.def"
#undef SPMV_FORMAT
};

#define SPMV_FORMAT(name, TYPE, summary)                                                                               \
  static PetscErrorCode MatCreate_SeqAIJ##TYPE(Mat A)                                                                  \
  {                                                                                                                    \
    return AIJFmtCreate(A, AIJFmtRowGet(ROW_##TYPE), PETSC_FALSE);                                                     \
  }                                                                                                                    \
  static PetscErrorCode MatCreate_MPIAIJ##TYPE(Mat A) { return AIJFmtCreate(A, AIJFmtRowGet(ROW_##TYPE), PETSC_TRUE); }
#include "mat/impls/aij/types.def"
#undef SPMV_FORMAT

static PetscErrorCode (*const creators[][2])(Mat) = {
#define SPMV_FORMAT(name, TYPE, summary) {MatCreate_SeqAIJ##TYPE, MatCreate_MPIAIJ##TYPE},
#include "mat/impls/aij/types.def"
#undef SPMV_FORMAT
};

/* MatRegister() comes first: it initializes the Mat package, which MatRegisterRootName() does not */
PetscErrorCode AIJFmtTypesRegister(void)
{
  PetscFunctionBegin;
  aijfmt_process.operation_table   = operations;
  aijfmt_process.operation_count   = (int)PETSC_STATIC_ARRAY_LENGTH(operations);
  aijfmt_process.composition_table = composed;
  aijfmt_process.coo_free          = AIJFmtCooFree;
  aijfmt_process.coo_share         = AIJFmtCooShare;
  aijfmt_process.coo_stay          = AIJFmtCooStay;
  aijfmt_process.coo_text          = AIJFmtCooText;
  aijfmt_process.numeric_gpu       = MatProductNumeric_AIJFmt;
  aijfmt_process.duplicate         = MatDuplicate_AIJFmt;
  for (PetscInt i = 0; i < AIJFmtRowCount(); i++) {
    const AIJFmtRow *row = AIJFmtRowGet(i);

    PetscCall(MatRegister(row->seq, creators[i][0]));
    PetscCall(MatRegister(row->mpi, creators[i][1]));
    PetscCall(MatRegisterRootName(row->root, row->seq, row->mpi));
    PetscCall(MatSeqAIJRegister(row->seq, MatConvert_SeqAIJ_AIJFmt));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
