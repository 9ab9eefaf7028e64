/*
  aggdevice_coarsen.c - aggregates of the vertices of a level's graph. agg stores them as lists in a PetscCoarsenData,
  which PCGAMG passes to prolongator() and destroys; ours are an array that stays in the memory where it was made, and
  PCGAMG carries an empty list.
*/
#include "aggdevice.h"
#include "parallel/processes.h"

/* The graph of a process: edges between its own vertices, and row pointers of the edges to other processes, in the memory
   where the aggregates are made */
typedef struct {
  Mat          block[2]; /* the matrices that MatCreateGraph() has made, or NULL */
  AIJFmtArrays a[2];     /* their patterns */
  SpmvPattern  here;
  const void  *beyond;
  void        *copy; /* of a->beyond, or NULL */
} Graph;

/* An option of MatCoarsen that agg would follow. PETSc 3.22 and later read those with pc_gamg_, and the others on levels
   after an aggressive one. */
static PetscErrorCode WhyAggCoarsener(PC pc, const char **why)
{
  static const char *const name[][2] = {{"-mat_coarsen_type", "-mat_coarsen_misk_distance"},
                                        {"-pc_gamg_mat_coarsen_type", "-pc_gamg_mat_coarsen_misk_distance"}};

  const PetscOptions options = ((PetscObject)pc)->options;
  const char        *prefix;
  char               type[64];
  PetscBool          set, mis, misk, distance;

  PetscFunctionBegin;
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  for (int i = 0; i < 2; i++) {
    PetscCall(PetscOptionsGetString(options, prefix, name[i][0], type, sizeof type, &set));
    PetscCall(PetscStrcmp(type, MATCOARSENMIS, &mis));
    PetscCall(PetscStrcmp(type, MATCOARSENMISK, &misk));
    PetscCall(PetscOptionsHasName(options, prefix, name[i][1], &distance));
    if (set && !mis && !misk) *why = "-mat_coarsen_type is neither mis nor misk";
    else if (distance) *why = "-mat_coarsen_misk_distance is given";
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reasons for agg that are known before any work; the same on all processes */
PetscErrorCode AggDevWhyAgg(PC pc, const char **why)
{
  const PC_GAMG *gamg = PetscPackGamg(pc);

  PetscFunctionBegin;
  PetscCall(WhyAggCoarsener(pc, why));
  if (gamg->use_aggs_in_asm) *why = "-pc_gamg_asm_use_agg takes the lists of agg";
  else if (AIJFmtGamgHem(gamg)) *why = "-pc_gamg_asm_hem_aggs takes the graph of agg";
  else if (gamg->data_cell_cols > SPMV_NEAR_NULL_MAX) *why = "the near-null space has more than 32 vectors";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Aggregates stay within a process. If many edges lead to other processes, as with rows in random order, they are too
   small, and PCGAMG needs several times the iterations (decision 0083). On small levels, where many edges always do, that
   matters little. Collective. */
static PetscErrorCode ManyEdgesCross(const PC_AggDevice *a, Mat G, PetscBool *many)
{
  double  edges[2];
  Mat     block[2];
  MatInfo info;
  SpmvCsr made;

  PetscFunctionBegin;
  if (a->graph) {
    spmv_graph_csr(a->graph, &made);
    edges[0] = (double)(made.pattern.nnz - made.pattern.rows); /* without the diagonal */
    edges[1] = (double)a->beyond[made.pattern.rows];
  } else {
    PetscCall(MatMPIAIJGetSeqAIJ(G, &block[0], &block[1], NULL));
    for (int b = 0; b < 2; b++) {
      PetscCall(MatGetInfo(block[b], MAT_LOCAL, &info));
      edges[b] = (double)info.nz_used;
    }
    edges[0] -= G->rmap->n;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, edges, 2, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)G)));
  *many = 3 * edges[1] > 2 * edges[0] ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WhyAggGraph(const PC_AggDevice *a, Mat G, const char **why)
{
  PetscBool   aij, many = PETSC_FALSE;
  PetscInt    rows, bs;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)G), &size));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)G, size > 1 ? MATMPIAIJ : MATSEQAIJ, &aij));
  PetscCall(MatGetSize(a->level, &rows, NULL));
  PetscCall(MatGetBlockSize(a->level, &bs));
  if (aij && size > 1 && rows / bs >= 1000) PetscCall(ManyEdgesCross(a, G, &many));
  if (!aij) *why = "the graph is not of type aij";
  else if (many) *why = "more than 40% of the edges lead to other processes";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The options that agg would use on this level */
static SpmvAggregateOptions OptionsOf(const PC_AggDevice *a, PetscInt level)
{
  SpmvAggregateOptions o;

  spmv_aggregate_options_init(&o);
  if (level < a->options.aggressive_levels) {
    if (a->options.square) o.distance = 2;
    else o.repeats = (int)PetscMax(a->options.mis_k, 1);
  }
  o.order = a->options.minimum_degree ? SPMV_ORDER_DEGREE : SPMV_ORDER_RANDOM;
  return o;
}

/* ---- the graph ---- */

