/* Tests of format fold on the host: arrays computed by hand, and products over pieces and windows. */
#include "unit.h"
#include "unit_plan.h"
#include "fold.h"
#include "fold_slice.h"
#include "gen.h"
#include <string.h>

/* Rows of 1, 5, 0, 2, 7 and 3 nonzeros in 7 columns. Values are 1, 2, ... The mean row length is 3. */
static const int32_t row_ptr[] = {0, 1, 6, 6, 8, 15, 18};
static const int32_t col[]     = {6, 0, 1, 2, 3, 4, 1, 4, 0, 1, 2, 3, 4, 5, 6, 2, 3, 5};
static const double  values[]  = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18};

static SpmvCsr sample(void)
{
  return (SpmvCsr){.pattern = {.rows = 6, .cols = 7, .nnz = 18, .row_ptr = row_ptr, .col = col}, .values = values};
}

static UnitPlan build(const SpmvCsr *csr, double q, double r, const char *layout)
{
  return unit_plan(SPMV_HOST, "fold", csr, "q=%.17g r=%.17g layout=%s", q, r, layout);
}

/* The table of the sample at w = 2: the first pieces of 6 rows, full pieces of rows 1, 4, 4, last pieces of 1, 4, 5 */
static const int    piece_length[]    = {1, 2, 0, 2, 2, 2, 2, 2, 2, 1, 1, 1};
static const int    piece_column[][2] = {{6, -1}, {0, 1}, {-1, -1}, {1, 4},  {0, 1},  {2, 3},
                                         {2, 3},  {2, 3}, {4, 5},   {4, -1}, {6, -1}, {5, -1}};
static const double piece_value[][2]  = {{1, 0}, {2, 3},   {0, 0},   {7, 8}, {9, 10}, {16, 17},
                                         {4, 5}, {11, 12}, {13, 14}, {6, 0}, {15, 0}, {18, 0}};

static void check_sample(const UnitPlan *b)
{
  const FoldTable *table = &((const FoldPlan *)b->plan)->table;

  UNIT_EQUAL(2, table->sizes.width);
  UNIT_EQUAL(3, table->sizes.folded);
  UNIT_EQUAL(2, table->sizes.cut_often);
  UNIT_EQUAL(3, table->sizes.full_pieces);
  UNIT_EQUAL(12, table->sizes.table_rows);
  UNIT_EQUAL(1, table->sizes.slices);
  UNIT_EQUAL(2, table->sizes.steps);
  for (int f = 0; f < 3; f++) UNIT_EQUAL(((const int[]){1, 4, 5})[f], table->layout.owner[f]);
  for (int f = 0; f < 3; f++) UNIT_EQUAL(((const int[]){0, 1, 3})[f], table->layout.full_ptr[f]);
  UNIT_CHECK(!table->layout.order);
  for (int t = 0; t < FOLD_LANES; t++)
    for (int j = 0; j < 2; j++) {
      UNIT_EQUAL(t < 12 ? piece_column[t][j] : -1, ((const int32_t *)table->columns)[j * FOLD_LANES + t]);
      UNIT_CHECK(((const double *)table->values)[j * FOLD_LANES + t] == (t < 12 ? piece_value[t][j] : 0));
      UNIT_CHECK(t >= 12 || (piece_column[t][j] >= 0) == (j < piece_length[t]));
    }
  UNIT_EQUAL(2 * 32 * (8 + 4) + 2 * 8 + 3 * 8 + 3 * 8, b->plan->memory.total_bytes);
  UNIT_EQUAL((64 - 18) * 8, b->plan->memory.padding_bytes);
  UNIT_EQUAL(0, b->plan->memory.work_bytes);
}

UNIT_TEST(fold_arrays_by_hand)
{
  const SpmvCsr csr = sample();

  for (int uniform = 0; uniform < 2; uniform++) {
    UnitPlan b = build(&csr, 2.0 / 3, 0, uniform ? "uniform" : "sliced");
    int32_t  recovered[7];

    check_sample(&b);
    fold_recover_row_ptr(&((FoldPlan *)b.plan)->table, SPMV_I32, recovered);
    for (int i = 0; i < 7; i++) UNIT_EQUAL(row_ptr[i], recovered[i]);
    unit_plan_clear(&b);
  }
}

UNIT_TEST(fold_sorts_rows_in_windows_where_that_saves_padding)
{
  const int64_t    length[] = {9, 1, 2, 8};
  const GenSpec    spec     = gen_lengths(2000, 100, 4, length, 1);
  UnitProblem      p        = unit_problem(&spec, SPMV_I32, SPMV_F64);
  UnitPlan         b        = build(&p.csr, 10, 0, "sliced");
  const FoldTable *table    = &((const FoldPlan *)b.plan)->table;

  UNIT_EQUAL(FOLD_SORTED, table->sizes.order);
  UNIT_EQUAL(0, table->sizes.folded);
  for (int i = 0; i < 64; i++) { /* 64 rows of each length in a window */
    UNIT_EQUAL(4 * i, table->layout.order[i]);
    UNIT_EQUAL(4 * i + 3, table->layout.order[64 + i]);
    UNIT_EQUAL(4 * i + 2, table->layout.order[128 + i]);
    UNIT_EQUAL(4 * i + 1, table->layout.order[192 + i]);
  }
  /* 7 whole windows; the last one has 208 = 4 * 52 rows, and its lengths change in the middle of slices */
  UNIT_EQUAL(7 * 2 * (9 + 8 + 2 + 1), table->layout.slice_ptr[56]);
  UNIT_EQUAL(7 * 2 * (9 + 8 + 2 + 1) + 9 + 9 + 8 + 8 + 2 + 1 + 1, table->sizes.steps);
  UNIT_EQUAL(b.plan->memory.total_bytes, b.analysis.memory.total_bytes);
  unit_plan_clear(&b);
  unit_problem_clear(&p);
}

