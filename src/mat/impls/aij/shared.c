/*
  shared.c - the arrays of a large sequential matrix made on the GPU, in memory that the host and the device share: the
  columns, and over the host parent the values. They stay on the device until the host reads them, which PETSc's functions
  do without asking.
*/
#include "aijfmt.h"
#include "sys/compose.h"
#include "sys/private.h"

enum { SHARED_ALIGN = 256 /* bytes, of the arrays in one block */ };

/* The memory of a matrix that PETSc does not free */
typedef struct {
  PetscInt *row_ptr; /* on the host, where PETSc and the class read them often */
  void     *block;   /* shared: columns, and values over the host parent */
  void     *there;   /* the row pointers on the device, ... */
  SpmvExec  exec;

  PetscObjectState state;        /* ... of this nonzero state; the host may have removed nonzeros since */
  PetscBool        lacks_inodes; /* the parent has not assembled the matrix: AIJFmtSharedAssemble() */
} Shared;

static PetscErrorCode SharedFree_AIJFmt(void *ctx)
{
  Shared *shared = (Shared *)ctx;

  PetscFunctionBegin;
  spmv_exec_free(&shared->exec, SPMV_DEVICE, shared->there);
  spmv_shared_free(shared->block);
  PetscCall(PetscPackSeqAIJRowPtrFree(shared->row_ptr));
  PetscCall(PetscFree(shared));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AIJFMT_CONTAINER_DESTRUCTOR(SharedDestroy_AIJFmt, SharedFree_AIJFmt)

/* The key of the container composed on a matrix with these columns. It names them, because MatHeaderMerge() joins the
   composed objects of two matrices, and because a new preallocation gives the matrix other columns. */
static PetscErrorCode SharedKey(const SpmvPattern *here, char key[64])
{
  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(key, 64, "MatAIJFmtShared%p", (const void *)here->col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *shared: NULL if the columns of A, which has `pattern` on the host, are not in shared memory, or are those of the
   matrix that A duplicates */
static PetscErrorCode SharedFind(Mat A, const SpmvPattern *pattern, Shared **shared)
{
  char key[64];

  PetscFunctionBegin;
  *shared = NULL;
  if (!spmv_shared_holds(pattern->col)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SharedKey(pattern, key));
  PetscCall(PetscPackStateQuery((PetscObject)A, key, (void **)shared));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If A shares its pattern, which is `pattern` on the host, sets pattern to where the device reads it */
PetscErrorCode AIJFmtSharedPattern(Mat A, SpmvPattern *pattern, PetscBool *shares)
{
  Shared *shared = NULL; /* gcc does not see that it is set whenever the call succeeds */

  PetscFunctionBegin;
  PetscCall(SharedFind(A, pattern, &shared));
  *shares = shared && shared->state == A->nonzerostate ? PETSC_TRUE : PETSC_FALSE;
  if (!*shares) PetscFunctionReturn(PETSC_SUCCESS);
  pattern->row_ptr = shared->there;
  pattern->space   = SPMV_DEVICE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The array of values of A, current or not, if it is in shared memory; else NULL */
PetscErrorCode AIJFmtSharedArray(Mat A, const PetscScalar **values)
{
  PetscScalar **field;
  PetscBool     known;

  PetscFunctionBegin;
  PetscCall(PetscPackSeqAIJValues(A, &field, &known));
  *values = known && spmv_shared_holds(*field) ? *field : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A, whose pattern is new, keeps it in this nonzero state */
PetscErrorCode AIJFmtSharedKeep(Mat A, const Mat_AIJFmt *s, PetscObjectState state)
{
  SpmvPattern here   = {.col = s->shared_columns};
  Shared     *shared = NULL;

  PetscFunctionBegin;
  if (s->shared_columns) PetscCall(SharedFind(A, &here, &shared));
  if (shared) shared->state = state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  ---- the assembly of the parent ----

  It looks for inodes, rows with equal columns, and before 3.25 for diagonal entries, so it reads the columns: all pages
  would move to the host and, for the next kernel, back. A new matrix therefore does without it. Its diagonal entries are
  found on the device, its inodes when they are needed: inodes.c.
*/

/* Copies the positions of the diagonal entries to the host */
static PetscErrorCode DiagonalFetch(const void *positions, PetscInt rows, PetscInt diagonal[], SpmvExec *exec)
{
  SpmvStatus status;

  PetscFunctionBegin;
  if (!diagonal) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtFetch(exec, positions, SPMV_DEVICE, rows * (int64_t)sizeof *diagonal, diagonal, &status));
  AIJFmtCallSpmv(exec, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does the work of the parent's assembly for A, which has got `from` in shared memory just now; but not if device memory
   is short */
PetscErrorCode AIJFmtSharedAssemble(Mat A, const Mat_AIJFmt *s, const SpmvPattern *from, SpmvExec *exec)
{
  SpmvPattern here      = {.col = s->shared_columns};
  void       *positions = NULL;
  PetscInt   *diagonal  = NULL;
  SpmvStatus  status    = SPMV_SUCCESS;
  Shared     *shared    = NULL;

  PetscFunctionBegin;
  if (AIJFMT_ASSEMBLY_MARKS_DIAGONAL) {
    status = spmv_scratch_alloc(exec, SPMV_DEVICE, from->rows * (int64_t)sizeof(PetscInt), "diagonal", &positions);
    if (!status) status = spmv_csr_mark_diagonal(from, positions, exec);
  }
  if (!status) PetscCall(PetscPackSeqAIJAssemble(A, &diagonal));
  PetscCall(DiagonalFetch(positions, A->rmap->n, diagonal, exec));
  spmv_scratch_free(exec, SPMV_DEVICE, positions);
  if (status != SPMV_ERR_MEMORY) AIJFmtCallSpmv(exec, status);
  PetscCall(SharedFind(A, &here, &shared));
  shared->state        = A->nonzerostate;
  shared->lacks_inodes = status ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *shared: as SharedFind(), for the columns that A has */
static PetscErrorCode SharedOf(Mat A, Shared **shared)
{
  SpmvPattern here = {.col = NULL};

  PetscFunctionBegin;
  PetscCall(AIJFmtHostPatternGet(A, &here));
  PetscCall(SharedFind(A, &here, shared));
  PetscCall(AIJFmtHostPatternRestore(A, &here));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether A needs no assembly by the parent: its pattern is the one that it was made with, and nobody needed inodes yet */
PetscErrorCode AIJFmtSharedIsAssembled(Mat A, const Mat_AIJFmt *s, PetscBool *is)
{
  Shared *shared = NULL;

  PetscFunctionBegin;
  if (s->shared_columns) PetscCall(SharedOf(A, &shared));
  *is = shared && shared->lacks_inodes && shared->state == A->nonzerostate ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *lacked: the parent has not assembled A so far. The caller lets it do so. */
PetscErrorCode AIJFmtSharedTakeInodes(Mat A, PetscBool *lacked)
{
  Shared *shared = NULL;

  PetscFunctionBegin;
  PetscCall(SharedOf(A, &shared));
  *lacked = shared ? shared->lacks_inodes : PETSC_FALSE;
  if (shared) shared->lacks_inodes = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets memory for the columns, for the row pointers on the device, and for values unless there are 0 bytes of them. *out
   is NULL if there is none. The host may touch the columns when it has waited for the stream. */
static PetscErrorCode SharedAlloc(const SpmvPattern *from, int64_t columns, int64_t values, SpmvExec *exec,
                                  Shared **out)
{
  const int64_t row_bytes = (from->rows + 1) * (int64_t)sizeof(PetscInt);
  Shared        shared    = {.exec = *exec, .block = spmv_shared_alloc(columns + values, exec)};
  SpmvStatus    status    = shared.block ? SPMV_SUCCESS : SPMV_ERR_MEMORY;

  PetscFunctionBegin;
  *out = NULL;
  if (!status) status = spmv_alloc(exec, SPMV_DEVICE, row_bytes, "row pointers", &shared.there);
  if (!status) status = spmv_copy(shared.there, SPMV_DEVICE, from->row_ptr, from->space, row_bytes, exec);
  if (!status)
    status = spmv_copy(shared.block, SPMV_DEVICE, from->col, from->space, from->nnz * (int64_t)sizeof(PetscInt), exec);
  if (status) {
    spmv_exec_free(exec, SPMV_DEVICE, shared.there);
    spmv_shared_free(shared.block);
    if (status != SPMV_ERR_MEMORY) AIJFmtCallSpmv(exec, status);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscNew(out));
  **out = shared;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the shared memory of A if A has got other arrays since: for another preallocation, or by MatSetValues() */
PetscErrorCode AIJFmtSharedDropStale(Mat A, Mat_AIJFmt *s)
{
  SpmvPattern here = {.col = s->shared_columns}, now = {.nnz = 0};
  char        key[64];

  PetscFunctionBegin;
  if (!s->shared_columns) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtHostPatternGet(A, &now));
  if (now.col != here.col) {
    PetscCall(SharedKey(&here, key));
    PetscCall(PetscObjectCompose((PetscObject)A, key, NULL));
    s->shared_columns = NULL;
  }
  PetscCall(AIJFmtHostPatternRestore(A, &now));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatSetValues() may give A other arrays, and then frees these, so they become PETSc's own first. Both parents have the
   same function. */
static PetscErrorCode MatSetValues_Shared(Mat A, PetscInt m, const PetscInt rows[], PetscInt n, const PetscInt cols[],
                                          const PetscScalar values[], InsertMode mode)
{
  const AIJFmtParent *host;
  Mat_AIJFmt         *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &host));
  A->ops->setvalues = host->seq.setvalues;
  PetscCall(AIJFmtStateOfAnyType(A, &s));
  if (s && s->shared_columns) {
    PetscCall(PetscPackSeqAIJOwn(A));
    PetscCall(AIJFmtSharedDropStale(A, s));
  }
  PetscCall((*A->ops->setvalues)(A, m, rows, n, cols, values, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives A the arrays of `shared`, and copies the row pointers to the host */
static PetscErrorCode SharedGive(Mat A, const SpmvPattern *from, PetscScalar *values, SpmvExec *exec, Shared *shared,
                                 PetscBool *made)
{
  const int64_t bytes   = (from->rows + 1) * (int64_t)sizeof(PetscInt);
  PetscInt     *columns = (PetscInt *)shared->block;
  SpmvStatus    status;

  PetscFunctionBegin;
  PetscCall(PetscPackSeqAIJGive(A, (PetscInt)from->nnz, &columns, values, &shared->row_ptr, made));
  if (!*made) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtFetch(exec, from->row_ptr, SPMV_DEVICE, bytes, shared->row_ptr, &status));
  AIJFmtCallSpmv(exec, status);
  PetscCall(PetscPackSeqAIJRows(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Preallocates A with the pattern `from`, in shared memory. *made is false, and nothing has changed, if A is bound to the
   host or not ours, or if spmv_shared_alloc() has no such memory for it. with_values: over the CUDA parent, too, values
   have memory there */
PetscErrorCode AIJFmtSharedMake(Mat A, Mat_AIJFmt *s, const SpmvPattern *from, PetscBool with_values, SpmvExec *exec,
                                PetscBool *made)
{
  const int64_t columns = (from->nnz * (int64_t)sizeof(PetscInt) + SHARED_ALIGN - 1) / SHARED_ALIGN * SHARED_ALIGN;
  int64_t       values  = from->nnz * (int64_t)sizeof(PetscScalar);
  SpmvPattern   old = {.col = s ? s->shared_columns : NULL}, here = {.col = NULL};
  char          key[64];
  Shared       *shared;

  PetscFunctionBegin;
  *made = PETSC_FALSE;
  if (!s || AIJFmtBoundToCPU(A) || from->space != SPMV_DEVICE || from->nnz == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (!with_values && AIJFmtIsOverCuda(s)) values = 0; /* the parent keeps them on the device */
  PetscCall(SharedAlloc(from, columns, values, exec, &shared));
  if (!shared) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SharedGive(A, from, values ? (PetscScalar *)((char *)shared->block + columns) : NULL, exec, shared, made));
  if (!*made) {
    PetscCall(SharedFree_AIJFmt(shared));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  here.col = shared->block;
  PetscCall(SharedKey(&here, key));
  PetscCall(PetscPackStateCompose((PetscObject)A, key, shared, SharedDestroy_AIJFmt));
  s->shared_columns = shared->block;
  A->ops->setvalues = MatSetValues_Shared;
  if (old.col) PetscCall(SharedKey(&old, key));
  if (old.col) PetscCall(PetscObjectCompose((PetscObject)A, key, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
