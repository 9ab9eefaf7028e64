/* Tests of cycles in single precision between vectors in double precision. They are skipped without a
   device. */
#include "cycle_test.h"
#include "unit.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CycleSetup outer_setup(void)
{
  CycleSetup u = cycle_setup();

  u.scalar = SPMV_F32;
  u.outer  = 1;
  return u;
}

/* The result equals that of the textbook cycle, up to the accuracy of single precision */
static void check_case(const CycleCase *c, CycleEngine *e, double tolerance)
{
  const CycleSetup *u = &c->setup;
  const int         n = cycle_rows(c);
  double           *x = calloc(2 * (size_t)n + 1, sizeof *x), *expected = x + n, largest = 0, error = 0;
  char              text[400];

  UNIT_EQUAL(SPMV_SUCCESS, cycle_engine_apply(e, c->b, x));
  cycle_textbook(c, c->b, expected);
  for (int i = 0; i < n; i++) largest = fmax(largest, fabs(expected[i]));
  for (int i = 0; i < n; i++) error = isfinite(x[i]) ? fmax(error, fabs(x[i] - expected[i])) : INFINITY;
  snprintf(text, sizeof text,
           "%s, matrix %g, b %g, jump %g, blocks %d %d, %d visits, %d cycles, function %d, dense %lld: error %g of %g",
           u->format, u->size, u->b_size, u->jump, u->block[0], u->block[1], u->visits, u->cycles, u->function,
           (long long)u->dense_rows, error, largest);
  unit_check(error <= tolerance * largest && largest > 0 && isfinite(largest), __FILE__, __LINE__, text);
  free(x);
}

/* dense: all levels as one matrix, or none */
static void check_setup(CycleSetup u, int dense, double tolerance)
{
  if (!spmv_device_count(NULL)) return;
  u.dense_rows  = dense ? -1 : 0;
  CycleCase   c = cycle_case(&u);
  CycleEngine e;
  cycle_engine_open(&e, &c);
  if (e.cycle) check_case(&c, &e, tolerance);
  cycle_engine_close(&e);
  cycle_case_free(&c);
}

/* In each loop below, every value of each variable comes with a dense matrix and without */
UNIT_TEST(cycle_between_double_vectors_is_that_of_books)
{
  for (int i = 0; i < spmv_format_count(); i++)
    for (int kind = 0; kind < 4; kind++) {
      CycleSetup u      = outer_setup();
      u.format          = spmv_format_get(i)->name;
      u.dofs            = 6;
      u.block[0]        = kind;
      u.block[1]        = kind == 3 ? 6 : kind;
      u.visits          = 1 + kind % 2;
      u.cycles          = 1 + kind / 2;
      u.own_restriction = kind == 1;
      u.function        = kind == 2;
      if (kind == 0) u.steps[0] = u.steps[1] = 1; /* the identity diverges */
      check_setup(u, (i + kind / 2) % 2, kind ? 1e-5 : 1e-4);
    }
}

UNIT_TEST(cycle_between_double_vectors_of_each_number_of_levels_and_steps)
{
  for (int levels = 1; levels <= 5; levels++)
    for (int steps = 0; steps <= 3; steps++) {
      CycleSetup u = outer_setup();
      cycle_set_levels(&u, levels, 3);
      u.steps[0] = steps;
      u.steps[1] = 3 - steps;
      u.function = steps == 2;
      check_setup(u, (levels + steps) % 2, 1e-5);
    }
}

/* Magnitudes of A and b that single precision cannot represent, or whose products it cannot */
UNIT_TEST(cycle_between_double_vectors_of_any_size)
{
  static const double sizes[][2] = {{1e35, 1},      {1e-35, 1},   {1e35, 1e35},   {1e-35, 1e-47}, {1, 1e-300},
                                    {1e-300, 1e-4}, {1e300, 1e2}, {1e-35, 1e200}, {1e35, 1e-200}};

  for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++)
    for (int kind = 0; kind < 3; kind++) {
      CycleSetup u = outer_setup();
      u.dofs       = 2;
      u.size       = sizes[i][0];
      u.b_size     = sizes[i][1];
      u.block[0] = u.block[1] = kind;
      u.function              = i % 2;
      if (kind == 0) u.steps[0] = u.steps[1] = 1;
      check_setup(u, (i / 2 + kind) % 2, 1e-5);
    }
}

UNIT_TEST(cycle_between_double_vectors_with_jumps)
{
  static const double sizes[] = {1, 1e35, 1e-35};

  for (int i = 0; i < 3; i++)
    for (int kind = 1; kind < 3; kind++)
      for (int visits = 1; visits <= 2; visits++) {
        CycleSetup u = outer_setup();
        u.dofs       = 2;
        u.jump       = 1e8;
        u.size       = sizes[i];
        u.visits     = visits;
        u.block[0] = u.block[1] = kind;
        check_setup(u, (i + kind + visits) % 2, 1e-4);
      }
}

