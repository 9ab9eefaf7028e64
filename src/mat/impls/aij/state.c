/*
  state.c - the state of a matrix of ours: made once, kept in a container composed on the Mat, and freed with the Mat's
  header; the plan, choice and options in it; the blocks of a parallel matrix; and the guard that gives a matrix the
  name of a parent for a while.
*/
#include "aijfmt.h"
#include "sys/compose.h"

static const char container_name[] = "MatAIJFmt";

enum { ALIGNMENT = 64 /* one cache line, one AVX-512 register */ };

/* Packed arrays come from PetscMalloc(), so that -malloc_dump, -malloc_view and -malloc_debug see them. The pointer
   that PetscMalloc() gave lies just before the aligned block. */
static void *HostAlloc(PETSC_UNUSED void *ctx, size_t bytes)
{
  char  *block;
  void **aligned;

  if (PetscMalloc1(bytes + ALIGNMENT + sizeof(void *), &block)) return NULL;
  aligned     = (void **)(((size_t)block + sizeof(void *) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  aligned[-1] = block;
  return aligned;
}

/* The hook returns no error code: if PetscFree() finds the heap damaged, it reports the error and the run ends */
static void HostFree(PETSC_UNUSED void *ctx, void *aligned)
{
  void *block;

  if (!aligned) return;
  block = ((void **)aligned)[-1]; /* copied out, because PetscFree() clears its argument */
  PetscCallAbort(PETSC_COMM_SELF, PetscFree(block));
}

/* Drops the plan and all data that belongs to it; keeps options and counters */
PetscErrorCode AIJFmtStateForget(Mat_AIJFmt *s)
{
  PetscFunctionBegin;
  AIJFmtPlanDrop(&s->cache, &s->exec);
  s->why[AIJFMT_WHY_PARENT][0] = s->why[AIJFMT_WHY_SPACE][0] = s->why[AIJFMT_WHY_TRANSPOSED][0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What views and -info write before a reason */
const char *const AIJFmtWhyLabels[AIJFMT_WHY_COUNT] = {
    [AIJFMT_WHY_PARENT]     = "products by the parent type",
    [AIJFMT_WHY_TRANSPOSED] = "transposed products by the parent type",
    [AIJFMT_WHY_PRODUCT]    = "last product by the parent type",
    [AIJFMT_WHY_SPACE]      = "not on the GPU",
    [AIJFMT_WHY_VALUES]     = "values changed",
    [AIJFMT_WHY_GRAPH]      = "graph by PETSc",
    [AIJFMT_WHY_PATTERN]    = "product of matrices on the host",
    [AIJFMT_WHY_NUMERIC]    = "values of a product of matrices on the host",
    [AIJFMT_WHY_TRANSPOSE]  = "transposed matrix by the parent type",
    [AIJFMT_WHY_SWEEP]      = "sweeps of MatSOR() by the parent type",
    [AIJFMT_WHY_INODES]     = "columns brought to the host for the inodes of",
    [AIJFMT_WHY_COO]        = "coordinates on the host",
};

/* Keeps a reason for views, and writes it to -info */
PetscErrorCode AIJFmtExplain(Mat A, Mat_AIJFmt *s, AIJFmtWhy why, const char *reason)
{
  PetscFunctionBegin;
  PetscCall(PetscStrncpy(s->why[why], reason, sizeof s->why[why]));
  PetscCall(PetscInfo(A, "%s: %s\n", AIJFmtWhyLabels[why], reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the list of all states whose values may be on the device only: places.c, MATSEQMAIJ ---- */

void AIJFmtListAdd(Mat_AIJFmt *s)
{
  if (s->listed || s->parallel) return;
  s->listed = PETSC_TRUE;
  s->before = NULL;
  s->after  = aijfmt_process.listed;
  if (s->after) s->after->before = s;
  aijfmt_process.listed = s;
}

void AIJFmtListRemove(Mat_AIJFmt *s)
{
  if (!s->listed) return;
  if (s->after) s->after->before = s->before;
  if (s->before) s->before->after = s->after;
  else aijfmt_process.listed = s->after;
  s->listed = PETSC_FALSE;
}

/* A header is being freed. A state that has moved to another header learns that at its next use. */
void AIJFmtListHeaderFreed(PetscObject header)
{
  for (Mat_AIJFmt *s = aijfmt_process.listed; s; s = s->after)
    if ((PetscObject)s->self == header) s->self = NULL;
}

/* Frees the copy of the arrays that a set-up has made: arrays.c */
void AIJFmtCopyFree(Mat_AIJFmt *s)
{
  Mat_AIJFmt **link = &aijfmt_process.copied;

  if (!s->copy.block) return;
  spmv_scratch_free(&s->copy.exec, SPMV_DEVICE, s->copy.block);
  s->copy.block = NULL;
  while (*link != s) link = &(*link)->copy.after;
  *link = s->copy.after;
}

static PetscErrorCode StateFree_AIJFmt(void *ctx)
{
  Mat_AIJFmt *s = (Mat_AIJFmt *)ctx;

  PetscFunctionBegin;
  AIJFmtListRemove(s);
  AIJFmtCopyFree(s);
  PetscCall(AIJFmtStateForget(s));
  PetscCall(aijfmt_process.coo_free(&s->coo));
  AIJFmtVectorFree(&s->exec, &s->x);
  AIJFmtVectorFree(&s->exec, &s->y);
  PetscCall(AIJFmtChoiceForget(s));
  PetscCall(PetscFree(s->choice));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AIJFMT_CONTAINER_DESTRUCTOR(StateDestroy_AIJFmt, StateFree_AIJFmt)

/* The state of A. A matrix that was of a type of ours still has it: the container stays when the type changes. */
PetscErrorCode AIJFmtStateOfAnyType(Mat A, Mat_AIJFmt **state)
{
  PetscFunctionBegin;
  PetscCall(PetscPackStateQuery((PetscObject)A, container_name, (void **)state));
  if (*state) (*state)->self = A;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The state of A, or NULL if A is not of one of our types. A matrix that keeps PETSc's name and that PETSc has converted
   to another subclass and back has that name again, but not our operations. */
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
  if (same && AIJFmtKeepsName(s) && A->ops->duplicate != aijfmt_process.duplicate) same = PETSC_FALSE;
  *state = same ? s : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The state of A; an error if A is not of one of our types */
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

/* Gets the existing state of A and drops its plan, or makes a new state. fresh: it is new */
PetscErrorCode AIJFmtStateCompose(Mat A, Mat_AIJFmt **state, PetscBool *fresh)
{
  Mat_AIJFmt *s = NULL; /* gcc does not see that it is set whenever the call succeeds */

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
    PetscCall(PetscPackStateCompose((PetscObject)A, container_name, s, StateDestroy_AIJFmt));
  }
  *state = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the options of `from`, which is of the same format, to `to`. Its plan stays if the options do not change
   it. */
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

/* The parent of a matrix of ours. A matrix may have our operations without a state: during MatHeaderMerge(), and in a
   subclass that PETSc made from a matrix of ours, as with -mat_seqaij_type. Then the answer is the host parent. */
PetscErrorCode AIJFmtParentOf(Mat A, const AIJFmtParent **parent)
{
  Mat_AIJFmt *s = NULL; /* gcc does not see that it is set whenever the call succeeds */

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s) *parent = s->parent;
  else PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, parent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the choice of aijauto ---- */

PetscBool AIJFmtIsAuto(const Mat_AIJFmt *s)
{
  return s->format_options.format == &AIJFmtAutoTable ? PETSC_TRUE : PETSC_FALSE;
}

/* Whether the format has GPU kernels, or for aijauto, any of the formats */
PetscBool AIJFmtHasKernels(const Mat_AIJFmt *s)
{
  return s->format_options.format->device || AIJFmtIsAuto(s) ? PETSC_TRUE : PETSC_FALSE;
}

/* The format and options for the plan of this matrix; for aijauto, those of the choice */
const SpmvOptions *AIJFmtPlanOptions(const Mat_AIJFmt *s)
{
  return AIJFmtIsAuto(s) && s->choice && s->choice->options.format ? &s->choice->options : &s->format_options;
}

/* Frees the plan put aside; returns whether there was one */
PetscBool AIJFmtTrialAsideFree(Mat_AIJFmt *s)
{
  const PetscBool had = s->choice->aside.cache.plan ? PETSC_TRUE : PETSC_FALSE;

  AIJFmtPlanDrop(&s->choice->aside.cache, &s->exec);
  return had;
}

/* Frees the data of a choice, so that the next product chooses again */
PetscErrorCode AIJFmtChoiceForget(Mat_AIJFmt *s)
{
  PetscFunctionBegin;
  if (!s->choice) PetscFunctionReturn(PETSC_SUCCESS);
  s->choice->valid = s->choice->trial = PETSC_FALSE;
  PetscCall(AIJFmtChoiceAnalysisClear(s));
  (void)AIJFmtTrialAsideFree(s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the analysis, and outside of a trial also the pattern on the GPU */
PetscErrorCode AIJFmtChoiceAnalysisClear(Mat_AIJFmt *s)
{
  PetscFunctionBegin;
  if (!s->choice) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->choice->analyzed) spmv_analysis_clear(&s->choice->analysis, &s->exec);
  s->choice->analyzed = 0;
  if (s->choice->trial) PetscFunctionReturn(PETSC_SUCCESS);
  spmv_exec_free(&s->exec, SPMV_DEVICE, s->choice->on_gpu);
  s->choice->on_gpu          = NULL;
  s->choice->pattern.row_ptr = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- blocks of a parallel matrix ---- */

/* The diagonal and the off-diagonal block; NULL before preallocation */
PetscErrorCode AIJFmtBlocksGet(Mat A, Mat blocks[2])
{
  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the block sizes of the matrix to the diagonal block, because preconditioners invert its point blocks: the
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

/* Copies changed options to the blocks that are ours already; other blocks get them at assembly */
PetscErrorCode AIJFmtBlocksCopyOptions(Mat A, const Mat_AIJFmt *of_matrix)
{
  Mat blocks[2];

  PetscFunctionBegin;
  PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < 2; b++) {
    Mat_AIJFmt *of_block = NULL;

    if (blocks[b]) PetscCall(AIJFmtStateGet(blocks[b], &of_block));
    if (of_block && of_block->row == of_matrix->row) PetscCall(AIJFmtStateCopyOptions(of_matrix, of_block));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
