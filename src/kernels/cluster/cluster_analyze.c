/* cluster_analyze.c - the analysis of a pattern on the host, for plans in either space; bytes and arrays of a plan. */
#include "cluster_layout.h"
#include <stdio.h>
#include <string.h>

enum {
  MOST_PRODUCTS = 65000,    /* that 16 bits number, the one that is 0 included */
  STAGED_BYTES  = 64 << 10, /* of transposed products in shared memory, in double precision */
  MOST_LOCAL    = 60000,
  MANY_ENTRIES  = 20 /* of a node, in the mean */
};

/* A cluster whose x would have more than this many nodes for each of its own stops growing: the largest sets the shared
   memory of all */
static const double MOST_X_OF_NODE = 3.5;
/* Below this fraction of entries in pairs, `auto` takes none: what is saved would not pay for adding up products. On a
   device that takes more time, and transposed products shared memory, so that clusters become smaller: equal pairs pay
   for linear elements, which have 0.58 or more, not for quadratic ones, which have 0.56 or less. */
static const double ENOUGH_ON_HOST = 0.25, ENOUGH_ON_DEVICE = 0.565;
/* Clusters are faster than CSR where a product reads less than this fraction of its bytes; on a device, where CSR reads
   x more than once, they are so where it reads fewer */
static const double WORTHWHILE_ON_HOST = 0.95, WORTHWHILE_ON_DEVICE = 1;

/* Nodes of a cluster: on a GPU what two thread blocks of a multiprocessor can stage, so fewer where nodes have many
   entries, and with them many pairs; on the host what the second cache holds */
static int64_t choose_size(int64_t wanted, const ClusterGraph *g, SpmvSpace space)
{
  const int is_dense = g->begin[g->nodes] > MANY_ENTRIES * g->nodes;

  if (wanted > 0) return wanted;
  if (space == SPMV_HOST) return g->block == 1 ? 128 : g->block == 6 ? 512 : 1024;
  switch (g->block) {
  case 1:
    return 256;
  case 2:
    return 192;
  case 3:
    return is_dense ? 128 : 160;
  default:
    return 64;
  }
}

static int64_t most_x(int64_t size)
{
  const int64_t most = (int64_t)(MOST_X_OF_NODE * (double)size) + CLUSTER_LONG;
  return most < MOST_LOCAL ? most : MOST_LOCAL;
}

static ClusterPartition choose_partition(const SpmvOptions *options, const ClusterGraph *g)
{
  const ClusterPartition wanted = (ClusterPartition)options->value[CLUSTER_OPTION_PARTITION];

  if (!g->square) return CLUSTER_RANGES; /* rows are no neighbours of rows */
  return wanted == CLUSTER_PARTITION_AUTO ? CLUSTER_GREEDY : wanted;
}

/* Pairs, as far as the option wants them and they pay: with one unknown never on a device, where the bytes are saved
   but not the time */
static SpmvStatus measure(ClusterAnalysis *a, const SpmvAnalysis *analysis, SpmvThreads *threads, SpmvExec *exec)
{
  const ClusterSymmetry wanted    = (ClusterSymmetry)analysis->options.value[CLUSTER_OPTION_SYMMETRY];
  const int             on_device = analysis->space == SPMV_DEVICE, may_choose = wanted == CLUSTER_SYMMETRY_AUTO;
  const int64_t         most   = on_device ? STAGED_BYTES / (a->graph.block * (int)sizeof(double)) : MOST_PRODUCTS;
  const double          enough = on_device ? ENOUGH_ON_DEVICE : ENOUGH_ON_HOST;
  const int paired = wanted != CLUSTER_NONE && a->graph.square && !(may_choose && on_device && a->graph.block == 1);

  a->shape.declared = wanted == CLUSTER_DECLARED;
  SPMV_TRY(cluster_measure(a, paired, most, threads, exec));
  if (may_choose && a->shape.pairs > 0 && 2 * (double)a->shape.pairs < enough * (double)a->shape.entries)
    SPMV_TRY(cluster_measure(a, 0, most, threads, exec));
  return SPMV_SUCCESS;
}

