/* Tests of aggregates: the host against the definition of an independent set, the device against the host, bit for bit.
   Device tests are skipped without a device. */
#include "unit.h"
#include "aggregate_test.h"
#include "gen.h"
#include <stdlib.h>
#include <string.h>

static int last_space(void) { return spmv_device_count(NULL) ? SPMV_DEVICE : SPMV_HOST; }

static SpmvAggregateOptions options_of(int distance, int repeats, SpmvAggregateOrder order)
{
  SpmvAggregateOptions o;

  spmv_aggregate_options_init(&o);
  UNIT_EQUAL(1, o.distance);
  UNIT_EQUAL(1, o.repeats);
  o.distance = distance;
  o.repeats  = repeats;
  o.order    = order;
  return o;
}

/* The distance of each vertex from `from` in edges, or most + 1 if it is more than `most`; within one aggregate if `of`
   is not NULL */
static int *edges_from(const TestGraph *g, int32_t from, int most, const int32_t *of)
{
  int     *edges = malloc((size_t)g->n * sizeof *edges + 4);
  int32_t *queue = malloc((size_t)g->n * sizeof *queue + 4), begin = 0, end = 0;

  for (int32_t v = 0; v < g->n; v++) edges[v] = most + 1;
  edges[from]  = 0;
  queue[end++] = from;
  while (begin < end) {
    const int32_t v = queue[begin++];
    for (int32_t k = g->row_ptr[v]; edges[v] < most && k < g->row_ptr[v + 1]; k++) {
      const int32_t w = g->col[k];
      if (edges[w] <= most || (of && of[w] != of[from])) continue;
      edges[w]     = edges[v] + 1;
      queue[end++] = w;
    }
  }
  free(queue);
  return edges;
}

/* Aggregates must be numbered by their roots, all vertices but isolated ones must have one, and must be connected with
   the root */
static int is_complete(const TestGraph *g, const TestAggregates *r, int most_edges)
{
  int64_t wrong = 0, members = 0;

  for (int64_t a = 0; a < r->found.count; a++) {
    const int32_t root   = r->root[a];
    int          *within = edges_from(g, root, most_edges, r->aggregate);
    wrong += r->aggregate[root] != a || (a > 0 && root <= r->root[a - 1]);
    for (int32_t v = 0; v < g->n; v++) {
      if (r->aggregate[v] == a) members++, wrong += within[v] > most_edges;
    }
    free(within);
  }
  for (int32_t v = 0; v < g->n; v++) wrong += r->aggregate[v] < -1 || r->aggregate[v] >= r->found.count;
  return wrong == 0 && members == r->found.members;
}

static int is_independent(const TestGraph *g, const TestAggregates *r, int distance)
{
  int wrong = 0;

  for (int64_t a = 0; a < r->found.count; a++) {
    int *edges = edges_from(g, r->root[a], distance, NULL);
    for (int64_t b = 0; b < r->found.count; b++) wrong += b != a && edges[r->root[b]] <= distance;
    free(edges);
  }
  return wrong == 0;
}

UNIT_TEST(roots_are_a_maximal_independent_set)
{
  for (int i = 0; i < test_graph_count(); i++)
    for (int kind = 0; kind < 6; kind++) {
      TestGraph                  g     = test_graph(i);
      const SpmvAggregateOptions o     = options_of(1 + kind % 2, 1, (SpmvAggregateOrder)(kind / 2));
      TestAggregates             r     = test_aggregates(&g, &o, SPMV_HOST, NULL);
      int                        alone = 0;
      UNIT_EQUAL(SPMV_SUCCESS, r.status);
      unit_check(is_complete(&g, &r, o.distance), g.name, __LINE__, "an aggregate is not connected with its root");
      unit_check(is_independent(&g, &r, o.distance), g.name, __LINE__, "roots are too close");
      for (int32_t v = 0; v < g.n; v++) {
        const int is_alone = test_graph_degree(&g, v) == 0;
        alone += is_alone;
        if ((r.aggregate[v] < 0) != is_alone)
          unit_check(0, g.name, __LINE__, "vertices without neighbours have no aggregate");
      }
      UNIT_EQUAL(g.n - alone, r.found.members);
      test_aggregates_free(&r);
      test_graph_free(&g);
    }
}

