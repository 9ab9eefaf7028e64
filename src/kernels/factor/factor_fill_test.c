/* Tests of factors with fill and in another order: they are those of the permuted matrix whose fill is stored as zeros, bit by
   bit, and with all fill they are exact. */
#include "emulated.h"
#include "factor_test.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int last_space(void) { return spmv_device_count(NULL) ? SPMV_DEVICE : SPMV_HOST; }

/* A matrix, and what the factor has of it: P A P^T on a pattern with fill, the zeros of which are stored */
typedef struct {
  FactorMatrix   a, filled; /* of `filled` the values are ones: it is made from a mask */
  double        *values;    /* [nonzeros of filled] */
  int32_t       *order;     /* NULL: natural */
  SpmvFactorFill fill;
} Case;

static int32_t entry_of(const FactorMatrix *m, int32_t row, int32_t col)
{
  for (int32_t k = m->row_ptr[row]; k < m->row_ptr[row + 1]; k++)
    if (m->col[k] == col) return k;
  return -1;
}

/* A permutation: rows far from each other follow each other */
static int32_t *stride_order(int32_t n)
{
  int32_t *order = calloc((size_t)n + 1, sizeof *order), at = 0;

  for (int32_t start = 0; start < 7; start++)
    for (int32_t i = n - 1 - start; i >= 0; i -= 7) order[at++] = i;
  return order;
}

/* The block of a row among `blocks` that are as equal as possible */
static int32_t block_of(int32_t n, int32_t blocks, int32_t row)
{
  int32_t block = 0, end = 0;

  while ((end += n / blocks + (n % blocks > block)) <= row) block++;
  return block;
}

/* density: of the fill, in percent. Sums of values have no rounding, so that shifts do not depend on the order. */
static Case case_of(int number, int symmetric, int ordered, int32_t blocks, int density)
{
  Case          c    = {.a = factor_matrix(number, symmetric)};
  const int32_t n    = c.a.n;
  double       *mask = calloc((size_t)n * (size_t)n + 1, sizeof *mask);
  uint32_t      seed = 5;

  for (int32_t k = 0; k < c.a.row_ptr[n]; k++) c.a.value[k] = rint(c.a.value[k] * 1024) / 1024;
  if (ordered) c.order = stride_order(n);
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++) {
      const int32_t row = ordered ? c.order[i] : i, col = ordered ? c.order[j] : j;
      seed = seed * 1664525u + 1013904223u;
      if (block_of(n, blocks, row) != block_of(n, blocks, col)) continue;
      if (entry_of(&c.a, row, col) >= 0 || (int)((seed >> 8) % 100) < density) mask[i * n + j] = 1;
      if (symmetric && mask[i * n + j] != 0) mask[j * n + i] = 1;
    }
  c.filled = factor_of_dense(n, mask);
  c.values = calloc((size_t)c.filled.row_ptr[n] + 1, sizeof *c.values);
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = c.filled.row_ptr[i]; k < c.filled.row_ptr[i + 1]; k++) {
      const int32_t j = c.filled.col[k], at = entry_of(&c.a, ordered ? c.order[i] : i, ordered ? c.order[j] : j);
      c.values[k] = at < 0 ? 0 : c.a.value[at];
    }
  c.fill = (SpmvFactorFill){c.filled.row_ptr, c.filled.col, c.order};
  free(mask);
  return c;
}

static void case_free(Case *c)
{
  factor_matrix_free(&c->a);
  factor_matrix_free(&c->filled);
  free(c->values);
  free(c->order);
}

/* to[i] = from[order[i]], for each of two vectors */
static double *permuted(const Case *c, const double *from, int vectors)
{
  const int32_t n  = c->a.n;
  double       *to = calloc((size_t)(n * vectors) + 1, sizeof *to);

  for (int32_t i = 0; i < n * vectors; i++) to[i] = from[i / n * n + (c->order ? c->order[i % n] : i % n)];
  return to;
}

static void check_case(Case *c, SpmvFactorOptions o, SpmvScalar scalar)
{
  SpmvFactorOptions plain = o;
  double           *b = factor_numbers(c->a.n, 11), *other = permuted(c, b, 1);

  plain.blocks     = 1;
  double *expected = factor_results(&c->filled, &plain, scalar, SPMV_HOST, c->values, other, 2);
  o.fill           = &c->fill;
  for (int space = SPMV_HOST; space <= last_space(); space++) {
    double *got = factor_results(&c->a, &o, scalar, (SpmvSpace)space, c->a.value, b, 2), *moved = permuted(c, got, 2);
    UNIT_CHECK(factor_same(expected, moved, 2 * c->a.n));
    free(got);
    free(moved);
  }
  free(expected);
  free(b);
  free(other);
}

