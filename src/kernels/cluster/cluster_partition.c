/*
  cluster_partition.c - cuts the nodes of a matrix into clusters.

  Greedy: a cluster begins at the first free node and takes, one by one, the free neighbour with the highest score: 4
  for each neighbour in the cluster and 1 for each in another one, so that no gaps are left behind. Where the matrix is
  large, it is first cut into compact regions, which threads then cut into clusters; the regions depend on the matrix
  alone, and so do the clusters.
*/
#include "cluster_regions.h"
#include "cluster_sort.h"
#include <string.h>

enum {
  SCORES      = 512,    /* higher ones count as the highest */
  INSIDE      = 4,      /* the score of a neighbour in the cluster */
  FEW_ENTRIES = 10,     /* of a node, in the mean */
  NEVER       = -1,     /* in seen */
  IN_CLUSTER  = 0xffff, /* in score */
  NOBODY      = -1
};

/* A node while its region is cut */
typedef struct {
  int32_t  next, before; /* of those with the same score */
  int32_t  seen;         /* the last cluster that it is in or next to */
  uint16_t score, outside;
} Node;

/* What has been cut from a region */
typedef struct {
  int64_t clusters, most_own, most_entries, most_x;
} Cut;

/* What all regions share; each writes to its own nodes alone */
typedef struct {
  const ClusterGraph *graph;
  ClusterParts       *parts;
  ClusterRegions      regions;
  int64_t             size, most_x;
  int                 outside; /* the score of a neighbour in another cluster */
  Node               *nodes;
  int32_t            *ends; /* [nodes] where clusters end in members: those of a region from its first node on */
  Cut                 cut[CLUSTER_MOST_REGIONS];
  uint8_t             turn[CLUSTER_MOST_REGIONS]; /* the regions, largest first, so that none is begun late */
} Growth;

/* Free neighbours of a growing cluster by score, the first that came first */
typedef struct {
  int32_t first[SCORES], last[SCORES];
  int     top;
} Ranks;

/* The cluster that grows */
typedef struct {
  int     region;
  int32_t number; /* in its region */
  int64_t own, local, entries;
} Cluster;

static int64_t entries_of(const ClusterGraph *g, int64_t i) { return g->begin[i + 1] - g->begin[i]; }

static void take_out(Node *nodes, Ranks *ranks, const Node *n)
{
  if (n->before == NOBODY) ranks->first[n->score] = n->next;
  else nodes[n->before].next = n->next;
  if (n->next == NOBODY) ranks->last[n->score] = n->before;
  else nodes[n->next].before = n->before;
}

static void put_in(Node *nodes, Ranks *ranks, int32_t node, int score)
{
  Node *n = &nodes[node];

  if (score >= SCORES) score = SCORES - 1;
  n->score  = (uint16_t)score;
  n->next   = NOBODY;
  n->before = ranks->last[score];
  if (n->before == NOBODY) ranks->first[score] = node;
  else nodes[n->before].next = node;
  ranks->last[score] = node;
  if (score > ranks->top) ranks->top = score;
}

/* Neighbours in other regions: they will be in other clusters */
static int neighbours_elsewhere(const Growth *w, int32_t node, int region)
{
  const ClusterGraph *g     = w->graph;
  int                 count = 0;

  for (int64_t k = g->begin[node]; k < g->begin[node + 1]; k++) count += w->regions.of[g->adjacent[k]] != region;
  return count;
}

/* Whether a cluster must fetch the x of a node in addition. Nodes of other regions belong to other threads: they are
   not marked, and count each time. */
static int is_fresh(const Growth *w, const Cluster *c, int32_t node)
{
  return w->regions.of[node] != c->region || w->nodes[node].seen != c->number;
}

/* Whether a node still fits into a cluster that is not empty */
static int fits(const Growth *w, const Cluster *c, int32_t node)
{
  const ClusterGraph *g       = w->graph;
  const int64_t       entries = entries_of(g, node);
  int64_t             local   = c->local + is_fresh(w, c, node);

  if (c->entries + entries > CLUSTER_MOST_ENTRIES) return 0;
  if (local + entries <= w->most_x) return 1;
  for (int64_t k = g->begin[node]; k < g->begin[node + 1] && local <= w->most_x; k++)
    local += g->adjacent[k] != node && is_fresh(w, c, g->adjacent[k]);
  return local <= w->most_x;
}

/* A free node of the region has one more neighbour in the cluster */
static void come_closer(const Growth *w, Ranks *ranks, const Cluster *c, int32_t node, int is_new)
{
  Node *n     = &w->nodes[node];
  int   score = INSIDE;

  if (is_new) {
    if (w->outside > 0 && n->seen == NEVER && w->regions.count > 1)
      n->outside = (uint16_t)neighbours_elsewhere(w, node, c->region);
    n->outside = (uint16_t)(n->outside + w->outside);
    n->seen    = c->number;
    score += n->outside;
  } else {
    take_out(w->nodes, ranks, n);
    n->outside = (uint16_t)(n->outside + w->outside);
    score += n->score;
  }
  put_in(w->nodes, ranks, node, score);
}