/* Two results must be equal */
static void check_same(const TestGraph *g, const TestAggregates *a, const TestAggregates *b)
{
  unit_check(a->status == b->status && a->found.count == b->found.count && a->found.members == b->found.members &&
                 !memcmp(a->aggregate, b->aggregate, (size_t)g->n * 4) &&
                 !memcmp(a->root, b->root, (size_t)a->found.count * 4),
             g->name, __LINE__, "the aggregates differ");
}

UNIT_TEST(aggregates_on_the_device_are_those_on_the_host)
{
  for (int i = 0; i < test_graph_count() && last_space() == SPMV_DEVICE; i++)
    for (int kind = 0; kind < 12; kind++) {
      TestGraph                  g        = test_graph(i);
      const SpmvAggregateOptions o        = options_of(1 + kind % 2, 1 + kind / 6, (SpmvAggregateOrder)(kind / 2 % 3));
      TestAggregates             expected = test_aggregates(&g, &o, SPMV_HOST, NULL);
      TestAggregates             got      = test_aggregates(&g, &o, SPMV_DEVICE, NULL),
                     again                = test_aggregates(&g, &o, SPMV_DEVICE, NULL);
      check_same(&g, &expected, &got);
      check_same(&g, &got, &again);
      test_aggregates_free(&expected);
      test_aggregates_free(&got);
      test_aggregates_free(&again);
      test_graph_free(&g);
    }
}

/* In the order of numbers, planes of this grid are decided one after the other, each with more vertices than one thread
   block works on */
UNIT_TEST(aggregates_of_many_rounds_with_long_fronts)
{
  const GenSpec              spec = gen_stencil(7, 48, 48, 48);
  const SpmvAggregateOptions o    = options_of(1, 1, SPMV_ORDER_NUMBER);
  TestGraph                  g    = test_graph_of("48 x 48 x 48", &spec);

  if (last_space() == SPMV_DEVICE) {
    TestAggregates expected = test_aggregates(&g, &o, SPMV_HOST, NULL),
                   got      = test_aggregates(&g, &o, SPMV_DEVICE, NULL);
    check_same(&g, &expected, &got);
    test_aggregates_free(&expected);
    test_aggregates_free(&got);
  }
  test_graph_free(&g);
}

UNIT_TEST(aggregates_of_known_graphs)
{
  for (int i = 0; i < test_graph_count(); i++) {
    TestGraph                  g  = test_graph(i);
    const SpmvAggregateOptions o1 = options_of(1, 1, SPMV_ORDER_RANDOM), o2 = options_of(2, 1, SPMV_ORDER_RANDOM),
                               by_degree = options_of(1, 1, SPMV_ORDER_DEGREE);
    TestAggregates r1 = test_aggregates(&g, &o1, SPMV_HOST, NULL), r2 = test_aggregates(&g, &o2, SPMV_HOST, NULL);
    TestAggregates r3 = test_aggregates(&g, &by_degree, SPMV_HOST, NULL);
    if (!strcmp(g.name, "star")) {
      UNIT_EQUAL(1, r2.found.count); /* any two leaves are two edges apart */
      UNIT_EQUAL(g.n - 1, r3.found.count);
    }
    if (!strcmp(g.name, "complete")) {
      UNIT_EQUAL(1, r1.found.count);
      UNIT_EQUAL(1, r2.found.count);
    }
    if (!strcmp(g.name, "chain")) {
      UNIT_CHECK(3 * r1.found.count >= g.n && 2 * r1.found.count <= g.n);
      UNIT_CHECK(5 * r2.found.count >= g.n && 3 * r2.found.count <= g.n + 2);
    }
    if (!strcmp(g.name, "pairs and single vertices")) UNIT_EQUAL(33, r1.found.count);
    test_aggregates_free(&r1);
    test_aggregates_free(&r2);
    test_aggregates_free(&r3);
    test_graph_free(&g);
  }
}

