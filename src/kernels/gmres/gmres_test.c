/* Tests of GMRES: all modes against a textbook implementation. Without a device only gmres_decide_test.c runs. */
#include "gmres_test.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The last mode to test; without a device there is none */
static int last_mode(void) { return spmv_device_count(NULL) ? SPMV_GMRES_GRAPH : -1; }

static int64_t distance(int64_t a, int64_t b) { return a > b ? a - b : b - a; }

/* The same number of iterations within one; norms and x within rounding errors */
static void check_alike(const CgMatrix *a, const GmresOutcome *got, const GmresOutcome *expected, double tolerance)
{
  const int64_t n =
      got->result.iterations < expected->result.iterations ? got->result.iterations : expected->result.iterations;

  unit_check(got->status == SPMV_SUCCESS, a->name, __LINE__, "the solve fails");
  unit_check(distance(got->result.iterations, expected->result.iterations) <= 1, a->name, __LINE__,
             "the number of iterations differs");
  for (int64_t i = 0; i <= n; i++)
    if (!unit_check(fabs(got->norms[i] - expected->norms[i]) <= tolerance * got->norms[0], a->name, __LINE__,
                    "a norm differs"))
      break;
  cg_check_x(a, got->x, expected->x, tolerance);
}

static void check_against_textbook(const CgMatrix *a, const GmresSetup *u, int converges)
{
  GmresOutcome expected = gmres_textbook(a, u), got = gmres_solve(a, u);

  check_alike(a, &got, &expected, 1e-6);
  if (converges) unit_check(got.result.reason == SPMV_RTOL, a->name, __LINE__, "it does not converge");
  else UNIT_EQUAL(SPMV_DIVERGED_ITERATIONS, got.result.reason);
  gmres_outcome_free(&expected);
  gmres_outcome_free(&got);
}

UNIT_TEST(gmres_of_all_modes_sides_preconditioners_and_refinements_is_that_of_books)
{
  for (int mode = SPMV_GMRES_CHUNK; mode <= last_mode(); mode++)
    for (int i = 0; i < 4; i++) {
      CgMatrix a = gmres_matrix(i, GMRES_CONVECTION);
      for (int block = 0; block <= SPMV_PC_BLOCK_MAX; block++)
        for (int variant = 0; variant < 6; variant++) {
          if ((block && a.pattern.rows % block) || (block == 0 && variant % 2)) continue;
          if ((i + block + variant + mode) % 2) continue; /* each case in one mode: the emulated device is slow */
          if (block < 2 && variant / 2 != (i + block) % 3) continue; /* and each refinement with another matrix */
          GmresSetup u = gmres_setup((SpmvGmresMode)mode);
          u.block      = block;
          u.right      = variant % 2;
          u.refine     = (SpmvGmresRefine)(variant / 2);
          u.restart    = i % 2 ? 10 : 30;
          u.own_stream = block % 2;
          u.guess      = variant % 3 == 1;
          check_against_textbook(&a, &u, 1);
        }
      cg_matrix_free(&a);
    }
}

UNIT_TEST(gmres_restarts_after_1_to_60_iterations)
{
  CgMatrix a = gmres_matrix(1, GMRES_CONVECTION);

  for (int mode = SPMV_GMRES_CHUNK; mode <= last_mode(); mode++)
    for (int restart = 1; restart <= 60; restart += restart < 3 ? 1 : 19) {
      GmresSetup u     = gmres_setup((SpmvGmresMode)mode);
      u.restart        = restart;
      u.max_iterations = 64;
      u.untested       = 1;
      u.right = u.block = restart % 2;
      check_against_textbook(&a, &u, 0);
    }
  cg_matrix_free(&a);
}

UNIT_TEST(gmres_of_an_indefinite_and_of_a_singular_matrix)
{
  for (int mode = SPMV_GMRES_CHUNK; mode <= last_mode(); mode++)
    for (int kind = GMRES_INDEFINITE; kind <= GMRES_SINGULAR; kind++) {
      CgMatrix   a = gmres_matrix(kind == GMRES_SINGULAR ? 0 : 3, (GmresKind)kind);
      GmresSetup u = gmres_setup((SpmvGmresMode)mode);
      u.restart    = 40;
      u.block      = 1;
      u.right      = kind == GMRES_SINGULAR;
      check_against_textbook(&a, &u, 1);
      cg_matrix_free(&a);
    }
}

