/*
  spmv_graph.h - the graph of a matrix, as algebraic multigrid coarsens it: one vertex for each block row, one edge for
  each block, with weights. On the host and on the device.

  The steps, in this order; each is optional:

    collapse    an edge for each block of block_size x block_size entries, whose weight is the sum of their magnitudes
    transpose   G + G^T
    scale       (G_ij s_i) s_j with s_i = sqrt(|1 / G_ii|), or 0 if the diagonal entry is 0 or missing
    filter      edges with weights of at most `threshold` are removed

  The steps are those of PETSc's MatCreateGraph(), with additions in the same order, so results agree with it bit by
  bit.
*/
#ifndef SPMV_GRAPH_H
#define SPMV_GRAPH_H

#include "spmv_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SPMV_GRAPH_INDEX_MAX = 64 };

/* How the entries of a block row form blocks. Full blocks: the rows of a block row have equal columns in groups of
   block_size, and group k of all rows is edge k. Any blocks: each block with at least one entry is an edge. Find
   blocks: full blocks if spmv_graph_full_blocks() finds them, else any blocks. */
typedef enum { SPMV_GRAPH_FIND_BLOCKS, SPMV_GRAPH_FULL_BLOCKS, SPMV_GRAPH_ANY_BLOCKS } SpmvGraphBlocks;

typedef enum {
  SPMV_GRAPH_KEEP_ALL,
  SPMV_GRAPH_KEEP_DIAGONAL, /* edges of weight at most `threshold` are removed; a diagonal edge stays, with weight 0 */
  SPMV_GRAPH_KEEP_ABOVE     /* only edges of weight above `threshold` stay */
} SpmvGraphFilter;

/* All zero except block_size = 1: the graph of a matrix without blocks, unfiltered */
typedef struct {
  int64_t         block_size;  /* divides the rows, and the columns where group is NULL */
  SpmvGraphBlocks blocks;      /* ignored if block_size is 1 */
  int             index_count; /* of full blocks, only these rows and columns are summed; 0: all */
  int32_t         index[SPMV_GRAPH_INDEX_MAX];
  int magnitudes; /* with block_size 1: weights are magnitudes of entries; larger blocks always sum magnitudes */
  int add_transpose, scale;
  SpmvGraphFilter filter;
  double          threshold;
  /* NULL, or for each column of the matrix the column of its edge, ascending, with the index type and in the space of
     the matrix: for columns owned by other processes. The graph then has group_count columns, and add_transpose, scale
     and filter are not allowed. */
  const void *group;
  int64_t     group_count;
} SpmvGraphOptions;

/* A graph, in the space of the exec that made it */
typedef struct SpmvGraph SpmvGraph;

/* full: whether all block rows have full blocks: equal columns in all rows of a block row, the k-th congruent to k
   modulo block_size. seems_full: the weaker test of PETSc 3.18, which compares only row lengths and first columns, and
   requires rows to be empty if the first row of their block row is. */
SPMV_API SpmvStatus spmv_graph_full_blocks(const SpmvPattern *, int64_t block_size, SpmvExec *, int *full,
                                           int *seems_full);

/* The graph of a matrix, whose arrays lie in exec->space; columns ascend strictly. Rows, columns and edges must fit 32
   bits, also before the filter, else SPMV_ERR_OVERFLOW. *graph is NULL after a failure. On the device it waits. */
SPMV_API SpmvStatus spmv_graph_create(const SpmvCsr *, const SpmvGraphOptions *, SpmvExec *, SpmvGraph **graph);
/* The arrays of a graph, in its space and with the types of the matrix; columns ascend. They belong to the graph. */
SPMV_API void spmv_graph_csr(const SpmvGraph *, SpmvCsr *);
/* Frees a graph and sets the pointer to NULL; NULL and a pointer to NULL are accepted */
SPMV_API void spmv_graph_destroy(SpmvGraph **);
/* Without a wait for the device: only exec->stream may have used the graph */
SPMV_API void spmv_graph_destroy_on(SpmvGraph **, SpmvExec *exec);

#ifdef __cplusplus
}
#endif
#endif