/* Levels of several thread blocks */
UNIT_TEST(cycle_between_double_vectors_of_many_rows)
{
  CycleSetup u = outer_setup();

  cycle_set_levels(&u, 3, 30);
  u.dofs = 3;
  for (int dense = 0; dense <= 1; dense++) check_setup(u, dense, 1e-5);
}

UNIT_TEST(cycle_between_double_vectors_takes_new_values_of_another_size)
{
  if (!spmv_device_count(NULL)) return;
  for (int dense = 0; dense >= -1; dense--) {
    CycleSetup u  = outer_setup();
    u.dense_rows  = dense;
    u.dofs        = 2;
    u.function    = !dense;
    CycleCase   c = cycle_case(&u);
    CycleEngine e;
    cycle_engine_open(&e, &c);
    for (int times = 0; times < 3 && e.cycle; times++) {
      check_case(&c, &e, 1e-5);
      cycle_case_free(&c);
      u.size *= 1e20;
      c = cycle_case(&u);
      cycle_case_change(&c);
      UNIT_EQUAL(SPMV_SUCCESS, cycle_engine_renew(&e));
    }
    cycle_engine_close(&e);
    cycle_case_free(&c);
  }
}

UNIT_TEST(cycle_between_double_vectors_repeats_its_bits)
{
  if (!spmv_device_count(NULL)) return;
  CycleSetup u = outer_setup();
  cycle_set_levels(&u, 3, 40);
  CycleCase   c = cycle_case(&u);
  const int   n = cycle_rows(&c);
  double     *x = calloc(3 * (size_t)n, sizeof *x);
  CycleEngine e;
  for (int i = 0; i < 3; i++) {
    if (i != 1) cycle_engine_open(&e, &c);
    UNIT_EQUAL(SPMV_SUCCESS, cycle_engine_apply(&e, c.b, x + (size_t)i * n));
    if (i) cycle_engine_close(&e);
    UNIT_CHECK(!memcmp(x, x + (size_t)i * n, (size_t)n * sizeof *x));
  }
  /* scaling b by a power of two scales x by it */
  cycle_engine_open(&e, &c);
  for (int i = 0; i < n; i++) c.b[i] = scalbn(c.b[i], 300);
  UNIT_EQUAL(SPMV_SUCCESS, cycle_engine_apply(&e, c.b, x + n));
  for (int i = 0; i < n; i++) UNIT_CHECK(scalbn(x[i], 300) == x[n + i]);
  cycle_engine_close(&e);
  cycle_case_free(&c);
  free(x);
}

/* NaN or infinity in b makes entries of x not finite; b = 0 gives x = 0 */
UNIT_TEST(cycle_between_double_vectors_of_what_is_no_number)
{
  static const double spoilt[] = {NAN, INFINITY, -INFINITY};

  if (!spmv_device_count(NULL)) return;
  const CycleSetup u = outer_setup();
  CycleCase        c = cycle_case(&u);
  const int        n = cycle_rows(&c);
  double          *x = calloc((size_t)n, sizeof *x);
  CycleEngine      e;
  cycle_engine_open(&e, &c);
  for (int k = 0; k < 3; k++) {
    int numbers = 0;
    c.b[n / 2]  = spoilt[k];
    UNIT_EQUAL(SPMV_SUCCESS, cycle_engine_apply(&e, c.b, x));
    for (int i = 0; i < n; i++) numbers += isfinite(x[i]);
    UNIT_CHECK(numbers < n);
  }
  memset(c.b, 0, (size_t)n * sizeof *c.b);
  UNIT_EQUAL(SPMV_SUCCESS, cycle_engine_apply(&e, c.b, x));
  for (int i = 0; i < n; i++) UNIT_CHECK(x[i] == 0);
  cycle_engine_close(&e);
  cycle_case_free(&c);
  free(x);
}

UNIT_TEST(cycle_refuses_scales_that_make_no_sense)
{
  static const double scales[] = {0, -2, 3, NAN, INFINITY};
  if (!spmv_device_count(NULL)) return;
  const CycleSetup u = outer_setup();
  CycleCase        c = cycle_case(&u);
  CycleEngine      e;
  SpmvCycle       *cycle;

  cycle_engine_open(&e, &c);
  e.options.scalar_type = SPMV_F64;
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cycle_create(&e.options, &e.exec, &cycle));
  UNIT_CONTAINS("only in single precision", e.exec.message);
  for (int i = 0; i < 5; i++) {
    e.scale = scales[i];
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cycle_renew(e.cycle, &e.exec));
    UNIT_CONTAINS("must be a power of two", e.exec.message);
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_cycle_apply(e.cycle, e.b, e.x, &e.exec));
  }
  cycle_engine_close(&e);
  cycle_case_free(&c);
}

