/* Tests of overlapped products (overlap.cuh): products that follow each other in a stream give the bits of products
   with waits in between, also if each reads what the previous one wrote, or new values of its matrix do. They pass
   without a device. */
#include "aggregate/aggregate_test.h"
#include "cases.h"
#include "unit.h"
#include "unit_plan.h"
#ifdef SPMV_EMULATED
  #include <spmv_emulator.h>
#else
  #define spmv_emulator_begin_early() (void)0
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRODUCTS = 4 };

/* A plan on the device. Product k reads vector k and writes vector k + 1; every second one is transposed. */
typedef struct {
  SpmvExec  exec;
  SpmvPlan *plan;
  int64_t   bytes[PRODUCTS + 1], all; /* of each vector, and of all */
  void     *vector[PRODUCTS + 1], *work;
  char     *start; /* all vectors on the host, before a run */
} Chain;

static void multiply(const Chain *c, int k)
{
  const double one = 1, half = 0.5;
  const float  one_f = 1, half_f = 0.5f;
  const void  *alpha = c->plan->scalar_type == SPMV_F32 ? (const void *)&half_f : &half;
  const void  *beta  = c->plan->scalar_type == SPMV_F32 ? (const void *)&one_f : &one;

  UNIT_EQUAL(SPMV_SUCCESS, (k % 2 ? spmv_multtranspose : spmv_mult)(c->plan, alpha, c->vector[k], beta,
                                                                    c->vector[k + 1], c->work, (SpmvExec *)&c->exec));
}

/* Runs all products and returns all vectors on the host */
static char *run(const Chain *c, int waits)
{
  char *got = malloc((size_t)c->all + 1), *to = got;

  for (int k = 0; k <= PRODUCTS; k++)
    UNIT_EQUAL(SPMV_SUCCESS,
               spmv_copy(c->vector[k], SPMV_DEVICE, c->start, SPMV_HOST, c->bytes[k], (SpmvExec *)&c->exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait((SpmvExec *)&c->exec));
  for (int k = 0; k < PRODUCTS; k++) {
    multiply(c, k);
    if (waits) UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait((SpmvExec *)&c->exec));
  }
  for (int k = 0; k <= PRODUCTS; to += c->bytes[k++])
    UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(to, SPMV_HOST, c->vector[k], SPMV_DEVICE, c->bytes[k], (SpmvExec *)&c->exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait((SpmvExec *)&c->exec));
  return got;
}

static void check_chain(Chain *c, const SpmvPattern *p, const char *what)
{
  const int64_t S = spmv_scalar_bytes(c->plan->scalar_type), most = p->rows > p->cols ? p->rows : p->cols;

  UNIT_EQUAL(SPMV_SUCCESS, spmv_prepare_transpose(c->plan, &c->exec));
  c->work  = test_put(SPMV_DEVICE, NULL, c->plan->memory.work_bytes);
  c->start = malloc((size_t)(most * S) + 1);
  gen_values(GEN_RANDOM, 7, 0, c->plan->scalar_type, most, c->start);
  for (int k = 0; k <= PRODUCTS; k++) {
    c->bytes[k]  = (k % 2 ? p->rows : p->cols) * S;
    c->vector[k] = test_put(SPMV_DEVICE, NULL, c->bytes[k]);
    c->all += c->bytes[k];
  }
  char *expected = run(c, 1), *got = run(c, 0);
  if (memcmp(expected, got, (size_t)c->all)) unit_check(0, what, 0, "a product began before its vectors were written");
  free(expected);
  free(got);
  free(c->start);
  for (int k = 0; k <= PRODUCTS; k++) test_take(SPMV_DEVICE, c->vector[k], NULL, 0);
  test_take(SPMV_DEVICE, c->work, NULL, 0);
}

static void check_setting(const SpmvFormat *format, int variant, const GenSpec *spec, SpmvScalar scalar)
{
  UnitProblem  p = unit_problem(spec, SPMV_I32, scalar);
  Chain        c = {.plan = NULL};
  SpmvAnalysis analysis;
  SpmvOptions  options;
  char         text[CASE_VARIANT_TEXT], what[2 * CASE_VARIANT_TEXT];

  spmv_options_init(&options, format);
  case_variant(format, CASE_QUICK, variant, &options, text);
  snprintf(what, sizeof what, "%s (%s)", format->name, text);
  gen_values(GEN_RANDOM, 5, 0, scalar, p.csr.pattern.nnz, p.values);
  spmv_exec_init(&c.exec, SPMV_DEVICE);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_analyze(format, &p.csr.pattern, scalar, &options, &c.exec, &analysis));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_build(&p.csr, &analysis, &c.exec, &c.plan));
  spmv_emulator_begin_early();
  if (c.plan) check_chain(&c, &p.csr.pattern, what);
  spmv_destroy(&c.plan);
  spmv_analysis_clear(&analysis, &c.exec);
  unit_problem_clear(&p);
}

