/*
  cluster_partition.c - cuts the nodes of a matrix into clusters.

  Greedy: a cluster begins at the first free node and takes, one by one, the free neighbour with the highest score: 4
  for each neighbour in the cluster and 1 for each in another one, so that no gaps are left behind. Where the matrix is
  large, it is first cut into compact parts, which threads then cut into clusters; the parts depend on the matrix
  alone, and so do the clusters.
*/
#include "cluster_layout.h"
#include <string.h>

enum {
  MOST_PARTS    = 64,
  NODES_OF_PART = 1 << 15,
  SCORES        = 512, /* higher ones count as the highest */
  INSIDE        = 4,   /* the score of a neighbour in the cluster */
  FEW_ENTRIES   = 10,  /* of a node, in the mean */
  FREE          = -1,  /* in cluster_of */
  NO_PART       = -1,
  NOBODY        = -1
};

/* What all parts share; each writes to its own nodes alone */
typedef struct {
  const ClusterGraph *graph;
  ClusterParts       *parts;
  int64_t             size, most_x;
  int                 part_count, outside;        /* outside: the score of a neighbour in another cluster */
  int64_t             part_begin[MOST_PARTS + 1]; /* in members */
  int32_t            *part_of;                    /* NO_PART for long nodes */
  int32_t            *order;                      /* nodes by part, ascending in each */
  int32_t            *score, *next, *before, *seen_by;
  uint8_t            *is_last; /* [nodes] of members: the last one of its cluster */
} Growth;

/* Free neighbours of a growing cluster by score, the first that came first */
typedef struct {
  int32_t first[SCORES], last[SCORES];
  int     top;
} Ranks;

static int64_t entries_of(const ClusterGraph *g, int64_t i) { return g->begin[i + 1] - g->begin[i]; }
static int     is_long(const ClusterGraph *g, int64_t i) { return entries_of(g, i) > CLUSTER_LONG; }

static void take_out(Growth *w, Ranks *ranks, int32_t node)
{
  const int32_t before = w->before[node], next = w->next[node], score = w->score[node];

  if (before == NOBODY) ranks->first[score] = next;
  else w->next[before] = next;
  if (next == NOBODY) ranks->last[score] = before;
  else w->before[next] = before;
}

static void put_in(Growth *w, Ranks *ranks, int32_t node, int score)
{
  if (score >= SCORES) score = SCORES - 1;
  w->score[node]  = score;
  w->next[node]   = NOBODY;
  w->before[node] = ranks->last[score];
  if (ranks->last[score] == NOBODY) ranks->first[score] = node;
  else w->next[ranks->last[score]] = node;
  ranks->last[score] = node;
  if (score > ranks->top) ranks->top = score;
}

/* The score of a node that has just become a neighbour of the growing cluster: nodes of other parts will be in others
 */
static int first_score(const Growth *w, int32_t node, int32_t part)
{
  const ClusterGraph *g     = w->graph;
  int                 score = INSIDE;

  if (w->outside == 0) return score;
  for (int64_t k = g->begin[node]; k < g->begin[node + 1]; k++) {
    const int32_t other = g->adjacent[k];
    if (w->part_of[other] != part || w->parts->cluster_of[other] != FREE) score += w->outside;
  }
  return score;
}

/* The state of the cluster that grows */
typedef struct {
  int32_t part, stamp;
  int64_t own, local, entries;
} Cluster;

/* Whether a cluster must fetch the x of a node in addition. Nodes of other parts belong to other threads: they are not
   marked, and count each time. */
static int is_fresh(const Growth *w, const Cluster *c, int32_t node)
{
  return w->part_of[node] != c->part || w->seen_by[node] != c->stamp;
}

/* Whether a node still fits into a cluster that is not empty */
static int fits(const Growth *w, const Cluster *c, int32_t node)
{
  const ClusterGraph *g     = w->graph;
  int64_t             local = c->local + is_fresh(w, c, node);

  if (c->entries + entries_of(g, node) > CLUSTER_MOST_ENTRIES) return 0;
  for (int64_t k = g->begin[node]; k < g->begin[node + 1] && local <= w->most_x; k++)
    local += g->adjacent[k] != node && is_fresh(w, c, g->adjacent[k]);
  return local <= w->most_x;
}

static void add_node(Growth *w, Ranks *ranks, Cluster *c, int32_t node)
{
  const ClusterGraph *g = w->graph;

  c->own++;
  c->entries += entries_of(g, node);
  c->local += is_fresh(w, c, node);
  w->seen_by[node]           = c->stamp;
  w->parts->cluster_of[node] = c->stamp;
  for (int64_t k = g->begin[node]; k < g->begin[node + 1]; k++) {
    const int32_t other    = g->adjacent[k];
    const int     is_new   = is_fresh(w, c, other);
    const int     is_ready = w->part_of[other] == c->part && w->parts->cluster_of[other] == FREE;

    c->local += is_new;
    if (w->part_of[other] == c->part) w->seen_by[other] = c->stamp;
    if (!is_ready) continue;
    if (!is_new) take_out(w, ranks, other);
    put_in(w, ranks, other, is_new ? first_score(w, other, c->part) : w->score[other] + INSIDE);
  }
}

