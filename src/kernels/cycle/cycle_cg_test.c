/* Tests of conjugate gradients with a function as preconditioner: a cycle, against a textbook implementation, and a
   diagonal, against SPMV_PC_DIAGONAL. They are skipped without a device. */
#include "cg/cg_test.h"
#include "cycle_test.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HISTORY = 200, FIXED = 6 /* iterations without a convergence test */ };

static const SpmvCgNorm norms[] = {SPMV_CG_NORM_NONE, SPMV_CG_PRECONDITIONED, SPMV_CG_UNPRECONDITIONED,
                                   SPMV_CG_NATURAL};

static int last_mode(void) { return spmv_device_count(NULL) ? SPMV_CG_GRAPH : -1; }

/* The result of a solve; norms from iteration 0 on */
typedef struct {
  SpmvStatus   status;
  SpmvCgResult result;
  SpmvCgInfo   info;
  double      *x, norm[HISTORY + 1];
} Outcome;

static Outcome outcome(const CycleCase *c) { return (Outcome){.x = calloc((size_t)cycle_rows(c) + 1, sizeof(double))}; }

/* The textbook method with the textbook cycle */
static Outcome textbook(const CycleCase *c, SpmvCgNorm norm, double rtol)
{
  const int n = cycle_rows(c);
  double   *r = calloc(4 * (size_t)n, sizeof *r), *z = r + n, *p = z + n, *w = p + n, before = 1;
  Outcome   o    = outcome(c);
  int64_t   most = norm == SPMV_CG_NORM_NONE ? FIXED : HISTORY, *done = &o.result.completed;

  memcpy(r, c->b, (size_t)n * sizeof *r);
  cycle_textbook(c, r, z);
  o.norm[0] = cg_norm(norm, n, r, z);
  while (*done < most && (*done == 0 || norm == SPMV_CG_NORM_NONE || o.norm[*done] > rtol * o.norm[0])) {
    const double rz = cg_dot(n, r, z);
    for (int i = 0; i < n; i++) p[i] = *done ? z[i] + rz / before * p[i] : z[i];
    before = rz;
    cycle_finest(c, p, w);
    const double alpha = rz / cg_dot(n, p, w);
    for (int i = 0; i < n; i++) {
      o.x[i] += alpha * p[i];
      r[i] -= alpha * w[i];
    }
    cycle_textbook(c, r, z);
    o.norm[++*done] = cg_norm(norm, n, r, z);
  }
  free(r);
  return o;
}

/* Options of a solver for the matrix of the finest level of e */
static SpmvCgOptions options_of(CycleEngine *e, SpmvCgMode mode)
{
  SpmvCgOptions o;

  spmv_cg_options_init(&o);
  o.rows           = cycle_rows(e->c);
  o.scalar_type    = e->c->setup.scalar;
  o.mode           = mode;
  o.preconditioner = SPMV_PC_FUNCTION;
  o.product        = spmv_operator_product;
  o.product_ctx    = &e->level[e->c->setup.levels - 1].matrix;
  o.apply          = spmv_cycle_function;
  o.apply_ctx      = e->cycle;
  o.history        = HISTORY;
  return o;
}

/* Solves from x = 0 until the norm has fallen by rtol, with `step` iterations a call */
static Outcome solve(SpmvCg *cg, CycleEngine *e, const void *m, SpmvCgNorm norm, double rtol, int64_t step)
{
  const int n    = cycle_rows(e->c);
  Outcome   o    = outcome(e->c);
  SpmvTest  test = {.relative       = 1,
                    .tolerance      = rtol,
                    .divergence     = INFINITY,
                    .max_iterations = norm == SPMV_CG_NORM_NONE ? FIXED : HISTORY,
                    .check_after    = -1};

  cycle_engine_put(e, e->x, o.x, n);
  cycle_engine_put(e, e->b, e->c->b, n);
  o.status = spmv_cg_start(cg, e->x, e->b, m, norm, &e->exec);
  while (!o.status) {
    o.status = spmv_cg_run(cg, step, &test, &o.result, &e->exec);
    if (o.result.reason != SPMV_ITERATING) break;
  }
  o.norm[0] = o.result.first;
  if (!o.status) o.status = spmv_cg_history(cg, 1, o.result.completed, o.norm + 1, &e->exec);
  cycle_engine_get(e, e->x, o.x, n);
  spmv_cg_info(cg, &o.info);
  return o;
}

/* The same iterations, norms and x up to rounding errors */
static void check_alike(const CycleCase *c, const Outcome *got, const Outcome *expected, double tolerance)
{
  const int n       = cycle_rows(c);
  double    largest = 0;

  UNIT_EQUAL(SPMV_SUCCESS, got->status);
  UNIT_EQUAL(expected->result.completed, got->result.completed);
  UNIT_EQUAL(got->result.completed, got->result.iterations);
  for (int64_t i = 0; i <= expected->result.completed; i++)
    UNIT_CHECK(fabs(got->norm[i] - expected->norm[i]) <= tolerance * expected->norm[0]);
  for (int i = 0; i < n; i++) largest = fmax(largest, fabs(expected->x[i]));
  for (int i = 0; i < n; i++)
    if (!UNIT_CHECK(fabs(got->x[i] - expected->x[i]) <= tolerance * largest)) break;
}

