/*
  spmv_aggregate.h - the set-up of one coarse level of smoothed aggregation, on the host or on one GPU: aggregates of
  the vertices of a graph, the tentative prolongator by QR of the near-null space, and its smoothing. spmv_kernels.h has
  the products of matrices.

    spmv_aggregate(&graph, &options, aggregate, NULL, &found, &exec);
    spmv_tentative(&t, row_ptr, col, values, coarse, &exec);                 P0, and the coarse near-null space
    spmv_spgemm_symbolic(SPMV_SPGEMM_AB, A, P0, ...), spmv_spgemm_numeric(...)         A P0
    spmv_prolongator_smooth(omega, diagonal, P0, A P0, values, &exec);       P = P0 - omega D^-1 A P0
    spmv_spgemm_symbolic(SPMV_SPGEMM_PTAP, A, P, ...), spmv_spgemm_numeric(...)        the coarse matrix

  All arrays lie in exec->space and belong to the caller, unless noted otherwise. After a failure the contents of
  outputs are undefined. On the device every function waits a few times for a few bytes; without a device it returns
  SPMV_ERR_UNSUPPORTED. src/kernels/aggregate/README.md describes the algorithms.
*/
#ifndef SPMV_AGGREGATE_H
#define SPMV_AGGREGATE_H

#include "spmv_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- aggregates ---- */

/* Which vertices become roots first: pseudo-random ones; those with few neighbours (pseudo-random among equals); those
   with low numbers. The order by number takes hundreds of short kernels on the device, the other two some twenty pairs;
   for a graph that is a long chain the host finds the roots by number. */
typedef enum { SPMV_ORDER_RANDOM, SPMV_ORDER_DEGREE, SPMV_ORDER_NUMBER } SpmvAggregateOrder;

typedef struct {
  /* Roots of aggregates are more than this many edges apart, and every vertex is at most this many edges from a root. 1
     or 2; 2 gives an independent set of the square of the graph, without forming the square. */
  int distance;
  /* Number of passes, at least 1: each further pass aggregates the aggregates of the previous one, as the vertices of
     the quotient graph */
  int repeats;
  /* Order of the first pass; later passes go by number, which packs aggregates of aggregates more tightly */
  SpmvAggregateOrder order;
  /* NULL, or row pointers [vertices+1], with the index type of the graph, of the edges to vertices of other processes: a
     vertex that has only such edges then becomes an aggregate of its own. Aggregates never cross processes. */
  const void *beyond;
} SpmvAggregateOptions;

/* Distance 1, once, in random order */
SPMV_API void spmv_aggregate_options_init(SpmvAggregateOptions *);

typedef struct {
  int64_t count;   /* aggregates */
  int64_t members; /* vertices in an aggregate */
} SpmvAggregates;

/* aggregate [vertices] becomes the number of each vertex's aggregate, or -1 for a vertex without neighbours and, with
   repeats, for a vertex whose aggregate has no neighbours. Numbers ascend with the vertex numbers of the roots. root
   (NULL or of shape [vertices]) gets the root of each aggregate in its first `count` entries.

   The graph is square, with a symmetric pattern of fewer than 2^31 edges; edges from a vertex to itself are ignored. If
   the pattern is not symmetric, some vertices may end up in no aggregate. The same graph gives the same aggregates on the
   host and on every device. Indices of 64 bits are copied to 32 bits first. Errors: SPMV_ERR_ARGUMENT for invalid sizes
   and options, SPMV_ERR_UNSUPPORTED for larger graphs, SPMV_ERR_MEMORY. */
SPMV_API SpmvStatus spmv_aggregate(const SpmvPattern *graph, const SpmvAggregateOptions *, int32_t *aggregate,
                                   int32_t *root, SpmvAggregates *, SpmvExec *);

/* ---- the tentative prolongator ---- */

enum { SPMV_NEAR_NULL_MAX = 32 }; /* vectors */

typedef struct {
  int64_t        vertices;
  SpmvAggregates found;      /* from spmv_aggregate() */
  const int32_t *aggregate;  /* [vertices] */
  int            block_size; /* rows per vertex */
  int            columns;    /* vectors of the near-null space, 1 to SPMV_NEAR_NULL_MAX */
  SpmvIndex      index_type; /* of P0 */
  SpmvScalar     scalar_type;
  /* [columns][vertices*block_size], one vector after the other. NULL: the block_size constant vectors; vector c is 1 in
     component c of each vertex and 0 elsewhere. */
  const void *near_null;
  int counted; /* `found` is known to be that of `aggregate`: the device does not look, so the host does not wait */
} SpmvTentative;

/* Nonzeros of P0: `columns` in each row of each vertex that is in an aggregate */
SPMV_API int64_t spmv_tentative_nnz(const SpmvTentative *);

/* P0 as a CSR with vertices*block_size rows and count*columns columns: row_ptr [rows+1] and col [nnz] of index_type,
   values [nnz]. A row has the `columns` columns of its vertex's aggregate, or is empty. coarse, of shape
   [columns][count*columns], becomes the near-null space of the next level.

   Within an aggregate, up to rounding, P0 has orthonormal columns and P0 coarse is the near-null space. A vector that
   depends linearly on the previous ones, up to rounding, is replaced by a vector orthogonal to them, or by 0 if the
   aggregate has fewer rows than vectors. SPMV_ERR_OVERFLOW unless nnz fits 32 bits, SPMV_ERR_ARGUMENT also if `found`
   does not match aggregate, unless `counted` says that it does. */
SPMV_API SpmvStatus spmv_tentative(const SpmvTentative *, void *row_ptr, void *col, void *values, void *coarse,
                                   SpmvExec *);

/* ---- smoothing of the prolongator ---- */

/* P = P0 - omega D^-1 (A P0). On entry values are those of A P0, whose pattern is `product`; they are overwritten by P.
   The pattern must contain that of P0, as it does if A stores its whole diagonal; otherwise SPMV_ERR_MATRIX. diagonal
   [rows] is D; a row where it is 0 becomes that of P0. P0 may be any matrix, also a smoothed prolongator. Both index
   types must be equal. */
SPMV_API SpmvStatus spmv_prolongator_smooth(double omega, const void *diagonal, const SpmvCsr *p0,
                                            const SpmvPattern *product, void *values, SpmvExec *);

/* Blocks that a pattern is known to consist of: aligned groups of `rows` rows with equal columns, and of `cols` columns
   that a row has all or none of. Zeros: not known. */
typedef struct {
  int32_t rows, cols;
} SpmvBlocks;

/* spmv_spgemm_symbolic() without a look at operands whose blocks are known (NULL: none are); blocks of a product on the
   device */
SPMV_API SpmvStatus spmv_spgemm_symbolic_blocks(SpmvSpgemmKind, const SpmvPattern *a, const SpmvPattern *b,
                                                const SpmvBlocks *known, SpmvScalar, SpmvExec *, SpmvSpgemm **product);
SPMV_API SpmvBlocks spmv_spgemm_blocks(const SpmvSpgemm *);

#ifdef __cplusplus
}
#endif
#endif
