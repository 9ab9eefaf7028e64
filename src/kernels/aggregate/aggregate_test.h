/* aggregate_test.h - graphs for the tests of aggregates, and wrappers that copy arrays to the space of the call and
   back. */
#pragma once

#include "gen.h"
#include "hooks.h"
#include <spmv_aggregate.h>

/* A symmetric graph on the host */
typedef struct {
  const char *name;
  int32_t     n, *row_ptr, *col; /* [n+1], [row_ptr[n]] */
} TestGraph;
int         test_graph_count(void);
TestGraph   test_graph(int number);
TestGraph   test_graph_of(const char *name, const GenSpec *);
void        test_graph_free(TestGraph *);
SpmvPattern test_graph_pattern(const TestGraph *);
/* The number of edges of a vertex to other vertices */
int test_graph_degree(const TestGraph *, int32_t vertex);

/* A copy of an array in a space; from may be NULL */
void *test_put(SpmvSpace, const void *from, int64_t bytes);
/* Brings `bytes` back and frees the copy; to may be NULL */
void test_take(SpmvSpace, void *copy, void *to, int64_t bytes);

/* Moves an array to a space, and frees the one on the host */
void *test_move(SpmvSpace, void *from, int64_t bytes);
/* The indices or scalars of an array in a space, on the host, as int64_t or double; free() frees them */
int64_t *test_fetch_indices(SpmvSpace, SpmvIndex, int64_t n, const void *from);
double  *test_fetch_scalars(SpmvSpace, SpmvScalar, int64_t n, const void *from);

/* The result of spmv_aggregate(), on the host */
typedef struct {
  SpmvStatus     status;
  char           message[SPMV_MESSAGE_MAX];
  int32_t       *aggregate, *root; /* [n] */
  SpmvAggregates found;
} TestAggregates;
/* hooks may be NULL; options->beyond lies on the host */
TestAggregates test_aggregates(const TestGraph *, const SpmvAggregateOptions *, SpmvSpace, Hooks *);
void           test_aggregates_free(TestAggregates *);

/* P0 and the coarse near-null space, on the host, converted to double and 64-bit indices */
typedef struct {
  SpmvStatus status;
  char       message[SPMV_MESSAGE_MAX];
  int64_t    rows, nnz, coarse_rows, *row_ptr, *col;
  double    *values, *coarse; /* [nnz], [columns][coarse_rows] */
} TestTentative;
/* aggregate and near_null of the argument lie on the host; near_null is double */
TestTentative test_tentative(const SpmvTentative *, SpmvSpace, Hooks *);
void          test_tentative_free(TestTentative *);

/* Convert n scalars or indices from and to double or int64_t; free() frees the result */
void   *test_scalars(SpmvScalar, int64_t n, const double *);
double *test_doubles(SpmvScalar, int64_t n, const void *);
void   *test_indices(SpmvIndex, int64_t n, const int64_t *);
