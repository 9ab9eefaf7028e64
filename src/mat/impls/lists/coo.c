/*
  coo.c - MatSetPreallocationCOO() on the GPU (decision 0047): the map of a list, the choice between the GPU and PETSc,
  and lists of sequential matrices.

  The kernel library sorts the list on the GPU and keeps the map from entries to nonzeros there; the host gets only the
  pattern, as in every MATSEQAIJ. If the GPU cannot sort the list, PETSc's own functions handle the list and its values.
  A matrix has at most one map: ours, or the struct that PETSc composes.
*/
#include "coo.h"
#include "parallel/processes.h"
#include <petscdevice.h>

typedef PetscErrorCode PreallocateCOO(Mat, PetscCount, PetscInt[], PetscInt[]);
typedef PetscErrorCode SetValuesCOO(Mat, const PetscScalar[], InsertMode);

static const AIJFmtComposed composed[] = {AIJFMT_PREALLOCATE_COO, AIJFMT_SET_VALUES_COO};

/* ---- the map, shared by duplicates ---- */

PetscErrorCode AIJFmtCooCreate(int64_t count, AIJFmtCoo **coo)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(coo));
  (*coo)->users = 1;
  (*coo)->count = count;
  spmv_exec_init(&(*coo)->exec, SPMV_DEVICE);
  PetscCall(AIJFmtCudaStream(&(*coo)->exec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtCooFree(AIJFmtCoo **map)
{
  AIJFmtCoo *coo = *map;

  PetscFunctionBegin;
  *map = NULL;
  if (!coo || --coo->users > 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 2; k++) {
    spmv_coo_destroy(&coo->block[k]);
    spmv_pinned_free(coo->here[k]);
  }
  spmv_coo_others_destroy(&coo->others);
  spmv_exec_free(&coo->exec, coo->exec.space, coo->values);
  PetscCall(PetscPackNeighboursDestroy(&coo->neighbours));
  PetscCall(PetscFree(coo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The nonzero states that tell a later change of the pattern. `raised` is added to the state of the matrix, because
   MatSetPreallocationCOO() increments it after the composed function has returned. */
static PetscErrorCode CooStates_AIJFmt(Mat A, const Mat_AIJFmt *s, PetscObjectState raised, PetscObjectState state[2])
{
  Mat blocks[2];

  PetscFunctionBegin;
  state[0] = A->nonzerostate + raised;
  state[1] = 0;
  if (!s->parallel) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < 2; b++) state[b] = blocks[b]->nonzerostate;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A has got the pattern of coo. Its state takes ownership of coo, and PETSc's struct of an earlier list is removed. */
PetscErrorCode AIJFmtCooPatternDone(Mat A, Mat_AIJFmt *s, AIJFmtCoo *coo)
{
  static const char *const structs[] = {"__PETSc_MatCOOStruct_Host", "__PETSc_MatCOOStruct_Device"};

  PetscFunctionBegin;
  for (size_t n = 0; n < PETSC_STATIC_ARRAY_LENGTH(structs); n++)
    PetscCall(PetscObjectCompose((PetscObject)A, structs[n], NULL));
  s->coo = coo;
  PetscCall(AIJFmtRan(A, AIJFMT_WHY_COO, ""));
  PetscCall(CooStates_AIJFmt(A, s, 1, s->coo_state));
  if (s->parallel) PetscFunctionReturn(PETSC_SUCCESS);
  s->checked_state = s->coo_state[0];
  PetscCall(AIJFmtSharedKeep(A, s, s->coo_state[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the pattern is that of the list. Otherwise the map would write beyond the end of the values, or to wrong
   nonzeros. */
PetscErrorCode AIJFmtCooHolds(Mat A, const Mat_AIJFmt *s, PetscBool *holds)
{
  PetscObjectState now[2];

  PetscFunctionBegin;
  PetscCall(CooStates_AIJFmt(A, s, 0, now));
  *holds = now[0] == s->coo_state[0] && now[1] == s->coo_state[1] ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Shares the map with the duplicate B, as PETSc's MatDuplicate() does with its struct (from 3.20 on) */
PetscErrorCode AIJFmtCooShare(Mat A, const Mat_AIJFmt *from, Mat B, Mat_AIJFmt *to)
{
  PetscBool holds = PETSC_FALSE;

  PetscFunctionBegin;
  to->off_process = from->off_process;
  if (from->coo && !to->coo) PetscCall(AIJFmtCooHolds(A, from, &holds));
  if (!holds) PetscFunctionReturn(PETSC_SUCCESS);
  from->coo->users++;
  to->coo = from->coo;
  PetscCall(CooStates_AIJFmt(B, to, 0, to->coo_state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A has got a parent type, whose MatSetValuesCOO() does not know our map: keeps our composed functions on A as long as
   A has the map */
PetscErrorCode AIJFmtCooStay(Mat A, const Mat_AIJFmt *s)
{
  PetscFunctionBegin;
  for (size_t f = 0; s->coo && f < PETSC_STATIC_ARRAY_LENGTH(composed); f++)
    PetscCall(PetscObjectComposeFunction((PetscObject)A, AIJFmtComposedNames[composed[f]],
                                         aijfmt_process.composition_table[composed[f]].ours[s->parallel]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called before PETSc takes a new list: frees our map. A matrix that has left our types gets PETSc's composed functions
   back. */
static PetscErrorCode CooLeave_AIJFmt(Mat A, Mat_AIJFmt *s)
{
  Mat_AIJFmt *ours;

  PetscFunctionBegin;
  PetscCall(AIJFmtCooFree(&s->coo));
  PetscCall(AIJFmtStateGet(A, &ours));
  for (size_t f = 0; !ours && f < PETSC_STATIC_ARRAY_LENGTH(composed); f++)
    PetscCall(PetscObjectComposeFunction((PetscObject)A, AIJFmtComposedNames[composed[f]],
                                         s->parent->composed[composed[f]][s->parallel]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- by PETSc ---- */

/* The parent type of A; if A has left our types, its own type */
static PetscErrorCode ParentOf(Mat A, const AIJFmtParent **parent)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  *parent = NULL;
  if (!s) PetscCall(AIJFmtParentFind(((PetscObject)A)->type_name, parent));
  if (!*parent) PetscCall(AIJFmtParentOf(A, parent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lets PETSc sort the list on the host and keep the map. reason: NULL if A is not of our types. The CUDA parent makes
   new blocks of its own type here; they become ours at assembly. */
static PetscErrorCode AIJFmtCooByParent(Mat A, PetscCount n, PetscInt i[], PetscInt j[], const char reason[])
{
  const AIJFmtParent *parent;
  PetscBool           parallel;
  Mat_AIJFmt         *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateOfAnyType(A, &s));
  if (s) PetscCall(CooLeave_AIJFmt(A, s));
  if (s && reason) PetscCall(AIJFmtRan(A, AIJFMT_WHY_COO, reason));
  PetscCall(PetscStrbeginswith(((PetscObject)A)->type_name, "mpi", &parallel));
  PetscCall(ParentOf(A, &parent));
  AIJFmtAs(A, AIJFMT_PARENT_CUDA, ((PreallocateCOO *)parent->composed[AIJFMT_PREALLOCATE_COO][parallel])(A, n, i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's function may have set values only on the device. A block that keeps_host needs them on the host, too. */
static PetscErrorCode FollowOnHost(Mat A)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s && s->keeps_host) PetscCall(AIJFmtHostFetch(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtCooValuesByParent(Mat A, const PetscScalar values[], InsertMode mode)
{
  Mat                 blocks[2] = {A, NULL};
  const AIJFmtParent *parent;
  PetscBool           parallel;

  PetscFunctionBegin;
  PetscCall(PetscStrbeginswith(((PetscObject)A)->type_name, "mpi", &parallel));
  PetscCall(ParentOf(A, &parent));
  if (parallel) PetscCall(AIJFmtBlocksGet(A, blocks));
  AIJFmtAsAll(2, blocks, AIJFMT_PARENT_CUDA,
              ((SetValuesCOO *)parent->composed[AIJFMT_SET_VALUES_COO][parallel])(A, values, mode));
  for (int b = 0; b < 2; b++)
    if (blocks[b]) PetscCall(FollowOnHost(blocks[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the choice between GPU and PETSc ---- */

/* reason: why PETSc must sort; "" if the GPU can. *asks: whether the GPU should, if it can; -mat_aijfmt_device auto
   leaves short lists to PETSc. */
PetscErrorCode AIJFmtCooWhyHost(Mat A, const Mat_AIJFmt *s, PetscCount n, char reason[SPMV_MESSAGE_MAX],
                                PetscBool *asks)
{
  const char *text = AIJFmtWhyNotDevice(A, s, PETSC_FALSE);
  PetscBool   hypre;

  PetscFunctionBegin;
  *asks = AIJFmtAsksDevice(s, n, AIJFmtIsOverCuda(s));
  PetscCall(PetscStrcmp("_internal_COO_mat_for_hypre", ((PetscObject)A)->name, &hypre));
  if (!text && hypre) text = "hypre wants the diagonal first in each row";
  else if (!text && !AIJFmtHasKernels(s)) text = "the format has no kernels for the GPU";
  PetscCall(PetscStrncpy(reason, text ? text : "", SPMV_MESSAGE_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Decides between GPU and PETSc for all processes together: a reason is set on all of them or on none. It may be set
   before. Collective. */
PetscErrorCode AIJFmtCooAgree(Mat A, const Mat_AIJFmt *s, PetscCount n, char reason[SPMV_MESSAGE_MAX])
{
  PetscBool   asks = PETSC_FALSE;
  const char *why;

  PetscFunctionBegin;
  if (!reason[0]) PetscCall(AIJFmtCooWhyHost(A, s, n, reason, &asks));
  why = reason[0] ? reason : NULL;
  PetscCall(PetscPackVote(PetscObjectComm((PetscObject)A), asks, "its entries are too few for the GPU", &why));
  if (why && why != reason) PetscCall(PetscStrncpy(reason, why, SPMV_MESSAGE_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A PETSc without devices takes every array for one on the host */
PetscErrorCode AIJFmtCooSpaceOf(const void *array, SpmvSpace *space)
{
  PetscMemType type = PETSC_MEMTYPE_HOST;

  PetscFunctionBegin;
  if (array) PetscCall(PetscGetMemType(array, &type));
  *space = PetscMemTypeDevice(type) ? SPMV_DEVICE : SPMV_HOST;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a block that has just got its pattern ready for values. Values on the device belong to the previous pattern, so
   the host's are marked as current first. With the CUDA parent the CSR on the device is made here, without uploading
   values. zeroes: the values must be 0 until they are set, as after MatSetPreallocationCOO() */
PetscErrorCode AIJFmtCooReady(Mat block, PetscBool zeroes)
{
  AIJFmtArrays to = {.fresh = PETSC_TRUE};
  SpmvStatus   status;
  Mat_AIJFmt  *s;

  PetscFunctionBegin;
  AIJFmtParentCsrStale(block);
  PetscCall(AIJFmtStateGet(block, &s));
  if (s) PetscCall(AIJFmtNewValuesDecide(block, s, "MatSetPreallocationCOO()", &to.stays));
  if (to.stays) {
    PetscCall(AIJFmtArraysGet(block, AIJFMT_VALUES, AIJFMT_WRITE, &s->exec, &to, &status));
    PetscCall(AIJFmtArraysRestore(block, &s->exec, &to, &status));
  }
  if (zeroes) PetscCall(MatZeroEntries(block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An index outside the matrix is an error, as in PETSc's functions from 3.24 on. Any other refusal of the kernel
   library is a reason to give the unchanged list to PETSc. */
PetscErrorCode AIJFmtCooRefuse(const SpmvExec *exec, SpmvStatus status, char reason[SPMV_MESSAGE_MAX])
{
  PetscFunctionBegin;
  PetscCheck(status != SPMV_ERR_MATRIX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "MatSetPreallocationCOO(): %s",
             exec->message);
  PetscCall(AIJFmtRefuse(exec, status, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CooSort_SeqAIJFmt(Mat A, AIJFmtCoo *coo, const PetscInt i[], const PetscInt j[], SpmvSpace space,
                                        char reason[SPMV_MESSAGE_MAX])
{
  SpmvCooList list = {.part       = {{.count = coo->count, .i = i, .j = j}},
                      .index_type = AIJFMT_INDEX,
                      .space      = space,
                      .all_rows   = A->rmap->N,
                      .all_cols   = A->cmap->N,
                      .rows       = A->rmap->n,
                      .own_cols   = A->cmap->n};

  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(AIJFmtCooRefuse(&coo->exec, spmv_coo_create(&list, &coo->exec, &coo->block[0]), reason));
  PetscCall(PetscLogGpuTimeEnd());
  if (space == SPMV_HOST) PetscCall(PetscLogCpuToGpu(2.0 * (PetscLogDouble)coo->count * (PetscLogDouble)sizeof *i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The text of MatView() about a list that the GPU has sorted */
PetscErrorCode AIJFmtCooText(const AIJFmtCoo *coo, char text[], size_t size)
{
  int64_t entries, bytes, all = 0, held = 0;

  PetscFunctionBegin;
  for (int b = 0; b < 2; b++) {
    if (!coo->block[b]) continue;
    spmv_coo_info(coo->block[b], &entries, &bytes);
    all += entries;
    held += bytes;
  }
  PetscCall(PetscSNPrintf(text, size, "%lld with a place, which take %lld bytes %s", (long long)all, (long long)held,
                          coo->exec.space == SPMV_DEVICE ? "there" : "on the host by now"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives a sequential A the pattern of a list whose arrays lie in `space`, and keeps the map; zeroes: and values of 0. On
   failure there is a reason, and A is unchanged. */
PetscErrorCode AIJFmtCooSequential(Mat A, Mat_AIJFmt *s, PetscCount n, const PetscInt i[], const PetscInt j[],
                                   SpmvSpace space, PetscBool zeroes, char reason[SPMV_MESSAGE_MAX])
{
  AIJFmtCoo  *coo = NULL; /* gcc does not see that it is set whenever the call succeeds */
  SpmvPattern pattern;

  PetscFunctionBegin;
  PetscCall(AIJFmtCooFree(&s->coo));
  PetscCall(AIJFmtCooCreate(n, &coo));
  PetscCall(CooSort_SeqAIJFmt(A, coo, i, j, space, reason));
  if (reason[0]) {
    PetscCall(AIJFmtCooFree(&coo));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  spmv_coo_pattern(coo->block[0], &pattern);
  AIJFmtParentCsrStale(A); /* or the assembly would fetch values of the old pattern from the device */
  PetscCall(AIJFmtPatternFromDevice(A, &pattern, PETSC_FALSE, &coo->exec));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_TRUE));
  PetscCall(AIJFmtCooReady(A, zeroes));
  PetscCall(AIJFmtCooPatternDone(A, s, coo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetPreallocationCOO_AIJFmt(Mat A, PetscCount n, PetscInt i[], PetscInt j[])
{
  char        reason[SPMV_MESSAGE_MAX] = "";
  SpmvSpace   space                    = SPMV_HOST; /* gcc does not see that it is set whenever the call succeeds */
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  PetscCall(AIJFmtCooSpaceOf(i, &space));
  if (s) PetscCall(AIJFmtCooAgree(A, s, n, reason));
  if (s && !reason[0])
    PetscCall((s->parallel ? AIJFmtCooParallel : AIJFmtCooSequential)(A, s, n, i, j, space, PETSC_TRUE, reason));
  if (!s || reason[0]) PetscCall(AIJFmtCooByParent(A, n, i, j, s ? reason : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
