/* Tests of failing aggregates and prolongators: out of memory, a failing device call, invalid arguments. */
#include "emulated.h"
#include "unit.h"
#include "aggregate_test.h"
#include <stdlib.h>
#include <string.h>

static int last_space(void) { return spmv_device_count(NULL) ? SPMV_DEVICE : SPMV_HOST; }

static TestGraph graph_named(const char *name)
{
  for (int i = 0; i < test_graph_count(); i++) {
    TestGraph g = test_graph(i);
    if (!strcmp(g.name, name)) return g;
    test_graph_free(&g);
  }
  abort();
}

/* A graph, the objects made of it, and the arrays of all calls, in one space */
typedef struct {
  Hooks                hooks;
  SpmvExec             exec;
  TestGraph            graph;
  SpmvPattern          pattern, product;
  SpmvAggregateOptions options;
  SpmvAggregates       found;
  SpmvTentative        t;
  SpmvCsr              p0;
  void                *row_ptr, *col, *aggregate, *root, *p_row_ptr, *p_col, *p_values, *coarse, *values, *diagonal;
} Life;

static void open_life(Life *l, SpmvSpace space, const char *graph, SpmvAggregateOrder order, int repeats)
{
  memset(l, 0, sizeof *l);
  hooks_init(&l->hooks);
  hooks_exec(&l->hooks, space, NULL, &l->exec);
  l->graph         = graph_named(graph);
  const int64_t n  = l->graph.n;
  double       *d  = calloc((size_t)n + 1, sizeof *d);
  l->pattern       = test_graph_pattern(&l->graph);
  l->pattern.space = space;
  spmv_aggregate_options_init(&l->options);
  l->options.order   = order;
  l->options.repeats = repeats;
  for (int64_t i = 0; i < n; i++) d[i] = 2;
  l->pattern.row_ptr = l->row_ptr = test_put(space, l->graph.row_ptr, (n + 1) * 4);
  l->pattern.col = l->col = test_put(space, l->graph.col, l->pattern.nnz * 4);
  l->aggregate            = test_put(space, NULL, n * 4);
  l->root                 = test_put(space, NULL, n * 4);
  l->p_row_ptr            = test_put(space, NULL, (n + 1) * 4);
  l->p_col                = test_put(space, NULL, n * 4);
  l->p_values             = test_put(space, NULL, n * 8);
  l->coarse               = test_put(space, NULL, n * 8);
  l->values               = test_put(space, NULL, n * 8);
  l->diagonal             = test_put(space, d, n * 8);
  free(d);
}

static void close_life(Life *l)
{
  void *const copies[] = {l->row_ptr, l->col,      l->aggregate, l->root,   l->p_row_ptr,
                          l->p_col,   l->p_values, l->coarse,    l->values, l->diagonal};

  for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) test_take(l->exec.space, copies[i], NULL, 0);
  test_graph_free(&l->graph);
  UNIT_CHECK(hooks_clean(&l->hooks));
  hooks_drop(&l->hooks);
}

/* Makes all calls up to the first failure; A is the identity, so that the product A P0 is P0 */
static SpmvStatus live(Life *l)
{
  const int64_t   n = l->graph.n;
  const SpmvSpace s = l->exec.space;
  SpmvStatus      status;

  status = spmv_aggregate(&l->pattern, &l->options, l->aggregate, l->root, &l->found, &l->exec);
  if (status) {
    UNIT_CHECK(l->found.count == 0 && l->found.members == 0);
    return status;
  }
  const SpmvTentative t  = {n, l->found, l->aggregate, 1, 1, SPMV_I32, SPMV_F64, NULL, 0};
  const SpmvPattern   p  = {n, l->found.count, l->found.members, SPMV_I32, s, l->p_row_ptr, l->p_col};
  const SpmvCsr       p0 = {p, SPMV_F64, s, l->p_values};
  l->t                   = t;
  l->p0                  = p0;
  l->product             = p;
  status                 = spmv_tentative(&t, l->p_row_ptr, l->p_col, l->p_values, l->coarse, &l->exec);
  if (!status) status = spmv_copy(l->values, s, l->p_values, s, l->found.members * 8, &l->exec);
  if (!status) status = spmv_prolongator_smooth(1, l->diagonal, &p0, &p, l->values, &l->exec);
  return status;
}

