/* cluster_layout.c - the sizes of all clusters, and the index arrays of a plan, by threads that take ranges of
 * clusters.
 */
#include "cluster_local.h"
#include <stdatomic.h>
#include <string.h>

enum { TAKEN_AT_ONCE = 8 /* clusters by a thread */ };

/* What the threads share */
typedef struct {
  ClusterAnalysis *analysis;
  ClusterPlan     *plan; /* NULL while sizes are measured */
  int              paired;
  int64_t          most_products, local_bytes;
  char            *scratch;
  _Atomic int64_t  taken;                  /* clusters */
  ClusterShape     part[SPMV_THREADS_MAX]; /* what each share has counted */
} Layout;

static int most(int a, int b) { return a > b ? a : b; }

/* The longest lanes of a slice */
static ClusterSlice measure_slice(const ClusterLocal *l, int64_t first, int lanes, const ClusterSlice *before)
{
  int steps = 0, pairs = 0, collected = 0;

  for (int64_t i = first; i < l->own && i < first + lanes; i++) {
    steps     = most(steps, cluster_steps(&l->nodes[i]));
    pairs     = most(pairs, l->nodes[i].kept);
    collected = most(collected, l->nodes[i].collected);
  }
  return (ClusterSlice){(uint16_t)steps,
                        (uint16_t)pairs,
                        (uint16_t)collected,
                        (uint16_t)(before->steps + before->steps_before),
                        (uint16_t)(before->pair_steps + before->pair_steps_before),
                        (uint16_t)(before->collect_steps + before->collect_steps_before)};
}

/* The lanes of a step of a slice that have values: on the host all, on a device those that have such a step; all where
   a block is one value, for then a product would spend its time on finding the places of values. `active` has those of
   the step before. */
static int lanes_of_step(const ClusterLocal *l, int block, int64_t first, int lanes, int step, int *active)
{
  if (lanes == CLUSTER_HOST_LANES || block == 1) return lanes;
  while (*active > 0 && cluster_steps(&l->nodes[first + *active - 1]) <= step) --*active;
  return (*active + CLUSTER_GRAIN - 1) / CLUSTER_GRAIN * CLUSTER_GRAIN;
}

/* The own nodes of a slice */
static int lanes_of_slice(const ClusterLocal *l, int64_t first, int lanes)
{
  return l->own - first < lanes ? (int)(l->own - first) : lanes;
}

/* The sizes of a cluster, which number_heads() makes positions. Returns the transposed products that it stages. */
static int64_t measure_cluster(const ClusterLocal *l, int block, int lanes, ClusterHead *h)
{
  *h = (ClusterHead){.own = (int32_t)l->own, .halo = (int32_t)l->halo_count};
  for (int64_t i = 0; i < l->own; i += lanes) {
    const ClusterSlice s      = measure_slice(l, i, lanes, &(ClusterSlice){0});
    int                active = lanes_of_slice(l, i, lanes);

    h->slice++;
    h->step += s.steps;
    h->pair_step += s.pair_steps;
    h->collect_step += s.collect_steps;
    for (int step = 0; step < s.steps; step++) h->value += lanes_of_step(l, block, i, lanes, step, &active);
  }
  h->pairs = l->pair_count;
  if (lanes == CLUSTER_DEVICE_LANES) h->collect_step = (cluster_lists(h->step, l->own, h->pairs).count + 7) / 8;
  h->node     = l->own + l->halo_count;
  h->own_node = l->own;
  h->slices   = (int32_t)h->slice;
  h->products = (int32_t)(h->pair_step * lanes);
  return h->pair_step * lanes;
}

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
  raise_to(&a->most_x, b->most_x);
  raise_to(&a->most_products, b->most_products);
  raise_to(&a->most_own, b->most_own);
  raise_to(&a->most_listed, b->most_listed);
  raise_to(&a->most_steps, b->most_steps);
  raise_to(&a->most_collect_steps, b->most_collect_steps);
  raise_to(&a->most_slices, b->most_slices);
}

static void count(ClusterShape *s, const ClusterLocal *l, const ClusterHead *h)
{
  merge(s, &(ClusterShape){.entries            = l->entries,
                           .pairs              = l->pair_count,
                           .inside             = l->inside,
                           .most_x             = h->halo + (s->square ? h->own : 0),
                           .most_products      = h->products,
                           .most_own           = h->own,
                           .most_listed        = h->own + h->halo,
                           .most_steps         = h->step,
                           .most_collect_steps = h->collect_step,
                           .most_slices        = h->slices});
}

static void set_place(const ClusterPlan *plan, int64_t at, int place)
{
  if (plan->shape.place_bytes == 1) ((uint8_t *)plan->places)[at] = (uint8_t)place;
  else ((uint16_t *)plan->places)[at] = (uint16_t)place;
}

/* The slice of a lane, and where step `step` of that lane is among the steps of the cluster */
static int64_t step_at(const ClusterSlice *slices, int lanes, int64_t lane, int64_t step)
{
  return (slices[lane / lanes].steps_before + step) * lanes + lane % lanes;
}