/* The free neighbour with the highest score, or NOBODY */
static int32_t best_neighbour(Ranks *ranks)
{
  while (ranks->top >= 0 && ranks->first[ranks->top] == NOBODY) ranks->top--;
  return ranks->top < 0 ? NOBODY : ranks->first[ranks->top];
}

/* One cluster, from the first free node of its part on; *member is the next place in members, *free_from in order */
static void grow_cluster(Growth *w, Cluster *c, int64_t *member, int64_t *free_from)
{
  const int64_t end = w->part_begin[c->part + 1];
  Ranks         ranks;

  memset(ranks.first, 0xff, sizeof ranks.first); /* NOBODY */
  memset(ranks.last, 0xff, sizeof ranks.last);
  ranks.top = -1;
  while (c->own < w->size) {
    int32_t node = best_neighbour(&ranks);

    if (node == NOBODY) {
      while (*free_from < end && w->parts->cluster_of[w->order[*free_from]] != FREE) ++*free_from;
      if (*free_from == end) break;
      node = w->order[*free_from];
    }
    if (c->own > 0 && !fits(w, c, node)) break;
    if (ranks.top >= 0) take_out(w, &ranks, node);
    add_node(w, &ranks, c, node);
    w->parts->members[(*member)++] = node;
  }
  w->is_last[*member - 1] = 1;
}

static void grow_part(void *growth, int share, int shares)
{
  Growth *w         = growth;
  int64_t free_from = w->part_begin[share], member = free_from;
  Cluster c = {.part = share};

  (void)shares;
  for (c.stamp = 0; member < w->part_begin[share + 1]; c.stamp++) {
    c.own = c.local = c.entries = 0;
    grow_cluster(w, &c, &member, &free_from);
  }
}

/* Consecutive nodes; columns are marked where the matrix is not square */
static void cut_ranges(Growth *w)
{
  const ClusterGraph *g     = w->graph;
  const int64_t       count = w->part_begin[1];
  Cluster             c     = {.part = 0};

  for (int64_t m = 0; m < count; m++) {
    const int32_t node  = w->order[m];
    int64_t       local = c.local + (g->square && w->seen_by[node] != c.stamp);

    for (int64_t k = g->begin[node]; k < g->begin[node + 1]; k++)
      local += (g->adjacent[k] != node || !g->square) && w->seen_by[g->adjacent[k]] != c.stamp;
    if (c.own > 0 &&
        (c.own == w->size || local > w->most_x || c.entries + entries_of(g, node) > CLUSTER_MOST_ENTRIES)) {
      w->is_last[m - 1] = 1;
      c.own = c.local = c.entries = 0;
      c.stamp++;
    }
    for (int64_t k = g->begin[node]; k < g->begin[node + 1]; k++) {
      c.local += w->seen_by[g->adjacent[k]] != c.stamp;
      w->seen_by[g->adjacent[k]] = c.stamp;
    }
    if (g->square) {
      c.local += w->seen_by[node] != c.stamp;
      w->seen_by[node] = c.stamp;
    }
    c.own++;
    c.entries += entries_of(g, node);
    w->parts->members[m] = node;
  }
  if (count > 0) w->is_last[count - 1] = 1;
}

/* Spreads parts from seeds at equal distances in the order of the nodes, all at the same pace; `queue` has as many
   entries as there are nodes */
static void spread_parts(Growth *w, int32_t *queue)
{
  const ClusterGraph *g    = w->graph;
  int64_t             head = 0, tail = 0, free_from = 0;

  for (int part = 0; part < w->part_count; part++) {
    int64_t seed = g->nodes / w->part_count * part;

    while (seed < g->nodes && (is_long(g, seed) || w->part_of[seed] != NO_PART)) seed++;
    if (seed == g->nodes) continue;
    w->part_of[seed] = part;
    queue[tail++]    = (int32_t)seed;
  }
  for (;;) {
    while (head < tail) {
      const int32_t node = queue[head++];

      for (int64_t k = g->begin[node]; k < g->begin[node + 1]; k++) {
        const int32_t other = g->adjacent[k];

        if (w->part_of[other] != NO_PART || is_long(g, other)) continue;
        w->part_of[other] = w->part_of[node];
        queue[tail++]     = other;
      }
    }
    while (free_from < g->nodes && (w->part_of[free_from] != NO_PART || is_long(g, free_from))) free_from++;
    if (free_from == g->nodes) return;
    w->part_of[free_from] = (int32_t)(free_from * w->part_count / g->nodes); /* nothing leads here from a seed */
    queue[tail++]         = (int32_t)free_from;
  }
}

