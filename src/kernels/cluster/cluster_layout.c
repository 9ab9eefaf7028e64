/* cluster_layout.c - the sizes of all clusters, and the index arrays of a plan, by threads that take ranges of
 * clusters.
 */
#include "cluster_local.h"
#include <stdatomic.h>
#include <string.h>

enum { TAKEN_AT_ONCE = 8 /* clusters by a thread */, CACHE_LINE = 64 };

/* What the threads share. They measure clusters, or write them to a plan, or find out by `keys` which are equal. */
typedef struct {
  ClusterAnalysis *analysis;
  ClusterPlan     *plan; /* or NULL */
  ClusterEqual    *keys; /* or NULL */
  int              paired;
  int64_t          most_products, local_bytes, share_bytes;
  char            *scratch;
  _Atomic int64_t  taken;                  /* clusters */
  ClusterShape     part[SPMV_THREADS_MAX]; /* what each share has counted */
} Layout;

static void raise_to(int64_t *most, int64_t n)
{
  if (n > *most) *most = n;
}

/* Adds the sums of b to a, and raises what is largest */
static void merge(ClusterShape *a, const ClusterShape *b)
{
  a->entries += b->entries;
  a->pairs += b->pairs;
  a->inside += b->inside;
  a->halo += b->halo;
  raise_to(&a->most_x, b->most_x);
  raise_to(&a->most_products, b->most_products);
  raise_to(&a->most_own, b->most_own);
  raise_to(&a->most_listed, b->most_listed);
  raise_to(&a->most_index, b->most_index);
  raise_to(&a->most_order, b->most_order);
  raise_to(&a->most_slices, b->most_slices);
}

static void count(ClusterShape *s, const ClusterLocal *l, const ClusterHead *h)
{
  merge(s, &(ClusterShape){.entries       = l->entries,
                           .pairs         = l->pair_count,
                           .inside        = l->inside,
                           .halo          = h->halo,
                           .most_x        = h->halo + (s->square ? h->own : 0),
                           .most_products = h->pair_step * s->lanes,
                           .most_own      = h->own,
                           .most_listed   = h->node,
                           .most_index    = h->index,
                           .most_order    = h->order,
                           .most_slices   = h->slices});
}

static void measure_one(Layout *w, ClusterLocal *l, int64_t c, ClusterShape *part)
{
  const ClusterAnalysis *a = w->analysis;
  ClusterHead           *h = &a->heads[c];

  cluster_local_make(&a->graph, &a->parts, c, w->paired, l);
  cluster_measure_one(l, a->graph.block, a->shape.lanes, h);
  if (h->pair_step * a->shape.lanes > w->most_products) {
    cluster_local_make(&a->graph, &a->parts, c, 0, l);
    cluster_measure_one(l, a->graph.block, a->shape.lanes, h);
  }
  count(part, l, h);
}

/* Where the lists of a cluster go that no plan has room for */
static ClusterTarget to_scratch(const Layout *w, char *scratch)
{
  const ClusterShape *s     = &w->analysis->shape;
  uint16_t           *index = (uint16_t *)scratch, *order = index + s->most_index * CLUSTER_UNIT;

  return (ClusterTarget){
      NULL, s->block, s->lanes, s->square, index, order, (ClusterSlice *)(order + s->most_order * CLUSTER_UNIT)};
}

static void do_cluster(Layout *w, ClusterLocal *l, int64_t c, int share)
{
  const ClusterAnalysis *a = w->analysis;
  const ClusterHead     *h = &a->heads[c];

  if (!w->plan && !w->keys) {
    measure_one(w, l, c, &w->part[share]);
    return;
  }
  if (w->keys && !w->keys[c].wanted) return;
  ClusterTarget to = to_scratch(w, w->scratch + share * w->share_bytes + w->local_bytes);

  if (w->plan) {
    to.plan   = w->plan;
    to.slices = w->plan->slices + h->slice;
    if (!a->equal_to || a->equal_to[c] == c) {
      to.index = cluster_index(w->plan, h);
      if (w->plan->order) to.order = w->plan->order + h->order * CLUSTER_UNIT;
    }
  }
  cluster_local_make(&a->graph, &a->parts, c, h[1].pair_step > h->pair_step, l);
  cluster_local_sort_halo(&a->graph, l);
  cluster_write_one(&a->graph, &to, l, h);
  if (w->keys) cluster_equal_key(&to, l, &w->keys[c]);
}

/* Each thread has one share: the clusters that it takes */
static void do_share(void *layout, int share, int shares)
{
  Layout             *w     = layout;
  const ClusterParts *parts = &w->analysis->parts;
  ClusterLocal        local;

  (void)shares;
  cluster_local_divide(w->scratch + share * w->share_bytes, parts, &local);
  for (;;) {
    const int64_t first = atomic_fetch_add(&w->taken, TAKEN_AT_ONCE);

    if (first >= parts->clusters) return;
    for (int64_t c = first; c < parts->clusters && c < first + TAKEN_AT_ONCE; c++) do_cluster(w, &local, c, share);
  }
}

