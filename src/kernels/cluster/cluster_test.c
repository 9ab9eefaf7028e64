/* Tests of format cluster on the host: its arrays by hand, clusters of meshes, and pairs whose values are equal, a few
   ulps apart, far apart, or not numbers. */
#include "unit.h"
#include "unit_plan.h"
#include "cluster_host.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const ClusterPlan *plan_of(const UnitPlan *u) { return (const ClusterPlan *)u->plan; }

static void mult_by(UnitPlan *u, SpmvIsa isa, const void *alpha, const void *x, const void *beta, void *y)
{
  void *work = malloc((size_t)u->plan->memory.work_bytes + 1);

  cluster_host_mult_by(isa, plan_of(u), alpha, x, beta, y, work);
  free(work);
}

/* Four unknowns in a row, the last one tied to the first by one side only. Values are 1, 2, ... */
static const int32_t row_ptr[] = {0, 2, 5, 8, 11};
static const int32_t col[]     = {0, 1, 0, 1, 2, 1, 2, 3, 0, 2, 3};
static const double  values[]  = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

UNIT_TEST(cluster_arrays_by_hand)
{
  const SpmvCsr csr = {.pattern = {.rows = 4, .cols = 4, .nnz = 11, .row_ptr = row_ptr, .col = col}, .values = values};
  UnitPlan      u   = unit_plan(SPMV_HOST, "cluster", &csr, "size=2 partition=ranges symmetry=exact");
  const ClusterPlan  *p = plan_of(&u);
  const ClusterShape *s = &p->shape;

  UNIT_EQUAL(1, s->block);
  UNIT_EQUAL(2, s->clusters);
  UNIT_EQUAL(8, s->inside);
  UNIT_EQUAL(2, s->pairs); /* (0,1) and (2,3) */
  UNIT_EQUAL(0, s->long_rows);
  /* Node 0 keeps its pair, since it has fewer entries; node 2 keeps its own, being the first */
  const int32_t nodes[] = {0, 1, 2, 2, 3, 0, 1};
  UNIT_EQUAL(7, s->listed);
  for (int i = 0; i < 7; i++) UNIT_EQUAL(nodes[i], p->nodes[i]);
  UNIT_EQUAL(2, s->slices);
  UNIT_EQUAL(2, p->slices[0].steps);
  UNIT_EQUAL(3, p->slices[1].steps);
  UNIT_EQUAL(1, p->slices[0].pair_steps);
  UNIT_EQUAL(1, p->slices[0].collect_steps);
  const int columns[2][3] = {{1, 1, 3}, {0, 2, 3}}; /* of two lanes and of padding */
  const int entries[2][3] = {{2, 4, 0}, {1, 5, 0}};
  const int mirrors[3] = {3, 4, 0}, collect[3] = {8, 0, 8};
  for (int lane = 0; lane < 3; lane++) {
    for (int step = 0; step < 2; step++) {
      UNIT_EQUAL(columns[step][lane], p->index[step * 8 + lane]);
      UNIT_CHECK(((const double *)p->values)[step * 8 + lane] == entries[step][lane]);
    }
    UNIT_CHECK(((const double *)p->mirrors)[lane] == mirrors[lane]);
    UNIT_EQUAL(collect[lane], p->index[2 * 8 + lane]); /* behind the columns */
  }
  UNIT_EQUAL(5, s->steps);
  UNIT_EQUAL((5 + 2) * 64 - 11 * 8, u.plan->memory.padding_bytes);
  UNIT_EQUAL((5 + 2) * 64 + 2 * 8 + 5 * 16 + 2 * 16 + 7 * 8 + 7 * 4 + 4 * 12 + 2 * 12 + 3 * sizeof(ClusterHead),
             u.plan->memory.total_bytes);
  unit_plan_clear(&u);
}

UNIT_TEST(cluster_finds_the_unknowns_of_a_node)
{
  const struct {
    const char *dofs;
    int         block;
  } cases[] = {{"1", 1}, {"2", 2}, {"3", 3}, {"6", 6}, {"4", 2}, {"9", 3}, {"5", 1}, {"33231303", 1}};

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const GenSpec spec = gen_mesh(9, 12, 10, 1, cases[i].dofs);
    UnitProblem   p    = unit_problem(&spec, SPMV_I32, SPMV_F64);
    UnitPlan      u    = unit_plan(SPMV_HOST, "cluster", &p.csr, "size=0");

    UNIT_EQUAL(cases[i].block, plan_of(&u)->shape.block);
    unit_check_products(&p, &u, mult_by);
    unit_plan_clear(&u);
    unit_problem_clear(&p);
  }
}