/* The graph of the aggregates, for the test of repetitions: two are neighbours if an edge joins them */
static TestGraph graph_of_aggregates(const TestGraph *g, const TestAggregates *r)
{
  const int32_t n      = (int32_t)r->found.count;
  char         *has    = calloc((size_t)n * (size_t)n + 1, 1);
  TestGraph     coarse = {g->name, n, calloc((size_t)n + 1, 4), malloc((size_t)n * (size_t)n * 4 + 4)};
  int32_t       at     = 0;

  for (int32_t v = 0; v < g->n; v++)
    for (int32_t k = g->row_ptr[v]; k < g->row_ptr[v + 1]; k++)
      if (r->aggregate[v] >= 0) has[r->aggregate[v] * (int64_t)n + r->aggregate[g->col[k]]] = 1;
  for (int32_t a = 0; a < n; a++) {
    for (int32_t b = 0; b < n; b++)
      if (has[a * (int64_t)n + b]) coarse.col[at++] = b;
    coarse.row_ptr[a + 1] = at;
  }
  free(has);
  return coarse;
}

UNIT_TEST(repeated_aggregates_are_aggregates_of_aggregates)
{
  for (int i = 0; i < test_graph_count(); i++)
    for (int distance = 1; distance <= 2; distance++) {
      TestGraph                  g     = test_graph(i);
      const SpmvAggregateOptions once  = options_of(distance, 1, SPMV_ORDER_RANDOM),
                                 twice = options_of(distance, 2, SPMV_ORDER_RANDOM),
                                 next  = options_of(1, 1, SPMV_ORDER_NUMBER);
      TestAggregates r1                = test_aggregates(&g, &once, SPMV_HOST, NULL),
                     r2                = test_aggregates(&g, &twice, SPMV_HOST, NULL);
      TestGraph      coarse            = graph_of_aggregates(&g, &r1);
      TestAggregates r3                = test_aggregates(&coarse, &next, SPMV_HOST, NULL);
      int64_t        wrong             = 0;
      UNIT_EQUAL(SPMV_SUCCESS, r2.status);
      UNIT_EQUAL(r3.found.count, r2.found.count);
      for (int32_t v = 0; v < g.n; v++)
        wrong += r2.aggregate[v] != (r1.aggregate[v] < 0 ? -1 : r3.aggregate[r1.aggregate[v]]);
      for (int64_t a = 0; a < r3.found.count; a++) wrong += r2.root[a] != r1.root[r3.root[a]];
      unit_check(wrong == 0, g.name, __LINE__, "aggregates of aggregates differ");
      unit_check(is_complete(&g, &r2, 2 + 3 * distance), g.name, __LINE__,
                 "an aggregate of aggregates is not connected");
      test_aggregates_free(&r1);
      test_aggregates_free(&r2);
      test_aggregates_free(&r3);
      test_graph_free(&coarse);
      test_graph_free(&g);
    }
}

/* A vertex whose edges all lead to other processes is an aggregate of its own */
UNIT_TEST(vertices_at_the_rim_of_a_process_are_not_alone)
{
  for (int space = SPMV_HOST; space <= last_space(); space++)
    for (int i = 0; i < test_graph_count(); i++) {
      TestGraph            g      = test_graph(i);
      SpmvAggregateOptions o      = options_of(2, 1, SPMV_ORDER_DEGREE);
      int32_t             *beyond = calloc((size_t)g.n + 1, 4);
      int64_t              wrong  = 0;
      for (int32_t v = 0; v < g.n; v++) beyond[v + 1] = beyond[v] + (v % 3 == 0);
      o.beyond         = beyond;
      TestAggregates r = test_aggregates(&g, &o, (SpmvSpace)space, NULL);
      for (int32_t v = 0; v < g.n; v++)
        if (test_graph_degree(&g, v) == 0)
          wrong += (r.aggregate[v] >= 0) != (v % 3 == 0) || (r.aggregate[v] >= 0 && r.root[r.aggregate[v]] != v);
      unit_check(wrong == 0, g.name, __LINE__, "vertices with edges beyond the process");
      test_aggregates_free(&r);
      test_graph_free(&g);
      free(beyond);
    }
}