static void add_node(const Growth *w, Ranks *ranks, Cluster *c, int32_t node)
{
  const ClusterGraph *g = w->graph;

  c->own++;
  c->entries += entries_of(g, node);
  c->local += is_fresh(w, c, node);
  w->nodes[node].seen  = c->number;
  w->nodes[node].score = IN_CLUSTER;
  for (int64_t k = g->begin[node]; k < g->begin[node + 1]; k++) {
    const int32_t other  = g->adjacent[k];
    const int     is_new = is_fresh(w, c, other);

    c->local += is_new;
    if (w->regions.of[other] != c->region) continue;
    if (w->nodes[other].score != IN_CLUSTER) come_closer(w, ranks, c, other, is_new);
    else w->nodes[other].seen = c->number;
  }
}

/* The free neighbour with the highest score, or NOBODY */
static int32_t best_neighbour(Ranks *ranks)
{
  while (ranks->top >= 0 && ranks->first[ranks->top] == NOBODY) ranks->top--;
  return ranks->top < 0 ? NOBODY : ranks->first[ranks->top];
}

/* One cluster, from the first free node of its region on; *member is the next place in members, *free_from in order */
static void grow_cluster(const Growth *w, Cluster *c, int64_t *member, int64_t *free_from)
{
  const int64_t  begin = *member, end = w->regions.begin[c->region + 1];
  const int32_t *order = w->regions.order;
  int32_t       *own   = w->parts->members + begin, scratch[CLUSTER_MOST_NODES];
  Ranks          ranks;

  memset(ranks.first, 0xff, sizeof ranks.first); /* NOBODY */
  memset(ranks.last, 0xff, sizeof ranks.last);
  ranks.top = -1;
  while (c->own < w->size) {
    int32_t node = best_neighbour(&ranks);

    if (node == NOBODY) {
      while (*free_from < end && w->nodes[order[*free_from]].score == IN_CLUSTER) ++*free_from;
      if (*free_from == end) break;
      node = order[*free_from];
    }
    if (c->own > 0 && !fits(w, c, node)) break;
    if (ranks.top >= 0) take_out(w->nodes, &ranks, &w->nodes[node]);
    own[c->own] = node; /* add_node() counts it */
    add_node(w, &ranks, c, node);
  }
  *member = begin + c->own;
  cluster_sort(own, scratch, c->own);
}

static void close_cluster(Cut *cut, const Cluster *c)
{
  cut->clusters++;
  if (c->own > cut->most_own) cut->most_own = c->own;
  if (c->entries > cut->most_entries) cut->most_entries = c->entries;
  if (c->local > cut->most_x) cut->most_x = c->local;
}

static void grow_region(void *growth, int turn, int turns)
{
  Growth       *w      = growth;
  const int     region = w->turn[turn];
  const int64_t begin = w->regions.begin[region], end = w->regions.begin[region + 1];
  int64_t       free_from = begin, member = begin;
  Cluster       c = {.region = region};

  (void)turns;
  for (int64_t i = begin; i < end; i++) w->nodes[w->regions.order[i]] = (Node){.seen = NEVER};
  for (; member < end; c.number++) {
    c.own = c.local = c.entries = 0;
    grow_cluster(w, &c, &member, &free_from);
    w->ends[begin + c.number] = (int32_t)member;
    close_cluster(&w->cut[region], &c);
  }
}

/* Consecutive nodes; columns are marked where the matrix is not square */
static void cut_ranges(Growth *w, int32_t *seen_by)
{
  const ClusterGraph *g     = w->graph;
  const int64_t       count = w->regions.begin[1];
  Cluster             c     = {.number = 0};

  for (int64_t m = 0; m < count; m++) {
    const int32_t node  = w->regions.order[m];
    int64_t       local = c.local + (g->square && seen_by[node] != c.number);

    for (int64_t k = g->begin[node]; k < g->begin[node + 1]; k++)
      local += (g->adjacent[k] != node || !g->square) && seen_by[g->adjacent[k]] != c.number;
    if (c.own > 0 &&
        (c.own == w->size || local > w->most_x || c.entries + entries_of(g, node) > CLUSTER_MOST_ENTRIES)) {
      w->ends[c.number++] = (int32_t)m;
      close_cluster(&w->cut[0], &c);
      c.own = c.local = c.entries = 0;
    }
    for (int64_t k = g->begin[node]; k < g->begin[node + 1]; k++) {
      c.local += seen_by[g->adjacent[k]] != c.number;
      seen_by[g->adjacent[k]] = c.number;
    }
    if (g->square) {
      c.local += seen_by[node] != c.number;
      seen_by[node] = c.number;
    }
    c.own++;
    c.entries += entries_of(g, node);
    w->parts->members[m] = node;
  }
  w->ends[c.number] = (int32_t)count;
  if (count > 0) close_cluster(&w->cut[0], &c);
}

