/* Tests of cycles against a textbook cycle. They are skipped without a device. */
#include "cycle_test.h"
#include "unit.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *numbers(const CycleCase *c) { return calloc((size_t)cycle_rows(c) + 1, sizeof(double)); }

/* A failed check names the setup, because it is called in many loops */
static void check(int ok, const CycleCase *c, const CycleEngine *e, const char *what)
{
  const CycleSetup *u = &c->setup;
  char              text[800];

  snprintf(
      text, sizeof text,
      "%s, %s: %d levels, %d unknowns, steps %d %d of kind %d, blocks %d %d, %d visits, %d cycles, %s restriction, "
      "dense rows %lld: %s %s",
      u->format, u->scalar == SPMV_F32 ? "single" : "double", u->levels, u->dofs, u->steps[0], u->steps[1], u->factors,
      u->block[0], u->block[1], u->visits, u->cycles, u->own_restriction ? "own" : "transposed",
      (long long)u->dense_rows, what, e->exec.message);
  unit_check(ok, __FILE__, __LINE__, text);
}

/* x equals that of the textbook cycle, within rounding errors */
static void check_x(const CycleCase *c, const CycleEngine *e, const double *x)
{
  const int n        = cycle_rows(c);
  double   *expected = numbers(c), largest = 0, error = 0;

  cycle_textbook(c, c->b, expected);
  for (int i = 0; i < n; i++) largest = fmax(largest, fabs(expected[i]));
  for (int i = 0; i < n; i++) error = isfinite(x[i]) ? fmax(error, fabs(x[i] - expected[i])) : INFINITY;
  check(error <= (c->setup.scalar == SPMV_F32 ? 1e-4 : 1e-11) * largest, c, e, "x differs");
  check(n == 0 || largest > 1e-3, c, e, "the test has no right-hand side");
  free(expected);
}

static void apply_and_check(CycleEngine *e)
{
  double *x = numbers(e->c);

  check(!cycle_engine_apply(e, e->c->b, x), e->c, e, "it fails");
  check_x(e->c, e, x);
  free(x);
}

static void check_setup(const CycleSetup *u)
{
  if (!spmv_device_count(NULL)) return;
  CycleCase   c = cycle_case(u);
  CycleEngine e;

  cycle_engine_open(&e, &c);
  if (e.cycle) apply_and_check(&e);
  cycle_engine_close(&e);
  cycle_case_free(&c);
}

/* Without a dense matrix, with some levels as one, and with all of them as one */
static void check_dense(CycleSetup u)
{
  const int64_t few = (int64_t)u.nodes[1] * u.dofs, dense[] = {0, few, -1};
  const int     once = u.visits == 1 && u.cycles == 1; /* the dense level has a zero guess: all factors are allowed */

  for (int i = 0; i < (once || u.factors != CYCLE_NO_FIXED_POINT ? 3 : 1); i++) {
    u.dense_rows = dense[i];
    u.own_stream = i == 1;
    check_setup(&u);
  }
}

UNIT_TEST(cycle_of_each_number_of_steps_and_visits_is_that_of_books)
{
  static const struct {
    int visits, cycles;
  } kinds[] = {{1, 1}, {2, 1}, {3, 1}, {1, 2}, {2, 3}};

  /* With each kind of factors, each pair of the other three: the emulated device is slow */
  for (int factors = 0; factors < CYCLE_FACTORS; factors++)
    for (int down = 0; down <= 4; down++)
      for (int up = 0; up <= 4; up++) {
        const int  kind = (down + 2 * up + factors) % 5;
        CycleSetup u    = cycle_setup();
        u.visits        = kinds[kind].visits;
        u.cycles        = kinds[kind].cycles;
        u.steps[0]      = down;
        u.steps[1]      = up;
        u.factors       = factors;
        check_dense(u);
      }
}

UNIT_TEST(cycle_of_one_to_five_levels_is_that_of_books)
{
  for (int levels = 1; levels <= 5; levels++)
    for (int visits = 1; visits <= 2; visits++)
      for (int cycles = 1; cycles <= 2; cycles++) {
        CycleSetup u = cycle_setup();
        cycle_set_levels(&u, levels, 3);
        u.visits = visits;
        u.cycles = cycles;
        check_dense(u);
        u.function   = 1;
        u.dense_rows = -1; /* with a function there is no dense matrix */
        check_setup(&u);
      }
}

