/* Tests of conjugate gradients with a matrix rounded to single precision. */
#include "cg_test.h"
#include "unit.h"
#include <math.h>
#include <string.h>

static int last_mode(void) { return spmv_device_count(NULL) ? SPMV_CG_GRAPH : -1; }

static CgOutcome refine(const CgMatrix *a, const CgSetup *u, double drop, int restart, int *corrections)
{
  CgEngine e;

  cg_engine_open(&e, a, u, NULL);
  if (e.status) unit_check(0, a->name, __LINE__, e.exec.message);
  CgOutcome o = cg_engine_refine(&e, drop, restart, corrections);
  cg_engine_close(&e);
  return o;
}

/* The result is as accurate as in double precision, with at most 20% more iterations, or twice as many with restarts */
static void check_refined(const CgMatrix *a, const CgSetup *u, double drop, int restart)
{
  CgSetup plain = *u;
  int     corrections;

  plain.rounded          = 0;
  CgOutcome     expected = cg_textbook(a, &plain), got = refine(a, u, drop, restart, &corrections);
  const int64_t most = expected.result.completed * (restart ? 20 : 12) / 10 + 2 + corrections;
  unit_check(got.status == SPMV_SUCCESS && got.result.reason == SPMV_RTOL, a->name, __LINE__, "no convergence");
  unit_check(got.norms[0] <= 1e-12 * expected.norms[0], a->name, __LINE__, "the true residual is large");
  unit_check(got.result.completed <= most, a->name, __LINE__, "many more iterations");
  cg_check_x(a, got.x, expected.x, 1e-9);
  cg_outcome_free(&expected);
  cg_outcome_free(&got);
}

UNIT_TEST(cg_with_a_rounded_matrix_is_as_accurate_as_with_the_matrix)
{
  for (int mode = SPMV_CG_CHUNK; mode <= last_mode(); mode++)
    for (int i = 0; i < 4; i++) { /* small ones converge by exhausting the space: needs exact products */
      CgMatrix a = cg_matrix(i);
      for (int restart = 0; restart < 2; restart++)
        for (int block = 0; block <= 3; block += 1 + block) {
          if (block && a.pattern.rows % block) continue;
          if ((i + block + restart + mode) % 2) continue; /* each case in one mode */
          CgSetup u = cg_setup((SpmvCgMode)mode, SPMV_CG_UNPRECONDITIONED - (block > 1), block);
          u.rtol    = 1e-12;
          u.rounded = 1;
          check_refined(&a, &u, 1e-3, restart);
        }
      cg_matrix_free(&a);
    }
}

/* Without corrections the residual of the recurrence becomes small, but b - A x does not */
UNIT_TEST(cg_with_a_rounded_matrix_needs_corrections)
{
  CgMatrix a = cg_matrix(0);

  for (int mode = SPMV_CG_CHUNK; mode <= last_mode(); mode++) {
    CgSetup u = cg_setup((SpmvCgMode)mode, SPMV_CG_UNPRECONDITIONED, 1);
    int     corrections;
    u.rtol      = 1e-12;
    u.rounded   = 1;
    CgOutcome o = refine(&a, &u, 0, 0, &corrections);
    UNIT_EQUAL(SPMV_RTOL, o.result.reason);
    UNIT_CHECK(o.norms[0] > 1e-9 && o.norms[0] < 1e-2);
    cg_outcome_free(&o);
  }
  cg_matrix_free(&a);
}

/* For any chunk length, and in steps */
UNIT_TEST(cg_with_a_rounded_matrix_gives_the_same_bits_again)
{
  CgMatrix  a     = cg_matrix(3);
  CgOutcome first = {0};
  int       corrections;

  for (int mode = SPMV_CG_CHUNK; mode <= last_mode(); mode++)
    for (int chunk = 1; chunk < 8; chunk += 3) {
      CgSetup u   = cg_setup((SpmvCgMode)mode, SPMV_CG_NATURAL, 3);
      u.rounded   = 1;
      u.chunk     = chunk;
      u.step      = chunk == 4 ? 5 : INT64_MAX;
      CgOutcome o = refine(&a, &u, 1e-2, 0, &corrections);
      UNIT_EQUAL(SPMV_RTOL, o.result.reason);
      UNIT_CHECK(corrections > 2);
      if (!first.x) {
        first = o;
        continue;
      }
      UNIT_CHECK(!memcmp(first.x, o.x, (size_t)a.pattern.rows * sizeof *o.x));
      UNIT_EQUAL(first.result.completed, o.result.completed);
      cg_outcome_free(&o);
    }
  cg_outcome_free(&first);
  cg_matrix_free(&a);
}

UNIT_TEST(cg_refuses_corrections_that_make_no_sense)
{
  if (last_mode() < SPMV_CG_CHUNK) return;
  CgMatrix a = cg_matrix(4);
  CgSetup  u = cg_setup(SPMV_CG_CHUNK, SPMV_CG_UNPRECONDITIONED, 0);
  CgEngine e;

  u.rounded = 1;
  cg_engine_open(&e, &a, &u, NULL);
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cg_correct(e.cg, 0, &e.exec)); /* not started */
  CgOutcome out = cg_engine_solve(&e);
  UNIT_EQUAL(SPMV_RTOL, out.result.reason);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_correct(e.cg, 0, &e.exec));
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cg_correct(e.cg, 0, &e.exec)); /* it has not converged yet */
  UNIT_CHECK(e.exec.message[0]);
  cg_outcome_free(&out);
  cg_engine_close(&e);
  cg_matrix_free(&a);
}

/* A correction after max_iterations iterations ends the solve */
UNIT_TEST(cg_with_a_rounded_matrix_ends_at_the_last_iteration)
{
  CgMatrix a = cg_matrix(0);

  for (int mode = SPMV_CG_CHUNK; mode <= last_mode(); mode++) {
    CgSetup      u = cg_setup((SpmvCgMode)mode, SPMV_CG_UNPRECONDITIONED, 1);
    SpmvCgResult result;
    SpmvTest     test = {.tolerance = 1e-3, .divergence = INFINITY, .check_after = -1};
    CgEngine     e;

    u.rounded = 1;
    u.rtol    = 1e-2;
    cg_engine_open(&e, &a, &u, NULL);
    CgOutcome out       = cg_engine_solve(&e);
    test.max_iterations = out.result.completed;
    UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_correct(e.cg, 0, &e.exec));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_run(e.cg, INT64_MAX, &test, &result, &e.exec));
    UNIT_EQUAL(SPMV_DIVERGED_ITERATIONS, result.reason);
    UNIT_EQUAL(test.max_iterations, result.completed);
    cg_outcome_free(&out);
    cg_engine_close(&e);
  }
  cg_matrix_free(&a);
}
