/* Format crsv by hand: what it reports, and that it works on the caller's arrays, old and new. */
#include "unit.h"
#include <spmv_kernels.h>
#include <string.h>

/* [1 0 2; 0 0 0; 0 3 4] */
static const int32_t row_ptr[] = {0, 2, 2, 4}, col[] = {0, 2, 1, 2};
static const double  values[] = {1, 2, 3, 4}, new_values[] = {5, 6, 7, 8}, x[] = {10, 100, 1000};

static SpmvPlan *build_sample(SpmvExec *exec)
{
  const SpmvFormat *crsv = spmv_format_find("crsv");
  const SpmvCsr     csr  = {
           .pattern = {.rows = 3, .cols = 3, .nnz = 4, .index_type = SPMV_I32, .row_ptr = row_ptr, .col = col},
           .values  = values,
  };
  SpmvOptions  options;
  SpmvAnalysis analysis;
  SpmvPlan    *plan = NULL;

  spmv_exec_init(exec, SPMV_HOST);
  spmv_options_init(&options, crsv);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_analyze(crsv, &csr.pattern, SPMV_F64, &options, exec, &analysis));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_build(&csr, &analysis, exec, &plan));
  spmv_analysis_clear(&analysis, exec);
  return plan;
}

UNIT_TEST(crsv_reports_the_arrays_of_csr)
{
  SpmvExec   exec;
  SpmvPlan  *plan = build_sample(&exec);
  SpmvMemory memory;

  UNIT_EQUAL(SPMV_SUCCESS, plan->format->memory(plan, &memory));
  UNIT_EQUAL(3, memory.count);
  UNIT_EQUAL(4 * 8 + 4 * 4 + 4 * 4, memory.total_bytes);
  UNIT_EQUAL(memory.csr_bytes, memory.total_bytes);
  UNIT_EQUAL(0, memory.work_bytes);
  plan->format->destroy(&plan);
}

UNIT_TEST(crsv_multiplies_with_the_values_it_was_given_last)
{
  const double alpha = 2, beta = -1;
  double       y[] = {1, 2, 3};
  SpmvExec     exec;
  SpmvPlan    *plan = build_sample(&exec);

  UNIT_EQUAL(SPMV_SUCCESS, plan->format->mult(plan, &alpha, x, &beta, y, NULL, &exec));
  UNIT_CHECK(y[0] == 4019 && y[1] == -2 && y[2] == 8597);
  UNIT_EQUAL(SPMV_SUCCESS, plan->format->update_values(plan, new_values, SPMV_HOST, &exec));
  UNIT_EQUAL(SPMV_SUCCESS, plan->format->mult(plan, &alpha, x, &beta, y, NULL, &exec));
  UNIT_CHECK(y[0] == 12100 - 4019 && y[1] == 2 && y[2] == 17400 - 8597);
  plan->format->destroy(&plan);
}

UNIT_TEST(crsv_refuses_values_from_another_space)
{
  SpmvExec  exec;
  SpmvPlan *plan = build_sample(&exec);

  UNIT_EQUAL(SPMV_ERR_ARGUMENT, plan->format->update_values(plan, new_values, SPMV_DEVICE, &exec));
  UNIT_CONTAINS("space of the plan", exec.message);
  plan->format->destroy(&plan);
}

/* A plan of the sample on the device, or NULL where there is none */
static SpmvPlan *build_on_device(SpmvExec *exec, const char *nt, const char *variant)
{
  const SpmvFormat *crsv = spmv_format_find("crsv");
  const SpmvCsr     csr  = {
           .pattern = {.rows = 3, .cols = 3, .nnz = 4, .index_type = SPMV_I32, .row_ptr = row_ptr, .col = col},
           .values  = values,
  };
  SpmvOptions  options;
  SpmvAnalysis analysis;
  SpmvPlan    *plan = NULL;

  if (!(crsv->caps & SPMV_CAP_DEVICE) || spmv_device_count(NULL) == 0) return NULL;
  spmv_exec_init(exec, SPMV_DEVICE);
  spmv_options_init(&options, crsv);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_options_set_text(&options, "nt", nt, exec->message));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_options_set_text(&options, "variant", variant, exec->message));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_analyze(crsv, &csr.pattern, SPMV_F64, &options, exec, &analysis));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_build(&csr, &analysis, exec, &plan));
  spmv_analysis_clear(&analysis, exec);
  return plan;
}

static void keep_line(void *text, const char *line) { strncat(text, line, SPMV_MESSAGE_MAX - 1 - strlen(text)); }

static void check_view(const char *nt, const char *expected)
{
  char      text[SPMV_MESSAGE_MAX] = "";
  SpmvExec  exec;
  SpmvPlan *plan = build_on_device(&exec, nt, "all");

  if (!plan) return;
  plan->format->view(plan, keep_line, text);
  UNIT_CONTAINS(expected, text);
  plan->format->destroy(&plan);
}

UNIT_TEST(crsv_takes_the_threads_a_row_that_the_rule_gives)
{
  check_view("rule", "threads a row: 2,"); /* 4 nonzeros in 3 rows: the next power of two is 2 */
  check_view("16", "threads a row: 16,");
  check_view("auto", "streams in 1 blocks of 512");
}

static void check_device_product(const char *nt, const char *variant)
{
  const double alpha = 2, beta = -1;
  double       y[] = {1, 2, 3};
  void        *x_there, *y_there;
  SpmvExec     exec;
  SpmvPlan    *plan = build_on_device(&exec, nt, variant);

  if (!plan) return;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(&exec, SPMV_DEVICE, sizeof x, "x", &x_there));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(&exec, SPMV_DEVICE, sizeof y, "y", &y_there));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(x_there, SPMV_DEVICE, x, SPMV_HOST, sizeof x, &exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(y_there, SPMV_DEVICE, y, SPMV_HOST, sizeof y, &exec));
  UNIT_EQUAL(SPMV_SUCCESS, plan->format->mult(plan, &alpha, x_there, &beta, y_there, NULL, &exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(y, SPMV_HOST, y_there, SPMV_DEVICE, sizeof y, &exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&exec));
  UNIT_CHECK(y[0] == 4019 && y[1] == -2 && y[2] == 8597);
  spmv_exec_free(&exec, SPMV_DEVICE, x_there);
  spmv_exec_free(&exec, SPMV_DEVICE, y_there);
  plan->format->destroy(&plan);
}

UNIT_TEST(crsv_multiplies_by_every_kernel_of_the_paper)
{
  static const char *const threads[]  = {"rule", "1", "2", "4", "8", "16", "32"};
  static const char *const variants[] = {"all", "no_readonly", "outer_loop", "shared"};

  for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++)
    for (size_t v = 0; v < sizeof variants / sizeof variants[0]; v++) check_device_product(threads[t], variants[v]);
}