/* A symmetric V cycle: the same smoother before and after */
static CycleCase symmetric_case(int64_t dense_rows)
{
  CycleSetup u = cycle_setup();

  cycle_set_levels(&u, 5, 3);
  u.dofs       = 2;
  u.factors    = CYCLE_RICHARDSON;
  u.dense_rows = dense_rows;
  u.own_stream = 1;
  CycleCase c  = cycle_case(&u);
  for (int l = 1; l < u.levels; l++) memcpy(c.level[l].m[1], c.level[l].m[0], (size_t)c.level[l].rows * sizeof(double));
  return c;
}

/* Replaces A by s A on all levels, with M and the inverse: the iterations stay, and x becomes x / s */
static void scale(CycleCase *c, double s)
{
  const int n = c->level[0].rows;

  for (int l = 0; l < c->setup.levels; l++) {
    CycleLevel *level = &c->level[l];
    for (int i = 0; i < level->rows * level->rows; i++) level->a[i] *= s;
    for (int up = 0; up < 2 && l > 0; up++)
      for (int i = 0; i < level->rows; i++) level->m[up][i] /= s;
  }
  for (int i = 0; i < n * n; i++) c->inverse[i] /= s;
}

UNIT_TEST(cg_with_a_cycle_is_that_of_books)
{
  for (int mode = SPMV_CG_CHUNK; mode <= last_mode(); mode++)
    for (int dense = 0; dense >= -1; dense--) {
      CycleCase   c = symmetric_case(dense);
      CycleEngine e;
      cycle_engine_open(&e, &c);
      for (int i = 0; i < 8; i++) {
        const int     k       = i / 2;
        SpmvCgOptions options = options_of(&e, (SpmvCgMode)mode);
        SpmvCg       *cg;
        options.chunk            = k == 3 ? 4 : 0;
        options.single_reduction = i % 2;
        Outcome expected         = textbook(&c, norms[k], 1e-8);
        UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_create(&options, &e.exec, &cg));
        Outcome got = solve(cg, &e, NULL, norms[k], 1e-8, INT64_MAX), steps = solve(cg, &e, NULL, norms[k], 1e-8, 1);
        check_alike(&c, &got, &expected, 1e-9);
        UNIT_EQUAL(k ? SPMV_RTOL : SPMV_DIVERGED_ITERATIONS, got.result.reason);
        UNIT_CHECK(got.result.completed > 4 && got.result.completed < 30);
        UNIT_CHECK(!memcmp(got.x, steps.x, (size_t)cycle_rows(&c) * sizeof *got.x));
        UNIT_CHECK(!memcmp(got.norm, steps.norm, sizeof got.norm));
        spmv_cg_destroy(&cg);
        free(expected.x);
        free(got.x);
        free(steps.x);
      }
      cycle_engine_close(&e);
      cycle_case_free(&c);
    }
}

/* A graph of iterations contains the cycle, and uses new values and steps */
UNIT_TEST(cg_with_a_cycle_goes_on_with_new_values)
{
  for (int mode = SPMV_CG_CHUNK; mode <= last_mode(); mode++) {
    CycleCase   c = symmetric_case(mode == SPMV_CG_GRAPH ? 18 : 0);
    CycleEngine e;
    SpmvCg     *cg;
    cycle_engine_open(&e, &c);
    SpmvCgOptions options = options_of(&e, (SpmvCgMode)mode);
    UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_create(&options, &e.exec, &cg));
    for (int times = 0; times < 3; times++) {
      Outcome expected = textbook(&c, SPMV_CG_PRECONDITIONED, 1e-8);
      Outcome got      = solve(cg, &e, NULL, SPMV_CG_PRECONDITIONED, 1e-8, INT64_MAX);
      check_alike(&c, &got, &expected, 1e-9);
      UNIT_EQUAL(mode == SPMV_CG_GRAPH, got.info.graphs);
      scale(&c, 1.5);
      UNIT_EQUAL(SPMV_SUCCESS, cycle_engine_renew(&e));
      free(expected.x);
      free(got.x);
    }
    spmv_cg_destroy(&cg);
    cycle_engine_close(&e);
    cycle_case_free(&c);
  }
}

/* The kind of the norm decides when it is tested, and so the kernels of a graph: one solver serves all kinds in turn */
UNIT_TEST(cg_with_a_cycle_takes_another_norm)
{
  for (int mode = SPMV_CG_CHUNK; mode <= last_mode(); mode++) {
    CycleCase   c = symmetric_case(0);
    CycleEngine e;
    SpmvCg     *cg;
    cycle_engine_open(&e, &c);
    SpmvCgOptions options = options_of(&e, (SpmvCgMode)mode);
    UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_create(&options, &e.exec, &cg));
    for (int k = 3; k >= 0; k--) {
      Outcome expected = textbook(&c, norms[k], 1e-8), got = solve(cg, &e, NULL, norms[k], 1e-8, INT64_MAX);
      check_alike(&c, &got, &expected, 1e-9);
      free(expected.x);
      free(got.x);
    }
    spmv_cg_destroy(&cg);
    cycle_engine_close(&e);
    cycle_case_free(&c);
  }
}

