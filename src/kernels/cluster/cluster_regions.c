/*
  cluster_regions.c - cuts a large matrix into compact regions.

  Regions spread from seeds at equal distances in the order of the nodes, all at the same pace, a level of neighbours at
  a time. A node goes to the region that reaches it first, and to that with the smallest number where several do on one
  level: so the regions do not depend on the threads that share the work.
*/
#include "cluster_regions.h"
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum {
  NODES_OF_REGION    = 1 << 13, /* at least */
  CLUSTERS_OF_REGION = 32,      /* at least, so that few clusters lie at a border */
  FEWEST_REGIONS     = 4,       /* fewer would not pay */
  FEW_NODES          = 1 << 10, /* of a level: one thread does it while the others wait */
  TAKEN_AT_ONCE      = 64,      /* nodes of a level by a thread */
  KEPT               = 256,     /* nodes of the next level, before a thread puts them in the queue */
  RANGES             = 64,      /* of nodes, for threads */
  REGION_BITS        = 8,
  MOST_LEVELS        = (1 << 22)
};

static const int32_t UNREACHED = INT32_MAX;

/* What the threads share while regions spread */
typedef struct {
  const ClusterGraph *graph;
  _Atomic int32_t    *mark; /* [nodes] level and region that reached a node; long nodes: -1, which nothing lowers */
  int32_t            *queue;
  int64_t             begin, end;  /* of the level, in queue */
  _Atomic int64_t     taken, tail; /* of the level; of the queue */
  int32_t             level;       /* of those that come next */
  int                 done;
  _Atomic int         waiting, turn; /* of the threads at a barrier */
} Spreading;

/* Nodes of the next level that a thread has found */
typedef struct {
  int32_t node[KEPT];
  int     count;
} Found;

static int64_t entries_of(const ClusterGraph *g, int64_t i) { return g->begin[i + 1] - g->begin[i]; }
static int     is_long(const ClusterGraph *g, int64_t i) { return entries_of(g, i) > CLUSTER_LONG; }

static void put_in_queue(Spreading *w, Found *found)
{
  const int64_t at = atomic_fetch_add_explicit(&w->tail, found->count, memory_order_relaxed);

  memcpy(w->queue + at, found->node, (size_t)found->count * sizeof *found->node);
  found->count = 0;
}

/* Marks a node with the smaller of two marks. Returns whether nothing had reached it before. */
static int reach(Spreading *w, int32_t node, int32_t mark)
{
  int32_t old = atomic_load_explicit(&w->mark[node], memory_order_relaxed);

  while (mark < old)
    if (atomic_compare_exchange_weak_explicit(&w->mark[node], &old, mark, memory_order_relaxed, memory_order_relaxed))
      return old == UNREACHED;
  return 0;
}

static void spread_from(Spreading *w, int32_t node, Found *found)
{
  const ClusterGraph *g      = w->graph;
  const int32_t       region = atomic_load_explicit(&w->mark[node], memory_order_relaxed) & ((1 << REGION_BITS) - 1);
  const int32_t       mark   = (int32_t)((uint32_t)w->level << REGION_BITS) | region;

  for (int64_t k = g->begin[node]; k < g->begin[node + 1]; k++) {
    if (!reach(w, g->adjacent[k], mark)) continue;
    if (found->count == KEPT) put_in_queue(w, found);
    found->node[found->count++] = g->adjacent[k];
  }
}

/* Waits until all threads are here, the last of which does not return before the others may */
static void meet(Spreading *w, int threads)
{
  const int turn = atomic_load(&w->turn);

  if (atomic_fetch_add(&w->waiting, 1) + 1 == threads) {
    atomic_store(&w->waiting, 0);
    atomic_store(&w->turn, turn + 1);
    return;
  }
  while (atomic_load(&w->turn) == turn) sched_yield();
}

/* Makes what has been found the level to spread from */
static void next_level(Spreading *w)
{
  w->begin = w->end;
  w->end   = atomic_load(&w->tail);
  w->level++;
  w->done = w->begin == w->end || w->level == MOST_LEVELS;
  atomic_store(&w->taken, w->begin);
}

/* The levels that are too small to share */
static void spread_alone(Spreading *w, Found *found)
{
  while (!w->done && w->end - w->begin < FEW_NODES) {
    for (int64_t i = w->begin; i < w->end; i++) spread_from(w, w->queue[i], found);
    put_in_queue(w, found);
    next_level(w);
  }
}

/* Each thread has one share */
static void spread(void *spreading, int share, int shares)
{
  Spreading *w = spreading;
  Found      found;

  found.count = 0;
  for (;;) {
    if (share == 0) spread_alone(w, &found);
    meet(w, shares);
    if (w->done) return;
    for (;;) {
      const int64_t first = atomic_fetch_add(&w->taken, TAKEN_AT_ONCE);

      if (first >= w->end) break;
      for (int64_t i = first; i < w->end && i < first + TAKEN_AT_ONCE; i++) spread_from(w, w->queue[i], &found);
    }
    put_in_queue(w, &found);
    meet(w, shares);
    if (share == 0) next_level(w);
  }
}

/* Nodes to which nothing leads from a seed, and what can be reached from them, in the order of the nodes */
static void spread_to_the_rest(Spreading *w, int regions)
{
  const ClusterGraph *g    = w->graph;
  int64_t             tail = atomic_load(&w->tail), head = w->begin;

  for (int64_t first = 0; first <= g->nodes; first++) {
    while (head < tail) {
      const int32_t node = w->queue[head++];

      for (int64_t k = g->begin[node]; k < g->begin[node + 1]; k++) {
        const int32_t other = g->adjacent[k];

        if (w->mark[other] != UNREACHED) continue;
        w->mark[other]   = w->mark[node];
        w->queue[tail++] = other;
      }
    }
    if (first == g->nodes || w->mark[first] != UNREACHED) continue;
    w->mark[first]   = (int32_t)(first * regions / g->nodes);
    w->queue[tail++] = (int32_t)first;
  }
}