/* Checks the results without a fault: the aggregates, and P, which is P0 / 2, since D is 2 and A the identity */
static void check_numbers(Life *l)
{
  const int64_t  n         = l->graph.n;
  int32_t       *aggregate = malloc((size_t)n * 4);
  double        *p = malloc((size_t)n * 8), *p0 = malloc((size_t)n * 8);
  int64_t        wrong = 0, k = 0;
  SpmvExec       exec;
  TestAggregates r = test_aggregates(&l->graph, &l->options, SPMV_HOST, NULL);

  spmv_exec_init(&exec, l->exec.space);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(aggregate, SPMV_HOST, l->aggregate, exec.space, n * 4, &exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(p, SPMV_HOST, l->values, exec.space, l->found.members * 8, &exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(p0, SPMV_HOST, l->p_values, exec.space, l->found.members * 8, &exec));
  if (exec.space == SPMV_DEVICE) UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&exec));
  UNIT_CHECK(!memcmp(aggregate, r.aggregate, (size_t)n * 4));
  for (; k < l->found.members; k++) wrong += !(p0[k] > 0 && p[k] == p0[k] / 2);
  UNIT_EQUAL(0, wrong);
  test_aggregates_free(&r);
  free(aggregate);
  free(p);
  free(p0);
}

static const struct {
  const char        *graph;
  SpmvAggregateOrder order;
  int                repeats;
} lives[] = {{"pairs and single vertices", SPMV_ORDER_RANDOM, 1},
             {"hub", SPMV_ORDER_RANDOM, 2},
             {"chain", SPMV_ORDER_NUMBER, 1}};
enum { LIVES = sizeof lives / sizeof *lives };

/* Lets allocation number 1, 2, ... fail until no allocation is left to fail */
static void fail_each_allocation(int i, SpmvSpace space, SpmvSpace fault)
{
  int64_t fail_at = 0, calls;

  do {
    Life l;
    open_life(&l, space, lives[i].graph, lives[i].order, lives[i].repeats);
    hooks_counter(&l.hooks, fault)->fail_at = ++fail_at;
    const SpmvStatus status                 = live(&l);
    calls                                   = hooks_counter(&l.hooks, fault)->calls;
    UNIT_EQUAL(calls >= fail_at ? SPMV_ERR_MEMORY : SPMV_SUCCESS, status);
    UNIT_CHECK(!status || l.exec.message[0]);
    hooks_counter(&l.hooks, fault)->fail_at = 0;
    if (status) UNIT_EQUAL(SPMV_SUCCESS, live(&l));
    check_numbers(&l);
    close_life(&l);
  } while (calls >= fail_at && fail_at < 100);
  UNIT_CHECK(fail_at < 100);
  /* work on the device allocates host memory for repeated aggregates, and if it leaves a long chain to the host */
  UNIT_EQUAL(space == fault || i > 0, fail_at > 1);
}

UNIT_TEST(aggregates_without_memory_leave_nothing)
{
  for (int space = SPMV_HOST; space <= last_space(); space++)
    for (int fault = SPMV_HOST; fault <= space; fault++)
      for (int i = 0; i < LIVES; i++) fail_each_allocation(i, (SpmvSpace)space, (SpmvSpace)fault);
}

#ifdef EMULATED
/* Makes all calls while the device call after `calls` successful ones fails. Returns whether one did. A fault in an
   allocation from a pool, which is tried again, or in freeing memory is no error, and the results are right. */
static int fails_after(int i, int calls, int *errors)
{
  Life l;

  open_life(&l, SPMV_DEVICE, lives[i].graph, lives[i].order, lives[i].repeats);
  (void)spmv_emulator_fail_after(calls);
  SpmvStatus status = live(&l);
  if (!status) status = spmv_stream_wait(&l.exec);
  const int failed = spmv_emulator_fail_after(-1);
  if (status) {
    ++*errors;
    UNIT_EQUAL(SPMV_ERR_MEMORY, status);
    UNIT_CHECK(failed && l.exec.message[0]);
    UNIT_EQUAL(SPMV_SUCCESS, live(&l));
  }
  check_numbers(&l);
  close_life(&l);
  return failed;
}

/* Each launch, copy and wait fails once */
UNIT_TEST(aggregates_pass_on_that_a_device_call_fails)
{
  for (int i = 0; i < 2 && last_space() == SPMV_DEVICE; i++) {
    int calls = 0, errors = 0;
    while (calls < 1000 && fails_after(i, calls, &errors)) calls++;
    UNIT_CHECK(calls < 1000 && errors > 20 && 2 * errors > calls);
  }
}
#endif

/* ---- arguments ---- */

static void no_distance(Life *l) { l->options.distance = 0; }
static void far_distance(Life *l) { l->options.distance = 3; }
static void no_repeats(Life *l) { l->options.repeats = 0; }
static void no_order(Life *l) { l->options.order = (SpmvAggregateOrder)3; }
static void not_square(Life *l) { l->pattern.cols++; }
static void negative_rows(Life *l) { l->pattern.rows = l->pattern.cols = -1; }
static void no_rows(Life *l) { l->pattern.row_ptr = NULL; }
static void other_space(Life *l) { l->pattern.space = (SpmvSpace)!l->pattern.space; }

