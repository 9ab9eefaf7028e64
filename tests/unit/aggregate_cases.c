/* aggregate_cases.c - graphs for the tests of aggregates, and wrappers of the calls for either space; see
   aggregate_test.h. */
#include "aggregate/aggregate_test.h"
#include "gen.h"
#include <stdlib.h>
#include <string.h>

/* ---- graphs ---- */

/* Whether i < j are neighbours */
typedef int Edge(int32_t i, int32_t j);

static int none(int32_t i, int32_t j)
{
  (void)i;
  (void)j;
  return 0;
}
static int pairs(int32_t i, int32_t j) { return i % 4 == 0 && j == i + 1; }
static int chain(int32_t i, int32_t j) { return j == i + 1; }
static int star(int32_t i, int32_t j)
{
  (void)j;
  return i == 0;
}
static int hub_in_the_middle(int32_t i, int32_t j) { return i == 50 || j == 50 || j == i + 1; }
static int complete(int32_t i, int32_t j)
{
  (void)i;
  (void)j;
  return 1;
}
static int random_edge(int32_t i, int32_t j) { return gen_hash((uint64_t)i, (uint64_t)j) % 400 == 0; }

static const struct {
  const char *name;
  int32_t     n;
  Edge       *edge;     /* or a matrix of gen.h */
  int         diagonal; /* vertices with an edge to themselves: 0 none, 1 all, 2 every second */
} graphs[] = {{"no vertices", 0, none, 0},
              {"one vertex", 1, none, 1},
              {"one vertex without an edge to itself", 1, none, 0},
              {"no edges", 70, none, 2},
              {"pairs and single vertices", 130, pairs, 2},
              {"chain", 300, chain, 1},
              {"star", 700, star, 0},
              {"hub", 101, hub_in_the_middle, 2},
              {"complete", 60, complete, 1},
              {"random", 1200, random_edge, 0},
              {"7-point stencil", 0, NULL, 0},
              {"5-point stencil", 0, NULL, 0}, /* more vertices than one thread block works on */
              {"tetrahedra", 0, NULL, 0},
              {"triangles in random order", 0, NULL, 0}};
enum { GRAPHS = sizeof graphs / sizeof *graphs, GENERATED = 10 };

int test_graph_count(void) { return GRAPHS; }

static TestGraph by_edges(const char *name, int32_t n, Edge *edge, int diagonal)
{
  TestGraph g  = {name, n, calloc((size_t)n + 1, 4), NULL};
  int32_t   at = 0;

  for (int fill = 0; fill < 2; fill++) {
    at = 0;
    for (int32_t i = 0; i < n; i++) {
      for (int32_t j = 0; j < n; j++)
        if (i == j ? diagonal == 1 || (diagonal == 2 && i % 2) : edge(i < j ? i : j, i < j ? j : i)) {
          if (fill) g.col[at] = j;
          at++;
        }
      g.row_ptr[i + 1] = at;
    }
    if (!fill) g.col = malloc((size_t)at * 4 + 4);
  }
  return g;
}

TestGraph test_graph_of(const char *name, const GenSpec *spec)
{
  SpmvPattern p;

  (void)gen_pattern(spec, SPMV_I32, &p);
  TestGraph g = {name, (int32_t)p.rows, malloc((size_t)(p.rows + 1) * 4), malloc((size_t)p.nnz * 4)};
  memcpy(g.row_ptr, p.row_ptr, (size_t)(p.rows + 1) * 4);
  memcpy(g.col, p.col, (size_t)p.nnz * 4);
  gen_pattern_free(&p);
  return g;
}

TestGraph test_graph(int number)
{
  if (number < GENERATED)
    return by_edges(graphs[number].name, graphs[number].n, graphs[number].edge, graphs[number].diagonal);
  const GenSpec spec = number == GENERATED       ? gen_stencil(7, 12, 11, 10)
                       : number == GENERATED + 1 ? gen_stencil(5, 70, 60, 1)
                       : number == GENERATED + 2 ? gen_tetrahedra(9, GEN_P1, GEN_RCM, 1)
                                                 : gen_triangles(40, GEN_SHUFFLED, 1);
  return test_graph_of(graphs[number].name, &spec);
}