UNIT_TEST(fill_and_order_give_the_factors_of_the_permuted_matrix)
{
  for (int number = 0; number < FACTOR_SHAPES + 8; number++)
    for (int kind = SPMV_FACTOR_ILU; kind <= SPMV_FACTOR_ICC; kind++)
      for (int ordered = 0; ordered < 2; ordered++) {
        SpmvFactorOptions o = factor_options((SpmvFactorKind)kind);

        o.shift  = (SpmvFactorShift)((number + kind) % 3);
        o.blocks = number % 4 == 3 ? 5 : 1;
        if (o.shift == SPMV_SHIFT_NONZERO) o.zero_pivot = o.shift_amount = 0.125;
        Case c = case_of(number, kind == SPMV_FACTOR_ICC, ordered, o.blocks, number % 3 * 8);
        for (int32_t k = 0; o.shift != SPMV_SHIFT_NONE && k < c.a.n; k += 5) {
          const int32_t row = k, at = entry_of(&c.a, row, row);
          c.a.value[at] = 0x1p-10;
          for (int32_t i = 0; i < c.a.n; i++)
            if ((c.order ? c.order[i] : i) == row) c.values[entry_of(&c.filled, i, i)] = 0x1p-10;
        }
        check_case(&c, o, (SpmvScalar)(number / 2 % 2));
        case_free(&c);
      }
}

UNIT_TEST(all_fill_gives_the_exact_factors)
{
  for (int kind = SPMV_FACTOR_ILU; kind <= SPMV_FACTOR_ICC; kind++)
    for (int space = SPMV_HOST; space <= last_space(); space++) {
      SpmvFactorOptions o = factor_options((SpmvFactorKind)kind);
      Case              c = case_of(9, kind == SPMV_FACTOR_ICC, 1, 1, 100);
      double           *b = factor_numbers(c.a.n, 3);

      o.fill    = &c.fill;
      double *x = factor_results(&c.a, &o, SPMV_F64, (SpmvSpace)space, c.a.value, b, 1);
      for (int32_t i = 0; i < c.a.n; i++) {
        double rest = b[i];
        for (int32_t k = c.a.row_ptr[i]; k < c.a.row_ptr[i + 1]; k++) rest -= c.a.value[k] * x[c.a.col[k]];
        UNIT_CHECK(fabs(rest) < 1e-12);
      }
      free(x);
      free(b);
      case_free(&c);
    }
}

UNIT_TEST(fill_that_does_not_fit_is_refused)
{
  static const struct {
    int         ordered, symmetric, kind;
    const char *message;
  } wrong[] = {{1, 0, SPMV_FACTOR_ILU, "order[1] is"},
               {0, 0, SPMV_FACTOR_ILU, "lacks 1 nonzeros of row 0"},
               {0, 1, SPMV_FACTOR_SOR, "it is SOR"}};

  for (int space = SPMV_HOST; space <= last_space(); space++)
    for (int i = 0; i < 3; i++) {
      Case              c = case_of(6, wrong[i].symmetric, wrong[i].ordered, 1, 0);
      SpmvFactorOptions o = factor_options((SpmvFactorKind)wrong[i].kind);
      FactorLife        l;

      if (wrong[i].ordered) c.order[1] = c.order[0];
      else c.filled.col[1] = 2; /* in place of 1 */
      o.fill = &c.fill;
      factor_open(&l, (SpmvSpace)space, NULL, &c.a, SPMV_F64);
      UNIT_EQUAL(SPMV_ERR_ARGUMENT, factor_make(&l, &c.a, &o));
      UNIT_CONTAINS(wrong[i].message, l.exec.message);
      UNIT_CHECK(!l.f);
      factor_close(&l);
      case_free(&c);
    }
}

/* Each allocation and each call of the device fails once */
static int make_with_fault(const Case *c, int space, int fault, int64_t fail_at)
{
  SpmvFactorOptions o = factor_options(SPMV_FACTOR_ILU);
  Hooks             hooks;
  FactorLife        l;
  int               failed = 0;

  o.fill = &c->fill;
  hooks_init(&hooks);
  factor_open(&l, (SpmvSpace)space, &hooks, &c->a, SPMV_F64);
  if (fault <= SPMV_DEVICE) hooks_counter(&hooks, (SpmvSpace)fault)->fail_at = fail_at;
#ifdef EMULATED
  else (void)spmv_emulator_fail_after((int)fail_at - 1);
#endif
  const SpmvStatus status = factor_make(&l, &c->a, &o);
  if (fault <= SPMV_DEVICE) failed = hooks_counter(&hooks, (SpmvSpace)fault)->calls >= fail_at;
#ifdef EMULATED
  else failed = spmv_emulator_fail_after(-1);
#endif
  UNIT_CHECK(failed || !status);
  UNIT_CHECK(!status == (l.f != NULL));
  factor_close(&l);
  UNIT_CHECK(hooks_clean(&hooks));
  hooks_drop(&hooks);
  return failed;
}

UNIT_TEST(faults_with_fill_leave_nothing)
{
#ifdef EMULATED
  const int faults = SPMV_DEVICE + 1; /* also the calls of the device */
#else
  const int faults = SPMV_DEVICE;
#endif
  Case c = case_of(8, 0, 1, 1, 10);

  for (int space = SPMV_HOST; space <= last_space(); space++)
    for (int fault = SPMV_HOST; fault <= (space ? faults : space); fault++) {
      int64_t fail_at = 1;

      while (make_with_fault(&c, space, fault, fail_at) && fail_at < 200) fail_at++;
      UNIT_CHECK(fail_at > 2 && fail_at < 200);
    }
  case_free(&c);
}