static void describe(ClusterAnalysis *a, int lanes)
{
  const ClusterGraph *g = &a->graph;
  ClusterShape       *s = &a->shape;

  s->block       = g->block;
  s->lanes       = lanes;
  s->square      = g->square;
  s->row_nodes   = g->nodes;
  s->col_nodes   = g->col_nodes;
  s->place_bytes = g->longest < 0xff ? 1 : 2;
  s->long_rows   = (g->nodes - a->parts.members_in_clusters) * g->block;
  s->long_nnz    = 0;
  for (int64_t m = a->parts.members_in_clusters; m < g->nodes; m++) {
    const int32_t node = a->parts.members[m];
    s->long_nnz += (g->begin[node + 1] - g->begin[node]) * g->block * g->block;
  }
}

static void decide(const ClusterShape *s, SpmvAnalysis *analysis)
{
  const int64_t bytes = cluster_product_bytes(s, analysis->scalar_type), csr = analysis->memory.csr_bytes;
  const double  worthwhile = analysis->space == SPMV_DEVICE ? WORTHWHILE_ON_DEVICE : WORTHWHILE_ON_HOST;

  analysis->accepted = (double)bytes < worthwhile * (double)csr;
  if (!analysis->accepted)
    snprintf(
        analysis->reason, sizeof analysis->reason,
        "a product in clusters would read %lld bytes, not less than %g of the %lld of CSR: %lld of %lld entries are "
        "inside",
        (long long)bytes, worthwhile, (long long)csr, (long long)s->inside, (long long)s->entries);
}

static void forget_clusters(ClusterAnalysis *a, SpmvExec *exec)
{
  spmv_exec_free(exec, SPMV_HOST, a->parts.begin);
  spmv_exec_free(exec, SPMV_HOST, a->parts.members);
  spmv_exec_free(exec, SPMV_HOST, a->heads);
  spmv_exec_free(exec, SPMV_HOST, a->equal_to);
  a->parts    = (ClusterParts){.clusters = 0};
  a->heads    = NULL;
  a->equal_to = NULL;
}

/* The sizes of the clusters */
static SpmvStatus measure_anew(ClusterAnalysis *a, const SpmvAnalysis *analysis, SpmvThreads *threads, SpmvExec *exec)
{
  spmv_exec_free(exec, SPMV_HOST, a->heads);
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, (a->parts.clusters + 1) * (int64_t)sizeof *a->heads, "heads of clusters",
                      (void **)&a->heads));
  return measure(a, analysis, threads, exec);
}

/* Clusters of at most `size` nodes, and their sizes. Those that pass the limit are split, if they are few. */
static SpmvStatus cut(ClusterAnalysis *a, int64_t size, int lanes, const ClusterLimit *limit,
                      const SpmvAnalysis *analysis, SpmvThreads *threads, SpmvExec *exec)
{
  const ClusterPartition how   = choose_partition(&analysis->options, &a->graph);
  int64_t                split = limit != NULL;

  forget_clusters(a, exec);
  SPMV_TRY(cluster_partition(&a->graph, how, size, most_x(size), &a->parts, threads, exec));
  describe(a, lanes);
  a->shape.partition = how;
  SPMV_TRY(measure_anew(a, analysis, threads, exec));
  while (split > 0) {
    SPMV_TRY(cluster_split_large(a, limit, analysis->scalar_type, &split, exec));
    if (split > 0) SPMV_TRY(measure_anew(a, analysis, threads, exec));
  }
  return SPMV_SUCCESS;
}

/* The next size to try where clusters stage too much: whole slices, and not less than half as large */
static int64_t smaller(int64_t size, int64_t lanes, int64_t bytes, int64_t staged)
{
  const int64_t fitting = size * bytes / staged / lanes * lanes;
  return size <= lanes || fitting < size / 2 ? size / 2 : fitting;
}

