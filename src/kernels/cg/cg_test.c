/* Tests of conjugate gradients: all modes against a textbook implementation. Without a device only cg_decide_test.c
   runs. */
#include "cg_test.h"
#include "emulated.h"
#include "unit.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const SpmvCgNorm norms[] = {SPMV_CG_NORM_NONE, SPMV_CG_PRECONDITIONED, SPMV_CG_UNPRECONDITIONED,
                                   SPMV_CG_NATURAL};

/* The last mode to test, of cg_set_mode(); without a device there is none */
static int last_mode(void) { return spmv_device_count(NULL) ? CG_SINGLE_GRAPH : -1; }

static int64_t distance(int64_t a, int64_t b) { return a > b ? a - b : b - a; }

/* The same number of iterations within one; norms and x within rounding errors, which grow in the course of a solve */
static void check_alike(const CgMatrix *a, const CgOutcome *got, const CgOutcome *expected, double tolerance)
{
  const int64_t n =
      got->result.completed < expected->result.completed ? got->result.completed : expected->result.completed;

  unit_check(got->status == SPMV_SUCCESS, a->name, __LINE__, "the solve fails");
  unit_check(distance(got->result.completed, expected->result.completed) <= 1, a->name, __LINE__,
             "the number of iterations differs");
  for (int64_t i = 0; i <= n; i++)
    if (!unit_check(fabs(got->norms[i] - expected->norms[i]) <= tolerance * (expected->norms[i] + 0.1 * got->norms[0]),
                    a->name, __LINE__, "a norm differs"))
      break;
  cg_check_x(a, got->x, expected->x, tolerance);
}

static void check_against_textbook(const CgMatrix *a, const CgSetup *u)
{
  CgOutcome expected = cg_textbook(a, u), got = cg_solve(a, u);

  check_alike(a, &got, &expected, 1e-5);
  if (u->norm == SPMV_CG_NORM_NONE) UNIT_EQUAL(SPMV_DIVERGED_ITERATIONS, got.result.reason);
  else unit_check(got.result.reason == SPMV_RTOL, a->name, __LINE__, "it does not converge");
  UNIT_EQUAL(got.result.completed, got.result.iterations);
  cg_outcome_free(&expected);
  cg_outcome_free(&got);
}

UNIT_TEST(cg_of_all_modes_norms_and_preconditioners_is_that_of_books)
{
  for (int mode = SPMV_CG_CHUNK; mode <= last_mode(); mode++)
    for (int i = 0; i < CG_MATRICES - 2; i++) {
      CgMatrix a = cg_matrix(i);
      for (int k = 0; k < 4; k++)
        for (int block = 0; block <= SPMV_PC_BLOCK_MAX; block++) {
          if (block && a.pattern.rows % block) continue;
          if ((i + k + block + mode) % 3) continue; /* each case in one mode: the emulated device is slow */
          CgSetup u = cg_setup(mode, norms[k], block);
          if (norms[k] == SPMV_CG_NORM_NONE) u.max_iterations = a.pattern.rows < 9 ? 3 : 9;
          u.own_stream = block % 2;
          check_against_textbook(&a, &u);
        }
      cg_matrix_free(&a);
    }
}

UNIT_TEST(cg_of_several_thread_blocks)
{
  CgMatrix a = cg_matrix(CG_MATRICES - 1);

  for (int mode = SPMV_CG_CHUNK; mode <= last_mode(); mode++)
    for (int block = 0; block <= 3; block += 1 + block) {
      CgSetup u = cg_setup(mode, SPMV_CG_PRECONDITIONED, block);
      u.rtol    = 1e-5;
      check_against_textbook(&a, &u);
    }
  cg_matrix_free(&a);
}

/* The same bits as when the caller makes the tolerance of the first norm */
UNIT_TEST(cg_makes_the_tolerance_of_the_first_norm)
{
  CgMatrix a = cg_matrix(2);

  for (int mode = SPMV_CG_CHUNK; mode <= last_mode(); mode++)
    for (int k = 1; k < 4; k++) {
      CgSetup u      = cg_setup(mode, norms[k], 1);
      u.rtol         = 1e-3;
      CgOutcome own  = cg_solve(&a, &u);
      u.asks_first   = 1;
      CgOutcome told = cg_solve(&a, &u);
      UNIT_EQUAL(SPMV_RTOL, own.result.reason);
      UNIT_CHECK(own.result.completed > 1 && own.norms[0] > own.result.norm && own.norms[0] == told.norms[0]);
      UNIT_CHECK(!memcmp(&own.result, &told.result, sizeof own.result));
      UNIT_CHECK(!memcmp(own.x, told.x, (size_t)a.pattern.rows * sizeof *own.x));
      cg_outcome_free(&own);
      cg_outcome_free(&told);
    }
  cg_matrix_free(&a);
}

