/*
  aggdevice_coarsen.c - aggregates of the vertices of a level's graph. agg stores them as lists in a PetscCoarsenData,
  which PCGAMG passes to prolongator() and destroys; ours are an array that stays in the memory where it was made, and
  PCGAMG carries an empty list.
*/
#include "aggdevice.h"
#include "parallel/processes.h"
#include "sys/private.h"

/* The graph of a process: edges between its own vertices, and row pointers of the edges to other processes. Its arrays
   are those that MatCreateGraph() left on the device, or those of the host matrix with a copy in the space of the
   aggregates. */
typedef struct {
  Mat         mine, others; /* NULL: there is no matrix */
  SpmvPattern host, host_others, here;
  void       *block, *beyond; /* owns the copies */
} Graph;

/* Reasons for agg that are known before any work; the same on all processes */
PetscErrorCode AggDevWhyAgg(PC pc, const char **why)
{
  const PC_GAMG *gamg = (const PC_GAMG *)((PC_MG *)pc->data)->innerctx;
  const char    *prefix;
  char           type[64];
  PetscBool      set, mis, misk;

  PetscFunctionBegin;
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscOptionsGetString(((PetscObject)pc)->options, prefix, "-mat_coarsen_type", type, sizeof type, &set));
  PetscCall(PetscStrcmp(type, MATCOARSENMIS, &mis));
  PetscCall(PetscStrcmp(type, MATCOARSENMISK, &misk));
  if (gamg->use_aggs_in_asm) *why = "-pc_gamg_asm_use_agg takes the lists of agg";
  else if (AIJFmtGamgHem(gamg)) *why = "-pc_gamg_asm_hem_aggs takes the graph of agg";
  else if (set && !mis && !misk) *why = "-mat_coarsen_type is neither mis nor misk";
  else if (gamg->data_cell_cols > SPMV_NEAR_NULL_MAX) *why = "the near-null space has more than 32 vectors";
  else if (PetscDefined(USE_64BIT_INDICES)) *why = "indices of 64 bits";
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WhyAggGraph(Mat G, const char **why)
{
  PetscBool   aij;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)G), &size));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)G, size > 1 ? MATMPIAIJ : MATSEQAIJ, &aij));
  if (!aij) *why = "the graph is not of type aij";
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

static PetscErrorCode GraphOpen(const PC_AggDevice *a, Mat G, Graph *g)
{
  PetscMPIInt size;
  SpmvCsr     made;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(g, sizeof *g));
  if (a->graph) {
    spmv_graph_csr(a->graph, &made);
    g->here = made.pattern;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  g->mine = G;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)G), &size));
  if (size > 1) PetscCall(MatMPIAIJGetSeqAIJ(G, &g->mine, &g->others, NULL));
  PetscCall(AIJFmtHostPatternGet(g->mine, &g->host));
  if (g->others) PetscCall(AIJFmtHostPatternGet(g->others, &g->host_others));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GraphClose(Graph *g, SpmvExec *exec)
{
  PetscFunctionBegin;
  spmv_exec_free(exec, exec->space, g->block);
  spmv_exec_free(exec, exec->space, g->beyond);
  if (g->mine) PetscCall(AIJFmtHostPatternRestore(g->mine, &g->host));
  if (g->others) PetscCall(AIJFmtHostPatternRestore(g->others, &g->host_others));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies an array of the host to the space of exec */
static SpmvStatus Copy(SpmvExec *exec, const void *from, int64_t bytes, void **to)
{
  SpmvStatus status = spmv_alloc(exec, exec->space, bytes, "graph of a level", to);

  if (!status) status = spmv_copy(*to, exec->space, from, SPMV_HOST, bytes, exec);
  return status ? status : spmv_stream_wait(exec);
}

/* Gets the arrays of the graph in the memory where the aggregates are made */
static PetscErrorCode GraphPlace(Graph *g, SpmvExec *exec, const int32_t **beyond, SpmvStatus *status)
{
  SpmvCsr there;

  PetscFunctionBegin;
  *status = SPMV_SUCCESS;
  *beyond = NULL;
  if (!g->mine) PetscFunctionReturn(PETSC_SUCCESS);
  g->here = g->host;
  *beyond = g->others ? (const int32_t *)g->host_others.row_ptr : NULL;
  if (exec->space == SPMV_HOST) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtUpload(exec, &g->host, NULL, AIJFMT_INDEX, &there, &g->block, status));
  if (!*status) g->here = there.pattern;
  if (!*status && g->others)
    *status = Copy(exec, g->host_others.row_ptr, (g->host.rows + 1) * (int64_t)sizeof(PetscInt), &g->beyond);
  *beyond = (const int32_t *)g->beyond;
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
  const PC_GAMG       *gamg    = (const PC_GAMG *)((PC_MG *)pc->data)->innerctx;
  SpmvAggregateOptions options = OptionsOf(a, gamg->current_level);
  const char          *why_host;
  Graph                g;
  SpmvStatus           status;

  PetscFunctionBegin;
  PetscCall(AIJFmtWhyHost(a->level, &why_host));
  spmv_exec_init(&a->exec, spmv_device_count(NULL) > 0 && !why_host ? SPMV_DEVICE : SPMV_HOST);
  if (a->exec.space == SPMV_DEVICE) PetscCall(AIJFmtCudaStream(&a->exec));
  PetscCall(GraphOpen(a, G, &g));
  PetscCall(GraphPlace(&g, &a->exec, &options.beyond, &status));
  if (!status) status = Aggregate(a, &g, &options);
  PetscCall(GraphClose(&g, &a->exec));
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
  PetscCall(AggDevWhyAgg(pc, &why));
  if (!why) PetscCall(WhyAggGraph(*G, &why));
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
  spmv_graph_destroy(&a->graph);
  if (a->exec.space == SPMV_DEVICE) a->info.levels_device++;
  else a->info.levels_host++;
  PetscCall(PetscPackGamgAggForgetCoarsen(pc));
  PetscCall(PetscCDCreate(0, lists));
  PetscFunctionReturn(PETSC_SUCCESS);
}
