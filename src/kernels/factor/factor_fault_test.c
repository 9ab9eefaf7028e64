/* Tests of factorizations that fail: pivots and shifts, patterns, arguments, memory and calls that are refused. */
#include "emulated.h"
#include "factor_test.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int last_space(void) { return spmv_device_count(NULL) ? SPMV_DEVICE : SPMV_HOST; }

static SpmvFactorOptions options_of(SpmvFactorKind kind, SpmvFactorShift shift)
{
  SpmvFactorOptions o;

  spmv_factor_options_init(&o);
  o.kind  = kind;
  o.shift = shift;
  return o;
}

/* ---- pivots ---- */

typedef struct {
  SpmvStatus     status;
  char           message[SPMV_MESSAGE_MAX];
  SpmvFactorInfo info;
} Outcome;

static Outcome factor_dense(int32_t n, const double *dense, const SpmvFactorOptions *o, SpmvScalar scalar, int space)
{
  FactorMatrix m = factor_of_dense(n, dense);
  Outcome      out;
  FactorLife   l;

  factor_open(&l, (SpmvSpace)space, NULL, &m, scalar);
  UNIT_EQUAL(SPMV_SUCCESS, factor_make(&l, &m, o));
  factor_set(&l, m.value, NULL, NULL);
  out.status = spmv_factor_numeric(l.f, l.values, &l.exec);
  memcpy(out.message, l.exec.message, sizeof out.message);
  spmv_factor_info(l.f, &out.info);
  UNIT_EQUAL(out.status ? SPMV_ERR_ARGUMENT : SPMV_SUCCESS,
             factor_do(&l, o->kind == SPMV_FACTOR_SOR ? FACTOR_FORWARD : FACTOR_SOLVE, 1, 1));
  factor_close(&l);
  factor_matrix_free(&m);
  return out;
}

UNIT_TEST(a_zero_pivot_names_its_row)
{
  const double ones[] = {1, 1, 0, 1, 1, 0, 0, 0, 0}, zero[] = {0};

  for (int space = SPMV_HOST; space <= last_space(); space++)
    for (int kind = SPMV_FACTOR_ILU; kind <= SPMV_FACTOR_SOR; kind++)
      for (int scalar = SPMV_F64; scalar <= SPMV_F32; scalar++) {
        const SpmvFactorOptions o     = options_of((SpmvFactorKind)kind, SPMV_SHIFT_NONE);
        const int               first = kind == SPMV_FACTOR_SOR ? 2 : 1;
        Outcome                 out   = factor_dense(3, ones, &o, (SpmvScalar)scalar, space);
        UNIT_EQUAL(SPMV_ERR_MATRIX, out.status);
        UNIT_CONTAINS(first == 2 ? "row 2: the pivot 0 is too small" : "row 1: the pivot 0 is too small", out.message);
        UNIT_CHECK(out.info.zero_row == first && out.info.zero_pivot == 0 && out.info.factorizations == 0);
        out = factor_dense(1, zero, &o, (SpmvScalar)scalar, space);
        UNIT_CHECK(out.status == SPMV_ERR_MATRIX && out.info.zero_row == 0);
      }
}

/* Shifts worked out by hand, with PETSc's rules */
UNIT_TEST(shifts_follow_the_rules_of_petsc)
{
  const double indefinite[] = {1, 2, 2, 1}, no_pivot[] = {0, 1, 1, 1};

  for (int space = SPMV_HOST; space <= last_space(); space++) {
    SpmvFactorOptions o   = options_of(SPMV_FACTOR_ICC, SPMV_SHIFT_POSITIVE_DEFINITE);
    Outcome           out = factor_dense(2, indefinite, &o, SPMV_F64, space);
    /* the shift 1.1 would do; 1/2, 3/4 and 7/8 of it are too little, 15/16 is enough */
    UNIT_CHECK(!out.status && out.info.shifts == 4 && fabs(out.info.shift - 1.1 * 15 / 16) < 1e-15);
    /* ILU tries 29/32 then, which is too little */
    o.kind = SPMV_FACTOR_ILU;
    out    = factor_dense(2, indefinite, &o, SPMV_F64, space);
    UNIT_CHECK(!out.status && out.info.shifts == 6 && fabs(out.info.shift - 1.1 * 15 / 16) < 1e-15);
    /* 1 is too small by zero_pivot, 2 is not */
    o              = options_of(SPMV_FACTOR_ILU, SPMV_SHIFT_NONZERO);
    o.shift_amount = o.zero_pivot = 0x1p-10;
    out                           = factor_dense(2, no_pivot, &o, SPMV_F64, space);
    UNIT_CHECK(!out.status && out.info.shifts == 2 && out.info.shift == 0x1p-9);
  }
}

