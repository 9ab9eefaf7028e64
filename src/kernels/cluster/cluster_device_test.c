/* Tests of format cluster on a device: pairs whose values are equal, a few ulps apart or unrelated, which the matrices
   of the conformance tests are not. They pass where there is no device, and where the library was built without CUDA.
 */
#include "unit.h"
#include "unit_plan.h"
#include "check.h"
#include "cluster.h"
#include <math.h>
#include <spmv_values.h>
#include <stdlib.h>
#include <string.h>

/* A copy of an array on the device */
static void *to_device(UnitPlan *u, const void *from, int64_t bytes)
{
  void *block = NULL;

  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(&u->exec, SPMV_DEVICE, bytes, "copy", &block));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(block, SPMV_DEVICE, from, SPMV_HOST, bytes, &u->exec));
  return block;
}

/* y = 2 A x - 3 y on the device, compared with the sums in extended precision. `tolerated`: with rounding errors */
static void check_product(UnitProblem *p, UnitPlan *u, GenData tolerated)
{
  const SpmvScalar scalar = p->csr.scalar_type;
  const int64_t    rows = p->csr.pattern.rows, S = spmv_scalar_bytes(scalar);
  const double     two = 2, minus = -3;
  const float      two_f = 2, minus_f = -3;
  void            *start = malloc((size_t)(rows * S));
  CheckReference   reference;
  CheckFault       fault;

  gen_values(tolerated, 9, 0, scalar, rows, start);
  void *x = to_device(u, p->x, rows * S), *y = to_device(u, start, rows * S);
  UNIT_EQUAL(SPMV_SUCCESS, check_reference(&p->csr.pattern, scalar, p->values, p->x, 0, &reference));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_mult(u->plan, scalar == SPMV_F32 ? (const void *)&two_f : &two, x,
                                     scalar == SPMV_F32 ? (const void *)&minus_f : &minus, y, NULL, &u->exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(p->y, SPMV_HOST, y, SPMV_DEVICE, rows * S, &u->exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&u->exec));
  UNIT_CHECK(check_vector(&reference, scalar, tolerated, 2, -3, start, p->y, &fault));
  check_reference_free(&reference);
  spmv_exec_free(&u->exec, SPMV_DEVICE, x);
  spmv_exec_free(&u->exec, SPMV_DEVICE, y);
  free(start);
}

/* Values of a few ulps, of none, unrelated ones, and again, in one plan: they come in by build and by refreshes */
static void check_refreshes(UnitProblem *p, const char *options)
{
  static const int     ulps[] = {3, 0, -1, 3};
  const ClusterMirrors are[]  = {CLUSTER_CORRECTED, CLUSTER_EQUAL, CLUSTER_FULL, CLUSTER_CORRECTED};
  UnitPlan             u      = {.plan = NULL};

  gen_values(GEN_RANDOM, 8, 0, p->csr.scalar_type, p->csr.pattern.rows, p->x);
  for (int i = 0; i < 4; i++) {
    if (ulps[i] < 0) gen_values(GEN_RANDOM, 7, 0, p->csr.scalar_type, p->csr.pattern.nnz, p->values);
    else gen_symmetric_values(&p->csr.pattern, 3, ulps[i], p->csr.scalar_type, p->values);
    if (i == 0) u = unit_plan(SPMV_DEVICE, "cluster", &p->csr, "%s", options);
    else UNIT_EQUAL(SPMV_SUCCESS, spmv_update_values(u.plan, p->values, SPMV_HOST, &u.exec));
    UNIT_EQUAL(are[i], ((const ClusterPlan *)u.plan)->mirrors_are);
    UNIT_CHECK(ulps[i] != 3 || ((const ClusterPlan *)u.plan)->far > 0);
    check_product(p, &u, GEN_RANDOM);
    unit_check_extracted(p, &u);
  }
  unit_plan_clear(&u);
}

UNIT_TEST(cluster_on_a_device_reads_mirrors_as_they_are)
{
  static const char *const dofs[] = {"1", "2", "3", "6"}, *const options[] = {"symmetry=exact",
                                                                              "size=40 symmetry=exact"};

  if (spmv_device_count(NULL) == 0) return;
  for (int d = 0; d < 4; d++)
    for (int scalar = 0; scalar < 2; scalar++)
      for (int o = 0; o < 2; o++) {
        const GenSpec spec = d == 0 ? gen_mesh(27, 9, 8, 7, "1") : gen_mesh(27, 6, 5, 4, dofs[d]);
        UnitProblem   p    = unit_problem(&spec, SPMV_I32, (SpmvScalar)scalar);

        check_refreshes(&p, options[o]);
        unit_problem_clear(&p);
      }
}