/* Every node is in one cluster, which is not larger than it may be */
static void check_clusters(const UnitPlan *u, int64_t size)
{
  const ClusterPlan *p    = plan_of(u);
  uint8_t           *seen = calloc((size_t)p->shape.row_nodes + 1, 1);

  for (int64_t c = 0; c < p->shape.clusters; c++) {
    const ClusterHead *h = &p->clusters[c];

    UNIT_CHECK(h->own > 0 && h->own <= size);
    for (int64_t i = 0; i < h->own; i++) UNIT_EQUAL(0, seen[p->nodes[h->node + i]]++);
  }
  UNIT_EQUAL(p->shape.row_nodes, p->shape.own);
  free(seen);
}

static double inside(const UnitPlan *u)
{
  const ClusterShape *s = &plan_of(u)->shape;
  return (double)s->inside / (double)s->entries;
}

UNIT_TEST(cluster_grows_compact_clusters)
{
  const GenSpec spec   = gen_tetrahedra(20, GEN_P1, GEN_RCM, 1);
  UnitProblem   p      = unit_problem(&spec, SPMV_I32, SPMV_F64);
  UnitPlan      greedy = unit_plan(SPMV_HOST, "cluster", &p.csr, "size=256 partition=greedy");
  UnitPlan      ranges = unit_plan(SPMV_HOST, "cluster", &p.csr, "size=256 partition=ranges");

  check_clusters(&greedy, 256);
  check_clusters(&ranges, 256);
  UNIT_CHECK(inside(&greedy) > 0.7);
  UNIT_CHECK(inside(&ranges) < inside(&greedy));
  unit_plan_clear(&greedy);
  unit_plan_clear(&ranges);
  unit_problem_clear(&p);
}

UNIT_TEST(cluster_cuts_large_matrices_into_parts_first)
{
  const GenSpec spec = gen_stencil(5, 300, 300, 1); /* two parts */
  UnitProblem   p    = unit_problem(&spec, SPMV_I64, SPMV_F64);
  UnitPlan      u    = unit_plan(SPMV_HOST, "cluster", &p.csr, "size=256");

  check_clusters(&u, 256);
  UNIT_CHECK(inside(&u) > 0.85);
  unit_check_products(&p, &u, mult_by);
  unit_plan_clear(&u);
  unit_problem_clear(&p);
}

UNIT_TEST(cluster_leaves_long_rows_to_a_csr)
{
  const GenSpec spec = gen_full_row(900, 900);

  for (int scalar = 0; scalar < 2; scalar++) {
    UnitProblem p = unit_problem(&spec, SPMV_I32, (SpmvScalar)scalar);
    UnitPlan    u = unit_plan(SPMV_HOST, "cluster", &p.csr, "size=0");

    UNIT_EQUAL(1, plan_of(&u)->shape.long_rows);
    UNIT_EQUAL(900, plan_of(&u)->shape.long_nnz);
    unit_check_products(&p, &u, mult_by);
    unit_plan_clear(&u);
    unit_problem_clear(&p);
  }
}

/* ---- pairs ---- */

static int64_t row_of(const UnitProblem *p, int64_t i) { return ((const int32_t *)p->csr.pattern.row_ptr)[i]; }

/* A symmetric matrix with small integers */
static UnitProblem symmetric_problem(const char *dofs, SpmvScalar scalar)
{
  const GenSpec spec = gen_mesh(27, 5, 5, 4, dofs);
  UnitProblem   p    = unit_problem(&spec, SPMV_I32, scalar);

  for (int64_t i = 0; i < p.csr.pattern.rows; i++)
    for (int64_t k = row_of(&p, i); k < row_of(&p, i + 1); k++) {
      const int64_t j = ((const int32_t *)p.csr.pattern.col)[k];
      const int     v = (int)(gen_hash((uint64_t)(i < j ? i : j), (uint64_t)(i < j ? j : i)) % 9) - 4;

      if (scalar == SPMV_F32) ((float *)p.values)[k] = (float)v;
      else ((double *)p.values)[k] = v;
    }
  return p;
}

