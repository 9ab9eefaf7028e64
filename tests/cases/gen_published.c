/* gen_published.c - shapes of published matrices: row lengths from a distribution, columns in a band. */
#include "gen_published.h"
#include "gen_private.h"
#include <math.h>
#include <stdlib.h>

/* The table of the paper: for symmetric matrices, entries are those of one triangle. Its mean is truncated to an
   integer; entries / rows is more exact. */
const PublishedShape published_shapes[PUBLISHED_SHAPES] = {
    {"Na5", 5832, 155731, 185, 35.7},       {"msc10848", 10848, 620313, 300, 49.4},
    {"exdata_1", 6001, 1137751, 1501, 390}, {"G3_circuit", 1585478, 4623152, 4, 2.2},
    {"thermal2", 147900, 3489300, 27, 6.9}, {"hood", 220542, 5494489, 51, 13.3},
    {"F1", 343791, 13590452, 306, 20.0},    {"ldoor", 952203, 23737339, 49, 12.9},
};

/* The integral of a Beta(a, b) density between two close points of 0 .. 1, not normalized: the factor that may be
   infinite at the nearer end is integrated exactly, the other one is evaluated at the middle */
static double beta_share(double a, double b, double from, double to)
{
  const double middle = (from + to) / 2;

  if (middle < 0.5) return (pow(to, a) - pow(from, a)) / a * pow(1 - middle, b - 1);
  return (pow(1 - from, b) - pow(1 - to, b)) / b * pow(middle, a - 1);
}

/* weight[l] for the lengths 0 .. longest. A standard deviation that is impossible with this mean and maximum (as in
   Table 3 for G3_circuit) is reduced to a possible one. */
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

static double *weights[PUBLISHED_SHAPES];

static const double *weights_of(int shape)
{
  const PublishedShape *s = &published_shapes[shape];

  if (!weights[shape]) {
    weights[shape] = gen_alloc(s->longest + 1, sizeof *weights[shape]);
    length_weights((double)s->nnz / (double)s->rows, s->longest, s->sigma, weights[shape]);
  }
  return weights[shape];
}

void gen_free_published(void)
{
  for (int shape = 0; shape < PUBLISHED_SHAPES; shape++) {
    free(weights[shape]);
    weights[shape] = NULL;
  }
}

/* seed is the number of the shape, period its longest row */
static int64_t row_length(const GenSpec *s, int64_t i)
{
  double  u = gen_uniform(s->seed, (uint64_t)i);
  int64_t l = 0;

  if (i == s->rows / 2) return s->period;
  while (l < s->period && u >= s->weight[l]) u -= s->weight[l++];
  return l;
}

enum { BAND = 8 }; /* width of the band divided by the length of the row */

/* The band is divided into as many parts as the row has columns; each part has one column */
static int64_t band_row(const GenSpec *s, int64_t i, int64_t *col)
{
  const int64_t length = row_length(s, i), width = BAND * length < s->cols ? BAND * length : s->cols;
  const int64_t middle = i - width / 2 > 0 ? i - width / 2 : 0;
  const int64_t begin  = middle < s->cols - width ? middle : s->cols - width;

  for (int64_t k = 0; k < length; k++) {
    const int64_t from = k * width / length, part = (k + 1) * width / length - from;
    col[k] = begin + from + (int64_t)(gen_mix(gen_mix((uint64_t)i) + (uint64_t)k) % (uint64_t)part);
  }
  return length;
}

GenSpec gen_published(int shape)
{
  GenSpec s = gen_spec(published_shapes[shape].rows, published_shapes[shape].rows, band_row);

  s.seed   = (uint64_t)shape;
  s.period = published_shapes[shape].longest;
  s.weight = weights_of(shape);
  return s;
}

void gen_published_lengths(int shape, int64_t *row_ptr)
{
  const GenSpec s = gen_published(shape);

  row_ptr[0] = 0;
  for (int64_t i = 0; i < s.rows; i++) row_ptr[i + 1] = row_ptr[i] + row_length(&s, i);
}
