/* Tests of failing conjugate gradients: out of memory, a failing product, invalid arguments, a device that lacks a
   feature. */
#include "aggregate/aggregate_test.h"
#include "cg_test.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>

/* Of cg_set_mode() */
static int last_mode(void) { return spmv_device_count(NULL) ? CG_SINGLE_GRAPH : -1; }

typedef struct {
  const CgMatrix *a;
  CgSetup         u;
} Case;

static SpmvStatus solve_with(void *ctx, Hooks *hooks, int *made)
{
  const Case *c = ctx;
  CgEngine    e;

  cg_engine_open(&e, c->a, &c->u, hooks);
  CgOutcome o = cg_engine_solve(&e);
  *made       = e.cg != NULL;
  UNIT_CHECK(!o.status || e.exec.message[0]);
  cg_engine_close(&e);
  cg_outcome_free(&o);
  return o.status;
}

UNIT_TEST(cg_without_memory_leaves_nothing)
{
  CgMatrix a = cg_matrix(4);

  for (int mode = SPMV_CG_CHUNK; mode <= last_mode(); mode++) {
    Case c = {&a, cg_setup(mode, SPMV_CG_PRECONDITIONED, 1)};
    for (int fault = SPMV_HOST; fault <= SPMV_DEVICE; fault++)
      cg_fail_each_allocation((SpmvSpace)fault, solve_with, &c);
  }
  cg_matrix_free(&a);
}

UNIT_TEST(cg_passes_on_that_a_product_fails)
{
  CgMatrix a = cg_matrix(0);

  for (int mode = SPMV_CG_CHUNK; mode <= last_mode(); mode++) {
    if (mode == SPMV_CG_PERSISTENT) continue;
    CgSetup        u = cg_setup(mode, SPMV_CG_PRECONDITIONED, 0);
    CgEngine       e;
    FailingProduct f = {&e.product, 0, 3};
    u.chunk          = 5;
    cg_engine_open_by(&e, &a, &u, NULL, cg_failing_product, &f);
    UNIT_EQUAL(SPMV_SUCCESS, e.status);
    CgOutcome got = cg_engine_solve(&e);
    UNIT_EQUAL(SPMV_ERR_DEVICE, got.status);
    UNIT_CONTAINS("on purpose", e.exec.message);
    for (int64_t i = 0; i < a.pattern.rows; i++) UNIT_CHECK(isfinite(got.x[i]));
    cg_outcome_free(&got);
    got = cg_engine_solve(&e); /* the product works again, and the graph is captured again */
    UNIT_EQUAL(SPMV_RTOL, got.result.reason);
    cg_outcome_free(&got);
    cg_engine_close(&e);
  }
  cg_matrix_free(&a);
}

UNIT_TEST(cg_of_no_rows_ends_at_once)
{
  const SpmvTest test = {.max_iterations = 10};

  for (int mode = SPMV_CG_CHUNK; mode <= last_mode(); mode++) {
    if (mode == SPMV_CG_PERSISTENT) continue;
    const CgSetup u = cg_setup(mode, SPMV_CG_PRECONDITIONED, 0);
    SpmvCgOptions o;
    SpmvCgResult  result;
    SpmvExec      exec;
    SpmvCg       *cg;
    spmv_exec_init(&exec, SPMV_DEVICE);
    spmv_cg_options_init(&o);
    o.mode             = u.mode;
    o.single_reduction = u.single_reduction;
    o.product          = cg_count_calls;
    UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_create(&o, &exec, &cg));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_start(cg, NULL, NULL, NULL, SPMV_CG_PRECONDITIONED, &exec));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_run(cg, 100, &test, &result, &exec));
    UNIT_EQUAL(SPMV_BREAKDOWN, result.reason);
    UNIT_EQUAL(0, result.completed);
    UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_run(cg, 100, &test, &result, &exec)); /* another call returns the same reason */
    UNIT_EQUAL(1, result.iterations);
    spmv_cg_destroy(&cg);
  }
}

