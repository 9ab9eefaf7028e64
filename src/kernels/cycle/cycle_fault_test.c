/* Tests of failing cycles: out of memory, a failing device call or function, invalid arguments. */
#include "cycle_test.h"
#include "emulated.h"
#include "unit.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* After a failure the cycle gives the same x as a fresh one */
static void check_works(CycleEngine *e, const double *expected)
{
  const int n = cycle_rows(e->c);
  double   *x = calloc((size_t)n + 1, sizeof *x);

  UNIT_EQUAL(SPMV_SUCCESS, cycle_engine_apply(e, e->c->b, x));
  UNIT_CHECK(!memcmp(x, expected, (size_t)n * sizeof *x));
  free(x);
}

static double *bits_of(const CycleCase *c)
{
  CycleEngine e;
  double     *x = calloc((size_t)cycle_rows(c) + 1, sizeof *x);

  cycle_engine_open(&e, c);
  UNIT_EQUAL(SPMV_SUCCESS, cycle_engine_apply(&e, c->b, x));
  cycle_engine_close(&e);
  return x;
}

/* Lets allocation number 1, 2, ... of create and renew fail until no allocation is left to fail */
static void fail_each_allocation(const CycleCase *c, SpmvSpace fault)
{
  double *expected = bits_of(c);
  int64_t fail_at  = 0, calls;

  do {
    CycleEngine e;
    cycle_engine_prepare(&e, c);
    hooks_counter(&e.hooks, fault)->fail_at = ++fail_at;
    cycle_engine_make(&e);
    calls = hooks_counter(&e.hooks, fault)->calls;
    UNIT_EQUAL(calls >= fail_at ? SPMV_ERR_MEMORY : SPMV_SUCCESS, e.status);
    UNIT_CHECK(!e.status || e.exec.message[0]);
    if (e.status && e.cycle) { /* renew failed: the second attempt succeeds */
      UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cycle_apply(e.cycle, e.b, e.x, &e.exec));
      UNIT_EQUAL(SPMV_SUCCESS, spmv_cycle_renew(e.cycle, &e.exec));
    }
    if (e.cycle) check_works(&e, expected);
    else UNIT_CHECK(hooks_clean(&e.hooks));
    cycle_engine_close(&e);
  } while (calls >= fail_at && fail_at < 50);
  UNIT_CHECK(fail_at > 1 && fail_at < 50);
  free(expected);
}

UNIT_TEST(cycle_without_memory_leaves_nothing)
{
  if (!spmv_device_count(NULL)) return;
  for (int dense = 0; dense >= -1; dense--)
    for (int fault = SPMV_HOST; fault <= SPMV_DEVICE; fault++) {
      CycleSetup u = cycle_setup();
      u.dense_rows = dense;
      u.outer      = dense == 0;
      if (u.outer) u.scalar = SPMV_F32;
      CycleCase c = cycle_case(&u);
      fail_each_allocation(&c, (SpmvSpace)fault);
      cycle_case_free(&c);
    }
}

#ifdef EMULATED
/* Makes, renews and applies a cycle, up to the first failure */
static SpmvStatus make_and_apply(CycleEngine *e)
{
  cycle_engine_make(e);
  if (!e->status) e->status = spmv_cycle_apply(e->cycle, e->b, e->x, &e->exec);
  if (!e->status) e->status = spmv_stream_wait(&e->exec);
  return e->status;
}

/* Makes and applies a cycle while the device call after `calls` successful ones fails. Returns whether one did. A fault
   in an allocation from a pool, which is tried again, or in freeing memory is no error, and x is right. */
static int fails_after(int calls, const CycleCase *c, const double *expected, int *errors)
{
  const int   n = cycle_rows(c);
  double     *x = calloc((size_t)n + 1, sizeof *x);
  CycleEngine e;

  cycle_engine_prepare(&e, c);
  (void)spmv_emulator_fail_after(calls);
  const SpmvStatus status = make_and_apply(&e);
  const int        failed = spmv_emulator_fail_after(-1);
  if (status) {
    ++*errors;
    UNIT_EQUAL(SPMV_ERR_MEMORY, status);
    UNIT_CHECK(failed && e.exec.message[0]);
    if (e.cycle) UNIT_EQUAL(SPMV_SUCCESS, spmv_cycle_renew(e.cycle, &e.exec));
  } else {
    cycle_engine_get(&e, e.x, x, n);
    UNIT_CHECK(!memcmp(x, expected, (size_t)n * sizeof *x));
  }
  if (e.cycle) check_works(&e, expected);
  cycle_engine_close(&e);
  free(x);
  return failed;
}

