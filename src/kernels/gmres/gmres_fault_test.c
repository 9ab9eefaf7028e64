/* Tests of failing GMRES: out of memory, a failing product or device call, another process that ends, invalid
   arguments. */
#include "aggregate/aggregate_test.h"
#include "gmres_test.h"
#include "emulated.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int last_mode(void) { return spmv_device_count(NULL) ? SPMV_GMRES_GRAPH : -1; }

typedef struct {
  const CgMatrix *a;
  GmresSetup      u;
} Case;

static SpmvStatus solve_with(void *ctx, Hooks *hooks, int *made)
{
  const Case *c = ctx;
  GmresEngine e;

  gmres_engine_open(&e, c->a, &c->u, hooks);
  GmresOutcome o = gmres_engine_solve(&e);
  *made          = e.gmres != NULL;
  UNIT_CHECK(!o.status || e.exec.message[0]);
  gmres_engine_close(&e);
  gmres_outcome_free(&o);
  return o.status;
}

UNIT_TEST(gmres_without_memory_leaves_nothing)
{
  CgMatrix a = gmres_matrix(4, GMRES_CONVECTION);

  for (int mode = SPMV_GMRES_CHUNK; mode <= last_mode(); mode++)
    for (int fault = SPMV_HOST; fault <= SPMV_DEVICE; fault++) {
      Case c    = {&a, gmres_setup((SpmvGmresMode)mode)};
      c.u.right = c.u.block = 1;
      cg_fail_each_allocation((SpmvSpace)fault, solve_with, &c);
    }
  cg_matrix_free(&a);
}

UNIT_TEST(gmres_passes_on_that_a_product_fails)
{
  CgMatrix a = gmres_matrix(0, GMRES_CONVECTION);

  for (int mode = SPMV_GMRES_CHUNK; mode <= last_mode(); mode++)
    for (int fail_at = 1; fail_at <= 4; fail_at++) { /* in the first cycle, and in the residual of the second one */
      GmresSetup     u    = gmres_setup((SpmvGmresMode)mode);
      FailingProduct f    = {NULL, 0, fail_at};
      const SpmvTest test = {.max_iterations = 1};
      GmresEngine    e;
      u.restart = 3;
      u.chunk   = 2;
      gmres_engine_open_by(&e, &a, &u, NULL, cg_failing_product, &f);
      f.plan           = &e.matrix.product;
      GmresOutcome got = gmres_engine_solve(&e);
      UNIT_EQUAL(SPMV_ERR_DEVICE, got.status);
      UNIT_CONTAINS("on purpose", e.exec.message);
      for (int64_t i = 0; i < a.pattern.rows; i++) UNIT_CHECK(isfinite(got.x[i]));
      /* it must be started again */
      UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_gmres_run(e.gmres, 1, &test, &got.result, &e.exec));
      gmres_outcome_free(&got);
      got = gmres_engine_solve(&e); /* the product works again, and graphs are captured again */
      UNIT_EQUAL(SPMV_RTOL, got.result.reason);
      gmres_outcome_free(&got);
      gmres_engine_close(&e);
    }
  cg_matrix_free(&a);
}

UNIT_TEST(gmres_ends_when_all_processes_do)
{
  CgMatrix a = gmres_matrix(0, GMRES_CONVECTION);

  for (int most = 0; most < 4 && last_mode() >= SPMV_GMRES_CHUNK; most += 3) {
    GmresSetup          u     = gmres_setup(SPMV_GMRES_CHUNK);
    CgOther             other = {.most = most};
    const SpmvProcesses many  = {.ctx = &other, .add = cg_add_alone, .agree = cg_agree};
    GmresEngine         e;

    u.processes = &many;
    u.chunk     = 1;
    u.restart   = 5;
    gmres_engine_open(&e, &a, &u, NULL);
    GmresOutcome o = gmres_engine_solve(&e);
    UNIT_EQUAL(most ? SPMV_ERR_DEVICE : SPMV_SUCCESS, o.status);
    UNIT_EQUAL(most ? 0 : 1, other.ends);
    if (!most) UNIT_EQUAL(o.result.iterations, other.asked);
    else UNIT_CONTAINS("GMRES: another process has come to an end after 3 iterations", e.exec.message);
    gmres_outcome_free(&o);
    other.fails = 1;
    o           = gmres_engine_solve(&e);
    UNIT_EQUAL(SPMV_ERR_DEVICE, o.status);
    gmres_outcome_free(&o);
    gmres_engine_close(&e);
  }
  cg_matrix_free(&a);
}