UNIT_TEST(cluster_reads_equal_pairs_once)
{
  static const char *const dofs[] = {"1", "2", "3", "6"};

  for (int d = 0; d < 4; d++)
    for (int scalar = 0; scalar < 2; scalar++)
      for (int declared = 0; declared < 2; declared++) {
        UnitProblem        p = symmetric_problem(dofs[d], (SpmvScalar)scalar);
        UnitPlan           u = unit_plan(SPMV_HOST, "cluster", &p.csr, "symmetry=%s", declared ? "declared" : "exact");
        const ClusterPlan *plan = plan_of(&u);

        UNIT_CHECK(plan->shape.pairs > 0);
        UNIT_EQUAL(CLUSTER_EQUAL, plan->mirrors_are);
        UNIT_EQUAL(0, plan->unequal);
        UNIT_EQUAL(declared, u.plan->memory.omitted_bytes > 0);
        unit_check_products(&p, &u, mult_by);
        unit_check_extracted(&p, &u);
        unit_plan_clear(&u);
        unit_problem_clear(&p);
      }
}

UNIT_TEST(cluster_says_how_far_declared_pairs_are)
{
  UnitProblem p = symmetric_problem("3", SPMV_F64);

  gen_symmetric_values(&p.csr.pattern, 1, 0, SPMV_F64, p.values);
  double *last = (double *)p.values + p.csr.pattern.nnz - 2; /* left of the last diagonal entry */
  *last        = nextafter(nextafter(*last, 2), 2);
  UnitPlan u   = unit_plan(SPMV_HOST, "cluster", &p.csr, "size=1024 symmetry=declared");
  UNIT_EQUAL(CLUSTER_EQUAL, plan_of(&u)->mirrors_are);
  UNIT_EQUAL(0, plan_of(&u)->unequal); /* inside the block of a node: no pair */
  unit_plan_clear(&u);
  last  = (double *)p.values + row_of(&p, p.csr.pattern.rows - 1); /* the first of its row */
  *last = nextafter(nextafter(*last, 2), 2);
  u     = unit_plan(SPMV_HOST, "cluster", &p.csr, "size=1024 symmetry=declared");
  UNIT_EQUAL(1, plan_of(&u)->unequal);
  UNIT_EQUAL(2, plan_of(&u)->most_ulps);
  unit_plan_clear(&u);
  unit_problem_clear(&p);
}

/* The product is the one without pairs, but for the order of the sums */
static void check_like_without_pairs(UnitProblem *p, UnitPlan *u)
{
  const int64_t n = p->csr.pattern.rows, S = spmv_scalar_bytes(p->csr.scalar_type);
  const double  one = 1, zero = 0, tiny = p->csr.scalar_type == SPMV_F32 ? 1e-4 : 1e-13;
  const float   one_f = 1, zero_f = 0;
  const int     single = p->csr.scalar_type == SPMV_F32;
  UnitPlan      plain  = unit_plan(SPMV_HOST, "cluster", &p->csr, "symmetry=none");
  void         *y      = malloc((size_t)(n * S));

  mult_by(&plain, SPMV_ISA_BASE, single ? (const void *)&one_f : &one, p->x, single ? (const void *)&zero_f : &zero, y);
  for (int isa = 0; isa <= (int)spmv_isa(); isa++) {
    mult_by(u, (SpmvIsa)isa, single ? (const void *)&one_f : &one, p->x, single ? (const void *)&zero_f : &zero, p->y);
    for (int64_t i = 0; i < n; i++) {
      const double a = single ? (double)((float *)y)[i] : ((double *)y)[i];
      const double b = single ? (double)((float *)p->y)[i] : ((double *)p->y)[i];

      UNIT_CHECK(isnan(a) ? isnan(b) : a == b || fabs(a - b) <= tiny * (100 + fabs(a)));
    }
  }
  free(y);
  unit_plan_clear(&plain);
}

UNIT_TEST(cluster_corrects_pairs_that_are_a_few_ulps_apart)
{
  static const char *const dofs[] = {"1", "2", "3", "6"};

  for (int d = 0; d < 4; d++)
    for (int scalar = 0; scalar < 2; scalar++) {
      UnitProblem p = symmetric_problem(dofs[d], (SpmvScalar)scalar);

      gen_symmetric_values(&p.csr.pattern, 3, 3, (SpmvScalar)scalar, p.values);
      UnitPlan u = unit_plan(SPMV_HOST, "cluster", &p.csr, "symmetry=exact");
      UNIT_EQUAL(CLUSTER_CORRECTED, plan_of(&u)->mirrors_are);
      UNIT_CHECK(plan_of(&u)->unequal > plan_of(&u)->shape.pairs / 2);
      UNIT_CHECK(d == 0 || plan_of(&u)->far > 0);
      unit_check_extracted(&p, &u);
      check_like_without_pairs(&p, &u);
      unit_plan_clear(&u);
      unit_problem_clear(&p);
    }
}

