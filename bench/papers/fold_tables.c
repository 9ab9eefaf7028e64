/*
  fold_tables - the quantities of the paper on the Fold method that need no GPU, and a sweep over (q, r), which the
  paper does not have, by predicted cost.

  The matrices are row lengths drawn from Beta distributions with the mean, the maximum and the standard deviation of
  the paper's Table 3; fold_paper --counts --file takes others. Two tables:

    fold    at q = 1.5, r = 0: table rows / rows, and the length of the inner loop, longest row / w, as in the paper's
            Table 4; bytes of a product in single precision, on which the times of Table 5 are based
    sweep   the best (q, r) by predicted time on a GPU in double precision, and the automatic choice of q = r = 0

  The exit code is 0 if the automatic choice is within 3% of the best of the sweep for all matrices.

  Source: N. Tanabe, J. Kogou, Y. Ogawa, M. Takata and K. Joe, acceleration of sparse matrix-vector product by algorithm
  with folding long rows and memory with gather functions.
*/
#include "papers/fold_published.h"
#include "gen_published.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  char     name[64];
  int64_t  rows;
  int64_t *row_ptr;
} Lengths;

/* ---- row lengths ---- */

static int draw_lengths(int shape, Lengths *lengths)
{
  const PublishedShape *s = &published_shapes[shape];

  snprintf(lengths->name, sizeof lengths->name, "%s", s->name);
  lengths->rows    = s->rows;
  lengths->row_ptr = malloc((size_t)(s->rows + 1) * sizeof(int64_t));
  if (lengths->row_ptr) gen_published_lengths(shape, lengths->row_ptr);
  return lengths->row_ptr != NULL;
}

/* ---- tables ---- */

/* The sizes of the table that a plan with these options would have */
static FoldSizes sizes_of(const Lengths *m, double q, double r, int layout, SpmvScalar scalar)
{
  const SpmvFormat   *format  = spmv_format_find("fold");
  const SpmvAllocator hooks   = {0};
  const SpmvPattern   pattern = {.rows = m->rows, .nnz = m->row_ptr[m->rows], .index_type = SPMV_I64};
  SpmvOptions         options;
  SpmvExec            exec;
  FoldSizes           sizes;
  FoldLayout          arrays;

  spmv_exec_init(&exec, SPMV_HOST);
  spmv_options_init(&options, format);
  options.value[FOLD_OPTION_Q]      = q;
  options.value[FOLD_OPTION_R]      = r;
  options.value[FOLD_OPTION_LAYOUT] = layout;
  if (fold_analyze_rows(m->row_ptr, &pattern, scalar, SPMV_DEVICE, fold_given(&options), &exec, &sizes, &arrays)) {
    fprintf(stderr, "fold_tables: %s\n", exec.message);
    exit(1);
  }
  fold_layout_free(&hooks, &hooks, SPMV_HOST, &arrays);
  return sizes;
}

static double table_megabytes(const FoldSizes *s) { return 1e-6 * (double)s->steps * FOLD_LANES * (4 + 4); }

static void print_fold(const Lengths *m, int count)
{
  double growth = 0, shortening = 0, best = 0;

  printf("Fold at q = 1.5, r = 0; MB of values and columns in single precision\n\n");
  printf("%-18s %9s %11s %7s %6s %7s | %5s %7s %7s | %8s %8s %8s %8s %8s\n", "matrix", "rows", "nonzeros", "mean",
         "max", "sigma", "w", "rows x", "loop /", "CSR, JDS", "ELL", "uniform", "sliced", "auto");
  for (int i = 0; i < count; i++, m++) {
    const FoldSizes u = sizes_of(m, 1.5, 0, FOLD_LAYOUT_UNIFORM, SPMV_F32);
    const FoldSizes s = sizes_of(m, 1.5, 0, FOLD_LAYOUT_SLICED, SPMV_F32);
    const FoldSizes a = sizes_of(m, 0, 0, FOLD_LAYOUT_SLICED, SPMV_F32);
    const double    x = (double)(u.slices * FOLD_LANES) / (double)u.rows, y = (double)u.longest / (double)u.width;

    printf("%-18s %9lld %11lld %7.1f %6lld %7.1f | %5lld %7.3f %7.2f | %8.1f %8.1f %8.1f %8.1f %8.1f\n", m->name,
           (long long)u.rows, (long long)u.nnz, u.mean, (long long)u.longest, u.sigma, (long long)u.width, x, y,
           8e-6 * (double)u.nnz, 8e-6 * (double)u.rows * (double)u.longest, table_megabytes(&u), table_megabytes(&s),
           table_megabytes(&a));
    if (i >= PUBLISHED_SHAPES) continue;
    growth += x / PUBLISHED_SHAPES;
    shortening += y / PUBLISHED_SHAPES;
    best = fmax(best, y);
  }
  printf("\n%-18s rows x %.2f on the average, loop / %.2f on the average, / %.2f at best\n", "generated", growth,
         shortening, best);
  printf("%-18s rows x 1.2 on the average, loop / 3.0 on the average, / 5.3 at best\n", "published");
}

