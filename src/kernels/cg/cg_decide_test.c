/* Tests of the decisions of conjugate gradients, each called with plain numbers. They need no device. */
#include "cg_decide.h"
#include "unit.h"

/* A state after iteration 0 with (r, z) = 4, whose test wants a norm of 1 */
static SpmvCgState begun(SpmvCgNorm norm)
{
  SpmvCgState s = {.stop_at = 100,
                   .norm    = norm,
                   .test    = {.untested       = norm == SPMV_CG_NORM_NONE,
                               .tolerance      = 1,
                               .divergence     = 1000,
                               .max_iterations = 3,
                               .check_after    = -1}};

  spmv_cg_take_first(&s, 4, 9);
  return s;
}

static void check(const SpmvCgState *s, SpmvReason reason, int64_t iterations, int64_t completed)
{
  UNIT_EQUAL(reason, s->record.reason);
  UNIT_EQUAL(iterations, s->record.iterations);
  UNIT_EQUAL(completed, s->record.completed);
}

UNIT_TEST(cg_decides_after_the_first_sums)
{
  const double first[] = {0, 3, 3, 2}; /* by norm: none, of z, of r, natural */
  SpmvCgState  s;

  for (int norm = SPMV_CG_NORM_NONE; norm <= SPMV_CG_NATURAL; norm++) {
    s = begun((SpmvCgNorm)norm);
    check(&s, SPMV_ITERATING, 0, 0);
    UNIT_CHECK(s.record.first == first[norm] && s.beta == 4);
    UNIT_EQUAL(norm == SPMV_CG_UNPRECONDITIONED || norm == SPMV_CG_NORM_NONE, spmv_cg_norm_is_of_r((SpmvCgNorm)norm));
  }
  spmv_cg_take_first(&s, 0, 9);
  check(&s, SPMV_BREAKDOWN, 1, 0);
  s = (SpmvCgState){0};
  spmv_cg_take_first(&s, NAN, 9);
  check(&s, SPMV_DIVERGED_NOT_A_NUMBER, 0, 0);
  s = (SpmvCgState){.norm = SPMV_CG_UNPRECONDITIONED};
  spmv_cg_take_first(&s, 4, INFINITY);
  check(&s, SPMV_DIVERGED_NOT_A_NUMBER, 0, 0);
}

/* The test of a run after iteration 0 with norm 3, unless it is said otherwise */
UNIT_TEST(solvers_take_a_relative_test)
{
  static const struct {
    double     first, tolerance, absolute, divergence;
    int64_t    check_after, completed;
    SpmvReason before, reason;
  } cases[] = {{3, 0.5, 0, 100, -1, 0, SPMV_ITERATING, SPMV_ITERATING},
               {3, 1, 0, 100, -1, 0, SPMV_ITERATING, SPMV_RTOL},
               {3, 0.5, 4, 100, -1, 0, SPMV_ITERATING, SPMV_ATOL},
               {3, 0.5, 0, 1, -1, 0, SPMV_ITERATING, SPMV_DIVERGED_TOLERANCE},
               {3, 1, 0, 100, 0, 0, SPMV_ITERATING, SPMV_ITERATING},  /* iteration 0 is not tested */
               {3, 1, 0, 100, -1, 2, SPMV_ITERATING, SPMV_ITERATING}, /* it was tested two iterations ago */
               {0, 0.5, 0, 100, -1, 0, SPMV_BREAKDOWN, SPMV_ATOL},
               {NAN, 1, 0, 100, -1, 0, SPMV_DIVERGED_NOT_A_NUMBER, SPMV_DIVERGED_NOT_A_NUMBER}};

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    SpmvRecord record = {.first      = cases[i].first,
                         .norm       = cases[i].first,
                         .iterations = cases[i].completed + (cases[i].before == SPMV_BREAKDOWN),
                         .completed  = cases[i].completed,
                         .reason     = cases[i].before};
    SpmvTest   given  = {.relative       = 1,
                         .tolerance      = cases[i].tolerance,
                         .absolute       = cases[i].absolute,
                         .divergence     = cases[i].divergence,
                         .max_iterations = 9,
                         .check_after    = cases[i].check_after},
             mine;
    spmv_take_test(&given, &mine, &record);
    UNIT_EQUAL(cases[i].reason, record.reason);
    UNIT_EQUAL(cases[i].completed, record.iterations);
    if (isnan(record.first)) continue;
    UNIT_CHECK(mine.tolerance == fmax(cases[i].first * cases[i].tolerance, cases[i].absolute));
    UNIT_CHECK(mine.divergence == cases[i].first * cases[i].divergence);
    given.relative = 0; /* the caller has tested iteration 0 */
    record.reason  = SPMV_ITERATING;
    spmv_take_test(&given, &mine, &record);
    UNIT_EQUAL(SPMV_ITERATING, record.reason);
    UNIT_CHECK(mine.tolerance == given.tolerance && mine.divergence == given.divergence);
  }
}

