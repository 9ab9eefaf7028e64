/* Tests of the argument checks of analyze and build, of the common part of plans, and of memory reports. */
#include "hooks.h"
#include "sample_format.h"
#include "unit.h"
#include <string.h>

static const int32_t row_ptr[] = {0, 2, 3}, col[] = {0, 2, 1};
static const double  values[] = {1, 2, 3};

static SpmvCsr two_by_three(void)
{
  return (SpmvCsr){
      .pattern = {.rows = 2, .cols = 3, .nnz = 3, .index_type = SPMV_I32, .row_ptr = row_ptr, .col = col},
      .values  = values,
  };
}

typedef struct {
  SpmvFormat   format;
  SpmvOptions  options;
  SpmvCsr      csr;
  Hooks        hooks;
  SpmvExec     exec;
  SpmvAnalysis analysis;
} Setting;

static void start(Setting *s)
{
  memset(s, 0, sizeof *s);
  memset(sample_calls(), 0, sizeof *sample_calls());
  s->format = sample_format();
  spmv_options_init(&s->options, &s->format);
  s->csr = two_by_three();
  hooks_init(&s->hooks);
  hooks_exec(&s->hooks, SPMV_HOST, NULL, &s->exec);
}

static SpmvStatus run_analyze(Setting *s)
{
  return spmv_analyze(&s->format, &s->csr.pattern, s->csr.scalar_type, &s->options, &s->exec, &s->analysis);
}

static void refused(Setting *s, SpmvStatus expected, const char *message)
{
  UNIT_EQUAL(expected, run_analyze(s));
  UNIT_CONTAINS(message, s->exec.message);
  UNIT_EQUAL(0, sample_calls()->analyze);
}

UNIT_TEST(csr_bytes_count_values_columns_and_pointers)
{
  SpmvPattern p = {.rows = 10, .cols = 5, .nnz = 7, .index_type = SPMV_I32};

  UNIT_EQUAL(7 * 12 + 11 * 4, spmv_csr_bytes(&p, SPMV_F64));
  UNIT_EQUAL(7 * 8 + 11 * 4, spmv_csr_bytes(&p, SPMV_F32));
  p.index_type = SPMV_I64;
  UNIT_EQUAL(7 * 16 + 11 * 8, spmv_csr_bytes(&p, SPMV_F64));
  p.nnz = (int64_t)1 << 40;
  UNIT_EQUAL(((int64_t)1 << 44) + 88, spmv_csr_bytes(&p, SPMV_F64));
}

UNIT_TEST(analyze_fills_the_common_part_first)
{
  Setting s;

  start(&s);
  strcpy(s.exec.message, "an old failure");
  UNIT_EQUAL(SPMV_SUCCESS, run_analyze(&s));
  UNIT_TEXT("", s.exec.message);
  UNIT_CHECK(s.analysis.format == &s.format && s.analysis.accepted == 1);
  UNIT_EQUAL(SPMV_F64, s.analysis.scalar_type);
  UNIT_EQUAL(3 * 12 + 3 * 4, s.analysis.memory.csr_bytes);
  UNIT_CHECK(!memcmp(&s.options, &s.analysis.options, sizeof s.options));
  spmv_analysis_clear(&s.analysis, &s.exec);
  UNIT_CHECK(hooks_clean(&s.hooks));
}

UNIT_TEST(a_format_declines_what_csr_stores_in_less_and_says_so)
{
  Setting s;

  start(&s);
  s.csr.pattern.nnz = 0;
  UNIT_EQUAL(SPMV_SUCCESS, run_analyze(&s));
  UNIT_CHECK(!s.analysis.accepted);
  UNIT_TEXT("there is nothing to pack", s.analysis.reason);
  spmv_analysis_clear(&s.analysis, &s.exec);
  s.csr.pattern.nnz = 3;
  for (int64_t bytes = 59; bytes <= 61; bytes++) { /* 1.25 times the 48 of CSR is 60 */
    s.format.padding_factor     = 1.25;
    sample_calls()->total_bytes = bytes;
    UNIT_EQUAL(SPMV_SUCCESS, run_analyze(&s));
    UNIT_EQUAL(bytes <= 60, s.analysis.accepted);
    if (bytes > 60) UNIT_CONTAINS("would take 61 bytes, more than 1.25 times the 48 of CSR", s.analysis.reason);
    spmv_analysis_clear(&s.analysis, &s.exec);
  }
}

UNIT_TEST(clearing_an_analysis_twice_frees_its_data_once)
{
  Setting s;

  start(&s);
  UNIT_EQUAL(SPMV_SUCCESS, run_analyze(&s));
  spmv_analysis_clear(&s.analysis, &s.exec);
  spmv_analysis_clear(&s.analysis, &s.exec);
  UNIT_EQUAL(1, sample_calls()->data_cleared);
  UNIT_CHECK(hooks_clean(&s.hooks));
}