static int64_t width_of(const FoldHistogram *h, double q, double r)
{
  SpmvOptions options = {.value = {[FOLD_OPTION_Q] = q, [FOLD_OPTION_R] = r}};
  return fold_width(h, &options);
}

/* The predicted time with the best order of rows, which the sweep chooses as the format does */
static double predicted_time(const FoldHistogram *h, double q, double r)
{
  const int64_t w = width_of(h, q, r);

  return fmin(fold_predict(h, FOLD_NATURAL, w, SPMV_F64, SPMV_DEVICE).time,
              fold_predict(h, FOLD_SORTED, w, SPMV_F64, SPMV_DEVICE).time);
}

static double automatic_time(const FoldHistogram *h, const FoldSizes *s)
{
  return fold_predict(h, s->order, s->width, SPMV_F64, SPMV_DEVICE).time;
}

static int print_sweep(const Lengths *m, int count)
{
  int good = 1;

  printf("\nSweep over q = 0, 0.05 .. 8 and r = 0, 0.25 .. 4; predicted microseconds in double precision\n\n");
  printf("%-18s | %6s %6s %6s %10s | %6s %-8s %10s | %7s %10s\n", "matrix", "best q", "r", "w", "time", "auto w",
         "order", "time", "of best", "q = 1.5");
  for (int i = 0; i < count; i++, m++) {
    static const char *const order[] = {"natural", "sorted", "uniform"};
    static FoldHistogram     h;
    const FoldSizes          s    = sizes_of(m, 0, 0, FOLD_LAYOUT_SLICED, SPMV_F64);
    double                   best = INFINITY, best_q = 0, best_r = 0;

    fold_count(m->row_ptr, m->rows, SPMV_I64, &h);
    fold_count_sorted(m->row_ptr, m->rows, SPMV_I64, &h);
    for (int q = 0; q <= 160; q++)
      for (int r = q == 0; r <= 16; r++) {
        const double time = predicted_time(&h, 0.05 * q, 0.25 * r);
        if (time >= best) continue;
        best   = time;
        best_q = 0.05 * q;
        best_r = 0.25 * r;
      }
    const double time = automatic_time(&h, &s);
    printf("%-18s | %6.2f %6.2f %6lld %10.1f | %6lld %-8s %10.1f | %7.3f %10.1f\n", m->name, best_q, best_r,
           (long long)width_of(&h, best_q, best_r), best, (long long)s.width, order[s.order], time, time / best,
           predicted_time(&h, 1.5, 0));
    good = good && time <= 1.03 * best;
  }
  return good;
}

int main(void)
{
  Lengths matrix[PUBLISHED_SHAPES];
  int     count = 0, good;

  for (; count < PUBLISHED_SHAPES; count++)
    if (!draw_lengths(count, &matrix[count])) {
      fprintf(stderr, "fold_tables: out of memory\n");
      return 1;
    }
  print_fold(matrix, count);
  good = print_sweep(matrix, count);
  if (!good) printf("\nThe automatic choice is more than 3%% from the best of the sweep.\n");
  for (int i = 0; i < count; i++) free(matrix[i].row_ptr);
  gen_free_kept();
  return !good;
}
