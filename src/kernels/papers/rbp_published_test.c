/* Tests of the layouts of the paper on format rbp: arrays and counts computed by hand, absurd padding, and products. */
#include "unit.h"
#include "unit_plan.h"
#include "gen.h"
#include "rbp_published.h"

/* A matrix like the one in the paper's figure: 6 x 8, eight runs, three nonzeros outside runs. Values are 1, 2, ... */
static const int32_t figure_row_ptr[] = {0, 6, 12, 17, 20, 21, 25};
static const int32_t figure_col[]     = {0, 1, 2, 3, 6, 7, 0, 1, 3, 5, 6, 7, 1, 2, 3, 5, 6, 0, 2, 3, 4, 3, 4, 5, 6};
static const double  figure_values[]  = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13,
                                         14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25};

static SpmvCsr figure(void)
{
  return (SpmvCsr){.pattern = {.rows = 6, .cols = 8, .nnz = 25, .row_ptr = figure_row_ptr, .col = figure_col},
                   .values  = figure_values};
}

static UnitPlan build(const SpmvCsr *csr, const char *layout, int min_run)
{
  return unit_plan(SPMV_HOST, "rbp", csr, "layout=%s min_run=%d", layout, min_run);
}

UNIT_TEST(rbp_counts_of_the_figure)
{
  const SpmvCsr csr = figure();
  RbpCounts     c;

  UNIT_EQUAL(SPMV_SUCCESS, rbp_count_runs(&csr.pattern, 2, &c));
  UNIT_EQUAL(8, c.runs);
  UNIT_EQUAL(22, c.run_values);
  UNIT_EQUAL(3, c.singles);
  UNIT_EQUAL(6, c.max_row);
  UNIT_EQUAL(6, c.max_run_values);
  UNIT_EQUAL(4, c.max_run_columns);
  UNIT_EQUAL(4, c.longest_run);
  UNIT_EQUAL(SPMV_SUCCESS, rbp_count_runs(&csr.pattern, 3, &c));
  UNIT_EQUAL(4, c.runs);
  UNIT_EQUAL(14, c.run_values);
  UNIT_EQUAL(11, c.singles);
  UNIT_EQUAL(4, c.max_run_values);
  UNIT_EQUAL(2, c.max_run_columns);
  UNIT_EQUAL(SPMV_ERR_ARGUMENT, rbp_count_runs(&csr.pattern, 1, &c));
}

UNIT_TEST(rbp_csr_arrays_of_the_figure)
{
  const SpmvCsr       csr = figure();
  UnitPlan            b   = build(&csr, "csr", 2);
  const RbpPublished *p   = (const RbpPublished *)b.plan;

  UNIT_ARRAY(int32_t, p->val_ptr, 0, 6, 11, 16, 18, 18, 22);
  UNIT_ARRAY(int32_t, p->col_ptr, 0, 4, 8, 12, 14, 14, 16);
  UNIT_ARRAY(int32_t, p->comp_columns, 0, 3, 6, 7, 0, 1, 5, 7, 1, 3, 5, 6, 2, 3, 3, 6);
  UNIT_ARRAY(double, p->comp_values, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 19, 20, 22, 23, 24, 25);
  UNIT_ARRAY(int32_t, p->row_ptr, 0, 0, 1, 1, 2, 3, 3);
  UNIT_ARRAY(int32_t, p->columns, 3, 0, 4);
  UNIT_ARRAY(double, p->values, 9, 18, 21);
  UNIT_EQUAL(12 * 7 + 4 * 16 + 8 * 22 + 12 * 3, b.plan->memory.total_bytes);
  unit_plan_clear(&b);
}

UNIT_TEST(rbp_ell_arrays_of_the_figure)
{
  const SpmvCsr csr = figure();

  for (int r = 0; r < 2; r++) {
    UnitPlan            b = build(&csr, r ? "ellr" : "ell", 2);
    const RbpPublished *p = (const RbpPublished *)b.plan;

    UNIT_ARRAY(int32_t, p->comp_columns, 0, 0, 1, 2, 0, 3, 3, 1, 3, 3, -1, 6, 6, 5, 5, 0, 0, 0, 7, 7, 6, -1, -1, -1);
    UNIT_ARRAY(double, p->comp_values, 1, 7, 13, 19, 0, 22, 2, 8, 14, 20, 0, 23, 3, 10, 15, 0, 0, 24, 4, 11, 16, 0, 0,
               25, 5, 12, 17, 0, 0, 0, 6, 0, 0, 0, 0, 0);
    UNIT_ARRAY(int32_t, p->row_ptr, 0, 0, 1, 1, 2, 3, 3);
    UNIT_ARRAY(int32_t, p->columns, 3, 0, 4);
    UNIT_ARRAY(double, p->values, 9, 18, 21);
    if (r) UNIT_ARRAY(int32_t, p->row_length, 2, 2, 2, 1, 0, 1);
    else UNIT_CHECK(!p->row_length);
    UNIT_CHECK(!p->val_ptr && !p->col_ptr);
    UNIT_EQUAL(8 * 6 * 6 + 4 * 6 * 4 + 12 * 3 + 4 * 7 + (r ? 4 * 6 : 0), b.plan->memory.total_bytes);
    UNIT_EQUAL(8 * (36 - 22), b.plan->memory.padding_bytes);
    unit_plan_clear(&b);
  }
}

UNIT_TEST(rbp_products_of_the_published_layouts)
{
  const int64_t            lengths[] = {3, 40, 0, 9, 17, 1, 33, 8};
  const GenSpec            spec[]    = {gen_mesh(7, 15, 15, 15, "2"), gen_lengths(4001, 90000, 8, lengths, 3),
                                        gen_runs(2500, 700, 5, 2), gen_full_row(2000, 1999)};
  static const char *const layout[]  = {"csr", "ell", "ellr"};

  for (size_t m = 0; m < sizeof spec / sizeof spec[0]; m++)
    for (int l = 0; l < 3; l++)
      for (int t = 0; t < 4; t++)
        unit_check_format(&spec[m], (SpmvIndex)(t & 1), (SpmvScalar)(t >> 1), unit_mult, "rbp", "layout=%s", layout[l]);
}

UNIT_TEST(rbp_absurd_padding_saturates)
{
  const int64_t   huge     = (int64_t)1 << 40;
  const RbpCounts c        = {.rows = huge, .nnz = 2 * huge, .max_run_values = huge, .max_run_columns = 2};
  SpmvAnalysis    analysis = {.memory.csr_bytes = 40 * huge};

  rbp_published_memory(RBP_ELL, &c, SPMV_I64, SPMV_F64, &analysis.memory);
  UNIT_CHECK(analysis.memory.array[0].bytes > INT64_MAX / 64);
  UNIT_CHECK(analysis.memory.total_bytes > analysis.memory.array[0].bytes);
}
