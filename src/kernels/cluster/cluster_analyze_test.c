/* Tests of the analysis of format cluster: the same by any number of threads, and clusters that pass a limit. */
#include "unit.h"
#include "unit_plan.h"
#include "cluster_layout.h"
#include <stdlib.h>
#include <string.h>

/* Cuts a pattern by so many threads, however many processors this machine has */
static ClusterParts cut_by(const SpmvPattern *pattern, int count, ClusterGraph *g)
{
  ClusterParts parts   = {.clusters = 0};
  SpmvThreads  threads = {.started = 0};
  SpmvExec     exec;

  spmv_exec_init(&exec, SPMV_HOST);
  spmv_threads_start(&threads, count);
  UNIT_EQUAL(SPMV_SUCCESS, cluster_make_graph(pattern, g, &threads, &exec));
  UNIT_EQUAL(SPMV_SUCCESS, cluster_partition(g, CLUSTER_GREEDY, 100, 1000, &parts, &threads, &exec));
  spmv_threads_stop(&threads);
  return parts;
}

static void check_same_by_threads(const SpmvPattern *pattern)
{
  ClusterAnalysis one = {.heads = NULL}, five = {.heads = NULL};
  SpmvExec        exec;

  spmv_exec_init(&exec, SPMV_HOST);
  one.parts  = cut_by(pattern, 1, &one.graph);
  five.parts = cut_by(pattern, 5, &five.graph);
  UNIT_EQUAL(pattern->rows, one.graph.nodes);
  UNIT_EQUAL(one.parts.clusters, five.parts.clusters);
  UNIT_CHECK(!memcmp(one.graph.begin, five.graph.begin, (size_t)(pattern->rows + 1) * sizeof(int64_t)));
  UNIT_CHECK(!memcmp(one.graph.adjacent, five.graph.adjacent, (size_t)pattern->nnz * sizeof(int32_t)));
  UNIT_CHECK(!memcmp(one.parts.begin, five.parts.begin, (size_t)(one.parts.clusters + 1) * sizeof(int64_t)));
  UNIT_CHECK(!memcmp(one.parts.members, five.parts.members, (size_t)pattern->rows * sizeof(int32_t)));
  cluster_clear_analysis(&one, &exec);
  cluster_clear_analysis(&five, &exec);
}

UNIT_TEST(cluster_parts_do_not_depend_on_threads)
{
  const GenSpec spec = gen_stencil(5, 250, 250, 1);
  UnitProblem   p    = unit_problem(&spec, SPMV_I32, SPMV_F64);

  check_same_by_threads(&p.csr.pattern);
  unit_problem_clear(&p);
}

UNIT_TEST(cluster_cuts_what_no_seed_leads_to)
{
  enum { ROWS = 40000 };
  int32_t *numbers = malloc((ROWS + 1) * sizeof *numbers); /* of a diagonal matrix: row pointers and columns */

  for (int32_t i = 0; i <= ROWS; i++) numbers[i] = i;
  const SpmvPattern diagonal = {.rows = ROWS, .cols = ROWS, .nnz = ROWS, .row_ptr = numbers, .col = numbers};
  check_same_by_threads(&diagonal);
  free(numbers);
}

static int64_t most_x_of(const ClusterShape *s, SpmvScalar scalar)
{
  (void)scalar;
  return s->most_x;
}

/* The shape of a plan in whose clusters x has at most so many nodes */
static ClusterShape limited_shape(const SpmvCsr *csr, int64_t most)
{
  const ClusterLimit limit    = {{most, most}, most_x_of};
  ClusterAnalysis    data     = {.heads = NULL};
  SpmvAnalysis       analysis = {.format = spmv_format_find("cluster"), .data = &data, .nnz = csr->pattern.nnz};
  SpmvExec           exec;

  spmv_exec_init(&exec, SPMV_HOST);
  spmv_options_init(&analysis.options, analysis.format);
  UNIT_EQUAL(SPMV_SUCCESS, cluster_analyze(&csr->pattern, CLUSTER_HOST_LANES, &limit, &analysis, &exec));
  const ClusterShape shape = data.shape;
  cluster_clear_analysis(&data, &exec);
  return shape;
}

UNIT_TEST(cluster_splits_the_few_that_pass_a_limit)
{
  const GenSpec spec = gen_tetrahedra(20, GEN_P1, GEN_RCM, 1);
  UnitProblem   p    = unit_problem(&spec, SPMV_I32, SPMV_F64);

  const ClusterShape free_ = limited_shape(&p.csr, INT64_MAX), less = limited_shape(&p.csr, free_.most_x - 1);
  UNIT_CHECK(less.most_x < free_.most_x);
  UNIT_CHECK(less.clusters > free_.clusters && less.clusters < free_.clusters * 4 / 3);
  UNIT_EQUAL(free_.most_own, less.most_own);
  UNIT_EQUAL(free_.own, less.own);
  const ClusterShape tight = limited_shape(&p.csr, free_.most_x / 4);
  UNIT_CHECK(tight.most_x <= free_.most_x / 4);
  UNIT_CHECK(tight.most_own < free_.most_own);
  UNIT_EQUAL(free_.own, tight.own);
  unit_problem_clear(&p);
}