static const struct {
  const char *text;
  void (*spoil)(Life *);
} wrong_graphs[] = {{"distance 0", no_distance},   {"distance 3", far_distance},  {"0 times", no_repeats},
                    {"order number 3", no_order},  {"columns", not_square},       {"negative", negative_rows},
                    {"array is missing", no_rows}, {"another space", other_space}};

UNIT_TEST(aggregates_refuse_what_makes_no_sense)
{
  for (size_t i = 0; i < sizeof wrong_graphs / sizeof *wrong_graphs; i++) {
    Life l;
    open_life(&l, SPMV_HOST, "hub", SPMV_ORDER_RANDOM, 1);
    wrong_graphs[i].spoil(&l);
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, live(&l));
    UNIT_CONTAINS(wrong_graphs[i].text, l.exec.message);
    close_life(&l);
  }
  Life l;
  open_life(&l, SPMV_HOST, "hub", SPMV_ORDER_RANDOM, 1);
  l.pattern.nnz = (int64_t)INT32_MAX + 1;
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, live(&l));
  UNIT_CONTAINS("2147483648 edges", l.exec.message);
  close_life(&l);
}

static void no_columns(SpmvTentative *t) { t->columns = 0; }
static void many_columns(SpmvTentative *t) { t->columns = SPMV_NEAR_NULL_MAX + 1; }
static void no_block(SpmvTentative *t) { t->block_size = 0; }
static void other_columns(SpmvTentative *t) { t->columns = 2; }
static void few_vertices(SpmvTentative *t) { t->vertices = 3; }
static void no_aggregates(SpmvTentative *t) { t->aggregate = NULL; }
static void more_members(SpmvTentative *t) { t->found.members--; }

static const struct {
  const char *text;
  void (*spoil)(SpmvTentative *);
} wrong_spaces[] = {{"0 vectors", no_columns},
                    {"33 vectors", many_columns},
                    {"blocks of 0", no_block},
                    {"it has 1 columns, and not 2", other_columns},
                    {"3 vertices", few_vertices},
                    {"array is missing", no_aggregates},
                    {"are not 100 members", more_members}};

UNIT_TEST(prolongators_refuse_what_makes_no_sense)
{
  for (int space = SPMV_HOST; space <= last_space(); space++) {
    Life l;
    open_life(&l, (SpmvSpace)space, "hub", SPMV_ORDER_RANDOM, 1);
    UNIT_EQUAL(SPMV_SUCCESS, live(&l));
    for (size_t i = 0; i < sizeof wrong_spaces / sizeof *wrong_spaces; i++) {
      SpmvTentative t = l.t;
      wrong_spaces[i].spoil(&t);
      UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_tentative(&t, l.p_row_ptr, l.p_col, l.p_values, l.coarse, &l.exec));
      UNIT_CONTAINS(wrong_spaces[i].text, l.exec.message);
    }
    SpmvTentative t = l.t;
    t.vertices      = (int64_t)1 << 30;
    t.block_size = t.columns = 3;
    UNIT_EQUAL(SPMV_ERR_OVERFLOW, spmv_tentative(&t, l.p_row_ptr, l.p_col, l.p_values, l.coarse, &l.exec));
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_tentative(&l.t, NULL, l.p_col, l.p_values, l.coarse, &l.exec));
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_prolongator_smooth(1, NULL, &l.p0, &l.product, l.values, &l.exec));
    UNIT_CONTAINS("values are missing", l.exec.message);
    l.product.cols++;
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_prolongator_smooth(1, l.diagonal, &l.p0, &l.product, l.values, &l.exec));
    UNIT_CONTAINS("another index type", l.exec.message);
    l.product.space = (SpmvSpace)!space;
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_prolongator_smooth(1, l.diagonal, &l.p0, &l.product, l.values, &l.exec));
    close_life(&l);
  }
}

UNIT_TEST(aggregates_on_a_device_that_is_not_there)
{
  const int32_t        row_ptr[] = {0};
  const SpmvPattern    g         = {0, 0, 0, SPMV_I32, SPMV_DEVICE, row_ptr, NULL};
  const SpmvTentative  t         = {0, {0, 0}, NULL, 1, 1, SPMV_I32, SPMV_F64, NULL, 0};
  const SpmvCsr        p0        = {g, SPMV_F64, SPMV_DEVICE, NULL};
  SpmvAggregateOptions o;
  SpmvAggregates       found;
  SpmvExec             exec;
  int32_t              pointers[1];

  spmv_exec_init(&exec, SPMV_DEVICE);
  spmv_aggregate_options_init(&o);
  if (spmv_device_count(NULL)) return;
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_aggregate(&g, &o, NULL, NULL, &found, &exec));
  UNIT_CHECK(exec.message[0]);
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_tentative(&t, pointers, NULL, NULL, NULL, &exec));
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_prolongator_smooth(1, NULL, &p0, &g, NULL, &exec));
}
