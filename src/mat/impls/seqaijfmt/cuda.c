/*
  cuda.c - a matrix of ours over MATSEQAIJCUSPARSE or MATMPIAIJCUSPARSE, when PETSc has CUDA and the machine a GPU.

  The CUDA parent makes its own CSR on the device only when one of its operations wants it. Products with vectors are
  ours, so that a matrix costs no second copy there, unless it is assembled by COO on the device, factored by cuSPARSE,
  asked for its device arrays, or its values are changed there (cuda_values.c).

  Some functions of the parent check for its exact type name. They run within a name guard.
*/
#include "cuda.h"

#if defined(AIJFMT_HAVE_CUDA_PARENT)
  #include <petscdevice_cuda.h>

typedef PetscErrorCode PreallocateCOO(Mat, PetscCount, PetscInt[], PetscInt[]);
typedef PetscErrorCode SetValuesCOO(Mat, const PetscScalar[], InsertMode);
typedef PetscErrorCode StoreValues(Mat);
typedef PetscErrorCode MergeLocal(Mat, MatReuse, IS *, Mat *);
typedef PetscErrorCode CopySubArray(Mat, PetscInt, const PetscInt[], PetscScalar[]);

/* The parent's composed functions that are wrapped here, by [parallel]; cast to the types above when called */
static AIJFmtFunction parent_preallocate[2], parent_set_values[2], parent_merge, parent_store, parent_copy_sub_array;