/* The same bits as when the caller makes the tolerance of the first norm */
UNIT_TEST(gmres_makes_the_tolerance_of_the_first_norm)
{
  CgMatrix a = gmres_matrix(2, GMRES_CONVECTION);

  for (int mode = SPMV_GMRES_CHUNK; mode <= last_mode(); mode++)
    for (int variant = 0; variant < 3; variant++) {
      GmresSetup u      = gmres_setup((SpmvGmresMode)mode);
      u.function        = variant == 2;
      u.block           = variant < 2;
      u.right           = variant == 1;
      u.guess           = variant == 0;
      u.restart         = 7;
      u.rtol            = 1e-3;
      u.max_iterations  = u.function ? 9 : 300; /* the function is no good preconditioner */
      GmresOutcome own  = gmres_solve(&a, &u);
      u.asks_first      = 1;
      GmresOutcome told = gmres_solve(&a, &u);
      UNIT_EQUAL(u.function ? SPMV_DIVERGED_ITERATIONS : SPMV_RTOL, own.result.reason);
      UNIT_CHECK(own.result.iterations > 1 && own.norms[0] > own.result.norm && own.norms[0] == told.norms[0]);
      UNIT_CHECK(!memcmp(&own.result, &told.result, sizeof own.result));
      UNIT_CHECK(!memcmp(own.x, told.x, (size_t)a.pattern.rows * sizeof *own.x));
      gmres_outcome_free(&own);
      gmres_outcome_free(&told);
    }
  cg_matrix_free(&a);
}

/* Tests of iteration 0 that are met: x stays as it was */
UNIT_TEST(gmres_ends_at_iteration_0)
{
  static const struct {
    double     rtol, absolute, divtol;
    SpmvReason reason;
  } cases[]  = {{1, 0, INFINITY, SPMV_RTOL}, {0.5, 1e200, INFINITY, SPMV_ATOL}, {0.5, 0, 1, SPMV_DIVERGED_TOLERANCE}};
  CgMatrix a = gmres_matrix(2, GMRES_CONVECTION);

  for (int mode = SPMV_GMRES_CHUNK; mode <= last_mode(); mode++)
    for (int i = 0; i < 6; i++) {
      GmresSetup u   = gmres_setup((SpmvGmresMode)mode);
      u.function     = i % 2;
      u.right        = i % 4 == 1;
      u.rtol         = cases[i / 2].rtol;
      u.absolute     = cases[i / 2].absolute;
      u.divtol       = cases[i / 2].divtol;
      GmresOutcome o = gmres_solve(&a, &u);
      UNIT_EQUAL(cases[i / 2].reason, o.result.reason);
      UNIT_EQUAL(0, o.result.iterations);
      UNIT_CHECK(o.norms[0] > 0 && o.result.norm == o.norms[0]);
      for (int k = 0; k < a.pattern.rows; k++) UNIT_CHECK(o.x[k] == 0);
      gmres_outcome_free(&o);
    }
  cg_matrix_free(&a);
}

/* Short enough for compute-sanitizer: scripts/gpu_steps.py */
UNIT_TEST(gmres_of_several_thread_blocks)
{
  CgMatrix a = gmres_matrix(CG_MATRICES - 1, GMRES_CONVECTION);

  for (int mode = SPMV_GMRES_CHUNK; mode <= last_mode(); mode++)
    for (int block = 0; block <= 3; block += 1 + block) {
      GmresSetup u     = gmres_setup((SpmvGmresMode)mode);
      u.block          = block;
      u.right          = mode == SPMV_GMRES_GRAPH;
      u.refine         = block ? SPMV_GMRES_REFINE_IF_NEEDED : SPMV_GMRES_REFINE_NEVER;
      u.restart        = 4;
      u.max_iterations = 6;
      check_against_textbook(&a, &u, 0);
    }
  cg_matrix_free(&a);
}