/* The "inverse" is M of the finer level as a matrix: its product serves as a function that applies a diagonal */
static CycleCase diagonal_case(void)
{
  CycleSetup u = cycle_setup();

  u.levels   = 2;
  u.nodes[0] = u.nodes[1] = 60;
  u.own_stream            = 1;
  CycleCase c             = cycle_case(&u);
  for (int i = 0; i < 60 * 60; i++) c.inverse[i] = i / 60 == i % 60 ? c.level[1].m[0][i / 60] : 0;
  return c;
}

UNIT_TEST(cg_with_a_diagonal_as_a_function_is_that_with_a_diagonal)
{
  CycleCase c = diagonal_case();

  for (int mode = SPMV_CG_CHUNK; mode <= last_mode(); mode++) {
    CycleEngine e;
    cycle_engine_open(&e, &c);
    for (int k = 0; k < 4; k++) {
      SpmvCgOptions function = options_of(&e, (SpmvCgMode)mode), diagonal = function;
      SpmvCg       *cg[2];
      function.apply          = spmv_operator_product;
      function.apply_ctx      = &e.coarse;
      diagonal.preconditioner = SPMV_PC_DIAGONAL;
      UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_create(&function, &e.exec, &cg[0]));
      UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_create(&diagonal, &e.exec, &cg[1]));
      Outcome got      = solve(cg[0], &e, NULL, norms[k], 1e-7, INT64_MAX);
      Outcome expected = solve(cg[1], &e, e.m[1][0], norms[k], 1e-7, INT64_MAX);
      check_alike(&c, &got, &expected, 1e-11);
      UNIT_EQUAL(expected.result.reason, got.result.reason);
      UNIT_CHECK(k == 0 || got.result.completed > 8);
      for (int i = 0; i < 2; i++) spmv_cg_destroy(&cg[i]);
      free(got.x);
      free(expected.x);
    }
    cycle_engine_close(&e);
  }
  cycle_case_free(&c);
}

/* A function that fails in call number fail_at */
typedef struct {
  SpmvCycle *cycle;
  int        calls, fail_at;
} Failing;

static SpmvStatus failing(void *ctx, const void *r, void *z, SpmvExec *exec)
{
  Failing *f = ctx;

  if (++f->calls == f->fail_at) return spmv_fail(exec, SPMV_ERR_DEVICE, "the function fails on purpose");
  return spmv_cycle_apply(f->cycle, r, z, exec);
}

UNIT_TEST(cg_passes_on_that_its_preconditioner_fails)
{
  for (int mode = SPMV_CG_CHUNK; mode <= last_mode(); mode++)
    for (int fail_at = 1; fail_at <= 3; fail_at++) {
      CycleCase   c = symmetric_case(0);
      CycleEngine e;
      SpmvCg     *cg;
      cycle_engine_open(&e, &c);
      SpmvCgOptions options = options_of(&e, (SpmvCgMode)mode);
      Failing       f       = {e.cycle, 0, fail_at};
      options.apply         = failing;
      options.apply_ctx     = &f;
      UNIT_EQUAL(SPMV_SUCCESS, spmv_cg_create(&options, &e.exec, &cg));
      Outcome failed = solve(cg, &e, NULL, SPMV_CG_NATURAL, 1e-8, INT64_MAX);
      /* in mode GRAPH it is called only twice: once at the start, once in a capture */
      UNIT_EQUAL(f.calls >= fail_at ? SPMV_ERR_DEVICE : SPMV_SUCCESS, failed.status);
      if (failed.status) UNIT_CONTAINS("on purpose", e.exec.message);
      UNIT_CHECK(mode == SPMV_CG_GRAPH || failed.status);
      f.fail_at        = 0;
      Outcome expected = textbook(&c, SPMV_CG_NATURAL, 1e-8),
              got      = solve(cg, &e, NULL, SPMV_CG_NATURAL, 1e-8, INT64_MAX);
      check_alike(&c, &got, &expected, 1e-9);
      spmv_cg_destroy(&cg);
      cycle_engine_close(&e);
      cycle_case_free(&c);
      free(failed.x);
      free(expected.x);
      free(got.x);
    }
}

UNIT_TEST(cg_refuses_functions_that_cannot_be)
{
  SpmvCgOptions o;
  SpmvExec      exec;
  SpmvCg       *cg;

  spmv_exec_init(&exec, SPMV_DEVICE);
  spmv_cg_options_init(&o);
  o.product        = spmv_operator_product;
  o.preconditioner = SPMV_PC_FUNCTION;
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cg_create(&o, &exec, &cg));
  UNIT_CONTAINS("no function", exec.message);
  o.apply       = spmv_cycle_function;
  o.mode        = SPMV_CG_GRAPH;
  o.apply_waits = 1;
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_cg_create(&o, &exec, &cg));
  UNIT_CONTAINS("use chunks", exec.message);
}
