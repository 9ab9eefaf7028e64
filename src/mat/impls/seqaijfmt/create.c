/*
  create.c - makes a matrix of a parent type one of ours, and back; and its state, which is made once, kept in a container
  composed on the Mat, and freed with the Mat's header. Nothing is converted here; see plan.c.

  A parallel matrix of ours is a MATMPIAIJ whose diagonal and off-diagonal blocks are of our sequential type. The parent
  makes new blocks in many places (preallocation, hash insertion, new nonzeros after assembly, COO), so the blocks
  become ours at the one point that every path reaches: the end of a final assembly.
*/
#include "seqaijfmt.h"

/* ---- the state ---- */

static const char container_name[] = "MatAIJFmt";

enum { ALIGNMENT = 64 /* one cache line, one AVX-512 register */ };

/* Packed arrays come from PetscMalloc(), so that -malloc_dump, -malloc_view and -malloc_debug see them. The pointer
   that PetscMalloc() gave lies just before the aligned block. */
static void *HostAlloc(void *ctx, size_t bytes)
{
  char  *block;
  void **aligned;

  (void)ctx;
  if (PetscMalloc1(bytes + ALIGNMENT + sizeof(void *), &block)) return NULL;
  aligned     = (void **)(((size_t)block + sizeof(void *) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  aligned[-1] = block;
  return aligned;
}

/* The interface of the hook returns nothing: a heap that PetscFree() finds damaged is reported and the run ends */
static void HostFree(void *ctx, void *aligned)
{
  void *block;

  (void)ctx;
  if (!aligned) return;
  block = ((void **)aligned)[-1]; /* PetscFree() clears its argument, which must not lie in the block itself */
  PetscCallAbort(PETSC_COMM_SELF, PetscFree(block));
}

PetscErrorCode AIJFmtErrorCode(SpmvStatus status)
{
  switch (status) {
  case SPMV_SUCCESS:
    return PETSC_SUCCESS;
  case SPMV_ERR_ARGUMENT:
    return PETSC_ERR_ARG_WRONG;
  case SPMV_ERR_OPTION:
    return PETSC_ERR_ARG_OUTOFRANGE;
  case SPMV_ERR_MATRIX:
    return PETSC_ERR_ARG_WRONGSTATE;
  case SPMV_ERR_MEMORY:
    return PETSC_ERR_MEM;
  case SPMV_ERR_OVERFLOW:
    return PETSC_ERR_SUP;
  case SPMV_ERR_UNSUPPORTED:
    return PETSC_ERR_SUP;
  case SPMV_ERR_DEVICE:
    return PETSC_ERR_GPU;
  default:
    return PETSC_ERR_PLIB;
  }
}

/* Drops the plan and all that belongs to it; options and counters stay */
PetscErrorCode AIJFmtStateForget(Mat_AIJFmt *s)
{
  PetscFunctionBegin;
  AIJFmtPlanDrop(&s->cache, &s->exec);
  s->reason[0] = s->space_reason[0] = s->transpose_reason[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StateFree(void *ctx)
{
  Mat_AIJFmt *s = (Mat_AIJFmt *)ctx;

  PetscFunctionBegin;
  AIJFmtListRemove(s);
  PetscCall(AIJFmtStateForget(s));
  AIJFmtVectorFree(&s->exec, &s->x);
  AIJFmtVectorFree(&s->exec, &s->y);
  PetscCall(AIJFmtChoiceForget(s));
  PetscCall(PetscFree(s->choice));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AIJFMT_CONTAINER_DESTRUCTOR(StateDestroy, StateFree)

/* The state that A has, or had when it was of a type of ours: the container stays when the type changes */
PetscErrorCode AIJFmtStateOfAnyType(Mat A, Mat_AIJFmt **state)
{
  PetscContainer container;

  PetscFunctionBegin;
  *state = NULL;
  PetscCall(PetscObjectQuery((PetscObject)A, container_name, (PetscObject *)&container));
  if (container) PetscCall(PetscContainerGetPointer(container, (void **)state));
  if (*state) (*state)->self = A;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The state of A, or NULL when A is not of our types now */
PetscErrorCode AIJFmtStateGet(Mat A, Mat_AIJFmt **state)
{
  Mat_AIJFmt *s;
  PetscBool   same = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateOfAnyType(A, &s));
  if (s && s->row)
    PetscCall(PetscStrcmp(((PetscObject)A)->type_name,
                          s->alias      ? s->alias
                          : s->parallel ? s->row->mpi
                                        : s->row->seq,
                          &same));
  *state = same ? s : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The state of A, or an error when A is not of our types; for functions that work on our types only */
PetscErrorCode AIJFmtStateRequire(Mat A, const char *function, Mat_AIJFmt **state)
{
  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, state));
  PetscCheck(*state, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
             "%s needs a matrix of a type of petscpack, such as %s; this one is of type %s: call MatSetType() or "
             "MatConvert() first",
             function, AIJFmtRowGet(0)->root, ((PetscObject)A)->type_name ? ((PetscObject)A)->type_name : "(not set)");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The state that A has, without its plan, or a new one. fresh: it is new */
static PetscErrorCode StateCompose(Mat A, Mat_AIJFmt **state, PetscBool *fresh)
{
  PetscContainer container;
  Mat_AIJFmt    *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateOfAnyType(A, &s));
  *fresh = s ? PETSC_FALSE : PETSC_TRUE;
  if (s) {
    PetscCall(AIJFmtStateForget(s));
    PetscCall(AIJFmtChoiceForget(s));
  } else {
    PetscCall(PetscNew(&s));
    spmv_exec_init(&s->exec, SPMV_HOST);
    s->exec.host.alloc = HostAlloc;
    s->exec.host.free  = HostFree;
    PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
    PetscCall(PetscContainerSetPointer(container, s));
    PetscCall(AIJFmtContainerSetDestroy(container, StateDestroy));
    PetscCall(PetscObjectCompose((PetscObject)A, container_name, (PetscObject)container));
    PetscCall(PetscContainerDestroy(&container));
  }
  *state = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives `to` the options of `from`, which is of the same format. A plan stays when they would not have changed it. */
PetscErrorCode AIJFmtStateCopyOptions(const Mat_AIJFmt *from, Mat_AIJFmt *to)
{
  const double *a = from->class_options.value, *b = to->class_options.value;
  PetscBool     same;

  PetscFunctionBegin;
  PetscCall(PetscMemcmp(&from->format_options, &to->format_options, sizeof from->format_options, &same));
  if (!same || a[AIJFMT_DECLINE] != b[AIJFMT_DECLINE] || a[AIJFMT_DEVICE] != b[AIJFMT_DEVICE])
    PetscCall(AIJFmtStateForget(to));
  if (!same || a[AIJFMT_DECLINE] != b[AIJFMT_DECLINE]) PetscCall(AIJFmtChoiceForget(to));
  to->format_options = from->format_options;
  to->class_options  = from->class_options;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- types ---- */

static PetscErrorCode RefuseOtherScalars(Mat A, const char *type)
{
  PetscFunctionBegin;
  PetscCheck(!PetscDefined(USE_COMPLEX), PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "type %s needs real scalars, and this PETSc has complex ones: use MATAIJ, or a PETSc configured with "
             "--with-scalar-type=real",
             type);
  PetscCheck(
      PetscDefined(USE_REAL_DOUBLE) || PetscDefined(USE_REAL_SINGLE), PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
      "type %s needs double or single precision: use MATAIJ, or a PETSc configured with --with-precision=double", type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent's MatDuplicate() makes a matrix of our type by its name; what was set on A by options or calls is ours to
   hand on. The CUDA parent gives its own type back, so the copy is made ours once more. */
PetscErrorCode MatDuplicate_AIJFmt(Mat A, MatDuplicateOption values, Mat *B)
{
  const AIJFmtParent *host;
  Mat_AIJFmt         *from, *to;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &from));
  if (!from) { /* a subclass that PETSc made of a matrix of ours, see AIJFmtParentOf() */
    PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &host));
    PetscCall(host->seq.duplicate(A, values, B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall((from->parallel ? &from->parent->mpi : &from->parent->seq)->duplicate(A, values, B));
  PetscCall(AIJFmtInstall(*B, from->row, from->parallel, NULL));
  PetscCall(AIJFmtStateRequire(*B, "MatDuplicate()", &to));
  to->inner = from->inner;
  PetscCall(AIJFmtStateCopyOptions(from, to));
  if (to->parallel) PetscCall(AIJFmtBlocksCopyOptions(*B, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -mat_aijfmt_eager. MatAssemblyEnd() increases the state once more after this function, and that is the state of the
   values packed here. A block of a parallel matrix waits for the assembly of the whole, which renumbers its columns.
   While A has the name of its parent, a function of the parent assembles it, and values are still to come. */
PetscErrorCode MatAssemblyEnd_SeqAIJFmt(Mat A, MatAssemblyType type)
{
  const AIJFmtParent *parent;
  Mat_AIJFmt         *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentOf(A, &parent));
  PetscCall(parent->seq.assemblyend(A, type));
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s || s->alias || A->factortype) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtCudaRebind(A, s));
  if (type != MAT_FINAL_ASSEMBLY || s->inner) PetscFunctionReturn(PETSC_SUCCESS);
  if (!AIJFmtClassFlag(s, AIJFMT_EAGER)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtSync(A, s, NULL, ((PetscObject)A)->state + 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAssemblyEnd_MPIAIJFmt(Mat A, MatAssemblyType type)
{
  const AIJFmtParent *parent;
  Mat_AIJFmt         *s;
  Mat                 blocks[2];

  PetscFunctionBegin;
  PetscCall(AIJFmtParentOf(A, &parent));
  PetscCall(parent->mpi.assemblyend(A, type));
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s || s->alias || type != MAT_FINAL_ASSEMBLY) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtBlocksInstall(A, s));
  PetscCall(AIJFmtBlocksSetSizes(A));
  if (!AIJFmtClassFlag(s, AIJFMT_EAGER)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < 2; b++) {
    Mat_AIJFmt *inner;
    PetscCall(AIJFmtStateRequire(blocks[b], "MatAssemblyEnd()", &inner));
    PetscCall(AIJFmtSync(blocks[b], inner, NULL, ((PetscObject)blocks[b])->state));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatMatTransposeMult() of PETSc gives the transposed pattern the type of the other factor by MatSetType(), which would
   wipe a matrix of ours out. It takes the host parent's type, from which every AIJ type can follow. */
PetscErrorCode MatTransposeSymbolic_SeqAIJFmt(Mat A, Mat *B)
{
  const AIJFmtParent *parent;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentOf(A, &parent));
  PetscCall(parent->seq.transposesymbolic(A, B));
  PetscCall(AIJFmtStrip(*B));
  PetscCall(MatConvert(*B, MATSEQAIJ, MAT_INPLACE_MATRIX, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of another subclass of the parent, such as MATSEQAIJPERM by -mat_seqaij_type, becomes the parent first. Its
   converter is called directly, because MatConvert() refuses unassembled matrices. It comes before A has a state, which
   would be lost where the converter replaces the whole matrix. */
static PetscErrorCode BecomeParent(Mat A, const AIJFmtRow *row, PetscBool parallel)
{
  PetscErrorCode (*convert)(Mat, MatType, MatReuse, Mat *);
  const char         *type   = ((PetscObject)A)->type_name;
  MatType             target = parallel ? MATMPIAIJ : MATSEQAIJ;
  const AIJFmtParent *parent;
  char                name[256];

  PetscFunctionBegin;
  PetscCall(AIJFmtParentFind(type, &parent));
  if (parent) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(name, sizeof name, "MatConvert_%s_%s_C", type, target));
  PetscCall(PetscObjectQueryFunction((PetscObject)A, name, &convert));
  PetscCheck(convert, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "type %s cannot become %s: convert it to %s first", type, parallel ? row->mpi : row->seq, target);
  PetscCall(convert(A, target, MAT_INPLACE_MATRIX, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The defaults, and then the options database, but for a block, which gets all options of the matrix around it. A
   refused option leaves the state without a format, so that the next MatSetType() asks again. */
static PetscErrorCode FirstOptions(Mat A, const AIJFmtRow *row, const Mat_AIJFmt *outer, Mat_AIJFmt *s)
{
  PetscErrorCode error = PETSC_SUCCESS;

  PetscFunctionBegin;
  s->row = row;
  PetscCall(AIJFmtOptionsInit(s));
  if (outer) PetscCall(AIJFmtStateCopyOptions(outer, s));
  else error = AIJFmtOptionsRead(A, s, NULL);
  if (error) s->row = NULL;
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A state without a plan. Its options start anew unless it was of this format before. */
static PetscErrorCode CreateState(Mat A, const AIJFmtRow *row, PetscBool parallel, const Mat_AIJFmt *outer,
                                  Mat_AIJFmt **state)
{
  PetscBool fresh = PETSC_FALSE; /* gcc does not see that it is set whenever the call succeeds */

  PetscFunctionBegin;
  PetscCall(StateCompose(A, state, &fresh));
  if (fresh) PetscCall(AIJFmtMergeWatch(A));
  (*state)->parallel = parallel;
  if ((*state)->row != row) PetscCall(FirstOptions(A, row, outer, *state));
  else if (outer) PetscCall(AIJFmtStateCopyOptions(outer, *state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes A ours. Idempotent: creators, converters, duplicates and each final assembly of a parallel matrix call it. A
   block takes its options from the parallel matrix around it, outer, or NULL. */
PetscErrorCode AIJFmtInstall(Mat A, const AIJFmtRow *row, PetscBool parallel, const Mat_AIJFmt *outer)
{
  const char *type = parallel ? row->mpi : row->seq;
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(RefuseOtherScalars(A, type));
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s || s->row != row) {
    PetscCheck(!AIJFmtHashActive(A), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
               "a matrix in the midst of MatSetValues() without preallocation cannot become %s: set the type before "
               "MatSetUp(), or after MatAssemblyEnd()",
               type);
    if (s) PetscCall(AIJFmtStrip(A));
    PetscCall(BecomeParent(A, row, parallel));
    PetscCall(CreateState(A, row, parallel, outer, &s));
    PetscCall(AIJFmtParentFind(((PetscObject)A)->type_name, &s->parent));
    PetscCall(AIJFmtCudaAdopt(A, s, outer));
    PetscCheck(s->parent, PetscObjectComm((PetscObject)A), PETSC_ERR_PLIB, "no parent type for %s",
               ((PetscObject)A)->type_name);
    PetscCall(PetscObjectChangeTypeName((PetscObject)A, type));
    PetscCall(AIJFmtOperationsInstall(A, s));
    if (parallel && A->assembled) PetscCall(AIJFmtBlocksInstall(A, s));
  } else if (outer) PetscCall(AIJFmtStateCopyOptions(outer, s));
  s->inner = outer ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a matrix of ours one of the parent type again. The container stays, without a plan, until A is destroyed. */
PetscErrorCode AIJFmtStrip(Mat A)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtOperationsRemove(A, s));
  PetscCall(AIJFmtCudaRelease(A, s));
  PetscCall(AIJFmtStateForget(s));
  if (s->parallel) PetscCall(AIJFmtBlocksStrip(A));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, s->parallel ? s->parent->mpi_type : s->parent->seq_type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The creator of every type of ours. MatSetType() of the parent may return a matrix that is ours already, through
   -mat_seqaij_type. */
PetscErrorCode AIJFmtCreate(Mat A, const AIJFmtRow *row, PetscBool parallel)
{
  PetscFunctionBegin;
  PetscCall(RefuseOtherScalars(A, parallel ? row->mpi : row->seq));
  PetscCall(MatSetType(A, parallel ? MATMPIAIJ : MATSEQAIJ));
  PetscCall(AIJFmtInstall(A, row, parallel, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