/* Tests of iteration 0 that are met: x stays as it was */
UNIT_TEST(cg_ends_at_iteration_0)
{
  static const struct {
    double     rtol, absolute, divtol;
    SpmvReason reason;
  } cases[]  = {{1, 0, INFINITY, SPMV_RTOL}, {0.5, 1e200, INFINITY, SPMV_ATOL}, {0.5, 0, 1, SPMV_DIVERGED_TOLERANCE}};
  CgMatrix a = cg_matrix(2);

  for (int mode = SPMV_CG_CHUNK; mode <= last_mode(); mode++)
    for (int i = 0; i < 3; i++) {
      CgSetup u   = cg_setup(mode, norms[i + 1], 1);
      u.rtol      = cases[i].rtol;
      u.absolute  = cases[i].absolute;
      u.divtol    = cases[i].divtol;
      CgOutcome o = cg_solve(&a, &u);
      UNIT_EQUAL(cases[i].reason, o.result.reason);
      UNIT_EQUAL(0, o.result.iterations);
      UNIT_CHECK(o.norms[0] > 0 && o.result.norm == o.norms[0]);
      for (int j = 0; j < a.pattern.rows; j++) UNIT_CHECK(o.x[j] == 0);
      cg_outcome_free(&o);
    }
  cg_matrix_free(&a);
}

/* Short enough for compute-sanitizer: scripts/gpu_steps.py */
UNIT_TEST(cg_of_a_few_iterations)
{
  CgMatrix a = cg_matrix(CG_MATRICES - 1);

  for (int mode = SPMV_CG_CHUNK; mode <= last_mode(); mode++) {
    CgSetup u          = cg_setup(mode, SPMV_CG_PRECONDITIONED, 1);
    u.max_iterations   = 3;
    u.chunk            = 2;
    CgOutcome expected = cg_textbook(&a, &u), got = cg_solve(&a, &u);

    check_alike(&a, &got, &expected, 1e-5);
    UNIT_EQUAL(SPMV_DIVERGED_ITERATIONS, got.result.reason);
    UNIT_EQUAL(3, got.result.completed);
    cg_outcome_free(&expected);
    cg_outcome_free(&got);
  }
  cg_matrix_free(&a);
}

UNIT_TEST(cg_in_single_precision)
{
  CgMatrix a = cg_matrix(2);

  for (int mode = SPMV_CG_CHUNK; mode <= last_mode(); mode++) {
    CgSetup u          = cg_setup(mode, SPMV_CG_UNPRECONDITIONED, 3);
    u.rtol             = 1e-3;
    CgOutcome expected = cg_textbook(&a, &u);
    u.scalar           = SPMV_F32;
    CgOutcome got      = cg_solve(&a, &u);
    check_alike(&a, &got, &expected, 2e-2);
    cg_outcome_free(&got);
    cg_outcome_free(&expected);
  }
  cg_matrix_free(&a);
}

/* One solve per mode must end with this reason and these numbers of iterations */
static void check_end(const CgMatrix *a, CgSetup u, SpmvReason reason, int64_t iterations, int64_t completed)
{
  for (int mode = SPMV_CG_CHUNK; mode <= last_mode(); mode++) {
    cg_set_mode(&u, mode);
    CgOutcome o = cg_solve(a, &u);
    UNIT_EQUAL(SPMV_SUCCESS, o.status);
    if (o.result.reason != reason) unit_check(0, a->name, mode, "the reason differs");
    UNIT_EQUAL(reason, o.result.reason);
    UNIT_EQUAL(iterations, o.result.iterations);
    UNIT_EQUAL(completed, o.result.completed);
    for (int64_t i = 0; i < a->pattern.rows && reason > 0; i++) UNIT_CHECK(isfinite(o.x[i]));
    cg_outcome_free(&o);
  }
}