/* The guards of the blocks of a parallel matrix */
static PetscErrorCode BlockGuardsBegin(Mat blocks[2], AIJFmtNameGuard guards[2])
{
  PetscFunctionBegin;
  for (int b = 0; b < 2; b++) {
    Mat_AIJFmt *s = NULL;

    if (blocks[b]) PetscCall(AIJFmtStateGet(blocks[b], &s));
    PetscCall(AIJFmtNameGuardBegin(blocks[b], s, &guards[b]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BlockGuardsEnd(Mat blocks[2], AIJFmtNameGuard guards[2])
{
  PetscFunctionBegin;
  for (int b = 0; b < 2; b++) PetscCall(AIJFmtNameGuardEnd(blocks[b], &guards[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent makes new blocks of its own type here; they become ours at assembly */
static PetscErrorCode MatSetPreallocationCOO_AIJFmt(Mat A, PetscCount n, PetscInt i[], PetscInt j[])
{
  AIJFmtNameGuard guard;
  Mat_AIJFmt     *s;
  PetscBool       parallel;
  PetscErrorCode  error;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  PetscCall(PetscStrbeginswith(((PetscObject)A)->type_name, "mpi", &parallel));
  PetscCall(AIJFmtNameGuardBegin(A, s, &guard));
  error = ((PreallocateCOO *)parent_preallocate[parallel])(A, n, i, j);
  PetscCall(AIJFmtNameGuardEnd(A, &guard));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values that have come to the device go to the host, too, where a product of matrices reads them there */
static PetscErrorCode FollowOnHost(Mat A)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s && s->keeps_host) PetscCall(AIJFmtCudaFetch(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSetValuesCOO_SeqAIJFmt(Mat A, const PetscScalar values[], InsertMode mode)
{
  AIJFmtNameGuard guard;
  Mat_AIJFmt     *s;
  PetscErrorCode  error;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  PetscCall(AIJFmtNameGuardBegin(A, s, &guard));
  error = ((SetValuesCOO *)parent_set_values[0])(A, values, mode);
  PetscCall(AIJFmtNameGuardEnd(A, &guard));
  PetscCall(error);
  PetscCall(FollowOnHost(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSetValuesCOO_MPIAIJFmt(Mat A, const PetscScalar values[], InsertMode mode)
{
  AIJFmtNameGuard guards[2];
  Mat             blocks[2];
  PetscErrorCode  error;

  PetscFunctionBegin;
  PetscCall(AIJFmtBlocksGet(A, blocks));
  PetscCall(BlockGuardsBegin(blocks, guards));
  error = ((SetValuesCOO *)parent_set_values[1])(A, values, mode);
  PetscCall(BlockGuardsEnd(blocks, guards));
  PetscCall(error);
  for (int b = 0; b < 2; b++)
    if (blocks[b]) PetscCall(FollowOnHost(blocks[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent's own type becomes ours: the local matrix is a factor of the products that a product of parallel matrices
   is made of, and those are ours where both factors are. A may have the parent's name meanwhile. */
static PetscErrorCode MatMPIAIJGetLocalMatMerge_MPIAIJFmt(Mat A, MatReuse reuse, IS *columns, Mat *local)
{
  AIJFmtNameGuard guards[2], whole = {NULL};
  Mat             blocks[2];
  Mat_AIJFmt     *s = NULL, *outer;
  PetscErrorCode  error;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateOfAnyType(A, &outer));
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(AIJFmtStateGet(*local, &s));
    PetscCall(AIJFmtNameGuardBegin(*local, s, &whole));
  }
  PetscCall(AIJFmtBlocksGet(A, blocks));
  PetscCall(BlockGuardsBegin(blocks, guards));
  error = ((MergeLocal *)parent_merge)(A, reuse, columns, local);
  PetscCall(BlockGuardsEnd(blocks, guards));
  if (reuse == MAT_REUSE_MATRIX) PetscCall(AIJFmtNameGuardEnd(*local, &whole));
  PetscCall(error);
  PetscCall(AIJFmtInstall(*local, outer->row, PETSC_FALSE, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSeqAIJCopySubArray_SeqAIJFmt(Mat A, PetscInt n, const PetscInt index[], PetscScalar values[])
{
  AIJFmtNameGuard guard;
  Mat_AIJFmt     *s;
  PetscErrorCode  error;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  PetscCall(AIJFmtNameGuardBegin(A, s, &guard));
  error = ((CopySubArray *)parent_copy_sub_array)(A, n, index, values);
  PetscCall(AIJFmtNameGuardEnd(A, &guard));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent copies the host's values whether they are current or not */
static PetscErrorCode MatStoreValues_SeqAIJFmt(Mat A)
{
  PetscFunctionBegin;
  PetscCall(AIJFmtCudaFetch(A));
  PetscCall(((StoreValues *)parent_store)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatNorm_MPIAIJ() of 3.26 adds up columns in new vectors, and assumes that they are zero. It adds to the host copy of
   the vector, which is zero in a vector of the host but not in one of the device: so the matrix makes host vectors
   here. */
static PetscErrorCode MatNorm_MPIAIJFmt(Mat A, NormType type, PetscReal *norm)
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
static PetscErrorCode MatBindToCPU_SeqAIJFmt(Mat A, PetscBool to_cpu)
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
  if (!s->plan || (s->plan->space == SPMV_DEVICE) == (to_cpu == PETSC_TRUE)) PetscCall(AIJFmtStateForget(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* At the end of an assembly: the hash table gave back the operations from before it, and MatBindToCPU() may have been
   called since. MatAssemblyEnd_MPIAIJ() does so between its two blocks. */
PetscErrorCode AIJFmtCudaRebind(Mat A, const Mat_AIJFmt *s)
{
  const AIJFmtParent *host;
  PetscBool           cuda, bound;

  PetscFunctionBegin;
  PetscCall(AIJFmtIsCudaParent(s, &cuda));
  if (!cuda || s->parallel) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &host));
  bound = A->ops->zeroentries == host->seq.zeroentries ? PETSC_TRUE : PETSC_FALSE;
  if (bound != AIJFmtBoundToCPU(A)) PetscCall(MatBindToCPU_SeqAIJFmt(A, AIJFmtBoundToCPU(A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the parent's function of that name, and puts ours in its place; a matrix bound to the host has none */
static PetscErrorCode Wrap(Mat A, const char *name, AIJFmtFunction ours, AIJFmtFunction *parents)
{
  AIJFmtFunction now;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, name, &now));
  if (!now || now == ours) PetscFunctionReturn(PETSC_SUCCESS);
  *parents = now;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, name, ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtCudaInstall(Mat A, const Mat_AIJFmt *s)
{
  PetscBool cuda;

  PetscFunctionBegin;
  PetscCall(AIJFmtIsCudaParent(s, &cuda));
  if (!cuda) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Wrap(A, "MatSetPreallocationCOO_C", (AIJFmtFunction)MatSetPreallocationCOO_AIJFmt,
                 &parent_preallocate[s->parallel]));
  if (s->parallel) {
    A->ops->norm = MatNorm_MPIAIJFmt;
    PetscCall(Wrap(A, "MatSetValuesCOO_C", (AIJFmtFunction)MatSetValuesCOO_MPIAIJFmt, &parent_set_values[1]));
    PetscCall(
        Wrap(A, "MatMPIAIJGetLocalMatMerge_C", (AIJFmtFunction)MatMPIAIJGetLocalMatMerge_MPIAIJFmt, &parent_merge));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Wrap(A, "MatSetValuesCOO_C", (AIJFmtFunction)MatSetValuesCOO_SeqAIJFmt, &parent_set_values[0]));
  PetscCall(Wrap(A, "MatStoreValues_C", (AIJFmtFunction)MatStoreValues_SeqAIJFmt, &parent_store));
  PetscCall(
      Wrap(A, "MatSeqAIJCopySubArray_C", (AIJFmtFunction)MatSeqAIJCopySubArray_SeqAIJFmt, &parent_copy_sub_array));
  A->ops->bindtocpu = MatBindToCPU_SeqAIJFmt;
  PetscCall(AIJFmtCudaValuesInstall(A));
  PetscCall(AIJFmtCudaHostCopyInstall(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent's bindtocpu composes the functions of a sequential matrix anew */
PetscErrorCode AIJFmtCudaRemove(Mat A, const Mat_AIJFmt *s)
{
  PetscBool cuda;

  PetscFunctionBegin;
  PetscCall(AIJFmtIsCudaParent(s, &cuda));
  if (!cuda) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->parallel) {
    PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetPreallocationCOO_C", parent_preallocate[1]));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetValuesCOO_C", parent_set_values[1]));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatMPIAIJGetLocalMatMerge_C", parent_merge));
  } else {
    PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatStoreValues_C", parent_store));
    A->ops->eliminatezeros = s->parent->seq.eliminatezeros;
    PetscCall(s->parent->seq.bindtocpu(A, AIJFmtBoundToCPU(A)));
    if (AIJFmtBoundToCPU(A)) PetscCall(FollowVecType(A, PETSC_FALSE));
  }
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
  if (spmv_device_count(NULL) == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (outer) PetscCall(AIJFmtIsCudaParent(outer, &wanted));
  else wanted = (int)s->class_options.value[AIJFMT_DEVICE] == AIJFMT_ON_HOST ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_CUDA, &cuda));
  if (wanted && s->parent == cuda) AIJFmtCudaList(A, s);
  if (!wanted || s->parent == cuda) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->parallel) PetscCall(AIJFmtBlocksStrip(A));
  name = s->parallel ? "MatConvert_mpiaij_mpiaijcusparse_C" : "MatConvert_seqaij_seqaijcusparse_C";
  PetscCall(PetscObjectQueryFunction((PetscObject)A, name, &convert));
  PetscCheck(convert, PetscObjectComm((PetscObject)A), PETSC_ERR_PLIB, "no %s on a matrix of type %s", name,
             ((PetscObject)A)->type_name);
  PetscCall(convert(A, s->parallel ? cuda->mpi_type : cuda->seq_type, MAT_INPLACE_MATRIX, &A));
  s->parent = cuda;
  AIJFmtCudaList(A, s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* cuSPARSE's factors for -pc_factor_mat_solver_type cusparse. In a debugging PETSc they insist on the parent's name. */
PetscErrorCode AIJFmtCudaRegister(void)
{
  static const MatFactorType factors[] = {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY, MAT_FACTOR_ILU, MAT_FACTOR_ICC};

  PetscFunctionBegin;
  if (spmv_device_count(NULL) == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtCudaMAIJRegister());
  if (PetscDefined(USE_DEBUG)) PetscFunctionReturn(PETSC_SUCCESS);
  for (size_t f = 0; f < PETSC_STATIC_ARRAY_LENGTH(factors); f++) {
    PetscErrorCode (*factor)(Mat, MatFactorType, Mat *);

    PetscCall(MatSolverTypeGet(MATSOLVERCUSPARSE, MATSEQAIJCUSPARSE, factors[f], NULL, NULL, &factor));
    for (PetscInt i = 0; factor && i < AIJFmtRowCount(); i++)
      PetscCall(MatSolverTypeRegister(MATSOLVERCUSPARSE, AIJFmtRowGet(i)->seq, factors[f], factor));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