/* Each launch, copy and wait fails once */
UNIT_TEST(cycle_passes_on_that_a_device_call_fails)
{
  const int64_t dense[] = {0, 18, -1};

  for (int k = 0; k < 3 && spmv_device_count(NULL); k++)
    for (int block = 1; block <= 2; block++) {
      CycleSetup u     = cycle_setup();
      int        calls = 0, errors = 0;
      u.dense_rows = dense[k];
      u.dofs       = 2;
      u.outer      = block == 2;
      if (u.outer) u.scalar = SPMV_F32;
      u.block[0] = u.block[1] = block;
      CycleCase c             = cycle_case(&u);
      double   *expected      = bits_of(&c);

      while (calls < 1000 && fails_after(calls, &c, expected, &errors)) calls++;
      UNIT_CHECK(calls < 1000 && errors > 10 && 2 * errors > calls);
      free(expected);
      cycle_case_free(&c);
    }
}
#endif

/* A function on the coarsest level that fails in call number fail_at */
typedef struct {
  SpmvOperator *coarse;
  int           calls, fail_at;
} FailingFunction;

static SpmvStatus failing_function(void *ctx, const void *b, void *x, SpmvExec *exec)
{
  FailingFunction *f = ctx;

  if (++f->calls == f->fail_at) return spmv_fail(exec, SPMV_ERR_DEVICE, "the function fails on purpose");
  return spmv_operator_product(f->coarse, b, x, exec);
}

UNIT_TEST(cycle_passes_on_that_its_function_fails)
{
  if (!spmv_device_count(NULL)) return;
  CycleSetup u       = cycle_setup();
  u.visits           = 2;
  u.function         = 1;
  CycleCase     c    = cycle_case(&u);
  double       *bits = bits_of(&c), *x = calloc((size_t)cycle_rows(&c) + 1, sizeof *x);
  CycleEngine   e;
  SpmvCycleInfo info;

  cycle_engine_prepare(&e, &c);
  FailingFunction f    = {&e.coarse, 0, 3};
  e.options.coarse     = failing_function;
  e.options.coarse_ctx = &f;
  cycle_engine_make(&e);
  spmv_cycle_info(e.cycle, &info);
  UNIT_EQUAL(1, info.waits);
  UNIT_EQUAL(0, info.dense);
  UNIT_EQUAL(SPMV_ERR_DEVICE, cycle_engine_apply(&e, c.b, x));
  UNIT_CONTAINS("on purpose", e.exec.message);
  check_works(&e, bits);
  UNIT_EQUAL(3 + 8, f.calls); /* three finer levels, each with two visits of the next coarser one */
  cycle_engine_close(&e);
  cycle_case_free(&c);
  free(bits);
  free(x);
}

/* ---- arguments ---- */

/* Options, and levels that they refer to */
typedef struct {
  SpmvCycleOptions o;
  SpmvCycleLevel   l[SPMV_CYCLE_LEVELS];
} Wrong;

static void restore(Wrong *w, const CycleEngine *e)
{
  w->o = e->options;
  memcpy(w->l, e->level, sizeof w->l);
  w->o.level = w->l;
}

/* The options must be refused with this text in the message; restores them for the next case */
static void refuses(Wrong *w, CycleEngine *e, const char *text)
{
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cycle_create(&w->o, &e->exec, &e->cycle));
  UNIT_CONTAINS(text, e->exec.message);
  UNIT_CHECK(e->cycle == NULL && hooks_clean(&e->hooks));
  restore(w, e);
}

static void refuse_options(CycleEngine *e)
{
  Wrong w;

  restore(&w, e);
  w.o.levels = 0;
  refuses(&w, e, "0 levels, which must be 1 to 16");
  w.o.levels = SPMV_CYCLE_LEVELS + 1;
  refuses(&w, e, "17 levels, which must be 1 to 16");
  w.o.level = NULL;
  refuses(&w, e, "array of levels is NULL");
  w.o.cycles = 0;
  refuses(&w, e, "0 cycles a call");
  w.o.scalar_type = (SpmvScalar)2;
  refuses(&w, e, "scalar type");
  w.o.scalar_type = SPMV_F32;
  refuses(&w, e, "scalar type");
  w.o.inverse = NULL;
  refuses(&w, e, "has neither, but needs either an inverse or a function");
  w.o.coarse = failing_function;
  refuses(&w, e, "has both, but needs either an inverse or a function");
}