UNIT_TEST(gmres_in_single_precision)
{
  CgMatrix a = gmres_matrix(2, GMRES_CONVECTION);

  for (int mode = SPMV_GMRES_CHUNK; mode <= last_mode(); mode++) {
    GmresSetup u          = gmres_setup((SpmvGmresMode)mode);
    u.block               = 3;
    u.right               = mode % 2;
    u.rtol                = 1e-4;
    GmresOutcome expected = gmres_textbook(&a, &u);
    u.scalar              = SPMV_F32;
    GmresOutcome got      = gmres_solve(&a, &u);
    check_alike(&a, &got, &expected, 1e-3);
    gmres_outcome_free(&got);
    gmres_outcome_free(&expected);
  }
  cg_matrix_free(&a);
}

/* The preconditioner is a product with A */
UNIT_TEST(gmres_with_a_function_as_preconditioner)
{
  CgMatrix a = gmres_matrix(0, GMRES_CONVECTION);

  for (int mode = SPMV_GMRES_CHUNK; mode <= last_mode(); mode++)
    for (int variant = 0; variant < 4; variant++) {
      GmresSetup u     = gmres_setup((SpmvGmresMode)mode);
      u.function       = 1;
      u.right          = variant % 2;
      u.guess          = variant / 2;
      u.restart        = 12;
      u.refine         = variant / 2 ? SPMV_GMRES_REFINE_ALWAYS : SPMV_GMRES_REFINE_NEVER;
      u.untested       = 1;
      u.max_iterations = 30;
      check_against_textbook(&a, &u, 0);
    }
  cg_matrix_free(&a);
}

typedef struct {
  SpmvOperator *plan;
  int64_t       calls;
} CountedProduct;

static SpmvStatus counted_product(void *ctx, const void *p, void *w, SpmvExec *exec)
{
  CountedProduct *counted = ctx;

  counted->calls++;
  return spmv_operator_product(counted->plan, p, w, exec);
}

/* On the left the product of the next iteration is enqueued before the host waits for this one, so the last one has a
   needless product. On the right the function comes first, so there is none. */
UNIT_TEST(gmres_multiplies_while_the_host_looks)
{
  CgMatrix a = gmres_matrix(0, GMRES_CONVECTION);

  for (int mode = SPMV_GMRES_CHUNK; mode <= last_mode(); mode++)
    for (int variant = 0; variant < 4; variant++) {
      const int      right = variant % 2, ahead = !right && variant < 2;
      GmresSetup     u       = gmres_setup((SpmvGmresMode)mode);
      CountedProduct product = {NULL, 0};
      GmresEngine    e;
      u.function       = 1;
      u.right          = right;
      u.restart        = 60;
      u.rtol           = 0.3;
      u.max_iterations = 59;
      if (variant >= 2) u.step = 1; /* a call for one iteration enqueues no further product */
      gmres_engine_open_by(&e, &a, &u, NULL, counted_product, &product);
      product.plan     = &e.matrix.product;
      GmresOutcome got = gmres_engine_solve(&e);
      UNIT_EQUAL(SPMV_RTOL, got.result.reason);
      UNIT_CHECK(got.result.iterations > 2);
      UNIT_EQUAL(got.result.iterations + ahead, product.calls);
      gmres_outcome_free(&got);
      gmres_engine_close(&e);
    }
  cg_matrix_free(&a);
}

/* One solve per mode must end with this reason and this number of iterations */
static void check_end(const CgMatrix *a, GmresSetup u, SpmvReason reason, int64_t iterations)
{
  for (int mode = SPMV_GMRES_CHUNK; mode <= last_mode(); mode++) {
    u.mode         = (SpmvGmresMode)mode;
    GmresOutcome o = gmres_solve(a, &u);
    UNIT_EQUAL(SPMV_SUCCESS, o.status);
    if (o.result.reason != reason) unit_check(0, a->name, mode, "the reason differs");
    UNIT_EQUAL(reason, o.result.reason);
    UNIT_EQUAL(iterations, o.result.iterations);
    for (int64_t i = 0; i < a->pattern.rows && reason != SPMV_DIVERGED_NOT_A_NUMBER; i++) UNIT_CHECK(isfinite(o.x[i]));
    gmres_outcome_free(&o);
  }
}

