/* Tests of the cost model of format fold, and of the width that it chooses. */
#include "unit.h"
#include "fold.h"
#include "gen.h"
#include <math.h>

/* The cost of the actual table for w: the exact counterpart of fold_predict(), on the host */
static double exact_time(const SpmvPattern *p, const FoldHistogram *h, FoldOrder order, int64_t w)
{
  FoldSizes            s         = {.rows = p->rows, .nnz = p->nnz, .width = w, .order = order, .longest = h->longest};
  const FoldPrediction predicted = fold_predict(h, order, w, SPMV_F64, SPMV_HOST);
  FoldLayout           layout;
  SpmvExec             exec;
  SpmvAllocator        none = {0};

  spmv_exec_init(&exec, SPMV_HOST);
  UNIT_EQUAL(SPMV_SUCCESS, fold_lay_out(p->row_ptr, p->index_type, &exec, &s, &layout));
  fold_layout_free(&none, &none, SPMV_HOST, &layout);
  if (w < FOLD_LONG) UNIT_EQUAL(s.folded, predicted.folded);
  return (predicted.bytes + 12.0 * ((double)s.steps * FOLD_LANES - (double)predicted.entries)) * predicted.time /
         predicted.bytes;
}

UNIT_TEST(fold_automatic_width_is_near_the_best_of_all_widths)
{
  const int64_t lengths[] = {3, 40, 0, 9, 17, 1, 33, 8}, far[] = {5, 5, 5, 400};
  const GenSpec spec[] = {
      gen_power_law(20000, 2, 2.1, 6),    gen_lengths(9000, 5000, 8, lengths, 3),
      gen_lengths(8000, 5000, 4, far, 3), gen_long_rows(20000, 20000, 5, 8000, 5000, 12),
      gen_stencil(27, 24, 24, 24),        gen_circuit(30000, 11, 14),
      gen_random(20000, 30000, 11, 15),   gen_mesh(27, 14, 14, 14, "12365143"),
  };

  for (size_t m = 0; m < sizeof spec / sizeof spec[0]; m++) {
    static FoldHistogram h;
    SpmvPattern          p;
    FoldPrediction       ignored;
    double               best = INFINITY;

    UNIT_EQUAL(SPMV_SUCCESS, gen_pattern(&spec[m], SPMV_I32, &p));
    fold_count(p.row_ptr, p.rows, SPMV_I32, &h);
    fold_count_sorted(p.row_ptr, p.rows, SPMV_I32, &h);
    for (int order = FOLD_NATURAL; order <= FOLD_SORTED; order++) {
      best = INFINITY;
      for (int64_t w = 1; w <= h.longest; w += 1 + w / 40) best = fmin(best, exact_time(&p, &h, (FoldOrder)order, w));
      const int64_t chosen = fold_best_width(&h, (FoldOrder)order, SPMV_F64, SPMV_HOST, &ignored);
      UNIT_CHECK(exact_time(&p, &h, (FoldOrder)order, chosen) <= 1.03 * best);
    }
    gen_pattern_free(&p);
  }
}

UNIT_TEST(fold_predicts_the_table_exactly_when_nothing_is_folded)
{
  const GenSpec        spec = gen_random(20000, 30000, 11, 15);
  static FoldHistogram h;
  SpmvPattern          p;
  int64_t              entries = 0;

  UNIT_EQUAL(SPMV_SUCCESS, gen_pattern(&spec, SPMV_I32, &p));
  fold_count(p.row_ptr, p.rows, SPMV_I32, &h);
  for (int64_t i = 0; i < p.rows; i += FOLD_LANES) {
    int64_t longest = 0;
    for (int64_t k = i; k < i + FOLD_LANES && k < p.rows; k++) {
      const int64_t length = ((const int32_t *)p.row_ptr)[k + 1] - ((const int32_t *)p.row_ptr)[k];
      if (length > longest) longest = length;
    }
    entries += FOLD_LANES * longest;
  }
  UNIT_EQUAL(entries, fold_predict(&h, FOLD_NATURAL, h.longest, SPMV_F64, SPMV_HOST).entries);
  gen_pattern_free(&p);
}

/* Rows of 9 nonzeros: on a device the time to add partial sums depends on the number of pieces per row */
UNIT_TEST(fold_predicts_what_partial_sums_cost_a_device)
{
  const int64_t        length = 9;
  const GenSpec        spec   = gen_lengths(50000, 90000, 1, &length, 1);
  static FoldHistogram h;
  SpmvPattern          p;
  double               cost[10];

  UNIT_EQUAL(SPMV_SUCCESS, gen_pattern(&spec, SPMV_I32, &p));
  fold_count(p.row_ptr, p.rows, SPMV_I32, &h);
  for (int w = 3; w <= 9; w++) {
    cost[w] = fold_predict(&h, FOLD_NATURAL, w, SPMV_F64, SPMV_DEVICE).add_time;
    UNIT_CHECK(fold_predict(&h, FOLD_NATURAL, w, SPMV_F64, SPMV_HOST).add_time == 0);
  }
  UNIT_CHECK(cost[9] == 0);
  UNIT_CHECK(cost[8] > 0 && cost[8] == cost[5]); /* two pieces */
  UNIT_CHECK(cost[4] > 2 * cost[5] && cost[4] == cost[3]);
  gen_pattern_free(&p);
}

/* The sizes of a table chosen for a device */
static FoldSizes device_sizes(const GenSpec *spec)
{
  SpmvAllocator none = {0};
  SpmvExec      exec;
  SpmvPattern   p;
  FoldSizes     sizes;
  FoldLayout    layout;

  spmv_exec_init(&exec, SPMV_HOST);
  UNIT_EQUAL(SPMV_SUCCESS, gen_pattern(spec, SPMV_I32, &p));
  UNIT_EQUAL(SPMV_SUCCESS,
             fold_analyze_rows(p.row_ptr, &p, SPMV_F64, SPMV_DEVICE, (FoldGiven){0}, &exec, &sizes, &layout));
  fold_layout_free(&none, &none, SPMV_HOST, &layout);
  gen_pattern_free(&p);
  return sizes;
}

/* On a device it is cheaper to sort rows of up to twice the mean than to cut them; rows of hundreds of times the mean
   are cut into short pieces */
UNIT_TEST(fold_cuts_for_a_device_where_that_pays)
{
  const GenSpec even = gen_random(300000, 300000, 11, 15), far = gen_long_rows(300000, 300000, 5, 9000, 90000, 12);
  FoldSizes     s = device_sizes(&even);

  UNIT_EQUAL(s.longest, s.width);
  UNIT_EQUAL(FOLD_SORTED, s.order);
  s = device_sizes(&far);
  UNIT_CHECK(s.folded > 0 && s.width >= 5 && s.width <= 64);
}
