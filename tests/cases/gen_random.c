/* gen_random.c - matrices of irregular graphs. Every random number is a hash of the seed, the row and a counter. */
#include "gen.h"
#include "gen_private.h"
#include <math.h>
#include <stdlib.h>

static uint64_t row_seed(const GenSpec *s, int64_t i) { return gen_hash(s->seed, (uint64_t)i); }

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
  return value < low ? low : value > high ? high : value;
}

/* `length` columns of 0 .. cols-1, one in each of `length` equal parts, so that they are distinct and ascending */
static int64_t spread(const GenSpec *s, int64_t i, int64_t length, int64_t *col)
{
  const uint64_t seed = row_seed(s, i);

  length = clamp(length, 0, s->cols);
  for (int64_t k = 0; k < length; k++) {
    const double  part  = (double)s->cols / (double)length;
    const int64_t first = (int64_t)((double)k * part), end = (int64_t)((double)(k + 1) * part);
    col[k] = first + (int64_t)(gen_hash(seed, (uint64_t)k) % (uint64_t)(end > first ? end - first : 1));
  }
  return length;
}

static int64_t lengths_row(const GenSpec *s, int64_t i, int64_t *col)
{
  return spread(s, i, s->cycle[i % s->cycle_length], col);
}

GenSpec gen_lengths(int64_t rows, int64_t cols, int count, const int64_t *lengths, uint64_t seed)
{
  GenSpec s = gen_spec(rows, cols, lengths_row);

  s.cycle_length = (int)clamp(count, 1, GEN_CYCLE_MAX);
  for (int k = 0; k < s.cycle_length; k++) s.cycle[k] = lengths[k];
  s.seed = seed;
  return s;
}

static int64_t long_rows_row(const GenSpec *s, int64_t i, int64_t *col)
{
  return spread(s, i, s->cycle[i % s->period == s->period / 2], col);
}

GenSpec gen_long_rows(int64_t rows, int64_t cols, int64_t short_length, int64_t long_length, int64_t period,
                      uint64_t seed)
{
  GenSpec s = gen_spec(rows, cols, long_rows_row);

  s.cycle[0] = short_length;
  s.cycle[1] = long_length;
  s.period   = period;
  s.seed     = seed;
  return s;
}

/* A Poisson-distributed number by multiplication of uniform ones; exp() would underflow for means above 700 */
static int64_t poisson(double mean, uint64_t seed)
{
  const double limit   = exp(-mean);
  double       product = 1;
  int64_t      k       = 0;

  do product *= gen_uniform(seed, (uint64_t)k++);
  while (product > limit);
  return k - 1;
}

static int64_t random_row(const GenSpec *s, int64_t i, int64_t *col)
{
  const uint64_t seed   = row_seed(s, i);
  const int64_t  length = clamp(poisson(s->parameter, seed), 0, s->cols);

  for (int64_t k = 0; k < length; k++) col[k] = (int64_t)(gen_hash(~seed, (uint64_t)k) % (uint64_t)s->cols);
  return gen_sort_unique(col, length);
}

GenSpec gen_random(int64_t rows, int64_t cols, double mean, uint64_t seed)
{
  GenSpec s = gen_spec(rows, cols, random_row);

  s.parameter = mean;
  s.seed      = seed;
  return s;
}

/* The inverse distribution function of a power law from 1 on */
static double pareto(double uniform, double exponent) { return pow(1 - uniform, -1 / (exponent - 1)); }

static int64_t power_law_row(const GenSpec *s, int64_t i, int64_t *col)
{
  const uint64_t seed   = row_seed(s, i);
  const double   wanted = (double)s->min_length * pareto(gen_uniform(seed, 0), s->parameter);
  const int64_t  length = (int64_t)fmin(wanted, (double)s->cols);

  for (int64_t k = 0; k < length; k++) {
    const double u = gen_uniform(seed, (uint64_t)k + 1);
    /* half of the columns are uniform in their logarithm, so that hubs occur; half are uniform */
    const double at = k % 2 ? u * (double)s->cols : exp(u * log((double)s->cols)) - 1;
    col[k]          = clamp((int64_t)at, 0, s->cols - 1);
  }
  return gen_sort_unique(col, length);
}

GenSpec gen_power_law(int64_t n, int64_t min_length, double exponent, uint64_t seed)
{
  GenSpec s = gen_spec(n, n, power_law_row);

  s.min_length = min_length;
  s.parameter  = exponent;
  s.seed       = seed;
  return s;
}

enum { RAILS = 4, NEAR = 16 };

static int64_t circuit_row(const GenSpec *s, int64_t i, int64_t *col)
{
  const uint64_t seed  = row_seed(s, i);
  int64_t        count = 0;

  col[count++] = i;
  if (i < RAILS) {
    for (int64_t j = RAILS + i; j < s->cols; j += s->period) col[count++] = j;
    return count;
  }
  if (s->cols < 2 * NEAR) return count;
  if ((i - RAILS) % s->period < RAILS) col[count++] = (i - RAILS) % s->period;
  for (int64_t k = 2 + (int64_t)(seed % 4); k > 0; k--) {
    const int64_t near = i + (int64_t)(gen_hash(seed, (uint64_t)k) % (2 * NEAR)) - NEAR;
    col[count++]       = clamp(near, 0, s->cols - 1);
  }
  if (seed % 5 == 0) col[count++] = (int64_t)(gen_hash(seed, 99) % (uint64_t)s->cols);
  return gen_sort_unique(col, count);
}

GenSpec gen_circuit(int64_t n, int64_t period, uint64_t seed)
{
  GenSpec s = gen_spec(n, n, circuit_row);

  s.period = period;
  s.seed   = seed;
  return s;
}

enum { PATCH_ROWS_MAX = 8, PATCH_RUNS_MAX = 7 };

/* The first row of the patch of row i, whose columns row i has, too. A patch has at most PATCH_ROWS_MAX rows. */
static int64_t patch_first(const GenSpec *s, int64_t i)
{
  while (i % PATCH_ROWS_MAX != 0 && row_seed(s, i) % 3 != 0) i--;
  return i;
}

static int64_t patchwork_row(const GenSpec *s, int64_t i, int64_t *col)
{
  static const int64_t lengths[] = {1, 1, 2, 2, 3, 4, 5, 7, 8, 9, 16, 33};
  const uint64_t       seed      = row_seed(s, patch_first(s, i));
  int64_t              count = 0, at = (int64_t)(seed % (uint64_t)s->cols);

  for (uint64_t run = 0; run < seed / 16 % (PATCH_RUNS_MAX + 1); run++) {
    const uint64_t h = gen_hash(seed, run);
    for (int64_t n = lengths[h % (sizeof lengths / sizeof lengths[0])]; n > 0 && at < s->cols && count < s->cols; n--)
      col[count++] = at++;
    /* a small gap, or one of any size; sometimes back to the first columns, which gen_sort_unique() then sorts */
    at += 1 + (int64_t)(h / 64 % 4 ? h / 256 % 4 : h / 256 % (uint64_t)s->cols);
    if (h / 32 % 8 == 0) at = (int64_t)(h / 4096 % 5);
  }
  return gen_sort_unique(col, count);
}

GenSpec gen_patchwork(int64_t rows, int64_t cols, uint64_t seed)
{
  GenSpec s = gen_spec(rows, cols, patchwork_row);

  s.seed = seed;
  return s;
}