UNIT_TEST(cg_ends_as_petsc_does)
{
  CgMatrix a = cg_matrix(0);
  CgSetup  u = cg_setup(SPMV_CG_CHUNK, SPMV_CG_PRECONDITIONED, 1);

  u.max_iterations = 4;
  check_end(&a, u, SPMV_DIVERGED_ITERATIONS, 4, 4);
  u.max_is_success = 1;
  check_end(&a, u, SPMV_ITERATIONS, 4, 4);
  u            = cg_setup(SPMV_CG_CHUNK, SPMV_CG_UNPRECONDITIONED, 1);
  u.asks_first = 1; /* and does not end although the first norm meets the test */
  u.rtol       = 1e3;
  check_end(&a, u, SPMV_RTOL, 1, 1);
  u.min_iterations = 5;
  check_end(&a, u, SPMV_RTOL, 5, 5);
  u.min_iterations = 0;
  u.check_after    = 6;
  check_end(&a, u, SPMV_RTOL, 7, 7);
  u            = cg_setup(SPMV_CG_CHUNK, SPMV_CG_NATURAL, 0);
  u.asks_first = 1;
  u.divtol     = 1e-3; /* relative to the first norm: every norm exceeds it */
  check_end(&a, u, SPMV_DIVERGED_TOLERANCE, 1, 1);
  cg_matrix_free(&a);
}

UNIT_TEST(cg_breaks_down_as_petsc_does)
{
  CgMatrix a = cg_matrix(4);
  CgSetup  u = cg_setup(SPMV_CG_CHUNK, SPMV_CG_PRECONDITIONED, 0);

  memset(a.b, 0, (size_t)a.pattern.rows * sizeof *a.b);
  check_end(&a, u, SPMV_ATOL, 0, 0);
  u.asks_first = 1;
  check_end(&a, u, SPMV_BREAKDOWN, 1, 0);
  a.b[2] = NAN;
  check_end(&a, u, SPMV_DIVERGED_NOT_A_NUMBER, 0, 0);
  cg_matrix_free(&a);

  a           = cg_matrix(4);
  a.values[4] = NAN;
  check_end(&a, u, SPMV_DIVERGED_NOT_A_NUMBER, 1, 0);
  cg_matrix_free(&a);

  a      = cg_matrix(5); /* one row and no rounding errors: the first step gives the solution */
  u.norm = SPMV_CG_NORM_NONE;
  a.b[0] = *cg_diagonal(&a, 0) = 2;
  check_end(&a, u, SPMV_BREAKDOWN, 2, 1);
  cg_matrix_free(&a);
}

/* A = diag(a0, a1, 1, ...), b = (b0, b1, 0, ...) and M = diag(m): only two unknowns are not 0 */
static void check_two(double a0, double a1, double b0, double b1, const double *m, SpmvReason reason, int64_t its)
{
  CgMatrix a = cg_matrix(4);
  CgSetup  u = cg_setup(SPMV_CG_CHUNK, SPMV_CG_NORM_NONE, m != NULL);

  for (int64_t k = 0; k < a.pattern.nnz; k++) a.values[k] = 0;
  for (int i = 0; i < 7; i++) {
    *cg_diagonal(&a, i) = i == 0 ? a0 : i == 1 ? a1 : 1;
    a.b[i]              = i == 0 ? b0 : i == 1 ? b1 : 0;
  }
  u.m = m;
  check_end(&a, u, reason, its, its - 1);
  cg_matrix_free(&a);
}

UNIT_TEST(cg_finds_what_is_indefinite)
{
  const double m[7] = {1, -0.1, 1, 1, 1, 1, 1};

  check_two(0, 0, 1, 1, NULL, SPMV_INDEFINITE_MATRIX, 1);    /* (p, A p) = 0 */
  check_two(1, -0.5, 1, 1, NULL, SPMV_INDEFINITE_MATRIX, 2); /* (p, A p) is 0.5, then negative */
  check_two(1, 2, 1, 1, m, SPMV_INDEFINITE_PC, 2);           /* (r, z) is 0.9, then -0.12 */
}

/* One iteration a call, three a call, and all in one call give the same bits; so does a second solve */
UNIT_TEST(cg_in_steps_and_repeated_gives_the_same_bits)
{
  CgMatrix      a       = cg_matrix(3);
  const int64_t steps[] = {INT64_MAX, 1, 3, INT64_MAX};

  for (int mode = SPMV_CG_CHUNK; mode <= last_mode(); mode++) {
    CgOutcome first = {0};
    for (int i = 0; i < 4; i++) {
      CgSetup u   = cg_setup(mode, SPMV_CG_NATURAL, 3);
      u.step      = steps[i];
      u.chunk     = i == 3 ? 7 : i;
      CgOutcome o = cg_solve(&a, &u);
      if (i == 0) {
        first = o;
        continue;
      }
      UNIT_CHECK(!memcmp(first.x, o.x, (size_t)a.pattern.rows * sizeof *o.x));
      UNIT_CHECK(!memcmp(first.norms, o.norms, CG_HISTORY * sizeof *o.norms));
      UNIT_EQUAL(first.result.iterations, o.result.iterations);
      cg_outcome_free(&o);
    }
    cg_outcome_free(&first);
  }
  cg_matrix_free(&a);
}

