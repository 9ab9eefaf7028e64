/*
  cluster.h - rows in clusters: the entries of x that the rows of a cluster need are fetched once, and where the entries
  (i,j) and (j,i) both lie in a cluster they are a pair, of which a product reads one value.

  A *node* is D consecutive rows with equal columns, which come in aligned blocks of D: the unknowns of a mesh node. D
  is 1, 2, 3 or 6 for the whole matrix. An *entry* is a block of D x D values. Nodes lie in *clusters*; the *halo* of a
  cluster are the nodes outside whose x its rows need. Locally, in a cluster, the x of its own nodes comes first, then
  that of the halo, then a block of zeros, which padding multiplies. Where the matrix is not square, all x is halo.

  The own nodes of a cluster are sorted by their entries, longest first, and cut into *slices* of `lanes` nodes. Step k
  of a slice has entry k of each of its nodes. The first steps of a node are the pairs that it keeps: entry (i,j) for
  itself, and for the other end, as (j,i), its mirror. The transposed product of each lane in such a step is left in
  memory of the cluster at step * lanes + lane, where `collect` of the other end finds it; it adds them in a fixed
  order.

  Arrays of a plan, the same on the host and on a device but for the number of lanes and what is said of devices:

    values       S    of each step row by row of the block, one value per lane. With D > 1 a device has no values of
                      the lanes that a step does not need any more: cluster_device.cuh
    mirrors      S    [pair_steps * D * D * lanes] the value of the mirror, transposed: where values has A(i,j),
                      mirrors has A(j,i). Lanes without a pair repeat the value. Absent where symmetry is declared.
    corrections  i8   [pair_steps * lanes * cluster_corrections()] the bit pattern of the mirror minus that of the
                      value, CLUSTER_FAR if that does not fit. Absent where symmetry is declared.
    index        u16  for each cluster its columns, one per step and lane: local number of the node whose x the entry
                      multiplies; padding: the zeros. Behind them, where the transposed products of other nodes are.
  Host: one per lane and step of its list; padding: one that is 0. Device: ClusterLists order        u16  device: for
  each cluster what a product needs of it before the rest: ClusterLists. Clusters whose index and order are equal share
  them. places       u8 or u16  [steps * lanes] which of its node's entries in the CSR an entry is; behind them
                      [pair_steps * lanes] the same for mirrors, CLUSTER_NO_PLACE in lanes without a pair
    nodes        i32  [own and halo] the nodes of a cluster, own ones in the order of the lanes, then its halo
    row_begin    i64  [own] for each own node, in that order, the position of its first row in the CSR
    row_entries  i32  [own] and the entries of each of its rows
    slices            [slices] ClusterSlice
    clusters          [clusters + 1] ClusterHead

  Nodes with many entries are *long*: they lie in no cluster but in a CSR of their own rows (long_begin and so on).
*/
#ifndef SPMV_CLUSTER_H
#define SPMV_CLUSTER_H

#include "core/format.h"
#include "core/simd.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Positions in the table of options, and choices in the order of their tables */
enum { CLUSTER_OPTION_SIZE = 0, CLUSTER_OPTION_PARTITION, CLUSTER_OPTION_SYMMETRY };
typedef enum { CLUSTER_PARTITION_AUTO = 0, CLUSTER_GREEDY, CLUSTER_RANGES } ClusterPartition;
typedef enum { CLUSTER_SYMMETRY_AUTO = 0, CLUSTER_DECLARED, CLUSTER_EXACT, CLUSTER_NONE } ClusterSymmetry;

enum {
  CLUSTER_HOST_LANES   = 8,
  CLUSTER_DEVICE_LANES = 32,
  CLUSTER_GRAIN        = 4,     /* lanes: values of a step on a device fill sectors of 32 bytes */
  CLUSTER_UNIT         = 8,     /* numbers of 16 bits: lists are copied 16 bytes at a time */
  CLUSTER_NODES_UNIT   = 4,     /* and so are nodes on a device, in which each cluster begins a multiple of these */
  CLUSTER_MOST_NODES   = 1024,  /* of a cluster */
  CLUSTER_LONG         = 512,   /* a node with more entries is long */
  CLUSTER_MOST_ENTRIES = 24576, /* of a cluster, so that 16 bits count its steps and what it stages */
  CLUSTER_FAR          = -128,  /* a correction that says: the mirror itself must be read */
  CLUSTER_NO_PLACE     = 0xffff /* the low 8 bits of it where places have 8 bits */
};

/* How the mirrors of a plan relate to the values; decided when values come in */
typedef enum {
  CLUSTER_EQUAL = 0, /* all are equal in bits, or taken to be */
  CLUSTER_CORRECTED, /* nearly all are a correction away */
  CLUSTER_FULL       /* they are read in full */
} ClusterMirrors;

/* One slice; what comes before it in its cluster is counted from the first slice of the cluster */
typedef struct {
  uint16_t steps, pair_steps, collect_steps;
  uint16_t steps_before, pair_steps_before, collect_steps_before;
} ClusterSlice;