/* The clusters of all regions one after the other, and the long nodes behind them */
static SpmvStatus number_clusters(const Growth *w, SpmvExec *exec)
{
  ClusterParts         *parts       = w->parts;
  const ClusterRegions *r           = &w->regions;
  const int64_t         in_clusters = r->begin[r->count], longs = w->graph->nodes - in_clusters;

  for (int region = 0; region < r->count; region++) {
    const Cut *cut = &w->cut[region];

    parts->clusters += cut->clusters;
    if (cut->most_own > parts->most_own) parts->most_own = cut->most_own;
    if (cut->most_entries > parts->most_entries) parts->most_entries = cut->most_entries;
    if (cut->most_x > parts->most_x) parts->most_x = cut->most_x;
  }
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, (parts->clusters + 1) * (int64_t)sizeof *parts->begin, "clusters",
                      (void **)&parts->begin));
  int64_t c       = 0;
  parts->begin[0] = 0;
  for (int region = 0; region < r->count; region++)
    for (int64_t i = 0; i < w->cut[region].clusters; i++) parts->begin[++c] = w->ends[r->begin[region] + i];
  parts->members_in_clusters = in_clusters;
  if (longs > 0) memcpy(parts->members + in_clusters, r->order + in_clusters, (size_t)longs * sizeof *parts->members);
  return SPMV_SUCCESS;
}

static void choose_turns(Growth *w)
{
  const int64_t *begin = w->regions.begin;

  for (int region = 0; region < w->regions.count; region++) {
    const int64_t nodes = begin[region + 1] - begin[region];
    int           turn  = region;

    for (; turn > 0 && begin[w->turn[turn - 1] + 1] - begin[w->turn[turn - 1]] < nodes; turn--)
      w->turn[turn] = w->turn[turn - 1];
    w->turn[turn] = (uint8_t)region;
  }
}

static SpmvStatus cut_greedily(Growth *w, SpmvThreads *threads, SpmvExec *exec)
{
  const ClusterGraph *g = w->graph;

  w->outside = g->begin[g->nodes] >= FEW_ENTRIES * g->nodes;
  SPMV_TRY(cluster_find_regions(g, w->size, &w->regions, threads, exec));
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, g->nodes * (int64_t)sizeof *w->nodes, "growing clusters", (void **)&w->nodes));
  choose_turns(w);
  cluster_share(threads, grow_region, w, w->regions.count);
  return number_clusters(w, exec);
}

static SpmvStatus cut_in_order(Growth *w, SpmvThreads *threads, SpmvExec *exec)
{
  const ClusterGraph *g       = w->graph;
  const int64_t       seen    = (g->nodes > g->col_nodes ? g->nodes : g->col_nodes) * (int64_t)sizeof(int32_t);
  int32_t            *seen_by = NULL;

  SPMV_TRY(cluster_find_regions(g, g->nodes, &w->regions, threads, exec));
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, seen, "marks of nodes", (void **)&seen_by));
  memset(seen_by, 0xff, (size_t)seen); /* no cluster */
  cut_ranges(w, seen_by);
  spmv_exec_free(exec, SPMV_HOST, seen_by);
  return number_clusters(w, exec);
}

SpmvStatus cluster_partition(const ClusterGraph *g, ClusterPartition how, int64_t size, int64_t most_x,
                             ClusterParts *parts, SpmvThreads *threads, SpmvExec *exec)
{
  const int64_t each   = g->nodes * (int64_t)sizeof(int32_t);
  Growth        w      = {.graph = g, .parts = parts, .size = size, .most_x = most_x};
  SpmvStatus    status = spmv_alloc(exec, SPMV_HOST, each, "nodes of clusters", (void **)&parts->members);

  if (!status) status = spmv_alloc(exec, SPMV_HOST, each, "ends of clusters", (void **)&w.ends);
  if (!status && g->nodes > 0)
    status = how == CLUSTER_RANGES ? cut_in_order(&w, threads, exec) : cut_greedily(&w, threads, exec);
  if (!status && g->nodes == 0) status = number_clusters(&w, exec);
  cluster_free_regions(&w.regions, exec);
  spmv_exec_free(exec, SPMV_HOST, w.nodes);
  spmv_exec_free(exec, SPMV_HOST, w.ends);
  return status;
}
