/*
  graph.c - MatCreateGraph() on the GPU, by the kernels of src/kernels/graph: the matrix by whose graph PCGAMG coarsens.

  For a sequential matrix, all steps run on the GPU; the graph is copied to the host once, where PETSc's coarsening
  reads its arrays. The graph has the type of the matrix, so that its square is found on the GPU too. It would get a
  plan with its first product with a vector, but coarsening makes none. graph_parallel.c serves parallel matrices.

  The definition of the graph depends on the version of PETSc: see compat.h. Graphs that cannot be made here are made by
  PETSc's function; each is counted, and the view shows the reason.
*/
#include "graph.h"
#include "parallel/processes.h"

/* ---- which graphs are made here ---- */

/* Why PETSc must make the graph of A, or NULL. asks: as with products of matrices, `auto` leaves small matrices with
   values on the host to the host */
static PetscErrorCode GraphWhyNot(Mat A, const Mat_AIJFmt *s, const char **reason, PetscBool *asks)
{
  int64_t   nonzeros;
  PetscBool views[2], there;

  PetscFunctionBegin;
  *reason = AIJFmtWhyNotDevice(A, s, PETSC_TRUE);
  *asks   = PETSC_FALSE;
  if (*reason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsHasName(((PetscObject)A)->options, NULL, "-mat_graph_view", &views[0]));
  PetscCall(PetscOptionsHasName(((PetscObject)A)->options, NULL, "-mat_filter_graph_view", &views[1]));
  if (A->rmap->n != A->cmap->n || A->rmap->N != A->cmap->N) *reason = "the matrix is not square";
  else if (views[0] || views[1]) *reason = "-mat_graph_view and -mat_filter_graph_view show its steps";
  PetscCall(AIJFmtSizeGet(A, &nonzeros, &there));
  *asks = AIJFmtAsksDevice(s, nonzeros, there);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the graph by PETSc's function. reason: NULL if the graph is not to be counted */
PetscErrorCode AIJFmtGraphByPetsc(Mat A, Mat_AIJFmt *s, const AIJFmtGraphRequest *r, const char reason[], Mat *graph)
{
  const AIJFmtParent *parent;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentOf(A, &parent));
  if (s && reason) PetscCall(AIJFmtRan(A, AIJFMT_WHY_GRAPH, reason));
  PetscCall(AIJFmtCallGraph((s && s->parallel ? &parent->mpi : &parent->seq)->creategraph, A, r->symmetrize, r->scale,
                            r->filter, r->index_count, r->index, graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the matrix on the device ---- */

/* Gets the matrix on the device; if device memory does not suffice, it stays on the host, with a reason. Call
   AIJFmtGraphSourceRestore() afterwards. */
PetscErrorCode AIJFmtGraphSourceGet(Mat A, AIJFmtGraphSource *from, SpmvStatus *status)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(from, sizeof *from));
  PetscCall(AIJFmtStateGet(A, &s));
  spmv_exec_init(&from->exec, SPMV_DEVICE);
  if (s) from->exec.host = s->exec.host;
  PetscCall(AIJFmtCudaStream(&from->exec));
  PetscCall(AIJFmtArraysGet(A, AIJFMT_PATTERN | AIJFMT_VALUES, AIJFMT_READ, &from->exec, &from->a, status));
  PetscCall(PetscStrncpy(from->reason, *status ? from->exec.message : "", sizeof from->reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Falls back to the host: a parallel graph needs the part of each process */
PetscErrorCode AIJFmtGraphSourceToHost(Mat A, AIJFmtGraphSource *from)
{
  SpmvStatus status;

  PetscFunctionBegin;
  PetscCall(AIJFmtGraphSourceRestore(A, from));
  from->exec.space = SPMV_HOST;
  PetscCall(AIJFmtArraysGet(A, AIJFMT_PATTERN | AIJFMT_VALUES, AIJFMT_READ, &from->exec, &from->a, &status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtGraphSourceRestore(Mat A, AIJFmtGraphSource *from)
{
  PetscFunctionBegin;
  spmv_scratch_free(&from->exec, from->exec.space, from->group);
  from->group = NULL;
  PetscCall(AIJFmtArraysRestore(A, &from->exec, &from->a, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether PETSc treats the blocks as full. confused: PETSc 3.18 would treat blocks as full that are not; its graph then
   differs from every other version's, so PETSc must make it. */
SpmvStatus AIJFmtGraphLookAtBlocks(AIJFmtGraphSource *from, PetscInt bs, PetscBool *full, PetscBool *confused)
{
  const SpmvBlocks known   = from->a.blocks;
  int              is_full = known.rows > 0 && known.rows % bs == 0 && known.cols % bs == 0, seems_full = is_full;
  const SpmvStatus status =
      is_full ? SPMV_SUCCESS : spmv_graph_full_blocks(&from->a.csr.pattern, bs, &from->exec, &is_full, &seems_full);

  *full     = is_full ? PETSC_TRUE : PETSC_FALSE;
  *confused = AIJFMT_TAKES_SEEMINGLY_FULL && seems_full && !is_full ? PETSC_TRUE : PETSC_FALSE;
  return status;
}

/* ---- the graph as a matrix ---- */

static PetscErrorCode FillValues(Mat block, const SpmvCsr *g, SpmvExec *exec)
{
  const int64_t bytes = g->pattern.nnz * (int64_t)sizeof(PetscScalar);
  PetscScalar  *values;
  SpmvStatus    status;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetArrayWrite(block, &values));
  PetscCall(AIJFmtFetch(exec, g->values, g->values_space, bytes, values, &status));
  PetscCall(MatSeqAIJRestoreArrayWrite(block, &values));
  AIJFmtCallSpmv(exec, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of the type and with the options of A, but with block size 1 */
PetscErrorCode AIJFmtGraphCreateLike(Mat A, PetscInt rows, Mat *graph)
{
  Mat_AIJFmt *from, *to;
  VecType     vectors;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &from));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), graph));
  PetscCall(MatSetSizes(*graph, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSizes(*graph, 1, 1));
  PetscCall(MatSetType(*graph, ((PetscObject)A)->type_name));
  PetscCall(MatGetVecType(A, &vectors));
  PetscCall(MatSetVecType(*graph, vectors));
  PetscCall(AIJFmtStateGet(*graph, &to));
  if (from && to) PetscCall(AIJFmtStateCopyOptions(from, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Preallocates both blocks of a parallel graph and copies columns and values into them */
static PetscErrorCode AssembleParallel(AIJFmtGraphParts *p, Mat G, const SpmvCsr csr[2], SpmvExec *const exec[2])
{
  Mat blocks[2];

  PetscFunctionBegin;
  for (int b = 0; b < 2; b++) PetscCall(AIJFmtLengthsFetch(exec[b], &csr[b].pattern, &p->lengths[b]));
  PetscCall(MatMPIAIJSetPreallocation(G, 0, p->lengths[0], 0, p->lengths[1]));
  PetscCall(AIJFmtBlocksGet(G, blocks));
  for (int b = 0; b < 2; b++) {
    PetscCall(AIJFmtColumnsFetch(exec[b], &csr[b].pattern, blocks[b]));
    PetscCall(FillValues(blocks[b], &csr[b], exec[b]));
  }
  PetscCall(AIJFmtAssembleBlocks(G));
  PetscCall(AIJFmtBlocksGet(G, blocks)); /* the assembly may have replaced the second */
  for (int b = 0; b < 2; b++) PetscCall(AIJFmtPatternIsRight(blocks[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtGraphAssemble(AIJFmtGraphParts *p, Mat G)
{
  SpmvCsr   csr[2];
  SpmvExec *exec[2];

  PetscFunctionBegin;
  for (int b = 0; b < p->count; b++) {
    if (p->graph[b]) spmv_graph_csr(p->graph[b], &csr[b]);
    else csr[b] = *p->others;
    exec[b] = &p->source[p->graph[b] ? b : 0].exec;
  }
  if (p->count > 1) PetscCall(AssembleParallel(p, G, csr, exec));
  else {
    PetscCall(AIJFmtPatternFromDevice(G, &csr[0].pattern, PETSC_FALSE, exec[0]));
    PetscCall(FillValues(G, &csr[0], exec[0]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtGraphPartsFree(AIJFmtGraphParts *p)
{
  PetscFunctionBegin;
  for (int b = 0; b < p->count; b++) {
    spmv_graph_destroy(&p->graph[b]);
    PetscCall(PetscFree(p->lengths[b]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Passes on the list of rows of a block; PETSc reads it for full blocks only */
SpmvStatus AIJFmtGraphSetIndex(const AIJFmtGraphRequest *r, SpmvGraphOptions *o, SpmvExec *exec)
{
  if (o->blocks != SPMV_GRAPH_FULL_BLOCKS) return SPMV_SUCCESS;
  if (r->index_count > SPMV_GRAPH_INDEX_MAX)
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "%lld rows of a block are listed, and the GPU takes %d",
                     (long long)r->index_count, SPMV_GRAPH_INDEX_MAX);
  o->index_count = (int)r->index_count;
  for (int i = 0; i < o->index_count; i++) o->index[i] = (int32_t)r->index[i];
  return SPMV_SUCCESS;
}

const char AIJFmtGraphConfused[] = "PETSc 3.18 takes blocks for full that are not";

/* ---- of a sequential matrix ---- */

/* All steps of MatCreateGraph(), on the device */
SpmvStatus AIJFmtGraphMake(Mat A, const AIJFmtGraphRequest *r, AIJFmtGraphSource *from, SpmvGraph **graph)
{
  const PetscBool  known = A->symmetric == PETSC_BOOL3_TRUE ? PETSC_TRUE : PETSC_FALSE;
  SpmvGraphOptions o     = {.block_size    = A->rmap->bs > 0 ? A->rmap->bs : 1,
                            .magnitudes    = r->scale || r->filter >= 0,
                            .add_transpose = r->symmetrize && !known,
                            .scale         = r->scale,
                            .filter        = r->filter >= 0 ? AIJFMT_GRAPH_FILTER : SPMV_GRAPH_KEEP_ALL,
                            .threshold     = (double)r->filter};
  PetscBool        full, confused;
  SpmvStatus       status;

  *graph = NULL;
  status = o.block_size > 1 ? AIJFmtGraphLookAtBlocks(from, (PetscInt)o.block_size, &full, &confused) : SPMV_SUCCESS;
  if (!status && o.block_size > 1) {
    if (confused) return spmv_fail(&from->exec, SPMV_ERR_UNSUPPORTED, "%s", AIJFmtGraphConfused);
    o.blocks = full ? SPMV_GRAPH_FULL_BLOCKS : SPMV_GRAPH_ANY_BLOCKS;
    status   = AIJFmtGraphSetIndex(r, &o, &from->exec);
  }
  if (!status) status = spmv_graph_create(&from->a.csr, &o, &from->exec, graph);
  return status;
}

/* Sets the symmetry flags of the graph as PETSc does. The filter of 3.20 and later inserts entries again, after which
   PETSc keeps only the flags marked eternal. */
PetscErrorCode AIJFmtGraphSetSymmetry(Mat A, const AIJFmtGraphRequest *r, Mat graph)
{
  PetscFunctionBegin;
  if (r->symmetrize) PetscCall(MatSetOption(graph, MAT_SYMMETRIC, PETSC_TRUE));
  else PetscCall(MatPropagateSymmetryOptions(A, graph));
  if (r->filter < 0 || AIJFMT_GRAPH_FILTER == SPMV_GRAPH_KEEP_ABOVE) PetscFunctionReturn(PETSC_SUCCESS);
  if (!graph->symmetry_eternal) graph->symmetric = graph->hermitian = PETSC_BOOL3_UNKNOWN;
  if (!graph->spd_eternal) graph->spd = PETSC_BOOL3_UNKNOWN;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FinishSequential(Mat A, const AIJFmtGraphRequest *r, AIJFmtGraphParts *p, Mat *graph)
{
  PetscInt bs;

  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(A, &bs));
  PetscCall(AIJFmtGraphCreateLike(A, A->rmap->n / bs, graph));
  PetscCall(AIJFmtGraphAssemble(p, *graph));
  PetscCall(AIJFmtGraphSetSymmetry(A, r, *graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* While `keep` is not NULL, a graph made on the device stays there: *keep gets it, the caller destroys it, and the
   matrix is empty. Graphs made elsewhere leave *keep unchanged. */
void AIJFmtGraphKeep(SpmvGraph **keep) { aijfmt_process.graph = keep; }

/* Hands over *made, with an empty matrix in place of the graph */
PetscErrorCode AIJFmtGraphKept(Mat A, SpmvGraph **made, Mat *graph)
{
  PetscFunctionBegin;
  PetscCall(MatCreateAIJ(PetscObjectComm((PetscObject)A), 0, 0, 0, 0, 0, NULL, 0, NULL, graph));
  PetscCall(MatAssemblyBegin(*graph, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*graph, MAT_FINAL_ASSEMBLY));
  *aijfmt_process.graph = *made;
  *made                 = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Sequential(Mat A, Mat_AIJFmt *s, const AIJFmtGraphRequest *r, Mat *graph)
{
  AIJFmtGraphSource from;
  AIJFmtGraphParts  p = {.count = 1, .source = &from};
  SpmvStatus        status;
  PetscErrorCode    error = PETSC_SUCCESS;

  PetscFunctionBegin;
  *graph = NULL;
  PetscCall(AIJFmtGraphSourceGet(A, &from, &status));
  PetscCall(PetscLogGpuTimeBegin());
  if (!status) status = AIJFmtGraphMake(A, r, &from, &p.graph[0]);
  PetscCall(PetscLogGpuTimeEnd());
  if (!status)
    error = aijfmt_process.graph ? AIJFmtGraphKept(A, &p.graph[0], graph) : FinishSequential(A, r, &p, graph);
  if (error) (void)MatDestroy(graph);
  PetscCall(AIJFmtGraphPartsFree(&p));
  PetscCall(AIJFmtGraphSourceRestore(A, &from));
  PetscCall(error);
  if (AIJFmtIsRefusal(status)) {
    PetscCall(AIJFmtGraphByPetsc(A, s, r, from.exec.message, graph));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  AIJFmtCallSpmv(&from.exec, status);
  PetscCall(AIJFmtRan(A, AIJFMT_WHY_GRAPH, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Leaves a graph to PETSc that the GPU cannot or should not make; otherwise *graph is NULL. Two cases are not counted: a
   matrix that is not ours, and a matrix without blocks for which no step is asked, whose graph is the matrix itself.
   Collective: all processes take the same path. */
PetscErrorCode AIJFmtGraphLeave(Mat A, Mat_AIJFmt *s, const AIJFmtGraphRequest *r, Mat *graph)
{
  const char *reason = NULL;
  PetscBool   asks   = PETSC_FALSE, itself;
  PetscInt    bs;

  PetscFunctionBegin;
  *graph = NULL;
  PetscCall(MatGetBlockSize(A, &bs));
  itself = !s || (bs == 1 && !r->symmetrize && !r->scale && r->filter < 0) ? PETSC_TRUE : PETSC_FALSE;
  if (!itself) {
    PetscCall(GraphWhyNot(A, s, &reason, &asks));
    PetscCall(PetscPackVote(PetscObjectComm((PetscObject)A), asks,
                            "the matrix is small, and -mat_aijfmt_device is auto", &reason));
  }
  if (itself || reason) PetscCall(AIJFmtGraphByPetsc(A, s, r, reason, graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSequential(Mat A, PetscBool symmetrize, PetscBool scale, PetscReal filter, PetscInt n,
                                       PetscInt index[], Mat *graph)
{
  const AIJFmtGraphRequest r = {symmetrize, scale, filter, n, index};
  Mat_AIJFmt              *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  PetscCall(AIJFmtGraphLeave(A, s, &r, graph));
  if (!*graph) PetscCall(Sequential(A, s, &r, graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AIJFMT_GRAPH(MatCreateGraph_SeqAIJFmt, CreateSequential)
