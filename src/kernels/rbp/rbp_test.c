/* Tests of format rbp: arrays and counts computed by hand, absurd padding, and products over windows, tails and wide
   slices. */
#include "unit.h"
#include "unit_plan.h"
#include "cases.h"
#include "rbp_sliced.h"
#include "rbp_published.h"
#include <stdlib.h>
#include <string.h>
#if defined(SPMV_HAVE_CUDA)
  #include "device/staging.h"
#endif

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

static UnitPlan build(const SpmvCsr *csr, const char *format, int min_run)
{
  return unit_plan(SPMV_HOST, "rbp", csr, "layout=%s min_run=%d", format, min_run);
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

/* Eight pairs of rows with equal columns k, k+1, k+3, k+4, 15, and one row with column 15. Values are 1, 2, ... */
typedef struct {
  int32_t row_ptr[18], col[81];
  double  values[81];
} Pairs;

static SpmvCsr pairs(Pairs *p)
{
  int32_t n = 0;

  for (int i = 0; i < 17; i++) {
    const int32_t k = i / 2, cols[] = {k, k + 1, k + 3, k + 4, 15};

    p->row_ptr[i] = n;
    for (int j = i < 16 ? 0 : 4; j < 5; j++) p->col[n++] = cols[j];
  }
  p->row_ptr[17] = n;
  for (int i = 0; i < n; i++) p->values[i] = i + 1;
  return (SpmvCsr){.pattern = {.rows = 17, .cols = 16, .nnz = n, .row_ptr = p->row_ptr, .col = p->col},
                   .values  = p->values};
}

UNIT_TEST(rbp_packed_arrays_by_hand)
{
  Pairs            arrays;
  const SpmvCsr    csr = pairs(&arrays);
  UnitPlan         b   = build(&csr, "packed", 2);
  const RbpSliced *p   = (const RbpSliced *)b.plan;
  int              at  = 0;

  UNIT_EQUAL(2, p->sizes.unit);
  UNIT_EQUAL(2, p->sizes.slices);
  UNIT_EQUAL(9, p->sizes.groups);
  UNIT_EQUAL(80, p->sizes.full_values);
  UNIT_EQUAL(10, p->sizes.head_entries);
  UNIT_EQUAL(24, p->sizes.narrow_entries);
  UNIT_EQUAL(0, p->sizes.wide_entries);
  UNIT_EQUAL(1, p->sizes.tail_entries);
  UNIT_ARRAY(int32_t, p->slice_head, 0, 2, 1, 2 | 8 << RBP_LANES_SHIFT, 0, 0, 0,
             1 | 1 << RBP_LANES_SHIFT | RBP_FLAG_TAIL | RBP_FLAG_LAST, 0, 1);
  for (int l = 0; l < 8; l++) {
    UNIT_EQUAL(2 * l, p->group_row[l]);
    UNIT_EQUAL(l, p->narrow[l]);
    UNIT_EQUAL(3, p->narrow[8 + l]);
    UNIT_EQUAL(15, p->narrow[16 + l]);
  }
  UNIT_EQUAL(16, p->group_row[8]);
  UNIT_ARRAY(int32_t, p->tail_columns, 15);
  for (int position = 0; position < 5; position++)
    for (int r = 0; r < 2; r++)
      for (int l = 0; l < 8; l++) UNIT_EQUAL(5 * (2 * l + r) + position + 1, ((const double *)p->values)[at++]);
  UNIT_EQUAL(81, ((const double *)p->values)[at]);
  UNIT_EQUAL(81 * 8 + 24 * 2 + 1 * 4 + 9 * 2 + 10 * 4, b.plan->memory.total_bytes);
  UNIT_EQUAL(0, b.plan->memory.padding_bytes);
  unit_plan_clear(&b);
}

UNIT_TEST(rbp_min_run_bounds_the_unit)
{
  Pairs         arrays;
  const SpmvCsr csr = pairs(&arrays);
  UnitPlan      b   = build(&csr, "packed", 3);

  UNIT_EQUAL(1, ((const RbpSliced *)b.plan)->sizes.unit);
  unit_plan_clear(&b);
}

static void mult_packed(UnitPlan *b, SpmvIsa isa, const void *alpha, const void *x, const void *beta, void *y)
{
  rbp_sliced_mult_by(isa, (RbpSliced *)b->plan, alpha, x, beta, y);
}

UNIT_TEST(rbp_products_over_windows_and_tails)
{
  const int64_t lengths[] = {3, 40, 0, 9, 17, 1, 33, 8};
  const GenSpec spec[]    = {
         gen_mesh(27, 13, 11, 9, "12365143"),
         gen_mesh(27, 12, 12, 12, "3"),
         gen_mesh(7, 15, 15, 15, "2"),
         gen_stencil(27, 14, 14, 14),
         gen_dense(37, 29),
         gen_lengths(4001, 90000, 8, lengths, 3),
         gen_runs(2500, 700, 5, 2),
         gen_full_row(2000, 1999),
         gen_long_rows(3000, 100000, 4, 900, 700, 2),
  };
  static const char *const format[] = {"packed", "csr", "ell", "ellr"};

  for (size_t m = 0; m < sizeof spec / sizeof spec[0]; m++)
    for (int f = 0; f < 4; f++)
      for (int t = 0; t < 4; t++)
        unit_check_format(&spec[m], (SpmvIndex)(t & 1), (SpmvScalar)(t >> 1), f ? unit_mult : mult_packed, "rbp",
                          "layout=%s min_run=2", format[f]);
}

UNIT_TEST(rbp_wide_slices_keep_far_columns)
{
  int32_t row_ptr[9], col[16];
  double  values[16];
  SpmvCsr csr = {.pattern = {.rows = 8, .cols = 200000, .nnz = 16, .row_ptr = row_ptr, .col = col}, .values = values};

  for (int i = 0; i < 8; i++) {
    row_ptr[i + 1] = 2 * (i + 1);
    col[2 * i]     = i;
    col[2 * i + 1] = 65536 + 2 * i; /* 65536 + i after column i */
    values[2 * i] = values[2 * i + 1] = i;
  }
  row_ptr[0] = 0;
  UnitPlan b = build(&csr, "packed", 2);
  UNIT_EQUAL(0, ((const RbpSliced *)b.plan)->sizes.narrow_entries);
  UNIT_EQUAL(16, ((const RbpSliced *)b.plan)->sizes.wide_entries);
  unit_plan_clear(&b);
  for (int i = 0; i < 8; i++) col[2 * i + 1] = 65535 + i;
  b = build(&csr, "packed", 2);
  UNIT_EQUAL(16, ((const RbpSliced *)b.plan)->sizes.narrow_entries);
  unit_plan_clear(&b);
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

static void check_device_view(const GenSpec *spec, const char *expected)
{
  UnitProblem p = unit_problem(spec, SPMV_I32, SPMV_F64);
  UnitPlan    b = unit_plan(SPMV_DEVICE, "rbp", &p.csr, "layout=packed");

  UNIT_CONTAINS(expected, unit_view(&b));
  unit_plan_clear(&b);
  unit_problem_clear(&p);
}

/* The first matrix has 512 rows per block */
UNIT_TEST(rbp_blocks_on_a_device_share_equal_patterns)
{
  const GenSpec equal = gen_diagonal(4096), different = gen_random(4096, 50000, 1.5, 3);

  if (spmv_device_count(NULL) == 0) return;
  check_device_view(&equal, "blocks: 8 of at most 512 units, 7 with the pattern of another;");
  check_device_view(&different, " 0 with the pattern of another;");
}

#if defined(SPMV_HAVE_CUDA)
/* The values of a plan on the device, with padding: the first array of the plan's block of memory */
static void *device_values(UnitPlan *b)
{
  const int64_t bytes  = b->plan->memory.array[0].bytes;
  void         *values = malloc((size_t)bytes);

  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(values, SPMV_HOST, b->plan->arrays, SPMV_DEVICE, bytes, &b->exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&b->exec));
  return values;
}

/* Blocks of many rows, pieces of long rows, and padding: a plan is the same whether its values are uploaded at once or
   in pieces */
static void check_pieces(const GenSpec *spec, int64_t piece_bytes)
{
  const int64_t usual = spmv_upload_piece_bytes;
  UnitProblem   p     = unit_problem(spec, SPMV_I32, SPMV_F64);
  UnitPlan      whole = unit_plan(SPMV_DEVICE, "rbp", &p.csr, "%s", "");
  void         *expected, *got;

  spmv_upload_piece_bytes = piece_bytes;
  UnitPlan parts          = unit_plan(SPMV_DEVICE, "rbp", &p.csr, "%s", "");
  for (int renewed = 0; renewed < 2; renewed++) {
    expected = device_values(&whole);
    got      = device_values(&parts);
    UNIT_CHECK(!memcmp(expected, got, (size_t)whole.plan->memory.array[0].bytes));
    free(expected);
    free(got);
    for (int64_t k = 0; k < p.csr.pattern.nnz; k++) ((double *)p.values)[k] = (double)k + 0.5;
    UNIT_EQUAL(SPMV_SUCCESS, spmv_update_values(parts.plan, p.values, SPMV_HOST, &parts.exec));
    spmv_upload_piece_bytes = usual;
    UNIT_EQUAL(SPMV_SUCCESS, spmv_update_values(whole.plan, p.values, SPMV_HOST, &whole.exec));
    spmv_upload_piece_bytes = piece_bytes;
  }
  spmv_upload_piece_bytes = usual;
  unit_plan_clear(&parts);
  unit_plan_clear(&whole);
  unit_problem_clear(&p);
}

UNIT_TEST(rbp_values_may_come_in_pieces)
{
  static const char *const names[] = {"elasticity_fixed_dofs", "lengths_near_1024", "circuit_rails"};

  if (spmv_device_count(NULL) == 0) return;
  for (int m = 0; m < case_matrix_count(); m++)
    for (int n = 0; n < 3; n++) {
      if (strcmp(case_matrix(m)->name, names[n])) continue;
      const GenSpec spec = case_matrix(m)->spec();
      check_pieces(&spec, 8);
      check_pieces(&spec, 8 * 1000);
    }
}
#endif
