/* The state of a matrix of ours: made once, kept in a container composed on the Mat, freed with the Mat's header. */
#include "seqaijfmt.h"
#include "cuda.h"

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
  if (s->plan) {
    spmv_exec_free(&s->exec, s->plan->space, s->work);
    spmv_destroy(&s->plan);
  }
  s->work            = NULL;
  s->plan            = NULL;
  s->key_valid       = PETSC_FALSE;
  s->transpose_ready = PETSC_FALSE;
  s->reason[0] = s->space_reason[0] = s->transpose_reason[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StateFree(void *ctx)
{
  Mat_AIJFmt *s = (Mat_AIJFmt *)ctx;

  PetscFunctionBegin;
  AIJFmtCudaUnlist(s);
  PetscCall(AIJFmtStateForget(s));
  PetscCall(AIJFmtBufferFree(s, &s->buffer_x));
  PetscCall(AIJFmtBufferFree(s, &s->buffer_y));
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
PetscErrorCode AIJFmtStateCompose(Mat A, Mat_AIJFmt **state, PetscBool *fresh)
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
