/*
  cuda.c - a matrix of ours over MATSEQAIJCUSPARSE or MATMPIAIJCUSPARSE, when PETSc has CUDA and the machine a GPU.

  The CUDA parent makes its own CSR on the device only when one of its operations wants it. Products with vectors are
  ours, so that a matrix costs no second copy there, unless it is assembled by COO on the device, factored by cuSPARSE,
  asked for its device arrays, or its values are changed there (values.c).

  Some functions of the parent check for its exact type name. They run within a guard of names. In a PETSc without CUDA no
  matrix has this parent, and what calls PETSc's functions for CUDA is empty.
*/
#include "seqaijfmt.h"

/* ---- functions that the parent composes ---- */

typedef PetscErrorCode MergeLocal(Mat, MatReuse, IS *, Mat *);
typedef PetscErrorCode CopySubArray(Mat, PetscInt, const PetscInt[], PetscScalar[]);

/* The guards of the blocks of a parallel matrix, or of a sequential one and NULL */
PetscErrorCode AIJFmtBlockGuardsBegin(Mat blocks[2], AIJFmtNameGuard guards[2])
{
  PetscFunctionBegin;
  for (int b = 0; b < 2; b++) PetscCall(AIJFmtNameGuardBegin(blocks[b], AIJFMT_PARENT_CUDA, &guards[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtBlockGuardsEnd(Mat blocks[2], AIJFmtNameGuard guards[2])
{
  PetscFunctionBegin;
  for (int b = 0; b < 2; b++) PetscCall(AIJFmtNameGuardEnd(blocks[b], &guards[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent's own type becomes ours: the local matrix is a factor of the products that a product of parallel matrices
   is made of, and those are ours where both factors are */
PetscErrorCode MatMPIAIJGetLocalMatMerge_MPIAIJFmt(Mat A, MatReuse reuse, IS *columns, Mat *local)
{
  AIJFmtNameGuard     guards[2], whole = {.state = NULL};
  const AIJFmtParent *cuda;
  Mat                 blocks[2];
  Mat_AIJFmt         *outer;
  PetscErrorCode      error;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateRequire(A, "MatMPIAIJGetLocalMatMerge()", &outer));
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_CUDA, &cuda));
  if (reuse == MAT_REUSE_MATRIX) PetscCall(AIJFmtNameGuardBegin(*local, AIJFMT_PARENT_CUDA, &whole));
  PetscCall(AIJFmtBlocksGet(A, blocks));
  PetscCall(AIJFmtBlockGuardsBegin(blocks, guards));
  error = ((MergeLocal *)cuda->composed[AIJFMT_MERGE_LOCAL][1])(A, reuse, columns, local);
  PetscCall(AIJFmtBlockGuardsEnd(blocks, guards));
  PetscCall(AIJFmtNameGuardEnd(*local, &whole));
  PetscCall(error);
  PetscCall(AIJFmtInstall(*local, outer->row, PETSC_FALSE, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSeqAIJCopySubArray_SeqAIJFmt(Mat A, PetscInt n, const PetscInt index[], PetscScalar values[])
{
  AIJFmtNameGuard     guard;
  const AIJFmtParent *cuda;
  PetscErrorCode      error;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_CUDA, &cuda));
  PetscCall(AIJFmtNameGuardBegin(A, AIJFMT_PARENT_CUDA, &guard));
  error = ((CopySubArray *)cuda->composed[AIJFMT_COPY_SUB_ARRAY][0])(A, n, index, values);
  PetscCall(AIJFmtNameGuardEnd(A, &guard));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- operations that read or write the host's values without asking for them, or without saying so ---- */

PetscErrorCode MatGetColumnReductions_SeqAIJFmt(Mat A, PetscInt type, PetscReal *reductions)
{
  const AIJFmtParent *host;

  PetscFunctionBegin;
  PetscCall(AIJFmtHostFetch(A));
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &host));
  PetscCall(host->seq.getcolumnreductions(A, type, reductions));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The host's function writes the host's values and does not mark them as the current ones: neither before its assembly,
   at which the matrix may be converted, nor after it */
PetscErrorCode MatLoad_SeqAIJFmt(Mat A, PetscViewer viewer)
{
  const AIJFmtParent *parent;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentOf(A, &parent));
  PetscCall(AIJFmtHostWritten(A));
  PetscCall(parent->seq.load(A, viewer));
  PetscCall(AIJFmtHostWritten(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if AIJFMT_HAVE_CUDA_PARENT
PetscErrorCode MatEliminateZeros_SeqAIJFmt(Mat A, PetscBool keep)
{
  const AIJFmtParent *host;

  PetscFunctionBegin;
  PetscCall(AIJFmtHostFetch(A));
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &host));
  PetscCall(host->seq.eliminatezeros(A, keep));
  PetscCall(AIJFmtHostWritten(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* MatNorm_MPIAIJ() of 3.26 adds up columns in new vectors, and assumes that they are zero. It adds to the host copy of
   the vector, which is zero in a vector of the host but not in one of the device: so the matrix makes host vectors
   here. */
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

/* A matrix that is bound to the host makes host vectors: a block of a plain MATMPIAIJ would get its ghost values on the
   device else, and sums in MatNorm_MPIAIJ() that do not begin at zero */
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

/* The parent sets its own operations, for the host or the device, and ours replace them again. While MatSetUp()'s hash
   table takes the entries, its operations must stay; AIJFmtCudaRebind() then sets ours when they are gone. */
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

/* At the end of an assembly: the hash table gave back the operations from before it, and MatBindToCPU() may have been
   called since. MatAssemblyEnd_MPIAIJ() calls it after the first of the two blocks is assembled. */
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

/* The parent's bindtocpu composes the functions of a sequential matrix anew */
PetscErrorCode AIJFmtCudaRelease(Mat A, const Mat_AIJFmt *s)
{
  PetscFunctionBegin;
  if (!AIJFmtIsOverCuda(s) || s->parallel) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(s->parent->seq.bindtocpu(A, AIJFmtBoundToCPU(A)));
  if (AIJFmtBoundToCPU(A)) PetscCall(FollowVecType(A, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the parent of A the one with CUDA: for a matrix of its own where a GPU is there, unless the host was asked for;
   for a block when the matrix around it has that parent. The parent's converter would wipe blocks of our type. */
PetscErrorCode AIJFmtCudaAdopt(Mat A, Mat_AIJFmt *s, const Mat_AIJFmt *outer)
{
  PetscErrorCode (*convert)(Mat, MatType, MatReuse, Mat *);
  const AIJFmtParent *cuda;
  const char         *name;
  PetscBool           wanted;

  PetscFunctionBegin;
  if (!AIJFMT_HAVE_CUDA_PARENT || spmv_device_count(NULL) == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (outer) wanted = AIJFmtIsOverCuda(outer);
  else wanted = (int)s->class_options.value[AIJFMT_DEVICE] == AIJFMT_ON_HOST ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_CUDA, &cuda));
  if (wanted && s->parent == cuda) AIJFmtListAdd(A, s);
  if (!wanted || s->parent == cuda) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->parallel) PetscCall(AIJFmtBlocksStrip(A));
  name = s->parallel ? "MatConvert_mpiaij_mpiaijcusparse_C" : "MatConvert_seqaij_seqaijcusparse_C";
  PetscCall(PetscObjectQueryFunction((PetscObject)A, name, &convert));
  PetscCheck(convert, PetscObjectComm((PetscObject)A), PETSC_ERR_PLIB, "no %s on a matrix of type %s", name,
             ((PetscObject)A)->type_name);
  PetscCall(convert(A, s->parallel ? cuda->mpi_type : cuda->seq_type, MAT_INPLACE_MATRIX, &A));
  s->parent = cuda;
  AIJFmtListAdd(A, s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* cuSPARSE's factors for -pc_factor_mat_solver_type cusparse. In a debugging PETSc they insist on the parent's name. */
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
