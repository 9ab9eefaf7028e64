/*
  cuda.c - matrices of our types whose parent is MATSEQAIJCUSPARSE or MATMPIAIJCUSPARSE: if PETSc has CUDA and the
  machine has a GPU.

  The CUDA parent makes its own CSR on the device only when one of its operations needs it. Products with vectors are
  ours, so a matrix takes no memory for that CSR, unless its values are set by COO on the device or changed there
  (values.c), cuSPARSE factors it, or a program asks for its device arrays.

  Some functions of the parent check for its exact type name. They run within a name guard (petsc_names.c). In a PETSc
  without CUDA no matrix has this parent, and the functions that call PETSc's CUDA functions are empty.
*/
#include "aijfmt.h"

/* ---- functions that the parent composes ---- */

typedef PetscErrorCode MergeLocal(Mat, MatReuse, IS *, Mat *);
typedef PetscErrorCode CopySubArray(Mat, PetscInt, const PetscInt[], PetscScalar[]);

/* Gives the local matrix our type instead of the parent's. It is a factor of the sequential products that a product of
   parallel matrices consists of, and we compute those only if both factors are ours. */
PetscErrorCode MatMPIAIJGetLocalMatMerge_MPIAIJFmt(Mat A, MatReuse reuse, IS *columns, Mat *local)
{
  const AIJFmtParent *cuda;
  Mat                 read[3]; /* both blocks; if there is a local matrix already, that one */
  Mat_AIJFmt         *of_matrix;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateRequire(A, "MatMPIAIJGetLocalMatMerge()", &of_matrix));
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_CUDA, &cuda));
  PetscCall(AIJFmtBlocksGet(A, read));
  read[2] = reuse == MAT_REUSE_MATRIX ? *local : NULL;
  AIJFmtAsAll(3, read, AIJFMT_PARENT_CUDA,
              ((MergeLocal *)cuda->composed[AIJFMT_MERGE_LOCAL][1])(A, reuse, columns, local));
  PetscCall(AIJFmtInstall(*local, of_matrix->row, PETSC_FALSE, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSeqAIJCopySubArray_SeqAIJFmt(Mat A, PetscInt n, const PetscInt index[], PetscScalar values[])
{
  const AIJFmtParent *cuda;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_CUDA, &cuda));
  AIJFmtAs(A, AIJFMT_PARENT_CUDA, ((CopySubArray *)cuda->composed[AIJFMT_COPY_SUB_ARRAY][0])(A, n, index, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- operations that access the host's values without PETSc's access functions ---- */

PetscErrorCode MatGetColumnReductions_SeqAIJFmt(Mat A, PetscInt type, PetscReal *reductions)
{
  PetscFunctionBegin;
  PetscCall(AIJFmtHostFetch(A));
  AIJFmtHost(getcolumnreductions, A, type, reductions);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The host's function writes the host's values without marking them as current, neither before its assembly, which may
   pack them, nor after it */
PetscErrorCode MatLoad_SeqAIJFmt(Mat A, PetscViewer viewer)
{
  PetscFunctionBegin;
  AIJFmtParentCsrStale(A);
  AIJFmtSuper(seq, load, A, viewer);
  AIJFmtParentCsrStale(A);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if AIJFMT_HAVE_CUDA_PARENT
PetscErrorCode MatEliminateZeros_SeqAIJFmt(Mat A, PetscBool keep)
{
  PetscFunctionBegin;
  PetscCall(AIJFmtHostFetch(A));
  AIJFmtHost(eliminatezeros, A, keep);
  AIJFmtParentCsrStale(A);
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* MatNorm_MPIAIJ() of 3.26 adds up columns in the host arrays of new vectors and assumes that these are zero. They are
   for a host vector, but not for a device vector, so the matrix makes host vectors during the call. */
PetscErrorCode MatNorm_MPIAIJFmt(Mat A, NormType type, PetscReal *norm)
{
  static char         host_type[] = VECSTANDARD;
  const AIJFmtParent *parent;
  Mat                 matrix[3] = {A, NULL, NULL};
  char               *saved[3]  = {NULL};
  PetscErrorCode      error;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentOf(A, &parent));
  PetscCall(AIJFmtBlocksGet(A, matrix + 1));
  for (int m = 0; m < 3; m++) {
    saved[m]                  = matrix[m]->defaultvectype;
    matrix[m]->defaultvectype = host_type;
  }
  error = parent->mpi.norm(A, type, norm);
  for (int m = 0; m < 3; m++) matrix[m]->defaultvectype = saved[m];
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a matrix that is bound to the host create host vectors. Otherwise a block of a plain MATMPIAIJ gets its ghost
   values on the device, and MatNorm_MPIAIJ() starts its sums from values that are not zero. */
static PetscErrorCode FollowVecType(Mat A, PetscBool to_cpu)
{
  PetscBool other;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(A->defaultvectype, to_cpu ? VECCUDA : VECSTANDARD, &other));
  if (!other) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree(A->defaultvectype));
  PetscCall(PetscStrallocpy(to_cpu ? VECSTANDARD : VECCUDA, &A->defaultvectype));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent installs its own operations, for the host or the device; ours then replace them again. While the hash
   table of MatSetUp() collects entries, its operations must stay; AIJFmtCudaRebind() installs ours after it is gone. */
PetscErrorCode MatBindToCPU_SeqAIJFmt(Mat A, PetscBool to_cpu)
{
  const struct _MatOps operations = *A->ops;
  const AIJFmtParent  *cuda;
  Mat_AIJFmt          *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_CUDA, &cuda));
  PetscCall(cuda->seq.bindtocpu(A, to_cpu));
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s || A->factortype) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FollowVecType(A, to_cpu));
  PetscCall(AIJFmtOperationsInstall(A, s));
  if (AIJFmtHashActive(A)) *A->ops = operations;
  if (!s->cache.plan || (s->cache.plan->space == SPMV_DEVICE) == (to_cpu == PETSC_TRUE))
    PetscCall(AIJFmtStateForget(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next product makes a plan in the right place */
PetscErrorCode MatBindToCPU_SeqAIJFmt_Host(Mat A, PETSC_UNUSED PetscBool to_cpu)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s) PetscCall(AIJFmtStateForget(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* At the end of an assembly PETSc restores the operations saved before the hash table, which are the wrong ones if
   MatBindToCPU() was called in between. MatAssemblyEnd_MPIAIJ() calls MatBindToCPU() after assembling the first of the
   two blocks. */
PetscErrorCode AIJFmtCudaRebind(Mat A, const Mat_AIJFmt *s)
{
  const AIJFmtParent *host;
  PetscBool           bound;

  PetscFunctionBegin;
  if (!AIJFmtIsOverCuda(s) || s->parallel) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &host));
  bound = A->ops->zeroentries == host->seq.zeroentries ? PETSC_TRUE : PETSC_FALSE;
  if (bound != AIJFmtBoundToCPU(A)) PetscCall(MatBindToCPU_SeqAIJFmt(A, AIJFmtBoundToCPU(A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Restores the parent's operations and composed functions of a sequential matrix: its bindtocpu sets both */
PetscErrorCode AIJFmtCudaRelease(Mat A, const Mat_AIJFmt *s)
{
  PetscFunctionBegin;
  if (!AIJFmtIsOverCuda(s) || s->parallel) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(s->parent->seq.bindtocpu(A, AIJFmtBoundToCPU(A)));
  if (AIJFmtBoundToCPU(A)) PetscCall(FollowVecType(A, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the CUDA type the parent of A if there is a GPU. A block follows the parallel matrix around it; any other
   matrix gets the CUDA parent unless -mat_aijfmt_device is host, or it keeps the name of the host parent, whose values
   PETSc reads on the host. Blocks of our type are stripped first, because the parent's converter would wipe them. */
PetscErrorCode AIJFmtCudaAdopt(Mat A, Mat_AIJFmt *s, const Mat_AIJFmt *of_matrix)
{
  PetscErrorCode (*convert)(Mat, MatType, MatReuse, Mat *);
  const AIJFmtParent *cuda;
  const char         *name;
  PetscBool           wanted;

  PetscFunctionBegin;
  if (!AIJFMT_HAVE_CUDA_PARENT || spmv_device_count(NULL) == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (of_matrix) wanted = AIJFmtIsOverCuda(of_matrix);
  else if (AIJFmtKeepsName(s)) wanted = PETSC_FALSE;
  else wanted = (int)s->class_options.value[AIJFMT_DEVICE] == AIJFMT_ON_HOST ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_CUDA, &cuda));
  if (wanted && s->parent == cuda) AIJFmtListAdd(s);
  if (!wanted || s->parent == cuda) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->parallel) PetscCall(AIJFmtBlocksStrip(A));
  name = s->parallel ? "MatConvert_mpiaij_mpiaijcusparse_C" : "MatConvert_seqaij_seqaijcusparse_C";
  PetscCall(PetscObjectQueryFunction((PetscObject)A, name, &convert));
  PetscCheck(convert, PetscObjectComm((PetscObject)A), PETSC_ERR_PLIB, "no %s on a matrix of type %s", name,
             ((PetscObject)A)->type_name);
  PetscCall(convert(A, s->parallel ? cuda->mpi_type : cuda->seq_type, MAT_INPLACE_MATRIX, &A));
  s->parent = cuda;
  AIJFmtListAdd(s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Registers the factorizations of cuSPARSE (-pc_factor_mat_solver_type cusparse) for our types. In a debugging PETSc
   they insist on the parent's type name, so they are left out. */
PetscErrorCode AIJFmtCudaRegister(void)
{
  static const MatFactorType factors[] = {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY, MAT_FACTOR_ILU, MAT_FACTOR_ICC};

  PetscFunctionBegin;
  if (!AIJFMT_HAVE_CUDA_PARENT || spmv_device_count(NULL) == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtMAIJRegister());
  if (PetscDefined(USE_DEBUG)) PetscFunctionReturn(PETSC_SUCCESS);
  for (size_t f = 0; f < PETSC_STATIC_ARRAY_LENGTH(factors); f++) {
    PetscErrorCode (*factor)(Mat, MatFactorType, Mat *);

    PetscCall(MatSolverTypeGet(MATSOLVERCUSPARSE, MATSEQAIJCUSPARSE, factors[f], NULL, NULL, &factor));
    for (PetscInt i = 0; factor && i < AIJFmtRowCount(); i++)
      PetscCall(MatSolverTypeRegister(MATSOLVERCUSPARSE, AIJFmtRowGet(i)->seq, factors[f], factor));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
