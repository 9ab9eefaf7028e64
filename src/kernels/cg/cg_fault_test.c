/* Tests of failing conjugate gradients: out of memory, a failing product, invalid arguments, a device that lacks a
   feature. */
#include "cg_test.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>

static int last_mode(void) { return spmv_device_count(NULL) ? SPMV_CG_PERSISTENT : SPMV_CG_HOST; }

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

  for (int mode = SPMV_CG_HOST; mode <= last_mode(); mode++) {
    Case c = {&a, cg_setup((SpmvCgMode)mode, SPMV_CG_PRECONDITIONED, 1)};
    for (int fault = SPMV_HOST; fault <= (mode == SPMV_CG_HOST ? SPMV_HOST : SPMV_DEVICE); fault++)
      cg_fail_each_allocation((SpmvSpace)fault, solve_with, &c);
  }
  cg_matrix_free(&a);
}

UNIT_TEST(cg_passes_on_that_a_product_fails)
{
  CgMatrix a = cg_matrix(0);

  for (int mode = SPMV_CG_HOST; mode <= last_mode() && mode < SPMV_CG_PERSISTENT; mode++) {
    CgSetup       u = cg_setup((SpmvCgMode)mode, SPMV_CG_PRECONDITIONED, 0);
    SpmvCgOptions o;
    CgEngine      e;
    cg_engine_open(&e, &a, &u, NULL);
    FailingProduct f = {&e.product, 0, 3};
    spmv_cg_destroy(&e.cg);
    spmv_cg_options_init(&o);
    o.rows        = a.pattern.rows;
    o.mode        = (SpmvCgMode)mode;
    o.product     = cg_failing_product;
    o.product_ctx = &f;
    o.history     = CG_HISTORY;
    o.chunk       = 5;
    UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_create(&o, &e.exec, &e.cg));
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

static SpmvStatus no_product(void *ctx, const void *p, void *w, SpmvExec *exec)
{
  (void)ctx;
  (void)p;
  (void)w;
  (void)exec;
  return SPMV_SUCCESS;
}

UNIT_TEST(cg_of_no_rows_ends_at_once)
{
  const SpmvCgTest test = {.norm = SPMV_CG_PRECONDITIONED, .by.max_iterations = 10};

  for (int mode = SPMV_CG_HOST; mode <= last_mode() && mode < SPMV_CG_PERSISTENT; mode++) {
    SpmvCgOptions o;
    SpmvCgResult  result;
    SpmvExec      exec;
    SpmvCg       *cg;
    spmv_exec_init(&exec, mode == SPMV_CG_HOST ? SPMV_HOST : SPMV_DEVICE);
    spmv_cg_options_init(&o);
    o.mode    = (SpmvCgMode)mode;
    o.product = no_product;
    UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_create(&o, &exec, &cg));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_start(cg, NULL, NULL, NULL, &test, &exec));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_run(cg, 100, &result, &exec));
    UNIT_EQUAL(SPMV_BREAKDOWN, result.reason);
    UNIT_EQUAL(0, result.completed);
    UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_run(cg, 100, &result, &exec)); /* another call returns the same reason */
    UNIT_EQUAL(1, result.iterations);
    spmv_cg_destroy(&cg);
  }
}

static SpmvStatus no_sums(void *ctx, double *sums, int n, SpmvExec *exec)
{
  (void)ctx;
  (void)sums;
  (void)n;
  (void)exec;
  return SPMV_SUCCESS;
}

UNIT_TEST(cg_refuses_what_makes_no_sense)
{
  SpmvCgOptions o;
  SpmvCgResult  result;
  SpmvCgTest    test = {.norm = SPMV_CG_NATURAL, .by.max_iterations = 3};
  SpmvExec      exec;
  SpmvCg       *cg;
  double        x[4] = {0}, r[4] = {0};

  spmv_exec_init(&exec, SPMV_HOST);
  spmv_cg_options_init(&o);
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cg_create(&o, &exec, &cg));
  UNIT_CONTAINS("no product", exec.message);
  UNIT_CHECK(cg == NULL);
  o.product = spmv_operator_product;
  o.rows    = 4;
  o.mode    = SPMV_CG_CHUNK;
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cg_create(&o, &exec, &cg));
  o.mode           = SPMV_CG_HOST;
  o.preconditioner = SPMV_PC_BLOCKS;
  o.block_size     = 3;
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cg_create(&o, &exec, &cg));
  UNIT_CONTAINS("blocks of 3", exec.message);
  o.preconditioner = SPMV_PC_IDENTITY;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_create(&o, &exec, &cg));
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cg_run(cg, 1, &result, &exec));
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cg_start(cg, x, r, r, &test, &exec));
  test.by.max_iterations = 0;
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cg_start(cg, x, r, NULL, &test, &exec));
  spmv_cg_destroy(&cg);
  spmv_cg_destroy(&cg);
  spmv_cg_destroy(NULL);
  exec.space = SPMV_DEVICE;
  o.mode     = SPMV_CG_GRAPH;
  if (spmv_device_count(NULL) == 0) UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_cg_create(&o, &exec, &cg));
  o.processes = &(SpmvProcesses){.add = no_sums};
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_cg_create(&o, &exec, &cg));
  UNIT_CONTAINS("use chunks", exec.message);
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