static SpmvStatus analyze(const SpmvPattern *on_host, int lanes, const ClusterLimit *limit, SpmvAnalysis *analysis,
                          SpmvThreads *threads, SpmvExec *exec)
{
  ClusterAnalysis *a = analysis->data;

  SPMV_TRY(cluster_make_graph(on_host, &a->graph, threads, exec));
  int64_t size = choose_size((int64_t)analysis->options.value[CLUSTER_OPTION_SIZE], &a->graph, analysis->space);

  SPMV_TRY(cut(a, size, lanes, limit, analysis, threads, exec));
  while (limit && size > 1 && limit->staged(&a->shape, analysis->scalar_type) > cluster_limit_bytes(limit, &a->shape)) {
    size = smaller(size, lanes, cluster_limit_bytes(limit, &a->shape), limit->staged(&a->shape, analysis->scalar_type));
    SPMV_TRY(cut(a, size, lanes, limit, analysis, threads, exec));
  }
  SPMV_TRY(cluster_find_equal(a, threads, exec));
  cluster_memory(&a->shape, analysis->scalar_type, &analysis->memory);
  decide(&a->shape, analysis);
  return SPMV_SUCCESS;
}

SpmvStatus cluster_analyze(const SpmvPattern *on_host, int lanes, const ClusterLimit *limit, SpmvAnalysis *analysis,
                           SpmvExec *exec)
{
  SpmvThreads threads;

  cluster_threads_start(&threads, on_host->nnz);
  const SpmvStatus status = analyze(on_host, lanes, limit, analysis, &threads, exec);
  spmv_threads_stop(&threads);
  return status;
}

void cluster_clear_analysis(void *data, SpmvExec *exec)
{
  ClusterAnalysis *a = data;

  forget_clusters(a, exec);
  spmv_exec_free(exec, SPMV_HOST, a->graph.begin);
  spmv_exec_free(exec, SPMV_HOST, a->graph.adjacent);
}

/* ---- arrays ---- */

enum { ARRAYS = 14, UNIT_BYTES = CLUSTER_UNIT * (int)sizeof(uint16_t) };

static void list_arrays(ClusterPlan *p, SpmvScalar scalar, SpmvPlanArray list[ARRAYS])
{
  const ClusterShape *s = &p->shape;
  const int64_t       S = spmv_scalar_bytes(scalar), i32 = (int64_t)sizeof(int32_t), i64 = (int64_t)sizeof(int64_t);
  const int64_t       entries = s->steps * s->lanes, mirrors = s->pair_steps * s->lanes, block = s->block * s->block;
  const int64_t       kept           = s->declared ? 0 : mirrors * block;
  const SpmvPlanArray arrays[ARRAYS] = {
      {"values", SPMV_ARRAY_VALUES, s->value_lanes * block * S, &p->values},
      {"mirrors", SPMV_ARRAY_VALUES, kept * S, &p->mirrors},
      {"corrections", SPMV_ARRAY_INDICES, s->declared ? 0 : mirrors * cluster_corrections(s), (void **)&p->corrections},
      {"index", SPMV_ARRAY_INDICES, s->index * UNIT_BYTES, (void **)&p->index},
      {"order", SPMV_ARRAY_INDICES, s->order * UNIT_BYTES, (void **)&p->order},
      {"places", SPMV_ARRAY_INDICES, (entries + mirrors) * s->place_bytes, &p->places},
      {"nodes", SPMV_ARRAY_INDICES, s->listed * i32, (void **)&p->nodes},
      {"row_begin", SPMV_ARRAY_POINTERS, s->own * i64, (void **)&p->row_begin},
      {"row_entries", SPMV_ARRAY_POINTERS, s->own * i32, (void **)&p->row_entries},
      {"slices", SPMV_ARRAY_POINTERS, s->slices * (int64_t)sizeof *p->slices, (void **)&p->slices},
      {"clusters", SPMV_ARRAY_POINTERS, (s->clusters + 1) * (int64_t)sizeof *p->clusters, (void **)&p->clusters},
      {"long_begin", SPMV_ARRAY_POINTERS, s->long_rows > 0 ? (2 * s->long_rows + 1) * i64 : 0, (void **)&p->long_begin},
      {"long_columns", SPMV_ARRAY_INDICES, (s->long_nnz + s->long_rows) * i32, (void **)&p->long_columns},
      {"long_values", SPMV_ARRAY_VALUES, s->long_nnz * S, &p->long_values},
  };

  memcpy(list, arrays, sizeof arrays);
}

