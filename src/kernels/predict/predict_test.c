/* Tests of the cost model: predictions grow with bytes, lower bounds, facts of patterns. tests/predict has the measured
   matrices. */
#include "unit.h"
#include "unit_plan.h"
#include <spmv_predict.h>

static const char *const names[] = {SPMV_BASELINE_CSR, "rbp", "fold", "crsv", "codsell"};

enum { NAMES = sizeof names / sizeof names[0] };

UNIT_TEST(predictions_grow_with_every_number)
{
  for (int space = SPMV_HOST; space <= SPMV_DEVICE; space++)
    for (int i = 0; i < NAMES; i++) {
      SpmvWorkload   w    = {(SpmvSpace)space, names[i], 1000, 1000, 27000, 200000, 800, {9000, 9000, 100, 500}};
      SpmvWorkload   more = {w.space, names[i], 1001, 1000, 27001, 200000, 801, {9001, 9001, 101, 501}};
      SpmvPrediction p, q;

      UNIT_CHECK(spmv_predict(&w, &p) && p.product > 0 && p.convert >= 0);
      UNIT_CHECK(spmv_predict(&more, &q) && q.product > p.product && q.convert >= p.convert);
      w.bytes += w.bytes / 10;
      UNIT_CHECK(spmv_predict(&w, &q) && q.product > p.product && q.convert == p.convert);
    }
}

UNIT_TEST(a_workload_without_an_analysis_is_a_lower_bound)
{
  const GenSpec spec = gen_mesh(27, 6, 6, 6, "3");
  UnitProblem   p    = unit_problem(&spec, SPMV_I32, SPMV_F64);

  for (int i = 0; i < spmv_format_count(); i++) {
    UnitPlan         u = unit_plan(SPMV_HOST, spmv_format_get(i)->name, &p.csr, "%s", "");
    SpmvPatternFacts facts;
    SpmvWorkload     least, known;
    SpmvPrediction   bound, predicted;

    spmv_pattern_facts(&p.csr.pattern, &facts);
    least = spmv_workload_least(spmv_format_get(i), &p.csr.pattern, SPMV_F64, SPMV_HOST, &facts);
    known = spmv_workload(&u.analysis, &facts);
    UNIT_CHECK(spmv_predict(&least, &bound) == spmv_predict(&known, &predicted));
    UNIT_CHECK(bound.product > 0 && bound.product <= predicted.product && bound.convert == predicted.convert);
    unit_plan_clear(&u);
  }
  unit_problem_clear(&p);
}

UNIT_TEST(an_unknown_format_takes_the_time_of_its_bytes)
{
  SpmvWorkload   w = {.space = SPMV_HOST, .format = "nobody", .rows = 100, .cols = 100, .nnz = 10, .bytes = 400};
  SpmvPrediction p, q;

  UNIT_EQUAL(0, spmv_predict(&w, &p));
  w.bytes += 2000; /* with x and y, twice the traffic */
  UNIT_EQUAL(0, spmv_predict(&w, &q));
  UNIT_CHECK(p.product > 0 && q.product > 1.99 * p.product && q.product < 2.01 * p.product && p.convert == 0);
}

/* A tiny CSR pattern: rows 0 1 2 have the columns 0 1, 0 1 and 1 2, row 3 has only column 0 */
UNIT_TEST(facts_of_a_pattern)
{
  static const int32_t row_ptr[] = {0, 2, 4, 6, 7}, col[] = {0, 1, 0, 1, 1, 2, 0};
  const SpmvPattern    p    = {.rows = 4, .cols = 3, .nnz = 7, .index_type = SPMV_I32, .row_ptr = row_ptr, .col = col};
  const SpmvPattern    none = {.rows = 4, .cols = 3, .index_type = SPMV_I32, .row_ptr = (const int32_t[5]){0}};
  SpmvPatternFacts     f;

  spmv_pattern_facts(&p, &f);
  UNIT_EQUAL(2, f.repeated);
  UNIT_EQUAL(3, f.loose);  /* rows 0 and 3; row 2 has the columns of row 1, plus 1 */
  UNIT_EQUAL(2, f.uneven); /* rows 0 and 3 */
  UNIT_EQUAL(1, f.far);    /* all of x lies in one line */
  spmv_pattern_facts(&none, &f);
  UNIT_EQUAL(0, f.repeated + f.loose + f.uneven + f.far);
}