UNIT_TEST(cycle_with_each_preconditioner_is_that_of_books)
{
  for (int down = 0; down <= SPMV_PC_BLOCK_MAX; down++)
    for (int up = 0; up <= SPMV_PC_BLOCK_MAX; up++) {
      CycleSetup u = cycle_setup();
      cycle_set_levels(&u, 3, 3); /* the finest, one between, the coarsest */
      u.dofs = down > 1 ? down : up > 1 ? up : 2;
      if (up > 1 && u.dofs % up) continue;
      u.block[0] = down;
      u.block[1] = up;
      u.visits   = 1 + (down + up) % 2;
      u.scalar   = (down + up) % 3 == 1 ? SPMV_F32 : SPMV_F64;
      u.steps[0] = 1 + down % 3;
      u.steps[1] = 1 + up % 3;
      if ((down + 2 * up) % 4 == 0 || down == up) check_dense(u); /* a sample */
      else check_setup(&u);
    }
}

/* Each number of steps, with one function or two. Levels below a function may be one dense matrix. */
UNIT_TEST(cycle_with_functions_for_m_is_that_of_books)
{
  for (int i = 0; i < 24; i++) {
    CycleSetup u = cycle_setup();

    u.apply[0]   = i % 3 < 2;
    u.apply[1]   = i % 3 > 0;
    u.steps[0]   = i % 4;
    u.steps[1]   = i / 4 % 4;
    u.visits     = 1 + i % 2;
    u.cycles     = 1 + i / 12;
    u.scalar     = i % 5 == 1 ? SPMV_F32 : SPMV_F64;
    u.dense_rows = i % 2 ? -1 : 0;
    check_setup(&u);
  }
}

UNIT_TEST(cycle_with_matrices_of_each_format_is_that_of_books)
{
  for (int i = 0; i < spmv_format_count(); i++)
    for (int own = 0; own <= 1; own++)
      for (int scalar = SPMV_F64; scalar <= SPMV_F32; scalar++)
        for (int block = 0; block <= 3; block += 1 + block) {
          CycleSetup u = cycle_setup();
          cycle_set_levels(&u, 3, 3);
          u.format          = spmv_format_get(i)->name;
          u.own_restriction = own;
          u.scalar          = (SpmvScalar)scalar;
          u.dofs            = 3;
          u.block[0] = u.block[1] = block;
          if ((i + own + scalar + block) % 2) check_dense(u); /* a sample */
          else check_setup(&u);
        }
}

/* Levels of more rows than a thread block has threads (351 and 256), and a dense matrix of several blocks */
UNIT_TEST(cycle_of_many_rows)
{
  for (int i = 0; i < 3; i++) {
    CycleSetup u = cycle_setup();
    cycle_set_levels(&u, 3, 30);
    u.dofs     = 3;
    u.block[0] = i;
    u.block[1] = i == 2 ? 3 : 1;
    u.steps[1] = 3;
    if (i == 2) u.block[0] = 3;
    check_dense(u);
  }
}

/* One level without rows, and a process without any rows */
UNIT_TEST(cycle_of_levels_without_rows)
{
  static const int nodes[][3] = {{0, 4, 9}, {3, 0, 9}, {3, 5, 0}, {0, 0, 0}, {0, 0, 5}};

  for (int i = 0; i < 5; i++)
    for (int function = 0; function <= 1; function++) {
      CycleSetup u = cycle_setup();
      u.levels     = 3;
      u.function   = function;
      memcpy(u.nodes, nodes[i], sizeof nodes[i]);
      check_dense(u);
    }
}

