/* cluster_local.h - one cluster while it is laid out: local numbers of its nodes, its pairs, the order of its lanes. */
#ifndef SPMV_CLUSTER_LOCAL_H
#define SPMV_CLUSTER_LOCAL_H

#include "cluster_layout.h"

/* An entry of the hash table that numbers the nodes of a cluster; all bits set where it is empty */
typedef struct {
  int32_t node, local;
} ClusterKey;

/* Both ends are own nodes, counted in ascending order. The keeper has the pair among its steps. */
typedef struct {
  uint16_t keeper, other;
  uint16_t place[2]; /* of the entry (keeper,other) in its row, and of its mirror */
} ClusterPair;

/* An entry whose column is an own node: that node, and its place among all entries of the row */
typedef struct {
  uint16_t local, place;
} ClusterInside;

/* An own node */
typedef struct {
  int32_t node, number; /* in the matrix; among the own nodes, ascending */
  int32_t kept, others; /* pairs that it keeps, entries without a pair */
  int32_t collected;    /* pairs that another node keeps */
} ClusterNode;

/* Scratch memory of one thread, as large as the largest cluster needs */
typedef struct {
  ClusterKey  *keys;
  int64_t      key_count; /* a power of two */
  int32_t     *halo;      /* as rows name them; ascending after cluster_local_sort_halo() */
  int32_t     *rank;      /* [halo] scratch: where each is after that */
  ClusterPair *pairs;
  ClusterNode *nodes;          /* in ascending order, then in the order of the lanes */
  ClusterNode *sorted;         /* scratch */
  int32_t     *lane;           /* of each own node, by its number */
  int32_t     *first;          /* [own] the first entry of each, in local and is_paired */
  uint16_t    *local;          /* [entries] by own nodes, ascending: the columns, numbered as own nodes are, then as
                                  the halo is */
  ClusterInside *inside_entry; /* by own nodes, with one that may be written to behind the last */
  int32_t       *inside_first; /* [own + 1] the first of each own node */
  int32_t       *next, *steps; /* of each own node: scratch of the search for pairs, and steps so far */
  uint8_t       *is_paired;    /* [entries] */
  int32_t       *filled, *gathered; /* steps and collected products of each own node, while they are written */
  int64_t        own, halo_count, pair_count, entries, inside;
} ClusterLocal;

int64_t cluster_local_bytes(const ClusterParts *);
/* Divides a block of that size */
void cluster_local_divide(void *block, const ClusterParts *, ClusterLocal *);

/* Numbers, pairs and sorts the nodes of cluster c. Without `paired` every entry is one without a pair. */
void cluster_local_make(const ClusterGraph *, const ClusterParts *, int64_t c, int paired, ClusterLocal *);

/* The sizes of a cluster, in the fields that number_heads() makes positions of */
void cluster_measure_one(const ClusterLocal *, int block, int lanes, ClusterHead *);

/* Where the lists of one cluster go */
typedef struct {
  const ClusterPlan *plan; /* for its other arrays; NULL: they are not wanted */
  int                block, lanes, square;
  uint16_t          *index, *order; /* as many numbers as the cluster needs */
  ClusterSlice      *slices;
} ClusterTarget;

/* Writes a cluster that was made, with its halo sorted; what follows it begins at h[1] */
void cluster_write_one(const ClusterGraph *, const ClusterTarget *, ClusterLocal *, const ClusterHead *h);

/* What says that clusters are equal: two numbers of 64 bits, drawn from all that they could share. Unequal clusters
   have the same ones with a probability of 2^-128. */
typedef struct {
  uint64_t key[2];
  int64_t  cluster;
  int      wanted; /* its sizes are those of another one */
} ClusterEqual;

/* The clusters that may be equal; NULL where too few are for it to matter. The caller frees them. */
SpmvStatus cluster_equal_candidates(const ClusterAnalysis *, ClusterEqual **, SpmvExec *);
/* Sets the key of a cluster that was written */
void cluster_equal_key(const ClusterTarget *, const ClusterLocal *, ClusterEqual *);
/* Joins the clusters with equal keys; sorts them */
SpmvStatus cluster_equal_join(ClusterAnalysis *, ClusterEqual *, SpmvExec *);

/* Puts the halo in ascending order and numbers the columns by it */
void cluster_local_sort_halo(const ClusterGraph *, ClusterLocal *);

static inline int32_t cluster_steps(const ClusterNode *n) { return n->kept + n->others; }

#endif
