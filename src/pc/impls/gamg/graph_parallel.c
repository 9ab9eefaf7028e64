/*
  graph_parallel.c - MatCreateGraph() of a parallel matrix, with the GPU of each process.

  With blocks, each process collapses its two blocks on the GPU (or on the host, if GPU memory does not suffice), and
  PETSc's own function makes the graph of the collapsed matrix. Without blocks there is nothing to collapse: the GPU
  does all steps for the diagonal block, and graph_others.c does them for the edges to other processes.
*/
#include "graph.h"
#include "parallel/processes.h"

/* Maps each column of the off-diagonal block to the column of its edge, in the memory of the source */
static PetscErrorCode SetGroups(AIJFmtGraphSource *from, PetscInt n, PetscInt bs, const PetscInt *global,
                                SpmvStatus *status)
{
  const int64_t bytes = n * (int64_t)sizeof(PetscInt);
  PetscInt     *groups;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n + 1, &groups));
  for (PetscInt c = 0; c < n; c++) groups[c] = global[c] / bs;
  *status = spmv_alloc(&from->exec, from->exec.space, bytes + 1, "blocks of columns", &from->group);
  if (!*status) *status = spmv_copy(from->group, from->exec.space, groups, SPMV_HOST, bytes, &from->exec);
  if (!*status) *status = spmv_stream_wait(&from->exec);
  PetscCall(PetscFree(groups));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The two blocks of a process */
typedef struct {
  Mat               block[2];
  const PetscInt   *global; /* the columns of the off-diagonal block; NULL: it has none */
  PetscInt          bs;
  PetscBool         full; /* PETSc treats both blocks as full */
  AIJFmtGraphSource source[2];
} Pair;

