/* aggregate.h - for spmv_aggregate.h: the steps that host and device implement, and the rank that both use. */
#pragma once

#include "core/format.h"
#include <spmv_aggregate.h>

SPMV_C_BEGIN

enum { SPMV_RANK_BITS = 30, SPMV_DEGREE_BITS = 10 };

/* The rank of a vertex: vertices become roots by descending rank, of equal ranks the highest number first. degree is
   used with SPMV_ORDER_DEGREE only. */
SPMV_BOTH uint32_t spmv_vertex_rank(int64_t vertex, SpmvAggregateOrder order, int64_t degree)
{
  const uint32_t most = (1u << SPMV_DEGREE_BITS) - 1, lowest = (1u << SPMV_RANK_BITS) - 1;
  const uint32_t random = (uint32_t)(spmv_mix((uint64_t)vertex + 0x9e3779b97f4a7c15ull) >> (64 - SPMV_RANK_BITS));

  if (order == SPMV_ORDER_NUMBER) return lowest - (vertex < (int64_t)lowest ? (uint32_t)vertex : lowest);
  if (order == SPMV_ORDER_RANDOM) return random;
  return (most - (degree < (int64_t)most ? (uint32_t)degree : most)) << (SPMV_RANK_BITS - SPMV_DEGREE_BITS) |
         random >> SPMV_DEGREE_BITS;
}

/* Whether a vertex has an edge to another vertex, here or (beyond) on another process */
SPMV_BOTH int spmv_vertex_has_edge(const int32_t *row_ptr, const int32_t *col, const int32_t *beyond, int64_t vertex)
{
  const int32_t begin = row_ptr[vertex], end = row_ptr[vertex + 1];

  return (beyond && beyond[vertex + 1] > beyond[vertex]) || end - begin > 1 || (end > begin && col[begin] != vertex);
}

/* The steps that host and device implement; spmv_aggregate() etc. have checked the arguments */
typedef struct {
  /* Copies n indices */
  SpmvStatus (*narrow)(int64_t n, const int64_t *from, int32_t *to, SpmvExec *);
  /* Of a graph with 32-bit indices */
  SpmvStatus (*aggregate)(const SpmvPattern *graph, const SpmvAggregateOptions *, int32_t *aggregate, int32_t *root,
                          SpmvAggregates *, SpmvExec *);
  /* aggregate[v] = next[aggregate[v]] for n vertices, and root[a] = root[next_root[a]] for the new aggregates a, which
     are numbered by ascending next_root; counts members. root may be NULL. */
  SpmvStatus (*join)(int64_t n, int32_t *aggregate, int32_t *root, const int32_t *next, const int32_t *next_root,
                     SpmvAggregates *, SpmvExec *);
  SpmvStatus (*tentative)(const SpmvTentative *, void *row_ptr, void *col, void *values, void *coarse, SpmvExec *);
  /* *missing: 1 + the number of a row in which the product lacks an entry of P0; 0 if there is none */
  SpmvStatus (*smooth)(double omega, const void *diagonal, const SpmvCsr *p0, const SpmvPattern *product, void *values,
                       int64_t *missing, SpmvExec *);
} SpmvAggregateSlots;

extern const SpmvAggregateSlots spmv_aggregate_host_slots, spmv_aggregate_device_slots;

/* Steps on the device, in tentative_device.cu */
SpmvStatus spmv_tentative_device(const SpmvTentative *, void *row_ptr, void *col, void *values, void *coarse,
                                 SpmvExec *);
SpmvStatus spmv_smooth_device(double omega, const void *diagonal, const SpmvCsr *p0, const SpmvPattern *product,
                              void *values, int64_t *missing, SpmvExec *);
/* Steps on the host, in tentative_host.c */
SpmvStatus spmv_tentative_host(const SpmvTentative *, void *row_ptr, void *col, void *values, void *coarse, SpmvExec *);
SpmvStatus spmv_smooth_host(double omega, const void *diagonal, const SpmvCsr *p0, const SpmvPattern *product,
                            void *values, int64_t *missing, SpmvExec *);
/* The error for a `found` that does not match the aggregates */
SpmvStatus spmv_tentative_mismatch(const SpmvTentative *, SpmvExec *);

SPMV_C_END