UNIT_TEST(no_shift_helps_against_infinity)
{
  const double infinite[] = {-1, INFINITY, INFINITY, 1}, nan[] = {NAN, 1, 1, 1};

  for (int space = SPMV_HOST; space <= last_space(); space++) {
    SpmvFactorOptions o   = options_of(SPMV_FACTOR_ICC, SPMV_SHIFT_POSITIVE_DEFINITE);
    Outcome           out = factor_dense(2, infinite, &o, SPMV_F64, space);
    UNIT_EQUAL(SPMV_ERR_MATRIX, out.status);
    out = factor_dense(2, nan, &o, SPMV_F64, space); /* NaN is no small pivot, as in PETSc */
    UNIT_CHECK(!out.status && out.info.shifts == 0);
    o   = options_of(SPMV_FACTOR_ILU, SPMV_SHIFT_NONZERO);
    out = factor_dense(2, infinite, &o, SPMV_F64, space);
    UNIT_EQUAL(SPMV_ERR_MATRIX, out.status);
  }
}

/* ---- patterns and arguments ---- */

static void check_refused(SpmvStatus expected, const char *part, const SpmvPattern *p, const SpmvFactorOptions *o)
{
  SpmvFactorization *f;
  SpmvExec           exec;

  spmv_exec_init(&exec, SPMV_HOST);
  UNIT_EQUAL(expected, spmv_factor_create(p, SPMV_F64, o, &exec, &f));
  UNIT_CONTAINS(part, exec.message);
  UNIT_CHECK(!f);
}

UNIT_TEST(patterns_without_sense_are_refused)
{
  const int32_t     empty_row[] = {0, 1, 1, 2}, missing[] = {0, 1, 2, 3}, col[] = {0, 2, 2}, unsorted[] = {0, 2, 2};
  const int32_t     twice[] = {1, 0};
  SpmvPattern       p       = {3, 3, 2, SPMV_I32, SPMV_HOST, empty_row, col};
  SpmvFactorOptions o       = options_of(SPMV_FACTOR_ILU, SPMV_SHIFT_NONE);

  check_refused(SPMV_ERR_MATRIX, "row 1 has no diagonal entry", &p, &o);
  p.nnz     = 3;
  p.row_ptr = missing;
  check_refused(SPMV_ERR_MATRIX, "row 1 has no diagonal entry", &p, &o);
  p.cols = 4;
  check_refused(SPMV_ERR_ARGUMENT, "3 x 4", &p, &o);
  p = (SpmvPattern){2, 2, 2, SPMV_I32, SPMV_HOST, unsorted, twice};
  check_refused(SPMV_ERR_MATRIX, "column 0 follows 1", &p, &o);
  p.index_type = SPMV_I64;
  check_refused(SPMV_ERR_UNSUPPORTED, "32 bits", &p, &o);
  p.space = SPMV_DEVICE;
  check_refused(SPMV_ERR_ARGUMENT, "host memory", &p, &o);
  o.kind = (SpmvFactorKind)3;
  check_refused(SPMV_ERR_ARGUMENT, "kind 3", &p, &o);
  o            = options_of(SPMV_FACTOR_ILU, SPMV_SHIFT_NONE);
  o.zero_pivot = NAN;
  check_refused(SPMV_ERR_ARGUMENT, "zero_pivot is nan", &p, &o);
}