UNIT_TEST(cluster_on_a_device_takes_declared_pairs_as_equal)
{
  if (spmv_device_count(NULL) == 0) return;
  const GenSpec spec = gen_mesh(27, 6, 5, 4, "3");
  UnitProblem   p    = unit_problem(&spec, SPMV_I64, SPMV_F64);

  gen_symmetric_values(&p.csr.pattern, 3, 0, SPMV_F64, p.values);
  UnitPlan u = unit_plan(SPMV_DEVICE, "cluster", &p.csr, "symmetry=declared");
  UNIT_CHECK(u.plan->memory.omitted_bytes > 0);
  UNIT_EQUAL(0, ((const ClusterPlan *)u.plan)->unequal);
  check_product(&p, &u, GEN_RANDOM);
  unit_check_extracted(&p, &u);
  gen_symmetric_values(&p.csr.pattern, 3, 2, SPMV_F64, p.values);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_update_values(u.plan, p.values, SPMV_HOST, &u.exec));
  UNIT_EQUAL(CLUSTER_EQUAL, ((const ClusterPlan *)u.plan)->mirrors_are);
  UNIT_CHECK(((const ClusterPlan *)u.plan)->unequal > 0);
  unit_plan_clear(&u);
  unit_problem_clear(&p);
}

/* Clusters become smaller where a thread block could not stage them */
UNIT_TEST(cluster_on_a_device_fits_the_shared_memory)
{
  if (spmv_device_count(NULL) == 0) return;
  const GenSpec spec = gen_mesh(27, 9, 9, 9, "6");
  UnitProblem   p    = unit_problem(&spec, SPMV_I32, SPMV_F64);
  UnitPlan      u    = unit_plan(SPMV_DEVICE, "cluster", &p.csr, "size=729");

  UNIT_CHECK(((const ClusterPlan *)u.plan)->shape.clusters > 1);
  check_product(&p, &u, GEN_EXACT);
  unit_plan_clear(&u);
  unit_problem_clear(&p);
}

/* y = A x with values rounded to single precision: by the plan's rounded values, or by the plan itself */
static void multiply(UnitProblem *p, UnitPlan *u, int rounded, double *y)
{
  const int64_t bytes = p->csr.pattern.rows * (int64_t)sizeof(double);
  const double  one = 1, zero = 0;
  void         *values = NULL, *result = NULL, *x = to_device(u, p->x, bytes);

  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(&u->exec, SPMV_DEVICE, bytes, "y", &result));
  if (rounded) {
    UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(&u->exec, SPMV_DEVICE, spmv_rounded_bytes(u->plan), "rounded values", &values));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_round_values(u->plan, values, &u->exec));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_mult_rounded(u->plan, values, &one, x, &zero, result, NULL, &u->exec));
  } else UNIT_EQUAL(SPMV_SUCCESS, spmv_mult(u->plan, &one, x, &zero, result, NULL, &u->exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(y, SPMV_HOST, result, SPMV_DEVICE, bytes, &u->exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&u->exec));
  spmv_exec_free(&u->exec, SPMV_DEVICE, x);
  spmv_exec_free(&u->exec, SPMV_DEVICE, result);
  spmv_exec_free(&u->exec, SPMV_DEVICE, values);
}

/* Moves mirrors away from equal values: every 40th to twice the value, or all by one ulp */
static void move_mirrors(const SpmvPattern *pattern, int far, double *values)
{
  const int32_t *row_ptr = pattern->row_ptr, *col = pattern->col;

  for (int32_t i = 0; i < pattern->rows; i++)
    for (int32_t k = row_ptr[i]; k < row_ptr[i + 1]; k++) {
      if (col[k] >= i) continue;
      if (!far) values[k] = nextafter(values[k], 1000);
      else if (k % 40 == 0) values[k] *= 2;
    }
}

/* With mirrors that are equal or far, the product with rounded values is that of a plan which has these values, bit by
   bit: the matrix is small enough for both to share its steps among as many warps. One rounded value stands for two
   that are a correction apart: it may be next to the rounded mirror. */