UNIT_TEST(gmres_ends_as_petsc_does)
{
  CgMatrix   a = gmres_matrix(0, GMRES_CONVECTION);
  GmresSetup u = gmres_setup(SPMV_GMRES_CHUNK);

  u.restart        = 5;
  u.max_iterations = 3;
  check_end(&a, u, SPMV_DIVERGED_ITERATIONS, 3);
  u.max_iterations = 5; /* the last iteration ends a cycle */
  check_end(&a, u, SPMV_DIVERGED_ITERATIONS, 5);
  u.max_iterations = 7;
  u.max_is_success = 1;
  check_end(&a, u, SPMV_ITERATIONS, 7);
  u            = gmres_setup(SPMV_GMRES_CHUNK);
  u.asks_first = 1; /* and does not end although the first norm meets the test */
  u.rtol       = 1e3;
  check_end(&a, u, SPMV_RTOL, 1);
  u.restart        = 4;
  u.min_iterations = 4;
  check_end(&a, u, SPMV_RTOL, 4);
  u.min_iterations = 0;
  u.check_after    = 5;
  check_end(&a, u, SPMV_RTOL, 6);
  u            = gmres_setup(SPMV_GMRES_CHUNK);
  u.asks_first = 1;
  u.divtol     = 1e-3; /* relative to the first norm: every norm exceeds it */
  check_end(&a, u, SPMV_DIVERGED_TOLERANCE, 1);
  cg_matrix_free(&a);
}

UNIT_TEST(gmres_breaks_down_as_petsc_does)
{
  CgMatrix   a = gmres_matrix(4, GMRES_CONVECTION);
  GmresSetup u = gmres_setup(SPMV_GMRES_CHUNK);

  memset(a.b, 0, (size_t)a.pattern.rows * sizeof *a.b);
  check_end(&a, u, SPMV_ATOL, 0);
  a.b[2] = NAN;
  check_end(&a, u, SPMV_DIVERGED_NOT_A_NUMBER, 0);
  cg_matrix_free(&a);

  a           = gmres_matrix(4, GMRES_CONVECTION);
  a.values[4] = NAN;
  check_end(&a, u, SPMV_DIVERGED_NOT_A_NUMBER, 0);
  memset(a.values, 0, (size_t)a.pattern.nnz * sizeof *a.values);
  check_end(&a, u, SPMV_DIVERGED_BREAKDOWN, 1); /* A = 0: the column of the Hessenberg matrix is 0 */
  for (int i = 0; i < 7; i++) {
    *cg_diagonal(&a, i) = 2;
    a.b[i]              = i == 2;
  }
  check_end(&a, u, SPMV_RTOL, 1); /* the first vector spans the Krylov space */
  u.untested = 1;
  check_end(&a, u, SPMV_DIVERGED_BREAKDOWN, 2);
  cg_matrix_free(&a);

  a                = gmres_matrix(4, GMRES_CONVECTION); /* seven vectors span the whole space: the rest is rounding */
  u.max_iterations = 7;
  check_end(&a, u, SPMV_DIVERGED_ITERATIONS, 7);
  u           = gmres_setup(SPMV_GMRES_CHUNK);
  u.restart   = 2;
  u.breakdown = 0; /* the norm of the recurrence differs from that of b - A x in the last bits */
  check_end(&a, u, SPMV_DIVERGED_BREAKDOWN, 2);
  cg_matrix_free(&a);
}

