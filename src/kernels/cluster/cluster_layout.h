/* cluster_layout.h - from the pattern of a matrix to the arrays of a plan: on the host, whatever the plan's space. */
#ifndef SPMV_CLUSTER_LAYOUT_H
#define SPMV_CLUSTER_LAYOUT_H

#include "cluster.h"
#include "core/threads.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The nodes of a matrix: node i has the entries adjacent[begin[i]] .. adjacent[begin[i+1]-1], which ascend */
typedef struct {
  int      block, square;
  int64_t  nodes, col_nodes, longest; /* longest: entries of a node that is not long */
  int64_t *begin;                     /* [nodes + 1] */
  int32_t *adjacent;                  /* [begin[nodes]] */
} ClusterGraph;

/* Cluster c has the nodes members[begin[c]] .. members[begin[c+1]-1], which ascend; long nodes come behind the last
   cluster */
typedef struct {
  int64_t  clusters, members_in_clusters;
  int64_t  most_own, most_entries, most_x; /* of a cluster; x may be less */
  int64_t *begin;                          /* [clusters + 1] */
  int32_t *members;                        /* [nodes] */
} ClusterParts;

/* The data of an analysis, which build takes over. All is in memory of the host. */
typedef struct {
  ClusterGraph graph;
  ClusterParts parts;
  ClusterShape shape;
  ClusterHead *heads;    /* [clusters + 1] */
  int64_t     *equal_to; /* [clusters] the first cluster with the same index and order; NULL: none is shared */
} ClusterAnalysis;

/* As many threads as pay for so many entries and as the processors that the caller may run on */
void cluster_threads_start(SpmvThreads *, int64_t entries);
/* Like spmv_threads_run(), but a thread takes the next share when it is done with one: shares may differ in size */
void cluster_share(SpmvThreads *, SpmvShare, void *context, int shares);

/* The nodes of a pattern on the host. SPMV_ERR_OVERFLOW where there are 2^31 nodes or more. */
SpmvStatus cluster_make_graph(const SpmvPattern *, ClusterGraph *, SpmvThreads *, SpmvExec *);

/* Clusters of at most `size` nodes whose local x has at most `most_x` nodes, unless it is one node */
SpmvStatus cluster_partition(const ClusterGraph *, ClusterPartition, int64_t size, int64_t most_x, ClusterParts *,
                             SpmvThreads *, SpmvExec *);

/* Sizes of all clusters: fills heads and the sizes of shape, whose first line is set before. paired: there are pairs,
   except in clusters that would stage more than most_products transposed products. */
SpmvStatus cluster_measure(ClusterAnalysis *, int paired, int64_t most_products, SpmvThreads *, SpmvExec *);

/* Finds clusters whose index and order are equal, as structured meshes have them, and has them share one copy */
SpmvStatus cluster_find_equal(ClusterAnalysis *, SpmvThreads *, SpmvExec *);

/* The arrays of a plan that the pattern determines; returns their number */
int cluster_index_arrays(ClusterPlan *, SpmvPlanArray list[SPMV_ARRAYS_MAX]);

/* Fills the index arrays of a plan, all in memory of the host */
SpmvStatus cluster_write(const ClusterAnalysis *, ClusterPlan *, SpmvExec *);

/* What a product may stage: clusters become smaller until they do not stage more, or are single nodes */
typedef struct {
  int64_t bytes[2]; /* where a node has one unknown; where it has several */
  int64_t (*staged)(const ClusterShape *, SpmvScalar);
} ClusterLimit;

static inline int64_t cluster_limit_bytes(const ClusterLimit *limit, const ClusterShape *s)
{
  return limit->bytes[s->block > 1];
}

/* Halves the clusters because of which a matrix passes the limit, where they are few, after which the clusters must be
   measured again. count: how many */
SpmvStatus cluster_split_large(ClusterAnalysis *, const ClusterLimit *, SpmvScalar, int64_t *count, SpmvExec *);

/* Scratch memory and the graph on the host are from the hooks of exec for the host, whatever its space. The limit may
   be NULL. */
SpmvStatus cluster_analyze(const SpmvPattern *on_host, int lanes, const ClusterLimit *limit, SpmvAnalysis *,
                           SpmvExec *);
void       cluster_clear_analysis(void *data, SpmvExec *);

#ifdef __cplusplus
}
#endif
#endif