UNIT_TEST(cluster_keeps_numbers_that_are_none)
{
  UnitProblem   p      = symmetric_problem("3", SPMV_F64);
  double       *values = p.values;
  const int64_t n      = p.csr.pattern.nnz;

  gen_symmetric_values(&p.csr.pattern, 3, 3, SPMV_F64, p.values);
  values[n / 2]     = NAN;
  values[n / 3]     = -NAN;
  values[n / 5]     = INFINITY;
  values[n / 7]     = -0.0;
  values[n / 2 + 9] = 0.0;
  UnitPlan u        = unit_plan(SPMV_HOST, "cluster", &p.csr, "symmetry=exact");
  UNIT_EQUAL(CLUSTER_CORRECTED, plan_of(&u)->mirrors_are);
  unit_check_extracted(&p, &u);
  check_like_without_pairs(&p, &u);
  unit_plan_clear(&u);
  unit_problem_clear(&p);
}

UNIT_TEST(cluster_tests_pairs_again_at_a_refresh)
{
  static const int     ulps[] = {0, 3, -1, 0, -1, 3};
  const ClusterMirrors are[]  = {CLUSTER_EQUAL, CLUSTER_CORRECTED, CLUSTER_FULL,
                                 CLUSTER_EQUAL, CLUSTER_FULL,      CLUSTER_CORRECTED};
  UnitProblem          p      = symmetric_problem("3", SPMV_F64);
  UnitPlan             u      = unit_plan(SPMV_HOST, "cluster", &p.csr, "symmetry=exact");
  const SpmvMemory     before = u.plan->memory;

  for (int i = 0; i < 6; i++) {
    if (ulps[i] < 0) gen_values(GEN_RANDOM, 7, 0, SPMV_F64, p.csr.pattern.nnz, p.values);
    else gen_symmetric_values(&p.csr.pattern, 3, ulps[i], SPMV_F64, p.values);
    UNIT_EQUAL(SPMV_SUCCESS, spmv_update_values(u.plan, p.values, SPMV_HOST, &u.exec));
    UNIT_EQUAL(are[i], plan_of(&u)->mirrors_are);
    unit_check_extracted(&p, &u);
    check_like_without_pairs(&p, &u);
  }
  UNIT_EQUAL(before.total_bytes, u.plan->memory.total_bytes);
  unit_plan_clear(&u);
  unit_problem_clear(&p);
}

UNIT_TEST(cluster_takes_pairs_where_there_are_many)
{
  const GenSpec many = gen_stencil(9, 40, 40, 1), few = gen_random(900, 900, 6, 3), wide = gen_random(40, 900, 20, 3);
  const GenSpec specs[] = {many, few, wide};

  for (int i = 0; i < 3; i++) {
    UnitProblem p = unit_problem(&specs[i], SPMV_I32, SPMV_F64);
    UnitPlan    u = unit_plan(SPMV_HOST, "cluster", &p.csr, "size=0");

    UNIT_EQUAL(i == 0, plan_of(&u)->shape.pairs > 0);
    UNIT_EQUAL(i == 0, u.analysis.accepted);
    UNIT_EQUAL(i < 2, plan_of(&u)->shape.square);
    unit_check_products(&p, &u, mult_by);
    unit_plan_clear(&u);
    unit_problem_clear(&p);
  }
}

/* Clusters of a stencil are one another, shifted, and share their lists; those of an unstructured mesh are not */
UNIT_TEST(cluster_shares_equal_lists)
{
  const GenSpec specs[] = {gen_stencil(5, 48, 32, 1), gen_tetrahedra(8, GEN_P1, GEN_RCM, 1)};

  for (int i = 0; i < 2; i++) {
    UnitProblem         p    = unit_problem(&specs[i], SPMV_I32, SPMV_F64);
    UnitPlan            u    = unit_plan(SPMV_HOST, "cluster", &p.csr, "size=48 partition=ranges symmetry=exact");
    const ClusterPlan  *plan = plan_of(&u);
    const ClusterShape *s    = &plan->shape;

    UNIT_EQUAL(i == 0 ? 29 : 0, s->sharing); /* all but the first, the last, and one between them */
    for (int64_t c = 2; i == 0 && c < s->clusters - 1; c++)
      UNIT_EQUAL(plan->clusters[1].index, plan->clusters[c].index);
    unit_check_products(&p, &u, mult_by);
    unit_check_extracted(&p, &u);
    unit_plan_clear(&u);
    unit_problem_clear(&p);
  }
}
