/*
  published_rows.c - see published_rows.h
*/
#include "published_rows.h"
#include "gen.h"
#include <math.h>
#include <stdlib.h>

/* Entries are of the triangle where a matrix is symmetric. The table's mean is cut to an integer; entries over rows is
   more exact. */
const PublishedShape published_shapes[PUBLISHED_SHAPES] = {
    {"Na5", 5832, 155731, 185, 35.7},       {"msc10848", 10848, 620313, 300, 49.4},
    {"exdata_1", 6001, 1137751, 1501, 390}, {"G3_circuit", 1585478, 4623152, 4, 2.2},
    {"thermal2", 147900, 3489300, 27, 6.9}, {"hood", 220542, 5494489, 51, 13.3},
    {"F1", 343791, 13590452, 306, 20.0},    {"ldoor", 952203, 23737339, 49, 12.9},
};

/* The share of a Beta(a, b) distribution between two near points of 0 .. 1, not normalized: the factor that may be
   infinite at the nearer end is integrated exactly, the other one is taken in the middle */
static double beta_share(double a, double b, double from, double to)
{
  const double middle = (from + to) / 2;

  if (middle < 0.5) return (pow(to, a) - pow(from, a)) / a * pow(1 - middle, b - 1);
  return (pow(1 - from, b) - pow(1 - to, b)) / b * pow(middle, a - 1);
}

/* weight[l] for the lengths 0 .. longest. A deviation that no distribution of that mean and maximum can have (as
   Table 3 gives for G3_circuit) is lowered to one that it can. */
static void length_weights(double mean, int64_t longest, double sigma, double *weight)
{
  const double m = mean / (double)longest, limit = 0.9 * m * (1 - m);
  const double v = fmin(sigma * sigma / ((double)longest * (double)longest), limit);
  const double a = m * (m * (1 - m) / v - 1), b = (1 - m) * (m * (1 - m) / v - 1);
  double       total = 0;

  for (int64_t l = 0; l <= longest; l++) {
    weight[l] =
        beta_share(a, b, fmax(0, ((double)l - 0.5) / (double)longest), fmin(1, ((double)l + 0.5) / (double)longest));
    total += weight[l];
  }
  for (int64_t l = 0; l <= longest; l++) weight[l] /= total;
}

int published_row_ptr(int shape, int64_t *row_ptr)
{
  const PublishedShape *s      = &published_shapes[shape];
  double               *weight = malloc((size_t)(s->longest + 1) * sizeof *weight);

  if (!weight) return 0;
  length_weights((double)s->nnz / (double)s->rows, s->longest, s->sigma, weight);
  row_ptr[0] = 0;
  for (int64_t row = 0; row < s->rows; row++) {
    double  u = gen_uniform((uint64_t)shape, (uint64_t)row);
    int64_t l = 0;
    while (l < s->longest && u >= weight[l]) u -= weight[l++];
    row_ptr[row + 1] = row_ptr[row] + (row == s->rows / 2 ? s->longest : l);
  }
  free(weight);
  return 1;
}