static void sow(Spreading *w, int regions)
{
  const ClusterGraph *g = w->graph;

  for (int region = 0; region < regions; region++) {
    int64_t seed = g->nodes / regions * region;

    while (seed < g->nodes && w->mark[seed] != UNREACHED) seed++;
    if (seed == g->nodes) continue;
    w->mark[seed]       = region;
    w->queue[w->tail++] = (int32_t)seed;
  }
  next_level(w);
}

/* ---- the nodes by region ---- */

typedef struct {
  const ClusterGraph    *graph;
  ClusterRegions        *regions;
  const _Atomic int32_t *mark;             /* NULL: there is one region */
  int32_t (*at)[CLUSTER_MOST_REGIONS + 1]; /* [RANGES] nodes of each region, then where they go */
} Sorting;

static int64_t range_begin(const ClusterGraph *g, int range) { return g->nodes * range / RANGES; }

static int slot(const ClusterRegions *r, int64_t i) { return r->of[i] == CLUSTER_NO_REGION ? r->count : r->of[i]; }

static void mark_range(void *spreading, int range, int ranges)
{
  Spreading *w = spreading;

  (void)ranges;
  for (int64_t i = range_begin(w->graph, range); i < range_begin(w->graph, range + 1); i++)
    atomic_init(&w->mark[i], is_long(w->graph, i) ? -1 : UNREACHED);
}

static void count_range(void *sorting, int range, int ranges)
{
  const Sorting  *w = sorting;
  ClusterRegions *r = w->regions;

  (void)ranges;
  memset(w->at[range], 0, sizeof w->at[range]);
  for (int64_t i = range_begin(w->graph, range); i < range_begin(w->graph, range + 1); i++) {
    if (is_long(w->graph, i)) r->of[i] = CLUSTER_NO_REGION;
    else r->of[i] = w->mark ? (uint8_t)(w->mark[i] & ((1 << REGION_BITS) - 1)) : 0;
    w->at[range][slot(r, i)]++;
  }
}

static void sort_range(void *sorting, int range, int ranges)
{
  const Sorting        *w = sorting;
  const ClusterRegions *r = w->regions;

  (void)ranges;
  for (int64_t i = range_begin(w->graph, range); i < range_begin(w->graph, range + 1); i++)
    r->order[w->at[range][slot(r, i)]++] = (int32_t)i;
}

static void sort_nodes(Sorting *w, SpmvThreads *threads)
{
  ClusterRegions *r  = w->regions;
  int32_t         at = 0;

  spmv_threads_run(threads, count_range, w, RANGES);
  for (int region = 0; region <= r->count; region++) {
    r->begin[region] = at;
    for (int range = 0; range < RANGES; range++) {
      const int32_t nodes = w->at[range][region];

      w->at[range][region] = at;
      at += nodes;
    }
  }
  spmv_threads_run(threads, sort_range, w, RANGES);
}

static int choose_count(const ClusterGraph *g, int64_t size)
{
  const int64_t least = size * CLUSTERS_OF_REGION > NODES_OF_REGION ? size * CLUSTERS_OF_REGION : NODES_OF_REGION;
  const int64_t count = g->nodes / least;

  return count < FEWEST_REGIONS ? 1 : count > CLUSTER_MOST_REGIONS ? CLUSTER_MOST_REGIONS : (int)count;
}

SpmvStatus cluster_find_regions(const ClusterGraph *g, int64_t size, ClusterRegions *r, SpmvThreads *threads,
                                SpmvExec *exec)
{
  const int64_t each = g->nodes * (int64_t)sizeof(int32_t);
  Spreading     w    = {.graph = g};
  Sorting       s    = {.graph = g, .regions = r};
  void         *mark = NULL, *queue = NULL, *at = NULL;

  r->count          = choose_count(g, size);
  SpmvStatus status = spmv_alloc(exec, SPMV_HOST, g->nodes, "regions of nodes", (void **)&r->of);
  if (!status) status = spmv_alloc(exec, SPMV_HOST, each, "nodes by region", (void **)&r->order);
  if (!status) status = spmv_alloc(exec, SPMV_HOST, RANGES * (int64_t)sizeof *s.at, "counts of nodes", &at);
  if (!status && r->count > 1) status = spmv_alloc(exec, SPMV_HOST, each, "marks of nodes", &mark);
  if (!status && r->count > 1) status = spmv_alloc(exec, SPMV_HOST, each, "queue of nodes", &queue);
  if (!status) {
    w.mark  = mark;
    w.queue = queue;
    s.mark  = mark;
    s.at    = at;
    if (r->count > 1) {
      spmv_threads_run(threads, mark_range, &w, RANGES);
      sow(&w, r->count);
      spmv_threads_run(threads, spread, &w, spmv_threads_count(threads));
      if (w.tail < g->nodes) spread_to_the_rest(&w, r->count);
    }
    sort_nodes(&s, threads);
  }
  spmv_exec_free(exec, SPMV_HOST, mark);
  spmv_exec_free(exec, SPMV_HOST, queue);
  spmv_exec_free(exec, SPMV_HOST, at);
  return status;
}

void cluster_free_regions(ClusterRegions *r, SpmvExec *exec)
{
  spmv_exec_free(exec, SPMV_HOST, r->of);
  spmv_exec_free(exec, SPMV_HOST, r->order);
  memset(r, 0, sizeof *r);
}