UNIT_TEST(cg_decides_after_the_curvature)
{
  static const struct {
    double     before, curvature;
    SpmvReason reason;
  } cases[] = {{1, 2, SPMV_ITERATING},          {-1, -2, SPMV_ITERATING},
               {1, -2, SPMV_INDEFINITE_MATRIX}, {-1, 2, SPMV_INDEFINITE_MATRIX},
               {1, 0, SPMV_INDEFINITE_MATRIX},  {1, INFINITY, SPMV_DIVERGED_NOT_A_NUMBER}};

  for (int i = 0; i < 6; i++) {
    SpmvCgState s      = begun(SPMV_CG_PRECONDITIONED);
    s.curvature        = cases[i].before;
    s.record.completed = 1;
    spmv_cg_take_curvature(&s, cases[i].curvature);
    check(&s, cases[i].reason, 2, 1);
    UNIT_EQUAL(cases[i].reason == SPMV_ITERATING, s.active);
    if (s.active) UNIT_CHECK(s.alpha == 4 / cases[i].curvature && s.beta_before == 4);
  }
  SpmvCgState s = begun(SPMV_CG_PRECONDITIONED);
  s.curvature   = 1; /* of an earlier solve: iteration 1 has no sign before it */
  spmv_cg_take_curvature(&s, -2);
  check(&s, SPMV_ITERATING, 1, 0);
}

/* Iteration 1 with these sums */
static SpmvCgState after_one(SpmvCgState s, double beta, double squares)
{
  spmv_cg_take_curvature(&s, 2);
  spmv_cg_take_residual(&s, beta, squares);
  return s;
}

UNIT_TEST(cg_decides_after_the_residual)
{
  double      ring[2] = {-1, -1};
  SpmvCgState s       = begun(SPMV_CG_PRECONDITIONED);

  s.history = ring;
  s.kept    = 2;
  s         = after_one(s, 2, 25);
  check(&s, SPMV_ITERATING, 1, 1);
  UNIT_CHECK(s.active && s.scale == 0.5 && s.record.norm == 5 && ring[0] == 5 && ring[1] == -1);
  s = after_one(s, 1, 36);
  s = after_one(s, 1, 49); /* the ring holds the norms of iterations 2 and 3; and 3 is the last one */
  UNIT_CHECK(ring[0] == 7 && ring[1] == 6);
  check(&s, SPMV_DIVERGED_ITERATIONS, 3, 3);
  UNIT_CHECK(!s.active && spmv_cg_stopped(&s));

  s = after_one(begun(SPMV_CG_PRECONDITIONED), 2, 1);
  check(&s, SPMV_RTOL, 1, 1);
  s = after_one(begun(SPMV_CG_PRECONDITIONED), 2, 1e6);
  check(&s, SPMV_DIVERGED_TOLERANCE, 1, 1);
  s = after_one(begun(SPMV_CG_PRECONDITIONED), 2, NAN);
  check(&s, SPMV_DIVERGED_NOT_A_NUMBER, 1, 0);
  s = after_one(begun(SPMV_CG_PRECONDITIONED), NAN, 4);
  check(&s, SPMV_DIVERGED_NOT_A_NUMBER, 1, 1);
  s = after_one(begun(SPMV_CG_PRECONDITIONED), -2, 4);
  check(&s, SPMV_INDEFINITE_PC, 2, 1);
  s = after_one(begun(SPMV_CG_PRECONDITIONED), 0, 4);
  check(&s, SPMV_BREAKDOWN, 2, 1);
  s = after_one(begun(SPMV_CG_NATURAL), -1, 400); /* sqrt(|(r, z)|) = 1; convergence comes before the sign */
  check(&s, SPMV_RTOL, 1, 1);
  s = after_one(begun(SPMV_CG_NORM_NONE), 2, 0);
  check(&s, SPMV_ITERATING, 1, 1);
}

/* Up to check_after the norm is 0 and not tested, but the natural norm is computed */
UNIT_TEST(cg_decides_nothing_before_check_after)
{
  for (int natural = 0; natural < 2; natural++) {
    SpmvCgState s      = begun(natural ? SPMV_CG_NATURAL : SPMV_CG_UNPRECONDITIONED);
    s.test.check_after = 2;
    s                  = after_one(s, 0.25, 0.25);
    check(&s, SPMV_ITERATING, 1, 1);
    UNIT_CHECK(s.record.norm == (natural ? 0.5 : 0));
  }
}

UNIT_TEST(cg_decides_before_a_function)
{
  SpmvCgState s = begun(SPMV_CG_UNPRECONDITIONED);

  spmv_cg_take_curvature(&s, 2);
  spmv_cg_take_squares(&s, 25);
  check(&s, SPMV_ITERATING, 1, 1);
  UNIT_CHECK(s.active);
  spmv_cg_take_beta(&s, 8);
  UNIT_CHECK(s.active && s.scale == 2 && s.beta == 8);
  spmv_cg_take_curvature(&s, 2);
  spmv_cg_take_squares(&s, 1);
  check(&s, SPMV_RTOL, 2, 2);
  UNIT_CHECK(!s.active);
}

