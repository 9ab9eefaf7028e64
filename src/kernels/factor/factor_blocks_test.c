/* Tests of factors in blocks of rows: they are those of the matrix without its entries between blocks, bit by bit. */
#include "factor_test.h"
#include "unit.h"
#include <stdlib.h>

static int last_space(void) { return spmv_device_count(NULL) ? SPMV_DEVICE : SPMV_HOST; }

/* The matrix without its entries between blocks, of the lengths of PETSc's PCBJACOBI */
static FactorMatrix block_diagonal(const FactorMatrix *m, int32_t blocks, int32_t unit)
{
  const int32_t units = m->n / unit;
  double       *dense = calloc((size_t)m->n * (size_t)m->n + 1, sizeof *dense);
  int32_t       first = 0;

  for (int32_t i = 0; i < blocks; i++) {
    const int32_t end = first + unit * (units / blocks + (units % blocks > i));
    for (int32_t row = first; row < end; row++)
      for (int32_t k = m->row_ptr[row]; k < m->row_ptr[row + 1]; k++)
        if (m->col[k] >= first && m->col[k] < end) dense[row * m->n + m->col[k]] = m->value[k];
    first = end;
  }
  const FactorMatrix cut = factor_of_dense(m->n, dense);
  free(dense);
  return cut;
}

static int64_t shifts_of(const FactorMatrix *m, const SpmvFactorOptions *o, SpmvScalar scalar)
{
  SpmvFactorInfo info;
  FactorLife     l;

  factor_open(&l, SPMV_HOST, NULL, m, scalar);
  UNIT_EQUAL(SPMV_SUCCESS, factor_make(&l, m, o));
  factor_set(&l, m->value, NULL, NULL);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_factor_numeric(l.f, l.values, &l.exec));
  spmv_factor_info(l.f, &info);
  factor_close(&l);
  return info.shifts;
}

/* shifted: some pivots are small, so that shifts are those of the whole block diagonal matrix. Returns their number. */
static int64_t check_blocks(int number, SpmvFactorOptions o, SpmvScalar scalar, int shifted)
{
  FactorMatrix m      = factor_matrix(number, o.kind == SPMV_FACTOR_ICC);
  int64_t      shifts = 0;

  for (int32_t i = 0; shifted && i < m.n; i += 5)
    for (int32_t k = m.row_ptr[i]; k < m.row_ptr[i + 1]; k++)
      if (m.col[k] == i) m.value[k] = 1e-6;
  if (m.n % o.unit_rows == 0) {
    FactorMatrix            cut   = block_diagonal(&m, o.blocks, o.unit_rows);
    const SpmvFactorOptions whole = {
        .kind = o.kind, .shift = o.shift, .zero_pivot = o.zero_pivot, .shift_amount = o.shift_amount, .transposes = 1};
    double *b = factor_numbers(m.n, 11), *expected = factor_results(&cut, &whole, scalar, SPMV_HOST, cut.value, b, 2);

    for (int space = SPMV_HOST; space <= last_space(); space++) {
      double *got = factor_results(&m, &o, scalar, (SpmvSpace)space, m.value, b, 2);
      UNIT_CHECK(factor_same(expected, got, 2 * m.n));
      free(got);
    }
    shifts = shifts_of(&m, &o, scalar);
    free(expected);
    free(b);
    factor_matrix_free(&cut);
  }
  factor_matrix_free(&m);
  return shifts;
}

UNIT_TEST(blocks_are_factors_of_the_block_diagonal_matrix)
{
  int64_t shifts[3] = {0, 0, 0};

  for (int number = 0; number < FACTOR_SHAPES + 12; number++)
    for (int kind = SPMV_FACTOR_ILU; kind <= SPMV_FACTOR_ICC; kind++)
      for (int shift = SPMV_SHIFT_NONE; shift <= SPMV_SHIFT_POSITIVE_DEFINITE; shift++) {
        SpmvFactorOptions o = factor_options((SpmvFactorKind)kind);

        o.shift     = (SpmvFactorShift)shift;
        o.blocks    = 2 + (number + shift) % 9 * 3;
        o.unit_rows = 1 + number % 2;
        if (shift == SPMV_SHIFT_NONZERO) o.zero_pivot = o.shift_amount = 0.01;
        shifts[shift] += check_blocks(number, o, (SpmvScalar)(number / 2 % 2), shift != SPMV_SHIFT_NONE);
      }
  UNIT_CHECK(shifts[0] == 0 && shifts[1] > 10 && shifts[2] > 10);
}

UNIT_TEST(divisions_that_do_not_fit_are_refused)
{
  const FactorMatrix      m         = factor_matrix(6, 0);
  const SpmvFactorOptions wrong[]   = {{.kind = SPMV_FACTOR_SOR, .shift_amount = 1, .blocks = 2},
                                       {.shift_amount = 1, .blocks = -1},
                                       {.shift_amount = 1, .blocks = 2, .unit_rows = -1},
                                       {.shift_amount = 1, .blocks = 2, .unit_rows = 2}}; /* of 289 rows */
  const char *const       message[] = {"SOR in 2 blocks", "in -1 blocks", "units of -1 rows", "the 289 rows"};

  for (int i = 0; i < 4; i++) {
    FactorLife l;

    factor_open(&l, (SpmvSpace)last_space(), NULL, &m, SPMV_F64);
    UNIT_EQUAL(SPMV_ERR_ARGUMENT, factor_make(&l, &m, &wrong[i]));
    UNIT_CONTAINS(message[i], l.exec.message);
    factor_close(&l);
  }
  factor_matrix_free((FactorMatrix *)&m);
}
