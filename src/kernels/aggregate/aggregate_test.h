/* aggregate_test.h - graphs for the tests of aggregates, and calls whose arrays go to the space of work and back. */
#pragma once

#include "hooks.h"
#include <spmv_aggregate.h>

/* A symmetric graph on the host */
typedef struct {
  const char *name;
  int32_t     n, *row_ptr, *col; /* [n+1], [row_ptr[n]] */
} TestGraph;
int         test_graph_count(void);
TestGraph   test_graph(int number);
void        test_graph_free(TestGraph *);
SpmvPattern test_graph_pattern(const TestGraph *);
/* Edges of a vertex to others */
int test_graph_degree(const TestGraph *, int32_t vertex);

/* Copies of arrays in the space of work */
void *test_put(SpmvSpace, const void *from, int64_t bytes);
/* Brings `bytes` back and frees the copy; to may be NULL */
void test_take(SpmvSpace, void *copy, void *to, int64_t bytes);

/* What spmv_aggregate() gives, on the host */
typedef struct {
  SpmvStatus     status;
  char           message[SPMV_MESSAGE_MAX];
  int32_t       *aggregate, *root; /* [n] */
  SpmvAggregates found;
} TestAggregates;
/* hooks may be NULL; beyond of the options lies on the host */
TestAggregates test_aggregates(const TestGraph *, const SpmvAggregateOptions *, SpmvSpace, Hooks *);
void           test_aggregates_free(TestAggregates *);

/* P0 and the coarse near-null space, on the host; numbers are double, indices have 64 bits, whatever the types are */
typedef struct {
  SpmvStatus status;
  char       message[SPMV_MESSAGE_MAX];
  int64_t    rows, nnz, coarse_rows, *row_ptr, *col;
  double    *values, *coarse; /* [nnz], [columns][coarse_rows] */
} TestTentative;
/* aggregate lies on the host, and so do the near_null numbers, which are double */
TestTentative test_tentative(const SpmvTentative *, SpmvSpace, Hooks *);
void          test_tentative_free(TestTentative *);

/* n numbers of a scalar type, or indices of a type, from double or int64_t, and back; the result is freed by free() */
void   *test_scalars(SpmvScalar, int64_t n, const double *);
double *test_doubles(SpmvScalar, int64_t n, const void *);
void   *test_indices(SpmvIndex, int64_t n, const int64_t *);
