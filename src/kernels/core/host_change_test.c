/* Tests of changes of a CSR on the host: the steps in their order, each of them rounded, and no entry made. */
#include "unit.h"
#include <spmv_values.h>

enum { ROWS = 3, NONZEROS = 5 };

/* Without an entry in the diagonal of row 1 */
static const int32_t row_ptr[ROWS + 1] = {0, 2, 3, NONZEROS}, col[NONZEROS] = {0, 1, 2, 0, 2};

static void change(const SpmvChange *step, double values[NONZEROS])
{
  const SpmvPattern p = {.rows       = ROWS,
                         .cols       = ROWS,
                         .nnz        = NONZEROS,
                         .index_type = SPMV_I32,
                         .space      = SPMV_HOST,
                         .row_ptr    = row_ptr,
                         .col        = col};
  SpmvExec          exec;

  spmv_exec_init(&exec, SPMV_HOST);
  for (int k = 0; k < NONZEROS; k++) values[k] = k + 1;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_host_change(&p, SPMV_F64, step, values, &exec));
}

UNIT_TEST(host_change_takes_every_step_in_order)
{
  const double     alpha = 2, shift = 5, left[] = {1, 10, 100}, right[] = {1, 2, 3}, added[] = {7, 8, 9};
  const SpmvChange steps = {.alpha = &alpha, .shift = &shift, .left = left, .right = right, .added = added};
  double           values[NONZEROS];

  change(&steps, values);
  UNIT_ARRAY(double, values, 2 + 5 + 7, 8, 180, 800, 3000 + 5 + 9);
}

UNIT_TEST(host_change_inserts_a_diagonal)
{
  const double     shift = 5, inserted[] = {-1, -2, -3};
  const SpmvChange steps = {.shift = &shift, .inserted = inserted};
  double           values[NONZEROS];

  change(&steps, values);
  UNIT_ARRAY(double, values, -1, 2, 3, 4, -3);
}

UNIT_TEST(host_change_without_steps_changes_nothing)
{
  const SpmvChange none = {.alpha = NULL};
  double           values[NONZEROS];

  change(&none, values);
  UNIT_ARRAY(double, values, 1, 2, 3, 4, 5);
}