UNIT_TEST(calls_without_sense_are_refused)
{
  for (int space = SPMV_HOST; space <= last_space(); space++) {
    FactorMatrix      m = factor_matrix(3, 0);
    SpmvFactorOptions o = options_of(SPMV_FACTOR_ILU, SPMV_SHIFT_NONE);
    FactorLife        l;

    factor_open(&l, (SpmvSpace)space, NULL, &m, SPMV_F64);
    factor_set(&l, m.value, m.value, m.value);
    UNIT_EQUAL(SPMV_SUCCESS, factor_make(&l, &m, &o));
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, factor_do(&l, FACTOR_SOLVE, 1, 1));
    UNIT_CONTAINS("has no values", l.exec.message);
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_factor_numeric(l.f, NULL, &l.exec));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_factor_numeric(l.f, l.values, &l.exec));
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, factor_do(&l, FACTOR_SOLVE_T, 1, 1));
    UNIT_CONTAINS("transposes", l.exec.message);
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, factor_do(&l, FACTOR_FORWARD, 1, 1));
    UNIT_CONTAINS("no sweeps", l.exec.message);
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_factor_solve(l.f, 0, NULL, l.x, &l.exec));
    l.exec.space = (SpmvSpace)!space;
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_factor_solve(l.f, 0, l.b, l.x, &l.exec));
    l.exec.space = (SpmvSpace)space;
    spmv_factor_destroy(&l.f);
    o.kind = SPMV_FACTOR_SOR;
    UNIT_EQUAL(SPMV_SUCCESS, factor_make(&l, &m, &o));
    UNIT_EQUAL(SPMV_SUCCESS, spmv_factor_numeric(l.f, l.values, &l.exec));
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, factor_do(&l, FACTOR_SOLVE, 1, 1));
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_factor_sor(l.f, (SpmvSorSweep)3, 1, 1, l.b, l.x, &l.exec));
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_factor_sor(l.f, SPMV_SOR_FORWARD, 1, 1, l.x, l.x, &l.exec));
    factor_close(&l);
    factor_matrix_free(&m);
  }
}

/* ---- refused memory and calls ---- */

/* What has arrays of its own: each kind; transposes, blocks of rows, nodes */
static const SpmvFactorOptions lives[] = {{.kind = SPMV_FACTOR_ILU, .shift_amount = 1},
                                          {.kind = SPMV_FACTOR_ICC, .shift_amount = 1},
                                          {.kind = SPMV_FACTOR_SOR, .shift_amount = 1},
                                          {.kind = SPMV_FACTOR_ILU, .shift_amount = 1, .transposes = 1},
                                          {.kind = SPMV_FACTOR_ILU, .shift_amount = 1, .transposes = 1, .blocks = 3},
                                          {.kind = SPMV_FACTOR_ICC, .shift_amount = 1, .blocks = 3},
                                          {.kind = SPMV_FACTOR_SOR, .shift_amount = 1, .node_rows = 3}};
enum { LIVES = sizeof lives / sizeof *lives };

static FactorAction action_of(const SpmvFactorOptions *o)
{
  return o->kind == SPMV_FACTOR_SOR ? FACTOR_SYMMETRIC : o->transposes ? FACTOR_SOLVE_T : FACTOR_SOLVE;
}

/* Everything from the creation to a solve or a sweep, up to the first failure */
static SpmvStatus live(FactorLife *l, const FactorMatrix *m, const SpmvFactorOptions *o)
{
  SpmvStatus status = factor_make(l, m, o);

  if (!status) status = spmv_factor_numeric(l->f, l->values, &l->exec);
  if (!status) status = factor_do(l, action_of(o), 1, 0);
  if (!status && l->exec.space == SPMV_DEVICE) status = spmv_stream_wait(&l->exec);
  return status;
}

