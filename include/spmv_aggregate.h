/*
  spmv_aggregate.h - the coarse level of smoothed aggregation, on the host or on one GPU: aggregates of the vertices of a
  graph, the tentative prolongator by QR of the near-null space, and its smoothing. Products of matrices are those of
  spmv_kernels.h.

    spmv_aggregate(&graph, &options, aggregate, NULL, &found, &exec);
    spmv_tentative(&t, row_ptr, col, values, coarse, &exec);                 P0, and the coarse near-null space
    spmv_spgemm_symbolic(SPMV_SPGEMM_AB, A, P0, ...), spmv_spgemm_numeric(...)         A P0
    spmv_prolongator_smooth(omega, diagonal, P0, A P0, values, &exec);       P = P0 - omega D^-1 A P0
    spmv_spgemm_symbolic(SPMV_SPGEMM_PTAP, A, P, ...), spmv_spgemm_numeric(...)        the coarse matrix

  All arrays lie in exec->space and belong to the caller, unless it says otherwise. After a failure what an output holds
  is undefined. On the device every function waits a few times for a few bytes; one that is called with an exec on a device
  that is not there returns SPMV_ERR_UNSUPPORTED. src/kernels/aggregate/README.md says what is done.
*/
#ifndef SPMV_AGGREGATE_H
#define SPMV_AGGREGATE_H

#include "spmv_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- aggregates ---- */

/* Which vertices become roots first: pseudo-random ones; those with few neighbours, and pseudo-random ones among equals;
   those with low numbers. On the device that takes hundreds of short kernels where the others take some twenty pairs; for
   a long chain the host does it. */
typedef enum { SPMV_ORDER_RANDOM, SPMV_ORDER_DEGREE, SPMV_ORDER_NUMBER } SpmvAggregateOrder;

typedef struct {
  /* Roots of aggregates are more than so many edges apart, and every vertex is at most as many from one. 1 or 2; 2 is
     an independent set of the square of the graph, which is not formed. */
  int distance;
  /* At least 1: so often aggregates are made, from the second time on of the aggregates of the time before, which are
     vertices with edges where edges connect them */
  int repeats;
  /* The first time; later times are by number, which packs the aggregates of aggregates more tightly */
  SpmvAggregateOrder order;
  /* NULL, or row pointers of shape [vertices+1] of the edges to vertices of other processes. A vertex with such edges
     alone is an aggregate of its own then; aggregates stay within the process in any case. */
  const int32_t *beyond;
} SpmvAggregateOptions;

/* Distance 1, once, in random order */
SPMV_API void spmv_aggregate_options_init(SpmvAggregateOptions *);

typedef struct {
  int64_t count;   /* aggregates */
  int64_t members; /* vertices in an aggregate */
} SpmvAggregates;

/* aggregate [vertices] becomes the number of each vertex's aggregate, or -1 for a vertex without neighbours; and, with
   repeats, for one whose aggregate has none. Numbers ascend with the vertex numbers of the roots. root has shape
   [vertices], of which the first `count` are set: the root of each aggregate. It may be NULL.

   The graph is square, with indices of 32 bits, and its pattern is symmetric; edges of a vertex to itself count for
   nothing. Of another pattern, some vertices may be in no aggregate. The same graph gives the same aggregates on the host
   and on every device. SPMV_ERR_ARGUMENT for sizes and options that make no sense, SPMV_ERR_UNSUPPORTED for indices of 64
   bits, SPMV_ERR_MEMORY. */
SPMV_API SpmvStatus spmv_aggregate(const SpmvPattern *graph, const SpmvAggregateOptions *, int32_t *aggregate,
                                   int32_t *root, SpmvAggregates *, SpmvExec *);

/* ---- the tentative prolongator ---- */

enum { SPMV_NEAR_NULL_MAX = 32 }; /* vectors */

typedef struct {
  int64_t        vertices;
  SpmvAggregates found;      /* by spmv_aggregate() */
  const int32_t *aggregate;  /* [vertices] */
  int            block_size; /* rows of a vertex */
  int            columns;    /* vectors of the near-null space, 1 to SPMV_NEAR_NULL_MAX */
  SpmvIndex      index_type; /* of P0 */
  SpmvScalar     scalar_type;
  /* [columns][vertices*block_size], one vector after the other; NULL: vector c is 1 in component c of each vertex and 0
     elsewhere, and there are block_size of them */
  const void *near_null;
} SpmvTentative;

/* Entries of P0: columns for each row of each member */
SPMV_API int64_t spmv_tentative_nnz(const SpmvTentative *);

/* P0 as a CSR with vertices*block_size rows and count*columns columns: row_ptr [rows+1] and col [nnz] of index_type,
   values [nnz]. A row has the `columns` columns of its vertex's aggregate, or none. coarse, of shape
   [columns][count*columns], becomes the near-null space of the next level.

   Within an aggregate, P0 has orthonormal columns and P0 coarse is the near-null space, up to rounding. A vector that
   depends on those before it, up to rounding, is replaced by one that is orthogonal to them, or by 0 where an aggregate
   has fewer rows than there are vectors. SPMV_ERR_OVERFLOW unless nnz fits 32 bits, SPMV_ERR_ARGUMENT also for `found`
   that is not that of aggregate. */
SPMV_API SpmvStatus spmv_tentative(const SpmvTentative *, void *row_ptr, void *col, void *values, void *coarse,
                                   SpmvExec *);

/* ---- its smoothing ---- */

/* P = P0 - omega D^-1 (A P0), in the place of the values of A P0, whose pattern is `product` and has all entries of P0, as
   it has where A stores its diagonal; otherwise SPMV_ERR_MATRIX. diagonal [rows] is D; a row where it is 0 stays that of
   P0. P0 may be any matrix, also a prolongator that is smoothed already. Index types are the same. */
SPMV_API SpmvStatus spmv_prolongator_smooth(double omega, const void *diagonal, const SpmvCsr *p0,
                                            const SpmvPattern *product, void *values, SpmvExec *);

#ifdef __cplusplus
}
#endif
#endif