UNIT_TEST(fold_absurd_padding_saturates)
{
  const int64_t   huge = (int64_t)1 << 40;
  const FoldSizes s    = {.rows = huge, .nnz = 2 * huge, .width = huge, .slices = huge / 32, .steps = INT64_MAX / 2};
  SpmvAnalysis    analysis = {.memory.csr_bytes = 40 * huge};

  fold_memory(&s, SPMV_I64, SPMV_F64, &analysis.memory);
  UNIT_CHECK(analysis.memory.array[0].bytes > INT64_MAX / 64);
  UNIT_CHECK(analysis.memory.total_bytes > analysis.memory.array[0].bytes);
}

/* ---- products ---- */

static void mult(UnitPlan *b, SpmvIsa isa, const void *alpha, const void *x, const void *beta, void *y)
{
  fold_host_mult(isa, (FoldPlan *)b->plan, alpha, x, beta, y);
}

UNIT_TEST(fold_products_over_pieces_and_windows)
{
  const int64_t lengths[] = {3, 40, 0, 9, 17, 1, 33, 8};
  const GenSpec spec[]    = {
         gen_mesh(27, 13, 11, 9, "12365143"),     gen_stencil(27, 14, 14, 14), gen_dense(37, 29),
         gen_lengths(4001, 90000, 8, lengths, 3), gen_full_row(2000, 1999),    gen_long_rows(3000, 100000, 4, 900, 700, 2),
         gen_power_law(5000, 2, 2.1, 6),
  };
  static const double q[] = {0, 0.05, 0.5, 1.5, 1000};

  for (size_t m = 0; m < sizeof spec / sizeof spec[0]; m++)
    for (int i = 0; i < 5; i++)
      for (int t = 0; t < 4; t++)
        unit_check_format(&spec[m], (SpmvIndex)(t & 1), (SpmvScalar)(t >> 1), mult, "fold", "q=%.17g r=0 layout=%s",
                          q[i], t % 3 ? "sliced" : "uniform");
}

/* 64-bit columns, as for a matrix with more than 2^31 columns, in a small matrix */
UNIT_TEST(fold_wide_columns_multiply_alike)
{
  const SpmvCsr csr = sample();
  const double  x[] = {1, 10, 100, 1000, 1e4, 1e5, 1e6}, one = 1, zero = 0;
  double        y[6], expected[6], transposed[7] = {0}, expected_transposed[7] = {0};
  int64_t       columns[64];
  UnitPlan      b    = build(&csr, 2.0 / 3, 0, "sliced");
  FoldPlan      wide = *(const FoldPlan *)b.plan;

  wide.table.column_type = SPMV_I64;
  wide.table.columns     = columns;
  const FoldRange whole  = fold_whole(&wide.table);
  fold_fill_columns(&wide.table, &whole, SPMV_I32, row_ptr, col);
  for (int e = 0; e < 64; e++) UNIT_EQUAL(((const int32_t *)((FoldPlan *)b.plan)->table.columns)[e], columns[e]);
  fold_host_mult(spmv_isa(), (FoldPlan *)b.plan, &one, x, &zero, expected);
  fold_host_mult(spmv_isa(), &wide, &one, x, &zero, y);
  fold_host_add_transposed((FoldPlan *)b.plan, &one, x, expected_transposed);
  fold_host_add_transposed(&wide, &one, x, transposed);
  UNIT_CHECK(!memcmp(expected, y, sizeof y));
  UNIT_CHECK(!memcmp(expected_transposed, transposed, sizeof transposed));
  UNIT_CHECK(y[1] == 65432 && y[5] == 1600 + 17000 + 1800000);
  UNIT_EQUAL(SPMV_I64, fold_column_type((int64_t)INT32_MAX + 1));
  UNIT_EQUAL(SPMV_I32, fold_column_type(INT32_MAX));
  unit_plan_clear(&b);
}

UNIT_TEST(fold_view_tells_the_fold)
{
  const SpmvCsr csr = sample();
  UnitPlan      b   = build(&csr, 2.0 / 3, 0, "sliced");

  UNIT_TEXT("width: 2 (by q and r; 0.67 of the mean row), longest row: 7, mean: 3.00, sigma: 2.38\n"
            "folded rows: 3, table rows: 12 for 6, in the order of the matrix\n"
            "padding: 71.88 % of the table\n",
            unit_view(&b));
  unit_plan_clear(&b);
}
