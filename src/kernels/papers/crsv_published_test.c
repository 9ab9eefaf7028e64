/* Tests of the kernel of the paper on format crsv: its threads per row, and products by every variant. */
#include "unit.h"
#include "unit_plan.h"

/* [1 0 2; 0 0 0; 0 3 4] */
static const int32_t row_ptr[] = {0, 2, 2, 4}, col[] = {0, 2, 1, 2};
static const double  values[] = {1, 2, 3, 4}, x[] = {10, 100, 1000};

static SpmvCsr sample(void)
{
  return (SpmvCsr){.pattern = {.rows = 3, .cols = 3, .nnz = 4, .row_ptr = row_ptr, .col = col}, .values = values};
}

static int have_device(void) { return spmv_device_count(NULL) > 0; }

static UnitPlan build_on_device(const char *nt, const char *variant)
{
  const SpmvCsr csr = sample();
  return unit_plan(SPMV_DEVICE, "crsv", &csr, "nt=%s variant=%s", nt, variant);
}

static void check_view(const char *nt, const char *variant, const char *expected)
{
  UnitPlan b;

  if (!have_device()) return;
  b = build_on_device(nt, variant);
  UNIT_CONTAINS(expected, unit_view(&b));
  unit_plan_clear(&b);
}

UNIT_TEST(crsv_takes_the_threads_a_row_that_the_rule_gives)
{
  check_view("rule", "all", "threads per row: 2,"); /* 4 nonzeros in 3 rows: the next power of two is 2 */
  check_view("16", "all", "threads per row: 16,");
  check_view("auto", "shared", "threads per row: 2,");
  check_view("auto", "all", "streams in 1 blocks of 510");
}

static void check_device_product(const char *nt, const char *variant)
{
  const double alpha = 2, beta = -1;
  double       y[] = {1, 2, 3};
  void        *x_there, *y_there;
  UnitPlan     b;

  if (!have_device()) return;
  b = build_on_device(nt, variant);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(&b.exec, SPMV_DEVICE, sizeof x, "x", &x_there));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(&b.exec, SPMV_DEVICE, sizeof y, "y", &y_there));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(x_there, SPMV_DEVICE, x, SPMV_HOST, sizeof x, &b.exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(y_there, SPMV_DEVICE, y, SPMV_HOST, sizeof y, &b.exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_mult(b.plan, &alpha, x_there, &beta, y_there, NULL, &b.exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(y, SPMV_HOST, y_there, SPMV_DEVICE, sizeof y, &b.exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&b.exec));
  UNIT_CHECK(y[0] == 4019 && y[1] == -2 && y[2] == 8597);
  spmv_exec_free(&b.exec, SPMV_DEVICE, x_there);
  spmv_exec_free(&b.exec, SPMV_DEVICE, y_there);
  unit_plan_clear(&b);
}

UNIT_TEST(crsv_multiplies_by_every_kernel_of_the_paper)
{
  static const char *const threads[]  = {"rule", "1", "2", "4", "8", "16", "32"};
  static const char *const variants[] = {"all", "no_readonly", "outer_loop", "shared"};

  for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++)
    for (size_t v = 0; v < sizeof variants / sizeof variants[0]; v++) check_device_product(threads[t], variants[v]);
}