/* ---- conversions on the device ---- */

/* Zeros of both signs, infinities, subnormal numbers and a NaN, in double and in single precision */
UNIT_TEST(reciprocals_and_their_zeros)
{
  double   number[] = {3, -0.7, 0, -0.0, 1e300, 4e-310, INFINITY, -INFINITY, NAN};
  float    single[] = {3, -0.7f, 0, -0.0f, 1e30f, 1e-40f, INFINITY, -INFINITY, NAN};
  double   got[9];
  float    got_single[9];
  void    *there;
  SpmvExec exec;

  spmv_exec_init(&exec, SPMV_DEVICE);
  if (!spmv_device_count(NULL)) {
    UNIT_CHECK(spmv_reciprocal(1, SPMV_F64, 1, NULL, &exec) != SPMV_SUCCESS);
    return;
  }
  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(&exec, SPMV_DEVICE, sizeof number, "a test", &there));
  for (int fix = 0; fix < 2; fix++) {
    UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(there, SPMV_DEVICE, number, SPMV_HOST, sizeof number, &exec));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_reciprocal(9, SPMV_F64, fix, there, &exec));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(got, SPMV_HOST, there, SPMV_DEVICE, sizeof got, &exec));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(there, SPMV_DEVICE, single, SPMV_HOST, sizeof single, &exec));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_reciprocal(9, SPMV_F32, fix, there, &exec));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(got_single, SPMV_HOST, there, SPMV_DEVICE, sizeof got_single, &exec));
    for (int i = 0; i < 8; i++) {
      const int zero = i == 2 || i == 3 || i > 5; /* the result */
      UNIT_CHECK(got[i] == (zero ? fix : 1 / number[i]));
      UNIT_CHECK(got_single[i] == (zero ? (float)fix : (float)(1 / (double)single[i])));
    }
    UNIT_CHECK(isnan(got[8]) && isnan(got_single[8]));
  }
  spmv_exec_free(&exec, SPMV_DEVICE, there);
}

UNIT_TEST(numbers_in_another_precision)
{
  enum { N = 700 };
  double   from[N], to[N], largest;
  float    single[N];
  void    *there, *rounded;
  SpmvExec exec;

  spmv_exec_init(&exec, SPMV_DEVICE);
  if (!spmv_device_count(NULL)) {
    UNIT_CHECK(spmv_convert(1, 1, SPMV_F64, NULL, SPMV_F32, NULL, &exec) != SPMV_SUCCESS);
    UNIT_CHECK(spmv_largest(1, SPMV_F64, NULL, &largest, &exec) != SPMV_SUCCESS);
    return;
  }
  for (int i = 0; i < N; i++) from[i] = 1e-30 * sin(i);
  from[N - 2] = -7e20;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(&exec, SPMV_DEVICE, sizeof from, "a test", &there));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(&exec, SPMV_DEVICE, sizeof single, "a test", &rounded));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(there, SPMV_DEVICE, from, SPMV_HOST, sizeof from, &exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_convert(N, 0.5, SPMV_F64, there, SPMV_F32, rounded, &exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(single, SPMV_HOST, rounded, SPMV_DEVICE, sizeof single, &exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_largest(N, SPMV_F32, rounded, &largest, &exec));
  UNIT_CHECK(largest == (float)3.5e20);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_convert(N, 4, SPMV_F32, rounded, SPMV_F64, there, &exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(to, SPMV_HOST, there, SPMV_DEVICE, sizeof to, &exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_largest(N - 2, SPMV_F64, there, &largest, &exec));
  for (int i = 0; i < N; i++) UNIT_CHECK(single[i] == (float)(0.5 * from[i]) && to[i] == 4.0 * (double)single[i]);
  UNIT_CHECK(largest > 1.9e-30 && largest < 2.1e-30);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_largest(0, SPMV_F64, there, &largest, &exec));
  UNIT_CHECK(largest == 0);
  to[3] = NAN;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(there, SPMV_DEVICE, to, SPMV_HOST, sizeof to, &exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_largest(N, SPMV_F64, there, &largest, &exec));
  UNIT_CHECK(isnan(largest));
  spmv_exec_free(&exec, SPMV_DEVICE, there);
  spmv_exec_free(&exec, SPMV_DEVICE, rounded);
}