UNIT_TEST(a_failed_analyze_leaves_nothing_behind)
{
  Setting s;

  start(&s);
  sample_calls()->next_status = SPMV_ERR_OVERFLOW;
  UNIT_EQUAL(SPMV_ERR_OVERFLOW, run_analyze(&s));
  UNIT_CHECK(s.analysis.data == NULL);
  UNIT_CHECK(hooks_clean(&s.hooks));
}

UNIT_TEST(options_of_another_format_are_refused)
{
  Setting    s;
  SpmvFormat other = sample_format();

  start(&s);
  s.options.format = &other;
  refused(&s, SPMV_ERR_ARGUMENT, "the options belong to format sample");
  s.options.format = NULL;
  refused(&s, SPMV_ERR_ARGUMENT, "(none)");
}

UNIT_TEST(negative_sizes_are_refused)
{
  Setting s;

  start(&s);
  s.csr.pattern.rows = -1;
  refused(&s, SPMV_ERR_ARGUMENT, "negative size: -1 rows, 3 columns, 3 nonzeros");
}

UNIT_TEST(spaces_that_a_format_lacks_are_refused)
{
  Setting s;

  start(&s);
  s.exec.space = SPMV_DEVICE;
  refused(&s, SPMV_ERR_UNSUPPORTED, "no device plans");
  start(&s);
  s.csr.pattern.space = SPMV_DEVICE;
  refused(&s, SPMV_ERR_UNSUPPORTED, "needs a pattern on the host");
  start(&s);
  s.format.host = NULL;
  refused(&s, SPMV_ERR_UNSUPPORTED, "no host plans");
}

UNIT_TEST(build_without_a_fitting_analysis_is_refused)
{
  Setting   s;
  SpmvPlan *plan = (SpmvPlan *)&s;

  start(&s);
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_build(&s.csr, &s.analysis, &s.exec, &plan));
  UNIT_CHECK(plan == NULL);
  UNIT_TEXT("build before analyze", s.exec.message);
  UNIT_EQUAL(SPMV_SUCCESS, run_analyze(&s));
  s.csr.scalar_type = SPMV_F32;
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_build(&s.csr, &s.analysis, &s.exec, &plan));
  UNIT_CONTAINS("another space or scalar type", s.exec.message);
  s.csr.scalar_type = SPMV_F64;
  s.exec.space      = SPMV_DEVICE;
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_build(&s.csr, &s.analysis, &s.exec, &plan));
  s.exec.space      = SPMV_HOST;
  s.csr.pattern.nnz = 2;
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_build(&s.csr, &s.analysis, &s.exec, &plan));
  UNIT_CONTAINS("the analysis is of 2 x 3 with 3 nonzeros, not of 2 x 3 with 2", s.exec.message);
  s.csr.pattern.nnz  = 3;
  s.csr.values_space = SPMV_DEVICE;
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_build(&s.csr, &s.analysis, &s.exec, &plan));
  UNIT_CONTAINS("needs its CSR on the host", s.exec.message);
  UNIT_EQUAL(0, sample_calls()->build);
  spmv_analysis_clear(&s.analysis, &s.exec);
}

UNIT_TEST(a_plan_knows_its_matrix_and_its_hooks)
{
  Setting   s;
  SpmvPlan *plan;

  start(&s);
  UNIT_EQUAL(SPMV_SUCCESS, run_analyze(&s));
  if (UNIT_EQUAL(SPMV_SUCCESS, spmv_build(&s.csr, &s.analysis, &s.exec, &plan))) {
    UNIT_CHECK(plan->format == &s.format && plan->rows == 2 && plan->cols == 3 && plan->nnz == 3);
    UNIT_CHECK(plan->index_type == SPMV_I32 && plan->scalar_type == SPMV_F64 && plan->space == SPMV_HOST);
    UNIT_CHECK(plan->host.ctx == &s.hooks.host && plan->device.ctx == &s.hooks.device);
    UNIT_EQUAL(s.analysis.memory.csr_bytes, plan->memory.csr_bytes);
    spmv_destroy(&plan);
  }
  spmv_analysis_clear(&s.analysis, &s.exec);
  UNIT_CHECK(hooks_clean(&s.hooks));
}

static SpmvPlan *sample_plan(Setting *s)
{
  SpmvPlan *plan = NULL;

  start(s);
  UNIT_EQUAL(SPMV_SUCCESS, run_analyze(s));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_build(&s->csr, &s->analysis, &s->exec, &plan));
  spmv_analysis_clear(&s->analysis, &s->exec);
  return plan;
}

/* The calls of spmv_values.h for values on the device refuse arrays on the host, and do not touch them */
UNIT_TEST(calls_for_values_on_the_device_refuse_the_host)
{
  const double     one    = 1;
  double           none[] = {7, 7};
  const SpmvChange change = {.alpha = &one};
  Setting          s;
  SpmvPlan        *plan = sample_plan(&s);

  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_get_diagonal(plan, none, &s.exec));
  UNIT_CONTAINS("the plan of format sample lies on the host", s.exec.message);
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_change_values(plan, &change, &s.exec));
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_csr_of_plan(plan, &s.csr, &s.exec));
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_csr_diagonal(&s.csr, none, &s.exec));
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_csr_beside(&s.csr, &s.csr, 0, &s.csr, &s.exec));
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_csr_rows_begin(&s.csr.pattern, 1, none, none, &s.exec));
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_csr_rows(&s.csr, none, NULL, 0, &s.csr, &s.exec));
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_csr_mark_diagonal(&s.csr.pattern, none, &s.exec));
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_csr_shift(&s.csr.pattern, SPMV_F64, &one, none, &s.exec));
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_csr_set_diagonal(&s.csr.pattern, SPMV_F64, &one, 1, none, &s.exec));
  UNIT_CHECK(none[0] == 7 && none[1] == 7);
  spmv_destroy(&plan);
}