UNIT_TEST(cg_decides_after_a_correction)
{
  for (int restart = 0; restart < 2; restart++) {
    SpmvCgState s = after_one(begun(SPMV_CG_PRECONDITIONED), 2, 1);
    spmv_cg_begin_correction(&s, restart);
    spmv_cg_take_corrected(&s, 3);
    check(&s, SPMV_ITERATING, 1, 1);
    UNIT_CHECK(s.active && s.beta == 3 && s.scale == (restart ? 0 : 0.75)); /* (r, z) before was 4 */
    UNIT_CHECK(s.record.first == 3);
    spmv_cg_take_corrected(&s, 0);
    check(&s, SPMV_BREAKDOWN, 2, 1);
    UNIT_CHECK(!s.active);
  }
}

/* Iteration 0 has (z, A z) = 2, and so (p, w) = 2; then an iteration with these sums */
static SpmvCgState after_single(double beta, double squares, double zaz)
{
  SpmvCgState s = begun(SPMV_CG_PRECONDITIONED);

  s = (SpmvCgState){.stop_at = 100, .norm = s.norm, .test = s.test, .sums = {4, 9, 2}};
  spmv_cg_take_single(&s, 1);
  check(&s, SPMV_ITERATING, 0, 0);
  UNIT_CHECK(s.active && s.alpha == 2 && s.record.first == 3);
  s.sums[0] = beta;
  s.sums[1] = squares;
  s.sums[2] = zaz;
  spmv_cg_take_single(&s, 0);
  UNIT_EQUAL(s.record.reason == SPMV_ITERATING, s.active);
  return s;
}

UNIT_TEST(cg_decides_after_a_single_reduction)
{
  SpmvCgState s = after_single(2, 25, 2);

  check(&s, SPMV_ITERATING, 1, 1);
  UNIT_CHECK(s.scale == 0.5 && s.curvature == 2 - 0.25 * 2 && s.alpha == 2 / 1.5 && s.record.norm == 5);
  static const struct {
    double     beta, squares, zaz;
    SpmvReason reason;
    int64_t    iterations, completed;
  } cases[] = {{2, 1, 2, SPMV_RTOL, 1, 1},
               {2, 1, -9, SPMV_RTOL, 1, 1}, /* (p, w) is that of the next iteration */
               {2, 1e6, 2, SPMV_DIVERGED_TOLERANCE, 1, 1},
               {2, NAN, 2, SPMV_DIVERGED_NOT_A_NUMBER, 1, 0},
               {NAN, 25, 2, SPMV_DIVERGED_NOT_A_NUMBER, 1, 1},
               {2, 25, NAN, SPMV_DIVERGED_NOT_A_NUMBER, 2, 1},
               {-2, 25, -9, SPMV_INDEFINITE_PC, 2, 1}, /* it is found before the matrix */
               {0, 25, 2, SPMV_BREAKDOWN, 2, 1},
               {2, 25, 0.5, SPMV_INDEFINITE_MATRIX, 2, 1}, /* (p, w) = 0 */
               {2, 25, 0.25, SPMV_INDEFINITE_MATRIX, 2, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    s = after_single(cases[i].beta, cases[i].squares, cases[i].zaz);
    check(&s, cases[i].reason, cases[i].iterations, cases[i].completed);
  }
  s                     = after_single(2, 25, 2);
  s.test.max_iterations = 2;
  spmv_cg_take_single(&s, 0); /* an indefinite matrix is not found after the last iteration */
  check(&s, SPMV_DIVERGED_ITERATIONS, 2, 2);
}

/* Richardson's iteration: neither a sum of any sign nor one of 0 ends it, and the direction is the residual */
UNIT_TEST(cg_takes_a_step_that_is_given)
{
  static const double sums[] = {-4, 0, 4};

  for (int i = 0; i < 3; i++) {
    SpmvCgState s = {.stop_at = 100, .step = 0.5, .norm = SPMV_CG_PRECONDITIONED, .test = begun(0).test};

    spmv_cg_take_first(&s, sums[i], 9);
    check(&s, SPMV_ITERATING, 0, 0);
    spmv_cg_take_curvature(&s, -sums[i]);
    UNIT_CHECK(s.active && s.alpha == 0.5);
    spmv_cg_take_residual(&s, sums[2 - i], 4);
    check(&s, SPMV_ITERATING, 1, 1);
    UNIT_CHECK(s.active && s.scale == 0 && s.record.norm == 2);
    spmv_cg_take_curvature(&s, NAN);
    UNIT_EQUAL(SPMV_DIVERGED_NOT_A_NUMBER, s.record.reason);
  }
}

UNIT_TEST(cg_stops_where_a_call_ends)
{
  SpmvCgState s = after_one(begun(SPMV_CG_PRECONDITIONED), 2, 25);

  UNIT_CHECK(!spmv_cg_stopped(&s));
  s.stop_at = 1;
  UNIT_CHECK(spmv_cg_stopped(&s));
}