UNIT_TEST(cg_refuses_options_that_make_no_sense)
{
  SpmvCgOptions o;
  SpmvExec      exec;
  SpmvCg       *cg;

  spmv_exec_init(&exec, SPMV_DEVICE);
  spmv_cg_options_init(&o);
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cg_create(&o, &exec, &cg));
  UNIT_CONTAINS("no product", exec.message);
  UNIT_CHECK(cg == NULL);
  o.product        = spmv_operator_product;
  o.rows           = 4;
  o.preconditioner = SPMV_PC_BLOCKS;
  o.block_size     = 3;
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cg_create(&o, &exec, &cg));
  UNIT_CONTAINS("blocks of 3", exec.message);
  o.preconditioner = SPMV_PC_IDENTITY;
  exec.space       = SPMV_HOST;
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cg_create(&o, &exec, &cg));
  UNIT_CHECK(cg == NULL && exec.message[0]);
  exec.space = SPMV_DEVICE;
  o.mode     = SPMV_CG_GRAPH;
  if (spmv_device_count(NULL) == 0) UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_cg_create(&o, &exec, &cg));
  o.single_reduction = 1;
  o.mode             = SPMV_CG_PERSISTENT;
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_cg_create(&o, &exec, &cg));
  UNIT_CONTAINS("single reduction", exec.message);
  o.mode = SPMV_CG_CHUNK;
  o.step = 0.5;
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_cg_create(&o, &exec, &cg));
  UNIT_CONTAINS("a fixed step", exec.message);
  o.single_reduction = 0;
  o.step             = 0;
  o.mode             = SPMV_CG_GRAPH;
  o.processes        = &(SpmvProcesses){.add = cg_add_alone};
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_cg_create(&o, &exec, &cg));
  UNIT_CONTAINS("use chunks", exec.message);
}

UNIT_TEST(cg_refuses_calls_that_make_no_sense)
{
  SpmvCgOptions o;
  SpmvCgResult  result;
  SpmvTest      test = {.max_iterations = 3};
  SpmvExec      exec;
  SpmvCg       *cg;
  const double  numbers[4] = {1, 2, 3, 4};

  if (spmv_device_count(NULL) == 0) return;
  void *x = test_put(SPMV_DEVICE, numbers, sizeof numbers), *r = test_put(SPMV_DEVICE, numbers, sizeof numbers);
  spmv_exec_init(&exec, SPMV_DEVICE);
  spmv_cg_options_init(&o);
  o.product = spmv_operator_product;
  o.rows    = 4;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_create(&o, &exec, &cg));
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cg_run(cg, 1, &test, &result, &exec));
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cg_start(cg, x, r, r, SPMV_CG_NATURAL, &exec));
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cg_start(cg, x, r, NULL, (SpmvCgNorm)9, &exec));
  exec.space = SPMV_HOST;
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cg_start(cg, x, r, NULL, SPMV_CG_NATURAL, &exec));
  exec.space = SPMV_DEVICE;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_start(cg, x, r, NULL, SPMV_CG_NATURAL, &exec));
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cg_run(cg, -1, &test, &result, &exec));
  test.max_iterations = 0;
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cg_run(cg, 1, &test, &result, &exec));
  spmv_cg_destroy(&cg);
  spmv_cg_destroy(&cg);
  spmv_cg_destroy(NULL);
  test_take(SPMV_DEVICE, x, NULL, 0);
  test_take(SPMV_DEVICE, r, NULL, 0);
}

/* The emulated device can be without pinned memory or without cooperative launches */
UNIT_TEST(cg_on_a_device_that_lacks_something)
{
  static const char *const lacks[] = {"SPMV_EMULATOR_PINNED_BLOCKS", "SPMV_EMULATOR_NO_COOPERATIVE"};
  CgMatrix                 a       = cg_matrix(4);

  for (int i = 0; i < 2 && spmv_device_count(NULL); i++) {
    const CgSetup u = cg_setup(SPMV_CG_PERSISTENT, SPMV_CG_PRECONDITIONED, 0);
    CgEngine      e;
    Hooks         hooks;
    setenv(lacks[i], "0", 1);
    hooks_init(&hooks);
    cg_engine_open(&e, &a, &u, &hooks);
    unsetenv(lacks[i]);
    if (e.status) {
      UNIT_EQUAL(i ? SPMV_ERR_UNSUPPORTED : SPMV_ERR_MEMORY, e.status);
      UNIT_CHECK(e.cg == NULL && e.exec.message[0]);
    } /* a real device has both, and succeeds */
    cg_engine_close(&e);
    UNIT_CHECK(hooks_clean(&hooks));
  }
  cg_matrix_free(&a);
}
