/* Tests of the checks: a reference product computed by hand, and slightly wrong results, which must be found. */
#include "check.h"
#include "csr_copy.h"
#include "unit.h"
#include "vector.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* [1 0 2; 0 3 0] */
static const int64_t     row_ptr[] = {0, 2, 3}, col[] = {0, 2, 1};
static const double      values[] = {1, 2, 3}, x[] = {5, 7, -11}, xt[] = {2, -3};
static const SpmvPattern pattern = {
    .rows = 2, .cols = 3, .nnz = 3, .index_type = SPMV_I64, .row_ptr = row_ptr, .col = col};

UNIT_TEST(the_reference_product_is_right_by_hand)
{
  CheckReference r;

  UNIT_EQUAL(SPMV_SUCCESS, check_reference(&pattern, SPMV_F64, values, x, 0, &r));
  UNIT_CHECK(r.n == 2 && r.sum[0] == -17 && r.sum[1] == 21);
  UNIT_CHECK(r.abs_sum[0] == 27 && r.terms[0] == 2 && r.terms[1] == 1);
  check_reference_free(&r);
  UNIT_EQUAL(SPMV_SUCCESS, check_reference(&pattern, SPMV_F64, values, xt, 1, &r));
  UNIT_CHECK(r.n == 3 && r.sum[0] == 2 && r.sum[1] == -9 && r.sum[2] == 4);
  check_reference_free(&r);
}

static int check_y(GenData data, double y0, double y1, CheckFault *fault)
{
  const double   y[] = {y0, y1}, before[] = {1, 1};
  CheckReference r;
  int            ok;

  check_reference(&pattern, SPMV_F64, values, x, 0, &r);
  ok = check_vector(&r, SPMV_F64, data, 1, 2, before, y, fault);
  check_reference_free(&r);
  return ok;
}

UNIT_TEST(exact_data_must_be_met_exactly)
{
  CheckFault fault;

  UNIT_CHECK(check_y(GEN_EXACT, -15, 23, &fault));
  UNIT_CHECK(!check_y(GEN_EXACT, -15, 23 * (1 + DBL_EPSILON), &fault));
  UNIT_CHECK(fault.row == 1 && fault.expected == 23);
  UNIT_CHECK(!check_y(GEN_EXACT, NAN, 23, &fault));
  UNIT_CHECK(fault.row == 0);
  UNIT_CHECK(!check_y(GEN_EXACT, -15, INFINITY, &fault));
}

UNIT_TEST(random_data_may_be_off_by_rounding_and_no_more)
{
  const double bound = (2 + 2) * DBL_EPSILON * (27 + 2);
  CheckFault   fault;

  UNIT_CHECK(check_y(GEN_RANDOM, -15 + 0.9 * bound, 23, &fault));
  UNIT_CHECK(!check_y(GEN_RANDOM, -15 + 1.1 * bound, 23, &fault));
  UNIT_CHECK(!check_y(GEN_RANDOM, NAN, 23, &fault));
}

UNIT_TEST(nan_is_right_only_where_it_is_expected)
{
  const double   x_hole[] = {NAN, 7, -11}, good[] = {NAN, 21}, spread[] = {NAN, NAN}, lost[] = {-17, 21};
  CheckReference r;
  CheckFault     fault;

  check_reference(&pattern, SPMV_F64, values, x_hole, 0, &r);
  UNIT_CHECK(check_vector(&r, SPMV_F64, GEN_RANDOM, 1, 0, NULL, good, &fault));
  UNIT_CHECK(!check_vector(&r, SPMV_F64, GEN_RANDOM, 1, 0, NULL, spread, &fault));
  UNIT_CHECK(!check_vector(&r, SPMV_F64, GEN_RANDOM, 1, 0, NULL, lost, &fault));
  check_reference_free(&r);
}

UNIT_TEST(a_write_outside_a_vector_is_noticed)
{
  const double  entries[3] = {1, 2, 3};
  double        back[3];
  SpmvExec      exec;
  GuardedVector v;

  spmv_exec_init(&exec, SPMV_HOST);
  UNIT_EQUAL(SPMV_SUCCESS, guarded_init(&v, SPMV_HOST, sizeof entries, 8, 0, &exec));
  UNIT_EQUAL(8, (uintptr_t)v.data % 64);
  UNIT_EQUAL(SPMV_SUCCESS, guarded_put(&v, entries, &exec));
  UNIT_CHECK(guarded_intact(&v, &exec));
  UNIT_EQUAL(SPMV_SUCCESS, guarded_get(&v, back, &exec));
  UNIT_CHECK(!memcmp(entries, back, sizeof back));
  UNIT_EQUAL(SPMV_SUCCESS, poison_bytes(v.data, SPMV_HOST, v.bytes, &exec));
  UNIT_CHECK(isnan(((double *)v.data)[2]));
  v.bytes -= 8; /* the last entry becomes a guard, with another value than a guard has */
  v.after += 8;
  ((double *)v.data)[2] = 3;
  UNIT_CHECK(!guarded_intact(&v, &exec));
  guarded_free(&v);
}

UNIT_TEST(a_changed_csr_is_noticed)
{
  const int last = case_matrix_count() - 1;
  Problem   problem;
  CsrCopy   copy;
  SpmvExec  exec;

  spmv_exec_init(&exec, SPMV_HOST);
  UNIT_EQUAL(SPMV_SUCCESS, problem_init(&problem, case_matrix(last), SPMV_F32, GEN_RANDOM, 1));
  if (UNIT_EQUAL(SPMV_SUCCESS, csr_copy_init(&copy, &problem, SPMV_I32, 0, SOURCE_HOST, &exec))) {
    UNIT_CHECK(csr_copy_unchanged(&copy, &exec));
    ((int32_t *)copy.csr.pattern.col)[copy.csr.pattern.nnz - 1]++;
    UNIT_CHECK(!csr_copy_unchanged(&copy, &exec));
  }
  csr_copy_free(&copy);
  problem_free(&problem);
}
