/*
  merge.c - options of a matrix survive MatHeaderMerge().

  MatTranspose() in place and MatAXPY() with another pattern make a new matrix C of the same type, and MatHeaderMerge(A,
  &C) moves its inside into A: the state that came with C, in the matrix and in its blocks, has the options that a new
  matrix begins with. MatHeaderMerge() gives two occasions to hand on those of A, in this order:

    the operation destroy of A    called without a type name, while A still has its composed objects before PETSc 3.20
    the header of C is destroyed  the destructor of an options handler runs when A is whole again
*/
#include "seqaijfmt.h"
#include "cuda.h"

/* What the operation destroy of A records for the destructor of the header of C */
static struct {
  Mat         A;
  PetscBool   have_options; /* false where A keeps its state */
  SpmvOptions format_options, class_options;
} merging;

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
  Mat         A = merging.A;
  Mat_AIJFmt *s, options;

  PetscFunctionBegin;
  (void)ctx;
  AIJFmtCudaHeaderFreed(object);
  if (!A || object->olist) PetscFunctionReturn(PETSC_SUCCESS);
  merging.A = NULL;
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  if (merging.have_options) {
    options.format_options = merging.format_options;
    options.class_options  = merging.class_options;
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
    merging.A            = A;
    merging.have_options = s ? PETSC_TRUE : PETSC_FALSE;
    if (s) {
      merging.format_options = s->format_options;
      merging.class_options  = s->class_options;
    }
  }
  PetscCall(AIJFmtParentGet(kind, &parent));
  PetscCall((parallel ? &parent->mpi : &parent->seq)->destroy(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_SeqHost(Mat A) { return Destroy(A, AIJFMT_PARENT_HOST, PETSC_FALSE); }
static PetscErrorCode MatDestroy_MPIHost(Mat A) { return Destroy(A, AIJFMT_PARENT_HOST, PETSC_TRUE); }
static PetscErrorCode MatDestroy_SeqCuda(Mat A) { return Destroy(A, AIJFMT_PARENT_CUDA, PETSC_FALSE); }
static PetscErrorCode MatDestroy_MPICuda(Mat A) { return Destroy(A, AIJFMT_PARENT_CUDA, PETSC_TRUE); }

/* The parent's operations destroy, by [parent][parallel]. They are kept here because the state may be gone when the
   operation runs. */
static PetscErrorCode (*const destroy[AIJFMT_PARENT_COUNT][2])(Mat) = {
    [AIJFMT_PARENT_HOST] = {MatDestroy_SeqHost, MatDestroy_MPIHost},
    [AIJFMT_PARENT_CUDA] = {MatDestroy_SeqCuda, MatDestroy_MPICuda},
};

/* Submatrices of a parallel matrix have a destroy of their own, which calls the one from before it: that stays */
PetscErrorCode AIJFmtMergeInstall(Mat A, const Mat_AIJFmt *s)
{
  const struct _MatOps *parent = s->parallel ? &s->parent->mpi : &s->parent->seq;

  PetscFunctionBegin;
  if (A->ops->destroy == parent->destroy) A->ops->destroy = destroy[s->parent->kind][s->parallel];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtMergeRemove(Mat A, const Mat_AIJFmt *s)
{
  PetscFunctionBegin;
  if (A->ops->destroy == destroy[s->parent->kind][s->parallel])
    A->ops->destroy = (s->parallel ? &s->parent->mpi : &s->parent->seq)->destroy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the options handler to the header of a matrix, once */
PetscErrorCode AIJFmtMergeWatch(Mat A)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectAddOptionsHandler((PetscObject)A, HandleNothing, HeaderDestroyed, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