/* A process without rows on the coarsest level has neither an inverse nor a function */
UNIT_TEST(cycle_without_rows_needs_no_inverse)
{
  if (!spmv_device_count(NULL)) return;
  CycleSetup u  = cycle_setup();
  u.nodes[0]    = 0;
  CycleCase   c = cycle_case(&u);
  CycleEngine e;

  cycle_engine_prepare(&e, &c);
  e.options.inverse = NULL;
  cycle_engine_make(&e);
  UNIT_EQUAL(SPMV_SUCCESS, e.status);
  apply_and_check(&e);
  cycle_engine_close(&e);
  cycle_case_free(&c);
}

UNIT_TEST(cycle_takes_new_steps_and_values)
{
  if (!spmv_device_count(NULL)) return;
  for (int i = 0; i < spmv_format_count(); i++)
    for (int dense = 0; dense >= -1; dense--)
      for (int own = 0; own <= 1; own++) {
        CycleSetup u = cycle_setup();
        cycle_set_levels(&u, 3, 3);
        u.format          = spmv_format_get(i)->name;
        u.dense_rows      = dense;
        u.own_restriction = own;
        u.visits          = 2;
        u.dofs            = 2;
        u.block[1]        = 2;
        u.function        = i == 1 && own;
        u.apply[0]        = i == 2;
        CycleCase   c     = cycle_case(&u);
        CycleEngine e;
        cycle_engine_open(&e, &c);
        for (int times = 0; times < 3 && e.cycle; times++) {
          apply_and_check(&e);
          cycle_case_change(&c);
          check(!cycle_engine_renew(&e), &c, &e, "new values fail");
        }
        cycle_engine_close(&e);
        cycle_case_free(&c);
      }
}

UNIT_TEST(cycle_repeated_gives_the_same_bits)
{
  if (!spmv_device_count(NULL)) return;
  for (int dense = 0; dense >= -1; dense--) {
    CycleSetup u  = cycle_setup();
    u.dense_rows  = dense;
    u.visits      = 2;
    CycleCase   c = cycle_case(&u);
    CycleEngine e;
    double     *first = numbers(&c), *x = numbers(&c), *other = numbers(&c);

    cycle_engine_open(&e, &c);
    UNIT_EQUAL(SPMV_SUCCESS, cycle_engine_apply(&e, c.b, first));
    for (int i = 0; i < cycle_rows(&c); i++) other[i] = 1e3 * cos(i);
    UNIT_EQUAL(SPMV_SUCCESS, cycle_engine_apply(&e, other, x)); /* leaves other numbers in the vectors of the cycle */
    UNIT_CHECK(memcmp(first, x, (size_t)cycle_rows(&c) * sizeof *x));
    UNIT_EQUAL(SPMV_SUCCESS, cycle_engine_apply(&e, c.b, x));
    UNIT_CHECK(!memcmp(first, x, (size_t)cycle_rows(&c) * sizeof *x));
    cycle_engine_put(&e, e.b, c.b, cycle_rows(&c));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_cycle_function(e.cycle, e.b, e.x, &e.exec));
    cycle_engine_get(&e, e.x, x, cycle_rows(&c));
    UNIT_CHECK(!memcmp(first, x, (size_t)cycle_rows(&c) * sizeof *x));
    cycle_engine_close(&e);
    cycle_case_free(&c);
    free(first);
    free(x);
    free(other);
  }
}

UNIT_TEST(cycle_passes_on_what_is_not_a_number)
{
  if (!spmv_device_count(NULL)) return;
  for (int dense = 0; dense >= -1; dense--)
    for (int steps = 0; steps <= 2; steps++) {
      CycleSetup u = cycle_setup();
      u.dense_rows = dense;
      u.steps[0] = u.steps[1] = steps;
      CycleCase   c           = cycle_case(&u);
      CycleEngine e;
      double     *x = numbers(&c), *b = numbers(&c);

      cycle_engine_open(&e, &c);
      memcpy(b, c.b, (size_t)cycle_rows(&c) * sizeof *b);
      b[cycle_rows(&c) / 2] = NAN;
      UNIT_EQUAL(SPMV_SUCCESS, cycle_engine_apply(&e, b, x));
      for (int i = 0; i < cycle_rows(&c); i++) check(isnan(x[i]), &c, &e, "a number from what is none");
      apply_and_check(&e); /* no NaN is left in the vectors of the cycle */
      cycle_engine_close(&e);
      cycle_case_free(&c);
      free(x);
      free(b);
    }
}