/* The pairs, which are the first steps of their keepers; the other end finds the transposed product */
static void write_pairs(const ClusterPlan *plan, ClusterLocal *l, const ClusterHead *h, const ClusterSlice *slices)
{
  const int          lanes   = plan->shape.lanes;
  const int64_t      mirrors = plan->shape.steps * lanes; /* in places */
  uint16_t          *columns = plan->columns + h->step * lanes, *collect = plan->collect + h->collect_step * 8;
  const ClusterLists lists = cluster_lists(h[1].step - h->step, l->own, h->pairs);

  for (int64_t p = 0; p < l->pair_count; p++) {
    const ClusterPair *pair = &l->pairs[p];
    const int32_t      lane = l->lane[pair->keeper], other = l->lane[pair->other];
    const int64_t      step = l->filled[lane]++, at = step_at(slices, lanes, lane, step);
    const int64_t      ready   = l->gathered[other]++;
    const int64_t      product = (slices[lane / lanes].pair_steps_before + step) * lanes + lane % lanes;

    columns[at] = (uint16_t)other;
    set_place(plan, h->step * lanes + at, pair->place[0]);
    set_place(plan, mirrors + h->pair_step * lanes + product, pair->place[1]);
    if (lanes == CLUSTER_DEVICE_LANES) collect[lists.lists + collect[lists.begins + other] + ready] = (uint16_t)product;
    else collect[(slices[other / lanes].collect_steps_before + ready) * lanes + other % lanes] = (uint16_t)product;
  }
}

/* The entries without a pair, in the order of the columns */
static void write_others(const ClusterGraph *g, const ClusterPlan *plan, ClusterLocal *l, const ClusterHead *h,
                         const ClusterSlice *slices)
{
  const int lanes = plan->shape.lanes;

  for (int64_t lane = 0; lane < l->own; lane++) {
    const int32_t number = l->nodes[lane].number;

    for (int32_t k = l->first[number]; k < l->first[number + 1]; k++) {
      if (l->is_paired[k]) continue;
      const int64_t  at     = h->step * lanes + step_at(slices, lanes, lane, l->filled[lane]++);
      const uint16_t column = l->local[k]; /* own nodes lie in the order of the lanes */

      plan->columns[at] = g->square && column < l->own ? (uint16_t)l->lane[column] : column;
      set_place(plan, at, k - l->first[number]);
    }
  }
}

/* Where values of steps begin and where lists of transposed products do, for a device */
static void write_lists(const ClusterPlan *plan, const ClusterLocal *l, const ClusterHead *h,
                        const ClusterSlice *slices)
{
  const ClusterLists lists  = cluster_lists(h[1].step - h->step, l->own, h->pairs);
  uint16_t          *starts = plan->collect + h->collect_step * 8, *begins = starts + lists.begins;
  int                start = 0, begin = 0;

  for (int64_t s = 0; s < h->slices; s++) {
    const int64_t first  = s * plan->shape.lanes;
    int           active = lanes_of_slice(l, first, plan->shape.lanes);

    for (int step = 0; step < slices[s].steps; step++) {
      *starts++ = (uint16_t)start;
      start += lanes_of_step(l, plan->shape.block, first, plan->shape.lanes, step, &active) / CLUSTER_GRAIN;
    }
  }
  *starts = (uint16_t)start;
  for (int64_t lane = 0; lane < l->own; lane++) {
    *begins++ = (uint16_t)begin;
    begin += l->nodes[lane].collected;
  }
  *begins = (uint16_t)begin;
}

/* What padding has: the block of zeros, the product behind the last, no place */
static void write_padding(const ClusterPlan *plan, const ClusterHead *h)
{
  const int      lanes = plan->shape.lanes, bytes = plan->shape.place_bytes;
  const int64_t  steps = h[1].step - h->step, pairs = h[1].pair_step - h->pair_step;
  const int64_t  mirrors = plan->shape.steps * lanes;
  const uint16_t zeros = (uint16_t)(h->halo + (plan->shape.square ? h->own : 0)), none = (uint16_t)(pairs * lanes);

  for (int64_t k = h->step * lanes; k < h[1].step * lanes; k++) plan->columns[k] = zeros;
  for (int64_t k = h->collect_step * 8; k < h[1].collect_step * 8; k++) plan->collect[k] = none;
  if (steps > 0) memset((char *)plan->places + h->step * lanes * bytes, 0xff, (size_t)(steps * lanes * bytes));
  if (pairs > 0)
    memset((char *)plan->places + (mirrors + h->pair_step * lanes) * bytes, 0xff, (size_t)(pairs * lanes * bytes));
}

static void write_nodes(const ClusterGraph *g, const ClusterPlan *plan, const ClusterLocal *l, const ClusterHead *h)
{
  int32_t *nodes = plan->nodes + h->node;

  for (int64_t lane = 0; lane < l->own; lane++) {
    const int32_t node = l->nodes[lane].node;

    nodes[lane]                           = node;
    plan->row_begin[h->own_node + lane]   = g->begin[node] * g->block * g->block;
    plan->row_entries[h->own_node + lane] = (int32_t)(g->begin[node + 1] - g->begin[node]);
  }
  if (l->halo_count > 0) memcpy(nodes + l->own, l->halo, (size_t)l->halo_count * sizeof *nodes);
}