/* A new vector of negligible norm ends the solve, with a residual that counts as 0 */
UNIT_TEST(gmres_ends_where_a_vector_is_less_than_the_tolerance_of_a_happy_breakdown)
{
  CgMatrix a = gmres_matrix(4, GMRES_CONVECTION);

  for (int mode = SPMV_GMRES_CHUNK; mode <= last_mode(); mode++)
    for (int untested = 0; untested < 2; untested++) {
      GmresSetup u = gmres_setup((SpmvGmresMode)mode);
      u.untested   = untested;
      u.happy      = 1e30;                      /* so that the bound relative to the residual decides */
      for (int i = 0; i < 7; i++) a.b[i] = 0.1; /* of norm below 1, so that the new vector's norm is below the bound */
      GmresOutcome small = gmres_solve(&a, &u);
      UNIT_EQUAL(untested ? SPMV_BREAKDOWN : SPMV_RTOL, small.result.reason);
      UNIT_EQUAL(1, small.result.iterations);
      UNIT_CHECK(small.result.norm == 0);
      gmres_outcome_free(&small);
    }
  cg_matrix_free(&a);
}

/* One iteration a call, three a call, and all in one call give the same bits; so does a second solve */
UNIT_TEST(gmres_in_steps_and_repeated_gives_the_same_bits)
{
  CgMatrix      a       = gmres_matrix(3, GMRES_CONVECTION);
  const int64_t steps[] = {INT64_MAX, 1, 3, INT64_MAX};

  for (int mode = SPMV_GMRES_CHUNK; mode <= last_mode(); mode++) {
    GmresOutcome first = {0};
    for (int i = 0; i < 4; i++) {
      GmresSetup u   = gmres_setup((SpmvGmresMode)mode);
      u.block        = 3;
      u.right        = 1;
      u.restart      = 8;
      u.step         = steps[i];
      u.chunk        = i == 3 ? 7 : i;
      u.refine       = SPMV_GMRES_REFINE_IF_NEEDED;
      GmresOutcome o = gmres_solve(&a, &u);
      if (i == 0) {
        first = o;
        continue;
      }
      UNIT_CHECK(!memcmp(first.x, o.x, (size_t)a.pattern.rows * sizeof *o.x));
      UNIT_CHECK(!memcmp(first.norms, o.norms, CG_HISTORY * sizeof *o.norms));
      UNIT_EQUAL(first.result.iterations, o.result.iterations);
      gmres_outcome_free(&o);
    }
    gmres_outcome_free(&first);
  }
  cg_matrix_free(&a);
}

/* Graphs are captured once: a second solve with new values of A and M launches the same graphs */
UNIT_TEST(gmres_solves_again_with_other_values_and_the_same_graphs)
{
  for (int mode = SPMV_GMRES_CHUNK; mode <= last_mode(); mode++)
    for (int function = 0; function < 2; function++) {
      CgMatrix    a = gmres_matrix(2, GMRES_CONVECTION);
      GmresSetup  u = gmres_setup((SpmvGmresMode)mode);
      GmresEngine e;
      u.restart  = 10;
      u.chunk    = 4;
      u.function = function;
      u.block    = !function;
      gmres_engine_open(&e, &a, &u, NULL);
      for (int i = 0; i < 3; i++) {
        GmresOutcome expected = gmres_textbook(&a, &u), got = gmres_engine_solve(&e);
        check_alike(&a, &got, &expected, 1e-5);
        UNIT_EQUAL(mode != SPMV_GMRES_GRAPH ? 0 : function ? 1 : 3, got.info.graphs);
        gmres_outcome_free(&expected);
        gmres_outcome_free(&got);
        for (int row = 0; row < a.pattern.rows; row++) *cg_diagonal(&a, row) *= 1.3;
        cg_engine_renew(&e.matrix);
      }
      gmres_engine_close(&e);
      cg_matrix_free(&a);
    }
}