void cluster_memory(const ClusterShape *s, SpmvScalar scalar, SpmvMemory *memory)
{
  ClusterPlan   plan = {.shape = *s};
  SpmvPlanArray list[ARRAYS];
  const int64_t S = spmv_scalar_bytes(scalar), block = s->block * s->block;

  list_arrays(&plan, scalar, list);
  spmv_arrays_report(list, ARRAYS, memory);
  memory->padding_bytes = (s->value_lanes - (s->entries - s->pairs)) * block * S;
  if (s->declared) memory->omitted_bytes = s->pairs * block * S;
  else memory->padding_bytes += (s->pair_steps * s->lanes - s->pairs) * block * S;
  memory->unread_bytes = memory->total_bytes - cluster_product_bytes(s, scalar);
  memory->pairs        = s->pair_steps * s->lanes;
  memory->corrected    = s->declared ? 0 : memory->pairs;
}

/* Bytes that a product reads, with so many for the mirrors of one lane of a pair step */
static int64_t bytes_read(const ClusterShape *s, SpmvScalar scalar, int64_t mirror_bytes)
{
  const int64_t S = spmv_scalar_bytes(scalar), block = s->block * s->block;

  return s->value_lanes * block * S + s->pair_steps * s->lanes * mirror_bytes + (s->index + s->order) * UNIT_BYTES +
         s->listed * 4 + s->slices * (int64_t)sizeof(ClusterSlice) + s->clusters * (int64_t)sizeof(ClusterHead) +
         s->long_nnz * (S + 4);
}

int64_t cluster_product_bytes(const ClusterShape *s, SpmvScalar scalar)
{
  return bytes_read(s, scalar, s->declared ? 0 : cluster_corrections(s));
}

int64_t cluster_bytes_read(const ClusterPlan *plan)
{
  const ClusterShape *s            = &plan->shape;
  int64_t             mirror_bytes = 0;

  if (plan->mirrors_are == CLUSTER_FULL) mirror_bytes = s->block * s->block * spmv_scalar_bytes(plan->base.scalar_type);
  if (plan->mirrors_are == CLUSTER_CORRECTED) mirror_bytes = cluster_corrections(s);
  return bytes_read(s, plan->base.scalar_type, mirror_bytes);
}

int cluster_index_arrays(ClusterPlan *plan, SpmvPlanArray list[SPMV_ARRAYS_MAX])
{
  SpmvPlanArray all[ARRAYS];
  int           count = 0;

  list_arrays(plan, plan->base.scalar_type, all);
  for (int i = 0; i < ARRAYS; i++)
    if (all[i].kind != SPMV_ARRAY_VALUES && all[i].array != (void **)&plan->corrections) list[count++] = all[i];
  return count;
}

SpmvStatus cluster_alloc(ClusterPlan *plan, SpmvExec *exec)
{
  SpmvPlanArray list[ARRAYS];

  list_arrays(plan, plan->base.scalar_type, list);
  return spmv_arrays_alloc(&plan->base, list, ARRAYS, exec);
}

void cluster_free_arrays(SpmvPlan *base)
{
  SpmvPlanArray list[ARRAYS];

  list_arrays((ClusterPlan *)base, base->scalar_type, list);
  spmv_arrays_free(base, list, ARRAYS);
}