static int64_t list_bytes(const ClusterShape *s)
{
  const int64_t bytes = (s->most_index + s->most_order) * CLUSTER_UNIT * (int64_t)sizeof(uint16_t) +
                        s->most_slices * (int64_t)sizeof(ClusterSlice);
  return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static SpmvStatus share_out(Layout *w, SpmvThreads *threads, SpmvExec *exec)
{
  const int shares = spmv_threads_count(threads);

  if (w->analysis->parts.clusters == 0) return SPMV_SUCCESS;
  w->local_bytes = cluster_local_bytes(&w->analysis->parts);
  w->share_bytes = w->local_bytes + (w->plan || w->keys ? list_bytes(&w->analysis->shape) : 0);
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, shares * w->share_bytes, "layout of clusters", (void **)&w->scratch));
  spmv_threads_run(threads, do_share, w, shares);
  spmv_exec_free(exec, SPMV_HOST, w->scratch);
  return SPMV_SUCCESS;
}

/* Sizes to positions, and the sums to the shape */
static void number_heads(ClusterAnalysis *a)
{
  ClusterHead at = {0};

  for (int64_t c = 0; c < a->parts.clusters; c++) {
    ClusterHead      *h    = &a->heads[c];
    const ClusterHead size = *h;

    *h        = at;
    h->own    = size.own;
    h->halo   = size.halo;
    h->slices = size.slices;
    h->pairs  = size.pairs;
    at.value += size.value;
    at.step += size.step;
    at.pair_step += size.pair_step;
    at.index += size.index;
    at.order += size.order;
    at.node += size.node;
    at.own_node += size.own_node;
    at.slice += size.slice;
  }
  a->heads[a->parts.clusters] = at;
  a->shape.clusters           = a->parts.clusters;
  a->shape.steps              = at.step;
  a->shape.pair_steps         = at.pair_step;
  a->shape.index              = at.index;
  a->shape.order              = at.order;
  a->shape.value_lanes        = at.value;
  a->shape.listed             = at.node;
  a->shape.own                = at.own_node;
  a->shape.slices             = at.slice;
  a->shape.sharing            = 0;
}

SpmvStatus cluster_measure(ClusterAnalysis *a, int paired, int64_t most_products, SpmvThreads *threads, SpmvExec *exec)
{
  Layout        w = {.analysis = a, .paired = paired, .most_products = most_products};
  ClusterShape *s = &a->shape;

  for (int i = 0; i < SPMV_THREADS_MAX; i++) w.part[i] = (ClusterShape){.square = s->square, .lanes = s->lanes};
  SPMV_TRY(share_out(&w, threads, exec));
  s->entries = s->pairs = s->inside = s->halo = 0;
  s->most_x = s->most_own = s->most_products = s->most_listed = s->most_index = s->most_order = s->most_slices = 0;
  for (int i = 0; i < SPMV_THREADS_MAX; i++) merge(s, &w.part[i]);
  number_heads(a);
  return SPMV_SUCCESS;
}

SpmvStatus cluster_find_equal(ClusterAnalysis *a, SpmvThreads *threads, SpmvExec *exec)
{
  Layout w = {.analysis = a};

  SPMV_TRY(cluster_equal_candidates(a, &w.keys, exec));
  if (!w.keys) return SPMV_SUCCESS;
  SpmvStatus status = share_out(&w, threads, exec);
  if (!status) status = cluster_equal_join(a, w.keys, exec);
  spmv_exec_free(exec, SPMV_HOST, w.keys);
  return status;
}

/* The long rows, in the order of the rows */
static void write_long(const ClusterAnalysis *a, ClusterPlan *plan)
{
  const ClusterGraph *g    = &a->graph;
  const int64_t       rows = plan->shape.long_rows;
  int32_t            *row  = plan->long_columns + plan->shape.long_nnz;
  int64_t             r = 0, at = 0;

  for (int64_t m = a->parts.members_in_clusters; m < g->nodes; m++)
    for (int d = 0; d < g->block; d++, r++) {
      const int32_t node   = a->parts.members[m];
      const int64_t length = (g->begin[node + 1] - g->begin[node]) * g->block;

      row[r]                         = node * g->block + d;
      plan->long_begin[r]            = at;
      plan->long_begin[rows + 1 + r] = g->begin[node] * g->block * g->block + d * length;
      for (int64_t k = g->begin[node]; k < g->begin[node + 1]; k++)
        for (int j = 0; j < g->block; j++) plan->long_columns[at++] = g->adjacent[k] * g->block + j;
    }
  if (rows > 0) plan->long_begin[rows] = at;
}

SpmvStatus cluster_write(const ClusterAnalysis *a, ClusterPlan *plan, SpmvExec *exec)
{
  Layout      w = {.analysis = (ClusterAnalysis *)a, .plan = plan};
  SpmvThreads threads;

  cluster_threads_start(&threads, a->graph.begin[a->graph.nodes]);
  const SpmvStatus status = share_out(&w, &threads, exec);
  spmv_threads_stop(&threads);
  SPMV_TRY(status);
  memcpy(plan->clusters, a->heads, (size_t)(a->shape.clusters + 1) * sizeof *plan->clusters);
  write_long(a, plan);
  return SPMV_SUCCESS;
}