static SpmvStatus count_exchanges(void *ctx, void *halo, const void *x, void *ghosts, SpmvExec *exec)
{
  (void)halo;
  (void)x;
  (void)ghosts;
  (void)exec;
  ++*(int *)ctx;
  return SPMV_SUCCESS;
}

static SpmvStatus end_exchange(void *ctx, void *halo, void *ghosts, SpmvExec *exec)
{
  return count_exchanges(ctx, halo, ghosts, ghosts, exec);
}

static SpmvStatus count_back(void *ctx, void *halo, const void *ghosts, SpmvExec *exec)
{
  return count_exchanges(ctx, halo, ghosts, NULL, exec);
}

/* Every product exchanges ghost values, also on a process that needs none */
UNIT_TEST(cycle_of_several_processes_exchanges_in_each_product)
{
  if (!spmv_device_count(NULL)) return;
  CycleSetup u             = cycle_setup();
  u.dense_rows             = -1;
  u.visits                 = 2;
  CycleCase           c    = cycle_case(&u);
  int                 all  = 0;
  const SpmvProcesses many = {
      .ctx = &all, .begin = count_exchanges, .end = end_exchange, .begin_back = count_back, .end_back = end_exchange};
  CycleEngine   e;
  SpmvCycleInfo info;

  cycle_engine_prepare(&e, &c);
  for (int l = 1; l < u.levels; l++)
    e.level[l].matrix.processes = e.level[l].interpolation.processes = e.level[l].restriction.processes = &many;
  cycle_engine_make(&e);
  spmv_cycle_info(e.cycle, &info);
  UNIT_EQUAL(1, info.waits);
  UNIT_EQUAL(0, info.dense);
  apply_and_check(&e);
  /* seven visits of a residual, two transfers, and two steps down and up, less the first step of four visits from
       zero */
  UNIT_EQUAL(2 * (7 * (1 + 2 + 2 + 2) - 4), all);
  cycle_engine_close(&e);
  cycle_case_free(&c);
}

/* A V cycle on two levels of 3 and 5 nodes has known numbers of additions and multiplications */
UNIT_TEST(cycle_says_what_it_takes)
{
  if (!spmv_device_count(NULL)) return;
  CycleSetup u = cycle_setup();
  cycle_set_levels(&u, 2, 3);
  CycleCase     c = cycle_case(&u);
  CycleEngine   e;
  SpmvCycleInfo info;

  cycle_engine_open(&e, &c);
  spmv_cycle_info(e.cycle, &info);
  const double a = (double)e.matrix[1][0].nnz, p = (double)e.matrix[1][1].nnz;
  /* flops a row of the four steps: from zero 2, the second 4, the first after the correction 4, the second 6 */
  UNIT_EQUAL(0, info.dense);
  UNIT_EQUAL(0, info.waits);
  UNIT_CHECK(info.flops == 3 * 2 * a + 5 * (2 + 4 + 4 + 6) + 2 * a + 2 * 2 * p + 2 * 9);
  UNIT_CHECK(info.bytes >= (2 * 3 + 2 * 5) * 8 + 4 * 24 && info.bytes < 4096);
  cycle_engine_close(&e);
  cycle_case_free(&c);
}

UNIT_TEST(cycle_on_the_device_makes_levels_one_matrix)
{
  static const int64_t rows[]   = {-1, 16, 9, 8, 4, 0};
  static const int     levels[] = {4, 3, 3, 2, 0, 0};

  for (int i = 0; i < 6 && spmv_device_count(NULL); i++) {
    CycleSetup u    = cycle_setup();
    u.dense_rows    = rows[i];
    CycleCase     c = cycle_case(&u);
    CycleEngine   e;
    SpmvCycleInfo info;

    cycle_engine_open(&e, &c);
    spmv_cycle_info(e.cycle, &info);
    UNIT_EQUAL(levels[i], info.dense);
    cycle_engine_close(&e);
    cycle_case_free(&c);
  }
}