/* Fills order by part, and members behind the last part with the long nodes */
static void sort_by_part(Growth *w)
{
  const int64_t nodes                = w->graph->nodes;
  int64_t       next[MOST_PARTS + 1] = {0};

  for (int64_t i = 0; i < nodes; i++)
    if (w->part_of[i] != NO_PART) next[w->part_of[i] + 1]++;
  for (int p = 0; p < w->part_count; p++) next[p + 1] += next[p];
  memcpy(w->part_begin, next, sizeof next);
  int64_t long_next = w->parts->members_in_clusters = next[w->part_count];
  for (int64_t i = 0; i < nodes; i++) {
    if (w->part_of[i] == NO_PART) w->parts->members[long_next++] = (int32_t)i;
    else w->order[next[w->part_of[i]]++] = (int32_t)i;
  }
}

static void make_parts(Growth *w)
{
  const int64_t nodes = w->graph->nodes, wanted = nodes / NODES_OF_PART;

  w->part_count = wanted > MOST_PARTS ? MOST_PARTS : wanted < 1 ? 1 : (int)wanted;
  memset(w->part_of, 0xff, (size_t)nodes * sizeof *w->part_of); /* NO_PART */
  if (w->part_count > 1) spread_parts(w, w->next);
  else
    for (int64_t i = 0; i < nodes; i++)
      if (!is_long(w->graph, i)) w->part_of[i] = 0;
}

/* Numbers the clusters in the order of members */
static SpmvStatus number_clusters(const Growth *w, SpmvExec *exec)
{
  ClusterParts *parts = w->parts;

  for (int64_t m = 0; m < parts->members_in_clusters; m++) parts->clusters += w->is_last[m];
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, (parts->clusters + 1) * (int64_t)sizeof *parts->begin, "clusters",
                      (void **)&parts->begin));
  int64_t c       = 0;
  parts->begin[0] = 0;
  for (int64_t m = 0; m < parts->members_in_clusters; m++) {
    parts->cluster_of[parts->members[m]] = (int32_t)c;
    if (w->is_last[m]) parts->begin[++c] = m + 1;
  }
  return SPMV_SUCCESS;
}

static SpmvStatus cut(Growth *w, ClusterPartition how, SpmvExec *exec)
{
  const ClusterGraph *g       = w->graph;
  const int64_t       seen    = g->nodes > g->col_nodes ? g->nodes : g->col_nodes;
  SpmvThreads         threads = {.started = 0};

  memset(w->is_last, 0, (size_t)g->nodes);
  memset(w->seen_by, 0xff, (size_t)seen * sizeof *w->seen_by);
  memset(w->parts->cluster_of, 0xff, (size_t)g->nodes * sizeof *w->parts->cluster_of); /* FREE */
  if (how == CLUSTER_RANGES) {
    w->part_count = 1;
    for (int64_t i = 0; i < g->nodes; i++) w->part_of[i] = is_long(g, i) ? NO_PART : 0;
    sort_by_part(w);
    cut_ranges(w);
    return number_clusters(w, exec);
  }
  w->outside = g->begin[g->nodes] >= FEW_ENTRIES * g->nodes;
  make_parts(w);
  sort_by_part(w);
  spmv_threads_start(&threads, w->part_count < spmv_threads_available() ? w->part_count : spmv_threads_available());
  spmv_threads_run(&threads, grow_part, w, w->part_count);
  spmv_threads_stop(&threads);
  return number_clusters(w, exec);
}

SpmvStatus cluster_partition(const ClusterGraph *g, ClusterPartition how, int64_t size, int64_t most_x,
                             ClusterParts *parts, SpmvExec *exec)
{
  Growth          w       = {.graph = g, .parts = parts, .size = size, .most_x = most_x};
  const int64_t   each    = g->nodes * (int64_t)sizeof(int32_t);
  const int64_t   seen    = (g->nodes > g->col_nodes ? g->nodes : g->col_nodes) * (int64_t)sizeof(int32_t);
  int32_t **const array[] = {&parts->members, &parts->cluster_of, &w.part_of, &w.order, &w.score, &w.next, &w.before};
  SpmvStatus      status  = spmv_alloc(exec, SPMV_HOST, seen, "marks of nodes", (void **)&w.seen_by);

  if (!status) status = spmv_alloc(exec, SPMV_HOST, g->nodes, "ends of clusters", (void **)&w.is_last);
  for (int i = 0; i < 7 && !status; i++) status = spmv_alloc(exec, SPMV_HOST, each, "nodes", (void **)array[i]);
  if (!status && g->nodes > 0) status = cut(&w, how, exec);
  if (!status && g->nodes == 0)
    status = spmv_alloc(exec, SPMV_HOST, (int64_t)sizeof *parts->begin, "clusters", (void **)&parts->begin);
  if (!status && g->nodes == 0) parts->begin[0] = 0;
  for (int i = 2; i < 7; i++) spmv_exec_free(exec, SPMV_HOST, *array[i]);
  spmv_exec_free(exec, SPMV_HOST, w.seen_by);
  spmv_exec_free(exec, SPMV_HOST, w.is_last);
  return status;
}
