/* Tests of the paper's table of format fold: its width, and slices of one width. Tests of the format fold its small
   matrices by q. */
#include "unit.h"
#include "unit_plan.h"
#include "fold_published.h"
#include "gen.h"
#include <math.h>

static int64_t width(const FoldHistogram *h, double q, double r)
{
  SpmvOptions options;

  spmv_options_init(&options, spmv_format_find("fold"));
  options.value[FOLD_OPTION_Q] = q;
  options.value[FOLD_OPTION_R] = r;
  return fold_width(h, &options);
}

UNIT_TEST(fold_width_follows_q_and_r)
{
  const int32_t row_ptr[] = {0, 1, 6, 6, 8, 15, 18};
  FoldHistogram h;

  fold_count(row_ptr, 6, SPMV_I32, &h);
  UNIT_EQUAL(18, h.nnz);
  UNIT_EQUAL(7, h.longest);
  UNIT_CHECK(fold_mean(&h) == 3);
  UNIT_CHECK(fabs(fold_sigma(&h) - sqrt((1 + 25 + 0 + 4 + 49 + 9) / 6.0 - 9)) < 1e-12);
  UNIT_EQUAL(5, width(&h, 1.5, 0)); /* 4.5 rounds away from 0 */
  UNIT_EQUAL(2, width(&h, 0, 1));   /* 2.38 */
  UNIT_EQUAL(5, width(&h, 1, 1));
  UNIT_EQUAL(1, width(&h, 0.01, 0));
  UNIT_EQUAL(7, width(&h, 1e6, 1e6));
}

UNIT_TEST(fold_uniform_slices_are_all_as_wide_as_the_fold)
{
  const int64_t    length[] = {40, 1, 0, 3};
  const GenSpec    spec     = gen_lengths(300, 90, 4, length, 1); /* the mean row length is 11 */
  UnitProblem      p        = unit_problem(&spec, SPMV_I64, SPMV_F32);
  UnitPlan         b        = unit_plan(SPMV_HOST, "fold", &p.csr, "q=%g layout=uniform", 1.5);
  const FoldTable *table    = &((const FoldPlan *)b.plan)->table;

  UNIT_EQUAL(17, table->sizes.width);
  UNIT_EQUAL(75, table->sizes.folded); /* 40 = 17 + 17 + 6 */
  UNIT_EQUAL(300 + 2 * 75, table->sizes.table_rows);
  UNIT_EQUAL(15, table->sizes.slices); /* 450 rows, padded to 480 */
  for (int s = 0; s <= 15; s++) UNIT_EQUAL(17 * s, table->layout.slice_ptr[s]);
  unit_plan_clear(&b);
  unit_problem_clear(&p);
}

#if defined(SPMV_HAVE_CUDA)
static void refused(const SpmvCsr *csr, const char *key, const char *value, const char *stream, const char *how)
{
  char         message[SPMV_MESSAGE_MAX];
  SpmvOptions  options;
  SpmvAnalysis analysis;
  SpmvExec     exec;

  spmv_exec_init(&exec, SPMV_DEVICE);
  spmv_options_init(&options, spmv_format_find("fold"));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_options_set_text(&options, key, value, message));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_options_set_text(&options, stream, how, message));
  UNIT_EQUAL(SPMV_ERR_OPTION, spmv_analyze(options.format, &csr->pattern, SPMV_F64, &options, &exec, &analysis));
  UNIT_CONTAINS("goes with the defaults of q, r and layout", exec.message);
}

UNIT_TEST(fold_does_not_stream_the_table_of_the_paper)
{
  const GenSpec spec = gen_diagonal(100);
  UnitProblem   p    = unit_problem(&spec, SPMV_I32, SPMV_F64);

  if (spmv_device_count(NULL) > 0) {
    refused(&p.csr, "q", "1.5", "device_memory", "1000");
    refused(&p.csr, "layout", "uniform", "gather", "host");
    refused(&p.csr, "gather", "device", "device_memory", "1000");
  }
  unit_problem_clear(&p);
}
#endif