/* Where a cluster on a device has its lists, all counted in numbers of 16 bits. In `index`, behind the columns: of each
   own node, where its transposed products are listed, and where the last list ends, if there are pairs; the lists. In
   `order`: of each step, where its values begin, in units of CLUSTER_GRAIN lanes, and where the last ends (not with D
   == 1, where all lanes have values); the own nodes in ascending order, by their place among the lanes. */
typedef struct {
  int begins, lists, index_count, ascending, order_count; /* starts begin at 0 of order */
} ClusterLists;

SPMV_BOTH ClusterLists cluster_lists(int block, int64_t steps, int64_t own, int64_t pairs)
{
  const int          begins = (int)steps * CLUSTER_DEVICE_LANES, lists = pairs > 0 ? begins + (int)own + 1 : begins;
  const int          starts = block == 1 ? 0 : (int)steps + 1;
  const ClusterLists at     = {begins, lists, lists + (int)pairs, starts, starts + (int)own};
  return at;
}

/* One cluster, in 80 bytes; what follows the last one is in the head behind it */
typedef struct {
  int64_t step, pair_step;       /* its first ones of all */
  int64_t index, order;          /* its own, or those of an equal cluster, in units of CLUSTER_UNIT numbers */
  int64_t value;                 /* lanes of steps that have values, before it */
  int64_t node, own_node, slice; /* its first in nodes, in row_begin, and in slices */
  int32_t own, halo, slices, pairs;
} ClusterHead;

/* The sizes of a layout and what the view tells */
typedef struct {
  int     block, lanes, square; /* D; square: the x of own nodes is local too */
  int     place_bytes;          /* 1 or 2 */
  int     declared;             /* mirrors are not stored */
  int     partition;            /* ClusterPartition that was used */
  int64_t row_nodes, col_nodes, clusters, slices, steps, pair_steps, own, halo;
  int64_t index, order, listed;   /* the units of index and order, and the nodes, that are stored */
  int64_t sharing;                /* clusters whose index and order are those of another */
  int64_t value_lanes;            /* of all steps */
  int64_t entries, pairs, inside; /* of all clusters, a pair counted twice in entries; entries whose column is own */
  int64_t most_x, most_products, most_own; /* of a cluster: x staged, transposed products, own nodes */
  int64_t most_listed, most_index, most_order, most_slices;
  int64_t long_rows, long_nnz;
} ClusterShape;

/* A plan in either space; its arrays lie in that space */
typedef struct {
  SpmvPlan       base; /* first */
  ClusterShape   shape;
  ClusterMirrors mirrors_are;
  uint64_t       most_ulps;    /* the largest difference of a mirror from its value, as numbers of their bit patterns */
  int64_t        unequal, far; /* scalars of pairs whose mirrors differ; and by more than a correction holds */
  void          *values, *mirrors;
  int8_t        *corrections;
  uint16_t      *index, *order;
  void          *places;
  int32_t       *nodes, *row_entries;
  int64_t       *row_begin;
  ClusterSlice  *slices;
  ClusterHead   *clusters;
  int            blocks[3], blocks_rounded[3]; /* on a device: thread blocks of a product, by what the mirrors are */
  int64_t       *long_begin;   /* [2 long_rows + 1] where long rows begin in long_columns, then where in the CSR */
  int32_t       *long_columns; /* [long_nnz + long_rows] columns of long rows, then the rows */
  void          *long_values;  /* [long_nnz] S */
} ClusterPlan;

/* The index of a cluster: its columns by step and lane, counted from its first step, and what lies behind them */
static inline uint16_t *cluster_index(const ClusterPlan *p, const ClusterHead *h)
{
  return p->index + h->index * CLUSTER_UNIT;
}

/* Bytes of the corrections of the pair in one lane of a step: on a device whole words, unless blocks are scalars */
SPMV_BOTH int64_t cluster_corrections(const ClusterShape *s)
{
  const int64_t block = (int64_t)s->block * s->block;
  return s->lanes == CLUSTER_HOST_LANES || block == 1 ? block : (block + 3) / 4 * 4;
}

void cluster_memory(const ClusterShape *, SpmvScalar, SpmvMemory *);
/* Bytes that a product reads and writes where mirrors are corrected, x and y left out */
int64_t cluster_product_bytes(const ClusterShape *, SpmvScalar);
/* The same for a plan, whose mirrors are known */
int64_t    cluster_bytes_read(const ClusterPlan *);
SpmvStatus cluster_alloc(ClusterPlan *, SpmvExec *);
void       cluster_free_arrays(SpmvPlan *);
void       cluster_print(const SpmvPlan *, SpmvPrint print, void *ctx);
/* Unknowns of a node as the first rows tell them, at most 6; 6 where a pattern cannot be read on the host */
int cluster_likely_block(const SpmvPattern *);
/* Decides what the mirrors of a plan are, from its counts of differing scalars */
void cluster_decide_mirrors(ClusterPlan *);

extern const SpmvSlots cluster_device_slots;

#ifdef __cplusplus
}
#endif
#endif
