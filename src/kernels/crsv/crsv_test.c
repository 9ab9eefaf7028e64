/* Tests of format crsv by hand: its memory report, and that it works on the caller's arrays, also after new values. */
#include "unit.h"
#include "unit_plan.h"

/* [1 0 2; 0 0 0; 0 3 4] */
static const int32_t row_ptr[] = {0, 2, 2, 4}, col[] = {0, 2, 1, 2};
static const double  values[] = {1, 2, 3, 4}, new_values[] = {5, 6, 7, 8}, x[] = {10, 100, 1000};

static SpmvCsr sample(void)
{
  return (SpmvCsr){.pattern = {.rows = 3, .cols = 3, .nnz = 4, .row_ptr = row_ptr, .col = col}, .values = values};
}

static UnitPlan build(void)
{
  const SpmvCsr csr = sample();
  return unit_plan(SPMV_HOST, "crsv", &csr, "%s", "");
}

UNIT_TEST(crsv_reports_the_arrays_of_csr)
{
  UnitPlan          b      = build();
  const SpmvMemory *memory = &b.plan->memory;

  UNIT_EQUAL(3, memory->count);
  UNIT_EQUAL(4 * 8 + 4 * 4 + 4 * 4, memory->total_bytes);
  UNIT_EQUAL(memory->csr_bytes, memory->total_bytes);
  UNIT_EQUAL(0, memory->work_bytes);
  unit_plan_clear(&b);
}

UNIT_TEST(crsv_multiplies_with_the_values_it_was_given_last)
{
  const double alpha = 2, beta = -1;
  double       y[] = {1, 2, 3};
  UnitPlan     b   = build();

  UNIT_EQUAL(SPMV_SUCCESS, spmv_mult(b.plan, &alpha, x, &beta, y, NULL, &b.exec));
  UNIT_CHECK(y[0] == 4019 && y[1] == -2 && y[2] == 8597);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_update_values(b.plan, new_values, SPMV_HOST, &b.exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_mult(b.plan, &alpha, x, &beta, y, NULL, &b.exec));
  UNIT_CHECK(y[0] == 12100 - 4019 && y[1] == 2 && y[2] == 17400 - 8597);
  unit_plan_clear(&b);
}

UNIT_TEST(crsv_refuses_values_from_another_space)
{
  UnitPlan b = build();

  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_update_values(b.plan, new_values, SPMV_DEVICE, &b.exec));
  UNIT_CONTAINS("values on the host", b.exec.message);
  unit_plan_clear(&b);
}
