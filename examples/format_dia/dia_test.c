/* Format dia: its arrays by hand, padding, values, what it declines, and a build that cannot succeed. */
#include "unit.h"
#include "unit_plan.h"
#include "dia.h"
#include <math.h>
#include <stdlib.h>

/* [1 0 2 0; 0 3 0 0; 4 0 5 0]: diagonals -2, 0 and 2. No row has a nonzero in column 3, but padding lies there. */
static const int32_t row_ptr[] = {0, 2, 3, 5}, col[] = {0, 2, 1, 0, 2};
static const double  values[] = {1, 2, 3, 4, 5}, new_values[] = {6, 7, 0, 8, 9};

static UnitPlan build(const char *options)
{
  const SpmvCsr csr = {.pattern = {.rows = 3, .cols = 4, .nnz = 5, .row_ptr = row_ptr, .col = col}, .values = values};
  return unit_plan(SPMV_HOST, "dia", &csr, "%s", options);
}

UNIT_TEST(dia_arrays_by_hand)
{
  static const int    offsets[] = {-2, 0, 2};
  static const double stored[]  = {0, 1, 2, 0, 3, 0, 4, 5, 0};
  UnitPlan            b         = build("");
  const DiaPlan      *plan      = (const DiaPlan *)b.plan;

  UNIT_EQUAL(3, plan->diagonals);
  for (int d = 0; d < 3; d++) UNIT_EQUAL(offsets[d], plan->offsets[d]);
  UNIT_EQUAL(0xD6, plan->occupied[0]);
  UNIT_EQUAL(0, plan->occupied[1]);
  for (int slot = 0; slot < 9; slot++)
    if (dia_is_occupied(plan, slot)) UNIT_CHECK(((const double *)plan->values)[slot] == stored[slot]);
  UNIT_EQUAL(3 * 8 + 9 * 8 + 2, b.plan->memory.total_bytes);
  UNIT_EQUAL(4 * 8, b.plan->memory.padding_bytes);
  unit_plan_clear(&b);
}

/* A new value 0 is a nonzero of the pattern, as NaN in its column shows */
UNIT_TEST(dia_tells_padding_from_zeros)
{
  const double one = 1, zero = 0, x[] = {10, NAN, 1000, INFINITY};
  double       y[3], back[5];
  UnitPlan     b = build("");

  UNIT_EQUAL(SPMV_SUCCESS, spmv_update_values(b.plan, new_values, SPMV_HOST, &b.exec));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_mult(b.plan, &one, x, &zero, y, NULL, &b.exec));
  UNIT_CHECK(y[0] == 7060 && isnan(y[1]) && y[2] == 9080);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_extract_values(b.plan, back, SPMV_HOST, &b.exec));
  for (int k = 0; k < 5; k++) UNIT_CHECK(back[k] == new_values[k]);
  unit_plan_clear(&b);
}

UNIT_TEST(dia_declines_what_csr_stores_in_less)
{
  UnitPlan b = build("");

  UNIT_EQUAL(0, b.analysis.accepted);
  UNIT_CONTAINS("98 bytes, more than 1 times the 76 of CSR", b.analysis.reason);
  UNIT_EQUAL(32, b.analysis.memory.padding_bytes);
  unit_plan_clear(&b);
}

UNIT_TEST(dia_takes_stencils)
{
  const GenSpec spec    = gen_stencil(5, 20, 20, 1);
  UnitProblem   problem = unit_problem(&spec, SPMV_I64, SPMV_F32);
  UnitPlan      b       = unit_plan(SPMV_HOST, "dia", &problem.csr, " ");

  UNIT_EQUAL(1, b.analysis.accepted);
  UNIT_EQUAL(5, ((const DiaPlan *)b.plan)->diagonals);
  unit_check_products(&problem, &b, unit_mult);
  unit_plan_clear(&b);
  unit_problem_clear(&problem);
}

enum { SCATTERED = 100000 };

/* An allocation hook that refuses what is larger than 64 MiB */
static void *alloc_small(void *ctx, size_t bytes)
{
  (void)ctx;
  return bytes > (64 << 20) ? NULL : malloc(bytes);
}

static void free_small(void *ctx, void *block)
{
  (void)ctx;
  free(block);
}

/* Row i has its only nonzero in column 2 i: every nonzero lies on a diagonal of its own */
UNIT_TEST(dia_fails_for_want_of_memory_where_it_declined)
{
  int32_t      *row_of = malloc((SCATTERED + 1) * sizeof *row_of), *column = malloc(SCATTERED * sizeof *column);
  const int64_t n   = SCATTERED;
  double       *one = calloc(SCATTERED, sizeof *one);
  SpmvPlan     *plan;
  SpmvAnalysis  analysis;
  SpmvOptions   options;
  SpmvExec      exec;

  for (int32_t i = 0; i <= SCATTERED; i++) row_of[i] = i;
  for (int32_t i = 0; i < SCATTERED; i++) column[i] = 2 * i;
  const SpmvCsr csr = {.pattern = {.rows = n, .cols = 2 * n, .nnz = n, .row_ptr = row_of, .col = column},
                       .values  = one};
  spmv_exec_init(&exec, SPMV_HOST);
  exec.host = (SpmvAllocator){.alloc = alloc_small, .free = free_small};
  spmv_options_init(&options, spmv_format_find("dia"));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_analyze(options.format, &csr.pattern, SPMV_F64, &options, &exec, &analysis));
  UNIT_EQUAL(0, analysis.accepted);
  UNIT_EQUAL(n * n * 8 + n * n / 8 + n * 8, analysis.memory.total_bytes);
  UNIT_EQUAL(SPMV_ERR_MEMORY, spmv_build(&csr, &analysis, &exec, &plan));
  UNIT_CHECK(plan == NULL);
  UNIT_CONTAINS("for array values", exec.message);
  spmv_analysis_clear(&analysis, &exec);
  free(row_of);
  free(column);
  free(one);
}