/* spmv_gmres_solution() after n iterations gives the x of a solve with n iterations, and does not change the solve */
UNIT_TEST(gmres_shows_the_solution_of_any_iteration)
{
  CgMatrix a = gmres_matrix(1, GMRES_CONVECTION);

  for (int mode = SPMV_GMRES_CHUNK; mode <= last_mode(); mode++)
    for (int variant = 0; variant < 3; variant++) {
      GmresSetup u       = gmres_setup((SpmvGmresMode)mode);
      u.restart          = 4;
      u.right            = variant > 0;
      u.block            = variant == 1;
      u.function         = variant == 2;
      u.rtol             = 1e-4;
      u.step             = 3;
      GmresOutcome whole = gmres_solve(&a, &u);
      GmresEngine  e;
      double      *seen = calloc((size_t)a.pattern.rows, sizeof *seen);
      gmres_engine_open(&e, &a, &u, NULL);
      void           *to = cg_put(&e.matrix, a.b, a.pattern.rows);
      SpmvGmresResult result;
      SpmvTest        test;
      UNIT_EQUAL(SPMV_SUCCESS, gmres_engine_begin(&e, &test));
      for (int n = 3; n <= 9; n += 3) { /* within the first cycle, and within later ones */
        UNIT_EQUAL(SPMV_SUCCESS, spmv_gmres_run(e.gmres, 3, &test, &result, &e.exec));
        UNIT_EQUAL(SPMV_SUCCESS, spmv_gmres_solution(e.gmres, to, &e.exec));
        cg_get(&e.matrix, to, seen, a.pattern.rows);
        GmresSetup few      = u;
        few.max_iterations  = n;
        few.step            = INT64_MAX;
        GmresOutcome expect = gmres_solve(&a, &few);
        UNIT_EQUAL(SPMV_DIVERGED_ITERATIONS, expect.result.reason);
        for (int i = 0; i < a.pattern.rows; i++) UNIT_CHECK(fabs(seen[i] - expect.x[i]) <= 1e-12 * (1 + fabs(seen[i])));
        gmres_outcome_free(&expect);
      }
      while (result.reason == SPMV_ITERATING)
        UNIT_EQUAL(SPMV_SUCCESS, spmv_gmres_run(e.gmres, 100, &test, &result, &e.exec));
      cg_get(&e.matrix, e.x, seen, a.pattern.rows);
      UNIT_CHECK(!memcmp(seen, whole.x, (size_t)a.pattern.rows * sizeof *seen));
      UNIT_EQUAL(whole.result.iterations, result.iterations);
      cg_release(&e.matrix, to);
      free(seen);
      gmres_engine_close(&e);
      gmres_outcome_free(&whole);
    }
  cg_matrix_free(&a);
}

UNIT_TEST(gmres_lets_its_caller_add_the_sums)
{
  CgTwice             twice;
  const SpmvProcesses two = {.ctx = &twice, .enqueues = 1, .add = cg_add_twice};
  CgMatrix            a   = gmres_matrix(0, GMRES_CONVECTION);

  for (int mode = SPMV_GMRES_CHUNK; mode <= last_mode(); mode++)
    for (int restart = 7; restart < 80; restart += 63) { /* 71 sums do not fit one call, which has at most 64 */
      GmresSetup u        = gmres_setup((SpmvGmresMode)mode);
      u.restart           = restart;
      u.refine            = SPMV_GMRES_REFINE_IF_NEEDED;
      u.max_iterations    = 72;
      u.untested          = restart > 7;
      u.rtol              = 1e-5;
      GmresOutcome single = gmres_solve(&a, &u);
      u.processes         = &two;
      u.chunk             = 1;
      twice               = (CgTwice){0, 0};
      GmresOutcome both   = gmres_solve(&a, &u);
      UNIT_EQUAL(single.result.reason, both.result.reason);
      UNIT_CHECK(distance(single.result.iterations, both.result.iterations) <= 1);
      UNIT_CHECK(mode == SPMV_GMRES_GRAPH ||
                 twice.sums > 2 * both.result.iterations); /* graphs call it in captures only */
      for (int i = 0; i < both.result.iterations && i < single.result.iterations; i++)
        UNIT_CHECK(fabs(both.norms[i] - sqrt(2) * single.norms[i]) <= 1e-9 * both.norms[0]);
      gmres_outcome_free(&single);
      gmres_outcome_free(&both);
    }
  cg_matrix_free(&a);
}