/* Of a graph that MatCreateGraph() has left on the device */
static SpmvStatus GraphThere(PC_AggDevice *a, Graph *g)
{
  SpmvStatus status;
  int64_t    bytes;
  SpmvCsr    made;

  spmv_graph_csr(a->graph, &made);
  g->here = made.pattern;
  if (!a->beyond) return SPMV_SUCCESS;
  bytes  = (g->here.rows + 1) * (int64_t)sizeof *a->beyond;
  status = spmv_alloc(&a->exec, SPMV_DEVICE, bytes, "edges to other processes", &g->copy);
  if (!status) status = spmv_copy(g->copy, SPMV_DEVICE, a->beyond, SPMV_HOST, bytes, &a->exec);
  g->beyond = g->copy;
  return status;
}

static PetscErrorCode GraphGet(PC_AggDevice *a, Mat G, Graph *g, SpmvStatus *status)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  *status = SPMV_SUCCESS;
  PetscCall(PetscMemzero(g, sizeof *g));
  if (a->graph) {
    *status = GraphThere(a, g);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  g->block[0] = G;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)G), &size));
  if (size > 1) PetscCall(MatMPIAIJGetSeqAIJ(G, &g->block[0], &g->block[1], NULL));
  for (int b = 0; b < 2 && g->block[b] && !*status; b++)
    PetscCall(AIJFmtArraysGet(g->block[b], AIJFMT_PATTERN, AIJFMT_READ, &a->exec, &g->a[b], status));
  g->here   = g->a[0].csr.pattern;
  g->beyond = g->a[1].csr.pattern.row_ptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GraphRestore(Graph *g, SpmvExec *exec)
{
  PetscFunctionBegin;
  for (int b = 0; b < 2; b++) PetscCall(AIJFmtArraysRestore(g->block[b], exec, &g->a[b], NULL));
  spmv_scratch_free(exec, SPMV_DEVICE, g->copy);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- aggregates ---- */

static SpmvStatus Aggregate(PC_AggDevice *a, const Graph *g, const SpmvAggregateOptions *options)
{
  void      *memory;
  SpmvStatus status;

  status = spmv_alloc(&a->exec, a->exec.space, g->here.rows * (int64_t)sizeof(int32_t), "aggregates", &memory);
  if (status) return status;
  a->aggregate = (int32_t *)memory;
  a->vertices  = (PetscInt)g->here.rows;
  return spmv_aggregate(&g->here, options, a->aggregate, NULL, &a->found, &a->exec);
}

/* Leaves a reason if one of the processes cannot make aggregates */
static PetscErrorCode TryOurs(PC pc, PC_AggDevice *a, Mat G, char reason[SPMV_MESSAGE_MAX])
{
  const PC_GAMG       *gamg    = PetscPackGamg(pc);
  SpmvAggregateOptions options = OptionsOf(a, gamg->current_level);
  const char          *why_host;
  Graph                g;
  SpmvStatus           status;

  PetscFunctionBegin;
  PetscCall(AIJFmtWhyHost(a->level, &why_host));
  spmv_exec_init(&a->exec, spmv_device_count(NULL) > 0 && !why_host ? SPMV_DEVICE : SPMV_HOST);
  if (a->exec.space == SPMV_DEVICE) PetscCall(AIJFmtCudaStream(&a->exec));
  PetscCall(GraphGet(a, G, &g, &status));
  options.beyond = g.beyond;
  if (!status) status = Aggregate(a, &g, &options);
  PetscCall(GraphRestore(&g, &a->exec));
  PetscCall(AIJFmtRefuse(&a->exec, status, reason));
  PetscCall(PetscPackAgree(PetscObjectComm((PetscObject)G), reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AggDevCoarsen(PC pc, Mat *G, PetscCoarsenData **lists)
{
  char          reason[SPMV_MESSAGE_MAX] = "";
  const char   *why                      = NULL;
  PC_AggDevice *a;

  PetscFunctionBegin;
  PetscCall(AggDevGet(pc, &a));
  PetscCall(AggDevForgetLevel(a));
  a->ours = PETSC_FALSE;
  PetscCall(AggDevWhyAgg(pc, &why));
  if (!why) PetscCall(WhyAggGraph(a, *G, &why));
  PetscCall(PetscLogEventBegin(AggDev_Coarsen, pc, 0, 0, 0));
  if (why) PetscCall(PetscStrncpy(reason, why, sizeof reason));
  else PetscCall(TryOurs(pc, a, *G, reason));
  PetscCall(PetscLogEventEnd(AggDev_Coarsen, pc, 0, 0, 0));
  if (reason[0]) {
    PetscCall(AggDevForgetLevel(a));
    PetscCall(PetscInfo(pc, "a level coarsened by agg: %s\n", reason));
    PetscCall(PetscStrncpy(a->reason, reason, sizeof a->reason));
    a->info.levels_agg++;
    if (a->graph) PetscCall(PetscPackGamgAggForgetCoarsen(pc)); /* agg makes another one with the matrix */
    PetscCall(AggDevGraphToMatrix(pc, a, G));
    PetscCall((*a->agg.ops.coarsen)(pc, G, lists));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  a->ours = PETSC_TRUE;
  spmv_graph_destroy_on(&a->graph, &a->exec); /* its maker used the same stream */
  PetscCall(AggDevForgetGraph(a));
  if (a->exec.space == SPMV_DEVICE) a->info.levels_device++;
  else a->info.levels_host++;
  PetscCall(PetscPackGamgAggForgetCoarsen(pc));
  PetscCall(PetscCDCreate(0, lists));
  PetscFunctionReturn(PETSC_SUCCESS);
}