static void *put_wide(SpmvSpace space, int64_t n, const int32_t *from)
{
  int64_t *wide = malloc((size_t)n * 8 + 8);

  for (int64_t i = 0; i < n; i++) wide[i] = from[i];
  void *there = test_put(space, wide, n * 8);
  free(wide);
  return there;
}

/* The same aggregates as with indices of 32 bits */
UNIT_TEST(aggregates_of_graphs_with_indices_of_64_bits)
{
  for (int space = SPMV_HOST; space <= last_space(); space++)
    for (int i = 0; i < test_graph_count(); i++) {
      TestGraph            g      = test_graph(i);
      const int64_t        n      = g.n;
      SpmvPattern          p      = test_graph_pattern(&g);
      SpmvAggregateOptions o      = options_of(1 + i % 2, 1 + i / 2 % 2, SPMV_ORDER_DEGREE);
      int32_t             *beyond = calloc((size_t)n + 1, 4);
      TestAggregates       got    = {.aggregate = malloc((size_t)n * 4 + 4), .root = malloc((size_t)n * 4 + 4)};
      for (int32_t v = 0; v < n; v++) beyond[v + 1] = beyond[v] + (v % 3 == 0);
      o.beyond                = i % 3 ? beyond : NULL;
      TestAggregates expected = test_aggregates(&g, &o, SPMV_HOST, NULL);
      void    *row_ptr = put_wide((SpmvSpace)space, n + 1, g.row_ptr), *col = put_wide((SpmvSpace)space, p.nnz, g.col);
      void    *wide      = put_wide((SpmvSpace)space, n + 1, beyond);
      void    *aggregate = test_put((SpmvSpace)space, NULL, n * 4), *root = test_put((SpmvSpace)space, NULL, n * 4);
      SpmvExec exec;
      spmv_exec_init(&exec, (SpmvSpace)space);
      p.space      = (SpmvSpace)space;
      p.index_type = SPMV_I64;
      p.row_ptr    = row_ptr;
      p.col        = col;
      if (o.beyond) o.beyond = wide;
      got.status = spmv_aggregate(&p, &o, aggregate, root, &got.found, &exec);
      test_take((SpmvSpace)space, row_ptr, NULL, 0);
      test_take((SpmvSpace)space, col, NULL, 0);
      test_take((SpmvSpace)space, wide, NULL, 0);
      test_take((SpmvSpace)space, aggregate, got.aggregate, n * 4);
      test_take((SpmvSpace)space, root, got.root, got.found.count * 4);
      check_same(&g, &expected, &got);
      test_aggregates_free(&expected);
      test_aggregates_free(&got);
      test_graph_free(&g);
      free(beyond);
    }
}

/* With any pattern the call ends and stays within its arrays */
UNIT_TEST(aggregates_of_a_graph_that_is_not_symmetric)
{
  for (int space = SPMV_HOST; space <= last_space(); space++)
    for (int kind = 0; kind < 6; kind++) {
      enum { N = 200 };
      TestGraph g  = {"not symmetric", N, calloc(N + 1, 4), malloc(N * N * 4)};
      int32_t   at = 0;
      for (int32_t v = 0; v < N; v++) {
        for (int32_t w = 0; w < N; w++)
          if (gen_hash((uint64_t)(v * N + w), (uint64_t)kind) % (kind < 3 ? 9 : 90) == 0) g.col[at++] = w;
        g.row_ptr[v + 1] = at;
      }
      const SpmvAggregateOptions o     = options_of(1 + kind % 2, 1, SPMV_ORDER_RANDOM);
      TestAggregates             r     = test_aggregates(&g, &o, (SpmvSpace)space, NULL);
      int64_t                    wrong = 0;
      UNIT_EQUAL(SPMV_SUCCESS, r.status);
      for (int32_t v = 0; v < N; v++) wrong += r.aggregate[v] < -1 || r.aggregate[v] >= r.found.count;
      UNIT_EQUAL(0, wrong);
      test_aggregates_free(&r);
      test_graph_free(&g);
    }
}