UNIT_TEST(gmres_of_no_rows_ends_at_once)
{
  const SpmvTest test = {.max_iterations = 10};

  for (int mode = SPMV_GMRES_CHUNK; mode <= last_mode(); mode++) {
    SpmvGmresOptions o;
    SpmvGmresResult  result;
    SpmvExec         exec;
    SpmvGmres       *g;
    spmv_exec_init(&exec, SPMV_DEVICE);
    spmv_gmres_options_init(&o);
    o.mode    = (SpmvGmresMode)mode;
    o.product = cg_count_calls;
    UNIT_EQUAL(SPMV_SUCCESS, spmv_gmres_create(&o, &exec, &g));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_gmres_start(g, NULL, NULL, NULL, 0, &exec));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_gmres_run(g, 100, &test, &result, &exec));
    UNIT_EQUAL(SPMV_ATOL, result.reason);
    UNIT_EQUAL(0, result.iterations);
    UNIT_EQUAL(SPMV_SUCCESS, spmv_gmres_run(g, 100, &test, &result, &exec)); /* another call returns the same reason */
    UNIT_EQUAL(SPMV_ATOL, result.reason);
    UNIT_EQUAL(SPMV_SUCCESS, spmv_gmres_solution(g, NULL, &exec));
    spmv_gmres_destroy(&g);
  }
}

/* spmv_gmres_create() must fail with this status, and `message` in its message */
static void refuses(const SpmvGmresOptions *o, SpmvStatus status, const char *message)
{
  SpmvExec   exec;
  SpmvGmres *g;

  spmv_exec_init(&exec, SPMV_DEVICE);
  UNIT_EQUAL(status, spmv_gmres_create(o, &exec, &g));
  UNIT_CONTAINS(message, exec.message);
  UNIT_CHECK(g == NULL);
}

UNIT_TEST(gmres_refuses_options_that_make_no_sense)
{
  const SpmvProcesses one = {.add = cg_add_alone};
  SpmvGmresOptions    o;

  spmv_gmres_options_init(&o);
  refuses(&o, SPMV_ERR_ARGUMENT, "no product");
  o.product = cg_count_calls;
  o.rows    = 4;
  o.restart = 0;
  refuses(&o, SPMV_ERR_ARGUMENT, "must be 1 to 1000");
  o.restart        = 3;
  o.preconditioner = SPMV_PC_BLOCKS;
  o.block_size     = 3;
  refuses(&o, SPMV_ERR_ARGUMENT, "4 rows in blocks of 3");
  o.preconditioner = SPMV_PC_FUNCTION;
  refuses(&o, SPMV_ERR_ARGUMENT, "no function");
  o.apply = cg_count_calls;
  o.mode  = SPMV_GMRES_GRAPH;
  if (spmv_device_count(NULL) == 0) refuses(&o, SPMV_ERR_UNSUPPORTED, "on the device");
  o.apply_waits = 1;
  refuses(&o, SPMV_ERR_UNSUPPORTED, "use chunks");
  o.apply_waits = 0;
  o.processes   = &one;
  refuses(&o, SPMV_ERR_UNSUPPORTED, "use chunks");
  o.refine = (SpmvGmresRefine)7;
  refuses(&o, SPMV_ERR_ARGUMENT, "unknown");
}