static void fail_each_allocation(const SpmvFactorOptions *o, SpmvSpace space, SpmvSpace fault)
{
  FactorMatrix m       = factor_matrix(8, o->kind == SPMV_FACTOR_ICC);
  int64_t      fail_at = 0, calls;

  do {
    Hooks      hooks;
    FactorLife l;

    hooks_init(&hooks);
    factor_open(&l, space, &hooks, &m, SPMV_F64);
    factor_set(&l, m.value, m.value, m.value);
    hooks_counter(&hooks, fault)->fail_at = ++fail_at;
    const SpmvStatus status               = live(&l, &m, o);
    calls                                 = hooks_counter(&hooks, fault)->calls;
    UNIT_EQUAL(calls >= fail_at ? SPMV_ERR_MEMORY : SPMV_SUCCESS, status);
    factor_close(&l);
    UNIT_CHECK(hooks_clean(&hooks));
    hooks_drop(&hooks);
  } while (calls >= fail_at && fail_at < 20);
  UNIT_CHECK(fail_at > 1 && fail_at < 20);
  factor_matrix_free(&m);
}

UNIT_TEST(lack_of_memory_leaves_nothing)
{
  for (int i = 0; i < LIVES; i++)
    for (int space = SPMV_HOST; space <= last_space(); space++)
      for (int fault = SPMV_HOST; fault <= space; fault++)
        fail_each_allocation(&lives[i], (SpmvSpace)space, (SpmvSpace)fault);
}

#ifdef EMULATED
/* Each launch, copy and wait fails once; afterwards the same object works, as far as it was made */
UNIT_TEST(a_failing_call_of_the_device_is_passed_on)
{
  for (int i = 0; i < LIVES && last_space() == SPMV_DEVICE; i++) {
    const SpmvFactorOptions o      = lives[i];
    FactorMatrix            m      = factor_matrix(8, o.kind == SPMV_FACTOR_ICC);
    int                     errors = 0, calls = 0, failed = 1;
    double                 *first = NULL;

    for (; failed && calls < 200; calls++) {
      Hooks      hooks;
      FactorLife l;

      hooks_init(&hooks);
      factor_open(&l, SPMV_DEVICE, &hooks, &m, SPMV_F64);
      factor_set(&l, m.value, m.value, m.value);
      (void)spmv_emulator_fail_after(calls);
      const SpmvStatus status = live(&l, &m, &o);
      failed                  = spmv_emulator_fail_after(-1);
      UNIT_CHECK(failed || !status); /* a free that fails is passed on by nobody */
      errors += status != SPMV_SUCCESS;
      if (status) {
        UNIT_CHECK(l.exec.message[0]);
        factor_set(&l, NULL, NULL, m.value);
        if (l.f) UNIT_EQUAL(SPMV_SUCCESS, spmv_factor_numeric(l.f, l.values, &l.exec));
        else UNIT_EQUAL(SPMV_SUCCESS, live(&l, &m, &o));
        factor_set(&l, NULL, NULL, m.value);
        UNIT_EQUAL(SPMV_SUCCESS, factor_do(&l, action_of(&o), 1, 0));
      }
      double *x = factor_x(&l);
      if (!first) first = x;
      else {
        UNIT_CHECK(!memcmp(first, x, (size_t)m.n * sizeof *x));
        free(x);
      }
      factor_close(&l);
      UNIT_CHECK(hooks_clean(&hooks));
      hooks_drop(&hooks);
    }
    UNIT_CHECK(errors > 15 && calls < 200);
    free(first);
    factor_matrix_free(&m);
  }
}
#endif

UNIT_TEST(factorizations_on_a_device_that_is_not_there)
{
  const int32_t           row_ptr[] = {0};
  const SpmvPattern       p         = {0, 0, 0, SPMV_I32, SPMV_HOST, row_ptr, NULL};
  const SpmvFactorOptions o         = options_of(SPMV_FACTOR_ILU, SPMV_SHIFT_NONE);
  SpmvFactorization      *f;
  SpmvExec                exec;

  spmv_exec_init(&exec, SPMV_DEVICE);
  if (spmv_device_count(NULL)) return;
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_factor_create(&p, SPMV_F64, &o, &exec, &f));
  UNIT_CHECK(exec.message[0] && !f);
}