void test_graph_free(TestGraph *g)
{
  free(g->row_ptr);
  free(g->col);
}

SpmvPattern test_graph_pattern(const TestGraph *g)
{
  const SpmvPattern p = {.rows = g->n, .cols = g->n, .nnz = g->row_ptr[g->n], .row_ptr = g->row_ptr, .col = g->col};
  return p;
}

int test_graph_degree(const TestGraph *g, int32_t v)
{
  int degree = 0;

  for (int32_t k = g->row_ptr[v]; k < g->row_ptr[v + 1]; k++) degree += g->col[k] != v;
  return degree;
}

/* ---- arrays ---- */

void *test_put(SpmvSpace space, const void *from, int64_t bytes)
{
  SpmvExec exec;
  void    *copy;

  spmv_exec_init(&exec, space);
  if (spmv_alloc(&exec, space, bytes + 8, "test array", &copy)) abort();
  if (from && bytes > 0 && spmv_copy(copy, space, from, SPMV_HOST, bytes, &exec)) abort();
  if (space == SPMV_DEVICE && spmv_stream_wait(&exec)) abort();
  return copy;
}

void test_take(SpmvSpace space, void *copy, void *to, int64_t bytes)
{
  SpmvExec exec;

  spmv_exec_init(&exec, space);
  if (to && bytes > 0 && spmv_copy(to, SPMV_HOST, copy, space, bytes, &exec)) abort();
  if (space == SPMV_DEVICE && spmv_stream_wait(&exec)) abort();
  spmv_exec_free(&exec, space, copy);
}

void *test_scalars(SpmvScalar type, int64_t n, const double *from)
{
  void *to = calloc((size_t)n + 1, 8);

  for (int64_t i = 0; from && i < n; i++)
    if (type == SPMV_F32) ((float *)to)[i] = (float)from[i];
    else ((double *)to)[i] = from[i];
  return to;
}

double *test_doubles(SpmvScalar type, int64_t n, const void *from)
{
  double *to = calloc((size_t)n + 1, 8);

  for (int64_t i = 0; i < n; i++) to[i] = type == SPMV_F32 ? ((const float *)from)[i] : ((const double *)from)[i];
  return to;
}

void *test_indices(SpmvIndex type, int64_t n, const int64_t *from)
{
  void *to = calloc((size_t)n + 1, 8);

  for (int64_t i = 0; i < n; i++)
    if (type == SPMV_I32) ((int32_t *)to)[i] = (int32_t)from[i];
    else ((int64_t *)to)[i] = from[i];
  return to;
}

static int64_t *wide_indices(SpmvIndex type, int64_t n, const void *from)
{
  int64_t *to = calloc((size_t)n + 1, 8);

  for (int64_t i = 0; i < n; i++) to[i] = type == SPMV_I32 ? ((const int32_t *)from)[i] : ((const int64_t *)from)[i];
  return to;
}

void *test_move(SpmvSpace space, void *from, int64_t bytes)
{
  void *copy = test_put(space, from, bytes);

  free(from);
  return copy;
}

static void *fetched(SpmvSpace space, const void *from, int64_t bytes)
{
  void    *to = calloc((size_t)bytes + 1, 1);
  SpmvExec exec;

  spmv_exec_init(&exec, space);
  if (bytes > 0 && spmv_copy(to, SPMV_HOST, from, space, bytes, &exec)) abort();
  if (space == SPMV_DEVICE && spmv_stream_wait(&exec)) abort();
  return to;
}

int64_t *test_fetch_indices(SpmvSpace space, SpmvIndex type, int64_t n, const void *from)
{
  void    *raw = fetched(space, from, n * spmv_index_bytes(type));
  int64_t *to  = wide_indices(type, n, raw);

  free(raw);
  return to;
}

double *test_fetch_scalars(SpmvSpace space, SpmvScalar type, int64_t n, const void *from)
{
  void   *raw = fetched(space, from, n * spmv_scalar_bytes(type));
  double *to  = test_doubles(type, n, raw);

  free(raw);
  return to;
}

static void exec_of(SpmvSpace space, Hooks *hooks, SpmvExec *exec)
{
  spmv_exec_init(exec, space);
  if (hooks) hooks_exec(hooks, space, NULL, exec);
}

