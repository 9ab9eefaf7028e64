/* Tests of format rbp: arrays computed by hand, and products over windows, tails and wide slices. */
#include "unit.h"
#include "unit_plan.h"
#include "cases.h"
#include "rbp_host.h"
#include <stdlib.h>
#include <string.h>
#if defined(SPMV_HAVE_CUDA)
  #include "device/staging.h"
#endif

static UnitPlan build(const SpmvCsr *csr, int min_run)
{
  return unit_plan(SPMV_HOST, "rbp", csr, "min_run=%d", min_run);
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
  Pairs                arrays;
  const SpmvCsr        csr = pairs(&arrays);
  UnitPlan             b   = build(&csr, 2);
  const RbpHostPacked *p   = (const RbpHostPacked *)b.plan;
  int                  at  = 0;

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
  UnitPlan      b   = build(&csr, 3);

  UNIT_EQUAL(1, ((const RbpHostPacked *)b.plan)->sizes.unit);
  unit_plan_clear(&b);
}

static void mult_packed(UnitPlan *b, SpmvIsa isa, const void *alpha, const void *x, const void *beta, void *y)
{
  rbp_host_mult_by(isa, (RbpHostPacked *)b->plan, alpha, x, beta, y);
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

  for (size_t m = 0; m < sizeof spec / sizeof spec[0]; m++)
    for (int t = 0; t < 4; t++)
      unit_check_format(&spec[m], (SpmvIndex)(t & 1), (SpmvScalar)(t >> 1), mult_packed, "rbp", "min_run=%d", 2);
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
  UnitPlan b = build(&csr, 2);
  UNIT_EQUAL(0, ((const RbpHostPacked *)b.plan)->sizes.narrow_entries);
  UNIT_EQUAL(16, ((const RbpHostPacked *)b.plan)->sizes.wide_entries);
  unit_plan_clear(&b);
  for (int i = 0; i < 8; i++) col[2 * i + 1] = 65535 + i;
  b = build(&csr, 2);
  UNIT_EQUAL(16, ((const RbpHostPacked *)b.plan)->sizes.narrow_entries);
  unit_plan_clear(&b);
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