static void write_cluster(const ClusterGraph *g, const ClusterPlan *plan, ClusterLocal *l, const ClusterHead *h)
{
  ClusterSlice *slices = plan->slices + h->slice, before = {0};

  for (int64_t i = 0; i < l->own; i += plan->shape.lanes) {
    before                        = measure_slice(l, i, plan->shape.lanes, &before);
    slices[i / plan->shape.lanes] = before;
  }
  write_padding(plan, h);
  if (plan->shape.lanes == CLUSTER_DEVICE_LANES) write_lists(plan, l, h, slices);
  write_nodes(g, plan, l, h);
  memset(l->filled, 0, (size_t)l->own * sizeof *l->filled);
  memset(l->gathered, 0, (size_t)l->own * sizeof *l->gathered);
  write_pairs(plan, l, h, slices);
  write_others(g, plan, l, h, slices);
}

static void measure_one(Layout *w, ClusterLocal *l, int64_t c, ClusterShape *part)
{
  const ClusterAnalysis *a     = w->analysis;
  const int              lanes = a->shape.lanes;
  int64_t                products;

  cluster_local_make(&a->graph, &a->parts, c, w->paired, l);
  products = measure_cluster(l, a->graph.block, lanes, &a->heads[c]);
  if (products > w->most_products) {
    cluster_local_make(&a->graph, &a->parts, c, 0, l);
    products = measure_cluster(l, a->graph.block, lanes, &a->heads[c]);
  }
  count(part, l, &a->heads[c]);
}

static void do_cluster(Layout *w, ClusterLocal *l, int64_t c, int share)
{
  const ClusterAnalysis *a = w->analysis;
  const ClusterHead     *h = &a->heads[c];

  if (!w->plan) {
    measure_one(w, l, c, &w->part[share]);
    return;
  }
  cluster_local_make(&a->graph, &a->parts, c, h[1].pair_step > h->pair_step, l);
  cluster_local_sort_halo(&a->graph, l);
  write_cluster(&a->graph, w->plan, l, h);
}

/* Each thread has one share: the clusters that it takes */
static void do_share(void *layout, int share, int shares)
{
  Layout             *w     = layout;
  const ClusterParts *parts = &w->analysis->parts;
  ClusterLocal        local;

  (void)shares;
  cluster_local_divide(w->scratch + share * w->local_bytes, parts, &local);
  for (;;) {
    const int64_t first = atomic_fetch_add(&w->taken, TAKEN_AT_ONCE);

    if (first >= parts->clusters) return;
    for (int64_t c = first; c < parts->clusters && c < first + TAKEN_AT_ONCE; c++) do_cluster(w, &local, c, share);
  }
}

static SpmvStatus share_out(Layout *w, SpmvThreads *threads, SpmvExec *exec)
{
  const int shares = spmv_threads_count(threads);

  if (w->analysis->parts.clusters == 0) return SPMV_SUCCESS;
  w->local_bytes = cluster_local_bytes(&w->analysis->parts);
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, shares * w->local_bytes, "layout of clusters", (void **)&w->scratch));
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

    *h          = at;
    h->own      = size.own;
    h->halo     = size.halo;
    h->slices   = size.slices;
    h->products = size.products;
    h->pairs    = size.pairs;
    at.value += size.value;
    at.step += size.step;
    at.pair_step += size.pair_step;
    at.collect_step += size.collect_step;
    at.node += size.node;
    at.own_node += size.own_node;
    at.slice += size.slice;
  }
  a->heads[a->parts.clusters] = at;
  a->shape.clusters           = a->parts.clusters;
  a->shape.steps              = at.step;
  a->shape.pair_steps         = at.pair_step;
  a->shape.collect_steps      = at.collect_step;
  a->shape.value_lanes        = at.value;
  a->shape.listed             = at.node;
  a->shape.own                = at.own_node;
  a->shape.slices             = at.slice;
}

SpmvStatus cluster_measure(ClusterAnalysis *a, int paired, int64_t most_products, SpmvThreads *threads, SpmvExec *exec)
{
  Layout w = {.analysis = a, .paired = paired, .most_products = most_products};

  for (int i = 0; i < SPMV_THREADS_MAX; i++) w.part[i].square = a->shape.square;
  SPMV_TRY(share_out(&w, threads, exec));
  a->shape.entries = a->shape.pairs = a->shape.inside = 0;
  a->shape.most_x = a->shape.most_own = a->shape.most_products = a->shape.most_listed = 0;
  a->shape.most_steps = a->shape.most_collect_steps = a->shape.most_slices = 0;
  for (int i = 0; i < SPMV_THREADS_MAX; i++) merge(&a->shape, &w.part[i]);
  number_heads(a);
  return SPMV_SUCCESS;
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