/* ---- calls ---- */

TestAggregates test_aggregates(const TestGraph *g, const SpmvAggregateOptions *o, SpmvSpace space, Hooks *hooks)
{
  const int64_t        n       = g->n;
  SpmvPattern          p       = test_graph_pattern(g);
  SpmvAggregateOptions options = *o;
  TestAggregates       r       = {.aggregate = malloc((size_t)n * 4 + 4), .root = malloc((size_t)n * 4 + 4)};
  void                *row_ptr = test_put(space, g->row_ptr, (n + 1) * 4), *col = test_put(space, g->col, p.nnz * 4);
  void                *beyond    = test_put(space, o->beyond, o->beyond ? (n + 1) * 4 : 0);
  void                *aggregate = test_put(space, NULL, n * 4), *root = test_put(space, NULL, n * 4);
  SpmvExec             exec;

  exec_of(space, hooks, &exec);
  p.space   = space;
  p.row_ptr = row_ptr;
  p.col     = col;
  if (o->beyond) options.beyond = beyond;
  r.status = spmv_aggregate(&p, &options, aggregate, root, &r.found, &exec);
  memcpy(r.message, exec.message, sizeof r.message);
  test_take(space, row_ptr, NULL, 0);
  test_take(space, col, NULL, 0);
  test_take(space, beyond, NULL, 0);
  test_take(space, aggregate, r.aggregate, n * 4);
  test_take(space, root, r.root, r.found.count * 4);
  return r;
}

void test_aggregates_free(TestAggregates *r)
{
  free(r->aggregate);
  free(r->root);
}

TestTentative test_tentative(const SpmvTentative *t, SpmvSpace space, Hooks *hooks)
{
  const int64_t rows = t->vertices * t->block_size, nnz = spmv_tentative_nnz(t),
                size  = spmv_scalar_bytes(t->scalar_type);
  const int64_t index = spmv_index_bytes(t->index_type), coarse_rows = t->found.count * t->columns;
  void         *host_row_ptr = malloc((size_t)((rows + 1) * index)), *host_col = malloc((size_t)(nnz * index + 8));
  void         *host_values = malloc((size_t)(nnz * size + 8)),
       *host_coarse         = malloc((size_t)(coarse_rows * t->columns * size + 8));
  void *host_near           = test_scalars(t->scalar_type, rows * t->columns, t->near_null);
  void *near_null           = test_put(space, host_near, rows * t->columns * size);
  void *aggregate           = test_put(space, t->aggregate, t->vertices * 4);
  void *row_ptr = test_put(space, NULL, (rows + 1) * index), *col = test_put(space, NULL, nnz * index);
  void *values = test_put(space, NULL, nnz * size), *coarse = test_put(space, NULL, coarse_rows * t->columns * size);
  SpmvTentative there = *t;
  TestTentative r     = {.rows = rows, .nnz = nnz, .coarse_rows = coarse_rows};
  SpmvExec      exec;

  exec_of(space, hooks, &exec);
  there.aggregate = aggregate;
  there.near_null = t->near_null ? near_null : NULL;
  r.status        = spmv_tentative(&there, row_ptr, col, values, coarse, &exec);
  memcpy(r.message, exec.message, sizeof r.message);
  test_take(space, near_null, NULL, 0);
  test_take(space, aggregate, NULL, 0);
  test_take(space, row_ptr, host_row_ptr, (rows + 1) * index);
  test_take(space, col, host_col, nnz * index);
  test_take(space, values, host_values, nnz * size);
  test_take(space, coarse, host_coarse, coarse_rows * t->columns * size);
  r.row_ptr = wide_indices(t->index_type, rows + 1, host_row_ptr);
  r.col     = wide_indices(t->index_type, nnz, host_col);
  r.values  = test_doubles(t->scalar_type, nnz, host_values);
  r.coarse  = test_doubles(t->scalar_type, coarse_rows * t->columns, host_coarse);
  free(host_row_ptr);
  free(host_col);
  free(host_values);
  free(host_coarse);
  free(host_near);
  return r;
}

void test_tentative_free(TestTentative *r)
{
  free(r->row_ptr);
  free(r->col);
  free(r->values);
  free(r->coarse);
}