/* Collapses a block in the memory of its source */
static PetscErrorCode CollapseThere(Mat A, const AIJFmtGraphRequest *r, Pair *pair, int b, SpmvGraph **graph,
                                    SpmvStatus *status)
{
  AIJFmtGraphSource *from = &pair->source[b];
  SpmvGraphOptions o = {.block_size = pair->bs, .blocks = pair->full ? SPMV_GRAPH_FULL_BLOCKS : SPMV_GRAPH_ANY_BLOCKS};

  PetscFunctionBegin;
  *graph  = NULL;
  *status = AIJFmtGraphSetIndex(r, &o, &from->exec);
  if (!*status && b == 1) PetscCall(SetGroups(from, pair->block[1]->cmap->n, pair->bs, pair->global, status));
  if (b == 1) {
    o.group       = from->group;
    o.group_count = A->cmap->N / pair->bs;
  }
  if (!*status) *status = spmv_graph_create(&from->a.csr, &o, &from->exec, graph);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collapses a block, on the host if device memory does not suffice; the block counts it */
static PetscErrorCode Collapse(Mat A, const AIJFmtGraphRequest *r, Pair *pair, int b, SpmvGraph **graph)
{
  AIJFmtGraphSource *from = &pair->source[b];
  SpmvStatus         status;

  PetscFunctionBegin;
  if (from->reason[0]) PetscCall(AIJFmtGraphSourceToHost(pair->block[b], from));
  PetscCall(CollapseThere(A, r, pair, b, graph, &status));
  if (from->exec.space == SPMV_DEVICE && status == SPMV_ERR_MEMORY) {
    PetscCall(PetscStrncpy(from->reason, from->exec.message, sizeof from->reason));
    PetscCall(AIJFmtGraphSourceToHost(pair->block[b], from));
    PetscCall(CollapseThere(A, r, pair, b, graph, &status));
  }
  AIJFmtCallSpmv(&from->exec, status);
  PetscCall(AIJFmtRan(pair->block[b], AIJFMT_WHY_GRAPH, from->reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix with one entry per block of A; both have the same graph */
static PetscErrorCode Collapsed(Mat A, const AIJFmtGraphRequest *r, Pair *pair, Mat *small)
{
  AIJFmtGraphParts p     = {.count = 2, .source = pair->source};
  PetscErrorCode   error = PETSC_SUCCESS;

  PetscFunctionBegin;
  for (int b = 0; b < 2 && !error; b++) error = Collapse(A, r, pair, b, &p.graph[b]);
  if (!error) error = AIJFmtGraphCreateLike(A, A->rmap->n / pair->bs, small);
  if (!error) error = AIJFmtGraphAssemble(&p, *small);
  if (error) (void)MatDestroy(small);
  PetscCall(AIJFmtGraphPartsFree(&p));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's function makes the same graph of the collapsed matrix as it would have made after collapsing A itself */
static PetscErrorCode FinishParallel(Mat A, const AIJFmtGraphRequest *r, Mat small, Mat *graph)
{
  const AIJFmtParent *parent;
  const PetscBool     known = A->symmetric == PETSC_BOOL3_TRUE ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentOf(A, &parent));
  if (!r->symmetrize) PetscCall(MatPropagateSymmetryOptions(A, small));
  else if (known) PetscCall(MatSetOption(small, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(AIJFmtCallGraph(parent->mpi.creategraph, small, r->symmetrize, r->scale, r->filter, 0, NULL, graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies both blocks to the device and checks whether they are full. possible: this process can do its part. */
static PetscErrorCode PairGet(Mat A, Pair *pair, PetscBool *possible)
{
  PetscBool  full[2], confused[2];
  SpmvStatus status;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &pair->block[0], &pair->block[1], &pair->global));
  PetscCall(MatGetBlockSize(A, &pair->bs));
  *possible = PETSC_TRUE;
  for (int b = 0; b < 2; b++) {
    AIJFmtGraphSource *from = &pair->source[b];

    PetscCall(AIJFmtGraphSourceGet(pair->block[b], from, &status));
    if (!status) status = AIJFmtGraphLookAtBlocks(from, pair->bs, &full[b], &confused[b]);
    if (status == SPMV_ERR_MEMORY) {
      PetscCall(PetscStrncpy(from->reason, from->exec.message, sizeof from->reason));
      PetscCall(AIJFmtGraphSourceToHost(pair->block[b], from));
      status = AIJFmtGraphLookAtBlocks(from, pair->bs, &full[b], &confused[b]);
    }
    if (status || confused[b]) *possible = PETSC_FALSE;
    if (!status && confused[b]) PetscCall(PetscStrncpy(from->reason, AIJFmtGraphConfused, sizeof from->reason));
    else if (status) PetscCall(PetscStrncpy(from->reason, from->exec.message, sizeof from->reason));
  }
  pair->full = *possible && full[0] && full[1] && pair->global ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- without blocks ---- */

/* The graph of the diagonal block; on the host if device memory does not suffice */
static PetscErrorCode Mine(Mat A, const AIJFmtGraphRequest *r, Mat block, AIJFmtGraphSource *from, SpmvGraph **graph,
                           SpmvStatus *status)
{
  PetscFunctionBegin;
  *graph = NULL;
  PetscCall(AIJFmtGraphSourceGet(block, from, status));
  PetscCall(PetscLogGpuTimeBegin());
  if (!*status) *status = AIJFmtGraphMake(A, r, from, graph);
  PetscCall(PetscLogGpuTimeEnd());
  if (*status != SPMV_ERR_MEMORY) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrncpy(from->reason, from->exec.message, sizeof from->reason));
  PetscCall(AIJFmtGraphSourceToHost(block, from));
  *status = AIJFmtGraphMake(A, r, from, graph);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assembles both blocks into one matrix */
static PetscErrorCode Join(Mat A, const AIJFmtGraphRequest *r, AIJFmtGraphParts *p, Mat *graph)
{
  AIJFmtGraphOthers others = {.row_ptr = NULL};
  PetscErrorCode    error;

  PetscFunctionBegin;
  PetscCall(AIJFmtGraphOthersGet(A, r, p->source, &others));
  p->others = &others.csr;
  PetscCall(AIJFmtGraphCreateLike(A, A->rmap->n, graph));
  error = AIJFmtGraphAssemble(p, *graph);
  PetscCall(AIJFmtGraphOthersFree(&others));
  PetscCall(error);
  PetscCall(AIJFmtGraphSetSymmetry(A, r, *graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WithoutBlocks(Mat A, Mat_AIJFmt *s, const AIJFmtGraphRequest *r, Mat *graph)
{
  AIJFmtGraphSource from;
  AIJFmtGraphParts  p      = {.count = 2, .source = &from};
  SpmvStatus        status = SPMV_SUCCESS; /* gcc does not see that it is set whenever the call succeeds */
  PetscErrorCode    error  = PETSC_SUCCESS;
  Mat               block;
  char              reason[SPMV_MESSAGE_MAX] = "";

  PetscFunctionBegin;
  *graph = NULL;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &block, NULL, NULL));
  PetscCall(Mine(A, r, block, &from, &p.graph[0], &status));
  PetscCall(AIJFmtRefuse(&from.exec, status, reason));
  PetscCall(PetscPackAgree(PetscObjectComm((PetscObject)A), reason));
  if (!reason[0]) error = Join(A, r, &p, graph);
  if (error) (void)MatDestroy(graph);
  if (!error && !reason[0]) error = AIJFmtRan(block, AIJFMT_WHY_GRAPH, from.reason);
  PetscCall(AIJFmtGraphPartsFree(&p));
  PetscCall(AIJFmtGraphSourceRestore(block, &from));
  PetscCall(error);
  if (reason[0]) PetscCall(AIJFmtGraphByPetsc(A, s, r, reason, graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- with blocks ---- */

static PetscErrorCode WithBlocks(Mat A, Mat_AIJFmt *s, const AIJFmtGraphRequest *r, Mat *graph)
{
  Pair           pair;
  Mat            small    = NULL;
  PetscBool      possible = PETSC_FALSE; /* gcc does not see that it is set whenever the call succeeds */
  PetscErrorCode error    = PETSC_SUCCESS;
  char           reason[SPMV_MESSAGE_MAX];

  PetscFunctionBegin;
  PetscCall(PairGet(A, &pair, &possible));
  PetscCall(PetscPackAll(PetscObjectComm((PetscObject)A), &possible));
  if (possible) error = Collapsed(A, r, &pair, &small);
  PetscCall(PetscStrncpy(reason, pair.source[pair.source[0].reason[0] ? 0 : 1].reason, sizeof reason));
  for (int b = 0; b < 2; b++) PetscCall(AIJFmtGraphSourceRestore(pair.block[b], &pair.source[b]));
  PetscCall(error);
  if (possible) PetscCall(FinishParallel(A, r, small, graph));
  else PetscCall(AIJFmtGraphByPetsc(A, s, r, reason[0] ? reason : "another process cannot make its part", graph));
  PetscCall(MatDestroy(&small));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the graph of the own vertices alone, which stays on the device ---- */

/* *graph: empty, or NULL if a process cannot make its part */
static PetscErrorCode KeepParallel(Mat A, const AIJFmtGraphRequest *r, Mat *graph)
{
  char              reason[SPMV_MESSAGE_MAX] = "";
  SpmvGraph        *made                     = NULL;
  Mat               block;
  AIJFmtGraphSource from;
  SpmvStatus        status;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &block, NULL, NULL));
  PetscCall(AIJFmtGraphSourceGet(block, &from, &status));
  PetscCall(PetscLogGpuTimeBegin());
  if (!status) status = AIJFmtGraphMake(A, r, &from, &made);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(AIJFmtGraphSourceRestore(block, &from));
  PetscCall(AIJFmtRefuse(&from.exec, status, reason));
  PetscCall(PetscPackAgree(PetscObjectComm((PetscObject)A), reason));
  if (reason[0]) {
    spmv_graph_destroy(&made);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(AIJFmtGraphKept(A, &made, graph));
  PetscCall(AIJFmtRan(block, AIJFMT_WHY_GRAPH, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateParallel(Mat A, PetscBool symmetrize, PetscBool scale, PetscReal filter, PetscInt n,
                                     PetscInt index[], Mat *graph)
{
  const AIJFmtGraphRequest r = {symmetrize, scale, filter, n, index};
  Mat_AIJFmt              *s;
  PetscInt                 bs;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  PetscCall(MatGetBlockSize(A, &bs));
  PetscCall(AIJFmtGraphLeave(A, s, &r, graph));
  if (!*graph && aijfmt_process.graph) PetscCall(KeepParallel(A, &r, graph));
  if (*graph) PetscFunctionReturn(PETSC_SUCCESS);
  if (bs == 1) PetscCall(WithoutBlocks(A, s, &r, graph));
  else PetscCall(WithBlocks(A, s, &r, graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AIJFMT_GRAPH(MatCreateGraph_MPIAIJFmt, CreateParallel)