UNIT_TEST(cluster_on_a_device_multiplies_rounded_values)
{
  static const char *const dofs[] = {"1", "2", "3", "6"};

  if (spmv_device_count(NULL) == 0) return;
  for (int d = 0; d < 4; d++)
    for (int mirrors = 0; mirrors < 3; mirrors++) { /* equal, some of them far, all near */
      const GenSpec  spec = gen_mesh(27, 6, 4, 4, dofs[d]);
      UnitProblem    p    = unit_problem(&spec, SPMV_I32, SPMV_F64);
      const int64_t  rows = p.csr.pattern.rows, nnz = p.csr.pattern.nnz;
      const int32_t *row_ptr = p.csr.pattern.row_ptr, *col = p.csr.pattern.col;
      double        *values = p.values, *x = p.x, *first = malloc((size_t)rows * sizeof *first),
             *second = malloc((size_t)rows * sizeof *second);

      gen_values(GEN_RANDOM, 8, 0, SPMV_F64, rows, p.x);
      gen_symmetric_values(&p.csr.pattern, 3, 0, SPMV_F64, p.values);
      if (mirrors > 0) move_mirrors(&p.csr.pattern, mirrors == 1, p.values);
      UnitPlan           u    = unit_plan(SPMV_DEVICE, "cluster", &p.csr, "symmetry=exact");
      const ClusterPlan *plan = (const ClusterPlan *)u.plan;

      UNIT_EQUAL(mirrors == 0 ? CLUSTER_EQUAL : CLUSTER_CORRECTED, plan->mirrors_are);
      UNIT_EQUAL(mirrors == 1, plan->far > 0);
      multiply(&p, &u, 1, first);
      for (int64_t k = 0; k < nnz; k++) values[k] = (double)(float)values[k];
      UNIT_EQUAL(SPMV_SUCCESS, spmv_update_values(u.plan, p.values, SPMV_HOST, &u.exec));
      multiply(&p, &u, 0, second);
      if (mirrors < 2) UNIT_CHECK(!memcmp(first, second, (size_t)rows * sizeof *first));
      for (int64_t i = 0; i < rows; i++) {
        double sum = 0;

        for (int32_t k = row_ptr[i]; k < row_ptr[i + 1]; k++) sum += fabs(values[k] * x[col[k]]);
        UNIT_CHECK(fabs(first[i] - second[i]) <= ldexp(sum, -23));
      }
      unit_plan_clear(&u);
      unit_problem_clear(&p);
      free(first);
      free(second);
    }
}

/* What pays on a device: pairs of blocks, where most entries are in one */
UNIT_TEST(cluster_on_a_device_chooses_pairs_where_they_pay)
{
  static const char *const dofs[] = {"1", "3"};

  if (spmv_device_count(NULL) == 0) return;
  for (int d = 0; d < 2; d++) {
    const GenSpec spec = gen_mesh(27, 6, 5, 4, dofs[d]);
    UnitProblem   p    = unit_problem(&spec, SPMV_I32, SPMV_F64);
    UnitPlan      u    = unit_plan(SPMV_DEVICE, "cluster", &p.csr, "symmetry=auto");

    UNIT_EQUAL(d, ((const ClusterPlan *)u.plan)->shape.pairs > 0);
    check_product(&p, &u, GEN_EXACT);
    unit_plan_clear(&u);
    unit_problem_clear(&p);
  }
}

/* The clusters of a stencil are one another, shifted */
UNIT_TEST(cluster_on_a_device_shares_equal_lists)
{
  if (spmv_device_count(NULL) == 0) return;
  for (int symmetric = 0; symmetric < 2; symmetric++) {
    const GenSpec spec = gen_stencil(5, 48, 32, 1);
    UnitProblem   p    = unit_problem(&spec, SPMV_I32, SPMV_F64);
    UnitPlan      u =
        unit_plan(SPMV_DEVICE, "cluster", &p.csr, "size=48 partition=ranges symmetry=%s", symmetric ? "exact" : "none");
    const ClusterShape *s = &((const ClusterPlan *)u.plan)->shape;

    UNIT_EQUAL(32, s->clusters);
    UNIT_EQUAL(29, s->sharing); /* all but the first, the last, and one between them */
    check_product(&p, &u, GEN_EXACT);
    unit_check_extracted(&p, &u);
    unit_plan_clear(&u);
    unit_problem_clear(&p);
  }
}