UNIT_TEST(products_in_a_row_wait_for_each_other)
{
  const GenSpec specs[] = {gen_stencil(5, 23, 19, 1), gen_mesh(9, 11, 10, 1, "12365143"), gen_power_law(400, 2, 2.1, 6),
                           gen_long_rows(40, 9000, 5, 9000, 40, 11)};
  int           number  = 0;

  for (int i = 0; i < spmv_format_count() && spmv_device_count(NULL); i++)
    for (int v = 0; v < case_variant_count(spmv_format_get(i), CASE_QUICK); v++)
      for (int m = 0; m < 4; m++)
        for (int scalar = SPMV_F64; scalar <= SPMV_F32; scalar++)
          if (v == 0 || number++ % 9 == 0) /* a sample: the emulated device is slow */
            check_setting(spmv_format_get(i), v, &specs[m], (SpmvScalar)scalar);
}

/* ---- new values from the previous kernel ---- */

static void product(const UnitPlan *u, const void *x, void *y, void *work, int waits)
{
  const double one = 1, zero = 0;

  UNIT_EQUAL(SPMV_SUCCESS, spmv_mult(u->plan, &one, x, &zero, y, work, (SpmvExec *)&u->exec));
  if (waits) UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait((SpmvExec *)&u->exec));
}

/* y of a product whose values were written by the product of a diagonal matrix just before */
static void renewed_product(const UnitPlan *u, const UnitPlan *diagonal, const UnitProblem *p, double *y, int waits)
{
  const int64_t value_bytes = p->csr.pattern.nnz * 8, bytes = p->most * 8;
  void         *from = test_put(SPMV_DEVICE, p->values, value_bytes), *x = test_put(SPMV_DEVICE, p->x, bytes);
  void         *values = test_put(SPMV_DEVICE, p->values, value_bytes), *there = test_put(SPMV_DEVICE, NULL, bytes);
  void         *work = test_put(SPMV_DEVICE, NULL, u->plan->memory.work_bytes);

  UNIT_EQUAL(SPMV_SUCCESS, spmv_update_values(u->plan, values, SPMV_DEVICE, (SpmvExec *)&u->exec));
  product(u, x, there, work, 1);
  product(diagonal, from, values, NULL, waits);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_update_values(u->plan, values, SPMV_DEVICE, (SpmvExec *)&u->exec));
  product(u, x, there, work, waits);
  test_take(SPMV_DEVICE, there, y, bytes);
  test_take(SPMV_DEVICE, from, NULL, 0);
  test_take(SPMV_DEVICE, x, NULL, 0);
  test_take(SPMV_DEVICE, values, NULL, 0);
  test_take(SPMV_DEVICE, work, NULL, 0);
}

static void check_renewal(const SpmvFormat *format)
{
  const GenSpec spec = gen_mesh(9, 11, 10, 1, "12365143");
  UnitProblem   p    = unit_problem(&spec, SPMV_I32, SPMV_F64);
  const GenSpec line = gen_diagonal(p.csr.pattern.nnz);
  UnitProblem   d    = unit_problem(&line, SPMV_I32, SPMV_F64);
  UnitPlan      u = unit_plan(SPMV_DEVICE, format->name, &p.csr, " "), by = unit_plan(SPMV_DEVICE, "crsv", &d.csr, " ");
  double       *expected = calloc(2 * (size_t)p.most, sizeof *expected), *got = expected + p.most;

  spmv_emulator_begin_early();
  renewed_product(&u, &by, &p, expected, 1);
  renewed_product(&u, &by, &p, got, 0);
  if (memcmp(expected, got, (size_t)p.csr.pattern.rows * sizeof *got))
    unit_check(0, format->name, 0, "a product began before the values of its matrix were written");
  free(expected);
  unit_plan_clear(&u);
  unit_plan_clear(&by);
  unit_problem_clear(&p);
  unit_problem_clear(&d);
}

UNIT_TEST(products_wait_for_new_values)
{
  for (int i = 0; i < spmv_format_count() && spmv_device_count(NULL); i++) check_renewal(spmv_format_get(i));
}