UNIT_TEST(cg_solves_again_with_other_values_and_the_same_graph)
{
  for (int mode = SPMV_CG_CHUNK; mode <= last_mode(); mode++) {
    CgMatrix a = cg_matrix(2);
    CgSetup  u = cg_setup(mode, SPMV_CG_PRECONDITIONED, 1);
    CgEngine e;
    u.chunk = 4;
    cg_engine_open(&e, &a, &u, NULL);
    for (int i = 0; i < 3; i++) {
      CgOutcome expected = cg_textbook(&a, &u), got = cg_engine_solve(&e);
      check_alike(&a, &got, &expected, 1e-6);
      UNIT_EQUAL(u.mode == SPMV_CG_GRAPH, got.info.graphs);
      cg_outcome_free(&expected);
      cg_outcome_free(&got);
      for (int row = 0; row < a.pattern.rows; row++) *cg_diagonal(&a, row) *= 1.3;
      cg_engine_renew(&e);
    }
    cg_engine_close(&e);
    cg_matrix_free(&a);
  }
}

UNIT_TEST(cg_lets_its_caller_add_the_sums)
{
  CgTwice             twice;
  const SpmvProcesses two = {.ctx = &twice, .enqueues = 1, .add = cg_add_twice};
  CgMatrix            a   = cg_matrix(0);

  for (int mode = SPMV_CG_CHUNK; mode <= last_mode(); mode++) {
    CgSetup   u      = cg_setup(mode, SPMV_CG_UNPRECONDITIONED, 1);
    const int calls  = u.single_reduction ? 1 : 2; /* in an iteration */
    CgOutcome single = cg_solve(&a, &u);
    if (mode == SPMV_CG_PERSISTENT) {
      cg_outcome_free(&single);
      continue;
    }
    u.processes = &two;
    u.chunk     = 1;
    twice       = (CgTwice){0, 0};
    u.rtol *= sqrt(2); /* the test's tolerance is made of the norm of one process */
    CgOutcome both = cg_solve(&a, &u);
    UNIT_EQUAL(single.result.reason, both.result.reason);
    UNIT_CHECK(distance(single.result.iterations, both.result.iterations) <= 1);
    /* chunks have the length of the option for any number of rows, because all processes must enqueue the same */
    if (u.mode == SPMV_CG_GRAPH)
      UNIT_EQUAL(1 + calls, twice.calls); /* one for iteration 0, the others while an iteration is captured */
    else
      UNIT_CHECK(twice.calls > calls * both.result.completed && twice.calls <= 1 + calls * (both.result.completed + 2));
    UNIT_EQUAL(u.single_reduction ? 3 * twice.calls : 2 + 3 * (twice.calls - 1) / 2, twice.sums);
    for (int i = 1; i < both.result.completed && i < single.result.completed; i++)
      UNIT_CHECK(fabs(both.norms[i] - sqrt(2) * single.norms[i]) <= 1e-12 * both.norms[0]);
    cg_outcome_free(&single);
    cg_outcome_free(&both);
  }
  cg_matrix_free(&a);
}

/* Sums of a process that has all rows */
static SpmvStatus of_another(void *ctx, double *sums, int n, SpmvExec *exec)
{
  static const double ones[SPMV_SUMS_MAX] = {1, 1};

  (void)ctx;
  return spmv_copy(sums, exec->space, ones, SPMV_HOST, n * (int64_t)sizeof *sums, exec);
}

/* The function of a preconditioner may exchange with other processes, which wait for one that does not call it */
UNIT_TEST(cg_without_rows_calls_its_function)
{
  enum { ITERATIONS = 3 };
  const SpmvProcesses many   = {.add = of_another};
  int                 called = 0, multiplied = 0;
  SpmvCg             *cg = NULL;
  SpmvCgOptions       o;
  SpmvCgResult        result;
  SpmvExec            exec;
  const SpmvTest      test = {.max_iterations = ITERATIONS};

  if (last_mode() < SPMV_CG_CHUNK) return;
  spmv_exec_init(&exec, SPMV_DEVICE);
  spmv_cg_options_init(&o);
  o.rows           = 0;
  o.mode           = SPMV_CG_CHUNK;
  o.preconditioner = SPMV_PC_FUNCTION;
  o.product        = cg_count_calls;
  o.product_ctx    = &multiplied;
  o.apply          = cg_count_calls;
  o.apply_ctx      = &called;
  o.processes      = &many;
  o.chunk          = 1;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_create(&o, &exec, &cg));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_start(cg, NULL, NULL, NULL, SPMV_CG_NORM_NONE, &exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_run(cg, ITERATIONS, &test, &result, &exec));
  UNIT_EQUAL(ITERATIONS, result.completed);
  UNIT_EQUAL(ITERATIONS, multiplied);
  UNIT_EQUAL(ITERATIONS, called); /* before each iteration: the last one needs no new direction */
  spmv_cg_destroy(&cg);
}