static void refuse_levels(CycleEngine *e)
{
  Wrong w;

  restore(&w, e);
  w.l[0].rows = -1;
  refuses(&w, e, "level 0: -1 rows");
  w.l[1].matrix.plan = NULL;
  refuses(&w, e, "level 1: the plan of the matrix");
  w.l[2].rows++;
  refuses(&w, e, "level 2: the plan of the matrix");
  w.l[3].restriction.transposed = 0;
  refuses(&w, e, "level 3: the plan of the restriction");
  w.l[3].interpolation.transposed = 1;
  refuses(&w, e, "level 3: the plan of the interpolation");
  w.l[2].visits = 0;
  refuses(&w, e, "level 2: 0 visits");
  for (int i = 1; i <= 3; i++) w.l[i].visits = INT_MAX;
  refuses(&w, e, "visits of the coarsest level");
  w.l[3].down.steps = -1;
  refuses(&w, e, "level 3: -1 steps");
  w.l[3].up.step = NULL;
  refuses(&w, e, "level 3: the array of factors of the 2 steps after the correction is NULL");
  w.l[1].up.values = NULL;
  refuses(&w, e, "level 1: the values of M of the smoother after the correction are NULL");
  w.l[1].down.kind = SPMV_PC_FUNCTION; /* without one */
  refuses(&w, e, "level 1: M of the smoother before the correction is of kind");
  w.l[3].down.kind       = SPMV_PC_BLOCKS;
  w.l[3].down.block_size = 3; /* 17 rows */
  refuses(&w, e, "17 rows in blocks of 3, which must be 2 to");
}

UNIT_TEST(cycle_refuses_what_makes_no_sense)
{
  if (!spmv_device_count(NULL)) return;
  const CycleSetup u = cycle_setup();
  CycleCase        c = cycle_case(&u);
  CycleEngine      e;

  cycle_engine_prepare(&e, &c);
  refuse_options(&e);
  refuse_levels(&e);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_cycle_create(&e.options, &e.exec, &e.cycle));
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cycle_apply(e.cycle, e.b, e.x, &e.exec));
  UNIT_CONTAINS("spmv_cycle_renew()", e.exec.message);
  SpmvExec there = e.exec;
  there.space    = SPMV_HOST;
  SpmvCycle *other;
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cycle_create(&e.options, &there, &other));
  UNIT_CHECK(!other && there.message[0]);
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cycle_renew(e.cycle, &there));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_cycle_renew(e.cycle, &e.exec));
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cycle_apply(e.cycle, e.b, e.x, &there));
  UNIT_CONTAINS("not on the device", there.message);
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cycle_apply(e.cycle, NULL, e.x, &e.exec));
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cycle_apply(e.cycle, e.b, NULL, &e.exec));
  UNIT_CONTAINS("b or x", e.exec.message);
  cycle_engine_close(&e);
  spmv_cycle_destroy(NULL);
  cycle_case_free(&c);
}

/* The sum of the factors matters only if the dense level is visited from a nonzero guess */
UNIT_TEST(cycle_with_a_dense_matrix_needs_a_fixed_point)
{
  for (int visits = 1; visits <= 2 && spmv_device_count(NULL); visits++) {
    CycleSetup u  = cycle_setup();
    u.visits      = visits;
    u.factors     = CYCLE_NO_FIXED_POINT;
    u.dense_rows  = 9;
    CycleCase   c = cycle_case(&u);
    CycleEngine e;
    cycle_engine_prepare(&e, &c);
    cycle_engine_make(&e);
    UNIT_EQUAL(visits == 1 ? SPMV_SUCCESS : SPMV_ERR_ARGUMENT, e.status);
    if (visits == 2) UNIT_CONTAINS("step 0 before the correction add up to 1.1", e.exec.message);
    cycle_engine_close(&e);
    cycle_case_free(&c);
  }
}

UNIT_TEST(cycle_on_a_device_that_is_not_there)
{
  SpmvCycleOptions     o;
  const SpmvCycleLevel level = {.rows = 0};
  SpmvExec             exec;
  SpmvCycle           *cycle;

  spmv_exec_init(&exec, SPMV_DEVICE);
  spmv_cycle_options_init(&o);
  o.levels = 1;
  o.level  = &level;
  if (spmv_device_count(NULL)) return;
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_cycle_create(&o, &exec, &cycle));
  UNIT_CHECK(cycle == NULL && exec.message[0]);
}