UNIT_TEST(gmres_refuses_calls_that_make_no_sense)
{
  const double     numbers[4] = {1, 2, 3, 4};
  double           norm;
  SpmvTest         test = {.max_iterations = 3};
  SpmvGmresOptions o;
  SpmvGmresResult  result;
  SpmvExec         exec;
  SpmvGmres       *g;

  if (spmv_device_count(NULL) == 0) return;
  void *x = test_put(SPMV_DEVICE, numbers, sizeof numbers), *b = test_put(SPMV_DEVICE, numbers, sizeof numbers);
  spmv_exec_init(&exec, SPMV_DEVICE);
  spmv_gmres_options_init(&o);
  o.rows    = 4;
  o.product = cg_count_calls;
  o.history = 2;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_gmres_create(&o, &exec, &g));
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_gmres_run(g, 1, &test, &result, &exec));
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_gmres_start(g, x, b, b, 1, &exec));
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_gmres_start(g, x, NULL, NULL, 1, &exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_gmres_start(g, x, b, NULL, 1, &exec));
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_gmres_run(g, -1, &test, &result, &exec));
  test.max_iterations = 0;
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_gmres_run(g, 1, &test, &result, &exec));
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_gmres_solution(g, x, &exec));
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_gmres_history(g, 1, 1, &norm, &exec));
  exec.space = SPMV_HOST;
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_gmres_start(g, x, b, NULL, 1, &exec));
  exec.space = SPMV_DEVICE;
  spmv_gmres_destroy(&g);
  spmv_gmres_destroy(&g);
  spmv_gmres_destroy(NULL);
  test_take(SPMV_DEVICE, x, NULL, 0);
  test_take(SPMV_DEVICE, b, NULL, 0);
}

/* The emulated device can be without pinned memory */
UNIT_TEST(gmres_on_a_device_without_pinned_memory)
{
  CgMatrix   a = gmres_matrix(4, GMRES_CONVECTION);
  GmresSetup u = gmres_setup(SPMV_GMRES_GRAPH);

  if (spmv_device_count(NULL)) {
    GmresEngine e;
    Hooks       hooks;
    setenv("SPMV_EMULATOR_PINNED_BLOCKS", "0", 1);
    hooks_init(&hooks);
    gmres_engine_open(&e, &a, &u, &hooks);
    unsetenv("SPMV_EMULATOR_PINNED_BLOCKS");
    if (e.status) { /* a real device succeeds */
      UNIT_EQUAL(SPMV_ERR_MEMORY, e.status);
      UNIT_CHECK(e.gmres == NULL && e.exec.message[0]);
    }
    gmres_engine_close(&e);
    UNIT_CHECK(hooks_clean(&hooks));
  }
  cg_matrix_free(&a);
}

#ifdef EMULATED
/* Creates a solver and solves, while the device call after `calls` successful ones fails. Returns whether one did. Then
   the solve has an error, or the fault had no effect, because an allocation from a pool was tried again. */
static int fails_after(int calls, const CgMatrix *a, const GmresSetup *u, const GmresOutcome *expected, int *errors)
{
  const size_t bytes = (size_t)a->pattern.rows * sizeof(double);
  GmresEngine  e;

  gmres_engine_open(&e, a, u, NULL);
  UNIT_EQUAL(SPMV_SUCCESS, e.status);
  e.fail_after        = spmv_emulator_fail_after;
  e.calls             = calls;
  GmresOutcome o      = gmres_engine_solve(&e);
  const int    failed = e.failed;
  if (o.status) {
    ++*errors;
    UNIT_EQUAL(SPMV_ERR_MEMORY, o.status);
    UNIT_CHECK(failed && e.exec.message[0]);
    gmres_outcome_free(&o);
    o = gmres_engine_solve(&e); /* the device works again */
  }
  UNIT_EQUAL(SPMV_SUCCESS, o.status);
  UNIT_CHECK(!memcmp(o.x, expected->x, bytes));
  gmres_outcome_free(&o);
  gmres_engine_close(&e);
  return failed;
}

/* Each launch, copy, wait and capture fails once */
UNIT_TEST(gmres_passes_on_that_a_device_call_fails)
{
  CgMatrix a = gmres_matrix(4, GMRES_CONVECTION);

  for (int mode = SPMV_GMRES_CHUNK; mode <= last_mode(); mode++)
    for (int function = 0; function < 2; function++) {
      GmresSetup u     = gmres_setup((SpmvGmresMode)mode);
      int        calls = 0, errors = 0;
      u.restart             = 3;
      u.chunk               = 2;
      u.right               = 1;
      u.function            = function;
      u.block               = !function;
      u.refine              = SPMV_GMRES_REFINE_ALWAYS;
      u.untested            = 1;
      u.max_iterations      = 5;
      GmresOutcome expected = gmres_solve(&a, &u);
      while (fails_after(calls, &a, &u, &expected, &errors) && calls < 400) calls++;
      UNIT_CHECK(calls > 20 && calls < 400 && errors > calls / 2);
      gmres_outcome_free(&expected);
    }
  cg_matrix_free(&a);
}
#endif