UNIT_TEST(a_failed_build_leaves_no_plan)
{
  Setting   s;
  SpmvPlan *plan = (SpmvPlan *)&s;

  start(&s);
  UNIT_EQUAL(SPMV_SUCCESS, run_analyze(&s));
  sample_calls()->next_status = SPMV_ERR_OVERFLOW;
  UNIT_EQUAL(SPMV_ERR_OVERFLOW, spmv_build(&s.csr, &s.analysis, &s.exec, &plan));
  UNIT_CHECK(plan == NULL);
  spmv_analysis_clear(&s.analysis, &s.exec);
  UNIT_CHECK(hooks_clean(&s.hooks));
}

/* The core handles alpha = 0, matrices without nonzeros, and scaling y before A^T x, without calling the slots */
UNIT_TEST(products_scale_y_without_the_format)
{
  const double zero = 0, two = 2, x[] = {1, 1, 1};
  double       y[] = {3, 4, 5};
  Setting      s;
  SpmvPlan    *plan = sample_plan(&s);

  UNIT_EQUAL(SPMV_SUCCESS, spmv_mult(plan, &zero, NULL, &two, y, NULL, &s.exec));
  UNIT_CHECK(y[0] == 6 && y[1] == 8 && y[2] == 5);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_multtranspose(plan, &zero, NULL, &two, y, NULL, &s.exec));
  UNIT_CHECK(y[0] == 12 && y[1] == 16 && y[2] == 10);
  UNIT_EQUAL(0, sample_calls()->mult + sample_calls()->add_transposed);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_prepare_transpose(plan, &s.exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_multtranspose(plan, &two, x, &two, y, NULL, &s.exec));
  UNIT_CHECK(y[0] == 24 && y[1] == 32 && y[2] == 20);
  UNIT_EQUAL(1, sample_calls()->add_transposed);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_mult(plan, &two, x, &zero, y, NULL, &s.exec));
  UNIT_EQUAL(1, sample_calls()->mult);
  plan->nnz = 0;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_mult(plan, &two, NULL, &zero, y, NULL, &s.exec));
  UNIT_CHECK(y[0] == 0 && y[1] == 0 && y[2] == 20);
  UNIT_EQUAL(1, sample_calls()->mult);
  spmv_destroy(&plan);
}

UNIT_TEST(products_and_values_that_a_format_lacks_are_refused)
{
  const double one = 1, x[] = {1, 1};
  double       y[]   = {1, 2, 3};
  SpmvSlots    slots = sample_slots();
  Setting      s;
  SpmvPlan    *plan = sample_plan(&s);

  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_update_values(plan, values, SPMV_DEVICE, &s.exec));
  UNIT_CONTAINS("a host plan of format sample needs its values on the host", s.exec.message);
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_extract_values(plan, y, SPMV_DEVICE, &s.exec));
  slots.add_transposed = NULL;
  plan->slots          = &slots;
  UNIT_EQUAL(SPMV_ERR_UNSUPPORTED, spmv_prepare_transpose(plan, &s.exec));
  UNIT_CONTAINS("no transposed product", s.exec.message);
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, spmv_multtranspose(plan, &one, x, &one, y, NULL, &s.exec));
  UNIT_CONTAINS("without spmv_prepare_transpose()", s.exec.message);
  UNIT_CHECK(y[0] == 1 && y[1] == 2 && y[2] == 3);
  spmv_destroy(&plan);
}

UNIT_TEST(memory_reports_add_up_and_stay_inside_their_table)
{
  SpmvMemory m;

  memset(&m, 0, sizeof m);
  spmv_memory_add(&m, "values", SPMV_ARRAY_VALUES, 80);
  spmv_memory_add(&m, "col", SPMV_ARRAY_INDICES, 40);
  UNIT_EQUAL(2, m.count);
  UNIT_EQUAL(120, m.total_bytes);
  UNIT_TEXT("col", m.array[1].name);
  UNIT_EQUAL(SPMV_ARRAY_INDICES, m.array[1].kind);
  UNIT_EQUAL(40, m.array[1].bytes);
  for (int i = 0; i < SPMV_ARRAYS_MAX; i++) spmv_memory_add(&m, "more", SPMV_ARRAY_POINTERS, 1);
  UNIT_EQUAL(SPMV_ARRAYS_MAX, m.count);
  UNIT_EQUAL(120 + SPMV_ARRAYS_MAX, m.total_bytes);
}