UNIT_TEST(cg_ends_when_all_processes_do)
{
  CgMatrix a = cg_matrix(0);

  for (int most = 0; most < 4 && last_mode() >= SPMV_CG_CHUNK; most += 3) {
    CgSetup             u     = cg_setup(SPMV_CG_CHUNK, SPMV_CG_PRECONDITIONED, 1);
    CgOther             other = {.most = most};
    const SpmvProcesses many  = {.ctx = &other, .add = cg_add_alone, .agree = cg_agree};
    CgEngine            e;

    u.processes = &many;
    u.chunk     = 1;
    cg_engine_open(&e, &a, &u, NULL);
    CgOutcome o = cg_engine_solve(&e);
    UNIT_EQUAL(most ? SPMV_ERR_DEVICE : SPMV_SUCCESS, o.status);
    UNIT_EQUAL(most ? 0 : 1, other.ends);
    if (!most) UNIT_EQUAL(o.result.completed, other.asked);
    else UNIT_CONTAINS("another process has come to an end after 3 iterations", e.exec.message);
    cg_outcome_free(&o);
    cg_engine_close(&e);
  }
  cg_matrix_free(&a);
}

#ifdef SPMV_EMULATOR_HOLDS
/* Another process dies while the device makes no progress: the host notices, and stops waiting */
static SpmvStatus look(void *ctx, double waited, SpmvExec *exec)
{
  CgOther *other = ctx;

  UNIT_CHECK(waited > 0);
  if (++other->asked < other->most) return SPMV_SUCCESS;
  return spmv_fail(exec, SPMV_ERR_DEVICE, "another process has died");
}

UNIT_TEST(cg_does_not_wait_for_the_dead)
{
  CgMatrix            a     = cg_matrix(0);
  CgSetup             u     = cg_setup(SPMV_CG_GRAPH, SPMV_CG_PRECONDITIONED, 1);
  CgOther             other = {.most = 3};
  const SpmvProcesses many  = {.ctx = &other, .enqueues = 1, .add = cg_add_alone, .alive = look};
  CgEngine            e;

  u.processes = &many;
  cg_engine_open(&e, &a, &u, NULL);
  spmv_emulator_hold(LONG_MAX);
  CgOutcome o = cg_engine_solve(&e);
  spmv_emulator_hold(0);
  UNIT_EQUAL(SPMV_ERR_DEVICE, o.status);
  UNIT_CONTAINS("another process has died", e.exec.message);
  UNIT_EQUAL(3, other.asked);
  cg_outcome_free(&o);
  o = cg_engine_solve(&e); /* a new solve works */
  UNIT_EQUAL(SPMV_SUCCESS, o.status);
  UNIT_EQUAL(SPMV_RTOL, o.result.reason);
  cg_outcome_free(&o);
  cg_engine_close(&e);
  cg_matrix_free(&a);
}
#endif

/* The last norms are kept, in order; requests for earlier ones are refused */
UNIT_TEST(cg_keeps_the_last_norms)
{
  if (last_mode() < SPMV_CG_CHUNK) return;
  CgMatrix      a   = cg_matrix(0);
  CgSetup       u   = cg_setup(SPMV_CG_CHUNK, SPMV_CG_PRECONDITIONED, 0);
  CgOutcome     all = cg_solve(&a, &u);
  const int64_t n   = all.result.completed;
  CgEngine      e;
  double        kept[8];

  u.history = 5;
  cg_engine_open(&e, &a, &u, NULL);
  UNIT_EQUAL(SPMV_SUCCESS, e.status);
  CgOutcome again = cg_engine_solve(&e);
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, again.status); /* it asks for all norms */
  UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_history(e.cg, n - 4, 5, kept, &e.exec));
  UNIT_CHECK(!memcmp(kept, all.norms + n - 4, 5 * sizeof *kept));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_history(e.cg, n - 2, 2, kept, &e.exec));
  UNIT_CHECK(!memcmp(kept, all.norms + n - 2, 2 * sizeof *kept));
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cg_history(e.cg, n - 5, 2, kept, &e.exec));
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cg_history(e.cg, n, 2, kept, &e.exec));
  cg_engine_close(&e);
  cg_outcome_free(&again);
  cg_outcome_free(&all);
  cg_matrix_free(&a);
}
