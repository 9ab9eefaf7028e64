/*
  spmv_graph.h - the graph of a matrix, as algebraic multigrid coarsens it: one vertex for each block row, one edge for
  each block, with weights. On the host and on the device.

  The steps, in this order, each of which may be left out:

    collapse    an edge for each block of block_size x block_size entries, whose weight is the sum of their magnitudes
    transpose   G + G^T
    scale       (G_ij s_i) s_j with s_i = sqrt(|1 / G_ii|), or 0 where the diagonal is 0 or not there
    filter      edges with weights of at most `threshold` go

  They do what PETSc's MatCreateGraph() does, additions in its order: results have its bits.
*/
#ifndef SPMV_GRAPH_H
#define SPMV_GRAPH_H

#include "spmv_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SPMV_GRAPH_INDEX_MAX = 64 };

/* How the entries of a block row are put into blocks. Full blocks: the rows have equal columns, in groups of block_size,
   and group k of all rows is edge k. Any blocks: an edge is there for each block with an entry. */
typedef enum { SPMV_GRAPH_FIND_BLOCKS, SPMV_GRAPH_FULL_BLOCKS, SPMV_GRAPH_ANY_BLOCKS } SpmvGraphBlocks;

typedef enum {
  SPMV_GRAPH_KEEP_ALL,
  SPMV_GRAPH_KEEP_DIAGONAL, /* weights of at most `threshold` go, but of a diagonal edge, which gets weight 0 */
  SPMV_GRAPH_KEEP_ABOVE     /* weights above `threshold` stay, and nothing else */
} SpmvGraphFilter;

/* Zeros are the graph of a matrix without blocks, unchanged, but for block_size, which is at least 1 */
typedef struct {
  int64_t         block_size;  /* divides the rows, and the columns where group is NULL */
  SpmvGraphBlocks blocks;      /* with block_size 1 without a meaning */
  int             index_count; /* of full blocks, only these rows and columns are added up; 0: all */
  int32_t         index[SPMV_GRAPH_INDEX_MAX];
  int             magnitudes; /* of the entries where block_size is 1; larger blocks have magnitudes in any case */
  int             add_transpose, scale;
  SpmvGraphFilter filter;
  double          threshold;
  /* NULL, or the edge's column of each column, ascending, of the index type and in the space of the matrix: for the
     columns that a process does not own. The graph has group_count columns then, and is neither transposed nor scaled. */
  const void *group;
  int64_t     group_count;
} SpmvGraphOptions;

/* A graph, in the space of the exec that made it */
typedef struct SpmvGraph SpmvGraph;

/* Whether all block rows have full blocks: equal columns in all rows of a block row, the k-th congruent k modulo
   block_size. seems_full: whether a look at the lengths and first columns says so, and rows are empty where the first of
   their block row is, as PETSc 3.18 looks. */
SPMV_API SpmvStatus spmv_graph_full_blocks(const SpmvPattern *, int64_t block_size, SpmvExec *, int *full,
                                           int *seems_full);

/* The graph of a matrix, whose arrays lie in exec->space; columns ascend strictly. Rows, columns and edges must fit 32
   bits, also before the filter, else SPMV_ERR_OVERFLOW. *graph is NULL after a failure. On the device it waits. */
SPMV_API SpmvStatus spmv_graph_create(const SpmvCsr *, const SpmvGraphOptions *, SpmvExec *, SpmvGraph **graph);
/* Its arrays, in the space of the graph and of the types of the matrix; columns ascend. They belong to the graph. */
SPMV_API void spmv_graph_csr(const SpmvGraph *, SpmvCsr *);
/* Frees a graph and sets the pointer to NULL; NULL and a pointer to NULL are accepted */
SPMV_API void spmv_graph_destroy(SpmvGraph **);

#ifdef __cplusplus
}
#endif
#endif
